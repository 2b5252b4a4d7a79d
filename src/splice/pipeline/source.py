"""The input of a run: a name, or a source that is there already."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeAlias

from splice.completion.mode import Mode
from splice.inputs.open import InputOptions, open_input
from splice.io.tables.frame_table import Frames
from splice.logic.domain import Domain, Holds
from splice.patterns.convention import find_holds
from splice.patterns.measures import find_measures, measured
from splice.pipeline.holdout import sample
from splice.pipeline.progress import Settled, Watch, ignore
from splice.pipeline.shards import OpenSource
from splice.stream.batch import TimePoints, batches
from splice.stream.source import RedefinedSource, Source

Input: TypeAlias = Source | str | Path | Frames
"""A folder, a file, the name of a dataset, DataFrames, or a source."""


def opener(data: Input, options: InputOptions) -> OpenSource:
    """Return what opens an input, as often as it is asked; a source is always the same one."""
    if isinstance(data, Path):
        data = str(data)
    if isinstance(data, Source):
        return partial(_as_it_is, data)
    return partial(open_input, data, options)  # as it is: an InputName knows its files


def with_measures(opened: OpenSource, mode: Mode) -> OpenSource:
    """Return what opens an input whose measured numbers have thresholds that its labels suggest.

    That takes a reading of its own, so online, where nobody looks ahead, it is the input as it is.
    """
    measures = find_measures(opened()) if mode is Mode.HINDSIGHT else ()
    return _redefined(opened, partial(measured, measures=measures)) if measures else opened


def with_convention(opened: OpenSource, batch_size: int, watch: Watch = ignore) -> OpenSource:
    """Return what opens an input that says when changes count: as its domain does, else by its labels.

    Parameters
    ----------
    opened
        What opens the input; in hindsight, for it is read once more, in part.
    batch_size
        Time-points in a batch.
    watch
        Told where changes count at once.
    """
    source = opened()
    if source.domain.clock.holds is not None:
        return opened
    holds = find_holds(sample(batches(source, TimePoints(batch_size))))
    if holds is Holds.AFTER:
        return opened
    found = "nobody says when changes count; by the labels, what begins at a time-point holds from it on"
    watch(Settled(f"{found} (--holds after says otherwise)"))
    return _redefined(opened, partial(Domain.holding, holds=holds))


def _redefined(opened: OpenSource, redefine: Callable[[Domain], Domain]) -> OpenSource:
    return partial(_open_redefined, opened, redefine)


def _open_redefined(opened: OpenSource, redefine: Callable[[Domain], Domain]) -> Source:
    return RedefinedSource(opened(), redefine)


def name_of(data: Input) -> str | None:
    """Return the name of an input, which may stand for several files; a source has none."""
    if isinstance(data, str):  # as it is: an InputName knows its files
        return data
    return str(data) if isinstance(data, Path) else None


def _as_it_is(source: Source) -> Source:
    return source
