"""Weighted clauses as a mixed integer program, for what is no chain; solved by HiGHS.

An atom is a binary column. A soft clause has a column that says whether it is violated: a positive
weight is lost then, a negative one saved. A clause of one literal is a cost of its atom. With a
column v for the violation, (a ; not b) says::

    hard              a - b >= 0                        that is a + (1 - b) >= 1
    weight 2          a - b + v >= 0, and v costs 2      v is at least 1 where it is violated
    weight -2         -a - v >= -1, b - v >= 0, and v costs -2    v is at most 0 where it is not

This module imports highspy; import it only where a program is solved.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import highspy
import numpy as np

from splice.arrays import Floats, Ints, Mask
from splice.errors import SpliceError

_ROWWISE: Final = 2
_MINIMISE: Final = 1


class Weighted(NamedTuple):
    """Ground clauses of one shape: atoms row by row, the sign of each column, weights by row."""

    atoms: Ints
    signs: tuple[bool, ...]
    weight: Floats


class Answer(NamedTuple):
    """The states found; ``optimal`` if there are no better ones. None: all are forbidden."""

    states: Mask | None
    optimal: bool


def solve_clauses(
    atoms: int,
    clauses: Sequence[Weighted],
    reward: Floats | None = None,
    seconds: float | None = None,
) -> Answer:
    """Return states of the atoms of greatest weight; infinite weights may not be violated.

    Parameters
    ----------
    atoms
        How many atoms there are.
    clauses
        Ground clauses, some of one shape at a time.
    reward
        What is added where an atom is on.
    seconds
        A limit of time, after which the best states that were found so far are returned.
    """
    program = _Program(atoms)
    if reward is not None:
        program.cost[0] -= reward
    for group in clauses:
        program.add(group)
    return program.solved(seconds)


@dataclass
class _Program:
    """Rows and columns as they are added."""

    atoms: int
    cost: list[Floats] = field(default_factory=list)
    row: list[Ints] = field(default_factory=list)
    column: list[Ints] = field(default_factory=list)
    value: list[Floats] = field(default_factory=list)
    lower: list[Floats] = field(default_factory=list)
    columns: int = 0
    rows: int = 0

    def __post_init__(self) -> None:
        self.cost.append(np.zeros(self.atoms))
        self.columns = self.atoms

    def add(self, group: Weighted) -> None:
        """Add clauses: those that are hard, of positive and of negative weight on their own."""
        if not len(group.atoms):
            return
        for chosen, adding in (
            (np.isinf(group.weight), self._hard),
            (np.isfinite(group.weight) & (group.weight > 0), self._lost),
            (group.weight < 0, self._saved),
        ):
            if chosen.any():
                adding(Weighted(group.atoms[chosen], group.signs, group.weight[chosen]))

    def _hard(self, group: Weighted) -> None:
        self._literals(group, np.empty(0, np.int64))

    def _lost(self, group: Weighted) -> None:
        """Let a column be at least one minus the literals, and pay for it."""
        if not self._unit(group):
            self._literals(group, self._violations(group.weight))

    def _saved(self, group: Weighted) -> None:
        """Let a column be at most one minus each literal, and earn by it."""
        if self._unit(group):
            return
        violated = self._violations(group.weight)
        for atoms, sign in zip(group.atoms.T, group.signs, strict=True):
            self._pairs(atoms, violated, 1.0 if sign else -1.0, -1.0 if sign else 0.0)

    def _unit(self, group: Weighted) -> bool:
        if len(group.signs) != 1:
            return False
        cost = -group.weight if group.signs[0] else group.weight
        np.add.at(self.cost[0], group.atoms[:, 0], cost)
        return True

    def _violations(self, weight: Floats) -> Ints:
        self.cost.append(weight)
        self.columns += len(weight)
        return np.arange(self.columns - len(weight), self.columns)

    def _literals(self, group: Weighted, violated: Ints) -> None:
        """Add rows: the literals, and the column of the violation, are at least one."""
        n = len(group.atoms)
        rows = np.arange(self.rows, self.rows + n)
        for atoms, sign in zip(group.atoms.T, group.signs, strict=True):
            self._entries(rows, atoms, 1.0 if sign else -1.0)
        if len(violated):
            self._entries(rows, violated, 1.0)
        self.lower.append(np.full(n, 1.0 - sum(not sign for sign in group.signs)))
        self.rows += n

    def _pairs(self, atoms: Ints, violated: Ints, sign: float, lower: float) -> None:
        """Add rows: minus the violation, minus the atom with its sign, is at least the bound."""
        rows = np.arange(self.rows, self.rows + len(atoms))
        self._entries(rows, atoms, -sign)
        self._entries(rows, violated, -1.0)
        self.lower.append(np.full(len(atoms), lower))
        self.rows += len(atoms)

    def _entries(self, rows: Ints, columns: Ints, value: float) -> None:
        self.row.append(rows)
        self.column.append(columns)
        self.value.append(np.full(len(rows), value))

    def solved(self, seconds: float | None) -> Answer:
        """Run HiGHS."""
        solver = highspy.Highs()  # type: ignore[no-untyped-call]
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("mip_rel_gap", 0.0)
        solver.setOptionValue("mip_abs_gap", 1e-9)
        solver.setOptionValue("threads", 1)
        if seconds is not None:
            solver.setOptionValue("time_limit", float(seconds))
        self._pass(solver)
        solver.run()
        status = solver.getModelStatus()
        statuses = highspy.HighsModelStatus
        if status in (statuses.kInfeasible, statuses.kUnboundedOrInfeasible):
            return Answer(None, True)
        is_optimal = status in (statuses.kOptimal, statuses.kModelEmpty)
        values = np.array(solver.getSolution().col_value)
        if not len(values) and not is_optimal:
            raise SpliceError(
                f"HiGHS found no answer in {seconds} s" if seconds else "HiGHS found no answer",
                "give it more time, or weaken the rules that couple fluents",
            )
        return Answer(values[: self.atoms] > 0.5, is_optimal)

    def _pass(self, solver: highspy.Highs) -> None:
        # Entries of constraints come in the order in which they were added; HiGHS wants them row by row, with
        # the place where each row starts. Columns are the atoms, which are 0 or 1, then one slack a soft
        # clause: that is 0 or 1 by itself wherever the atoms are, so it need not be integral.
        row = np.concatenate([np.empty(0, np.int64), *self.row])
        column = np.concatenate([np.empty(0, np.int64), *self.column])
        value: Floats = np.concatenate([np.empty(0), *self.value])
        order = np.argsort(row, kind="stable")
        start = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=self.rows))))
        integral = np.zeros(self.columns, np.int32)
        integral[: self.atoms] = 1
        solver.passModel(
            self.columns,
            self.rows,
            len(row),
            _ROWWISE,
            _MINIMISE,
            0.0,
            np.concatenate(self.cost),
            np.zeros(self.columns),
            np.ones(self.columns),
            np.concatenate([np.empty(0), *self.lower]),
            np.full(self.rows, math.inf),
            start[:-1].astype(np.int32),
            column[order].astype(np.int32),
            value[order],
            integral,
        )
