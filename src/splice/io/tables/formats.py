"""The formats of tables: the one registry that readers and writers ask."""

from __future__ import annotations

from pathlib import Path
from typing import Final, TypeVar

from splice.errors import InputError, Place, Problem, SpliceError, UnknownName
from splice.io.tables.csv_table import Csv
from splice.io.tables.frames import CHUNK_ROWS, Table, TableFormat
from splice.io.tables.json_table import Json
from splice.io.tables.ndjson_table import Ndjson
from splice.io.tables.parquet_table import Parquet
from splice.limits import LIMITS, Limits

FORMATS: Final[dict[str, TableFormat]] = {}
"""Every format of tables, by name."""

F = TypeVar("F", bound=TableFormat)


def register(cls: type[F]) -> type[F]:
    """Make a format known; a decorator.

    Parameters
    ----------
    cls
        A :class:`TableFormat` with a name and endings that no other one has.
    """
    taken = {ending for other in FORMATS.values() for ending in other.endings}
    if cls.name in FORMATS or taken.intersection(cls.endings):
        raise SpliceError(
            f"there is a format '{cls.name}' already, or one with its endings",
            "choose another name and other endings",
        )
    FORMATS[cls.name] = cls()
    return cls


for _format in (Csv, Parquet, Ndjson, Json):
    register(_format)


def format_names() -> list[str]:
    """Return the names of the formats that can hold data."""
    return [name for name, known in FORMATS.items() if known.streamed]


def table_format(name: str, *, what: str = "format") -> TableFormat:
    """Return a format by its name."""
    if name not in FORMATS:
        raise UnknownName(what, name, FORMATS)
    return FORMATS[name]


def format_of(path: Path) -> TableFormat | None:
    """Return the format that a file's name says, or None.

    >>> format_of(Path("events.CSV.gz")).name, format_of(Path("events.txt"))
    ('csv', None)
    """
    name = path.name.lower().removesuffix(".gz")
    known = (known for known in FORMATS.values() if name.endswith(known.endings))
    return next(known, None)


def open_table(path: Path, *, chunk_rows: int = CHUNK_ROWS, limits: Limits = LIMITS) -> Table:
    """Open a file as a table, by the ending of its name."""
    known = format_of(path)
    if known is None or (path.suffix == ".gz" and not known.packed):
        endings = ", ".join(ending for other in FORMATS.values() for ending in other.endings)
        packed = " or ".join(f"{other.endings[0]}.gz" for other in FORMATS.values() if other.packed)
        hint = f"tables end in {endings} (or {packed})"
        raise InputError(Problem(Place(str(path)), "not a table", "", hint))
    return known.open(path, chunk_rows=chunk_rows, limits=limits)
