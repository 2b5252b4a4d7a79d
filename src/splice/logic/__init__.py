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

>>> rule = parse_rule("initiatedAt(meet(X,Y),T) :- happensAt(active(X),T), close(X,Y,34,T)")
>>> canonical_key(rule) == canonical_key(rule.substitute({Variable("T"): Variable("S")}))
True
>>> subsumes(parse_rule("initiatedAt(F,T)"), rule)
True

Objects are for talking: theories, errors, explanations. Streams are columns (:mod:`splice.stream`).
"""

from __future__ import annotations

from splice.logic.atoms import COMPARISONS, NEGATED_COMPARISON, Atom, Literal
from splice.logic.canonical import Key, canonical, canonical_key, literalwise_key
from splice.logic.clauses import Clause, Rule
from splice.logic.differences import TheoryDifference, compare_theories
from splice.logic.domain import DEFAULT_QUERY, Domain
from splice.logic.formulas import (
    And,
    Exists,
    Forall,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    as_clause,
    atoms_of,
    free_variables,
    height,
    map_atoms,
)
from splice.logic.modes import IGNORED, INPUT, OUTPUT, UNBOUNDED, Marker, Mode, Modes, Symbol
from splice.logic.schema import (
    EVENT,
    EVENT_CALCULUS,
    FLUENT,
    HAPPENS_AT,
    HOLDS_AT,
    INITIATED_AT,
    TERMINATED_AT,
    TIME,
    FunctionDecl,
    PredicateDecl,
    Schema,
    Signature,
    TypeDecl,
    lower_first,
    upper_first,
)
from splice.logic.subsumption import equivalent, match, subsumes
from splice.logic.syntax import (
    parse_atom,
    parse_clause,
    parse_formula,
    parse_ground_term,
    parse_literal,
    parse_rule,
    parse_term,
    parse_theory,
    parse_theory_all,
)
from splice.logic.terms import (
    ARITHMETIC,
    LIST,
    VALUE,
    Constant,
    Function,
    Substitution,
    Term,
    Variable,
    quoted,
)
from splice.logic.theory import HARD, Statement, Theory

__all__ = [
    "ARITHMETIC",
    "COMPARISONS",
    "DEFAULT_QUERY",
    "EVENT",
    "EVENT_CALCULUS",
    "FLUENT",
    "HAPPENS_AT",
    "HARD",
    "HOLDS_AT",
    "IGNORED",
    "INITIATED_AT",
    "INPUT",
    "LIST",
    "NEGATED_COMPARISON",
    "OUTPUT",
    "TERMINATED_AT",
    "TIME",
    "UNBOUNDED",
    "VALUE",
    "And",
    "Atom",
    "Clause",
    "Constant",
    "Domain",
    "Exists",
    "Forall",
    "Formula",
    "Function",
    "FunctionDecl",
    "Iff",
    "Implies",
    "Key",
    "Literal",
    "Marker",
    "Mode",
    "Modes",
    "Not",
    "Or",
    "PredicateDecl",
    "Rule",
    "Schema",
    "Signature",
    "Statement",
    "Substitution",
    "Symbol",
    "Term",
    "Theory",
    "TheoryDifference",
    "TypeDecl",
    "Variable",
    "as_clause",
    "atoms_of",
    "canonical",
    "canonical_key",
    "compare_theories",
    "equivalent",
    "free_variables",
    "height",
    "literalwise_key",
    "lower_first",
    "map_atoms",
    "match",
    "parse_atom",
    "parse_clause",
    "parse_formula",
    "parse_ground_term",
    "parse_literal",
    "parse_rule",
    "parse_term",
    "parse_theory",
    "parse_theory_all",
    "quoted",
    "subsumes",
    "upper_first",
]
