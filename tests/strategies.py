"""Hypothesis strategies for everything that can be said in :mod:`splice.logic`.

Two families: values with hard names and shapes, for laws of text, and small clauses over a tiny
vocabulary, where clauses are often the same or subsume each other, for laws of meaning.
"""

from __future__ import annotations

from hypothesis import strategies as st

from splice.logic.atoms import COMPARISONS, Atom, Clause, Literal, Rule
from splice.logic.formulas import And, Exists, Forall, Iff, Implies, Not, Or
from splice.logic.terms import ARITHMETIC, LIST, VALUE, Constant, Function, Variable
from splice.logic.theory import HARD, Statement, Theory

RESERVED = ("not", "mod", "exists", "forall", "hard", "is", "v", "true")
HARD_NAMES = (
    "ID1", "X", "_", "_x", "", " ", "it's", "\\", "\\'", "a\nb", "a\r\nb", "\t", "%", "/*", "*/",
    ".", ":-", "=", "[]", "+", "-", "<", "\\=", "é", "日本", "١", "\u2028", "\ufeff", "\x00", '"', "#script",
    "-x", "1x", "1e", "1.", ".5", "+1", "--1", "1_000", "0x1f", "inf", "nan", "1\n",
)  # fmt: skip
NUMBERS = ("0", "-0", "34", "-5", "007", "19.30", "-0.5", "1e5", "1E-5", "-2.5e+10", "1e999")

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
plain_names = st.from_regex(r"[a-z][A-Za-z0-9_]{0,6}", fullmatch=True)
names = st.one_of(plain_names, st.sampled_from(RESERVED), st.sampled_from(HARD_NAMES), texts)
numbers = st.one_of(
    st.sampled_from(NUMBERS),
    st.integers(-1000, 1000).map(str),
    st.decimals(-1000, 1000, places=2).map(str),
)
constants = st.one_of(names, numbers).map(Constant)
variables = st.from_regex(r"[A-Z][A-Za-z0-9_]{0,3}|_[A-Za-z0-9_]{1,3}", fullmatch=True).map(
    Variable
)


def _functions(inside: st.SearchStrategy) -> st.SearchStrategy:
    pairs = st.tuples(inside, inside)
    return st.one_of(
        st.builds(Function, names, st.lists(inside, min_size=1, max_size=3).map(tuple)),
        st.builds(Function, st.sampled_from(sorted(ARITHMETIC)), pairs),
        st.builds(Function, st.just(VALUE), pairs),
        st.builds(Function, st.just(LIST), st.lists(inside, max_size=3).map(tuple)),
    )


terms = st.recursive(st.one_of(constants, variables), _functions, max_leaves=6)
ground_terms = st.recursive(constants, _functions, max_leaves=6)

plain_atoms = st.builds(Atom, names, st.lists(terms, max_size=3).map(tuple)).filter(
    lambda atom: not atom.is_comparison
)
comparisons = st.builds(Atom, st.sampled_from(sorted(COMPARISONS)), st.tuples(terms, terms))
atoms = st.one_of(plain_atoms, comparisons)
literals = st.builds(Literal, atoms, st.booleans())
heads = st.builds(Literal, plain_atoms, st.booleans())
clauses = st.lists(literals, min_size=1, max_size=4).map(lambda ls: Clause(tuple(ls)))
rules = st.builds(Rule, heads, st.lists(literals, max_size=4).map(tuple))


def _formulas(inside: st.SearchStrategy) -> st.SearchStrategy:
    several = st.lists(inside, min_size=2, max_size=3).map(tuple)
    bound = st.lists(variables, min_size=1, max_size=2).map(tuple)
    return st.one_of(
        st.builds(Not, inside),
        st.builds(And, several),
        st.builds(Or, several),
        st.builds(Implies, inside, inside),
        st.builds(Iff, inside, inside),
        st.builds(Exists, bound, inside),
        st.builds(Forall, bound, inside),
    )


formulas = st.recursive(atoms, _formulas, max_leaves=5)
weights = st.one_of(st.none(), st.just(HARD), st.floats(allow_nan=False, allow_infinity=False))
statements = st.builds(Statement, st.one_of(rules, formulas), weights)
theories = st.lists(statements, max_size=4).map(lambda found: Theory(tuple(found)))

_few_variables = st.sampled_from([Variable(name) for name in "XYZ"])
_few_constants = st.sampled_from([Constant("a"), Constant("b")])
_few_terms = st.one_of(
    _few_variables,
    _few_variables,
    _few_constants,
    st.builds(lambda term: Function("f", (term,)), st.one_of(_few_variables, _few_constants)),
)
_few_atoms = st.one_of(
    st.builds(lambda one: Atom("p", (one,)), _few_terms),
    st.builds(lambda one, two: Atom("e", (one, two)), _few_terms, _few_terms),
    st.builds(lambda one, two: Atom("e", (one, two)), _few_variables, _few_variables),
)
small_literals = st.builds(Literal, _few_atoms, st.sampled_from([True, True, False]))
small_clauses = st.lists(small_literals, min_size=1, max_size=4).map(lambda ls: Clause(tuple(ls)))
small_rules = st.builds(Rule, small_literals, st.lists(small_literals, max_size=3).map(tuple))


@st.composite
def renamings(draw: st.DrawFn, x: Clause | Rule) -> Clause | Rule:
    """Return the clause with other variable names (a bijection) and its literals shuffled."""
    old = x.variables()
    new = draw(st.permutations([*old, *(Variable(f"W{i}") for i in range(len(old)))]))
    theta = dict(zip(old, new, strict=False))
    if isinstance(x, Clause):
        return x.substitute(theta)
    return Rule(x.head, tuple(draw(st.permutations(x.body)))).substitute(theta)
