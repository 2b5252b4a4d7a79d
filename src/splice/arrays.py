"""The arrays that columns are made of, named once, and what is done to rows of codes everywhere.

One name, one type of number: whoever sees ``Ints`` in a signature knows its width without looking it up.

Modules that only declare options take ``np`` from here: numpy is then loaded when an array is made, and
a command can say what its options are without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    import lazy_loader

    np = lazy_loader.load("numpy")

__all__ = [
    "Codes",
    "Floats",
    "Indices",
    "IntArray",
    "Ints",
    "Mask",
    "begins_run",
    "ends_run",
    "expand_ranges",
    "np",
    "padded",
    "unique_rows",
]

Floats: TypeAlias = "npt.NDArray[np.float64]"
"""Values, weights, similarities."""

Ints: TypeAlias = "npt.NDArray[np.int64]"
"""Times, patterns, typed constants, counts."""

Codes: TypeAlias = "npt.NDArray[np.int32]"
"""Codes of a vocabulary: kinds, constants, sequences."""

Mask: TypeAlias = "npt.NDArray[np.bool_]"
"""A choice among rows."""

Indices: TypeAlias = "npt.NDArray[np.intp]"
"""Positions of rows, as numpy gives them."""

IntArray: TypeAlias = "npt.NDArray[np.integer]"
"""Whole numbers of any width."""


_Matrix = TypeVar("_Matrix", "Codes", "Ints")

_ODD: Final = 0x9E3779B97F4A7C15
_SHIFT: Final = 29


def padded(codes: _Matrix, width: int) -> _Matrix:
    """Return a matrix of codes that has at least so many columns; -1 is no code."""
    missing = width - codes.shape[1]
    return np.pad(codes, ((0, 0), (0, missing)), constant_values=-1) if missing > 0 else codes


def begins_run(*columns: IntArray) -> Mask:
    """Return which rows differ from the row before them in some column; the first one does.

    >>> begins_run(np.array([7, 7, 3, 3]), np.array([1, 1, 1, 2])).tolist()
    [True, False, True, True]
    """
    begins = np.zeros(len(columns[0]), bool)
    begins[:1] = True
    for column in columns:
        begins[1:] |= column[1:] != column[:-1]
    return begins


def ends_run(*columns: IntArray) -> Mask:
    """Return which rows differ from the row after them in some column; the last one does.

    >>> ends_run(np.array([7, 7, 3, 3]), np.array([1, 1, 1, 2])).tolist()
    [False, True, True, True]
    """
    return begins_run(*(column[::-1] for column in columns))[::-1]


def expand_ranges(start: IntArray, count: IntArray) -> tuple[Ints, Ints]:
    """Return every place of some ranges: the range that it belongs to, and the place itself.

    >>> which, place = expand_ranges(np.array([7, 0, 3]), np.array([2, 0, 3]))
    >>> which.tolist(), place.tolist()
    ([0, 0, 2, 2, 2], [7, 8, 3, 4, 5])
    """
    which = np.repeat(np.arange(len(count)), count)
    return which, np.arange(len(which)) + np.repeat(start - np.cumsum(count) + count, count)


def unique_rows(rows: IntArray) -> tuple[Indices, Indices]:
    """Return where each distinct row first stands, and for each row which distinct one it is.

    They are found by hashing and checked exactly.

    Distinct rows are numbered in the order of their first appearance.

    >>> first, which = unique_rows(np.array([[1, 2], [3, 4], [1, 2]]))
    >>> first.tolist(), which.tolist()
    ([0, 1], [0, 1, 0])
    """
    if rows.shape[1] == 0:
        return np.zeros(min(len(rows), 1), np.intp), np.zeros(len(rows), np.intp)
    # Sorting whole rows costs several times as much as sorting one number a row. Equal rows have equal
    # hashes; that the converse holds is checked below, and only a collision sorts the rows themselves.
    keys = _hashes(rows) if rows.shape[1] > 1 else rows[:, 0]
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    if not np.array_equal(rows, rows[first[group]]):
        _, first, group = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        group = group.reshape(-1)
    # ``np.unique`` numbers groups by hash, which means nothing: renumbered in the order of first rows.
    order = np.argsort(first)
    number = np.empty(len(order), np.intp)
    number[order] = np.arange(len(order))
    return first[order], number[group]


def _hashes(rows: IntArray) -> npt.NDArray[np.uint64]:
    """Return a 64-bit hash a row; equal rows have equal hashes."""
    mixed, odd, shift = np.zeros(len(rows), np.uint64), np.uint64(_ODD), np.uint64(_SHIFT)
    with np.errstate(over="ignore"):
        for column in rows.T:
            mixed = (mixed ^ column.astype(np.int64).view(np.uint64)) * odd
            mixed ^= mixed >> shift
    return mixed
