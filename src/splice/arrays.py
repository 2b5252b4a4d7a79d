"""The arrays that columns are made of, named once.

One name, one type of number: whoever sees ``Ints`` in a signature knows its width without looking it up.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Codes", "Floats", "Indices", "IntArray", "Ints", "Mask"]

Floats: TypeAlias = npt.NDArray[np.float64]
"""Values, weights, similarities."""

Ints: TypeAlias = npt.NDArray[np.int64]
"""Times, patterns, typed constants, counts."""

Codes: TypeAlias = npt.NDArray[np.int32]
"""Codes of a vocabulary: kinds, constants, sequences."""

Mask: TypeAlias = npt.NDArray[np.bool_]
"""A choice among rows."""

Indices: TypeAlias = npt.NDArray[np.intp]
"""Positions of rows, as numpy gives them."""

IntArray: TypeAlias = npt.NDArray[np.integer]
"""Whole numbers of any width."""
