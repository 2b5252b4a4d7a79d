"""Small random theories and the streams they are run on: for engines that must agree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from hypothesis import strategies as st

from splice.logic.atoms import Atom
from splice.logic.domain import Domain
from splice.logic.schema import FunctionDecl, PredicateDecl, Schema
from splice.logic.syntax import parse_atom, parse_theory
from splice.logic.terms import Constant, Function, Term, Variable
from splice.logic.theory import Theory
from splice.stream.table import NO_TIME
from splice.stream.vocabulary import Kind
from streams import Row

WALK = Kind(parse_atom("happensAt(walk(V0),V1)"), ("id", "time"), 1)
TALK = Kind(parse_atom("happensAt(talk(V0,V1),V2)"), ("id", "id", "time"), 2)
SPEED = Kind(parse_atom("happensAt(speed(V0,V1),V2)"), ("id", "knots", "time"), 2)
NEAR = Kind(parse_atom("near(V0,V1,V2,V3)"), ("id", "id", "dist", "time"), 3)
PERSON = Kind(parse_atom("person(V0)"), ("id",), None)
FRIEND = Kind(parse_atom("friend(V0,V1)"), ("id", "id"), None)
LABEL = Kind(parse_atom("holdsAt(like(V0,V1),V2)"), ("id", "id", "time"), 2)

DOMAIN = Domain(
    schema=Schema(
        predicates=(
            PredicateDecl("near", ("id", "id", "dist", "time")),
            PredicateDecl("person", ("id",)),
            PredicateDecl("friend", ("id", "id")),
        ),
        functions=(
            FunctionDecl("walk", ("id",), "event"),
            FunctionDecl("talk", ("id", "id"), "event"),
            FunctionDecl("speed", ("id", "knots"), "event"),
            FunctionDecl("like", ("id", "id"), "fluent"),
        ),
    ),
    closed=True,
)

IDS = ("a", "ab", "B")
NUMBERS = ("10", "20", "34")


@st.composite
def streams(draw: st.DrawFn) -> list[Row]:
    """Rows of one or two sequences, with gaps in time."""
    ids, numbers = st.sampled_from(IDS), st.sampled_from(NUMBERS)
    sequence, time = st.integers(0, 1), st.sampled_from([0, 1, 2, 4, 5, 8, 9])
    true, any_label = st.just(1), st.sampled_from([1, -1, 0])

    def rows(
        kind: Kind, *args: st.SearchStrategy[str], truth: st.SearchStrategy[int] = true
    ) -> st.SearchStrategy[Row]:
        when = st.just(NO_TIME) if kind.time is None else time
        return st.tuples(sequence, when, st.just(kind), st.tuples(*args), truth)

    row = st.one_of(
        rows(WALK, ids),
        rows(WALK, ids),
        rows(TALK, ids, ids),
        rows(TALK, ids, ids),
        rows(SPEED, ids, numbers),
        rows(NEAR, ids, ids, numbers, truth=st.sampled_from([1, 1, 1, -1])),
        rows(PERSON, ids),
        rows(FRIEND, ids, ids),
        rows(LABEL, ids, ids, truth=any_label),
    )
    found = draw(st.lists(row, min_size=15, max_size=40))
    found.append((0, 4, LABEL, ("a", "ab"), -1))  # so that there is such a fluent
    return sorted({row[:4]: row for row in found}.values(), key=lambda row: row[:2])


class Shape(NamedTuple):
    """How a fluent is written where it is asked for, and where it is defined."""

    asked: tuple[str, ...]
    heads: tuple[str, ...]
    ends: tuple[str, ...]


SHAPES = {
    "pair": Shape(("(X,Y)", "(Y,X)", "(X,a)"), ("(X,Y)", "(X,X)", "(X,a)"), ("(X,Y)", "(X,'B')")),
    "one": Shape(("(X)", "(Y)", "(a)"), ("(X)", "('B')"), ("(X)",)),
    "valued": Shape(
        ("(X)=red", "(Y)=V", "(X)=20"), ("(X)=red", "(X)=green", "(X)=N"), ("(X)=red", "(X)=V")
    ),
    "alone": Shape(("",), ("",), ("",)),
}
BINDERS = (
    "happensAt(walk(X),T)",
    "happensAt(walk(Y),T)",
    "happensAt(talk(X,Y),T)",
    "happensAt(talk(Y,X),T)",
    "happensAt(speed(X,N),T)",
    "near(X,Y,34,T)",
    "near(X,Y,D,T)",
    "person(X)",
    "friend(X,Y)",
    "fluent(like(X,Y))",
    "holdsAt(like(X,Y),T)",
)
TESTS = (
    "not happensAt(walk(Y),T)",
    "not happensAt(talk(X,_),T)",
    "not near(X,Y,34,T)",
    "not near(X,_,_,T)",
    "not friend(X,Y)",
    "not person(Y)",
    "not holdsAt(like(X,Y),T)",
    "X \\= Y",
    "X = a",
    "X < 20",
    "X < Y",
    "Y >= X",
    "X > a",
    "N =< D",
    "N >= 20",
    "N+D > 45",
    "N*2 = D+6",
    "N-T =< 15",
    "T > 3",
    "T \\= 5",
    "startsWith(X,a)",
    "not startsWith(Y,'B')",
)


def variables(text: str) -> set[str]:
    """Return the variables of a literal, the time aside."""
    return set(re.findall(r"\b[XYNDV]\b", text))


@dataclass
class _Writer:
    """Draws the text of rules; ``asked`` are the fluents that were defined before."""

    draw: st.DrawFn
    asked: list[str]

    def body(self, needed: set[str], free: set[str]) -> list[str]:
        """Return literals that bind what is needed; ``free`` may stay unbound."""
        binders = [*BINDERS, *(f"holdsAt({f},T)" for f in self.asked)]
        count = self.draw(st.integers(0 if not needed else 1, 2))
        chosen = [self.draw(st.sampled_from(binders)) for _ in range(count)]
        for variable in sorted(needed):
            if not any(variable in variables(b) for b in chosen):
                fitting = [b for b in binders if variable in variables(b)]
                chosen.append(self.draw(st.sampled_from(fitting)))
        bound = free.union(*map(variables, chosen))
        tests = [*TESTS, *(f"not holdsAt({f},T)" for f in self.asked)]
        usable = [t for t in tests if variables(t) <= bound]
        if usable:
            chosen += self.draw(st.lists(st.sampled_from(usable), max_size=2, unique=True))
        return self.draw(st.permutations(chosen))

    def rule(self, predicate: str, fluent: str) -> str:
        used = variables(fluent)
        bound = set() if predicate == "initiatedAt" else used
        body = self.body(used - bound, bound)
        arrow = f" :- {', '.join(body)}" if body else ""
        return f"{predicate}({fluent},T){arrow}."

    def simple(self, name: str) -> list[str]:
        shape = SHAPES[self.draw(st.sampled_from(list(SHAPES)))]
        heads = self.draw(st.lists(st.sampled_from(shape.heads), min_size=1, max_size=3))
        ends = self.draw(st.lists(st.sampled_from(shape.ends), max_size=2))
        rules = [self.rule("initiatedAt", name + head) for head in heads]
        rules += [self.rule("terminatedAt", name + end) for end in ends]
        self.asked += [name + asked for asked in shape.asked]
        return rules

    def static(self, name: str) -> list[str]:
        """Return a holdsFor rule over some fluents, the first of which binds all variables."""
        first = self.draw(st.sampled_from(self.asked))
        bound = variables(first)
        usable = [f for f in self.asked if variables(f) <= bound]
        parts = [first, *self.draw(st.lists(st.sampled_from(usable), max_size=2))]
        body = [f"holdsFor({f},I{i})" for i, f in enumerate(parts)]
        some = self.draw(st.lists(st.sampled_from(["not person(X)", "friend(X,Y)"]), max_size=1))
        body += [x for x in some if variables(x) <= bound]
        names = [f"I{i}" for i in range(len(parts))]
        for i in range(self.draw(st.integers(1, 2))):
            result = f"J{i}"
            one = self.draw(st.sampled_from(names))
            many = ",".join(self.draw(st.lists(st.sampled_from(names), min_size=1, max_size=2)))
            length = self.draw(st.integers(0, 3))
            operation = self.draw(
                st.sampled_from(
                    [
                        f"union_all([{many}],{result})",
                        f"intersect_all([{many}],{result})",
                        f"relative_complement_all({one},[{many}],{result})",
                        f"longer_than({one},{length},{result})",
                    ]
                )
            )
            body.append(operation)
            names.append(result)
        args = ",".join(sorted(bound))
        fluent = f"{name}({args})" if bound else name
        self.asked.append(fluent)
        return [f"holdsFor({fluent},{names[-1]}) :- {', '.join(body)}."]


@st.composite
def theories(draw: st.DrawFn, *, static: bool = True) -> Theory:
    """A few fluents, each defined over events and over the fluents before it."""
    writer = _Writer(draw, [])
    rules: list[str] = []
    for i in range(draw(st.integers(1, 4))):
        if static and writer.asked and draw(st.booleans()):
            rules += writer.static(f"s{i}")
        else:
            rules += writer.simple(f"f{i}")
    return parse_theory("\n".join(rules))


def given_by(theory: Theory) -> tuple[str, ...]:
    """Return the fluents that a theory asks for and labels have to say."""
    return ("like",) if "holdsAt(like" in str(theory) else ()


def seen_by(theory: Theory, rows: list[Row]) -> list[Row]:
    """Return what a theory may see of some rows: labels only of what is given."""
    return [row for row in rows if row[2] is not LABEL or given_by(theory)]


@dataclass(frozen=True, eq=False)
class World:
    """A theory, a stream and how to read them; its text is what a failing test shows."""

    theory: Theory
    rows: list[Row]
    initiate_wins: bool
    step: int | None

    def __repr__(self) -> str:
        facts = (f"{s} @{t}: {k.template} {args} {truth}" for s, t, k, args, truth in self.rows)
        head = f"initiate_wins={self.initiate_wins} step={self.step}"
        return "\n".join((head, str(self.theory), *facts))


@st.composite
def worlds(draw: st.DrawFn, *, static: bool = True) -> World:
    """Anything that recognition may be asked.

    A label holds until the next time-point, so labels and steps over other time-points do not mix.
    """
    theory = draw(theories(static=static))
    step = draw(st.sampled_from([None, None, 1, 2]))
    if step == 2 and "holdsAt(like" in str(theory):
        step = 1
    return World(theory, draw(streams()), draw(st.booleans()), step)


TIMELESS = ("person", "friend", "vesselType")


def written(text: str) -> list[Row]:
    """Return the rows of one sequence, written as facts: ``happensAt(walk(a),3). person(a).``"""
    found = []
    for rule in parse_theory(text).rules():
        atom, truth = rule.head.atom, 1 if rule.head.positive else -1
        leaves: list[str] = []
        template = Atom(atom.predicate, tuple(_lifted(arg, leaves) for arg in atom.args))
        timed = atom.predicate not in TIMELESS
        time = int(leaves.pop()) if timed else NO_TIME
        types = ("thing",) * len(leaves) + ("time",) * timed
        kind = Kind(template, types, len(leaves) if timed else None)
        found.append((0, time, kind, tuple(leaves), truth))
    return sorted(found, key=lambda row: row[:2])


def _lifted(term: Term, leaves: list[str]) -> Term:
    if isinstance(term, Function):
        return Function(term.functor, tuple(_lifted(arg, leaves) for arg in term.args))
    assert isinstance(term, Constant)
    leaves.append(term.name)
    return Variable(f"V{len(leaves) - 1}")
