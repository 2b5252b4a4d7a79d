"""``splice demo``: the whole road on simulated data; a stream is one line a fluent, one sign a moment.

>>> import numpy as np
>>> strip(np.array([1, 1, -1, 0, 0, -1], np.int8), 3)
'█··'
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from splice.arrays import Indices, unique_rows
from splice.cli.console import Format, emit, note, say, tracked
from splice.cli.options import Force, Printed, Seed
from splice.cli.report import ReportOption, check_report, write_report
from splice.completion.profile import profile
from splice.evaluation.confusion import Confusion
from splice.evaluation.recognition import score
from splice.events.crisp.program import compile_program
from splice.events.crisp.recognition import Recognised, recognise_table
from splice.inputs.theories import load_theory
from splice.lab.plaza import make_plaza
from splice.labels import UNKNOWN, LabelArray, Unlabelled
from splice.learners.learned_rule import LearnedRule
from splice.learners.protocol import StructureLearner
from splice.learners.registry import LEARNERS
from splice.logic.domain import Domain
from splice.logic.theory import Theory
from splice.report.document import Curve, Figure, Note, Panel, Report, Section
from splice.report.observer import CompletionObserver, ObservedCompletion
from splice.report.run import run_report, table_of
from splice.stream.batch import TimePoints, batches, query_rows
from splice.stream.mask import KeepBatches, MaskedSource
from splice.stream.source import MemorySource, collect
from splice.stream.source import sequences as sequences_of
from splice.stream.table import NO_TIME, AtomTable

_TRUE, _FALSE, _UNKNOWN = "█", "·", " "

LEGEND = f"{_TRUE} true   {_FALSE} false   blank unknown"


@dataclass(frozen=True, slots=True)
class Lane:
    """One fluent instance over the time-points of its sequence."""

    name: str
    labels: LabelArray

    @property
    def positives(self) -> int:
        """How many labels are true."""
        return int((self.labels > 0).sum())


def strip(labels: LabelArray, width: int) -> str:
    """Draw labels in so many columns: true wins over false, and false over unknown."""
    edges = np.linspace(0, len(labels), min(width, len(labels)) + 1).astype(int)
    signs = []
    for start, stop in pairwise(edges):
        part = labels[start:stop]
        sign = _TRUE if (part > 0).any() else _FALSE if (part < 0).any() else _UNKNOWN
        signs.append(sign)
    return "".join(signs)


def label_lanes(table: AtomTable, domain: Domain) -> Iterator[Lane]:
    """Yield the labels of each fluent instance of one sequence, unknown where none is given."""
    times = np.unique(table.time[table.time != NO_TIME])
    queries = table.take(query_rows(table, domain))
    rows = np.concatenate((queries.kind[:, None], queries.args), axis=1)
    first, which = unique_rows(rows)
    slots: Indices = np.searchsorted(times, queries.time)
    for number in range(len(first)):
        own = np.flatnonzero(which == number)
        labels = np.zeros(len(times), np.int8)
        labels[slots[own]] = queries.truth[own]
        yield Lane(_fluent(queries, int(first[number])), labels)


def _fluent(queries: AtomTable, row: int) -> str:
    """Name a fluent as people do: ``meet(ID1,ID3)``."""
    kind = queries.vocabulary.kinds[int(queries.kind[row])]
    names = queries.vocabulary.constants.names(queries.args[row, : kind.arity].tolist())
    return f"{kind.functor or kind.predicate}({','.join(names)})"


_HIDDEN = 90
_HELD_OUT = 8
_LANES = 4
_WIDTH = 72
_FLUENTS = ("meet", "move")
_CUT = TimePoints(25)
_PAGE = Path("splice-demo.html")


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
    if report is not None and not no_report:
        check_report(report, force=force or report == _PAGE)
    note(f"simulating {sequences} sequences of people in a square (seed {seed})")
    source = make_plaza(sequences=sequences, seed=seed).source
    masked = MaskedSource(source, KeepBatches(100 - _HIDDEN), seed, _CUT)
    note(f"hiding {_HIDDEN} % of the labels: all those of {_HIDDEN} % of the micro-batches")
    given = MemorySource(collect(masked), source.domain)
    note("completing them from the rest, batch by batch")
    watched = ObservedCompletion(given, profile("default"), _CUT)
    completed = MemorySource(collect(watched), source.domain)
    completion = _completion(source, given, completed)
    if style is Format.TABLE:
        emit(completion, style)
        _timeline(source, given, completed)
    note("learning rules from the completed stream with OLED")
    learner = _learned(completed)
    rules = learner.rules()
    if style is Format.TABLE:
        texts = ["\n".join(rule.lines()) for rule in rules]
        say("\n\n".join(texts or ["% No rule was good enough."]) + "\n")
    note(f"recognising {_HELD_OUT} other sequences with them, and with others for comparison")
    recognition = list(tracked(_recognition(learner.theory_, source, given, seed), "learning", 5))
    if style is Format.TABLE:
        emit(_scores(completion, recognition), style, title=_TITLE)
        note("next: `splice data make plaza --out plaza`, `splice mask`, `splice learn`")
    else:
        value = {
            "completion": completion,
            "rules": [rule.as_json() for rule in rules],
            "recognition": recognition,
        }
        emit(recognition, style, value)
    if report is not None and not no_report:
        scores = _scores(completion, recognition)
        made = _report(seed, completion, scores, rules, watched.watcher, learner, source)
        write_report(made, report)


_TITLE = f"F1 of the labels filled in, and of {_HELD_OUT} other sequences recognised"


def _scores(
    completion: list[dict[str, Any]], recognition: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the last table: what was filled in, then what each set of rules recognises."""
    filled = {row["fluent"]: row["F1"] for row in completion}
    first = {"what": "labels completed, of those hidden", "rules": "", **filled}
    rows = [
        {"what": row["rules"], "rules": row["number"], **{f: row[f] for f in _FLUENTS}}
        for row in recognition
    ]
    return [first, *rows]


def _report(
    seed: int,
    completion: list[dict[str, Any]],
    scores: list[dict[str, Any]],
    rules: list[LearnedRule],
    watcher: CompletionObserver,
    learner: StructureLearner,
    source: MemorySource,
) -> Report:
    words = (
        f"People in a square, simulated (seed {seed}). The labels of {_HIDDEN} % of the micro-"
        "batches were hidden and filled in from the rest; OLED learned rules from the result, and "
        f"recognised {_HELD_OUT} sequences that nobody had learned from."
    )
    overview: list[Section] = [
        Note(words),
        table_of(_TITLE, scores),
        _chart(scores),
        table_of("Labels filled in", completion),
    ]
    title = "splice: from a tenth of the labels to rules"
    return run_report(title, overview, rules, watcher, learner=learner, truth=source.table)


def _chart(scores: list[dict[str, Any]]) -> Figure:
    places = tuple(float(place) for place in range(len(scores)))
    curves = [
        Curve(fluent, tuple(row[fluent] for row in scores), places, colour=number)
        for number, fluent in enumerate(_FLUENTS)
    ]
    names = tuple(row["what"] for row in scores)
    panel = Panel("", "F1", "", tuple(curves), unit_y=True, names=names)
    return Figure("scores", "The same, drawn", (panel,), 1)


def _completion(*streams: MemorySource) -> list[dict[str, Any]]:
    """Return how many labels each fluent has, and how good the completed ones are."""
    truth, given, completed = (stream.table for stream in streams)
    rows = []
    for fluent in _FLUENTS:
        domain = replace(streams[0].domain, fluents=(fluent,))
        own = query_rows(truth, domain)
        missing = own & (given.truth == UNKNOWN)
        counts = Confusion.of(truth.truth[missing], completed.truth[missing])
        rows.append(
            {
                "fluent": fluent,
                "labels": int(own.sum()),
                "given": int((own & (given.truth != UNKNOWN)).sum()),
                "completed": int(missing.sum()),
                "precision": counts.precision,
                "recall": counts.recall,
                "F1": counts.f1,
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


def _learned(source: MemorySource, unlabelled: Unlabelled = Unlabelled.FALSE) -> StructureLearner:
    return LEARNERS.choose("oled", unlabelled=unlabelled)().fit(batches(source, _CUT))


def _recognition(
    theory: Theory, source: MemorySource, given: MemorySource, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield how well rules recognise sequences that nobody has learned from."""
    others = make_plaza(sequences=_HELD_OUT, seed=seed + 1).source
    skip = Unlabelled.SKIP
    yield _row("learned, missing labels completed", theory, others)
    yield _row("learned, missing labels read as false", _learned(given).theory_, others)
    yield _row("learned, from the labelled part alone", _learned(given, skip).theory_, others)
    yield _row("learned, had all labels been given", _learned(source).theory_, others)
    hand = (s for fluent in _FLUENTS for s in load_theory(f"caviar-{fluent}").statements)
    yield _row("written by hand (caviar-meet, caviar-move)", Theory(tuple(hand)), others)


def _row(what: str, theory: Theory, source: MemorySource) -> dict[str, Any]:
    found: Recognised | AtomTable = AtomTable.empty(source.vocabulary)
    if len(theory):
        program = compile_program(theory, source.domain)
        found = recognise_table(program, source.table, source.domain)
    truth = source.table.take(query_rows(source.table, source.domain))
    scores = score(truth, found).fluents
    return {
        "rules": what,
        "number": len(theory),
        **{fluent: scores[fluent].f1 for fluent in _FLUENTS},
    }
