"""The options that say how labels are completed and rules are learned, for all commands that do.

An option stands for each kind of strategy, and its help lists what is registered. What a learner can be
told is declared by the dataclass of its options (:mod:`splice.options`): each field that has a help
is an option of the command, in a panel of the learner's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, TypeVar

import typer

from splice.cli.console import note
from splice.cli.options import BatchSize, Parameters, bundled, option_of
from splice.completion.mode import Mode
from splice.completion.profile import KINDS, PROFILES, SESSION_PROFILE, Profile, profile_of
from splice.errors import SpliceError
from splice.labels import Unlabelled
from splice.learners.options import LearnerOptions, NamedTheory
from splice.learners.registry import LEARNERS, LearnerChoice
from splice.options import Declared, declared

if TYPE_CHECKING:
    from splice.pipeline.learned import LearnOptions

R = TypeVar("R")

_PANEL: Final = "How labels are completed"


def _option(name: str, kind: type, metavar: str, about: str, **limits: Any) -> Any:
    """Return the annotation of an option."""
    # Help is Markdown in which ``:100:`` would be drawn as an emoji; an escaped colon is a colon.
    about = about.replace(":", "\\:")
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
        _option("abstain", float, "M", "Leave out what is less sure than this.", min=0.0, max=1.0),
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


def completion_profile(profile: str, **options: Any) -> Profile:
    """Return a profile with the choices that are given by the options of these names."""
    choices = {key: value for key, value in options.items() if value is not None}
    # The filter and its confidence are choices of the cache.
    caching = {key: choices.pop(key) for key in ("filter", "delta") if key in choices}
    changes = {"margin" if key == "abstain" else key: value for key, value in choices.items()}
    chosen = profile_of(profile, {**changes, **({"caching": caching} if caching else {})})
    if "solver" in choices and chosen.links and chosen.solver.name != "harmonic":
        note("--solver says nothing here: temporal links make chains, which are solved exactly")
    return chosen


def with_auto_completion(command: Callable[..., R]) -> Callable[..., R]:
    """Give a command the options that say how to complete, as one value, ``chosen: Profile``.

    Where no profile is named, it is ``auto``: the command has it chosen by labels that are held out.
    """
    return bundled(command, "chosen", _chosen, (_NAME, *COMPLETION_PARAMETERS))


def with_session_options(command: Callable[..., R]) -> Callable[..., R]:
    """Give a command the same options; where no profile is named, that of labelling sessions."""
    return bundled(command, "chosen", _session, (_NAME, *COMPLETION_PARAMETERS))


def _chosen(profile: str | None, **options: Any) -> Profile:
    return completion_profile(profile or usual_profile(options), **options)


def _session(profile: str | None, **options: Any) -> Profile:
    usual = usual_profile(options)
    unnamed = SESSION_PROFILE.name if usual == "auto" else usual
    return completion_profile(profile or unnamed, **options)


def usual_profile(options: Mapping[str, object], *, online: bool = False) -> str:
    """Return the profile where none is named: who names a strategy has chosen.

    Online nothing can be held out to choose by: that would be looking ahead.
    """
    strategies = {key for key, value in options.items() if value is not None}
    chosen = online or strategies - {"abstain", "threshold"}
    return "default" if chosen else "auto"


_NAME: Final = (
    "profile",
    Annotated[
        str | None,
        typer.Option(
            "--profile",
            metavar="P",
            help=f"A bundle of choices: {', '.join(PROFILES)}.",
            rich_help_panel=_PANEL,
        ),
    ],
    None,
)


_Complete: TypeAlias = Annotated[
    bool,
    typer.Option("--complete/--no-complete", help="Fill in the labels that are missing first."),
]
_ProfileName: TypeAlias = Annotated[
    str | None,
    typer.Option("--profile", metavar="P", help=f"How to fill them in: {', '.join(PROFILES)}."),
]
_Passes: TypeAlias = Annotated[
    int, typer.Option("--passes", metavar="N", min=1, help="How often to read the input.")
]
_Rounds: TypeAlias = Annotated[
    int,
    typer.Option(
        "--rounds",
        metavar="N",
        min=0,
        help="How often, at most, the rules vote on missing labels and are learned anew from them.",
    ),
]
_Seed: TypeAlias = Annotated[
    int, typer.Option("--seed", min=0, help="The seed of random choices; the learners make none.")
]

_TAKEN: Final = frozenset(
    (
        "learner",
        "complete",
        "profile",
        "batch-size",
        "passes",
        "rounds",
        "seed",
        "online",
        "out",
        "force",
        "format",
    )
) | {name for name, _, _ in COMPLETION_PARAMETERS}
"""What no option of a learner may be called."""


def with_learning_options(command: Callable[..., R]) -> Callable[..., R]:
    """Give a command the options that say how to learn, as one value, ``choices: LearnOptions``.

    They are those of the learners that are registered by now.
    """
    parameters: Parameters = (
        ("learner", _learner_names(), "oled"),
        ("complete", _Complete, True),
        ("profile", _ProfileName, None),
        ("batch_size", BatchSize, 25),
        ("passes", _Passes, 1),
        ("rounds", _Rounds, 0),
        ("seed", _Seed, 0),
        *map(_parameter, *zip(*_learner_options().values(), strict=True)),
        ("online", Online, False),
        *COMPLETION_PARAMETERS,
    )
    return bundled(command, "choices", _choices, parameters)


def _learner_names() -> Any:
    names = StrEnum("Learner", {name: name for name in LEARNERS.known})  # type: ignore[misc]
    option = typer.Option("--learner", case_sensitive=False, help="What makes the rules.")
    return Annotated[names, option]


def _learner_options() -> dict[str, tuple[Declared, str | None]]:
    """Return the options of all learners by their spelling, each with the panel it stands in."""
    options = {each.spelling: (each, None) for each in _on_command(LearnerOptions)}
    shared = dict[str, tuple[Declared, str | None]](options)
    for kind in LEARNERS.known.values():
        for each in _on_command(kind.options):
            same = shared.setdefault(each.spelling, (each, f"{kind.title} (--learner {kind.name})"))
            if same[0] != each or each.spelling in _TAKEN:
                raise SpliceError(
                    f"--{each.spelling} of {kind.title} would mean two things",
                    'give it another name: option(..., spelling="...")',
                )
    return shared


def _on_command(options: type) -> Iterator[Declared]:
    return (each for each in declared(options) if each.on_command)


def _parameter(each: Declared, panel: str | None) -> tuple[str, Any, Any]:
    """Return an option as the command line has it: its parameter, its annotation, its default."""
    default = each.default
    if each.is_flag:
        default = False
    elif not isinstance(default, Enum | int | float):
        default = each.word(default)
    option = option_of(each, panel, case_sensitive=each.is_number)
    return _parameter_name(each), Annotated[type(default), option], default


def _parameter_name(each: Declared) -> str:
    return f"learner_{each.spelling.replace('-', '_')}"  # some spellings are keywords of Python


def _choices(
    *,
    learner: str,
    complete: bool,
    profile: str | None,
    online: bool,
    batch_size: int,
    passes: int,
    rounds: int,
    **values: Any,
) -> LearnOptions:
    """Return the choices that the options name."""
    from splice.pipeline.learned import LearnOptions

    values.pop("seed")  # nothing in the learners is random
    completion = {name: values.pop(name) for name, _, _ in COMPLETION_PARAMETERS}
    completion_words = {name: str(value) for name, value in completion.items() if value is not None}
    for name in ("profile",) * bool(profile) + tuple(completion_words) if not complete else ():
        note(f"--{name} says nothing here: nothing is completed")
    choice = _learner_choice(str(learner), values)
    unlabelled = choice.options.unlabelled
    if complete and unlabelled is Unlabelled.SKIP:
        raise SpliceError(
            "--unlabelled skip leaves out what has no label, and completion gives all a label",
            "say --no-complete too, to learn from the given labels alone",
        )
    strategies = sorted(completion_words.keys() - {"abstain", "threshold"})
    name = profile or usual_profile(completion_words, online=online)
    for strategy in strategies if complete and name == "auto" else ():
        note(
            f"--{strategy} says nothing here: the profile auto chooses by labels that it holds out"
        )
    options = LearnOptions(
        completion_profile(name, **completion) if complete else None,
        choice,
        batch_size,
        passes,
        mode=mode_of(online),
        rounds=rounds,
    )
    words = {
        "learner": choice.name,
        **(
            {"completion": name, **completion_words}
            if complete
            else {"unlabelled": unlabelled.value}
        ),
        "batch-size": str(batch_size),
        **choice.words(),
        "passes": str(passes),
        **({"rounds": str(rounds)} if rounds else {}),
        "mode": options.run_mode.value,
    }
    return replace(options, words=words)


def _learner_choice(name: str, values: dict[str, Any]) -> LearnerChoice:
    """Return the learner that is asked for; say which options were given that it does not have."""
    from splice.inputs.theories import named_theory

    kind = LEARNERS[name]
    words = {each.spelling: values[_parameter_name(each)] for each in _on_command(kind.options)}
    for spelling, (each, panel) in _learner_options().items():
        parameter, _, default = _parameter(each, panel)
        if spelling not in words and values[parameter] != default:
            note(f"--{spelling} says nothing here: it is not for {name}")
    choice = LearnerChoice(name, kind.read(words, {NamedTheory: named_theory}))
    choice()  # what it cannot do is told before anything is read
    return choice
