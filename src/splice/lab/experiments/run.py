"""A run of an experiment: a folder with a manifest, a result for each cell, and the table.

::

    DIR/manifest.json     configuration, cells, versions, sums of data and code, seeds
    DIR/cells/KEY.json    what a cell gave
    DIR/table.csv         mean, deviation, standard error, the published number
"""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from splice.display import csv_text
from splice.engines.choice import LOCAL, EngineChoice
from splice.errors import InputError, OutputError, Place, Problem, SpliceError, UnknownName
from splice.inputs.open import input_paths
from splice.io.documents import parse_json, parse_toml
from splice.io.outputs import sweep, write_text
from splice.io.text import files_in, read_text, sum_of
from splice.lab.experiments import active, completion, learning, scale
from splice.lab.experiments.grid import Cell, Progress, Result, digest, read_result, run_grid
from splice.lab.experiments.spec import ce_of, check_plain, datasets
from splice.lab.experiments.tables import Row, published, summarise
from splice.states import anything, check_state, each, mapping, record, text

KINDS: Final[dict[str, ModuleType]] = {
    "active": active,
    "completion": completion,
    "learning": learning,
    "scale": scale,
}
"""The kinds of experiments: a module with ``cells``, ``work``, the columns ``BY`` and ``MEASURES`` of its table,
and where numbers were published the ``series`` of each method."""

_FORMAT: Final = 1
_SHAPE: Final = record(
    **dict.fromkeys(("format", "work", "versions", "python", "machine", "data"), anything),
    name=text,
    configuration=mapping(anything),
    code=text,
    seeds=anything,
    cells=each(text),
    sha256=text,
)
_PACKAGE: Final = Path(__file__).resolve().parents[2]
_PACKAGES: Final = ("splice-cer", "numpy", "scipy", "polars", "numba")
_ELSEWHERE: Final = frozenset({"cli", "report", "__pycache__"})
"""Rooms that no result depends on."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """What an experiment's file says."""

    name: str
    configuration: dict[str, Any]

    @property
    def kind(self) -> ModuleType:
        """The module that says what the cells are and what is done for one."""
        kind = str(self.configuration.get("kind", "completion"))
        if kind not in KINDS:
            raise UnknownName("kind of experiment", kind, KINDS)
        return KINDS[kind]

    def reference(self, row: Row) -> Row:
        """Return the published number beside a row; nothing for kinds that have no published series."""
        task = self.kind.__name__.rpartition(".")[2]
        if not hasattr(self.kind, "series"):
            return {}
        series = self.kind.series(self.configuration).get(str(row["method"]), "")
        scope, level = str(row["scope"]), float(row["level"])
        number = published(ce_of(row["dataset"]), scope, series, level, task=task)
        if number is None:
            return {"series": "", "published": None, "published_sd": None}
        return {"series": series, "published": number.value, "published_sd": number.sd}

    def cells(self) -> list[Cell]:
        """Return the cells, in their order."""
        made: list[Cell] = self.kind.cells(self.configuration)
        if not made:
            raise SpliceError(
                "the experiment has no cells",
                "its grid needs datasets, and masks where labels are hidden",
            )
        return made


def load(path: Path) -> Experiment:
    """Read an experiment's file."""
    configuration = parse_toml(read_text(path), str(path))
    check_plain(configuration)
    return Experiment(path.stem, configuration)


def named(name: str) -> Path:
    """Return the file of an experiment: a path, or a name in the folder ``experiments``."""
    if Path(name).is_file():
        return Path(name)
    places = [Path("experiments"), _PACKAGE.parents[1] / "experiments"]
    files = {path.stem: path for place in reversed(places) for path in sorted(place.glob("*.toml"))}
    if name not in files:
        raise UnknownName("experiment", name, files)
    return files[name]


def start(
    experiment: Experiment,
    folder: Path,
    *,
    jobs: int = 2,
    engine: EngineChoice = LOCAL,
    force: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> list[Row]:
    """Run an experiment into a new folder and return its table; ``force`` replaces an old run."""
    cells = experiment.cells()
    manifest = _manifest(experiment, cells)
    _make_room(folder, force=force)
    write_text(folder / "manifest.json", json.dumps(manifest, indent=1) + "\n")
    try:
        return _finish(experiment, cells, folder, jobs, engine, progress)
    except SpliceError:
        if not any((folder / "cells").glob("*.json")):
            _forget(folder)  # nothing came of it: the folder is as it was
        raise


def resume(
    folder: Path,
    *,
    jobs: int = 2,
    engine: EngineChoice = LOCAL,
    progress: Callable[[Progress], None] | None = None,
) -> list[Row]:
    """Go on with a run that was interrupted, and return its table.

    Data and code must be those that it began with: results of different ones are not mixed.
    """
    manifest = _read_manifest(folder)
    experiment = Experiment(manifest["name"], manifest["configuration"])
    cells = experiment.cells()
    now = _manifest(experiment, cells)
    for what in ("data", "code", "cells"):
        if now[what] != manifest[what]:
            raise SpliceError(
                f"the {what} of '{folder}' changed after it began, so it cannot go on",
                "run it again with --force",
            )
    return _finish(experiment, cells, folder, jobs, engine, progress)


def rows_of(folder: Path) -> tuple[dict[str, Any], list[Row]]:
    """Return the manifest of a run, and the table of what it has computed so far."""
    manifest = _read_manifest(folder)
    experiment = Experiment(manifest["name"], manifest["configuration"])
    keys = [key for key in manifest["cells"] if (folder / "cells" / f"{key}.json").exists()]
    results = [read_result(key, folder / "cells") for key in keys]
    return manifest, _table(experiment, results)


def _finish(
    experiment: Experiment,
    cells: list[Cell],
    folder: Path,
    jobs: int,
    engine: EngineChoice,
    progress: Callable[[Progress], None] | None,
) -> list[Row]:
    if hasattr(experiment.kind, "JOBS"):  # what is timed is alone on this machine
        jobs, engine = experiment.kind.JOBS, LOCAL
    results = run_grid(cells, _work(experiment), folder / "cells", jobs, progress, engine)
    rows = _table(experiment, list(zip(cells, results, strict=True)))
    sweep(folder / "table.csv")
    write_text(folder / "table.csv", csv_text(rows))
    return rows


def _work(experiment: Experiment) -> str:
    """Return where the work on a cell is, as processes are told."""
    return f"{experiment.kind.__name__}:work"


def _table(experiment: Experiment, results: list[tuple[Cell, Result]]) -> list[Row]:
    kind = experiment.kind
    rows = summarise(results, kind.BY, kind.MEASURES, experiment.reference)
    return sorted(rows, key=_order(rows, kind.BY))


def _order(rows: list[Row], by: tuple[str, ...]) -> Callable[[Row], tuple[int, ...]]:
    """Return a key that sorts rows column by column, values in order of first appearance."""
    places = {name: list(dict.fromkeys(row[name] for row in rows)) for name in by}
    return lambda row: tuple(places[name].index(row[name]) for name in by)


def _make_room(folder: Path, *, force: bool) -> None:
    """Refuse a folder that holds anything; forced, empty it if it holds a run and nothing else."""
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"'{folder}' is not a folder", "choose another place")
    sweep(folder / "manifest.json")
    present = {path.name for path in folder.iterdir()} if folder.exists() else set()
    if present and not force:
        hint = "say --force to begin anew, or resume it" if "manifest.json" in present else ""
        raise OutputError(f"the folder '{folder}' is not empty", hint or "choose another folder")
    foreign = {name for name in present if not name.startswith(".")}
    foreign -= {"manifest.json", "cells", "table.csv"}
    if foreign or (present and "manifest.json" not in present):
        what = f"holds what is not of a run: '{min(foreign or present)}'"
        raise OutputError(f"the folder '{folder}' {what}", "choose another folder")
    if present:
        _forget(folder)
    folder.mkdir(parents=True, exist_ok=True)


def _forget(folder: Path) -> None:
    """Remove a run from its folder."""
    shutil.rmtree(folder / "cells", ignore_errors=True)
    (folder / "table.csv").unlink(missing_ok=True)
    (folder / "manifest.json").unlink()


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / "manifest.json"
    if not path.is_file():
        raise SpliceError(
            f"'{folder}' holds no run", "make one: splice experiment run NAME --out DIR"
        )
    try:
        manifest: dict[str, Any] = parse_json(read_text(path), str(path))
        whole = manifest["format"] == _FORMAT and manifest["sha256"] == _sum(manifest)
        check_state(manifest, _SHAPE)
    except (SpliceError, ValueError, TypeError, KeyError):
        whole = False
    if not whole:
        hint = "run the experiment again, into another folder"
        raise InputError(Problem(Place(str(path)), "this manifest is damaged", "", hint))
    return manifest


def _manifest(experiment: Experiment, cells: list[Cell]) -> dict[str, Any]:
    seeds = {cell.parameters["sample"] for cell in cells if "sample" in cell.parameters}
    manifest: dict[str, Any] = {
        "format": _FORMAT,
        "name": experiment.name,
        "configuration": experiment.configuration,
        "work": _work(experiment),
        "versions": {name: _version(name) for name in _PACKAGES},
        "python": platform.python_version(),
        "machine": {
            "system": platform.system(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
        },
        "data": {name: _data(name) for name in datasets(experiment.configuration)},
        "code": _code(),
        "seeds": sorted(seeds),
        "cells": list(dict.fromkeys(cell.key for cell in cells)),
    }
    return manifest | {"sha256": _sum(manifest)}


def _sum(manifest: Mapping[str, Any]) -> str:
    return digest({key: value for key, value in manifest.items() if key != "sha256"})


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _data(name: str) -> str:
    """Return the sum of all files of an input; what is simulated has none."""
    files = list(files_in(input_paths(name)))
    return sum_of(files) if files else "simulated"


def _code() -> str:
    """Return the sum of the code and the domains that results depend on."""
    return sum_of(
        (path, name)
        for path, name in files_in([_PACKAGE])
        if not _ELSEWHERE & set(Path(name).parts)
    )
