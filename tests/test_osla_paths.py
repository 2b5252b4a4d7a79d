"""Hypergraphs, paths and clauses: LoMRF's numbers (specification E.5), and the laws of path-finding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.osla_paths import all_paths
from splice.io.lomrf.modes import parse_modes
from splice.learners.osla.candidates import Distinct, rule_of
from splice.learners.osla.paths import Bias, FreeVariables, Hypergraph, Path, find_paths
from splice.logic.atoms import Atom, Literal, Rule
from splice.logic.syntax import parse_atom, parse_rule
from splice.logic.terms import Constant

TIMES = range(15)


@dataclass(frozen=True)
class Scenario:
    """True atoms, the modes, what to search from and how far."""

    modes: str
    atoms: Sequence[str]
    starts: Sequence[str]
    length: int

    @property
    def graph(self) -> Hypergraph:
        return Hypergraph(map(parse_atom, self.atoms), Bias(parse_modes(self.modes)))

    def paths(self, free: FreeVariables) -> list[Path]:
        return find_paths(map(parse_atom, self.starts), self.graph, self.length, free)


def _yale() -> Scenario:
    true = {"alive": range(6), "dead": range(6, 15), "loaded": (4, 5, 10, 11)}
    happens = {"shoot": (2, 5, 8, 11), "load": (3, 9)}
    return Scenario(
        """
        modeP(1, Happens(#-,-))
        modeP(2, HoldsAt(+,+))
        modeP(1, Next(-,+))
        modeP(*, Ignore(.))
        modeP(0, ZeroRecall(+))
        """,
        [
            *(f"next({t + 1},{t})" for t in range(14)),
            *(f"happensAt({e},{t})" for e, times in happens.items() for t in times),
            *(f"ignore(i{i})" for i in range(4)),
            *(f"zeroRecall({i})" for i in range(4)),
            *(f"holdsAt({f},{t})" for f, times in true.items() for t in times),
        ],
        [f"holdsAt({f},{t})" for f in true for t in TIMES],
        5,
    )


def _caviar() -> Scenario:
    def does(person: int, t: int) -> str:
        resting = 4 <= t <= 8 if person == 1 else t <= 6
        return f"happensAt({'inactive' if resting else 'walking'}(id{person}),{t})"

    return Scenario(
        """
        modeP(2, Happens(-,+))
        modeP(2, HoldsAt(-,-))
        modeP(1, Next(-,+))
        modeF(2, walking(+))
        modeF(2, inactive(+))
        modeF(1, meet(-,-))
        """,
        [
            *(f"next({t + 1},{t})" for t in range(14)),
            *(does(person, t) for person in (1, 2) for t in TIMES),
            *(f"holdsAt(meet(id2,id1),{t})" for t in (4, 5, 6)),
        ],
        [f"holdsAt(meet(id{a},id{b}),{t})" for a, b, t in product((1, 2), (1, 2), TIMES)],
        4,
    )


def _nested() -> Scenario:
    def seen(symbol: str, char: str, number: int) -> str:
        return f"evidence(foo(bar(baz('{symbol}'),'{char}'),{number}),id1)"

    def asked(symbol: str, char: str, number: int) -> str:
        return f"query(qux(qax(quz('{symbol}'),'{char}'),{number}),id1)"

    both = [("@", "A", 0), ("@", "A", 1), ("*", "B", 0), ("*", "B", 1)]
    return Scenario(
        """
        modeP(1, Evidence(-,+))
        modeP(0, Query(-,-))
        modeF(1, qux(-,-))
        modeF(1, qax(-,-))
        modeF(1, quz(-))
        modeF(1, foo(-,+))
        modeF(1, bar(-,+))
        modeF(1, baz(-))
        """,
        [seen("@", "B", 1), *(seen(*x) for x in both), *(asked(*x) for x in both)],
        [asked(*x) for x in product("@*", "AB", (0, 1))],
        2,
    )


SCENARIOS = {"yale": _yale(), "caviar": _caviar(), "nested": _nested()}


@pytest.mark.parametrize(
    ("name", "nodes", "edges"), [("yale", 20, 78), ("caviar", 15, 61), ("nested", 1, 5)]
)
def test_hypergraphs_have_the_published_size(name: str, nodes: int, edges: int) -> None:
    graph = SCENARIOS[name].graph
    assert (len(graph.nodes), graph.size) == (nodes, edges)


@pytest.mark.parametrize(
    ("name", "free", "paths", "clauses"),
    [
        ("yale", FreeVariables.FORBIDDEN, 34, 10),
        ("yale", FreeVariables.ALLOWED, 130, 24),
        ("caviar", FreeVariables.FORBIDDEN, 175, 44),
        ("caviar", FreeVariables.ALLOWED, 465, 92),
        ("nested", FreeVariables.FORBIDDEN, 5, 2),
        ("nested", FreeVariables.ALLOWED, 10, 4),
    ],
)
def test_paths_and_clauses_are_as_many_as_published(
    name: str, free: FreeVariables, paths: int, clauses: int
) -> None:
    scenario = SCENARIOS[name]
    bias, found = scenario.graph.bias, scenario.paths(free)
    assert len(found) == paths
    distinct = Distinct()
    for path in found:
        rule = rule_of(path, bias)
        distinct.number(rule)
        # OSL's other kind of clause denies that all atoms of a path are true.
        distinct.number(Rule(Literal(Atom("never")), (rule.head, *rule.body)))
    assert len(distinct.rules) == clauses


def test_a_path_keeps_its_books() -> None:
    """Specification E.5, path bookkeeping."""
    bias = Bias(parse_modes("modeP(1, PredicateA(-,+))\nmodeP(2, PredicateB(-,#-))"))
    pairs = zip(range(5), "ABCDE", strict=True)
    one = [parse_atom(f"predicateA({i + 1},{i})") for i in range(5)]
    two = [parse_atom(f"predicateB({i},'{c}')") for i, c in pairs]
    path = Path.of([*one, *two], bias)
    assert len(path) == len(path.atoms) == 10
    assert sorted(path.uses.values()) == [5, 5]
    counts = {str(term): n for term, n in path.terms.items()}
    assert counts == {"0": 2, "1": 3, "2": 3, "3": 3, "4": 3, "5": 1} | {
        f"'{c}'": 0 for c in "ABCDE"
    }


def test_the_head_forbids_relations() -> None:
    atoms = ["p(a,b)", "q(a,b)", "r(f(a),b)"]
    modes = "modeP(1, Head(-,-) body~/> Q/2, f/1)\nmodeP(1, P(-,-))\nmodeP(1, Q(-,-))"
    graph = Hypergraph(map(parse_atom, atoms), Bias(parse_modes(modes + "\nmodeF(1, f(-))")))
    found = find_paths([parse_atom("head(a,b)")], graph, 4, FreeVariables.ALLOWED)
    assert [str(rule_of(path, graph.bias)) for path in found] == ["head(V0,V1) :- p(V0,V1)"]


def test_a_function_of_recall_0_hides_its_atoms() -> None:
    modes = "modeP(1, Happens(-,+))\nmodeF(0, running(.))\nmodeF(1, walking(.))"
    atoms = map(parse_atom, ["happensAt(running(a),1)", "happensAt(walking(a),1)"])
    graph = Hypergraph(atoms, Bias(parse_modes(modes)))
    assert [str(atom) for atom in graph.edges(Constant("1"))] == ["happensAt(walking(a),1)"]


def test_variables_stay_and_constants_are_lifted() -> None:
    bias = Bias(parse_modes("modeP(1, Close(.,.,#.,+))"))
    start, near = parse_atom("initiatedAt(meet(X,id2),5)"), parse_atom("close(X,id2,34,5)")
    rule = rule_of(Path.of([start, near], bias), bias)
    assert rule == parse_rule("initiatedAt(meet(X,V0),V1) :- close(X,V0,34,V1)")


MODES = """
modeP(2, P(-,+))
modeP(1, Q(+,#-))
modeP(0, Head(-,-))
modeP(1, R(-,.))
modeF(1, f(-))
"""
constants = st.sampled_from(["a", "b", "c"])
evidence = st.one_of(
    st.builds("p({},{})".format, constants, constants),
    st.builds("p(f({}),{})".format, constants, constants),
    st.builds("q({},{})".format, constants, constants),
    st.builds("r({},{})".format, constants, constants),
)


@given(st.sets(evidence, max_size=6), st.integers(1, 4), st.sampled_from(list(FreeVariables)))
def test_paths_are_those_that_can_be_built_one_by_one(
    atoms: set[str], length: int, free: FreeVariables
) -> None:
    true = [parse_atom(text) for text in sorted(atoms)]
    start = parse_atom("head(a,b)")
    modes = parse_modes(MODES)
    found = find_paths([start], Hypergraph(true, Bias(modes)), length, free)
    keys: list[frozenset[Atom]] = [path.key for path in found]
    assert len(set(keys)) == len(keys)
    twin = all_paths(start, true, modes, length, free is FreeVariables.ALLOWED)
    shown = {frozenset(a for a in key if not a.predicate.startswith("AUX")) for key in keys}
    assert shown == twin
