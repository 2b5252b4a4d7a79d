"""How the code released in 2019 fills the weight matrix, defect included.

Rows are filled from the top, labelled vertices first. Each row is cut by the connector as soon as
it is filled, and a later row takes the *cut* value of an earlier one instead of the
similarity. So an unlabelled vertex keeps a strong link to a labelled one only if the labelled one
chose it (``spec``: changed in the development line in February 2019).
"""

from __future__ import annotations

from splice.arrays import Floats, np
from splice.completion.connector import Connector

__all__ = ["ordered_rows"]


def ordered_rows(to_labelled: Floats, among: Floats, connector: Connector, tiny: float) -> Floats:
    """Return the whole matrix, labelled vertices first; unconnected pairs weigh ``tiny``.

    ``to_labelled`` are the similarities of unlabelled vertices to labelled ones, ``among`` those
    of unlabelled vertices to each other.
    """
    labelled = to_labelled.shape[1]
    size = labelled + len(among)
    weights = np.zeros((size, size))
    weights[:labelled, :labelled] = tiny
    weights[:labelled, labelled:] = to_labelled.T
    weights[labelled:, labelled:] = among
    np.fill_diagonal(weights, 0.0)
    # Among labelled vertices every pair weighs the same, cut or not: their rows do not wait.
    weights[:labelled] = _cut(weights[:labelled], connector, tiny)
    for row in range(labelled, size):
        weights[row, :row] = weights[:row, row]
        weights[row] = _cut(weights[row : row + 1], connector, tiny)[0]
    return weights


def _cut(rows: Floats, connector: Connector, tiny: float) -> Floats:
    return np.where(connector.choose(rows), rows, tiny)
