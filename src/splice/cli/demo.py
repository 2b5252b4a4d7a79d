"""``splice demo``: the whole road on simulated data, as far as it is built."""

from __future__ import annotations

from typing import Annotated

import typer

from splice.cli.console import Format, emit, note
from splice.cli.options import Printed, Seed

__all__ = ["demo"]

_HIDDEN = 90
_LANES = 4
_WIDTH = 72


def demo(
    sequences: Annotated[int, typer.Option(min=1, help="How many sequences to simulate.")] = 4,
    seed: Seed = 0,
    style: Printed = Format.TABLE,
) -> None:
    """Simulate people in a square, hide 90 % of the labels, and show the stream."""
    from splice.datasets.plaza import make_plaza
    from splice.report.timeline import LEGEND, label_lanes, strip
    from splice.stream.cutting import TimePoints
    from splice.stream.masking import KeepBatches, MaskedSource
    from splice.stream.source import sequences as sequences_of
    from splice.stream.summary import summarise

    note(f"simulating {sequences} sequences of people in a square (seed {seed})")
    source = make_plaza(sequences=sequences, seed=seed).source
    masked = MaskedSource(source, KeepBatches(100 - _HIDDEN), seed, TimePoints(25))
    note(f"hiding {_HIDDEN} % of the labels: all those of {_HIDDEN} % of the micro-batches\n")
    rows = [
        {"fluent": fluent, "labels": name, **{k: counts[k] for k in ("true", "false", "unknown")}}
        for name, stream in (("all", source), ("given", masked))
        for fluent, counts in summarise(stream).fluents.items()
    ]
    emit(rows, style)
    if style is not Format.TABLE:
        return
    (name, truth), (_, given) = next(sequences_of(source)), next(sequences_of(masked))
    all_lanes = {lane.name: lane for lane in label_lanes(truth, source.domain)}
    busiest = sorted(all_lanes.values(), key=lambda lane: (-lane.positives, lane.name))[:_LANES]
    given_lanes = {lane.name: lane for lane in label_lanes(given, source.domain)}
    print(f"sequence {name}, its busiest fluents ({LEGEND}):")
    for lane in busiest:
        print(f"  {lane.name:>16} all   {strip(lane.labels, _WIDTH)}")
        print(f"  {'':>16} given {strip(given_lanes[lane.name].labels, _WIDTH)}")
    print()
    note("next: `splice data make plaza --out plaza` writes such data; `splice mask` hides labels")
