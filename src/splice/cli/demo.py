"""``splice demo``: the whole road on simulated data, as far as it is built."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from splice.cli.console import Format, emit, note
from splice.cli.options import Printed, Seed
from splice.completion.source import CompletedSource
from splice.completion.strategies import profile
from splice.datasets.plaza import make_plaza
from splice.evaluation.confusion import Confusion
from splice.labels import UNKNOWN
from splice.report.timeline import LEGEND, label_lanes, strip
from splice.stream.batch import query_rows
from splice.stream.cutting import TimePoints
from splice.stream.masking import KeepBatches, MaskedSource
from splice.stream.source import MemorySource, collect
from splice.stream.source import sequences as sequences_of

__all__ = ["demo"]

_HIDDEN = 90
_LANES = 4
_WIDTH = 72


def demo(
    sequences: Annotated[int, typer.Option(min=1, help="How many sequences to simulate.")] = 4,
    seed: Seed = 0,
    style: Printed = Format.TABLE,
) -> None:
    """Simulate people in a square, hide 90 % of the labels, and fill them in again."""
    note(f"simulating {sequences} sequences of people in a square (seed {seed})")
    source = make_plaza(sequences=sequences, seed=seed).source
    cut = TimePoints(25)
    masked = MaskedSource(source, KeepBatches(100 - _HIDDEN), seed, cut)
    note(f"hiding {_HIDDEN} % of the labels: all those of {_HIDDEN} % of the micro-batches")
    given = MemorySource(collect(masked), source.domain)
    note("completing them from the rest, batch by batch\n")
    completed = MemorySource(
        collect(CompletedSource(given, profile("default"), cut)), source.domain
    )
    rows = _scores(source, given, completed)
    emit(rows, style)
    if style is Format.TABLE:
        _timeline(source, given, completed)
        note("next: `splice data make plaza --out plaza`, `splice mask`, `splice complete`")


def _scores(*streams: MemorySource) -> list[dict[str, Any]]:
    """Return how many labels each fluent has, and how good the completed ones are."""
    truth, given, completed = (stream.table for stream in streams)
    rows = []
    for fluent in ("meet", "move"):
        domain = replace(streams[0].domain, fluents=(fluent,))
        own = query_rows(truth, domain)
        missing = own & (given.truth == UNKNOWN)
        score = Confusion.of(truth.truth[missing], completed.truth[missing])
        rows.append(
            {
                "fluent": fluent,
                "labels": int(own.sum()),
                "given": int((own & (given.truth != UNKNOWN)).sum()),
                "completed": int(missing.sum()),
                "precision": score.precision,
                "recall": score.recall,
                "F1": score.f1,
            }
        )
    return rows


def _timeline(*streams: MemorySource) -> None:
    """Draw the busiest fluents of the first sequence: given, completed, true."""
    tables = [next(sequences_of(stream)) for stream in streams]
    lanes = [
        {lane.name: lane for lane in label_lanes(table, streams[0].domain)} for _, table in tables
    ]
    busiest = sorted(lanes[0].values(), key=lambda lane: (-lane.positives, lane.name))[:_LANES]
    print(f"sequence {tables[0][0]}, its busiest fluents ({LEGEND}):")
    for lane in busiest:
        names = (lane.name, "", "")
        for name, what, drawn in zip(
            names, ("given", "completed", "truth"), (1, 2, 0), strict=True
        ):
            print(f"  {name:>14} {what:>9} {strip(lanes[drawn][lane.name].labels, _WIDTH)}")
    print()
