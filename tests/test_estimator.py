"""The Python door says what the command says, for every kind of frame."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shifts
import splice
from splice.cli import main

Rows = list[dict[str, Any]]


def as_relation(rows: Rows) -> Any:
    import duckdb  # kept out of the module: what tests hold at their end, it takes for leaks

    return duckdb.from_arrow(pa.Table.from_pylist(rows))


KINDS: dict[str, Callable[[Rows], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars, lazy": pl.LazyFrame,
    "arrow": pa.Table.from_pylist,
    "duckdb": as_relation,
}


def rows_of(frame: Any) -> Rows:
    """Return a frame of any kind as rows."""
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    return pl.DataFrame(frame).to_dicts()


def run(*words: object) -> None:
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    assert not ended.value.code


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the command makes of the same rows in files: rules, intervals and completed labels."""
    folder = tmp_path_factory.mktemp("files")
    for name, (events, labels) in (("week", shifts.week()), ("friday", shifts.friday())):
        (folder / name).mkdir()
        pl.DataFrame(events).write_csv(folder / name / "events.csv")
        pl.DataFrame(labels).write_csv(folder / name / "labels.csv")
    run("learn", folder / "week", "--out", folder / "week.rules", "--quiet")
    run("recognise", folder / "week.rules", folder / "friday", "--out", folder / "found.csv")
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_frames_give_what_files_give_byte_for_byte(kind: str, files: Path) -> None:
    make = KINDS[kind]
    events, labels = shifts.week()
    model = splice.RuleLearner().fit(make(events), make(labels))
    written = (files / "week.rules").read_text("utf-8")
    assert "initiatedAt" in str(model)
    assert written.endswith(f"\n\n{model}\n")
    found = model.predict(make(shifts.friday()[0]))
    assert type(found) is type(make(events))
    assert pl.DataFrame(rows_of(found)).write_csv() == (files / "found.csv").read_text("utf-8")
