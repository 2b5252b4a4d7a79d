"""Rules of the Event Calculus as rules for clingo.

Names, numbers and terms as clingo reads them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NoReturn

from splice.errors import InputError
from splice.events.crisp.program import Program
from splice.events.crisp.static import ALGEBRA, sources
from splice.events.fluents import HOLDS_FOR, binds, border_of, fluent_of
from splice.events.universe import FLUENT_OF
from splice.logic.atoms import Atom, Literal, Rule
from splice.logic.schema import HOLDS_AT, TERMINATED_AT, Signature
from splice.logic.terms import ARITHMETIC, LIST, VALUE, Constant, Function, Term, Variable
from splice.logic.theory import Statement

LARGEST: Final = 2**31 - 1
"""The largest number that clingo has."""

VALUE_OF: Final = "value"
"""The functor of a fluent and its value."""

_NAME: Final = re.compile(r"[a-z][A-Za-z0-9_]*\Z")
_WHOLE: Final = re.compile(r"(?:0|-?[1-9][0-9]{0,9})\Z")


def asp_term(term: Term, names: Mapping[Variable, str]) -> str:
    """Write a term; ``names`` spells its variables."""
    if isinstance(term, Variable):
        return names[term]
    if isinstance(term, Constant):
        return asp_constant(term.name)
    name = VALUE_OF if term.functor == VALUE else term.functor
    return f"{name}({','.join(asp_term(arg, names) for arg in term.args)})"


def asp_constant(name: str) -> str:
    r"""Write a constant: a whole number, a plain name, or a string.

    >>> print(asp_constant("34"), asp_constant("walking"), asp_constant("ID1"), asp_constant("007"))
    34 walking "ID1" "007"
    """
    if _WHOLE.match(name) and abs(int(name)) <= LARGEST:
        return name
    return name if asp_name(name) else f'"{_escaped(name)}"'


def asp_name(name: str) -> str | None:
    """Return a name as it is where clingo can read it, else None."""
    return name if _NAME.match(name) and name != "not" else None


def _escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


RANK: Final = "rank"
"""The facts that put constants in order: a constant, what it is, and its number among those."""

_RESERVED: Final = frozenset(
    {
        "before", "begun", "broken", "during", "end", "follows", "held", "interval", "known",
        "lasts", "next", "point", RANK, "rival", "row", "since", VALUE_OF,
    }
)  # fmt: skip
_TIME: Final = "T"
"""The time in rules that follow from a ``holdsFor`` rule, which has no time of its own."""

_COMPARED: Final = {"=<": "<=", "\\=": "!="}
_LENGTHS: Final = """\
before({k},T) :- during({k},P), follows(T,P).
begun({k},T,T) :- during({k},T), not before({k},T).
begun({k},S,T) :- begun({k},S,P), follows(T,P), during({k},T).
lasts({k},S,E) :- begun({k},S,T), follows(E,T), not during({k},E).
"""


def format_statement(statement: Statement, program: Program, number: int) -> Iterator[str]:
    """Yield the rules that say what one rule of a program says.

    Parameters
    ----------
    statement
        The rule.
    program
        The program that it belongs to.
    number
        What tells it from the others of the program.
    """
    rule = statement.content
    assert isinstance(rule, Rule)
    if statement.weight is not None and not statement.is_hard:
        _refuse(statement, "a soft weight has no meaning in ASP", "remove it, or write 'hard ::'")
    writer = _Rule(statement, rule, program)
    yield from writer.static(number) if rule.head.atom.predicate == HOLDS_FOR else writer.simple()


def _refuse(statement: Statement, message: str, hint: str = "") -> NoReturn:
    raise InputError(statement.problem(message, hint))


class _Rule:
    """One rule, and how its variables are spelt."""

    def __init__(self, statement: Statement, rule: Rule, program: Program) -> None:
        self._statement, self._rule, self._program = statement, rule, program
        self._names = self._spelt()

    def _spelt(self) -> dict[Variable, str]:
        """Return clingo's names: a variable that occurs once, and does not matter, is ``_``."""
        terms = [t for x in (self._rule.head, *self._rule.body) for t in x.atom.walk()]
        count = Counter(t for t in terms if isinstance(t, Variable))
        static = self._rule.head.atom.predicate == HOLDS_FOR
        names = {variable: variable.name for variable in count}
        for variable, times in count.items():
            name = variable.name
            if name.startswith("_") and times == 1:
                names[variable] = "_"
            elif name.startswith("_") or (static and name == _TIME):
                while name in names.values():
                    name = f"V{name}"
                names[variable] = name
        return names

    def simple(self) -> Iterator[str]:
        """Yield an initiation or a termination."""
        head = self._rule.head.atom
        body = [self.literal(x) for x in self._rule.body]
        # clingo wants each variable of a rule in some positive literal. What no condition binds of a fluent
        # that ends ranges over the fluents that ever began; a time that none binds, over all points.
        bound = {v for x in self._rule.body if binds(x) for v in x.variables()}
        if head.predicate == TERMINATED_AT and not set(head.args[0].variables()) <= bound:
            body.append(f"known({self.term(head.args[0])})")
        timed = (x for x in self._rule.body if binds(x) and x.atom.predicate != HOLDS_AT)
        if not any(head.args[1] in x.variables() for x in timed):
            body.append(f"point({self.term(head.args[1])})")
        yield f"{self.atom(head)} :- {', '.join(body)}."

    def static(self, number: int) -> Iterator[str]:
        """Yield a rule over intervals: a row for each way to bind it, then point by point."""
        # row(7,(X,Y)) is a way to bind rule 7, and during((7,"I",(X,Y)),T) says that T lies in the interval
        # that the rule calls I there. The operations on intervals are then rules about single points.
        conditions, variables = self._conditions()
        row = ",".join(map(self.term, variables))
        row = f"({row},)" if len(variables) == 1 else f"({row})"
        for atoms in sources(self._rule):
            there = [self._instance(atom.args[0]) for atom in atoms]
            yield f"row({number},{row}) :- {', '.join([*there, *conditions])}."
        for literal in self._rule.body:
            if literal.atom.predicate == HOLDS_FOR:
                fluent, name = literal.atom.args
                holds = f"{HOLDS_AT}({self.term(fluent)},T)"
                yield f"{_during(number, name, row)} :- row({number},{row}), {holds}."
            elif literal.atom.predicate in ALGEBRA:
                yield from _operation(literal.atom, number)
        head, result = self._rule.head.atom.args
        yield f"{HOLDS_AT}({self.term(head)},T) :- {_during(number, result, row)}."
        yield f"known({self.term(head)}) :- row({number},{row})."

    def _conditions(self) -> tuple[list[str], list[Variable]]:
        """Return the timeless conditions of a rule over intervals, and the variables of a row."""
        conditions: list[str] = []
        seen: dict[Variable, None] = {}
        for literal in self._rule.body:
            atom = literal.atom
            if atom.predicate == HOLDS_FOR:
                seen |= dict.fromkeys(atom.args[0].variables())
            elif atom.predicate not in ALGEBRA:
                conditions.append(self.literal(literal))
                seen |= dict.fromkeys(literal.variables()) if binds(literal) else {}
        return conditions, list(seen)

    def _instance(self, fluent: Term) -> str:
        """Return the literal that ranges over the ground fluents there are."""
        if fluent_of(fluent) in self._program.inputs:
            return f"{HOLDS_AT}({self.term(fluent)},_)"
        return f"known({self.term(fluent)})"

    def literal(self, literal: Literal) -> str:
        atom = literal.atom
        if atom.is_comparison:
            return self._comparison(literal)
        if not literal.positive:
            self._check_private(literal)
        border = border_of(atom)
        if border is not None and fluent_of(border[1]) in self._defined():
            self.refuse(f"'{literal}' is where a fluent starts or ends: not written for clingo yet")
        if atom.predicate == FLUENT_OF:
            time, since = self.term(self._rule.head.atom.args[1]), self._fresh("Since")
            return f"{FLUENT_OF}({self.term(atom.args[0])},{since}), {since} <= {time}"
        return f"{'' if literal.positive else 'not '}{self.atom(atom)}"

    def _defined(self) -> set[Signature]:
        return {definition.fluent for definition in self._program.definitions}

    def _fresh(self, name: str) -> str:
        """Return a name that no variable of the rule has."""
        while name in self._names.values():
            name += "_"
        self._names[Variable(f" {name}")] = name
        return name

    def _check_private(self, literal: Literal) -> None:
        spoken = [self._rule.head, *(x for x in self._rule.body if x.positive)]
        public = {v for x in spoken for v in x.variables()}
        if any(v not in public and self._names[v] != "_" for v in literal.variables()):
            self.refuse(f"'{literal}' binds a variable of its own twice", "name a fact for it")

    def _comparison(self, literal: Literal) -> str:
        atom = literal.atom
        equality = atom.predicate in ("=", "\\=")
        if not literal.positive and not equality:
            self.refuse(f"'{literal}' is a negated order", "write the opposite comparison")
        if not equality and all(self._is_ranked(side) for side in atom.args):
            return self._ranked(atom)
        sides = [self.number(side) if not equality else self.term(side) for side in atom.args]
        sign = atom.predicate
        if not literal.positive:
            sign = "=" if sign == "\\=" else "\\="
        return f"{sides[0]} {_COMPARED.get(sign, sign)} {sides[1]}"

    def _is_ranked(self, term: Term) -> bool:
        """Return whether a side may be a name: no time, no sum and no number."""
        if isinstance(term, Constant):
            return term.number is None
        return isinstance(term, Variable) and term != self._rule.head.atom.args[1]

    def _ranked(self, atom: Atom) -> str:
        """Return an order of constants: numbers among numbers, names among names."""
        kind, first, second = (self._fresh(name) for name in ("Kind", "One", "Other"))
        left, right = map(self.term, atom.args)
        sign = _COMPARED.get(atom.predicate, atom.predicate)
        ranks = f"{RANK}({left},{kind},{first}), {RANK}({right},{kind},{second})"
        return f"{ranks}, {first} {sign} {second}"

    def number(self, term: Term) -> str:
        """Write one side of an order, which is true of numbers only: clingo drops the rest."""
        shown = self.term(term)
        time = self._rule.head.atom.args[1]
        return f"{shown}+0" if isinstance(term, Variable) and term != time else shown

    def atom(self, atom: Atom) -> str:
        if atom.predicate in _RESERVED:
            self.refuse(f"the axioms have a '{atom.predicate}' of their own", "rename it")
        name = self.name(atom.predicate)
        return f"{name}({','.join(map(self.term, atom.args))})" if atom.args else name

    def term(self, term: Term) -> str:
        if isinstance(term, Function) and term.functor in ("/", "mod"):
            self.refuse(f"'{term}': clingo divides whole numbers in its own way")
        if (
            isinstance(term, Constant)
            and term.number is not None
            and asp_constant(term.name) != term.name
        ):
            self.refuse(f"'{term}': clingo has whole numbers only, of 32 bits")
        if isinstance(term, Function) and term.functor == VALUE:
            return f"{VALUE_OF}({','.join(map(self.term, term.args))})"
        if isinstance(term, Function) and term.functor in ARITHMETIC:
            return f"({self.term(term.args[0])}{term.functor}{self.term(term.args[1])})"
        if isinstance(term, Function):
            return f"{self.name(term.functor)}({','.join(map(self.term, term.args))})"
        return asp_term(term, self._names)

    def name(self, name: str) -> str:
        if asp_name(name) is None:
            self.refuse(f"'{name}' is no name in ASP", "names start in lower case")
        return name

    def refuse(self, message: str, hint: str = "") -> NoReturn:
        _refuse(self._statement, message, hint)


def _during(number: int, name: Term, row: str = "R", time: str = "T") -> str:
    return f"during({_interval(number, name, row)},{time})"


def _interval(number: int, name: Term, row: str = "R") -> str:
    return f'({number},"{name}",{row})'


def _operation(atom: Atom, number: int) -> Iterator[str]:
    """Yield what an operation on intervals says of each point in time."""
    result = _during(number, atom.args[-1])
    first = atom.args[0]
    if atom.predicate == "union_all":
        for part in _listed(first):
            yield f"{result} :- {_during(number, part)}."
    elif atom.predicate == "intersect_all":
        yield f"{result} :- {', '.join(_during(number, part) for part in _listed(first))}."
    elif atom.predicate == "relative_complement_all":
        without = (f"not {_during(number, part)}" for part in _listed(atom.args[1]))
        yield f"{result} :- {', '.join((_during(number, first), *without))}."
    else:
        key = _interval(number, first)
        yield _LENGTHS.format(k=key).rstrip()
        yield f"{result} :- begun({key},S,T), lasts({key},S,E), E-S > {atom.args[1]}."


def _listed(term: Term) -> Sequence[Term]:
    return term.args if isinstance(term, Function) and term.functor == LIST else (term,)
