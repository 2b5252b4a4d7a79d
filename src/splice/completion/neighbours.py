"""Who is linked to which labels: worked out some rows at a time, and remembered while the labels stay.

Where unlabelled examples choose labels alone, what one chooses depends on its own class and on the labels, and on
no other. So a graph is made in pieces of bounded size, of which the links are kept. Over lifted atoms a pattern that comes
again, in a later batch with the same labels, has the links that it had.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from splice.arrays import Floats, Ints
from splice.completion.cache import Labelled
from splice.completion.connector import Connector, Edges
from splice.completion.similarity import Similarity, Vertices

_AT_ONCE: Final = 500_000
"""So many pairs are looked at together: some columns of 4 MiB each."""


class Neighbourhood:
    """The links of examples to labels.

    Parameters
    ----------
    connector
        Which labels are near enough; unlabelled examples are not asked for.
    similarity
        How alike two examples are.
    """

    def __init__(self, connector: Connector, similarity: Similarity) -> None:
        self._connector, self._similarity = connector, similarity
        self.forget()

    def forget(self) -> None:
        """Note that similarities are no more what they were."""
        self._labelled: Labelled | None = None
        self._known: dict[int, tuple[Ints, Floats]] = {}

    def edges(self, classes: Vertices, labelled: Labelled) -> Edges:
        """Return the links of some classes, row by row.

        Parameters
        ----------
        classes
            One vertex of each class.
        labelled
            The labelled vertices.
        """
        if self._labelled is not labelled:
            self.forget()
            self._labelled = labelled
        if self._similarity.constants(classes).shape[1]:  # constants matter: another one next time
            self._known = {}
            keys = list(range(len(classes)))
        else:
            keys = classes.pattern.tolist()
        new = np.array([row for row, key in enumerate(keys) if key not in self._known], np.intp)
        step = max(1, _AT_ONCE // max(len(labelled.vertices), 1))
        for begin in range(0, len(new), step):
            rows = new[begin : begin + step]
            self._connect([keys[row] for row in rows.tolist()], classes.take(rows), labelled)
        chosen = [self._known[key] for key in keys]
        row = np.repeat(np.arange(len(keys)), [len(columns) for columns, _ in chosen])
        if not chosen:
            return Edges(row, row, np.empty(0))
        columns, similar = zip(*chosen, strict=True)
        return Edges(row, np.concatenate(columns), np.concatenate(similar))

    def _connect(self, keys: list[int], classes: Vertices, labelled: Labelled) -> None:
        """Work out the links of some classes, and remember them."""
        similarity, others = self._similarity, labelled.vertices
        width = max(classes.entities.shape[1], others.entities.shape[1])
        between = similarity.closest if self._connector.closest else similarity.between
        similar = labelled.nearest(between(classes.widened(width), others.widened(width)))
        edges = Edges.of(similar, self._connector.choose(similar))
        starts = np.searchsorted(edges.row, np.arange(len(keys) + 1)).tolist()
        for key, begin, end in zip(keys, starts[:-1], starts[1:], strict=True):
            self._known[key] = edges.column[begin:end].copy(), edges.similarity[begin:end].copy()
