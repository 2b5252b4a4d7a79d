"""The options of the commands that learn, and what they ask for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, TypeAlias, TypeVar

import typer

from splice.cli.console import note
from splice.cli.options import BatchSize, Parameters, bundled
from splice.completion.options import profile_of
from splice.completion.strategies import PROFILES, Profile
from splice.learners.oled.options import Options, Points
from splice.learners.transitions import Unlabelled
from splice.learners.weights import AdaGrad

__all__ = ["Choices", "with_learning_options"]

R = TypeVar("R")

_USUAL = Options()
_DEEPEST = 5


class Learner(StrEnum):
    """A structure learner."""

    OLED = "oled"


@dataclass(frozen=True, slots=True)
class Choices:
    """How to learn: what fills in missing labels, if anything, and what makes the rules."""

    profile: Profile | None
    options: Options
    batch_size: int
    passes: int
    words: dict[str, str]
    """The same as people say it."""


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
        "or those alone at which it starts.",
    ),
]
_Delta: TypeAlias = Annotated[
    float, typer.Option("--delta", metavar="D", help="Confidence of the Hoeffding bound.")
]
_Depth: TypeAlias = Annotated[
    int,
    typer.Option(
        "--depth", metavar="N", min=1, max=_DEEPEST, help="Conditions that one decision may add."
    ),
]
_MinScore: TypeAlias = Annotated[
    float,
    typer.Option("--min-score", metavar="S", min=0.0, max=1.0, help="What a rule must score."),
]
_Weights: TypeAlias = Annotated[
    bool, typer.Option("--weights", help="Give rules weights: recognition weighs them.")
]
_Passes: TypeAlias = Annotated[
    int, typer.Option("--passes", metavar="N", min=1, help="How often to read the input.")
]
_Seed: TypeAlias = Annotated[
    int, typer.Option("--seed", min=0, help="The seed of random choices; OLED makes none.")
]

_PARAMETERS: Parameters = (
    ("learner", _LearnerName, Learner.OLED),
    ("complete", _Complete, True),
    ("profile", _ProfileName, None),
    ("unlabelled", _Unlabelled, _USUAL.unlabelled),
    ("batch_size", BatchSize, 25),
    ("points", _Points, _USUAL.points),
    ("delta", _Delta, _USUAL.delta),
    ("depth", _Depth, _USUAL.depth),
    ("min_score", _MinScore, _USUAL.min_score),
    ("weights", _Weights, False),
    ("passes", _Passes, 1),
    ("seed", _Seed, 0),
)


def with_learning_options(command: Callable[..., R]) -> Callable[..., R]:
    """Give a command the options that say how to learn, as one value, ``choices: Choices``."""
    return bundled(command, "choices", _choices, _PARAMETERS)


def _choices(
    *,
    learner: Learner,
    complete: bool,
    profile: str | None,
    batch_size: int,
    weights: bool,
    passes: int,
    **own: Any,
) -> Choices:
    """Return the choices that the options name."""
    own.pop("seed")  # nothing in OLED is random
    if profile and not complete:
        note("--profile says nothing here: nothing is completed")
    options = Options(**own, weights=AdaGrad() if weights else None)
    completion = {"completion": profile or "default"}
    words = {
        "learner": learner.value,
        **(completion if complete else {"unlabelled": options.unlabelled.value}),
        "batch-size": str(batch_size),
        "points": options.points.value,
        "delta": f"{options.delta:g}",
        "depth": str(options.depth),
        "min-score": f"{options.min_score:g}",
        **({"weights": "adagrad"} if weights else {}),
        "passes": str(passes),
    }
    chosen = profile_of(profile or "default") if complete else None
    return Choices(chosen, options, batch_size, passes, words)
