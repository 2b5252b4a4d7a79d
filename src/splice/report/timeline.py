"""A stream as a person sees it: one line a fluent, one sign a moment.

>>> import numpy as np
>>> strip(np.array([1, 1, -1, 0, 0, -1], np.int8), 3)
'█··'
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from splice.arrays import Indices, unique_rows
from splice.labels import LabelArray
from splice.logic.domain import Domain
from splice.stream.batch import query_rows
from splice.stream.table import NO_TIME, AtomTable

_TRUE, _FALSE, _UNKNOWN = "█", "·", " "

LEGEND = f"{_TRUE} true   {_FALSE} false   blank unknown"


@dataclass(frozen=True, slots=True)
class Lane:
    """One fluent instance over the time-points of its sequence."""

    name: str
    labels: LabelArray

    @property
    def positives(self) -> int:
        """How many labels are true."""
        return int((self.labels > 0).sum())


def strip(labels: LabelArray, width: int) -> str:
    """Draw labels in so many columns: true wins over false, and false over unknown."""
    edges = np.linspace(0, len(labels), min(width, len(labels)) + 1).astype(int)
    signs = []
    for start, stop in pairwise(edges):
        part = labels[start:stop]
        sign = _TRUE if (part > 0).any() else _FALSE if (part < 0).any() else _UNKNOWN
        signs.append(sign)
    return "".join(signs)


def label_lanes(table: AtomTable, domain: Domain) -> Iterator[Lane]:
    """Yield the labels of each fluent instance of one sequence, unknown where none is given."""
    times = np.unique(table.time[table.time != NO_TIME])
    queries = table.take(query_rows(table, domain))
    rows = np.concatenate((queries.kind[:, None], queries.args), axis=1)
    first, which = unique_rows(rows)
    slots: Indices = np.searchsorted(times, queries.time)
    for number in range(len(first)):
        own = np.flatnonzero(which == number)
        labels = np.zeros(len(times), np.int8)
        labels[slots[own]] = queries.truth[own]
        yield Lane(_fluent(queries, int(first[number])), labels)


def _fluent(queries: AtomTable, row: int) -> str:
    """Name a fluent as people do: ``meet(ID1,ID3)``."""
    kind = queries.vocabulary.kinds[int(queries.kind[row])]
    names = queries.vocabulary.constants.names(queries.args[row, : kind.arity].tolist())
    return f"{kind.functor or kind.predicate}({','.join(names)})"
