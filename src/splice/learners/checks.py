"""Numbers among the choices of a learner, as a user has written them."""

from __future__ import annotations

from math import isfinite
from typing import TypeVar

from splice.errors import SpliceError

__all__ = ["number_of"]

N = TypeVar("N", int, float)


def number_of(name: str, word: object, usual: N) -> N:
    """Return a choice that is a number, a whole one where the usual one is.

    >>> number_of("memory", 500.0, 1_000), number_of("delta", 1, 0.5)
    (500, 1.0)
    """
    if isinstance(word, int | float) and not isinstance(word, bool) and isfinite(word):
        found: N = type(usual)(word)
        if found == word:
            return found
    raise SpliceError(f"'{word}' is no number for '{name}'", f"the usual one is {usual}")
