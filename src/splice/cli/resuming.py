"""What ``--resume`` needs: where the checkpoint is, what the run is, and how it begins and ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Final

from splice.cli.console import note
from splice.cli.learning_options import Choices
from splice.errors import InputError, OutputError, SpliceError
from splice.inputs.open import InputOptions, input_paths
from splice.io.checkpoints import Keeper
from splice.io.outputs import check_file
from splice.io.sums import files_in, sum_of

__all__ = ["begin", "checkpoint_of", "identity_of", "kept"]

_ENDING: Final = ".checkpoint"
_NAME: Final = f"learn{_ENDING}"


def checkpoint_of(
    out: Path | None, checkpoint: Path | None, data: str, *, resume: bool
) -> Path | None:
    """Return where the checkpoint of a run is: as asked, or beside its output; else nowhere."""
    if checkpoint is None:
        if out is None and resume:
            hint = "name the run's --out THEORY, or its --checkpoint FILE"
            raise SpliceError("--resume does not say which run goes on", hint)
        return None if out is None else out.with_name(out.name + _ENDING)
    place = checkpoint / _NAME if checkpoint.is_dir() else checkpoint
    if out is not None and place.resolve() == out.resolve():
        raise OutputError("the theory and the checkpoint have one name", "give them two")
    check_file(place, input_paths(data), force=True)
    return place


def identity_of(data: str, options: InputOptions, choices: Choices) -> dict[str, str]:
    """Return what a run is asked to do: runs of one identity give the same theory."""
    asked = {name.replace("_", "-"): _said(value) for name, value in asdict(options).items()}
    files = list(files_in(input_paths(data)))
    return {
        "version": version("splice-cer"),
        **choices.exact,
        **asked,
        "input": sum_of(files) if files else data,
    }


def _said(value: object) -> str:
    """Return an option as text; of a file, its sum."""
    if isinstance(value, str | Path) and Path(value).is_file():
        return sum_of(files_in([Path(value)]))
    return str(value)


def begin(keeper: Keeper, *, resume: bool, force: bool) -> None:
    """Take up an interrupted run, or make sure that a new one is in nobody's way."""
    if not resume:
        keeper.make_room(force=force)
    elif keeper.take_up():
        state = keeper.resumed or {}
        note(f"going on after batch {state['batch']:,} of pass {state['pass'] + 1}")
    else:
        note(f"there is no checkpoint '{keeper.path}': learning from the start")


@contextmanager
def kept(keeper: Keeper | None) -> Iterator[None]:
    """Say how to go on when a run is interrupted; forget it where its input is bad."""
    try:
        yield
    except InputError:
        if keeper and keeper.saved:
            keeper.remove()
        raise
    except KeyboardInterrupt:
        if keeper and (keeper.saved or keeper.resumed):
            note(f"kept '{keeper.path}': --resume goes on from it")
        raise
