"""A table of ground atoms: one row an atom, one integer column a leaf.

Evidence, query atoms and function facts all live in the same kind of table; ``truth`` is
+1, -1 or 0 as in :mod:`splice.labels`. Rows are ordered by sequence and, inside it, by time;
atoms without a time stand first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from splice.arrays import Codes, Indices, IntArray, Ints, Mask, padded, unique_rows
from splice.labels import TRUE
from splice.logic.atoms import Atom
from splice.logic.syntax import ground_text
from splice.logic.terms import Function
from splice.stream.vocabulary import Kind, Vocabulary

NO_TIME: Final = np.iinfo(np.int64).min
"""The time of an atom that has none: it holds throughout its sequence."""


@dataclass(frozen=True, eq=False)
class AtomTable:
    """Ground atoms, a row each, as columns of integers over one vocabulary.

    Parameters
    ----------
    vocabulary
        What the codes mean.
    sequence
        The code of each row's sequence.
    time
        Its time-point; ``NO_TIME`` for what holds throughout.
    kind
        The code of the atom without its leaves.
    args
        A column for each leaf, padded with -1.
    truth
        +1, -1, or 0 for unknown.
    lines
        Where in its file each row was read, where that is known.
    """

    vocabulary: Vocabulary
    sequence: Codes
    time: Ints
    kind: Codes
    args: Codes
    truth: npt.NDArray[np.int8]
    lines: Ints | None = None

    @classmethod
    def empty(cls, vocabulary: Vocabulary, width: int = 0) -> AtomTable:
        """Return a table without rows."""
        return cls(
            vocabulary,
            np.empty(0, np.int32),
            np.empty(0, np.int64),
            np.empty(0, np.int32),
            np.empty((0, width), np.int32),
            np.empty(0, np.int8),
        )

    @classmethod
    def of_kind(
        cls,
        vocabulary: Vocabulary,
        kind: int,
        sequence: IntArray,
        time: Ints | None,
        args: IntArray,
        truth: int = TRUE,
    ) -> AtomTable:
        """Return atoms of one kind and one truth; without a time where none is given."""
        n = len(sequence)
        return cls(
            vocabulary,
            sequence.astype(np.int32),
            np.full(n, NO_TIME) if time is None else time,
            np.full(n, kind, np.int32),
            args.astype(np.int32),
            np.full(n, truth, np.int8),
        )

    @classmethod
    def concat(cls, tables: Sequence[AtomTable], vocabulary: Vocabulary) -> AtomTable:
        """Return the rows of several tables of one vocabulary, one table after the other."""
        filled = [table for table in tables if len(table)]
        if not filled:
            return tables[0] if tables else cls.empty(vocabulary)
        if len(filled) == 1:
            return filled[0]
        width = max(table.args.shape[1] for table in filled)
        lines = [table.lines for table in filled if table.lines is not None]
        return cls(
            vocabulary,
            np.concatenate([table.sequence for table in filled]),
            np.concatenate([table.time for table in filled]),
            np.concatenate([table.kind for table in filled]),
            np.concatenate([padded(table.args, width) for table in filled]),
            np.concatenate([table.truth for table in filled]),
            np.concatenate(lines) if len(lines) == len(filled) else None,
        )

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        return f"AtomTable({len(self):,} rows, {self.vocabulary!r})"

    def take(self, rows: IntArray | Mask | slice) -> AtomTable:
        """Return some of the rows: by position, by mask, or a slice (which copies nothing)."""
        return AtomTable(
            self.vocabulary,
            self.sequence[rows],
            self.time[rows],
            self.kind[rows],
            self.args[rows],
            self.truth[rows],
            None if self.lines is None else self.lines[rows],
        )

    def with_truth(self, truth: npt.NDArray[np.int8]) -> AtomTable:
        """Return the same atoms with other labels."""
        return replace(self, truth=truth.astype(np.int8, copy=False))

    def sorted(self) -> AtomTable:
        """Return the rows ordered by sequence and time, equal ones as they were."""
        return self.take(np.lexsort((self.time, self.sequence)))

    def by_sequence(self) -> Iterator[AtomTable]:
        """Yield the pieces of an ordered table that belong to one sequence each."""
        inner = (np.flatnonzero(np.diff(self.sequence)) + 1).tolist()
        for start, stop in pairwise([0, *inner, len(self)]):
            if stop > start:
                yield self.take(slice(start, stop))

    def of_kinds(self, test: Callable[[Kind], bool]) -> Mask:
        """Return which rows have a kind that passes a test, which is asked once a kind."""
        chosen = np.array([test(kind) for kind in self.vocabulary.kinds], bool)
        return chosen[self.kind] if len(self) else np.empty(0, bool)

    def of_predicates(self, predicates: Iterable[str]) -> Mask:
        """Return which rows belong to the given predicates."""
        chosen = self.vocabulary.kinds_where(predicates)
        return chosen[self.kind] if len(self) else np.empty(0, bool)

    def key(self) -> Ints:
        """Return a row of numbers for each atom: equal exactly for equal atoms of a sequence."""
        parts = (self.sequence[:, None], self.time[:, None], self.kind[:, None], self.args)
        return np.concatenate(parts, axis=1, dtype=np.int64)

    def distinct(self) -> AtomTable:
        """Return the first of equal rows, in their order; labels are not compared."""
        return self.take(unique_rows(self.key())[0]) if len(self) else self

    def instances(self) -> tuple[Indices, Indices]:
        """Return the first row of each ground fluent or event, and for each row which one it is.

        Rows of one instance differ in their time alone; instances are numbered as they come.
        """
        return unique_rows(np.column_stack((self.sequence, self.kind, self.args)))

    def name(self, row: int) -> str:
        """Return the fluent or event of a row as tables write it, ``meet(ID1,ID3)``; else the atom without its time."""
        atom, kind = self.atom(row), self.vocabulary.kinds[int(self.kind[row])]
        if atom.args and isinstance(atom.args[0], Function):
            return ground_text(atom.args[0])
        names = [ground_text(term) for i, term in enumerate(atom.args) if i != kind.time]
        return f"{atom.predicate}({','.join(names)})" if names else atom.predicate

    def atom(self, row: int) -> Atom:
        """Return one row as an atom, its time as the input writes it."""
        kind = self.vocabulary.kinds[int(self.kind[row])]
        names = self.vocabulary.constants.names(self.args[row, : kind.arity].tolist())
        return kind.atom(names, self.vocabulary.times.text(int(self.time[row])))

    def atoms(self) -> Iterator[Atom]:
        """Yield every row as an atom: for talking, not for computing."""
        return (self.atom(row) for row in range(len(self)))

    @property
    def times(self) -> Ints:
        """The distinct time-points, in order."""
        return np.unique(self.time[self.time != NO_TIME])

    def time_points(self) -> int:
        """Return the number of distinct time-points, summed over sequences."""
        timed = self.time != NO_TIME
        if not timed.any():
            return 0
        order = np.lexsort((self.time[timed], self.sequence[timed]))
        time, sequence = self.time[timed][order], self.sequence[timed][order]
        return 1 + int(((np.diff(time) != 0) | (np.diff(sequence) != 0)).sum())
