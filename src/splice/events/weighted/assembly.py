"""Ground clauses as they are put together, changes of fluents included.

Where definitions fire is a column over the atoms. It may depend on the fluent's own state: then a
clause stands once for each state. It may depend on other fluents: then an auxiliary atom says
where they fire, and hard clauses say what it means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from splice.arrays import Ints, Mask
from splice.events.weighted.grounding import Clauses, Grounder, merged
from splice.events.weighted.network import Auxiliary
from splice.events.weighted.templates import Template
from splice.logic.atoms import Literal


@dataclass(frozen=True, eq=False)
class _Fires:
    """Where definitions of a change fire: for certain, if the fluent is on, if it is off.

    ``whole`` is the auxiliary atom that says so where other fluents decide it, else -1.
    """

    if_on: Mask
    if_off: Mask
    whole: Ints


@dataclass
class Assembly:
    """Clauses and auxiliary atoms as they are found."""

    grounder: Grounder
    firing: dict[str, list[Template]]
    clauses: list[Clauses] = field(default_factory=list)
    auxiliary: list[Auxiliary] = field(default_factory=list)
    _fires: dict[str, _Fires] = field(default_factory=dict)
    size: int = 0

    def __post_init__(self) -> None:
        self.size = int(self.grounder.instances.offsets[-1])

    def add(self, template: Template) -> None:
        """Add the groundings of a template."""
        literals = [*template.queries, *map(Literal, template.absent)]
        atoms = self._atoms(template, literals)
        k = len(template.queries)
        signs = [literal.positive for literal in template.queries]
        parts = [(atoms[:, :k], signs, atoms[:, k:])]
        for column, atom in enumerate(template.absent):
            fires = self._where(atom.predicate)
            parts = [done for part in parts for done in _split(*part, column, fires)]
        for found, own, _ in parts:
            self.clauses += merged(template.statement, template.share, found, own)

    def _atoms(self, template: Template, literals: Sequence[Literal]) -> Ints:
        """Return the atoms of some literals, a row for each grounding."""
        mentioned = list(dict.fromkeys(literal.atom.args[0] for literal in literals))
        rows = self.grounder.rows(template, mentioned)
        columns = [self.grounder.atoms(template, rows, literal.atom) for literal in literals]
        atoms = np.column_stack(columns)
        return atoms[(atoms >= 0).all(axis=1)]

    def _where(self, predicate: str) -> _Fires:
        if predicate not in self._fires:
            self._fires[predicate] = self._found(predicate)
        return self._fires[predicate]

    def _found(self, predicate: str) -> _Fires:
        """Return where the definitions of a change fire."""
        n = int(self.grounder.instances.offsets[-1])
        if_on, if_off = np.zeros(n, bool), np.zeros(n, bool)
        loose: list[tuple[Ints, list[bool]]] = []
        for template in self.firing.get(predicate, ()):
            atoms = self._atoms(template, template.queries)
            wanted = [not literal.positive for literal in template.queries[1:]]
            head = atoms[:, 0]
            alone = (atoms[:, 1:] == head[:, None]).all(axis=1)
            if all(wanted):
                if_on[head[alone]] = True
            if not any(wanted):
                if_off[head[alone]] = True
            if not alone.all():
                loose.append((atoms[~alone], wanted))
        whole = np.full(n, -1, np.int64)
        if loose:
            self._coupled(loose, if_on, if_off, whole)
        return _Fires(if_on, if_off, whole)

    def _coupled(
        self,
        loose: list[tuple[Ints, list[bool]]],
        if_on: Mask,
        if_off: Mask,
        whole: Ints,
    ) -> None:
        """Make an auxiliary atom for each fluent and point where other fluents decide."""
        # Where it fires in either state nothing is left for others to decide. Elsewhere a firing that
        # depends on the fluent's own state becomes one more member of the disjunction, and leaves the
        # columns: from here on ``whole`` alone says whether the change happens.
        sure = if_on & if_off
        loose = [(rows[~sure[rows[:, 0]]], wanted) for rows, wanted in loose]
        heads = np.unique(np.concatenate([rows[:, 0] for rows, _ in loose]))
        whole[heads] = self._fresh(len(heads))
        for state, column in ((True, if_on), (False, if_off)):
            some = heads[column[heads]]
            loose.append((np.column_stack((some, some)), [state]))
            column[some] = False
        members = []
        for rows, wanted in loose:
            if len(rows):
                members.append(self._conjunctions(whole[rows[:, 0]], rows[:, 1:], wanted))
        if members:
            self._disjunctions(np.concatenate(members))

    def _fresh(self, number: int) -> Ints:
        self.size += number
        return np.arange(self.size - number, self.size)

    def _conjunctions(self, whole: Ints, atoms: Ints, wanted: list[bool]) -> Ints:
        """Let an auxiliary atom be on exactly where all atoms of a row are as wanted."""
        part = self._fresh(len(atoms))
        self.auxiliary.append(Auxiliary(whole, part, atoms, tuple(wanted)))
        signs = [not sign for sign in wanted]
        self.clauses += merged(-1, 1.0, np.column_stack((part, atoms)), [True, *signs])
        for column, sign in zip(atoms.T, wanted, strict=True):
            self.clauses += merged(-1, 1.0, np.column_stack((part, column)), [False, sign])
        self.clauses += merged(-1, 1.0, np.column_stack((whole, part)), [True, False])
        return np.column_stack((whole, part))

    def _disjunctions(self, members: Ints) -> None:
        """Let a whole be off where all its parts are."""
        members = members[np.lexsort((members[:, 1], members[:, 0]))]
        whole, start, number = np.unique(members[:, 0], return_index=True, return_counts=True)
        for n in np.unique(number):
            chosen = number == n
            parts = members[start[chosen][:, None] + np.arange(n), 1]
            rows = np.column_stack((whole[chosen], parts))
            self.clauses += merged(-1, 1.0, rows, [False, *([True] * int(n))])


def _split(
    atoms: Ints, signs: list[bool], absent: Ints, column: int, fires: _Fires
) -> Iterator[tuple[Ints, list[bool], Ints]]:
    """Yield the groundings where a change does not happen, with what that depends on."""
    # A grounding asks that a change does *not* happen. What that takes depends on whether the
    # definitions fire while the fluent is on, and while it is off:
    #
    #     fires if on   fires if off   it does not happen        the clause gets
    #     no            no             always                    no literal more
    #     no            yes            where the fluent is on    "or the fluent is off"
    #     yes           no             where the fluent is off   "or the fluent is on"
    #     yes           yes            never                     dropped: the clause is true
    #     other fluents decide         where the auxiliary is off  "or the auxiliary is on"
    at = absent[:, column]
    on, off, whole = ~fires.if_on[at], ~fires.if_off[at], fires.whole[at]
    coupled = whole >= 0
    for chosen, literal, sign in (
        (on & off & ~coupled, None, True),
        (on & ~off & ~coupled, at, False),
        (off & ~on & ~coupled, at, True),
        (coupled, whole, True),
    ):
        if not chosen.any():
            continue
        if literal is None:
            yield atoms[chosen], signs, absent[chosen]
        else:
            more = np.column_stack((atoms[chosen], literal[chosen]))
            yield more, [*signs, sign], absent[chosen]
