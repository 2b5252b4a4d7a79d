"""Results as tables and timelines, before they become frames of the caller's kind and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import polars as pl

from splice.active.ask import Question
from splice.completion.source import CompletedSource
from splice.errors import UnknownName
from splice.events.recognise import recognise
from splice.learners.predict import predict
from splice.logic.theory import Theory
from splice.report.document import Timeline
from splice.report.lanes import recognised_timeline, timeline
from splice.report.observer import CompletionObserver
from splice.stream.source import MemorySource, Source, sequences

_LABELS: Final = {"sequence": pl.String, "fluent": pl.String}
_ANSWER_COLUMNS: Final = {"label": pl.Boolean, "believed": pl.Float64, "reason": pl.String}


def question_frame(questions: Iterable[Question]) -> pl.DataFrame:
    """Return questions as rows of a labels table of intervals, the labels to be filled in."""
    intervals = ((question, [(question.start, question.end)]) for question in questions)
    return _question_rows(intervals, ["start", "end"])


def question_points(questions: Iterable[Question]) -> pl.DataFrame:
    """Return questions as one row for each time-point at which a label is missing."""
    return _question_rows(
        ((question, [(t,) for t in question.times]) for question in questions), ["time"]
    )


def _question_rows(
    questions: Iterable[tuple[Question, Sequence[tuple[int, ...]]]], times: Sequence[str]
) -> pl.DataFrame:
    rows = [
        (question.sequence, fluent, *when, None, question.believed, question.reason)
        for question, moments in questions
        for fluent in question.fluents
        for when in moments
    ]
    return pl.DataFrame(
        rows, schema={**_LABELS, **dict.fromkeys(times, pl.Int64), **_ANSWER_COLUMNS}, orient="row"
    )


def labelled(source: CompletedSource, theory: Theory | None, sequence: str | None) -> Timeline:
    """Return the timeline of a sequence of which some labels are known.

    Parameters
    ----------
    source
        The stream, completed.
    theory
        What says when fluents hold, if anything does.
    sequence
        The sequence; None: the first in which something is labelled true.
    """
    watcher, names = CompletionObserver(), dict[str, None]()
    for completer, done in source.completions():
        names[done.batch.sequence] = None
        if sequence in (None, done.batch.sequence):
            watcher.see(completer, done)
    labelling = watcher.labelling()
    if labelling is None:
        raise UnknownName("sequence", sequence or "", names)
    if theory is not None:
        labelling = replace(labelling, recognised=predict(theory, labelling.batch))
    return timeline(labelling)


def recognised(source: Source, theory: Theory, sequence: str | None) -> Timeline:
    """Return the timeline of a sequence by what a theory says of it alone.

    Parameters
    ----------
    source
        The stream.
    theory
        What says when fluents hold.
    sequence
        The sequence; None: the first.
    """
    names = list[str]()
    for name, table in sequences(source):
        names.append(name)
        if sequence in (None, name):
            recognition = recognise(theory, MemorySource(table, source.domain))
            return recognised_timeline(table, recognition.parts[0])
    raise UnknownName("sequence", sequence or "", names)
