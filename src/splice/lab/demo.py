"""The whole road on simulated data, in numbers: labels hidden and filled in, rules learned, sequences recognised."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from splice.completion.profile import profile
from splice.evaluation.confusion import Confusion
from splice.evaluation.recognition import score
from splice.events.crisp.program import compile_program
from splice.events.crisp.recognition import Recognised, recognise_table
from splice.inputs.theories import load_theory
from splice.lab.plaza import make_plaza
from splice.labels import UNKNOWN, Unlabelled
from splice.learners.protocol import StructureLearner
from splice.learners.registry import LEARNERS
from splice.logic.theory import Theory
from splice.report.document import Curve, Figure, Note, Panel, Report, Section
from splice.report.observer import ObservedCompletion
from splice.report.run import run_report, table_of
from splice.stream.batch import TimePoints, batches, query_rows
from splice.stream.mask import KeepBatches, MaskedSource
from splice.stream.source import MemorySource, collect
from splice.stream.table import AtomTable

Row = dict[str, Any]

HIDDEN: Final = 90
"""Percent of the micro-batches whose labels are hidden."""
HELD_OUT: Final = 8
"""So many sequences are recognised that nobody has learned from."""
TITLE: Final = f"F1 of the labels filled in, and of {HELD_OUT} other sequences recognised"
_FLUENTS: Final = ("meet", "move")
_CUT: Final = TimePoints(25)


def simulate(sequences: int, seed: int) -> MemorySource:
    """Return people in a square, with all labels."""
    return make_plaza(sequences=sequences, seed=seed).source


def hide(source: MemorySource, seed: int) -> MemorySource:
    """Return a stream without the labels of most micro-batches."""
    masked = MaskedSource(source, KeepBatches(100 - HIDDEN), seed, _CUT)
    return MemorySource(collect(masked), source.domain)


def complete(masked: MemorySource) -> tuple[MemorySource, ObservedCompletion]:
    """Return a stream with its missing labels filled in, and what was seen while they were."""
    observed = ObservedCompletion(masked, profile("default"), _CUT)
    return MemorySource(collect(observed), masked.domain), observed


def learn(source: MemorySource, unlabelled: Unlabelled = Unlabelled.FALSE) -> StructureLearner:
    """Return OLED after one pass over a stream."""
    return LEARNERS.choose("oled", unlabelled=unlabelled)().fit(batches(source, _CUT))


def completion_rows(
    source: MemorySource, masked: MemorySource, completed: MemorySource
) -> list[Row]:
    """Return how many labels each fluent has, and how good the completed ones are."""
    truth, given, filled = source.table, masked.table, completed.table
    rows = []
    for fluent in _FLUENTS:
        domain = replace(source.domain, fluents=(fluent,))
        queried = query_rows(truth, domain)
        missing = queried & (given.truth == UNKNOWN)
        counts = Confusion.of(truth.truth[missing], filled.truth[missing])
        rows.append(
            {
                "fluent": fluent,
                "labels": int(queried.sum()),
                "given": int((queried & (given.truth != UNKNOWN)).sum()),
                "completed": int(missing.sum()),
                "precision": counts.precision,
                "recall": counts.recall,
                "F1": counts.f1,
            }
        )
    return rows


def recognition_rows(
    theory: Theory, source: MemorySource, masked: MemorySource, seed: int
) -> Iterator[Row]:
    """Yield how well rules recognise sequences that nobody has learned from."""
    others = simulate(HELD_OUT, seed + 1)
    skip = Unlabelled.SKIP
    yield _row("learned, missing labels completed", theory, others)
    yield _row("learned, missing labels read as false", learn(masked).theory_, others)
    yield _row("learned, from the labelled part alone", learn(masked, skip).theory_, others)
    yield _row("learned, had all labels been given", learn(source).theory_, others)
    hand = (s for fluent in _FLUENTS for s in load_theory(f"caviar-{fluent}").statements)
    yield _row("written by hand (caviar-meet, caviar-move)", Theory(tuple(hand)), others)


def _row(what: str, theory: Theory, source: MemorySource) -> Row:
    recognised: Recognised | AtomTable = AtomTable.empty(source.vocabulary)
    if len(theory):
        program = compile_program(theory, source.domain)
        recognised = recognise_table(program, source.table, source.domain)
    truth = source.table.take(query_rows(source.table, source.domain))
    scores = score(truth, recognised).fluents
    return {
        "rules": what,
        "number": len(theory),
        **{fluent: scores[fluent].f1 for fluent in _FLUENTS},
    }


def summary_rows(completion: list[Row], recognition: list[Row]) -> list[Row]:
    """Return the last table: what was filled in, then what each set of rules recognises."""
    filled = {row["fluent"]: row["F1"] for row in completion}
    first = {"what": "labels completed, of those hidden", "rules": "", **filled}
    rows = [
        {"what": row["rules"], "rules": row["number"], **{f: row[f] for f in _FLUENTS}}
        for row in recognition
    ]
    return [first, *rows]


def demo_report(
    seed: int,
    completion: list[Row],
    summary: list[Row],
    observed: ObservedCompletion,
    learner: StructureLearner,
    source: MemorySource,
) -> Report:
    """Return the page of a demonstration."""
    words = (
        f"People in a square, simulated (seed {seed}). The labels of {HIDDEN} % of the micro-"
        "batches were hidden and filled in from the rest; OLED learned rules from the result, and "
        f"recognised {HELD_OUT} sequences that nobody had learned from."
    )
    overview: list[Section] = [
        Note(words),
        table_of(TITLE, summary),
        _chart(summary),
        table_of("Labels filled in", completion),
    ]
    title = "splice: from a tenth of the labels to rules"
    return run_report(
        title, overview, learner.rules(), observed.watcher, learner=learner, truth=source.table
    )


def _chart(summary: list[Row]) -> Figure:
    places = tuple(float(place) for place in range(len(summary)))
    curves = [
        Curve(fluent, tuple(row[fluent] for row in summary), places, colour=number)
        for number, fluent in enumerate(_FLUENTS)
    ]
    names = tuple(row["what"] for row in summary)
    panel = Panel("", "F1", "", tuple(curves), unit_y=True, names=names)
    return Figure("scores", "The same, drawn", (panel,), 1)
