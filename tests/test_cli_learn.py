"""``learn`` and ``explain rule``, as a user runs them, and what learned rules are good for."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from command import Command, run
from splice.cli import console
from splice.evaluation.confusion import Confusion, Prequential
from splice.inputs.open import open_input
from splice.inputs.theories import load_theory
from splice.learners.learned_rule import rule_text
from splice.learners.oled.learner import Oled
from splice.learners.predict import predict
from splice.learners.protocol import StructureLearner
from splice.logic.syntax import parse_rule, parse_theory
from splice.logic.theory import Theory
from splice.stream.batch import TimePoints, batches

COUNTS = ("examples", "batches", "given", "completed")


@pytest.fixture(scope="module")
def plaza(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small plaza as tables, whole (``all``) and with a fifth of it (``few``)."""
    folder = tmp_path_factory.mktemp("plaza")
    size = ("--sequences", "3", "--frames", "400", "--people", "3", "--seed", "1")
    for words in (
        ("data", "make", "plaza", *size, "--out", str(folder / "all")),
        ("mask", str(folder / "all"), "--level", "20", "--scope", "batches", "--seed", "1",
         "--out", str(folder / "few")),
    ):  # fmt: skip
        run(*words)
    return folder


DECIDED = ("--profile", "regression")
"""Where nothing is said of how a profile is chosen, none is: choosing one takes longer than learning."""


def written(plaza: Path, name: str, *words: str) -> Path:
    out = plaza / name
    run("learn", plaza / "few", "--out", out, "--quiet", *words)
    return out


@pytest.fixture(scope="module")
def usual(plaza: Path) -> Path:
    """The theory that is learned from few labels by one who asks for nothing."""
    return written(plaza, "usual.rules")


@pytest.fixture(scope="module")
def learned(plaza: Path) -> Path:
    """The theory that is learned from few labels by a profile that is named."""
    return written(plaza, "few.rules", *DECIDED)


KNOWN: dict[tuple[object, ...], dict[str, Any]] = {}


def said_of(splice: Command, *arguments: object) -> dict[str, Any]:
    """Learn, once for the same arguments, and return what json says."""
    if arguments not in KNOWN:
        ran = splice("learn", *arguments, "--format", "json")
        assert ran.code == 0, ran.err
        KNOWN[arguments] = json.loads(ran.out)
    return KNOWN[arguments]


def body_of(text: str) -> set[str]:
    """Return the conditions of a rule."""
    return {str(literal) for literal in parse_rule(text).body}


# what is learned


def test_few_labels_are_enough_to_recognise_the_rest(
    splice: Command, plaza: Path, usual: Path, tmp_path: Path
) -> None:
    out = tmp_path / "found.csv"
    assert splice("recognise", usual, plaza / "all", "--out", out).code == 0
    ran = splice("evaluate", out, plaza / "all", "--format", "json")
    assert json.loads(ran.out)["f1"] > 0.8


def test_a_theory_is_printed_and_written_alike(
    splice: Command, plaza: Path, learned: Path, tmp_path: Path
) -> None:
    printed = splice("learn", plaza / "few", *DECIDED)
    assert (printed.code, printed.out) == (0, learned.read_text())
    assert "examples/s" in printed.err
    out = tmp_path / "new" / "again.rules"
    ran = splice("learn", plaza / "few", *DECIDED, "--out", out)
    assert (ran.code, ran.out) == (0, "")
    assert f"wrote {out}" in ran.err
    assert out.read_bytes() == learned.read_bytes(), "the same input gives the same bytes"


def test_a_theory_says_where_it_is_from_and_what_each_rule_is_worth(
    splice: Command, usual: Path
) -> None:
    text = usual.read_text()
    assert text.startswith("% Learned from few: 14,400 examples in 48 batches, ")
    assert "completion auto, batch-size 25, points both" in text.splitlines()[1]
    assert str(usual.parent) not in text
    counted = r"% (\d+): tp [\d,]+, fp [\d,]+, fn [\d,]+, score 0\.\d{3}; [\d,]+ firings?\n"
    words = r"% (?:meet|move)\(X0,X1\) (?:begins|ends) when .+\n"
    numbers = re.findall(counted + words + r"(?:initiated|terminated)At", text)
    theory = load_theory(usual)
    assert numbers == [str(i + 1) for i in range(len(theory))]
    assert theory.is_crisp
    assert splice("theory", "check", usual, "--domain", "plaza").code == 0


def test_json_has_rules_and_counts(splice: Command, plaza: Path, learned: Path) -> None:
    found = said_of(splice, plaza / "few", *DECIDED)
    rules = found["rules"]
    assert parse_theory("\n".join(rule["text"] for rule in rules)) == Theory(
        load_theory(learned).statements
    )
    assert {rule["kind"] for rule in rules} == {"initiatedAt", "terminatedAt"}
    assert {rule["fluent"] for rule in rules} == {"meet/2", "move/2"}
    for rule in rules:
        assert rule["tp"] + rule["fp"] == rule["firings"]
        assert 0 < rule["score"] <= rule["tp"] / rule["firings"]
        assert rule["literals"] == 1 + len(body_of(rule["text"]))
        assert "weight" not in rule
    assert [found[name] for name in COUNTS[:2]] == [3 * 400 * 6 * 2, 48]
    assert found["given"] + found["completed"] == found["examples"]
    assert found["seconds"] > 0


@pytest.mark.parametrize("style", ["csv", "ndjson"])
def test_a_row_for_each_rule(splice: Command, plaza: Path, learned: Path, style: str) -> None:
    lines = splice("learn", plaza / "few", *DECIDED, "--format", style).out.splitlines()
    assert len(lines) == len(load_theory(learned)) + (style == "csv")
    if style == "csv":
        assert lines[0] == "number,text,kind,fluent,tp,fp,fn,score,firings,literals,words"


def test_without_completion_the_given_labels_are_all_there_is(splice: Command, plaza: Path) -> None:
    closed = said_of(splice, plaza / "few", "--no-complete")
    skipped = said_of(splice, plaza / "few", "--no-complete", "--unlabelled", "skip")
    assert closed["completed"] == skipped["completed"] == 0
    assert closed["given"] == said_of(splice, plaza / "few", *DECIDED)["given"]
    assert closed["rules"] != skipped["rules"]
    # Where nothing is missing there is nothing to complete; auto may learn in another way, though.
    whole = said_of(splice, plaza / "all", *DECIDED)
    assert whole["rules"] == said_of(splice, plaza / "all", "--no-complete")["rules"]
    ran = splice("learn", plaza / "all", "--no-complete", "--profile", "paper")
    assert "--profile says nothing" in ran.err


def test_options_reach_the_learner(splice: Command, plaza: Path) -> None:
    usual = said_of(splice, plaza / "all", *DECIDED)["rules"]
    for option in (("--depth", 1), ("--points", "starts"), ("--min-score", 0.99),
                   ("--batch-size", 100)):  # fmt: skip
        assert said_of(splice, plaza / "all", *DECIDED, *option)["rules"] != usual, option
    same = said_of(splice, plaza / "all", *DECIDED, "--seed", 5, "--learner", "OLED")
    assert same["rules"] == usual
    other = said_of(splice, plaza / "few", "--profile", "patterns")
    assert other["choices"]["completion"] == "patterns"


def test_more_passes_carry_the_rules_over(splice: Command, plaza: Path) -> None:
    once, twice = (said_of(splice, plaza / "few", *DECIDED, "--passes", n) for n in (1, 2))
    assert [once[name] for name in COUNTS] == [twice[name] for name in COUNTS]
    most = max(found["examples"] for found in (once, twice)) / 2
    for rule in twice["rules"]:
        assert rule["tp"] + rule["fp"] + rule["fn"] <= most, "counts are those of one pass"
        assert abs(rule["tp"] + rule["fp"] - rule["firings"]) <= 1


def test_weights_are_written_and_recognised_with(
    splice: Command, plaza: Path, tmp_path: Path
) -> None:
    theory, out = tmp_path / "weighted.rules", tmp_path / "found.csv"
    found = said_of(splice, plaza / "few", *DECIDED, "--weights", "--out", theory)
    rules = found["rules"]
    assert [rule["weight"] for rule in rules] == [s.weight for s in load_theory(theory).statements]
    assert not load_theory(theory).is_crisp
    ran = splice("recognise", theory, plaza / "all", "--probabilities", "--out", out)
    assert ran.code == 0, ran.err
    assert json.loads(splice("evaluate", out, plaza / "all", "--format", "json").out)["f1"] > 0.8


def test_no_rule_is_an_answer(splice: Command, plaza: Path, tmp_path: Path) -> None:
    theory = tmp_path / "none.rules"
    ran = splice("learn", plaza / "few", *DECIDED, "--min-score", 1, "--out", theory)
    assert ran.code == 0
    assert "no rule was good enough" in ran.err
    for word in ("--min-score 0.3 gives", "--no-complete --unlabelled skip", "--passes 2"):
        assert word in ran.err
    assert len(load_theory(theory)) == 0
    found = splice("recognise", theory, plaza / "few", "--fluent", "meet", "--format", "csv")
    assert (found.code, found.out) == (0, "sequence,fluent,start,end\n")


def test_verbose_tells_how_far_it_is(splice: Command, plaza: Path) -> None:
    ran = splice("learn", plaza / "all", *DECIDED, "--verbose")
    lines = [line for line in ran.err.splitlines() if line.startswith("batch ")]
    assert len(lines) == 48
    assert re.fullmatch(r"batch 1: learning: 0 rules, [\d,]+ examples/s", lines[0])
    assert re.fullmatch(
        r"batch 48: learning: \d+ rules, F1 [01]\.\d{3}, [\d,]+ examples/s", lines[-1]
    )
    assert splice("learn", plaza / "few", *DECIDED, "--quiet").err == ""


def test_a_bar_tells_it_to_whoever_watches(
    splice: Command, plaza: Path, learned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "_PATIENCE", 0.0)
    monkeypatch.setattr(console, "is_watched", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    ran = splice("learn", plaza / "few", *DECIDED)
    assert ran.out == learned.read_text()
    assert re.search(r"learning: \d+ rules?, [\d,]+ examples/s", ran.err)


@pytest.fixture
def lamps(tmp_path: Path) -> Path:
    """Two lamps: one event makes them red, another one green."""
    events, labels = ["time,event,arg1"], ["fluent,time,label"]
    colour = dict.fromkeys("ab", "")
    for t in range(300):
        for n, lamp in enumerate("ab"):
            labels += [f"light({lamp})={c},{t},{colour[lamp] == c}" for c in ("red", "green")]
            events.append(f"{t},tick,{lamp}")
            turn = (t + 3 * n) % 11
            if turn in (0, 4):
                events.append(f"{t},{'stop' if turn else 'go'},{lamp}")
                colour[lamp] = "red" if turn else "green"
    folder = tmp_path / "lamps"
    folder.mkdir()
    (folder / "events.csv").write_text("\n".join(events) + "\n")
    (folder / "labels.csv").write_text("\n".join(labels).lower() + "\n")
    return folder


def test_modes_name_values_and_what_no_input_has_is_told(
    splice: Command, lamps: Path, tmp_path: Path
) -> None:
    modes = tmp_path / "lamps.modes"
    modes.write_text(
        "modeh(initiatedAt(light(+lamp)=#colour,+time))\n"
        "modeb(happensAt(stop(+lamp),+time))\nmodeb(happensAt(g0(+lamp),+time))\n"
    )
    ran = splice("learn", lamps, "--modes", modes, "--format", "json")
    assert ran.code == 0
    texts = [rule["text"] for rule in json.loads(ran.out)["rules"]]
    assert texts == ["initiatedAt(light(X0)=red,T) :- happensAt(stop(X0),T)."]
    assert f"{modes}:3:17: the input has nothing like 'g0(+lamp)'" in ran.err
    assert "it has go, stop, tick" in ran.err
    modes.write_text(modes.read_text().replace("light", "ligth"))
    ran = splice("learn", lamps, "--modes", modes)
    assert (ran.code, ran.out) == (1, "")
    assert f"{modes}:1:19: " in ran.err
    assert "did you mean 'light'?" in ran.err


# how labels are completed


def test_completion_is_chosen_as_in_complete(splice: Command, plaza: Path) -> None:
    """The same options give the same labels: as many are positive as `complete` says."""
    words = ("--connector", "knn:3", "--distance", "lifted", "--threshold", "logodds")
    words += ("--delta", "0.2", "--abstain", "0.3")
    ran = splice("learn", plaza / "few", *words, "--format", "json")
    told = json.loads(ran.out)
    chosen = {name: told["choices"][name] for name in ("connector", "distance", "threshold")}
    assert chosen == {"connector": "knn:3", "distance": "lifted", "threshold": "logodds"}
    assert (told["choices"]["delta"], told["choices"]["rule-delta"]) == ("0.2", "0.01")
    counted = json.loads(splice("complete", plaza / "few", *words, "--format", "json").out)
    assert counted["abstained"] > 0
    assert told["completed"] == counted["completed"] - counted["abstained"]


def test_choices_of_completion_say_nothing_where_nothing_is_completed(
    splice: Command, plaza: Path
) -> None:
    ran = splice("learn", plaza / "few", "--no-complete", "--connector", "knn:3", "--delta", "0.2")
    assert ran.code == 0
    assert "--connector says nothing here" in ran.err
    assert "--delta says nothing here" in ran.err


def test_auto_says_that_it_takes_no_strategy(splice: Command, plaza: Path) -> None:
    ran = splice("learn", plaza / "few", "--profile", "auto", "--connector", "knn:3")
    assert ran.code == 0
    assert "--connector says nothing here: the profile auto chooses" in ran.err


# what goes wrong


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--learner", "olsa"], 2, "not one of 'oled', 'osla'"),
        (["--rule-delta", "0"], 1, "(--rule-delta) must be positive and below 1"),
        (["--rule-delta", "nan"], 1, "(--rule-delta) must be positive and below 1"),
        (["--delta", "2"], 1, "delta lies between 0 and 1"),
        (["--threshold", "5"], 1, "'5' is not a threshold"),
        (["--connector", "knm:2"], 1, "did you mean 'knn'?"),
        (["--depth", "0"], 2, "--depth"),
        (["--min-score", "1.5"], 2, "--min-score"),
        (["--passes", "0"], 2, "--passes"),
        (["--batch-size", "0"], 2, "--batch-size"),
        (["--points", "ends"], 2, "--points"),
        (["--unlabelled", "skip"], 1, "say --no-complete too"),
        (["--checkpoint-every", "-1"], 2, "--checkpoint-every"),
        (["--profile", "papre"], 1, "did you mean 'paper'"),
        (["--query", "Close/4"], 1, "rules about Close/4 cannot be learned"),
    ],
)
def test_mistakes_are_told(
    splice: Command, plaza: Path, tmp_path: Path, arguments: list[str], code: int, said: str
) -> None:
    out = tmp_path / "out.rules"
    ran = splice("learn", plaza / "few", *arguments, "--out", out)
    assert ran.code == code
    assert said in ran.err
    assert "Traceback" not in ran.err
    assert not any(tmp_path.iterdir())


def test_outputs_are_refused_before_anything_is_learned(
    splice: Command, plaza: Path, learned: Path, tmp_path: Path
) -> None:
    inside = splice("learn", plaza / "few", "--out", plaza / "few" / "x.rules")
    assert (inside.code, "overlap" in inside.err) == (1, True)
    named = splice("learn", plaza / "few", "--out", tmp_path / "x.txt")
    assert (named.code, "end it in .rules" in named.err) == (1, True)
    before = learned.read_bytes()
    again = splice("learn", plaza / "all", "--out", learned)
    assert (again.code, "--force" in again.err) == (1, True)
    assert learned.read_bytes() == before


def test_an_input_without_labels_is_refused(splice: Command, tmp_path: Path) -> None:
    (tmp_path / "no.db").write_text("Happens(Walking_A, 1)\nHappens(Walking_A, 2)\n")
    ran = splice("learn", tmp_path / "no.db", "--out", tmp_path / "x.rules")
    assert ran.code == 1
    assert "no query atoms" in ran.err
    (tmp_path / "some.db").write_text("?HoldsAt(F, 1)\n?HoldsAt(F, 2)\nHappens(E, 1)\n")
    ran = splice("learn", tmp_path / "some.db", "--out", tmp_path / "x.rules")
    assert ran.code == 1
    assert "none of the 2 query atoms has a label" in ran.err
    (tmp_path / "bad.db").write_text("HoldsAt(F, 1)\nHappens(E, 1\n")
    ran = splice("learn", tmp_path / "bad.db", "--out", tmp_path / "x.rules")
    assert ran.code == 1
    assert "bad.db:2:8" in ran.err
    assert not (tmp_path / "x.rules").exists()


# why


def test_a_rule_tells_its_history(splice: Command, plaza: Path, learned: Path) -> None:
    few = (plaza / "few", *DECIDED)
    ran = splice("explain", "rule", *few, "--rule", 2)
    assert ran.code == 0
    assert ran.out.startswith(f"rule 2\n{rule_text(load_theory(learned).statements[1])}\n")
    for word in ("began at batch", "transitions: ", "mean gap", "bound"):
        assert word in ran.out
    every = splice("explain", "rule", *few).out
    assert re.findall(r"^rule (\d+)$", every, re.MULTILINE) == [
        str(i + 1) for i in range(len(load_theory(learned)))
    ]
    ran = splice("explain", "rule", *few, "--rule", 99)
    assert (ran.code, "there is no rule 99" in ran.err) == (1, True)


def test_a_history_leads_to_the_rule(splice: Command, plaza: Path) -> None:
    few = (plaza / "few", *DECIDED)
    ran = splice("explain", "rule", *few, "--format", "json")
    rules = json.loads(ran.out)["rules"]
    assert [rule["text"] for rule in rules] == [
        rule["text"] for rule in said_of(splice, *few)["rules"]
    ]
    for rule in rules:
        bodies = [set(event["body"]) for event in rule["history"]]
        decided = [set(event["body"]) for event in rule["history"] if not event["early"]]
        assert all(a < b for a, b in pairwise(decided)), "conditions are added"
        assert all(a != b for a, b in pairwise(bodies)), "or left out, for the effect"
        assert bodies[-1] <= set(rule["bottom"])
        own = body_of(rule["text"])
        assert own - bodies[-1] <= {f"fluent({rule['fluent'][:4]}(X0,X1))"}, "or it was shortened"
        for event in rule["history"]:
            assert event["early"] or event["best"] > event["score"]
            assert event["tie"] == (not event["early"] and event["gap"] <= event["bound"])
    rows = splice("explain", "rule", *few, "--format", "ndjson").out.splitlines()
    assert len(rows) == sum(len(rule["history"]) for rule in rules)


# the parts


def test_the_score_ahead_is_that_of_theories_frozen_where_sequences_begin(plaza: Path) -> None:
    """The slow twin learns from the sequences before, then predicts each one whole."""
    source = open_input(str(plaza / "all"))
    learner = Oled()
    assert isinstance(learner, StructureLearner)
    ahead = Prequential(learner, sequences=2)
    for batch in batches(source, TimePoints(25)):
        ahead.see(batch)
        learner.partial_fit(batch)
    ahead.finish()
    whole = list(batches(source, TimePoints(10**6)))
    expected = []
    for batch in whole:
        before = Oled()
        for part in batches(source, TimePoints(25)):
            if part.sequence < batch.sequence:
                before.partial_fit(part)
        expected.append(Confusion.of(batch.labels, predict(before.theory_, batch)))
    assert expected[0].tp == 0
    assert expected[-1].tp > 0
    assert ahead.confusion == expected[1] + expected[2]


def test_nothing_is_said_of_what_has_no_label_or_no_end(plaza: Path) -> None:
    first, second, *_ = batches(open_input(str(plaza / "all")), TimePoints(25))
    started, long, hidden = Prequential(Oled()), Prequential(Oled(), atoms=100), Prequential(Oled())
    started.see(first)
    assert started.confusion is None
    for batch in (first, second):
        long.see(batch)
    long.finish()
    assert long.confusion is not None
    assert long.confusion.count == len(first.queries), "the beginning counts"
    hidden.see(first.with_labels(0 * first.labels))
    hidden.finish()
    assert hidden.confusion is None


def test_learned_rules_are_those_of_the_theory(plaza: Path) -> None:
    learner = Oled().fit(batches(open_input(str(plaza / "all")), TimePoints(25)))
    found = learner.rules()
    assert tuple(rule.statement for rule in found) == learner.theory_.statements
    assert Oled().rules() == []


def test_long_rules_are_broken_between_conditions() -> None:
    body = ", ".join(f"not happensAt('a {i}, b'(X),T)" for i in range(9))
    for weight in ("", "1.5 :: ", "hard :: "):
        (statement,) = parse_theory(f"{weight}initiatedAt(on(X),T) :- {body}.").statements
        text = rule_text(statement)
        assert max(map(len, text.splitlines())) <= 100
        assert len(text.splitlines()) > 3
        assert parse_theory(text).statements == (statement,)


def test_rules_say_the_grid_that_they_were_learned_on(plaza: Path, splice: Command) -> None:
    """A grid that only the command line knows would be missing when the rules are used."""
    out = plaza / "grid.rules"
    ran = splice("learn", plaza / "few", "--every", "2", *DECIDED, "--out", out)
    assert ", every 2" in out.read_text("utf-8").splitlines()[1]
    assert (
        'say --every 2 to recognise and evaluate, too, or once for all [time] every = "2"'
        in ran.err
    )
