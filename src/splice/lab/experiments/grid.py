"""A grid of cells, each computed once: cached, resumable, in several processes.

A cell is what a computation depends on, seed included. Its result is written under its key as
soon as it is there, whole or not at all, so a run may be killed at any moment and go on later.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeAlias

from splice.engines.choice import LOCAL, EngineChoice, check_choice, chosen_engine
from splice.engines.engine import WorkerLost
from splice.errors import InputError, Place, Problem, SpliceError
from splice.io.documents import parse_json
from splice.io.outputs import write_text
from splice.io.text import read_text

Result: TypeAlias = dict[str, Any]
"""What a cell gave: plain JSON."""

_FORMAT: Final = 1
_SHOWN: Final = 3
"""So many failed cells are told one by one."""
_LATELY: Final = 41
"""So many ends of cells give the pace: forty cells, since early ones also pay for what is read once."""
_PARTIAL: Final = re.compile(r"\.[0-9a-f]{16}\.json\..+")
"""What a result is called while it is being written (see :func:`~splice.io.outputs.new_file`)."""


def canonical(value: object) -> str:
    """Return JSON in one spelling: equal values give equal texts.

    >>> canonical({"b": 1, "a": [True, None]})
    '{"a":[true,null],"b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(value: object) -> str:
    """Return the SHA-256 sum of a value's canonical JSON."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Cell:
    """Everything that a computation depends on, as plain JSON; equal cells have equal keys.

    >>> cell = Cell.of(level=5, sample=0)
    >>> cell.key, cell == Cell.of(sample=0, level=5)
    ('e2d39a1a40b09196', True)
    """

    text: str

    @classmethod
    def of(cls, **parameters: Any) -> Cell:
        """Make a cell of named parameters."""
        return cls(canonical(parameters))

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters, by name."""
        parsed: dict[str, Any] = json.loads(self.text)
        return parsed

    @property
    def key(self) -> str:
        """The name of the cell's result: half of the sum of its text."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    def __str__(self) -> str:
        simple = (f"{k}={v}" for k, v in self.parameters.items() if not isinstance(v, dict | list))
        return f"cell {self.key} ({', '.join(simple)})"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a grid is."""

    done: int
    total: int
    reused: int
    seconds: float
    pace: float
    """The seconds that a cell has taken lately."""

    @property
    def left(self) -> float:
        """The seconds that are left, if the rest takes as long as the latest cells."""
        return self.pace * (self.total - self.done)


def run_grid(
    cells: Sequence[Cell],
    work: str,
    folder: Path,
    jobs: int = 2,
    progress: Callable[[Progress], None] | None = None,
    engine: EngineChoice = LOCAL,
) -> list[Result]:
    """Compute the cells that have no result yet; return all results in the order of the cells.

    Where work fails, the other cells are still computed and kept, and the error names the ones that
    failed. A damaged result is an error, too: nothing is computed again unless its file is removed.

    Parameters
    ----------
    cells
        What is computed; equal cells once.
    work
        A function, as ``module:name``, from a cell's parameters to its result.
    folder
        Where results are kept, by key.
    jobs
        How many processes work.
    progress
        Called after each cell.
    engine
        Who works.
    """
    if jobs < 1:
        raise SpliceError(f"the number of processes must be at least 1, not {jobs}")
    folder.mkdir(parents=True, exist_ok=True)
    _sweep(folder)
    distinct = {cell.key: cell for cell in cells}
    finished = [key for key in distinct if (folder / f"{key}.json").exists()]
    results = {key: read_result(key, folder)[1] for key in finished}
    missing = [cell for key, cell in distinct.items() if key not in results]
    reused, failed = len(results), list[str]()
    ends = deque([time.monotonic()], maxlen=_LATELY)
    begun = ends[0]
    for cell, result, trouble in _computed(missing, work, folder.resolve(), jobs, engine):
        if result is None:
            failed.append(f"{cell}: {trouble}")
            continue
        results[cell.key] = result
        ends.append(time.monotonic())
        if progress:
            pace = (ends[-1] - ends[0]) / (len(ends) - 1)
            progress(Progress(len(results), len(distinct), reused, ends[-1] - begun, pace))
    if failed:
        more = [f"... and {len(failed) - _SHOWN} more"] if len(failed) > _SHOWN else []
        raise SpliceError(
            "\n".join([f"{len(failed)} of {len(distinct)} cells failed", *failed[:_SHOWN], *more]),
            "the results of the others are kept; mend the cause and resume, "
            "or, where the experiment's file is the cause, run it again with --force",
        )
    return [results[cell.key] for cell in cells]


def read_result(key: str, folder: Path) -> tuple[Cell, Result]:
    """Return a cell and its result, or say that the file is damaged."""
    path = folder / f"{key}.json"
    try:
        document = parse_json(read_text(path), str(path))
        cell, result = Cell(canonical(document["cell"])), document["result"]
        whole = document["sha256"] == digest([document["cell"], result])
        whole = whole and document["format"] == _FORMAT and cell.key == key
    except (SpliceError, ValueError, TypeError, KeyError):
        whole = False
    if not whole:
        hint = "remove the file and resume: its cell is then computed again"
        raise InputError(Problem(Place(str(path)), "this result is damaged", "", hint))
    return cell, result


def _sweep(folder: Path) -> None:
    """Remove what a killed run left half-written; it never had its final name."""
    for path in folder.iterdir():
        if _PARTIAL.fullmatch(path.name):
            path.unlink(missing_ok=True)


_Outcome: TypeAlias = tuple[Result | None, str]


def _computed(
    cells: Sequence[Cell], work: str, folder: Path, jobs: int, engine: EngineChoice
) -> Iterator[tuple[Cell, Result | None, str]]:
    """Yield each cell with its result, or with what went wrong."""
    if not cells:
        return
    check_choice(engine, len(cells) + 1)
    with chosen_engine(engine, min(jobs, len(cells))) as workers:
        promises = [workers.submit(_compute, cell, work, folder) for cell in cells]
        for cell, promise in zip(cells, promises, strict=True):
            try:
                (outcome,) = workers.results([promise])
            except WorkerLost as error:
                outcome = None, error.message
            yield cell, *outcome


def _compute(cell: Cell, work: str, folder: Path) -> _Outcome:
    """Compute a cell and write its result; what goes wrong comes back as text."""
    try:
        result = _function(work)(cell.parameters)
        _write(cell, result, folder)
    except SpliceError as error:
        return None, str(error)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.lineno}"
        return None, f"{type(error).__name__} at {place}: {error}"
    return read_result(cell.key, folder)[1], ""


def _function(work: str) -> Callable[[Mapping[str, Any]], Result]:
    module, _, name = work.partition(":")
    function: Callable[[Mapping[str, Any]], Result] = getattr(import_module(module), name)
    return function


def _write(cell: Cell, result: Result, folder: Path) -> None:
    parameters = cell.parameters
    document = {
        "format": _FORMAT,
        "cell": parameters,
        "result": result,
        "sha256": digest([parameters, result]),
    }
    write_text(folder / f"{cell.key}.json", json.dumps(document, indent=1) + "\n")
