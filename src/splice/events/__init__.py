"""What holds: the Event Calculus, crisp and with exact probabilities.

A theory becomes a program (:mod:`.program`, checked by :mod:`.checks`); the bodies of its rules are
solved as joins over columns (:mod:`.bindings` over :mod:`.evidence`); the points of initiation and
termination they give become maximal intervals (:mod:`.changes`, :mod:`.intervals`), for whole
sequences (:mod:`.recognition`) or window by window (:mod:`.windows`). Statically determined
fluents are interval algebra (:mod:`.static`). :mod:`.explain` says why an interval began and ended.

Where rules have weights, the ground network of each fluent instance is a binary chain, and
:mod:`.inference` finds its most probable states and their probabilities exactly.
"""
