"""Shifts in a small warehouse, as rows: who is near which forklift, and who is loading it."""

from __future__ import annotations

import random
from typing import Any

Row = dict[str, Any]

WATCHED = {"monday": (60, 120), "tuesday": (0, 0), "wednesday": (180, 240)}


def shift(day: str, seconds: int = 300) -> tuple[list[Row], dict[tuple[str, str], set[int]]]:
    """Return what happens on a day, and the seconds at which each pair is loading."""
    rng = random.Random(day)
    rows: list[Row] = []
    loads: dict[tuple[str, str], set[int]] = {
        (p, f): set() for p in ("anna", "bob") for f in ("f1", "f2")
    }
    for person, forklift in zip(rng.sample(["anna", "bob"], 2), ["f1", "f2"], strict=True):
        now = 0
        while now < seconds:
            loading = rng.random() < 0.5
            stay = rng.randint(15, 30)
            for time in range(now, min(now + stay, seconds)):
                rows.append(_row(day, time, "lifting" if loading else "driving", forklift))
                if loading:
                    rows.append(_row(day, time, "near", person, forklift))
                    loads[person, forklift].add(time)
                else:
                    rows.append(_row(day, time, "walking", person))
            now += stay
    return sorted(rows, key=lambda row: row["time"]), loads


def _row(day: str, time: int, event: str, arg1: str, arg2: str | None = None) -> Row:
    return {"sequence": day, "time": time, "event": event, "arg1": arg1, "arg2": arg2}


def labels(day: str, start: int, end: int) -> list[Row]:
    """Return the labels from start to end, a row for each stretch of equal ones."""
    found = []
    for (person, forklift), seconds in shift(day)[1].items():
        since = start
        for now in range(start + 1, end + 1):
            if now == end or (now in seconds) != (since in seconds):
                fluent, label = f"loading({person},{forklift})", since in seconds
                found.append(
                    {"sequence": day, "fluent": fluent, "start": since, "end": now, "label": label}
                )
                since = now
    return found


def week() -> tuple[list[Row], list[Row]]:
    """Return the events of some days, and the labels of the seconds that were watched."""
    events = [row for day in WATCHED for row in shift(day)[0]]
    return events, [row for day, (start, end) in WATCHED.items() for row in labels(day, start, end)]


def friday() -> tuple[list[Row], list[Row]]:
    """Return another day, and all its labels."""
    return shift("friday")[0], labels("friday", 0, 300)
