"""The options that say how missing labels are filled in: the same for every command."""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeAlias

import typer

from splice.cli.options import Parameters
from splice.completion.options import profile_of
from splice.completion.strategies import PROFILES, Profile

__all__ = [
    "COMPLETION_PARAMETERS",
    "Abstain",
    "Connector",
    "Delta",
    "Distance",
    "ProfileName",
    "Threshold",
    "completion_profile",
]

_PANEL: Final = "How labels are completed"

ProfileName: TypeAlias = Annotated[
    str, typer.Option("--profile", help=f"A bundle of choices: {', '.join(PROFILES)}.")
]
Connector: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--connector",
        metavar="C",
        help="knn:2, enn:0.75, knn:1:labelled ...",
        rich_help_panel=_PANEL,
    ),
]
Distance: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--distance",
        metavar="D",
        help="lifted, ground, lifted:hausdorff ...",
        rich_help_panel=_PANEL,
    ),
]
Threshold: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--threshold", metavar="T", help="zero, logodds or classmass.", rich_help_panel=_PANEL
    ),
]
Delta: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--delta", metavar="D", help="Confidence of the Hoeffding filter.", rich_help_panel=_PANEL
    ),
]
Abstain: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--abstain",
        metavar="M",
        min=0.0,
        max=1.0,
        help="Say nothing within this margin.",
        rich_help_panel=_PANEL,
    ),
]

COMPLETION_PARAMETERS: Parameters = (
    ("connector", Connector, None),
    ("distance", Distance, None),
    ("threshold", Threshold, None),
    ("delta", Delta, None),
    ("abstain", Abstain, None),
)


def completion_profile(
    name: str,
    connector: str | None,
    distance: str | None,
    threshold: str | None,
    delta: float | None,
    abstain: float | None,
) -> Profile:
    """Return a profile with the choices that are given."""
    given: dict[str, Any] = {
        "connector": connector,
        "distance": distance,
        "threshold": threshold,
        "caching": None if delta is None else {"delta": delta},
        "margin": abstain,
    }
    return profile_of(name, {key: value for key, value in given.items() if value is not None})
