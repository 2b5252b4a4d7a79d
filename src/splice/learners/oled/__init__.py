"""OLED: rules by the Hoeffding bound (section 2.1; Katzouris, Artikis, Paliouras 2016).

Two rule sets are learned side by side, one for what initiates a fluent and one for what terminates
it. A rule starts with an empty body and the *bottom rule* of the pattern that called for it, all
that was seen there. Its candidate refinements are the rule with some more literals of the bottom
rule. Counts of all of them grow with the stream, and once the Hoeffding bound says that the best
candidate is really better than the next one, it takes the rule's place.

:mod:`.options` are the choices, :mod:`.scores` the counts and what they are worth,
:mod:`.rules` the state of one rule, :mod:`.learner` the whole, and :mod:`.selection` decides
at any time which rules make the theory.
"""
