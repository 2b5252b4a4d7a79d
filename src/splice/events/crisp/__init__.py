"""Crisp recognition: rules without weights, and maximal intervals.

In the order in which a table meets them: a theory becomes a program (:mod:`.program`, checked by
:mod:`.checks`); :mod:`.recognition` solves its rules, which gives ground fluents (:mod:`.fluent_store`)
and the points at which they are initiated and terminated; sorting these gives intervals
(:mod:`.changes`, with the algebra of :mod:`.intervals`). Statically determined fluents are that algebra
alone (:mod:`.static`). :mod:`.windows` does the same for a stream in bounded memory, with what
:mod:`.carried` takes from one window into the next; :mod:`.explain` says why an interval began and ended.
"""
