"""From moments to time-points: states between two events, and a grid."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from contextlib import chdir
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import splice
from splice.completion.mode import Mode
from splice.errors import SpliceError
from splice.evaluation.recognition import score
from splice.events.recognise import recognise
from splice.inputs.open import InputOptions, Queries, open_input
from splice.logic.syntax import parse_atom
from splice.pipeline.learned import LearnOptions
from splice.stream.source import collect
from splice.stream.states import EventPattern, StatePair, switched
from splice.stream.table import AtomTable
from splice.stream.timeline import without_ticks
from splice.stream.vocabulary import Kind, Vocabulary

PAGE = Path(__file__).resolve().parent.parent / "docs/tutorial/your-own-data.md"
Row = tuple[int, str, str]
STATES = '[states]\non = "*_on"\noff = "*_off"\n[time]\nstep = 1\n'
DENSE = st.sets(
    st.tuples(st.integers(0, 12), st.sampled_from(["near", "up"]), st.sampled_from(["a", "b"])),
    min_size=1,
)


def write(folder: Path, rows: Iterable[Row], domain: str = "") -> None:
    folder.mkdir(exist_ok=True)
    with (folder / "events.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("time", "event", "arg1"), *sorted(rows)])
    if domain:
        (folder / "domain.toml").write_text(domain)


def atoms(folder: Path, **options: str) -> set[str]:
    source = open_input(str(folder), InputOptions(**options), queries=Queries.WRITTEN)  # type: ignore[arg-type]
    return {str(atom) for atom in without_ticks(collect(source)).atoms()}


def changes(rows: set[Row]) -> set[Row]:
    """Return only what changes; a last event keeps the end of the recording."""
    begun = {(t, f"{e}_on", a) for t, e, a in rows if (t - 1, e, a) not in rows}
    ended = {(t + 1, f"{e}_off", a) for t, e, a in rows if (t + 1, e, a) not in rows}
    return begun | ended


@settings(max_examples=60, deadline=None)
@given(DENSE)
def test_changes_and_back_are_the_dense_stream(tmp_path_factory: object, rows: set[Row]) -> None:
    folder = tmp_path_factory.mktemp("t")  # type: ignore[attr-defined]
    write(folder / "dense", rows)
    write(folder / "raw", changes(rows), STATES)
    assert atoms(folder / "raw") == atoms(folder / "dense")


@settings(max_examples=40, deadline=None)
@given(DENSE)
def test_a_grid_changes_nothing_in_a_regular_stream(
    tmp_path_factory: object, rows: set[Row]
) -> None:
    folder = tmp_path_factory.mktemp("t")  # type: ignore[attr-defined]
    write(folder / "dense", {(5 * t, e, a) for t, e, a in rows})
    assert atoms(folder / "dense", every="5") == atoms(folder / "dense")


def test_a_switch_may_be_told_by_the_first_constant_that_there_is() -> None:
    vocabulary = Vocabulary()
    code = vocabulary.kind(Kind(parse_atom("happensAt(sensor(V0),V1)"), ("mode", "time"), 1))
    args = vocabulary.constants.codes(["on", "off"])[:, None]
    assert args[0] == 0
    events = AtomTable.of_kind(vocabulary, code, np.zeros(2, int), np.array([1, 3]), args)
    on, off = map(EventPattern.parse, ("sensor(on)", "sensor(off)"))
    spans, switching = switched(events, [StatePair(on, off, "busy")])
    assert (spans.table.time.tolist(), spans.end.tolist()) == ([1], [3])
    assert switching.all()


def test_what_lies_before_a_time_point_belongs_to_it(tmp_path: Path) -> None:
    write(tmp_path / "log", {(61, "up", "a"), (120, "up", "a"), (121, "down", "a")})
    assert atoms(tmp_path / "log", every="1min", time_unit="s") == {
        "happensAt(up(a),120)",
        "happensAt(down(a),180)",
    }


def test_what_is_switched_off_first_was_on_and_a_pulse_is_kept(tmp_path: Path) -> None:
    rows = {
        (5, "up_off", "b"),
        (20, "near_off", "a"),
        (31, "up_on", "a"),
        (39, "up_off", "a"),
        (60, "near_on", "b"),
    }
    write(tmp_path / "log", rows, STATES.replace("step = 1", "step = 10"))
    assert atoms(tmp_path / "log") == {
        "happensAt(near(a),10)",
        "happensAt(up(a),40)",
        "happensAt(near(b),60)",
    }


def test_events_with_a_beginning_and_an_end(tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("start,end,event,arg1\n1,3,open,door\n2,5,near,bob\n")
    assert atoms(tmp_path, every="1") == {
        "happensAt(open(door),1)",
        "happensAt(open(door),2)",
        "happensAt(near(bob),2)",
        "happensAt(near(bob),3)",
        "happensAt(near(bob),4)",
    }


@pytest.mark.parametrize("mode", list(Mode))
def test_the_warehouse_as_a_raw_log(tmp_path: Path, mode: Mode) -> None:
    """Only changes are kept of the tutorial's events: rules are as good as from the dense ones.

    Online that is 0.969.
    """
    _warehouse(tmp_path)
    dense = _f1(tmp_path, mode)
    for name in ("week", "friday"):
        _keep_changes(tmp_path / name)
        (tmp_path / name / "domain.toml").write_text(STATES)
    raw = _f1(tmp_path, mode)
    assert abs(raw - dense) < 0.03
    assert mode is not Mode.ONLINE or raw > 0.969 - 0.03


@pytest.mark.parametrize("mode", list(Mode))
def test_the_warehouse_with_labels_of_what_holds_alone(tmp_path: Path, mode: Mode) -> None:
    """Exhaustive labels of what holds are as good as both sorts; of one sort nothing is learned."""
    _warehouse(tmp_path)
    both = _f1(tmp_path, mode)
    labels = tmp_path / "week" / "labels.csv"
    rows = labels.read_text().splitlines(keepends=True)
    labels.write_text("".join(row for row in rows if not row.endswith("false\n")))
    with pytest.raises(SpliceError, match="no false label"):
        _f1(tmp_path, mode)
    assert abs(_f1(tmp_path, mode, InputOptions(exhaustive=True)) - both) < 0.03


def _warehouse(folder: Path) -> None:
    """Make the data of the tutorial."""
    (program,) = re.findall(
        r'```python title="warehouse.py"\n(.*?)```', PAGE.read_text(), re.DOTALL
    )
    with chdir(folder):
        exec(program, {})


def _f1(folder: Path, mode: Mode, options: InputOptions | None = None) -> float:
    theory = splice.learn(str(folder / "week"), options, LearnOptions(mode=mode)).theory
    friday = open_input(str(folder / "friday"), queries=Queries.WRITTEN)
    return score(friday, recognise(theory, friday)).total.f1


def _keep_changes(folder: Path) -> None:
    with (folder / "events.csv").open() as file:
        header, *rows = csv.reader(file)
    seen: dict[str, set[tuple[int, str, str]]] = {}
    for sequence, time, event, *args in rows:
        seen.setdefault(sequence, set()).add((int(time), event, ",".join(args)))
    with (folder / "events.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for sequence, moments in seen.items():
            for time, event, args in sorted(changes(moments)):
                writer.writerow((sequence, time, event, *args.split(",")))
