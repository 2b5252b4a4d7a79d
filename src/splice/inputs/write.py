"""Sources into files: any of the formats, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from splice.errors import UnknownName
from splice.inputs.languages import TABLES, written_formats
from splice.inputs.open import Inputs, input_paths, locate
from splice.io.outputs import new_folder
from splice.stream.source import ChangedSource, Source
from splice.stream.table import AtomTable
from splice.stream.timeline import without_ticks

if TYPE_CHECKING:
    import polars as pl

Progress = Callable[..., Iterator[Any]]
"""Passes items on and shows how far it is: ``progress(items, what)``."""


def format_of_input(name: Inputs) -> str:
    """Return the format that an input is written in, or CSV where that cannot hold labels."""
    paths = input_paths(name)
    located = locate(paths[0]) if paths and paths[0].exists() else None
    if located is None or not located.language.labelled:
        return TABLES.formats[0]
    return located.language.format_of(located.paths if len(paths) == 1 else paths)


def with_progress(source: Source, progress: Progress, what: str) -> Source:
    """Return a source that shows how far its reading is."""
    return ChangedSource(source, lambda chunks: progress(chunks, what))


def write_source(
    source: Source,
    folder: Path,
    style: str,
    *,
    tracks: pl.DataFrame | None = None,
    progress: Progress | None = None,
) -> int:
    """Write a source as a folder, which appears whole or not at all.

    Return how many atoms and labels had no place in the format.

    Parameters
    ----------
    source
        What to write.
    folder
        Where; it must not exist, or have been written by this project.
    style
        The name of a format: ``db``, ``rtec``, or one of tables, such as ``parquet``.
    tracks
        A table to write beside it, as ``tracks.csv``.
    progress
        Shows how far the writing is.
    """
    languages = written_formats()
    if style not in languages:
        raise UnknownName("format", style, languages)
    source = ChangedSource(source, _written)
    if progress is not None:
        source = with_progress(source, progress, "writing")
    with new_folder(folder) as partial:
        left_out = languages[style].write(source, partial, style)
        if tracks is not None:
            tracks.write_csv(partial / "tracks.csv")
    return left_out


def _written(chunks: Iterator[AtomTable]) -> Iterator[AtomTable]:
    """Yield chunks without what files do not hold: time-points at which nothing happens."""
    return (chunk for chunk in map(without_ticks, chunks) if len(chunk))
