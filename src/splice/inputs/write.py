"""Sources into files: any of the formats, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from splice.inputs.open import Inputs, input_paths, locate
from splice.io.lomrf.db_writer import write_db
from splice.io.outputs import new_folder
from splice.io.rtec import write_rtec
from splice.io.tables import write_tables
from splice.stream.source import Source, WrappedSource
from splice.stream.table import AtomTable

if TYPE_CHECKING:
    import polars as pl

__all__ = ["OutFormat", "WatchedSource", "format_of_input", "write_source"]

Progress = Callable[..., Iterator[Any]]
"""Passes items on and shows how far it is: ``progress(items, what)``."""


class OutFormat(StrEnum):
    """A format that data can be written in."""

    DB = "db"
    CSV = "csv"
    PARQUET = "parquet"
    NDJSON = "ndjson"
    RTEC = "rtec"


_TABLES: Final[dict[OutFormat, Literal["csv", "parquet", "ndjson"]]] = {
    OutFormat.CSV: "csv",
    OutFormat.PARQUET: "parquet",
    OutFormat.NDJSON: "ndjson",
}


def format_of_input(name: Inputs) -> OutFormat:
    """Return the format that an input is written in, or CSV where that cannot hold labels."""
    paths = input_paths(name)
    found = locate(paths[0]) if paths and paths[0].exists() else None
    if found is None or found.style == "rtec":
        return OutFormat.CSV
    if found.style == "db":
        return OutFormat.DB
    files = found.paths if len(paths) == 1 else paths
    names = [path.name.removesuffix(".gz") for path in files]
    for style in (OutFormat.PARQUET, OutFormat.NDJSON):
        if any(name.endswith(f".{style.value}") for name in names):
            return style
    return OutFormat.CSV


@dataclass(frozen=True, eq=False)
class WatchedSource(WrappedSource):
    """A source that shows how far its reading is."""

    progress: Progress
    what: str

    def chunks(self) -> Iterator[AtomTable]:
        """Yield the chunks, showing how many have passed."""
        yield from self.progress(self.inner.chunks(), self.what)


def write_source(
    source: Source,
    folder: Path,
    style: OutFormat,
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
        The folder to make.
    style
        The format of the files.
    tracks
        A table to write beside them as ``tracks.csv``.
    progress
        Called with the chunks and a word for what is done; it yields the chunks.
    """
    watched = source if progress is None else WatchedSource(source, progress, "writing")
    with new_folder(folder) as partial:
        left_out = _write(watched, partial, style)
        if tracks is not None:
            tracks.write_csv(partial / "tracks.csv")
    return left_out


def _write(source: Source, folder: Path, style: OutFormat) -> int:
    if style is OutFormat.RTEC:
        return write_rtec(source, folder)
    if style is OutFormat.DB:
        write_db(source, folder)
    else:
        write_tables(source, folder, _TABLES[style])
    return 0
