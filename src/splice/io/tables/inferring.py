"""What sources of tables and of RTEC streams have in common."""

from __future__ import annotations

from collections.abc import Callable

from splice.errors import Problem
from splice.io.tables.kinds import KindMaker, typed_by_first_look
from splice.io.tables.tolerance import check_share
from splice.limits import Limits
from splice.logic.domain import Domain
from splice.stream.source import ReadReport, Source
from splice.stream.vocabulary import Vocabulary

__all__ = ["InferringSource"]


class InferringSource:
    """A vocabulary and a domain that grow with the data, and a report of each reading."""

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

    def _infer_types(self, again: Callable[[], InferringSource]) -> None:
        """Where no schema gives types, take them from a first look at the data, once."""
        if not self._typed and not self._kinds.domain.closed:
            look = again()
            look._typed = True
            assert isinstance(look, Source)
            self._kinds = KindMaker(typed_by_first_look(look), self._vocabulary)
        self._typed = True
