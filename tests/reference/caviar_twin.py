"""CAVIAR's rules frame by frame and pair by pair, as its documentation words them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from splice.lab.cvml import Annotation

Row = tuple[str, str, int]


def derive(annotation: Annotation, composite: str, clip: str, one: int, two: int) -> list[Row]:
    """Every atom of a pair's sequence with its label, without function facts; sorted."""
    persons = [row for row in annotation.persons.to_dicts() if row["clip"] == clip]
    groups = [row for row in annotation.groups.to_dicts() if row["clip"] == clip]
    frames = [row["frame"] for row in persons]
    pair = [row for row in persons if row["id"] in (one, two)]
    gone = [row["frame"] + 1 for row in pair if row["appearance"] == "disappear"]
    time = list(range(min(frames), max([*frames, *gone]) + 1))
    sequence = f"{clip}.id{one}_id{two}"
    found = [(text, 1) for row in pair for text in _events(row)]
    for frame in time:
        seen = {row["id"]: row for row in pair if row["frame"] == frame}
        for left, right in ((one, two), (two, one)):
            if len(seen) == 2:
                found += [(t, 1) for t in _near(seen[left], seen[right])]
            situation = {"meet": "interacting", "move": "moving"}[composite]
            holds = any(
                row["frame"] == frame
                and row["situation"] == situation
                and {one, two} <= set(row["members"])
                for row in groups
            )
            text = f"holdsAt({composite}('ID{left}','ID{right}'),{frame})"
            found.append((text, 1 if holds else -1))
        if frame + 1 in time:
            found.append((f"next({frame + 1},{frame})", 1))
    found.append((f"startTime({time[0]})", 1))
    return sorted((sequence, text, truth) for text, truth in found)


def _events(row: dict[str, Any]) -> Iterator[str]:
    who, frame = f"'ID{row['id']}'", row["frame"]
    if row["movement"] in ("walking", "running", "active", "inactive"):
        yield f"happensAt({row['movement']}({who}),{frame})"
    if row["appearance"] == "appear":
        yield f"happensAt(enter({who}),{frame})"
    if row["appearance"] == "disappear":
        yield f"happensAt(exit({who}),{frame + 1})"


def _near(left: dict[str, Any], right: dict[str, Any]) -> Iterator[str]:
    distance = math.hypot(left["x"] - right["x"], left["y"] - right["y"])
    who, frame = f"'ID{left['id']}','ID{right['id']}'", left["frame"]
    for k in (24, 25, 30, 34):
        if distance <= k:
            yield f"close({who},{k},{frame})"
    if distance <= 34 and abs(left["orientation"] - right["orientation"]) < 45:
        yield f"orientationMove({who},{frame})"
