"""Completed labels as a table, and the reason for one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

import numpy as np
import polars as pl

from splice.completion.completer import SupervisionCompleter
from splice.completion.explain import Explanation
from splice.completion.result import Completion
from splice.completion.source import CompletedSource
from splice.errors import SpliceError
from splice.io.tables.rows import RowMaker
from splice.logic.syntax import parse_ground_term
from splice.pipeline.calibrate import calibrate
from splice.stream.batch import batches
from splice.stream.table import AtomTable
from splice.stream.times import TimeFormat

COMPLETED_SCHEMA: Final = {
    "sequence": pl.String,
    "fluent": pl.String,
    "time": pl.Int64,
    "label": pl.Boolean,
    "confidence": pl.Float64,
    "given": pl.Boolean,
    "calibrated": pl.Boolean,
}
"""The columns of a table of completed labels; times are counted."""


def completed_frame(source: CompletedSource) -> pl.DataFrame:
    """Return a row for each query atom: its label, how sure that is, and whether it was given.

    Confidence goes from 0 to 1, which given labels have. Where it is ``calibrated`` it is the chance that the
    label is right, as given labels that were held out tell; else, with too few of them or online, how
    far the value is from zero. A label that is missing still, since completion abstained, is null.

    Parameters
    ----------
    source
        The stream; it is completed once, and a sample of it before that, to calibrate.
    """
    stream = batches(source.inner, source.cut)
    source = replace(source, profile=calibrate(stream, source.profile, source.mode).profile)
    done = [completion for _, completion in source.completions()]
    queries = AtomTable.concat([completion.batch.queries for completion in done], source.vocabulary)
    if not len(queries):
        return pl.DataFrame(schema=COMPLETED_SCHEMA)
    labels = pl.Series(np.concatenate([completion.labels for completion in done]))
    rows = RowMaker(source).frames(queries)["labels"]
    return pl.DataFrame(
        {
            "sequence": rows["sequence"],
            "fluent": rows["fluent"],
            "time": queries.time,
            "label": (labels > 0).set(labels == 0, None),
            "confidence": np.concatenate([completion.confidence for completion in done]),
            "given": np.concatenate([completion.given for completion in done]),
            "calibrated": np.concatenate([completion.calibrated for completion in done]),
        }
    )


def explain_label(
    completions: Iterable[tuple[SupervisionCompleter, Completion]],
    fluent: str,
    time: Callable[[TimeFormat], int],
    sequence: str | None = None,
) -> Explanation:
    """Return why a query atom has its label.

    Parameters
    ----------
    completions
        What becomes of each batch of a stream, as :meth:`CompletedSource.completions` tells it.
    fluent
        The fluent, as labels write it: ``meet(ID1,ID2)``.
    time
        The time-point; it is asked for once the stream says how it counts and writes its times.
    sequence
        Its sequence, if there are several.
    """
    written = str(parse_ground_term(fluent))
    times, moment = TimeFormat(), 0
    for completer, done in completions:
        if sequence not in (None, done.batch.sequence):
            continue
        queries = done.batch.queries
        times = queries.vocabulary.times
        moment = time(times)
        for row in (queries.time == moment).nonzero()[0].tolist():
            if written in (str(queries.atom(row).args[0]), str(queries.atom(row))):
                return completer.explain(row)
    where = f" of sequence '{sequence}'" if sequence else ""
    raise SpliceError(
        f"no query atom {fluent} at {times.text(moment)}{where}",
        "fluents are written as in the labels: meet(ID1,ID2)",
    )
