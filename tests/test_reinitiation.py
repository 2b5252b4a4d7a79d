"""How often fluents are initiated again while they hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from command import Command
from splice.evaluation.reinitiation import Basis, reinitiation_rates
from splice.events.crisp.program import compile_program
from splice.inputs.open import open_input
from splice.inputs.theories import load_theory
from splice.logic.syntax import parse_theory
from splice.stream.source import Source

RULES = """
initiatedAt(on(X),T) :- happensAt(press(X),T).
initiatedAt(on(X),T) :- happensAt(press(X),T), happensAt(hard(X),T).
terminatedAt(on(X),T) :- happensAt(release(X),T).
holdsFor(lit(X),I) :- holdsFor(on(X),I1), longer_than(I1,1,I).
"""


def rates(rules: str, source: Source) -> dict[Basis, tuple[int, int]]:
    program = compile_program(parse_theory(rules), source.domain)
    found = reinitiation_rates(program, source)
    assert {rate.fluent for rate in found} == {"on"}
    return {rate.basis: (rate.initiated, rate.points) for rate in found}


def write(folder: Path, steps: list[str], labels: list[str]) -> Path:
    """Write one lamp: what happens at each time-point, and its label there."""
    lines = ["On_A = on(A)", *(f"{e.title()}_A = {e}(A)" for e in ("press", "hard", "release"))]
    for time, (step, label) in enumerate(zip(steps, labels, strict=True)):
        lines += [f"Happens({event.title()}_A, {time})" for event in step.split()]
        lines += [f"{label}HoldsAt(On_A, {time})"] * (label in ("", "!"))
        lines.append(f"Tick({time})")
    path = folder / "lamp.db"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_points_of_labelled_and_of_recognised_intervals(tmp_path: Path) -> None:
    steps = ["", "press", "", "press hard", "press", "release", "press", ""]
    labels = ["!", "!", "", "", "!", "", "!", ""]
    source = open_input(str(write(tmp_path, steps, labels)))
    found = rates(RULES, source)
    assert found[Basis.LABELLED] == (1, 4), "at 3, of 2, 3, 5 and 7"
    assert found[Basis.RECOGNISED] == (2, 5), "at 3 and 4, of 2 to 5 and 7"


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "press", "release", "press release"]), st.sampled_from(["", "!"])
        ),
        min_size=1,
        max_size=12,
    )
)
def test_rates_equal_counting_by_hand(
    tmp_path_factory: pytest.TempPathFactory, moments: list[tuple[str, str]]
) -> None:
    steps, labels = zip(*moments, strict=True)
    folder = tmp_path_factory.mktemp("lamp")
    found = rates(RULES, open_input(str(write(folder, list(steps), list(labels)))))
    held, on = [], False
    for step in steps:
        held.append(on)
        on = (on or "press" in step) and "release" not in step
    for basis, holds in {
        Basis.LABELLED: [label == "" for label in labels],
        Basis.RECOGNISED: held,
    }.items():
        again = [h and "press" in step for h, step in zip(holds, steps, strict=True)]
        assert found[basis] == (sum(again), sum(holds))


@pytest.mark.parametrize(("ce", "expected"), [("meet", (2908, 3622)), ("move", (3720, 6272))])
def test_caviar(
    ce: str, expected: tuple[int, int], shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """80 % and 59 % of the annotated points, where the paper has 83 % and 65 %."""
    monkeypatch.setenv("SPLICE_DATA", str(shared_data))
    source = open_input(f"caviar-{ce}")
    program = compile_program(load_theory(f"caviar-{ce}"), source.domain)
    labelled, _ = reinitiation_rates(program, source)
    assert (labelled.initiated, labelled.points) == expected


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    splice = Command(capsys)
    data = write(tmp_path, ["press", "press", "release"], ["!", "", ""])
    rules = tmp_path / "lamp.rules"
    rules.write_text(RULES)
    ran = splice("theory", "rates", rules, data, "--format", "json")
    assert ran.code == 0
    rows = json.loads(ran.out)["rates"]
    assert [(row["intervals"], row["rate"]) for row in rows] == [
        ("labelled", 0.5),
        ("recognised", 0.5),
    ]
    assert "nothing initiates lit/1" in ran.err
    rules.write_text("1.5 :: " + RULES.strip().splitlines()[0] + "\n")
    ran = splice("theory", "rates", rules, data)
    assert (ran.code, "has weights" in ran.err) == (1, True)
