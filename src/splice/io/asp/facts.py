"""What a program wants to know of a stream, as facts for clingo: one sequence, one time line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product

import numpy as np

from splice.errors import SpliceError
from splice.events.comparisons import STARTS_WITH
from splice.events.crisp.program import Program, without_labels
from splice.events.crisp.recognition import check_inputs
from splice.events.fluents import fluent_of
from splice.events.points import Points, Step
from splice.events.universe import FLUENT_OF, SINCE, Entities, Universe
from splice.io.asp.rules import LARGEST, RANK, asp_constant, asp_name, asp_term
from splice.labels import TRUE
from splice.logic.atoms import Atom
from splice.logic.clauses import Rule
from splice.logic.domain import Domain
from splice.logic.schema import HOLDS_AT
from splice.logic.terms import Constant, Function, Term, Variable
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import Kind


def format_asp_facts(program: Program, table: AtomTable, domain: Domain | None = None) -> str:
    """Return the atoms of one sequence that the rules of a program ask for, and its time line."""
    if len(np.unique(table.sequence)) > 1:
        raise SpliceError("a program for clingo has one time line", "choose one sequence")
    check_inputs(program, table.vocabulary)
    table = without_labels(table, program.given)
    asked = _Asked(program)
    lines = [*_time_line(program, Points.of(table, program.successor))]
    lines += _evidence(asked, table)
    lines += _inputs(program, table)
    lines += _ranges(program, asked, table, domain or Domain())
    lines += _builtins(asked, table)
    lines += _ranks(asked, table)
    return "\n".join(lines) + "\n"


class _Asked:
    """The atoms that stand in the bodies of a program."""

    def __init__(self, program: Program) -> None:
        rules = [s.content for d in program.definitions for s in d.statements()]
        self.atoms = [x.atom for r in rules if isinstance(r, Rule) for x in r.body]
        self.compares = any(_orders(atom) for atom in self.atoms)

    def wants(self, kind: Kind) -> bool:
        """Whether some atom may ask for atoms of a kind."""
        return any(a.signature == kind.signature and _alike(a, kind.template) for a in self.atoms)

    def fluents(self) -> list[Term]:
        """Return the fluents of which the rules ask what they range over."""
        return [a.args[0] for a in self.atoms if a.predicate == FLUENT_OF]

    def beginnings(self) -> list[str]:
        """Return the texts with which constants are asked to begin."""
        wanted = (a.args[1] for a in self.atoms if a.predicate == STARTS_WITH)
        return sorted({term.name for term in wanted if isinstance(term, Constant)})


def _orders(atom: Atom) -> bool:
    return atom.is_comparison and (
        atom.predicate not in ("=", "\\=") or any(isinstance(a, Function) for a in atom.args)
    )


def _alike(atom: Atom, template: Atom) -> bool:
    """Whether an atom and a kind have the same functors where both have one."""
    pairs = zip(atom.args, template.args, strict=True)
    return all(
        (a.functor, len(a.args)) == (b.functor, len(b.args))
        for a, b in pairs
        if isinstance(a, Function) and isinstance(b, Function)
    )


def _time_line(program: Program, points: Points) -> Iterator[str]:
    times = points.time.tolist()
    if times and max(abs(times[0]), abs(points.next_time.max())) > LARGEST:
        raise SpliceError(
            f"time {times[-1]} does not fit into clingo's 32 bits", "count from a later moment"
        )
    yield from (f"point({time})." for time in times)
    if not isinstance(program.successor, Step):
        yield from (f"next({later},{time})." for time, later in pairwise(times))
        return
    ticks = np.unique(np.concatenate((points.time, points.next_time))).tolist()
    yield from (f"follows({later},{tick})." for tick, later in pairwise(ticks))
    yield from (f"end({tick})." for tick in ticks[-1:])


def _evidence(asked: _Asked, table: AtomTable) -> Iterator[str]:
    kinds = table.vocabulary.kinds
    wanted = [k.predicate != HOLDS_AT and asked.wants(k) for k in kinds]
    rows = np.flatnonzero((table.truth == TRUE) & np.array(wanted, bool)[table.kind])
    for row in rows.tolist():
        kind = kinds[int(table.kind[row])]
        names = table.vocabulary.constants.names(table.args[row, : kind.arity].tolist())
        atom = kind.atom(names, int(table.time[row]))  # an integer, however the input writes it
        if asked.compares:
            _check_numbers(atom)
        yield f"{_ground(atom)}."


def _inputs(program: Program, table: AtomTable) -> Iterator[str]:
    """Yield the fluents that are read from the input: each holds until the next time-point."""
    points = Points.of(table, program.successor)
    ticks = np.unique(np.concatenate((points.time, points.next_time)))
    for code, kind in enumerate(table.vocabulary.kinds):
        if kind.predicate != HOLDS_AT or fluent_of(kind.template.args[0]) not in program.inputs:
            continue
        for row in np.flatnonzero((table.kind == code) & (table.truth == TRUE)).tolist():
            point = points.of_row[row]
            within = (ticks >= points.time[point]) & (ticks < points.next_time[point])
            fluent = _text(table.atom(row).args[0])
            yield from (f"{HOLDS_AT}({fluent},{tick})." for tick in ticks[within].tolist())


def _ranges(program: Program, asked: _Asked, table: AtomTable, domain: Domain) -> Iterator[str]:
    """Yield what fluents range over, and since when: each argument is an entity that was seen."""
    entities = Entities(Universe.of(program.rules(), domain, program.schema), table)
    names = table.vocabulary.constants
    begin = int(table.time[table.time != NO_TIME].min(initial=0)) if len(table) else 0
    found: dict[str, None] = {}
    for fluent in asked.fluents():
        relations, tests = entities.ranges(fluent)
        rows = [range(len(relation)) for relation in relations]
        for chosen in product(*rows):
            theta: dict[Variable, Term] = {}
            since, fits = begin, True
            for relation, row in zip(relations, chosen, strict=True):
                since = max(since, int(relation.columns[SINCE][row]))
                for variable, column in relation.columns.items():
                    if variable != SINCE:
                        name = Constant(names[int(column[row])])
                        fits &= theta.setdefault(variable, name) == name
            pairs = (tuple(arg.substitute(theta) for arg in test.atom.args) for test in tests)
            if fits and all(one != other for one, other in pairs):
                found[f"{FLUENT_OF}({_text(fluent.substitute(theta))},{since})."] = None
    yield from found


def _builtins(asked: _Asked, table: AtomTable) -> Iterator[str]:
    for beginning in asked.beginnings():
        shown = asp_constant(beginning)
        for name in table.vocabulary.constants:
            if name.startswith(beginning):
                yield f"{STARTS_WITH}({asp_constant(name)},{shown})."


def _ranks(asked: _Asked, table: AtomTable) -> Iterator[str]:
    """Yield the order of constants, if rules ask for it: numbers by value, names by their text."""
    if not any(_orders(atom) for atom in asked.atoms):
        return
    own = (t.name for atom in asked.atoms for t in atom.walk() if isinstance(t, Constant))
    names = sorted({*table.vocabulary.constants, *own})
    for rank, name in enumerate(names):
        if Constant(name).number is None:
            yield f"{RANK}({asp_constant(name)},name,{rank})."
        elif not asp_constant(name).startswith('"'):
            yield f"{RANK}({asp_constant(name)},number,{asp_constant(name)})."


def _check_numbers(atom: Atom) -> None:
    for term in atom.walk():
        if isinstance(term, Constant) and term.number is not None:
            shown = asp_constant(term.name)
            if shown.startswith('"'):
                raise SpliceError(
                    f"'{atom}' has the number {term.name}, and clingo has only whole ones of 32 bits",
                    "the rules compare numbers; scale them to whole ones",
                )


def _ground(atom: Atom) -> str:
    args = ",".join(_text(arg) for arg in atom.args)
    return f"{_named(atom.predicate)}({args})" if atom.args else _named(atom.predicate)


def _text(term: Term) -> str:
    for part in term.walk():
        if isinstance(part, Function) and part.functor != "=":
            _named(part.functor)
    return asp_term(term, {})


def _named(name: str) -> str:
    if asp_name(name) is None:
        raise SpliceError(f"'{name}' is no name in ASP", "names start in lower case")
    return name
