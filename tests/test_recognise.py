"""One front door to recognition: which engine answers, and what the answer looks like."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from splice import (
    Recognition,
    SpliceError,
    Theory,
    load_theory,
    make_plaza,
    open_input,
    parse_theory,
    recognise,
)
from splice.errors import UnknownName
from splice.events.crisp.program import compile_program
from splice.events.crisp.recognition import Recognised
from splice.events.crisp.recognition import recognise as recognise_crisp
from splice.events.recognise import interval_frame
from splice.events.weighted.inference import infer_events
from splice.io.intervals import INTERVAL_SCHEMA
from splice.stream.source import collect

SOFT = """
1.5 :: initiatedAt(on(X),T) :- happensAt(press(X),T).
2.5 :: terminatedAt(on(X),T) :- happensAt(release(X),T).
"""


@pytest.fixture
def lamp(tmp_path: Path) -> str:
    rows = ["1,press,a", "2,wait,a", "3,release,a", "4,wait,a", "5,press,a", "6,wait,a"]
    (tmp_path / "events.csv").write_text("\n".join(["time,event,arg1", *rows]))
    return str(tmp_path)


def test_rules_without_weights_are_recognised_crisply() -> None:
    plaza, theory = make_plaza(sequences=2, frames=200).source, load_theory("caviar-meet")
    found = recognise(theory, plaza)
    program = compile_program(theory, plaza.domain)
    assert found.inference is None
    assert found.intervals(["meet"]).equals(interval_frame(recognise_crisp(program, plaza)))
    assert recognise(theory, plaza.table, plaza.domain).intervals().equals(found.intervals())
    assert recognise(theory, plaza, window=10**6).intervals().equals(found.intervals())
    assert len(found) == found.intervals().height > 0


def test_weights_give_the_most_probable_intervals(lamp: str) -> None:
    theory, source = parse_theory(SOFT), open_input(lamp)
    found, wanted = recognise(theory, source, probabilities=True), infer_events(theory, source)
    table = found.intervals()
    assert found.inference is not None
    assert table.drop("probability").equals(
        interval_frame([Recognised(wanted.fluents, wanted.intervals)])
    )
    assert table["probability"].is_between(0.5, 1).all()
    assert recognise(theory, source).intervals().equals(table.drop("probability"))


@pytest.mark.parametrize("probabilities", [False, True])
def test_a_theory_without_rules_says_that_nothing_holds(lamp: str, *, probabilities: bool) -> None:
    found = recognise(Theory(), open_input(lamp), probabilities=probabilities)
    added = {"probability": pl.Float64} if probabilities else {}
    assert found.intervals().schema == pl.Schema({**INTERVAL_SCHEMA, **added})
    assert not found.intervals(["on"]).height


def test_what_does_not_go_together_is_refused(lamp: str) -> None:
    source, crisp = open_input(lamp), load_theory("caviar-meet")
    with pytest.raises(SpliceError, match="no weights"):
        recognise(crisp, source, probabilities=True)
    with pytest.raises(SpliceError, match="without weights"):
        recognise(parse_theory(SOFT), source, window=5)
    with pytest.raises(SpliceError, match="there is none"):
        recognise(crisp, source, step=5)
    with pytest.raises(UnknownName, match="of"):
        recognise(
            parse_theory(SOFT.replace("1.5 :: ", "").replace("2.5 :: ", "")), source
        ).intervals(["of"])


def test_bad_data_is_told_even_where_there_are_no_rules(tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("time,event\nsoon,press\n")
    with pytest.raises(SpliceError, match="non-integer time"):
        recognise(Theory(), open_input(str(tmp_path)))


def test_an_answer_says_what_it_is(lamp: str) -> None:
    found = recognise(parse_theory(SOFT), open_input(lamp))
    assert repr(found) == "<Recognition of on: 2 intervals, most probable>"
    assert repr(Recognition(())) == "<Recognition of nothing: 0 intervals, crisp>"
    assert "<table" in found._repr_html_()
    assert len(collect(open_input(lamp))) == 6
