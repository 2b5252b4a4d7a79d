"""The grid runner: every cell once, in any order, killed or not, and nothing passed over."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from splice.errors import InputError, SpliceError
from splice.lab.experiments.grid import Cell, Progress, canonical, read_result, run_grid

TESTS = Path(__file__).resolve().parent

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(-1e9, 1e9) | st.text(max_size=5)
VALUES = LEAVES | st.lists(LEAVES, max_size=3)


def squares(count: int, **more: object) -> list[Cell]:
    return [Cell.of(x=x, **more) for x in range(count)]


# cells


@given(st.dictionaries(st.from_regex(r"[a-z]{1,5}", fullmatch=True), VALUES, max_size=4))
def test_a_cell_reads_back_and_its_key_does_not_depend_on_order(parameters: dict) -> None:
    cell = Cell.of(**parameters)
    assert cell.parameters == parameters
    turned = dict(reversed(parameters.items()))
    assert Cell.of(**turned).key == cell.key == Cell(canonical(cell.parameters)).key


def test_different_cells_have_different_keys() -> None:
    cells = [
        Cell.of(x=1),
        Cell.of(x="1"),
        Cell.of(x=[1]),
        Cell.of(y=1),
        Cell.of(x=1, y=1),
        Cell.of(),
    ]
    assert len({cell.key for cell in cells}) == len(cells)


# results


def test_two_processes_give_what_one_gives_in_the_order_of_the_cells(tmp_path: Path) -> None:
    cells = squares(5)
    random.Random(1).shuffle(cells)
    slow_first = [Cell.of(**{**c.parameters, "sleep": 0.02 * (5 - i)}) for i, c in enumerate(cells)]
    expected = [{"y": cell.parameters["x"] ** 2} for cell in cells]
    assert run_grid(slow_first, "grid_work:square", tmp_path / "two", jobs=2) == expected
    assert run_grid(slow_first, "grid_work:square", tmp_path / "one", jobs=1) == expected
    names = [{p.name: p.read_bytes() for p in (tmp_path / n).iterdir()} for n in ("one", "two")]
    assert names[0] == names[1]


def test_what_is_there_is_not_computed_again(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    cells = squares(4, trace=str(trace))
    run_grid(cells[:2], "grid_work:square", tmp_path / "cells", jobs=1)
    told: list[Progress] = []
    results = run_grid(
        [*cells, cells[0]], "grid_work:square", tmp_path / "cells", jobs=1, progress=told.append
    )
    assert [result["y"] for result in results] == [0, 1, 4, 9, 0]
    assert trace.read_text().split() == ["0", "1", "2", "3"]
    assert [(p.done, p.total, p.reused) for p in told] == [(3, 4, 2), (4, 4, 2)]
    assert told[0].left > 0 == told[1].left


@pytest.mark.parametrize(
    ("work", "said"),
    [
        ("fails_at_two", "unknown number 'two'"),
        ("breaks_at_two", "ZeroDivisionError at grid_work.py"),
        ("not_json", "ValueError"),
        ("not_there", "AttributeError"),
    ],
)
def test_a_failing_cell_is_named_and_the_others_are_kept(
    tmp_path: Path, work: str, said: str
) -> None:
    cells = squares(4)
    with pytest.raises(SpliceError, match="of 4 cells failed") as failed:
        run_grid(cells, f"grid_work:{work}", tmp_path, jobs=1)
    assert said in str(failed.value)
    assert cells[2].key in str(failed.value)
    assert "x=2" in str(failed.value)
    kept = {path.stem for path in tmp_path.iterdir()}
    at_two = {cell.key for cell in cells} - {cells[2].key}
    assert kept == (at_two if work.endswith("at_two") else set())


@pytest.mark.parametrize("work", ["fails_at_two", "dies_at_two"])
def test_a_failing_or_dying_process_does_not_lose_the_rest(tmp_path: Path, work: str) -> None:
    cells = squares(30)
    with pytest.raises(SpliceError, match="of 30 cells failed") as failed:
        run_grid(cells, f"grid_work:{work}", tmp_path, jobs=2)
    assert cells[2].key in str(failed.value)
    found = run_grid(cells, "grid_work:square", tmp_path, jobs=1)
    assert [result["y"] for result in found] == [x * x for x in range(30)]


def test_no_process_is_no_number_of_processes(tmp_path: Path) -> None:
    with pytest.raises(SpliceError, match="at least 1"):
        run_grid([], "grid_work:square", tmp_path, jobs=0)


# damage


@pytest.mark.parametrize("damage", ["", "{", "[]", "half", "value", "cell", "swap"])
def test_a_damaged_result_is_an_error_and_stays_as_it_is(tmp_path: Path, damage: str) -> None:
    cells = squares(2)
    run_grid(cells, "grid_work:square", tmp_path, jobs=1)
    path, other = (tmp_path / f"{cell.key}.json" for cell in cells)
    text = path.read_text()
    document = json.loads(text)
    bad = {
        "half": text[: len(text) // 2],
        "value": json.dumps(document | {"result": {"y": 5}}),
        "cell": json.dumps(document | {"cell": {"x": 7}}),
        "swap": other.read_text(),
    }.get(damage, damage)
    path.write_text(bad)
    with pytest.raises(InputError, match="damaged") as failed:
        run_grid(cells, "grid_work:square", tmp_path, jobs=1)
    assert str(path) in str(failed.value)
    assert "remove the file" in str(failed.value)
    assert path.read_text() == bad
    path.unlink()
    assert run_grid(cells, "grid_work:square", tmp_path, jobs=1) == [{"y": 0}, {"y": 1}]


def test_half_written_files_of_a_killed_run_are_swept_away(tmp_path: Path) -> None:
    (tmp_path / f".{'a' * 16}.json.xyz").write_text("{")
    (tmp_path / "notes.txt").write_text("mine")
    run_grid(squares(1), "grid_work:square", tmp_path, jobs=1)
    assert {p.name for p in tmp_path.iterdir()} == {"notes.txt", f"{squares(1)[0].key}.json"}


# killed


def test_killed_at_any_moment_it_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    cells = squares(30, sleep=0.02)
    program = (
        "from pathlib import Path; from test_grid import squares; "
        "from splice.lab.experiments.grid import run_grid; "
        f"run_grid(squares(30, sleep=0.02), 'grid_work:square', Path({str(tmp_path / 'killed')!r}), jobs=1)"
    )
    path = os.pathsep.join([str(TESTS), str(TESTS.parent / "src")])
    moments = random.Random(3)
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}
        )
        before = _count(tmp_path / "killed")
        while process.poll() is None and _count(tmp_path / "killed") < before + 2:
            time.sleep(0.005)
        time.sleep(moments.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
        for file in (tmp_path / "killed").glob("[!.]*.json"):
            read_result(file.stem, tmp_path / "killed")
    assert _count(tmp_path / "killed") >= 6
    results = run_grid(cells, "grid_work:square", tmp_path / "killed", jobs=1)
    assert results == run_grid(cells, "grid_work:square", tmp_path / "whole", jobs=1)
    files = [
        {p.name: p.read_bytes() for p in (tmp_path / n).iterdir()} for n in ("killed", "whole")
    ]
    assert files[0] == files[1]


def test_workers_do_not_outlive_a_killed_parent(tmp_path: Path) -> None:
    program = (
        "from pathlib import Path; from test_grid import squares; "
        "from splice.lab.experiments.grid import run_grid; "
        f"run_grid(squares(9, sleep=60, trace={str(tmp_path / 'trace')!r}), "
        f"'grid_work:square', Path({str(tmp_path / 'cells')!r}), jobs=2)"
    )
    path = os.pathsep.join([str(TESTS), str(TESTS.parent / "src")])
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
    )
    while not (tmp_path / "trace").exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    # The workers hold the other end of the pipe: it is read to its end when they are gone.
    out, _ = process.communicate(timeout=20)
    assert out == b""


def _count(folder: Path) -> int:
    return len(list(folder.glob("[!.]*.json"))) if folder.exists() else 0
