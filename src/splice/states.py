"""What a saved state may look like: one schema for all of them, checked before anything is taken from it.

A state (of a learner, of a completer, of a run) is plain JSON that somebody may have edited, cut off or
made up. A *shape* says what stands where: types, ranges, sizes. :func:`check_state` compares, and its
error names the first place that differs::

    rule = record(head=text, picked=each(whole()), gap=number())

What follows from several places together (as many patterns as counts) is checked where the state is
taken up, with :func:`require`.
"""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from splice.arrays import Ints
from splice.errors import SpliceError

Shape: TypeAlias = Callable[[Any, str], None]
"""Raises :class:`StateError` where a value, whose place is given, is not as it should be."""

_LARGEST: Final = 2**63 - 1
_LONGEST: Final = 1 << 20
_MOST: Final = 1 << 24
"""A list or a column of a state has at most so many entries."""


class StateError(SpliceError):
    """A saved state that is not what it should be, and the place where that shows."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(
            f"this state is damaged: {place or 'it'} {problem}",
            "it cannot be gone on with; begin anew, or with the version that wrote it",
        )


def check_state(state: Any, shape: Shape, name: str = "") -> None:
    """Refuse a state that does not have a shape.

    >>> check_state({"a": [1, -2]}, record(a=each(whole(0))))
    Traceback (most recent call last):
    splice.states.StateError: this state is damaged: a[1] is not a whole number from 0 to 9223372036854775807
    hint: it cannot be gone on with; begin anew, or with the version that wrote it
    """
    shape(state, name)


def require(holds: object, place: str, problem: str) -> None:
    """Refuse a state of which something does not hold that should."""
    if not holds:
        raise StateError(place, problem)


def anything(_value: Any, _place: str) -> None:
    """Take any value: somebody else looks at it."""


def text(value: Any, place: str) -> None:
    """Take a text."""
    require(isinstance(value, str) and len(value) <= _LONGEST, place, "is not a text")


def truth(value: Any, place: str) -> None:
    """Take true or false."""
    require(isinstance(value, bool), place, "is neither true nor false")


def whole(least: int = 0, most: int = _LARGEST) -> Shape:
    """Take a whole number in a range."""

    def shape(value: Any, place: str) -> None:
        good = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
        require(good, place, f"is not a whole number from {least} to {most}")

    return shape


def number(least: float = -math.inf, most: float = math.inf) -> Shape:
    """Take a finite number in a range."""

    def shape(value: Any, place: str) -> None:
        good = isinstance(value, int | float) and not isinstance(value, bool)
        good = good and abs(value) <= 1e308 and least <= value <= most
        require(good, place, f"is not a number from {least:g} to {most:g}")

    return shape


def word(*words: str) -> Shape:
    """Take one of some words."""

    def shape(value: Any, place: str) -> None:
        require(isinstance(value, str) and value in words, place, f"is none of {', '.join(words)}")

    return shape


def maybe(inner: Shape) -> Shape:
    """Take null, or what another shape takes."""

    def shape(value: Any, place: str) -> None:
        if value is not None:
            inner(value, place)

    return shape


def each(inner: Shape, size: int | None = None) -> Shape:
    """Take a list of things of a shape, of so many where that is said."""

    def shape(value: Any, place: str) -> None:
        require(isinstance(value, list) and len(value) <= _MOST, place, "is not a list")
        require(size in (None, len(value)), place, f"has not {size} entries")
        for i, entry in enumerate(value):
            inner(entry, f"{place}[{i}]")

    return shape


def row(*inner: Shape) -> Shape:
    """Take a list whose entries have a shape each."""

    def shape(value: Any, place: str) -> None:
        good = isinstance(value, list) and len(value) == len(inner)
        require(good, place, f"is not a list of {len(inner)}")
        for i, (entry, check) in enumerate(zip(value, inner, strict=True)):
            check(entry, f"{place}[{i}]")

    return shape


def mapping(inner: Shape) -> Shape:
    """Take values of a shape by name."""

    def shape(value: Any, place: str) -> None:
        require(isinstance(value, dict) and len(value) <= _MOST, place, "is not a table")
        for name, entry in value.items():
            inner(entry, f"{place}.{name[:60]}")

    return shape


def record(optional: tuple[str, ...] = (), /, **inner: Shape) -> Shape:
    """Take values by names that are known; those that are optional may be missing."""

    def shape(value: Any, place: str) -> None:
        require(isinstance(value, dict), place, "is not a table")
        before = f"{place}." if place else ""
        for name, check in inner.items():
            if name in value:
                check(value[name], before + name)
            else:
                require(name in optional, before + name, "is missing")
        strange = next((name for name in value if name not in inner), None)
        require(strange is None, f"{before}{str(strange)[:60]}", "is not known")

    return shape


def column(value: Any, place: str) -> None:
    """Take a packed column of integers."""
    text_of_column = isinstance(value, str) and value.isascii()
    require(text_of_column, place, "is not a packed column")
    unpacked(value, place)


def packed(values: npt.NDArray[np.generic]) -> str:
    """Return a column of integers as text."""
    whole_numbers = values.astype("<i8").tobytes()
    return base64.b85encode(zlib.compress(whole_numbers, 1)).decode()


def unpacked(value: str, place: str = "") -> Ints:
    """Return the integers of a packed column; it may not grow without end.

    >>> unpacked(packed(np.array([3, -1]))).tolist()
    [3, -1]
    """
    try:
        opened = zlib.decompressobj()
        data = opened.decompress(base64.b85decode(value), 8 * _MOST)
    except (ValueError, zlib.error) as error:
        raise StateError(place, f"is not a packed column ({error})") from None
    require(opened.eof and not opened.unused_data, place, "is not a whole column")
    require(len(data) % 8 == 0, place, "is not a column of integers")
    return np.frombuffer(data, "<i8").astype(np.int64)
