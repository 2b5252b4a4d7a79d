"""Options that name a format; apart from the others, since formats load the readers behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any, Final, TypeAlias

import typer

from splice.inputs.languages import written_formats


def one_of(names: Callable[[], Iterable[str]]) -> dict[str, Any]:
    """Return how an option is read whose value is one of some names, in any case."""

    def read(text: str) -> str:
        choices = list(names())
        if text.lower() not in choices:
            raise typer.BadParameter(f"'{text}' is not one of {', '.join(choices)}")
        return text.lower()

    return {"parser": read, "metavar": "|".join(names())}


DATA_FORMAT: Final = one_of(written_formats)
"""How the name of a format is read that data is written in."""

Written: TypeAlias = Annotated[
    str | None,
    typer.Option("--out-format", help="What to write (default: as the input).", **DATA_FORMAT),
]
