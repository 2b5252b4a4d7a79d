"""OSLa: weighted clauses by relational path-finding (section 2.1; Michelioudakis et al. 2016).

Where the most probable states under the current theory are wrong, the axioms of the Event Calculus say
what would explain the labels: an initiation, or a termination, at the time-point before. What was
seen there is a hypergraph of atoms that share constants; paths through it that start at the
explanation become clauses, and those that do more good than harm in the batch stay. Their
weights follow by AdaGrad.

:mod:`.options` are the choices, :mod:`.templates` reads the axioms, :mod:`.paths` finds paths,
:mod:`.candidates` makes clauses of them and remembers which, :mod:`.learner` is the whole, and :mod:`.selection` decides which clauses make the theory.
"""
