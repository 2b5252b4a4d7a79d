"""What is learned: rules that say when fluents begin and end.

All learners speak one protocol (:mod:`.protocol`): they are fed micro-batches whose query atoms are
labelled and hold a theory at any time. They do not care who labelled the atoms, a person or
:mod:`splice.completion`. What they count are *transitions*, pairs of consecutive time-points of a
ground query atom (:mod:`.transitions`): what was seen at the first, what held at both.
"""
