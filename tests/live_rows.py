"""Rows of feeds for tests: a small plaza as JSON lines."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from splice.events.recognise import recognise
from splice.inputs.domains import load_domain
from splice.inputs.theories import load_theory
from splice.io.tables.rows import RowMaker
from splice.lab.plaza import make_plaza
from splice.live.engine import LiveEngine
from splice.live.settings import LiveSettings
from splice.stream.source import MemorySource, Source, collect

MEET = load_theory("caviar-meet")
PLAZA = load_domain("plaza").domain


@cache
def plaza(sequences: int = 1, frames: int = 200, seed: int = 3) -> Source:
    source = make_plaza(sequences=sequences, people=3, frames=frames, seed=seed).source
    return MemorySource(collect(source), source.domain)


@cache
def rows(sequences: int = 1, frames: int = 200, seed: int = 3) -> tuple[list[dict[str, Any]], ...]:
    """Return the events and the labels of a plaza, as objects."""
    source = plaza(sequences, frames, seed)
    frames_ = RowMaker(source).frames(collect(source))
    events = [
        {name: cell for name, cell in row.items() if cell is not None and name in _EVENT}
        for row in frames_["events"].to_dicts()
    ]
    labels = [
        {**{name: row[name] for name in ("sequence", "fluent", "time")}, "label": row["label"] > 0}
        for row in frames_["labels"].to_dicts()
    ]
    return events, labels


_EVENT = ("sequence", "time", "event", "arg1", "arg2", "arg3")


def lines(objects: list[dict[str, Any]]) -> list[bytes]:
    return [json.dumps(row).encode() for row in objects]


def items(objects: list[dict[str, Any]]) -> list[tuple[str, bytes]]:
    return [(str(i), row) for i, row in enumerate(lines(objects))]


def engine(**settings: Any) -> LiveEngine:
    return LiveEngine(MEET, PLAZA, LiveSettings(**settings))


def through_state(one: LiveEngine) -> LiveEngine:
    """Return another engine that goes on where one was, by way of text."""
    other = LiveEngine(MEET, PLAZA, one.settings)
    other.restore(json.loads(json.dumps(one.to_state())))
    return other


def said(one: LiveEngine, channel: str = "out") -> list[dict[str, Any]]:
    return [json.loads(row) for _, row in one.out.rows.get(channel, [])]


def intervals(one: LiveEngine) -> list[tuple[str, str, int, int]]:
    return sorted(
        (row["sequence"], row["fluent"], row["start"], row["end"])
        for row in said(one)
        if row["type"] == "interval"
    )


def one_shot(source: Source) -> list[tuple[str, str, int, int]]:
    return sorted(recognise(MEET, source).intervals().rows())
