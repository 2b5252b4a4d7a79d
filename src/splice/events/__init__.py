"""What holds: the Event Calculus, crisp and with exact probabilities.

:func:`splice.events.recognise.recognise` is the front door. Rules without weights go to :mod:`.crisp`,
weighted rules and formulas to :mod:`.weighted`. Both solve the bodies of rules as joins over columns
(:mod:`.joins` over the relations of :mod:`.evidence`, by the keys of :mod:`.keys`), at the observed
time-points of a table (:mod:`.points`); who there is to speak of is said by :mod:`.universe`.
:mod:`.theory_check` tells what is wrong with a theory before it is used, or matches nothing.
"""
