"""What sources of tables and of RTEC streams have in common: bad rows, types that are inferred, places."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Self

from splice.errors import InputError, Place, Problem
from splice.io.tables.atom_reader import LINE_BITS, AtomReader, Rows
from splice.io.tables.bad_rows import BadRows, check_share
from splice.io.tables.kinds import KindMaker, inferred_domain
from splice.limits import Limits
from splice.logic.domain import Domain
from splice.stream.source import ReadReport
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Vocabulary


class InferredSource(ABC):
    """A vocabulary and a domain that grow with the data, and a report of each reading.

    Parameters
    ----------
    domain
        What is declared of it.
    sort
        Sort rows that are out of order, in memory.
    max_bad
        The share of bad rows that is tolerated.
    limits
        How much a file may be.
    """

    def __init__(
        self, domain: Domain | None, *, sort: bool, max_bad: float, limits: Limits
    ) -> None:
        check_share(max_bad)
        self._sort = sort
        self._max_bad = max_bad
        self._limits = limits
        self._vocabulary = Vocabulary()
        self._kinds = KindMaker(domain or Domain(), self._vocabulary)
        self._report = ReadReport()
        self._collected: list[Problem] | None = None
        self._typed = False

    @property
    def domain(self) -> Domain:
        """What the atoms mean; an inferred schema is complete once the chunks are read."""
        return self._kinds.domain

    @property
    def vocabulary(self) -> Vocabulary:
        """The dictionary of all chunks."""
        return self._vocabulary

    @property
    def report(self) -> ReadReport:
        """What the last reading met."""
        return self._report

    @abstractmethod
    def chunks(self) -> Iterator[AtomTable]:
        """Yield the atoms in order."""

    @property
    @abstractmethod
    def _readers(self) -> Sequence[AtomReader]:
        """What reads each table of the input."""

    @abstractmethod
    def _rows(self, reader: AtomReader) -> Iterator[Rows]:
        """Return the rows of a table."""

    @abstractmethod
    def _copy(self, *, sort: bool) -> Self:
        """Return a source of the same input with a vocabulary of its own, of which nothing is read."""

    def _first_look(self) -> Self:
        """Return a source from whose rows types are inferred."""
        return self._copy(sort=self._sort)

    def _bad_rows(self) -> BadRows:
        return BadRows(self._max_bad, self._report, self._collected, self._limits)

    def _locate(self, line: int) -> Place:
        """Return where a row stands, by its number in ``AtomTable.lines``."""
        table = self._readers[line >> LINE_BITS].table
        return table.place(line & ((1 << LINE_BITS) - 1))

    def problems(self) -> list[Problem]:
        """Return every problem of the input, not only the first."""
        source = self._copy(sort=self._sort)
        source._collected = problems = list[Problem]()
        try:
            readers = source._readers
        except InputError as error:
            return list(error.problems)
        for reader in readers:
            problems.extend(_problems_in(source._rows(reader)))
        # What only shows when rows are put together; sorted, if being out of order hides the rest.
        for sort in dict.fromkeys((self._sort, True)):
            source = self._copy(sort=sort)
            source._collected = []
            further = _problems_in(source.chunks())
            problems.extend(further)
            if not further:
                break
        return sorted(set(problems))

    def _infer_types(self) -> None:
        """Where no schema gives types, take them from a first look at the data, once."""
        if not self._typed and not self._kinds.domain.closed:
            first_look = self._first_look()
            first_look._typed = True
            self._kinds = KindMaker(inferred_domain(first_look), self._vocabulary)
        self._typed = True


def _problems_in(reading: Iterable[object]) -> Sequence[Problem]:
    """Read to the end, or to the error that ends it."""
    try:
        for _ in reading:
            pass
    except InputError as error:
        return error.problems
    return ()
