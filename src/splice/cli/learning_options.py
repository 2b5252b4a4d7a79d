"""The options of the commands that learn, and what they ask for."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias, TypeVar

import typer

from splice.cli.completion_options import (
    COMPLETION_PARAMETERS,
    Online,
    completion_profile,
    mode_of,
)
from splice.cli.console import note
from splice.cli.options import BatchSize, Parameters, bundled
from splice.completion.mode import Mode
from splice.completion.profile import PROFILES
from splice.errors import SpliceError
from splice.inputs.theories import AXIOMS, load_theory
from splice.io.sums import files_in, sum_of
from splice.learners.oled.learner import Oled
from splice.learners.oled.options import Options, Points
from splice.learners.osla import options as osla
from splice.learners.osla.learner import Osla
from splice.learners.weights import AdaGrad
from splice.logic.schema import Schema
from splice.patterns.transitions import Unlabelled
from splice.pipeline.learned import LearnOptions

__all__ = ["with_learning_options"]

R = TypeVar("R")

_USUAL = Options()
_OSLA = osla.Options()
_DEEPEST = 5


class Learner(StrEnum):
    """A structure learner."""

    OLED = "oled"
    OSLA = "osla"


_LearnerName: TypeAlias = Annotated[
    Learner, typer.Option("--learner", case_sensitive=False, help="What makes the rules.")
]
_Complete: TypeAlias = Annotated[
    bool,
    typer.Option("--complete/--no-complete", help="Fill in the labels that are missing first."),
]
_ProfileName: TypeAlias = Annotated[
    str | None,
    typer.Option("--profile", metavar="P", help=f"How to fill them in: {', '.join(PROFILES)}."),
]
_Unlabelled: TypeAlias = Annotated[
    Unlabelled,
    typer.Option(
        "--unlabelled",
        case_sensitive=False,
        help="What becomes of atoms without a label: read as false, or skipped.",
    ),
]
_Points: TypeAlias = Annotated[
    Points,
    typer.Option(
        "--points",
        case_sensitive=False,
        help="Which time-points are examples of a beginning: all at which the fluent holds next, "
        "those alone at which it starts, or rules of both kinds side by side.",
    ),
]
_RuleDelta: TypeAlias = Annotated[
    float,
    typer.Option("--rule-delta", metavar="D", help="OLED: confidence of the Hoeffding bound."),
]
_Depth: TypeAlias = Annotated[
    int,
    typer.Option(
        "--depth", metavar="N", min=1, max=_DEEPEST, help="Conditions that one decision may add."
    ),
]
_MinScore: TypeAlias = Annotated[
    float,
    typer.Option(
        "--min-score",
        metavar="S",
        min=0.0,
        max=1.0,
        help="How precise a rule must be to be considered.",
    ),
]
_Weights: TypeAlias = Annotated[
    bool, typer.Option("--weights", help="Give rules weights: recognition weighs them.")
]
_Axioms: TypeAlias = Annotated[
    str,
    typer.Option(
        "--axioms", metavar="THEORY", help="OSLa: what follows from changes; a .mln, or its name."
    ),
]
_Template: TypeAlias = Annotated[
    str,
    typer.Option("--template", metavar="P/N,...", help="OSLa: the changes that clauses define."),
]
_MaxLength: TypeAlias = Annotated[
    int, typer.Option("--max-length", metavar="N", min=2, help="OSLa: literals of a clause.")
]
_MinGain: TypeAlias = Annotated[
    float,
    typer.Option("--min-gain", metavar="N", help="OSLa: what a new clause must set right."),
]
_Lambda: TypeAlias = Annotated[
    float, typer.Option("--lambda", metavar="L", min=0.0, help="OSLa: how weights shrink.")
]
_Eta: TypeAlias = Annotated[
    float, typer.Option("--eta", metavar="E", help="OSLa: how far weights move in a step.")
]
_Selection: TypeAlias = Annotated[
    osla.Selection,
    typer.Option(
        "--selection",
        case_sensitive=False,
        help="OSLa: which clauses make the theory: the few that explain the stream best, or all, "
        "with AdaGrad's weights.",
    ),
]
_MinWeight: TypeAlias = Annotated[
    float,
    typer.Option("--min-weight", metavar="W", min=0.0, help="OSLa: prune clauses that weigh less."),
]
_Passes: TypeAlias = Annotated[
    int, typer.Option("--passes", metavar="N", min=1, help="How often to read the input.")
]
_Seed: TypeAlias = Annotated[
    int, typer.Option("--seed", min=0, help="The seed of random choices; the learners make none.")
]

_PARAMETERS: Parameters = (
    ("learner", _LearnerName, Learner.OLED),
    ("complete", _Complete, True),
    ("profile", _ProfileName, None),
    ("unlabelled", _Unlabelled, _USUAL.unlabelled),
    ("batch_size", BatchSize, 25),
    ("points", _Points, _USUAL.points),
    ("rule_delta", _RuleDelta, _USUAL.delta),
    ("depth", _Depth, _USUAL.depth),
    ("min_score", _MinScore, _USUAL.min_score),
    ("weights", _Weights, False),
    ("axioms", _Axioms, AXIOMS),
    ("template", _Template, "InitiatedAt/2,TerminatedAt/2"),
    ("max_length", _MaxLength, _OSLA.length),
    ("min_gain", _MinGain, _OSLA.threshold),
    ("lam", _Lambda, _OSLA.weights.lam),
    ("eta", _Eta, _OSLA.weights.eta),
    ("selection", _Selection, _OSLA.selection),
    ("min_weight", _MinWeight, _OSLA.min_weight),
    ("passes", _Passes, 1),
    ("seed", _Seed, 0),
    ("online", Online, True),
    *COMPLETION_PARAMETERS,
)


def with_learning_options(command: Callable[..., R]) -> Callable[..., R]:
    """Give a command the options that say how to learn, as one value, ``choices: LearnOptions``."""
    return bundled(command, "choices", _choices, _PARAMETERS)


def _choices(
    *,
    learner: Learner,
    complete: bool,
    profile: str | None,
    online: bool,
    batch_size: int,
    passes: int,
    **own: Any,
) -> LearnOptions:
    """Return the choices that the options name."""
    own.pop("seed")  # nothing in the learners is random
    filling = {name: own.pop(name) for name, _, _ in COMPLETION_PARAMETERS}
    filled = {name: str(value) for name, value in filling.items() if value is not None}
    for name in ("profile",) * bool(profile) + tuple(filled) if not complete else ():
        note(f"--{name} says nothing here: nothing is completed")
    if complete and own["unlabelled"] is Unlabelled.SKIP:
        raise SpliceError(
            "--unlabelled skip leaves out what has no label, and completion gives all a label",
            "say --no-complete too, to learn from the given labels alone",
        )
    _tell_unused(learner, own)
    make, said = (_osla if learner is Learner.OSLA else _oled)(own)
    chosen = completion_profile(profile or "default", **filling) if complete else None
    mode = chosen.mode(mode_of(online)) if chosen else Mode.ONLINE
    completion = {"completion": profile or "default", **filled}
    words = {
        "learner": learner.value,
        **(completion if complete else {"unlabelled": own["unlabelled"].value}),
        "batch-size": str(batch_size),
        **said,
        "passes": str(passes),
        "mode": mode.value,
    }
    exact = words | _exact(learner, own)
    return LearnOptions(chosen, make, batch_size, passes, words, exact, mode)


def _exact(learner: Learner, own: dict[str, Any]) -> dict[str, str]:
    """Return the options of a learner as they were given; of a file, its sum."""
    others = _OF_OLED if learner is Learner.OSLA else _OF_OSLA
    used = {name: value for name, value in own.items() if name not in others}
    named = {n.replace("_", "-"): str(getattr(v, "value", v)) for n, v in used.items()}
    if learner is Learner.OSLA and Path(own["axioms"]).is_file():
        named["axioms"] = sum_of(files_in([Path(own["axioms"])]))
    return named


_Made: TypeAlias = tuple[Callable[[], Oled | Osla], dict[str, str]]


def _oled(own: dict[str, Any]) -> _Made:
    weights = AdaGrad() if own["weights"] else None
    names = ("unlabelled", "points", "depth", "min_score")
    options = Options(
        **{name: own[name] for name in names}, delta=own["rule_delta"], weights=weights
    )
    words = {
        "points": options.points.value,
        "rule-delta": f"{options.delta:g}",
        "depth": str(options.depth),
        "min-score": f"{options.min_score:g}",
        **({"weights": "adagrad"} if weights else {}),
    }
    return partial(Oled, options), words


def _osla(own: dict[str, Any]) -> _Made:
    options = osla.Options(
        length=own["max_length"],
        threshold=own["min_gain"],
        weights=AdaGrad(eta=own["eta"], lam=own["lam"]),
        selection=own["selection"],
        min_weight=own["min_weight"],
        unlabelled=own["unlabelled"],
    )
    axioms = load_theory(own["axioms"]).statements
    templates = tuple(_template(text) for text in own["template"].split(","))
    words = {
        "axioms": Path(own["axioms"]).name,
        "template": own["template"],
        "max-length": str(options.length),
        "min-gain": f"{options.threshold:g}",
        "lambda": f"{options.weights.lam:g}",
        "eta": f"{options.weights.eta:g}",
        "selection": options.selection.value,
        **({"min-weight": f"{options.min_weight:g}"} if options.min_weight else {}),
    }
    make = partial(Osla, options, axioms, templates)
    make()  # bad axioms are told before anything is read
    return make, words


def _template(text: str) -> str:
    name, _, arity = text.strip().partition("/")
    if not name or arity not in ("", "2"):
        hint = "changes take a fluent and a time: InitiatedAt/2"
        raise SpliceError(f"'{text.strip()}' is no template", hint)
    return Schema().internal_name(name)


def _tell_unused(learner: Learner, own: dict[str, Any]) -> None:
    """Say which options were given that the learner does not look at."""
    usual = {name: value for name, _, value in _PARAMETERS}
    others = _OF_OLED if learner is Learner.OSLA else _OF_OSLA
    for name, option in others.items():
        if own[name] != usual[name]:
            note(f"--{option} says nothing here: it is not for {learner.value}")


_OF_OLED: Final = {
    n: n.replace("_", "-") for n in ("points", "rule_delta", "depth", "min_score")
} | {"weights": "weights"}
_OF_OSLA: Final = {
    "axioms": "axioms",
    "template": "template",
    "max_length": "max-length",
    "min_gain": "min-gain",
    "lam": "lambda",
    "eta": "eta",
    "selection": "selection",
    "min_weight": "min-weight",
}
