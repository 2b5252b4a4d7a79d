"""Compiled functions: the few loops that arrays cannot say.

This module imports numba; import it, and whatever imports it, only where a kernel is run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

_F = TypeVar("_F", bound=Callable[..., object])


def compiled(function: _F) -> _F:
    """Compile a function, and keep what was compiled where there is a place to keep it."""
    try:
        return cast(_F, numba.njit(cache=True)(function))
    except RuntimeError:  # no folder can be written
        return cast(_F, numba.njit(function))
