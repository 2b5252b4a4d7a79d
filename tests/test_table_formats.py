"""A format of tables is one class: what knows it, and the page that adds one from outside."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import IO

import polars as pl
import pytest

from splice.cli import main
from splice.errors import OutputError, SpliceError, UnknownName
from splice.inputs.languages import written_formats
from splice.inputs.open import open_input
from splice.inputs.write import format_of_input, write_source
from splice.io.intervals import read_intervals, write_intervals
from splice.io.tables import write_tables
from splice.io.tables.csv_table import Csv
from splice.io.tables.files import FORMATS, format_names, format_of, register
from splice.io.tables.frames import CHUNK_ROWS, Table, TableFormat
from splice.lab.plaza import make_plaza
from splice.limits import LIMITS, Limits
from splice.stream.mask import KeepAtoms, MaskedSource
from splice.stream.source import Source, collect
from splice.stream.vocabulary import EQUALS

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs/how-to/extend.md").read_text("utf-8")
LETTERS = str.maketrans("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm")


class Shifted(TableFormat):
    """CSV whose small letters are shifted by thirteen: nobody else can read it."""

    name = "shifted"
    endings = (".rot13",)

    def open(self, path: Path, *, chunk_rows: int = CHUNK_ROWS, limits: Limits = LIMITS) -> Table:
        plain = path.with_name(f"{path.name}.plain.csv")
        plain.write_text(path.read_text("utf-8").translate(LETTERS), "utf-8")
        return Csv().open(plain, chunk_rows=chunk_rows, limits=limits)

    def write(self, frame: pl.LazyFrame, target: Path | IO[bytes]) -> None:
        data = frame.collect().write_csv().translate(LETTERS).encode()
        if isinstance(target, Path):
            target.write_bytes(data)
        else:
            target.write(data)


@pytest.fixture
def shifted() -> Iterator[None]:
    register(Shifted)
    yield
    del FORMATS["shifted"]


def atoms(source: Source) -> list[str]:
    table = collect(source)
    names = table.vocabulary.sequences
    return sorted(
        f"{names[int(table.sequence[row])]} {table.truth[row]} {table.atom(row)}"
        for row in range(len(table))
        if table.atom(row).predicate != EQUALS  # evidence files name terms by constants
    )


@pytest.mark.usefixtures("shifted")
def test_a_format_from_outside_is_read_and_written_everywhere(tmp_path: Path) -> None:
    square = make_plaza(sequences=2, people=2, frames=30, seed=3).source
    write_source(square, tmp_path / "out", "shifted")
    assert {path.name for path in (tmp_path / "out").glob("*.rot13")} == {
        "events.rot13", "labels.rot13",
    }  # fmt: skip
    assert "gvzr" in (tmp_path / "out/events.rot13").read_text("utf-8")
    assert atoms(open_input(tmp_path / "out")) == atoms(square)
    assert atoms(open_input(tmp_path / "out/events.rot13"))
    assert format_of_input(str(tmp_path / "out")) == "shifted"
    frame = pl.DataFrame({"sequence": ["s"], "fluent": ["meet(a,b)"], "start": [1], "end": [4]})
    write_intervals(frame, tmp_path / "found.rot13")
    assert str(read_intervals(tmp_path / "found.rot13").fluent(0)) == "meet(a,b)"


@pytest.mark.parametrize("style", list(written_formats()))
def test_every_format_that_holds_labels_gives_back_what_was_written(
    tmp_path: Path, style: str
) -> None:
    square = MaskedSource(
        make_plaza(sequences=2, people=2, frames=30, seed=4).source, KeepAtoms(50)
    )
    left_out = write_source(square, tmp_path / "out", style)
    again = open_input(tmp_path / "out")
    if written_formats()[style].labelled:
        assert left_out == 0
        assert atoms(again) == atoms(square)
        assert format_of_input(str(tmp_path / "out")) == style
    else:
        assert left_out > 0
        assert format_of_input(str(tmp_path / "out")) == format_names()[0]


def test_a_name_or_an_ending_is_taken_once() -> None:
    for name, endings in (("csv", (".psv",)), ("psv", (".psv", ".csv"))):
        double = type("Double", (Csv,), {"name": name, "endings": endings})
        with pytest.raises(SpliceError, match=f"there is a format '{name}' already"):
            register(double)
    assert format_of(Path("a.psv")) is None


def test_unknown_formats_are_told(tmp_path: Path) -> None:
    source = make_plaza(sequences=1, people=2, frames=5, seed=1).source
    with pytest.raises(UnknownName, match="unknown format 'parket'\nhint: did you mean 'parquet'"):
        write_source(source, tmp_path / "out", "parket")
    with pytest.raises(OutputError, match="unknown format 'json'"):
        write_tables(source, tmp_path, "json")
    assert not (tmp_path / "out").exists()


def test_the_format_of_the_page_runs(tmp_path: Path) -> None:
    """The program that the page shows converts, learns and recognises; CSV gives the same rules."""
    (program,) = re.findall(
        r'^```python title="arrow.py"\n(.*?)^```$', PAGE, re.DOTALL | re.MULTILINE
    )
    commands = re.findall(r"^\$ (python arrow.py .*)$", PAGE, re.MULTILINE)
    assert len(commands) == 3
    (tmp_path / "arrow.py").write_text(program, "utf-8")
    square = make_plaza(sequences=2, people=3, frames=120, seed=5).source
    write_source(square, tmp_path / "masked", "csv")
    for command in commands:
        words = [sys.executable, *shlex.split(command)[1:]]
        done = subprocess.run(words, check=False, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    with chdir(tmp_path), pytest.raises(SystemExit) as ended:
        main(["learn", "masked", "--out", "csv.rules", "--quiet"])
    assert not ended.value.code
    events = pl.read_csv(tmp_path / "masked/events.csv", infer_schema=False)
    found = pl.read_ipc(tmp_path / "arrows/events.arrow")
    assert found.cast(pl.String).equals(events)
    assert pl.read_ipc(tmp_path / "meets.feather").height
    learned = [(tmp_path / name).read_text("utf-8") for name in ("arrows.rules", "csv.rules")]
    rules = [[line for line in text.splitlines() if ":-" in line] for text in learned]
    assert rules[0]
    assert rules[0] == rules[1]
