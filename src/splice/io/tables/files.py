"""The registry of formats of tables, and which files of an input are tables and what each says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Final, TypeVar

from splice.errors import InputError, Place, Problem, SpliceError, UnknownName, did_you_mean
from splice.io.layout import AtomPattern, Layout, Role, TableSpec, pattern_columns
from splice.io.remote import Inputs, as_path
from splice.io.tables.csv_table import Csv
from splice.io.tables.frames import CHUNK_ROWS, Table, TableFormat
from splice.io.tables.ndjson_table import Json, Ndjson
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
    taken = {ending for style in FORMATS.values() for ending in style.endings}
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
    return [name for name, style in FORMATS.items() if style.streamed]


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
    return next((style for style in FORMATS.values() if name.endswith(style.endings)), None)


def open_table(path: Path, *, chunk_rows: int = CHUNK_ROWS, limits: Limits = LIMITS) -> Table:
    """Open a file as a table, by the ending of its name."""
    style = format_of(path)
    if style is None or (path.suffix == ".gz" and not style.packed):
        endings = ", ".join(
            ending for registered in FORMATS.values() for ending in registered.endings
        )
        packed = " or ".join(
            f"{registered.endings[0]}.gz" for registered in FORMATS.values() if registered.packed
        )
        hint = f"tables end in {endings} (or {packed})"
        raise InputError(Problem(Place(str(path)), "not a table", "", hint))
    return style.open(path, chunk_rows=chunk_rows, limits=limits)


ROLES: Final[tuple[Role, ...]] = ("events", "labels", "functions")
_COLUMNS: Final[dict[Role, str]] = {"functions": "function", "labels": "fluent", "events": "event"}
_UNDESCRIBED: Final = (
    "describe the table in a domain.toml; a column for each sensor makes events of its own, such as "
    'atom = "Happens(temperature({temperature}),{time})"'
)

Found = Iterator[tuple[Table, TableSpec]]


def has_tables(folder: Path) -> bool:
    """Whether a folder holds tables of the zero-configuration layout."""
    return folder.is_dir() and any(_role_files(folder, role) for role in ROLES)


def is_data_table(path: Path) -> bool:
    """Whether a file is a table that can hold data, by its name."""
    style = format_of(path)
    return style is not None and style.streamed and path.is_file()


def find_tables(inputs: Inputs, layout: Layout, open_table: Callable[[Path], Table]) -> Found:
    """Yield the tables of an input with their descriptions.

    A layout counts where its columns are there; a folder that looks like the
    zero-configuration layout is read as such all the same, so that a domain made for other
    columns can be used for it.

    Parameters
    ----------
    inputs
        A folder, a file, several files, or the names of frames.
    layout
        What is said of its tables.
    open_table
        Opens one of them.
    """
    if isinstance(inputs, str | PathLike):
        root = as_path(inputs)
        if root.is_dir():
            return _folder_tables(root, layout, open_table)
        paths = [root]
    else:
        paths = [as_path(path) for path in inputs]
    return _file_tables(paths, layout, open_table)


def _folder_tables(root: Path, layout: Layout, open_table: Callable[[Path], Table]) -> Found:
    described = [(spec, path) for spec in layout.tables for path in _matching(root, spec)]
    if layout.tables and described and _fits(described, open_table):
        for spec, path in described:
            yield open_table(path), spec
        _require_every_table(root, layout)
        return
    by_role = {role: files for role in ROLES if (files := _role_files(root, role))}
    if not by_role:
        raise InputError(_nothing(root, layout))
    for role, files in by_role.items():
        if len(files) > 1:
            message = f"several tables of {role}: {', '.join(path.name for path in files)}"
            raise InputError(Problem(Place(str(root)), message, "", "keep one"))
        yield open_table(files[0]), TableSpec(files[0].name, role)


def _matching(root: Path, spec: TableSpec) -> list[Path]:
    """Return the files of a folder that a description means; patterns stay inside the folder."""
    try:
        matches = sorted(root.glob(spec.file))
    except (ValueError, NotImplementedError, OSError, re.error) as error:
        hint = "write a name in which * stands for anything, such as events*.csv"
        raise InputError(
            Problem(spec.place, f"'{spec.file}' names no files: {error}", spec.file, hint)
        ) from None
    inside = root.resolve()
    return [path for path in matches if path.is_file() and path.resolve().is_relative_to(inside)]


def _require_every_table(root: Path, layout: Layout) -> None:
    missing = [spec for spec in layout.tables if not _matching(root, spec)]
    if missing:
        raise InputError(
            Problem(Place(str(root)), f"no file '{spec.file}'", "", f"{spec.place} asks for it")
            for spec in missing
        )


def _file_tables(
    paths: Sequence[Path], layout: Layout, open_table: Callable[[Path], Table]
) -> Found:
    for path in paths:
        specs = [spec for spec in layout.tables if _is_named(path, spec)]
        if specs and _fits([(spec, path) for spec in specs], open_table):
            for spec in specs:
                yield open_table(path), spec
        else:
            table = open_table(path)
            yield table, TableSpec(path.name, _role_of(path, table))


def _is_named(path: Path, spec: TableSpec) -> bool:
    """Whether a description is about a file; a frame has the name of a file without its ending."""
    return path.match(spec.file) or path.name == Path(spec.file).stem


def _fits(described: Sequence[tuple[TableSpec, Path]], open_table: Callable[[Path], Table]) -> bool:
    """Whether tables have the columns of their layout, or not those of zero configuration."""
    for spec, path in described:
        assert isinstance(spec.atom, AtomPattern)
        names = set(open_table(path).names)
        needed = {name for name, _ in pattern_columns(spec.atom)}
        plain = {"time", "event"} <= names or {"fluent"} <= names
        if not needed <= names and plain:
            return False
    return True


def _role_files(root: Path, role: Role) -> list[Path]:
    return sorted(
        path
        for path in root.iterdir()
        if path.name.split(".")[0].lower() == role and is_data_table(path)
    )


def _role_of(path: Path, table: Table) -> Role:
    name = path.name.split(".")[0].lower()
    if name in ROLES:
        return name
    for role, column in _COLUMNS.items():
        if column in table.names:
            return role
    columns = list(_COLUMNS.values())
    near = next(filter(None, (did_you_mean(name, columns) for name in table.names)), "")
    raise InputError(
        Problem(
            Place(str(path), 1, 1),
            "neither events nor labels: there is no column 'event' or 'fluent'",
            ",".join(table.names),
            near or _UNDESCRIBED,
        )
    )


def _nothing(root: Path, layout: Layout) -> Problem:
    if not root.exists():
        return Problem(Place(str(root)), "no such file or folder")
    expected = [spec.file for spec in layout.tables] or [
        f"events.{kind}" for kind in format_names()
    ]
    names = sorted(path.name for path in root.iterdir())[:100]
    near = next(filter(None, (did_you_mean(name, names) for name in expected)), "")
    hint = near or f"expected {' or '.join(expected)}"
    return Problem(Place(str(root)), "no tables here", "", hint)
