"""``splice status``: how a live run stands."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from splice.cli.console import Format, emit
from splice.cli.options import Printed
from splice.errors import SpliceError
from splice.live.project import Project
from splice.live.status import summary


def status(
    target: Annotated[
        str, typer.Argument(metavar="RULES|PROJECT", help="What `splice run` was started with.")
    ],
    state: Annotated[
        Path | None, typer.Option("--state", metavar="DIR", help="Where its checkpoints are.")
    ] = None,
    style: Printed = Format.TABLE,
) -> None:
    """Say how a live run stands: what it has read, said and learned, by its last checkpoint.

    The run may be under way, stopped or killed: its checkpoint is read and not touched.
    """
    project = Project.find(target, state=state)
    fields = summary(project, time.time())
    if fields is None:
        hint = "start it with `splice run`, or name its --state"
        raise SpliceError(f"no live run has left a checkpoint in '{project.state}'", hint)
    rows = [{"what": name.replace("_", " "), "value": str(value)} for name, value in fields.items()]
    emit(rows, style, fields)
