"""Votes: what a theory that was learned says of query atoms, as one more opinion beside the labels.

A vote is the chance that a fluent holds where the theory says what it says. It counts as a few labels of
the atom's pattern would, so it decides where no label is near and hardly matters where many are. A
given label is never voted on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from splice.arrays import Floats, np
from splice.stream.table import AtomTable

Ballot: TypeAlias = Callable[[AtomTable], Floats]
"""Gives each query atom of a table the chance that its fluent holds; NaN: no vote."""

WORTH: Final = 5.0
"""How many labels of a pattern a vote is worth: as many as what a teacher says.

On pairs of people (plaza) 5, 20 and 100 gave rules whose F1 was equal to the third digit.
"""


def outvoted(shares: Floats, labels: Floats, votes: Floats) -> Floats:
    """Return chances together with votes; ``labels`` says how many labels each chance rests on.

    >>> outvoted(np.array([0.9, 0.9, 0.9]), np.array([5.0, 95.0, 5.0]), np.array([0.1, 0.1, np.nan])).tolist()
    [0.5, 0.86, 0.9]
    """
    worth = worth_of(votes)
    both: Floats = (shares * labels + worth * np.nan_to_num(votes)) / (labels + worth)
    return both


def worth_of(votes: Floats) -> Floats:
    """Return how many labels each vote is worth: none where there is no vote."""
    return np.where(np.isnan(votes), 0.0, WORTH)
