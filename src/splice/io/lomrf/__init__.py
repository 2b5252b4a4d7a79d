"""LoMRF's three languages: knowledge bases (``.mln``), evidence (``.db``), modes (``.modes``).

Their grammars are read by recursive descent over tokens with positions; the regular part of
evidence (one ground atom a line, which is nearly all of it) takes a vectorised path that
gives the same atoms. Predicates and variables change the case of their first letter at this
border: ``HoldsAt(f,t1)`` here is ``holdsAt(F,T1)`` inside. Constants keep theirs.
"""
