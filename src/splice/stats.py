"""The few numbers that everybody needs, each said once: the Hoeffding bound, F1 and its luck, maximal runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from splice.arrays import Floats, Indices, Ints, Mask, np

if TYPE_CHECKING:
    import numpy.typing as npt


_ERRORS: Final = 2.0
"""What is surely better is so by more than so many standard errors of the difference."""

_HARDLY: Final = 0.02
"""A smaller difference of two F1 is none that anybody cares for."""


def hoeffding_bound(n: npt.ArrayLike, delta: float, numerator: float = 1.0) -> Floats:
    """Return how far a mean may lie from its expectation after so many observations.

    Parameters
    ----------
    n
        How many observations there were; without any the bound is infinite.
    delta
        The probability that it lies farther.
    numerator
        1 for a one-sided bound, 2 for a two-sided one.

    >>> float(np.round(hoeffding_bound(2303, 1e-5), 4))
    0.05

    References: section 2.1; Hoeffding (1963).
    """
    with np.errstate(divide="ignore"):
        bound: Floats = np.sqrt(np.log(numerator / delta) / (2 * np.asarray(n, np.float64)))
    return bound


def f1_score(tp: npt.ArrayLike, fp: npt.ArrayLike, fn: npt.ArrayLike) -> Floats:
    """Return the harmonic mean of precision and recall; where there is nothing to find, 1.

    >>> f1_score([1, 0, 0], [1, 1, 0], [0, 0, 0]).round(3).tolist()
    [0.667, 0.0, 1.0]
    """
    right, wrong = np.asarray(tp, np.float64), np.add(fp, fn, dtype=np.float64)
    total = 2 * right + wrong
    return np.divide(2 * right, total, out=np.ones_like(total), where=total > 0)


def surely_better(counts: Ints, errors: float = _ERRORS, least: float = _HARDLY) -> bool:
    """Return whether the first of two answers has a higher F1 by more than chance.

    Each unit is left out once: how much the difference of the two F1 then changes is its standard
    error (the jackknife).

    Parameters
    ----------
    counts
        For each unit (a sequence, a batch) the true positives, false positives and false negatives of both.
    errors, least
        How many standard errors the first has to be better, and by how much.

    >>> ours, theirs = [5, 0, 1], [4, 2, 2]
    >>> surely_better(np.array([[ours, theirs]] * 6))
    True
    >>> surely_better(np.array([[ours, theirs]] + [[theirs, theirs]] * 5))
    False
    """
    whole = counts.sum(axis=0)
    error = np.sqrt((len(counts) - 1) * _f1_apart(whole - counts).var())
    return bool(_f1_apart(whole) > max(least, errors * error))


def _f1_apart(counts: Ints) -> Floats:
    """Return how much higher the first F1 is, of counts of two that end in (tp, fp, fn)."""
    f1 = f1_score(counts[..., 0], counts[..., 1], counts[..., 2])
    apart: Floats = f1[..., 0] - f1[..., 1]
    return apart


def runs(begins: Mask) -> tuple[Indices, Indices]:
    """Return where maximal runs start and stop, given which places begin a new one.

    The first place begins one, whatever is said of it; a stop is not part of its run.

    >>> start, stop = runs(np.array([False, False, True, True, False]))
    >>> start.tolist(), stop.tolist()
    ([0, 2, 3], [2, 3, 5])
    """
    if not len(begins):
        return np.empty(0, np.intp), np.empty(0, np.intp)
    start = np.flatnonzero(np.append(True, begins[1:]))
    return start, np.append(start[1:], len(begins))
