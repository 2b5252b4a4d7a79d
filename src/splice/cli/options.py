"""Options that several commands share, declared once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, TypeVar

import typer
from typer.models import ArgumentInfo

from splice.cli.console import Format
from splice.errors import SpliceError
from splice.inputs.options import InputOptions
from splice.limits import LIMITS
from splice.options import Declared, declared

if TYPE_CHECKING:
    from splice.stream.times import TimeFormat

R = TypeVar("R")

_INPUT_PANEL = "What the input means"

SEVERAL_FILES: Final = object()
"""Marks an argument that may be several files, where no other argument follows it."""

InputArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        help="A folder, a file or several, or the name of a dataset (see `splice data list`).",
    ),
    SEVERAL_FILES,
]
Printed: TypeAlias = Annotated[
    Format, typer.Option("--format", help="How to print the result.", case_sensitive=False)
]
Out: TypeAlias = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Where to write; appears whole or not at all.")
]
Force: TypeAlias = Annotated[bool, typer.Option("--force", help="Replace an output that exists.")]
Shards: TypeAlias = Annotated[
    int,
    typer.Option(
        "--shards",
        metavar="N",
        min=1,
        max=1024,
        help="Split the sequences into N parts that are worked on side by side.",
    ),
]
Jobs: TypeAlias = Annotated[
    int,
    typer.Option(
        "--jobs",
        metavar="N",
        min=1,
        max=1024,
        help="Processes that work on the parts; the result does not depend on it.",
    ),
]
EngineOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="local|dask|dask:ADDRESS",
        help="Who works on the parts: processes of this machine, or a Dask cluster: one of its own, "
        "or dask://HOST:PORT, or dask:FILE.json; the result does not depend on it.",
    ),
]
BatchSize: TypeAlias = Annotated[
    int,
    typer.Option("--batch-size", metavar="N", min=1, max=10**9, help="Time-points in a batch."),
]
FluentOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--fluent", metavar="NAME", help="Only this fluent; may be repeated."),
]
Seed: TypeAlias = Annotated[
    int, typer.Option("--seed", help="The seed of every random choice.", min=0)
]


def option_of(each: Declared, panel: str | None, **further: Any) -> Any:
    """Return an option that a dataclass declares as the command line has it."""
    spec = each.spec
    return typer.Option(
        f"--{each.spelling}",
        metavar=spec.metavar,
        help=spec.about,
        min=spec.at_least,
        max=spec.at_most,
        rich_help_panel=panel,
        **further,
    )


_INPUT: Final = {each.name: each for each in declared(InputOptions) if each.on_command}

DomainOption: TypeAlias = Annotated[str | None, option_of(_INPUT["domain"], _INPUT_PANEL)]
_Limits: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=N",
        help="Raise a limit of reading: bytes, line, columns, nesting, problems (line=4MB); may be repeated.",
        rich_help_panel=_INPUT_PANEL,
    ),
]

Parameters: TypeAlias = tuple[tuple[str, Any, Any], ...]
"""Options of a command: name, annotation and default of each."""


def _input_parameter(each: Declared) -> tuple[str, Any, Any]:
    default = each.default
    kind = (each.spec.kind or str) | None if default is None else type(default)
    return each.name, Annotated[kind, option_of(each, _INPUT_PANEL)], default


_PARAMETERS: Parameters = (*map(_input_parameter, _INPUT.values()), ("limits", _Limits, None))


def with_input_options(command: Callable[..., R]) -> Callable[..., R]:
    """Give a command the options that say what its input means.

    The command takes them as one value, ``options: InputOptions``.
    """
    return _with_several_files(bundled(command, "options", _input_options, _PARAMETERS))


def _input_options(**values: Any) -> InputOptions:
    values["limits"] = LIMITS.raised(values["limits"] or ())
    return InputOptions(**values)


def _with_several_files(command: Callable[..., R]) -> Callable[..., R]:
    """Let a command whose last argument is an input take several files for it."""
    parameters = inspect.signature(command).parameters
    last, info = None, None
    for name, parameter in parameters.items():
        for part in getattr(parameter.annotation, "__metadata__", ()):
            if isinstance(part, ArgumentInfo):
                last, info = name, part
    if (
        last is None
        or info is None
        or SEVERAL_FILES not in parameters[last].annotation.__metadata__
    ):
        return command

    @wraps(command)
    def run(**values: Any) -> R:
        from splice.inputs.open import InputName

        return command(**{**values, last: InputName(*values[last])})

    hints = {name: parameter.annotation for name, parameter in parameters.items()}
    hints[last] = Annotated[list[str], info]
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter.replace(annotation=hints[name]) for name, parameter in parameters.items()]
    )
    run.__annotations__ = hints
    del run.__wrapped__
    return run


def moment_of(text: str, options: InputOptions, time_format: TimeFormat | None = None) -> int:
    """Return a time-point as a number; timestamps are read as in tables.

    ``known`` says how the input writes its times, where it has been read.
    """
    import polars as pl

    from splice.io.tables.values import is_timestamp, read_times
    from splice.stream.table import NO_TIME

    unit = (time_format.unit if time_format else None) or options.time_unit
    cell = pl.Series([text])
    times, bad = read_times(cell, unit)
    if bad[0] or times[0] == NO_TIME or (unit is None and is_timestamp(cell)[0]):
        unit = "write it as the input does" if unit else "timestamps need --time-unit"
        raise SpliceError(f"'{text}' is not a time-point", unit)
    return int(times[0])


def bundled(
    command: Callable[..., R], bundle: str, make: Callable[..., Any], parameters: Parameters
) -> Callable[..., R]:
    """Give a command some options, which it takes as one value, made of them."""
    names = [name for name, _, _ in parameters]

    # typer makes the options of a command from its signature. The function that it sees has each option
    # as a parameter of its own; the command behind it gets one value made of them.
    @wraps(command)
    def run(**values: Any) -> R:
        chosen = {name: values.pop(name) for name in names}
        return command(**values, **{bundle: make(**chosen)})

    kept = [
        parameter.replace(
            kind=inspect.Parameter.KEYWORD_ONLY, annotation=_hint(parameter.annotation, command)
        )
        for name, parameter in inspect.signature(command).parameters.items()
        if name != bundle
    ]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)
        for name, hint, default in parameters
    ]
    run.__signature__ = inspect.Signature([*kept, *added])  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in (*kept, *added)}
    del run.__wrapped__  # which inspect would follow, to the signature of the command itself
    return run


def _hint(annotation: Any, command: Callable[..., Any]) -> Any:
    """Return what an annotation means.

    That of a value which is bundled later stays text: its type is loaded only when a command runs.
    """
    try:
        return eval(annotation, command.__globals__) if isinstance(annotation, str) else annotation
    except NameError:
        return annotation
