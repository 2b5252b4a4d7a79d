"""The options that say how missing labels are filled in: the same for every command.

An option stands for each kind of strategy, and its help lists what is registered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final, TypeAlias, TypeVar

import typer

from splice.cli.console import note
from splice.cli.options import Parameters, bundled
from splice.completion.mode import Mode
from splice.completion.profile import KINDS, PROFILES, Profile, profile_of

__all__ = [
    "COMPLETION_PARAMETERS",
    "Online",
    "completion_profile",
    "mode_of",
    "with_completion_options",
]

R = TypeVar("R")

_PANEL: Final = "How labels are completed"


def _option(name: str, kind: type, metavar: str, about: str, **limits: Any) -> Any:
    """Return the annotation of an option."""
    option = typer.Option(
        f"--{name}", metavar=metavar, help=about, rich_help_panel=_PANEL, **limits
    )
    return Annotated[kind | None, option]


COMPLETION_PARAMETERS: Final[Parameters] = (
    *(
        (kind, _option(kind, str, kind[0].upper(), registry.forms), None)
        for kind, registry in KINDS.items()
    ),
    ("delta", _option("delta", float, "D", "Confidence of the Hoeffding filter."), None),
    (
        "abstain",
        _option("abstain", float, "M", "Say nothing within this margin.", min=0.0, max=1.0),
        None,
    ),
)


Online: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--online/--hindsight",
        help="Complete each batch with the labels up to it, in one pass, or with all labels of the "
        "input, which are counted first.",
        rich_help_panel=_PANEL,
    ),
]


def mode_of(online: bool) -> Mode:
    """Return the mode that the option asks for."""
    return Mode.ONLINE if online else Mode.HINDSIGHT


def completion_profile(name: str, **options: Any) -> Profile:
    """Return a profile with the choices that are given by the options of these names."""
    given = {key: value for key, value in options.items() if value is not None}
    # The filter and its confidence are choices of the cache.
    caching = {key: given.pop(key) for key in ("filter", "delta") if key in given}
    changes = {"margin" if key == "abstain" else key: value for key, value in given.items()}
    chosen = profile_of(name, {**changes, **({"caching": caching} if caching else {})})
    if "solver" in given and chosen.links and chosen.solver.name != "harmonic":
        note("--solver says nothing here: temporal links make chains, which are solved exactly")
    return chosen


def with_completion_options(command: Callable[..., R]) -> Callable[..., R]:
    """Give a command the options that say how to complete, as one value, ``chosen: Profile``."""
    return bundled(command, "chosen", _chosen, (_NAME, *COMPLETION_PARAMETERS))


def _chosen(profile: str, **options: Any) -> Profile:
    return completion_profile(profile, **options)


_NAME: Final = (
    "profile",
    Annotated[
        str,
        typer.Option(
            "--profile",
            metavar="P",
            help=f"A bundle of choices: {', '.join(PROFILES)}.",
            rich_help_panel=_PANEL,
        ),
    ],
    "default",
)
