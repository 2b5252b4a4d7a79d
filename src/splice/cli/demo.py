"""``splice demo``: the whole road on simulated data; a stream is one line a fluent, one sign a moment.

>>> import numpy as np
>>> strip(np.array([1, 1, -1, 0, 0, -1], np.int8), 3)
'█··'
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer

from splice.arrays import Indices
from splice.cli.console import Format, emit, note, say, tracked
from splice.cli.options import Force, Printed, Seed
from splice.cli.report import ReportOption, check_report, write_report
from splice.lab import demo as lab
from splice.labels import LabelArray
from splice.logic.domain import Domain
from splice.stream.batch import query_rows
from splice.stream.source import MemorySource
from splice.stream.source import sequences as sequences_of
from splice.stream.table import AtomTable

_TRUE, _FALSE, _UNKNOWN = "█", "·", " "

LEGEND = f"{_TRUE} true   {_FALSE} false   blank unknown"

_LANES: Final = 4
_WIDTH: Final = 72
_PAGE: Final = Path("splice-demo.html")


def demo(
    sequences: Annotated[int, typer.Option(min=1, help="How many sequences to simulate.")] = 4,
    seed: Seed = 0,
    report: ReportOption = _PAGE,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no page.")] = False,
    force: Force = False,
    style: Printed = Format.TABLE,
) -> None:
    """Simulate people in a square, hide 90 % of the labels, fill them in, learn, and recognise.

    It ends by writing a page to look at: the tables, a timeline, the rules and what they come from.
    """
    page = None if no_report else report
    if page is not None:
        check_report(page, force=force or page == _PAGE)
    note(f"simulating {sequences} sequences of people in a square (seed {seed})")
    source = lab.simulate(sequences, seed)
    note(f"hiding {lab.HIDDEN} % of the labels: all those of {lab.HIDDEN} % of the micro-batches")
    masked = lab.hide(source, seed)
    note("completing them from the rest, batch by batch")
    completed, observed = lab.complete(masked)
    completion = lab.completion_rows(source, masked, completed)
    if style is Format.TABLE:
        emit(completion, style)
        _print_timeline(source, masked, completed)
    note("learning rules from the completed stream with OLED")
    learner = lab.learn(completed)
    rules = learner.rules()
    if style is Format.TABLE:
        texts = ["\n".join(rule.lines()) for rule in rules]
        say("\n\n".join(texts or ["% No rule was good enough."]) + "\n")
    note(f"recognising {lab.HELD_OUT} other sequences with them, and with others for comparison")
    theories = lab.recognition_rows(learner.theory_, source, masked, seed)
    recognition = list(tracked(theories, "learning", 5))
    summary = lab.summary_rows(completion, recognition)
    if style is Format.TABLE:
        emit(summary, style, title=lab.TITLE)
        note("next: `splice data make plaza --out plaza`, `splice mask`, `splice learn`")
    else:
        value = {
            "completion": completion,
            "rules": [rule.as_json() for rule in rules],
            "recognition": recognition,
        }
        emit(recognition, style, value)
    if page is not None:
        write_report(lab.demo_report(seed, completion, summary, observed, learner, source), page)


def _print_timeline(source: MemorySource, masked: MemorySource, completed: MemorySource) -> None:
    """Draw the busiest fluents of the first sequence: given, completed, true."""
    name, table = next(sequences_of(source))
    truth = _lanes(table, source.domain)
    given, filled = (
        _lanes(next(sequences_of(stream))[1], source.domain) for stream in (masked, completed)
    )
    busiest = sorted(truth, key=lambda fluent: (-int((truth[fluent] > 0).sum()), fluent))
    print(f"sequence {name}, its busiest fluents ({LEGEND}):")
    for fluent in busiest[:_LANES]:
        rows = (
            (fluent, "given", given),
            ("", "completed", filled),
            ("", "truth", truth),
        )
        for title, what, lanes in rows:
            print(f"  {title:>14} {what:>9} {strip(lanes[fluent], _WIDTH)}")
    print()


def strip(labels: LabelArray, width: int) -> str:
    """Draw labels in so many columns: true wins over false, and false over unknown."""
    edges = np.linspace(0, len(labels), min(width, len(labels)) + 1).astype(int)
    signs = []
    for start, stop in pairwise(edges):
        part = labels[start:stop]
        sign = _TRUE if (part > 0).any() else _FALSE if (part < 0).any() else _UNKNOWN
        signs.append(sign)
    return "".join(signs)


def _lanes(table: AtomTable, domain: Domain) -> dict[str, LabelArray]:
    """Return the labels of each fluent instance over the time-points of one sequence."""
    times = table.times
    queries = table.take(query_rows(table, domain))
    first, which = queries.instances()
    slots: Indices = np.searchsorted(times, queries.time)
    lanes = {}
    for number, row in enumerate(first.tolist()):
        rows = np.flatnonzero(which == number)
        labels = np.zeros(len(times), np.int8)
        labels[slots[rows]] = queries.truth[rows]
        lanes[queries.name(row)] = labels
    return lanes
