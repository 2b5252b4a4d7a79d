"""The report of experiments: figures beside the published ones, tables, manifests."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from splice.errors import InputError, Place, Problem, SpliceError
from splice.io.text import natural_key, read_text
from splice.lab.experiments.run import rows_of
from splice.lab.experiments.tables import Row, parted, wide
from splice.lab.figures.curves import (
    ANSWERS_COLUMNS,
    SCALE_COLUMNS,
    answers_figures,
    dots_figure,
    enough,
    is_answers,
    is_scale,
    scale_figure,
    scale_rows,
    sweep_figure,
    sweeps_in,
)
from splice.lab.figures.panels import (
    F1,
    RUNTIME,
    Rows,
    by_column,
    level_figure,
    paper_figures,
)
from splice.report.document import Cell, Figure, Note, Report, Section, Tab, Table
from splice.report.run import table_of

MANIFEST: Final = "manifest.json"

_WORDS: Final = frozenset({"dataset", "folds", "scope", "unit", "method", "series"})
_NEEDED: Final = ("dataset", "scope", "batch_size", "method", "level", "n", "f1", "f1_sd")
_LINES: Final = 8
"""More methods than these make a plot of dots."""
_OPEN: Final = 16
"""Longer tables are folded."""


@dataclass(frozen=True, eq=False)
class Results:
    """A result table, its name, and the manifest of the run that gave it, where there is one."""

    name: str
    rows: list[Row]
    manifest: Mapping[str, Any] | None = None
    note: str = ""


def read_results(path: Path) -> list[Results]:
    """Read and return result tables.

    Parameters
    ----------
    path
        A CSV file, the folder of a run, or a folder of either.
    """
    if not path.is_dir():
        return [_read_table(path)]
    if (path / MANIFEST).is_file():
        return [_read_run(path)]
    tables = sorted(path.glob("*.csv"), key=lambda file: natural_key(file.stem))
    runs = sorted(path.glob(f"*/{MANIFEST}"), key=lambda file: natural_key(str(file)))
    results = [_read_table(file) for file in tables] + [_read_run(file.parent) for file in runs]
    if not results:
        raise SpliceError(
            f"'{path}' holds no results",
            "name a table (CSV) or the folder of `splice experiment run`",
        )
    return results


def _read_run(folder: Path) -> Results:
    manifest, rows = rows_of(folder)
    cells = {key for key in manifest["cells"] if (folder / "cells" / f"{key}.json").exists()}
    missing = len(manifest["cells"]) - len(cells)
    note = f"{missing} of {len(manifest['cells'])} cells are not there yet." if missing else ""
    return Results(str(manifest["name"]), rows, manifest, note)


def _read_table(path: Path) -> Results:
    lines = csv.reader(read_text(path).splitlines(), strict=True)
    rows: list[Row] = []
    try:
        header = next(lines, [])
        needed, across = _shape(header)
        missing = [name for name in needed if name not in header]
        if missing:
            raise _bad(path, 1, 1, f"no column '{missing[0]}'", ",".join(header))
        if header.index(across) != header.index("method") + 1:
            raise _bad(path, 1, 1, f"'{across}' does not follow 'method'", ",".join(header))
        rows += [_row(path, lines.line_num, header, line) for line in lines if line]
    except csv.Error as error:
        raise _bad(path, lines.line_num, 1, f"not CSV: {error}") from None
    return Results(path.stem, rows)


def _shape(header: Sequence[str]) -> tuple[Sequence[str], str]:
    """Return the columns that a table must have, and the one that its figures are drawn over."""
    if is_scale(header):
        return SCALE_COLUMNS, "size"
    return (ANSWERS_COLUMNS, "answers") if is_answers(header) else (_NEEDED, "level")


def _bad(path: Path, line: int, column: int, what: str, text: str = "") -> InputError:
    hint = "result tables are those of `splice experiment run --table FILE`"
    return InputError(Problem(Place(str(path), line, column), what, text, hint))


def _row(path: Path, number: int, header: Sequence[str], line: Sequence[str]) -> Row:
    if len(line) != len(header):
        message = f"{len(line)} cells, and there are {len(header)} columns"
        raise _bad(path, number, 1, message, ",".join(line))
    row: Row = {}
    for place, (name, text) in enumerate(zip(header, line, strict=True)):
        try:
            row[name] = text if name in _WORDS else _number(text)
        except ValueError:
            column = 1 + sum(len(cell) + 1 for cell in line[:place])
            raise _bad(path, number, column, f"'{name}' is not a number", text) from None
    needed, across = _shape(header)
    usual = ("level", "n", "f1", "batch_size", *(("published",) if row.get("series") else ()))
    absent = [n for n in (usual if across == "level" else needed) if row.get(n) is None]
    if absent:
        raise _bad(path, number, 1, f"'{absent[0]}' is empty", ",".join(line))
    for name in ("size", "seconds", "events") if across == "size" else (across,):
        if row[name] <= 0:
            raise _bad(path, number, 1, f"'{name}' is not above zero", ",".join(line))
    if row.get("published") is not None:
        row["difference"] = round(row["f1"] - row["published"], 4)
    return row


def _number(text: str) -> int | float | None:
    if not text.strip():
        return None
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return int(text) if re.fullmatch(r"\s*-?[0-9]+\s*", text) else value


def results_report(tables: Sequence[Results]) -> Report:
    """Return the report of some result tables.

    Parameters
    ----------
    tables
        What ``read_results`` returns.
    """
    rows = [row for table in tables for row in table.rows]
    overview: list[Section] = [_summary(tables), *paper_figures(rows)]
    tabs = [Tab("Overview", tuple(overview))]
    names = _distinct([table.name for table in tables])
    for name, table in zip(names, tables, strict=True):
        tabs.append(Tab(name, tuple(_sections(name, table))))
    manifests = [section for table in tables for section in _manifest(table)]
    if manifests:
        tabs.append(Tab("Runs", tuple(manifests)))
    title = names[0] if len(names) == 1 else "Results"
    return Report(title, tuple(tabs), "Published numbers: doi 10.1007/s10994-019-05794-2.")


def _distinct(names: Sequence[str]) -> list[str]:
    distinct: list[str] = []
    for name in names:
        copies = sum(other.split(" (")[0] == name for other in distinct)
        distinct.append(f"{name} ({copies + 1})" if copies else name)
    return distinct


def _summary(tables: Sequence[Results]) -> Table:
    rows = []
    for table in tables:
        samples = [int(row["n"]) for row in table.rows] or [0]
        rows.append(
            {
                "table": table.name,
                "data": ", ".join(dict.fromkeys(str(row["dataset"]) for row in table.rows)),
                "methods": len({row["method"] for row in table.rows}),
                "points": len(table.rows),
                "samples of a point": "-".join(
                    str(n) for n in sorted({min(samples), max(samples)})
                ),
                "note": table.note,
            }
        )
    if not any(row["note"] for row in rows):
        rows = [{k: v for k, v in row.items() if k != "note"} for row in rows]
    return table_of("What is here", rows)


def _by_method(rows: Rows) -> list[Row]:
    """Return how each method does beside the published numbers, over all settings."""
    made = []
    for method, points in by_column(rows, "method").items():
        gaps = [float(row["difference"]) for row in points if row.get("difference") is not None]
        made.append(
            {
                "method": method,
                "points": len(points),
                "mean F1": sum(float(row["f1"]) for row in points) / len(points),
                "beside a published number": len(gaps),
                "at or above it": sum(gap >= 0 for gap in gaps),
                "below it": sum(gap < 0 for gap in gaps),
                "mean difference": sum(gaps) / len(gaps) if gaps else None,
            }
        )
    return made


def _sections(name: str, table: Results) -> Iterator[Section]:
    if table.note:
        yield Note(table.note)
    if not table.rows:
        yield Note("There are no rows in this table.")
        return
    if is_scale(table.rows[0]):
        yield scale_figure(_slug(name), table.rows)
        yield table_of("By method and size", scale_rows(table.rows))
        yield table_of("All numbers", _complete(table.rows), folded=True)
        return
    if is_answers(table.rows[0]):
        yield from answers_figures(_slug(name), table.rows)
        yield table_of("Answers for 95 % of all labels", enough(table.rows))
        yield table_of("All numbers", _complete(table.rows), folded=True)
        return
    yield from _figures(_slug(name), table.rows)
    methods = _by_method(table.rows)
    yield table_of("By method, over all settings", methods, folded=len(methods) > _OPEN)
    for title, rows in by_setting(wide(table.rows, "level", "f1")):
        yield table_of(f"F1 by level: {title}", rows, folded=len(rows) > _OPEN)
    below = _below(table.rows)
    if below:
        yield table_of("Points below the published number", below, folded=len(below) > _OPEN)
    yield table_of("All numbers", _complete(table.rows), folded=True)


def _slug(name: str) -> str:
    return "-".join(re.findall(r"\w+", name)) or "results"


def _figures(name: str, rows: Rows) -> Iterator[Figure]:
    """Yield the figures of one result table."""
    sweeps, others = sweeps_in(rows)
    for number, ((title, symbol), of_setting) in enumerate(sweeps.items(), 1):
        yield sweep_figure(f"{name}-sweep-{number}", title, symbol, of_setting)
    settings = parted(others, _setting)
    for setting, of_setting in settings.items():
        several = len(settings) > 1
        slug, suffix = (f"{name}-{_slug(setting)}", f", {setting}") if several else (name, "")
        if (
            len({row["method"] for row in of_setting}) > _LINES
            or len({r["level"] for r in of_setting}) == 1
        ):
            yield dots_figure(f"{slug}-f1", f"F1 by method{suffix}", of_setting)
        else:
            yield level_figure(f"{slug}-f1", f"F1{suffix}", of_setting, F1)
            yield level_figure(f"{slug}-runtime", f"Runtime{suffix}", of_setting, RUNTIME)


def _setting(row: Row) -> str:
    """Return what a figure is for, where a table has several: batch size and folds."""
    folds = row.get("folds")
    return f"batches of {row['batch_size']}" + (f", folds by {folds}" if folds else "")


def by_setting(rows: Rows) -> Iterator[tuple[str, list[Row]]]:
    """Yield a small table for each setting of a wide one, with its title."""
    names = list(rows[0] if rows else ())
    setting = names[: names.index("method")] if names else []
    for values, of_setting in parted(
        rows, lambda row: tuple(row[name] for name in setting)
    ).items():
        title = ", ".join(
            f"{name.replace('_', ' ')} {value}" if isinstance(value, int) else str(value)
            for name, value in zip(setting, values, strict=True)
        )
        yield title, [{k: row[k] for k in names if k not in setting} for row in of_setting]


def _below(rows: Rows) -> list[Row]:
    names = ("dataset", "scope", "unit", "method", "level", "n", "f1", "published", "difference")
    low = [row for row in rows if row.get("difference") is not None and row["difference"] < 0]
    low.sort(key=lambda row: float(row["difference"]))
    return [{name: row.get(name) for name in names} for row in low]


def _complete(rows: Rows) -> list[Row]:
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [{name: row.get(name) for name in names} for row in rows]


def _manifest(table: Results) -> Iterator[Section]:
    if table.manifest is None:
        return
    plain = {k: v for k, v in table.manifest.items() if k not in ("cells", "configuration")}
    plain["cells"] = len(table.manifest["cells"])
    rows = list(_flat(plain)) + list(_flat(table.manifest["configuration"], "configuration."))
    yield Table(f"Manifest of {table.name}", ("what", "value"), tuple(rows))


def _flat(plain: Mapping[str, Any], path: str = "") -> Iterator[tuple[Cell, ...]]:
    """Yield the leaves of nested objects with their paths; lists are told whole."""
    for key, value in plain.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}{key}.")
        else:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield f"{path}{key}", text
