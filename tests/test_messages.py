"""What the command says on its way: progress without a terminal, rules in words, misspelt events."""

from __future__ import annotations

import json
import re
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from splice.cli import console, main
from splice.cli.learn import print_hints
from splice.cli.progress import RunProgress
from splice.events.theory_check import SeenAtoms, unmatched
from splice.inputs.open import InputOptions
from splice.learners.registry import LEARNERS
from splice.logic.syntax import parse_rule, parse_theory
from splice.logic.words import in_words
from splice.pipeline.learned import LearnOptions
from splice.pipeline.progress import Stage, follow
from splice.pipeline.run import learn
from streams import CLOSE, WALKING, table_of


def test_progress_is_told_in_lines_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(console, "_LINE_EVERY", 0.0)
    assert list(console.tracked(range(4), "reading", 4)) == [0, 1, 2, 3]
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" after ")[0] for line in lines] == [
        f"reading: {i} of 4, {25 * i}%" for i in range(1, 5)
    ]
    monkeypatch.setattr(console.settings, "quiet", True)
    assert len(list(console.tracked(range(3), "reading"))) == 3
    assert not capsys.readouterr().err


def test_progress_is_quiet_for_ten_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    list(console.tracked(range(1000), "reading"))
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (
            "terminatedAt(up(X),T) :- happensAt(a(X),T), happensAt(b(X),T), happensAt(c,T).",
            "up(X) ends when a(X), b(X) and c happen",
        ),
        (
            "initiatedAt(up(X),T) :- happensAt(speed(X,N),T), N>=12, not holdsAt(down(X),T).",
            "up(X) begins when speed(X,N) happens, N is at least 12 and down(X) does not hold",
        ),
        (
            "initiatedAt(meet(X,Y),T) :- close(X,Y,24,T).",
            "meet(X,Y) begins when close(X,Y,24) holds",
        ),
        (
            "initiatedAt(up(X),T) :- happensAt(speed(X,N),T), N=<12, X\\=a.",
            "up(X) begins when speed(X,N) happens, N is at most 12 and X is not a",
        ),
        ("initiatedAt(up(X),T).", "up(X) begins at every time-point"),
    ],
)
def test_a_rule_in_words(rule: str, words: str) -> None:
    assert in_words(parse_rule(rule)) == words


def test_conditions_that_nothing_matches_are_told() -> None:
    seen = SeenAtoms()
    seen.add(table_of([(0, 1, WALKING, ("A",), 1), (0, 1, CLOSE, ("A", "B", "34"), 1)]))
    theory = parse_theory(
        "initiatedAt(up(X),T) :- happensAt(walkin(X),T), happensAt(walking(X),T), X != a, fluent(up(X))."
        "terminatedAt(up(X),T) :- not happensAt(zzz,T), happensAt(start(up(X)),T)."
        "terminatedAt(up(X),T) :- close(X,Y,34,T), clos(X,Y,34,T), happensAt(walkin(X),T)."
    )
    assert list(unmatched(theory, seen)) == [
        "no event walkin/1 in the input; did you mean 'walking/1'?",
        "no event zzz/0 in the input",
        "no atom clos/4 in the input; did you mean 'close/4'?",
    ]


def test_the_share_done_is_not_of_what_a_stage_left_early_had(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(console, "_LINE_EVERY", 0.0)
    progress = RunProgress()
    held_out = follow(range(9), Stage.HOLD_OUT, progress)
    next(held_out)
    next(held_out)
    held_out.close()  # a sample is enough
    list(follow(range(9), Stage.COUNT, progress))
    assert "%" not in capsys.readouterr().err
    list(follow(range(9), Stage.LEARN, progress))
    assert "9 of 9, 100%" in capsys.readouterr().err


def test_stages_that_are_short_tell_of_themselves_where_together_they_are_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds = count(0.0, 1.0)
    monkeypatch.setattr(console.time, "monotonic", lambda: next(seconds))
    progress = RunProgress()
    for _ in range(6):
        list(follow(range(4), Stage.COUNT, progress))  # some five seconds each
    assert 2 <= len(capsys.readouterr().err.splitlines()) <= 4


def test_where_nothing_was_learned_other_options_are_tried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # press makes the lamp lit two times out of five: too seldom for the usual score.
    rows = [(t, "press" if t % 10 == 1 else "idle") for t in range(400)]
    events = "".join(f"{t},{name},a\n" for t, name in rows)
    lit = [t % 50 in (2, 12) for t in range(400)]
    labels = "".join(f"lit(a),{t},{'true' if on else 'false'}\n" for t, on in enumerate(lit))
    (tmp_path / "events.csv").write_text(f"time,event,arg1\n{events}", "utf-8")
    (tmp_path / "labels.csv").write_text(f"fluent,time,label\n{labels}", "utf-8")
    data, options, choices = str(tmp_path), InputOptions(), LearnOptions(profile=None)
    learned = learn(data, options, choices)
    assert not learned.rules
    print_hints(data, options, choices, learned)
    told = capsys.readouterr().err
    low = learn(data, options, LearnOptions(None, LEARNERS.choose("oled", min_score=0.3)))
    assert low.rules
    assert f"--min-score 0.3 gives {len(low.rules)} rule" in told


def test_what_is_tried_says_how_good_it_is_and_the_other_convention_is_tried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # lit is every tenth point by chance, and nothing is seen that tells of it.
    rng = np.random.default_rng(1)
    events = "".join(f"{t},{'xyz'[rng.integers(3)]},a\n" for t in range(400))
    labels = "".join(
        f"lit(a),{t},{'true' if rng.random() < 0.1 else 'false'}\n" for t in range(400)
    )
    (tmp_path / "events.csv").write_text(f"time,event,arg1\n{events}", "utf-8")
    (tmp_path / "labels.csv").write_text(f"fluent,time,label\n{labels}", "utf-8")
    data, options = str(tmp_path), InputOptions()
    learned = learn(data, options)
    assert not learned.rules
    print_hints(data, options, LearnOptions(), learned)
    told = capsys.readouterr().err
    assert "--holds from" in told
    assert "--passes" not in told
    assert re.search(r"gives \d+ rules? \(F1 on labels held out 0\.\d{3}\)", told)


def test_a_rule_below_the_least_score_says_why_it_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The lamp is lit for ten points after three of four presses: a rule for it is right when it
    # speaks and silent at most lit points, so that its score is low.
    events = "".join(f"{t},{'press' if t % 20 == 1 else 'idle'},a\n" for t in range(800))
    off = "".join(f"{t},dark,a\n" for t in range(12, 800, 20))
    rows = sorted((events + off).splitlines(), key=lambda row: int(row.split(",")[0]))
    lit = [t % 20 in range(2, 13) and t % 80 > 19 for t in range(800)]
    labels = "".join(f"lit(a),{t},{'true' if on else 'false'}\n" for t, on in enumerate(lit))
    (tmp_path / "events.csv").write_text("time,event,arg1\n" + "\n".join(rows) + "\n", "utf-8")
    (tmp_path / "labels.csv").write_text(f"fluent,time,label\n{labels}", "utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["learn", str(tmp_path), "--no-complete", "--format", "json"])
    assert not ended.value.code
    said = capsys.readouterr()
    low = [rule for rule in json.loads(said.out)["rules"] if rule["score"] < 0.5]
    assert low
    shares = sorted(rule["tp"] / (rule["tp"] + rule["fp"]) for rule in low)
    assert shares[0] >= 0.5
    scores = sorted(rule["score"] for rule in low)
    assert len(low) == 2
    told = f"rules 1, 2 have scores of {scores[0]:.3f} to {scores[1]:.3f}, below --min-score 0.5"
    assert said.err.count("below --min-score") == 1, "one line for all"
    assert told in said.err
    assert f"here {shares[0]:.3f} to {shares[1]:.3f}" in said.err
