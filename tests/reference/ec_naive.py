"""The Event Calculus read aloud: a slow interpreter, literal by literal, point by point.

Variables take every constant there is, time goes from point to point, and intervals are sets
of integers. Nothing is joined, sorted or merged, so there is little to get wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

from splice.logic.atoms import Atom, Literal, Rule
from splice.logic.terms import ARITHMETIC, VALUE, Constant, Function, Term, Variable
from splice.logic.theory import Theory
from splice.stream.table import NO_TIME, AtomTable

Found = tuple[str, str, int, int]
"""Sequence, fluent, start, end."""


class Row(NamedTuple):
    """A ground atom, its time (None: throughout the sequence) and its truth."""

    atom: Atom
    time: int | None
    truth: int


def rows_of(table: AtomTable) -> dict[str, list[Row]]:
    """Return the atoms of a table, by sequence."""
    found: dict[str, list[Row]] = {}
    for i, atom in enumerate(table.atoms()):
        name = table.vocabulary.sequences[int(table.sequence[i])]
        time = None if table.time[i] == NO_TIME else int(table.time[i])
        found.setdefault(name, []).append(Row(atom, time, int(table.truth[i])))
    return found


def recognise(
    theory: Theory,
    stream: Mapping[str, Sequence[Row]],
    *,
    initiate_wins: bool = False,
    step: int | None = None,
    at_once: bool = False,
) -> set[Found]:
    """Return the maximal intervals of every ground fluent that the theory defines.

    Changes count at the next time-point, or ``at_once``.
    """
    found: set[Found] = set()
    for name, rows in stream.items():
        world = World(theory, rows, initiate_wins, step, at_once)
        for fluent, points in world.run().items():
            found |= {(name, str(fluent), start, end) for start, end in runs(points)}
    return found


def since(rows: Sequence[Row], begin: int) -> dict[Term, int]:
    """Return since when each entity is there; whatever is no number is one."""
    found: dict[Term, int] = {}
    for row in rows:
        if row.truth > 0 and row.atom.predicate != "holdsAt":
            time = begin if row.time is None else row.time
            for term in row.atom.walk():
                if isinstance(term, Constant) and term.number is None:
                    found[term] = min(time, found.get(term, time))
    return found


def runs(points: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the maximal intervals of a set of integers."""
    ordered = sorted(points)
    while ordered:
        start = end = ordered[0]
        while ordered and ordered[0] == end:
            ordered.pop(0)
            end += 1
        yield start, end


@dataclass
class World:
    """One sequence; ``on`` says of each ground fluent at which integers it holds."""

    theory: Theory
    rows: Sequence[Row]
    initiate_wins: bool
    step: int | None
    at_once: bool = False
    on: dict[Term, set[int]] = field(default_factory=dict)
    initiated: set[Term] = field(default_factory=set)

    def run(self) -> dict[Term, set[int]]:
        self.times = sorted({row.time for row in self.rows if row.time is not None})
        if not self.times:
            return {}
        self.true = {row.atom for row in self.rows if row.truth > 0}
        self.since = since(self.rows, self.times[0])
        atoms = [row.atom for row in self.rows]
        atoms += [x.atom for rule in self.theory.rules() for x in (rule.head, *rule.body)]
        leaves = {t for atom in atoms for t in atom.walk() if isinstance(t, Constant)}
        self.constants = sorted(leaves - {Constant(str(t)) for t in self.times})
        self.defined = {name_of(rule.head.atom.args[0]) for rule in self.theory.rules()}
        waiting = dict.fromkeys(sorted(self.defined))
        while waiting:
            name = next(n for n in waiting if not self.needs(n) & waiting.keys() - {n})
            waiting.pop(name)
            self.define(name)
        return self.on

    def needs(self, name: str) -> set[str]:
        return {
            name_of(literal.atom.args[0])
            for rule in self.rules(name)
            for literal in rule.body
            if literal.atom.predicate in ("holdsAt", "holdsFor")
        }

    def rules(self, name: str) -> list[Rule]:
        return [rule for rule in self.theory.rules() if name_of(rule.head.atom.args[0]) == name]

    def define(self, name: str) -> None:
        rules = self.rules(name)
        if rules[0].head.atom.predicate == "holdsFor":
            for rule in rules:
                self.static(rule)
            return
        begun = {t: self.heads(rules, "initiatedAt", t) for t in self.times}
        ended = {t: self.heads(rules, "terminatedAt", t) for t in self.times}
        fluents = set().union(*begun.values())
        self.initiated |= fluents
        for fluent in fluents:
            begins = {t for t in self.times if fluent in begun[t]}
            ends = {t for t in self.times if fluent in ended[t]}
            rivals = {t for t in self.times if any(rival(fluent, f) for f in begun[t])}
            self.on[fluent] = self.inertia(begins - rivals, ends | rivals)

    def inertia(self, begins: set[int], ends: set[int]) -> set[int]:
        if not self.times:
            return set()
        after = dict(zip(self.times, self.times[1:], strict=False))
        if self.step is not None:
            after = {t: t + self.step for t in self.times}
        horizon = self.times[-1] + (self.step or 1)
        shown = {after[t]: t for t in self.times if t in after}
        if self.at_once:
            shown = {t: t for t in self.times}
        holding, held = set(), False
        for now in range(self.times[0], horizon):
            if now in shown:
                cause = shown[now]
                if self.initiate_wins:
                    held = cause in begins or (held and cause not in ends)
                else:
                    held = (held or cause in begins) and cause not in ends
            if held:
                holding.add(now)
        return holding

    def heads(self, rules: list[Rule], predicate: str, time: int) -> set[Term]:
        found = set()
        for rule in rules:
            if rule.head.atom.predicate != predicate:
                continue
            now = {rule.head.atom.args[1]: Constant(str(time))}
            here = rule.substitute(now)
            hidden = private(here)
            open_ = [v for v in here.variables() if v not in hidden]
            for theta in self.ways(open_, here.body, hidden, time):
                found.add(here.head.atom.args[0].substitute(theta))
        return found

    def ways(
        self, open_: Sequence[Variable], body: Sequence[Literal], hidden: set[Variable], time: int
    ) -> Iterator[dict[Variable, Term]]:
        """Yield every choice of constants that makes a body true, one variable after the other."""
        ready = [x for x in body if set(x.variables()) <= hidden]
        if not all(self.true_at(literal, time) for literal in ready):
            return
        if not open_:
            yield {}
            return
        waiting = [x for x in body if x not in ready]
        for constant in self.constants:
            theta = {open_[0]: constant}
            rest = [literal.substitute(theta) for literal in waiting]
            for found in self.ways(open_[1:], rest, hidden, time):
                yield theta | found

    def substitutions(self, variables: Sequence[Variable]) -> Iterator[dict[Variable, Term]]:
        for values in product(self.constants, repeat=len(variables)):
            yield dict(zip(variables, values, strict=True))

    def true_at(self, literal: Literal, time: int) -> bool:
        """Whether a literal is true; a variable that is left stands for whatever there is."""
        atoms = (literal.atom.substitute(t) for t in self.substitutions(literal.variables()))
        return any(self.holds(atom, time) for atom in atoms) == literal.positive

    def holds(self, atom: Atom, time: int) -> bool:
        if atom.is_comparison:
            return compare(atom)
        if atom.predicate == "startsWith":
            text, begin = atom.args
            assert isinstance(text, Constant)
            assert isinstance(begin, Constant)
            return text.name.startswith(begin.name)
        if atom.predicate == "fluent":
            one, other = atom.args[0].args  # the fluents of this language are about pairs
            return one != other and all(self.since.get(x, time + 1) <= time for x in (one, other))
        if atom.predicate == "holdsAt" and name_of(atom.args[0]) in self.defined:
            return time in self.on.get(atom.args[0], set())
        return atom in self.true

    def static(self, rule: Rule) -> None:
        """Work out a holdsFor rule.

        Some holdsFor literal with all variables is about a ground fluent that was initiated or
        worked out in the sequence; where no literal has them all, the first one is, and each
        that brings new variables.
        """
        inner = [x for x in rule.body if x.atom.predicate not in ALGEBRA]
        intervals = {x.atom.args[1] for x in inner if x.atom.predicate == "holdsFor"}
        variables = dict.fromkeys(v for x in inner for v in x.variables() if v not in intervals)
        asked = [x.atom.args[0] for x in inner if x.atom.predicate == "holdsFor"]
        timeless = [x for x in inner if x.atom.predicate != "holdsFor"]
        for theta in self.ways(list(variables), timeless, set(), self.times[0]):
            if self.there(asked, theta):
                fluent = rule.head.atom.args[0].substitute(theta)
                self.on.setdefault(fluent, set()).update(self.algebra(rule, theta))

    def there(self, asked: list[Term], theta: dict[Variable, Term]) -> bool:
        every = {v for fluent in asked for v in fluent.variables()}
        whole = [f for f in asked if set(f.variables()) == every]
        if whole:
            return any(f.substitute(theta) in self.on for f in whole)
        known: set[Variable] = set()
        for i, fluent in enumerate(asked):
            new = set(fluent.variables()) - known
            if (i == 0 or new) and fluent.substitute(theta) not in self.on:
                return False
            known |= new
        return True

    def algebra(self, rule: Rule, theta: dict[Variable, Term]) -> set[int]:
        named: dict[Term, set[int]] = {}
        for literal in rule.body:
            predicate, args = literal.atom.predicate, literal.atom.args
            if predicate == "holdsFor":
                named[args[1]] = self.on.get(args[0].substitute(theta), set())
            elif predicate in ALGEBRA:
                named[args[-1]] = ALGEBRA[predicate](named, args)
        return named[rule.head.atom.args[1]]


def _listed(named: dict[Term, set[int]], term: Term) -> list[set[int]]:
    assert isinstance(term, Function)
    return [named[part] for part in term.args]


def _longer(named: dict[Term, set[int]], args: tuple[Term, ...]) -> set[int]:
    limit = args[1]
    assert isinstance(limit, Constant)
    long = (range(s, e) for s, e in runs(named[args[0]]) if e - s > int(limit.name))
    return {point for run in long for point in run}


ALGEBRA = {
    "union_all": lambda named, args: set().union(*_listed(named, args[0])),
    "intersect_all": lambda named, args: set.intersection(*_listed(named, args[0])),
    "relative_complement_all": lambda named, args: named[args[0]].difference(
        *_listed(named, args[1])
    ),
    "longer_than": _longer,
}


def name_of(fluent: Term) -> str:
    """Return the functor of a fluent, whatever its value."""
    if isinstance(fluent, Function) and fluent.functor == VALUE:
        return name_of(fluent.args[0])
    return fluent.functor if isinstance(fluent, Function) else str(fluent)


def private(rule: Rule) -> set[Variable]:
    """Return the variables that only one negated literal mentions: whatever it is."""
    spoken = [rule.head, *(x for x in rule.body if x.positive)]
    public = {v for literal in spoken for v in literal.variables()}
    return {v for x in rule.body if not x.positive for v in x.variables()} - public


def rival(one: Term, two: Term) -> bool:
    """Whether two ground fluents are values of the same one, and not the same value."""
    pair = (one, two)
    if not all(isinstance(f, Function) and f.functor == VALUE for f in pair):
        return False
    (own, value), (other, another) = (f.args for f in pair if isinstance(f, Function))
    return own == other and value != another


def compare(atom: Atom) -> bool:
    """Whether a ground comparison is true; names are ordered among names, numbers among numbers."""
    left, right = atom.args
    a, b = number(left), number(right)
    if atom.predicate in ("=", "\\="):
        same = left == right or (a is not None and a == b)
        return same == (atom.predicate == "=")
    if isinstance(left, Constant) and isinstance(right, Constant) and a is None and b is None:
        x, y = left.name, right.name
        return {"<": x < y, ">": x > y, "=<": x <= y, ">=": x >= y}[atom.predicate]
    if a is None or b is None:
        return False
    return {"<": a < b, ">": a > b, "=<": a <= b, ">=": a >= b}[atom.predicate]


def number(term: Term) -> float | None:
    """Return the value of a ground term."""
    if isinstance(term, Constant):
        return term.number
    assert isinstance(term, Function)
    assert term.functor in ARITHMETIC
    a, b = map(number, term.args)
    if a is None or b is None:
        return None
    if term.functor in ("/", "mod"):
        return None if b == 0 else (a / b if term.functor == "/" else a % b)
    return {"+": a + b, "-": a - b, "*": a * b}[term.functor]
