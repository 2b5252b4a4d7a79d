"""What can be said: terms, atoms, clauses and theories, and the text they are written in.

Everything here is a value: frozen, hashable, ordered where order helps, and printed in one
canonical language (:mod:`~splice.logic.syntax`) so that ``parse(str(x)) == x``. A :class:`Term`
is a constant, a variable or a function of terms; an :class:`Atom` applies a predicate to terms;
a :class:`Literal` may negate it. A :class:`Clause` is a disjunction of literals, a :class:`Rule`
a head with the body that implies it, a :class:`Theory` a list of rules and formulas with weights.

A :class:`Schema` says which predicates there are and how LoMRF files spell them,
:class:`Modes` which of them learners may use and how, and a :class:`Domain` is both together
with the predicate that is to be learned.

Two questions come up all the time. *Have I seen this clause?* is answered by
:func:`canonical_key`, exactly and up to renaming (:func:`literalwise_key` answers it as LoMRF
did in 2019). *Does this clause say more than that one?* is answered by :func:`subsumes`.

>>> from splice.logic.canonical import canonical_key
>>> from splice.logic.subsumption import subsumes
>>> from splice.logic.syntax import parse_rule
>>> from splice.logic.terms import Variable
>>> rule = parse_rule("initiatedAt(meet(X,Y),T) :- happensAt(active(X),T), close(X,Y,34,T)")
>>> canonical_key(rule) == canonical_key(rule.substitute({Variable("T"): Variable("S")}))
True
>>> subsumes(parse_rule("initiatedAt(F,T)"), rule)
True

Objects are for talking: theories, errors, explanations. Streams are columns (:mod:`splice.stream`).
"""
