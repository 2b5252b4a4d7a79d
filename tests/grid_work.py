"""Work for the cells of test grids: it has to be importable in a fresh process."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from splice.errors import UnknownName


def square(cell: Mapping[str, Any]) -> dict[str, Any]:
    """Return the square of x, and leave a trace of having been asked."""
    if "trace" in cell:
        with (Path(cell["trace"])).open("a", encoding="utf-8") as trace:
            trace.write(f"{cell['x']}\n")
    time.sleep(cell.get("sleep", 0))
    return {"y": cell["x"] ** 2}


def fails_at_two(cell: Mapping[str, Any]) -> dict[str, Any]:
    if cell["x"] == 2:
        raise UnknownName("number", "two", ["one", "three"])
    return square(cell)


def breaks_at_two(cell: Mapping[str, Any]) -> dict[str, Any]:
    if cell["x"] == 2:
        raise ZeroDivisionError("two is too much")
    return square(cell)


def dies_at_two(cell: Mapping[str, Any]) -> dict[str, Any]:
    if cell["x"] == 2:
        time.sleep(0.3)
        os._exit(7)
    return square(cell)


def not_json(cell: Mapping[str, Any]) -> dict[str, Any]:
    return {"y": float("nan")}
