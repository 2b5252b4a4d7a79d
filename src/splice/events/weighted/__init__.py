"""Weighted recognition: the most probable states, and their probabilities.

In the order of the work: statements become clauses with conditions (:mod:`.templates`), axioms are
completed with the definitions of changes (:mod:`.axioms`), :mod:`.structure` says how fluents depend on
each other; the ground fluents are found (:mod:`.instances`), the clauses grounded by joins
(:mod:`.grounding`) and put together (:mod:`.builder`). The :mod:`.network` that this makes is a binary
chain for each ground fluent, whose clauses are summed up as log weights (:mod:`.potentials`) and solved
by :mod:`.chains`; where rules couple fluents it is a program for :mod:`.milp`. :mod:`.inference` asks.
"""
