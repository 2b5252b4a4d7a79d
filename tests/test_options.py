"""Options declared once: what follows from the fields of a dataclass."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from splice.cli.method_options import with_learning_options
from splice.errors import SpliceError, UnknownName
from splice.learners.options import AdaGrad, LearnerOptions, NamedTheory
from splice.learners.registry import LEARNERS
from splice.logic.syntax import parse_theory
from splice.options import Declared, declared, identity_of, option, read_options, words_of
from splice.pipeline.learned import LearnOptions

every = pytest.mark.parametrize("name", LEARNERS.known)


def another(each: Declared) -> Any:
    """Return an allowed value of an option that is not its default."""
    default = each.default
    if each.spec.named is not None:
        return list(each.spec.named.values())[1]
    if isinstance(default, Enum):
        return next(value for value in type(default) if value is not default)
    if isinstance(default, int):
        return default + 1
    if isinstance(default, float):
        return 0.125
    if isinstance(default, tuple):
        return default[:1]
    if each.spec.kind is NamedTheory:
        return NamedTheory("mine", parse_theory("initiatedAt(F,T) => holdsAt(F,T+1).").statements)
    assert each.spec.read is not None
    return each.spec.read("recall:3")


def changed(options: Any, each: Declared) -> Any:
    value = another(each)
    *outer, last = each.path
    for name in reversed(outer):
        value, last = replace(getattr(options, name), **{last: value}), name
    return replace(options, **{last: value})


@every
def test_each_option_alone_tells_runs_apart(name: str) -> None:
    usual = LEARNERS[name].options()
    for each in declared(type(usual)):
        other = changed(usual, each)
        assert other != usual
        before, after = identity_of(usual), identity_of(other)
        assert [key for key in before if before[key] != after[key]] == [each.spelling]
    assert identity_of(usual) == identity_of(LEARNERS[name].options())


@every
def test_what_a_heading_says_reads_back(name: str) -> None:
    kind = LEARNERS[name]
    for each in declared(kind.options):
        if not each.on_command or each.spec.kind:
            continue
        options = changed(kind.options(), each)
        words: dict[str, Any] = dict(words_of(options))
        for number in declared(kind.options):
            if number.is_number and number.spelling in words:
                words[number.spelling] = float(words[number.spelling])
        assert kind.read(words) == options


@every
def test_every_field_can_be_said_in_words(name: str) -> None:
    options = LEARNERS[name].options
    reached = {each.path[0] for each in declared(options)}
    assert reached == {each.name for each in fields(options)}


@dataclass(frozen=True, slots=True)
class Bounded(LearnerOptions):
    """One of each kind of bound."""

    share: float = option(0.5, above=0, below=1)
    count: int = option(3, "How many.", spelling="at-most-so-many", at_least=1, at_most=5)
    weight: float = option(math.inf, at_least=0, infinite=True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"share": 0}, "share must be positive and below 1, not 0"),
        ({"share": 1}, "share must be positive and below 1, not 1"),
        ({"share": math.nan}, "share must be positive and below 1 and finite, not nan"),
        ({"count": 0}, r"count \(--at-most-so-many\) must be at least 1 and at most 5, not 0"),
        ({"at_most_so_many": 6}, "at most 5, not 6"),
        ({"count": 2.5}, "'2.5' is no number for 'count'"),
        ({"count": True}, "'True' is no number for 'count'"),
        ({"weight": -1}, "weight must be at least 0, not -1"),
        ({"weight": math.nan}, "weight must be at least 0"),
        ({"unlabelled": "skp"}, "did you mean 'skip'"),
        ({"shar": 0.5}, "did you mean 'share'"),
    ],
)
def test_what_is_not_allowed_is_told(words: dict[str, object], message: str) -> None:
    with pytest.raises(SpliceError, match=message):
        read_options(Bounded, words, "bounds")


def test_what_is_allowed_is_taken() -> None:
    words = {"share": 0.001, "at-most-so-many": 5.0, "weight": math.inf}
    assert read_options(Bounded, words, "bounds") == Bounded(share=0.001, count=5)
    assert read_options(Bounded, {"count": 1}, "bounds") == Bounded(count=1)


def test_options_inside_of_options_stand_beside_them() -> None:
    read = LEARNERS["osla"].read
    assert read({"lambda": 0, "eta": 2}).weights == AdaGrad(lam=0.0, eta=2.0)  # type: ignore[attr-defined]
    with pytest.raises(UnknownName):
        read({"passes": 2})  # OSLa has one step a batch, and no passes
    with pytest.raises(SpliceError, match="eta must be positive"):
        AdaGrad(eta=0)


# learners from outside, on the command line


@dataclass(frozen=True, slots=True)
class MineOptions(LearnerOptions):
    """One option that is new, and one that another learner has, too."""

    patience: int = option(7, "How long it waits.", metavar="N", at_least=1)
    depth: int = option(
        2, "Conditions that one decision may add.", metavar="N", at_least=1, at_most=5
    )


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LEARNERS, "known", dict(LEARNERS.known))


def command(seen: list[LearnOptions]) -> typer.Typer:
    """Return a command that has the options of learning, and keeps what they ask for."""
    app = typer.Typer()

    def learn(choices: LearnOptions) -> None:
        seen.append(choices)

    app.command()(with_learning_options(learn))
    return app


@pytest.mark.usefixtures("known")
def test_an_option_of_a_learner_from_outside_is_one_of_the_command() -> None:
    LEARNERS.register("mine", MineOptions, title="Mine")(LEARNERS["oled"].options)
    LEARNERS.known["mine"] = replace(LEARNERS["mine"], make=lambda options: options)  # type: ignore[arg-type,return-value]
    seen: list[LearnOptions] = []
    ran = CliRunner().invoke(command(seen), ["--learner", "mine", "--patience", "9"])
    assert ran.exit_code == 0, ran.output
    (choices,) = seen
    assert choices.learner() == MineOptions(patience=9)
    assert (choices.words["learner"], choices.words["patience"]) == ("mine", "9")
    assert choices.identity()["patience"] == "9"
    shown = CliRunner().invoke(command(seen), ["--help"]).output
    assert "Mine (--learner mine)" in shown
    assert "How long it waits." in shown
    assert shown.count("--depth") == 1
    assert CliRunner().invoke(command(seen), ["--patience", "0"]).exit_code == 2


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("spelling", ["depth", "passes", "threshold"])
def test_two_meanings_of_one_option_are_refused(spelling: str) -> None:
    @dataclass(frozen=True, slots=True)
    class Clashing(LearnerOptions):
        patience: int = option(7, "How long it waits.", spelling=spelling)

    LEARNERS.register("mine", Clashing, title="Mine")(LEARNERS["oled"].options)
    with pytest.raises(SpliceError, match=f"--{spelling} of Mine would mean two things"):
        command([])


@pytest.mark.usefixtures("known")
def test_what_cannot_be_registered() -> None:
    with pytest.raises(SpliceError, match="there is a learner 'oled' already"):
        LEARNERS.register("oled", MineOptions)
    with pytest.raises(SpliceError, match="cannot name a learner"):
        LEARNERS.register("Mine!", MineOptions)
    with pytest.raises(SpliceError, match="no dataclass of options"):
        LEARNERS.register("mine", type("Plain", (LearnerOptions,), {}))
    with pytest.raises(UnknownName, match="did you mean 'oled'"):
        LEARNERS["olde"]
