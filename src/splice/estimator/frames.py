"""Results as tables and timelines, before they become frames of the caller's kind and pictures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

import polars as pl

from splice.active.question import Question
from splice.completion.source import CompletedSource
from splice.errors import UnknownName
from splice.events.recognise import recognise
from splice.learners.predict import predict
from splice.logic.theory import Theory
from splice.report.document import Timeline
from splice.report.lanes import recognised_timeline, timeline
from splice.report.observer import CompletionObserver
from splice.stream.source import MemorySource, Source, sequences

_QUESTION_SCHEMA: Final = {
    "sequence": pl.String,
    "fluent": pl.String,
    "start": pl.Int64,
    "end": pl.Int64,
    "label": pl.Boolean,
    "believed": pl.Float64,
    "reason": pl.String,
}


def question_frame(questions: Iterable[Question]) -> pl.DataFrame:
    """Return questions as rows of a labels table whose labels are to be filled in."""
    rows = [
        {
            "sequence": each.sequence,
            "fluent": fluent,
            "start": each.start,
            "end": each.end,
            "label": None,
            "believed": each.believed,
            "reason": each.reason,
        }
        for each in questions
        for fluent in each.fluents
    ]
    return pl.DataFrame(rows, schema=_QUESTION_SCHEMA)


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
    found = watcher.labelling()
    if found is None:
        raise UnknownName("sequence", sequence or "", names)
    if theory is not None:
        found = replace(found, recognised=predict(theory, found.batch))
    return timeline(found)


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
            found = recognise(theory, MemorySource(table, source.domain))
            return recognised_timeline(table, found.parts[0])
    raise UnknownName("sequence", sequence or "", names)
