"""The input of a run: a name, or a source that is there already."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TypeAlias

from splice.completion.mode import Mode
from splice.inputs.open import InputOptions, open_input
from splice.io.tables.frame_table import Frames
from splice.logic.domain import Measure
from splice.patterns.measures import MeasuredSource, find_measures
from splice.pipeline.shards import OpenSource
from splice.stream.source import Source

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
    return partial(_measured, opened, measures) if measures else opened


def _measured(opened: OpenSource, measures: tuple[Measure, ...]) -> Source:
    return MeasuredSource(opened(), measures)


def name_of(data: Input) -> str | None:
    """Return the name of an input, which may stand for several files; a source has none."""
    if isinstance(data, str):  # as it is: an InputName knows its files
        return data
    return str(data) if isinstance(data, Path) else None


def _as_it_is(source: Source) -> Source:
    return source
