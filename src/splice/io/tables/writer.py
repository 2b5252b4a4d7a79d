"""Tables from a source: ``events``, ``labels``, ``functions`` and the ``domain.toml`` to read them.

Query atoms with a time go to ``labels`` (as points), function facts to ``functions``,
everything else to ``events``: an event by its name, an atom of another predicate by the
spelling of that predicate, its arguments without the time. :mod:`splice.io.tables.cells`
says how cells are written. Rows beyond some hundred thousands wait on disk, so memory is
bounded; the source is read once.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import polars as pl

from splice.errors import OutputError, did_you_mean
from splice.io.domain_file import DOMAIN_FILE
from splice.io.domain_text import format_domain
from splice.io.tables.files import FORMATS, format_names
from splice.io.tables.frames import TableFormat
from splice.io.tables.kinds import KindMaker, schema_of
from splice.io.tables.rows import HAPPENS, RowMaker
from splice.logic.domain import Domain
from splice.stream.source import Source
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Vocabulary

_SPOOL_ROWS: Final = 500_000
_HEADS: Final[dict[str, dict[str, type[pl.DataType]]]] = {
    "events": {"sequence": pl.String, "time": pl.Int64, "event": pl.String},
    "labels": {"sequence": pl.String, "fluent": pl.String, "time": pl.Int64},
    "functions": {"sequence": pl.String, "constant": pl.String, "function": pl.String},
}


def write_tables(source: Source, folder: str | Path, style: str = "csv") -> Domain:
    """Write a source into an existing folder; return the domain that was written with it.

    Reading the folder gives the same atoms, labels, sequences and spellings.

    Parameters
    ----------
    source
        What to write; it is read once.
    folder
        A folder that exists.
    style
        The name of a format of tables that can hold data.
    """
    names = format_names()
    if style not in names:
        hint = did_you_mean(style, names) or f"formats are {', '.join(names)}"
        raise OutputError(f"unknown format '{style}'", hint)
    folder = Path(folder)
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".spool-") as spool:
            writer = _Writer(source, Path(spool))
            for chunk in source.chunks():
                writer.add(chunk)
            domain = writer.finish(folder, FORMATS[style])
        (folder / DOMAIN_FILE).write_text(
            format_domain(domain, time_unit=source.vocabulary.times.unit), encoding="utf-8"
        )
    except OSError as error:
        raise OutputError(f"cannot write '{folder}': {error.strerror or error}") from error
    return domain


class _Writer:
    """The three tables while they grow."""

    def __init__(self, source: Source, folder: Path) -> None:
        self._source = source
        self._rows = RowMaker(source)
        self._tables = {name: _Spool(folder / name, name) for name in _HEADS}

    def add(self, chunk: AtomTable) -> None:
        """Take the atoms of a chunk."""
        for name, frame in self._rows.frames(chunk).items():
            self._tables[name].add(frame)

    def finish(self, folder: Path, style: TableFormat) -> Domain:
        """Write the files."""
        domain = self._source.domain
        schema = schema_of(domain.schema, self._source.vocabulary.kinds)
        domain = replace(domain, schema=schema)
        colliding = _colliding(domain, self._tables["events"].names)
        for name, spool in self._tables.items():
            if spool.rows:
                frame = spool.frame(colliding if name == "events" else ())
                style.write(frame, folder / f"{name}{style.endings[0]}")
        if not any(spool.rows for spool in self._tables.values()):
            # An empty stream is a table without rows, which a format without a header cannot say.
            style = style if style.header else next(f for f in FORMATS.values() if f.header)
            style.write(self._tables["events"].frame(), folder / f"events{style.endings[0]}")
        return domain


_Event = tuple[str, int, bool]
"""The name of an event, whether it is one or an atom of a predicate, and whether it has no arguments."""


class _Spool:
    """Rows of one table: some in memory, the rest in part files."""

    def __init__(self, folder: Path, name: str) -> None:
        self.rows = 0
        self.names: set[_Event] = set()
        self._folder = folder
        self._head = _HEADS[name]
        self._is_labels = name == "labels"
        self._waiting: list[pl.DataFrame] = []
        self._parts: list[Path] = []
        self._columns: dict[str, None] = {}
        self._all_true = True

    def add(self, frame: pl.DataFrame) -> None:
        """Take some rows."""
        self.rows += frame.height
        self._columns.update(dict.fromkeys(frame.columns))
        self._all_true = self._all_true and bool((frame["label"] == 1).all())
        if "happens" in frame.columns:
            bare = pl.col("arg1").is_null() if "arg1" in frame.columns else pl.lit(True)
            frame = frame.with_columns(bare=bare)
            self.names.update(frame.select("event", "happens", "bare").unique().rows())
        self._waiting.append(frame)
        if sum(part.height for part in self._waiting) >= _SPOOL_ROWS:
            self._folder.mkdir(exist_ok=True)
            self._parts.append(self._folder / f"{len(self._parts):06}.parquet")
            pl.concat(self._waiting, how="diagonal").write_parquet(self._parts[-1])
            self._waiting = []

    def frame(self, quoted: Sequence[_Event] = ()) -> pl.LazyFrame:
        """Return the table, the names of some events in quotes to be read as what they are."""
        frames = [pl.scan_parquet(part) for part in self._parts]
        frames += [frame.lazy() for frame in self._waiting]
        if not frames:
            return pl.LazyFrame(schema=self._head)
        rows = pl.concat(frames, how="diagonal")
        for name, happens, bare in quoted:
            same = (pl.col("event") == name) & (pl.col("happens") == happens)
            event = pl.when(same & (pl.col("bare") == bare)).then(pl.lit(f"'{name}'"))
            rows = rows.with_columns(event.otherwise(pl.col("event")).alias("event"))
        label = pl.when(pl.col("label") != 0).then(pl.col("label") > 0).alias("label")
        args = sorted((n for n in self._columns if n.startswith("arg")), key=lambda n: int(n[3:]))
        shown = [pl.col(name) for name in (*self._head, *args)]
        return rows.select(*shown, *([] if self._all_true and not self._is_labels else [label]))


def _colliding(domain: Domain, names: set[_Event]) -> list[_Event]:
    """Return the events whose plain names would be read as something else."""
    kinds = KindMaker(domain, Vocabulary())
    functions = {decl.name for decl in domain.schema.functions}
    return [
        (name, happens, bare)
        for name, happens, bare in sorted(names)
        if happens == HAPPENS
        and not name.startswith("'")
        and (kinds.named_predicate(name) is not None or (bare and name in functions))
    ]
