"""What the library has to say, in Python's words: warnings, and errors that speak of keywords."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Final

from splice.errors import InputError, Problem, SpliceError, SpliceWarning
from splice.inputs.frame_checks import duplicates
from splice.inputs.open import InputOptions
from splice.io.tables.frame_table import Frames
from splice.pipeline.learned import LearnOptions
from splice.pipeline.progress import Event, Notice, Read, Warned, Watch

_HERE: Final = str(Path(__file__).parents[1])
_ARGUMENTS: Final = {
    "complete": "completer",
    "no_complete": "completer=None",
    "sequence": "sequence=...",
}
"""What methods take, where the command has an option."""
_OPTION: Final = re.compile(r"--([a-z][a-z-]*[a-z])( [a-z0-9.]+)?")


def warn(text: str) -> None:
    """Warn at the line that called the package."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and not _is_outside(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    warnings.warn(in_python(text), SpliceWarning, stacklevel=level)


def _is_outside(file: str) -> bool:
    return not file.startswith(_HERE) and not file.endswith("contextlib.py")


def warned(watch: Watch, frames: Frames) -> Callable[[Event], None]:
    """Return a watcher that makes warnings of notices, and passes all events on."""
    if isinstance(watch, type) or not callable(watch):
        raise SpliceError(
            f"watch must be called with events, which {watch!r} is not for",
            "such as watch=splice.ProgressBar(), or a function of your own",
        )

    def see(event: Event) -> None:
        match event:
            case Notice(text):
                warn(text)
            case Warned(problem):
                warn(str(problem))
            case Read(report):
                for note in report.notes:
                    warn(note)
                if report.duplicates:
                    repeated = duplicates(frames) or f"{report.duplicates:,} rows say the same"
                    warn(f"{repeated}; what is said twice counts once")
                if report.bad:
                    examples = "\n".join(map(str, report.examples[:3]))
                    warn(f"{report.bad:,} bad rows were left out, such as\n{examples}")
            case _:
                pass
        watch(event)

    return see


@contextmanager
def in_keywords() -> Iterator[None]:
    """Let errors speak of keywords where they speak of the command's options."""
    try:
        yield
    except InputError as error:
        raise InputError(_first_of_each(error.problems), in_python(error.summary)) from None
    except SpliceError as error:
        error.message, error.hint = in_python(error.message), in_python(error.hint)
        raise


def _first_of_each(problems: Sequence[Problem]) -> Iterator[Problem]:
    """Yield the first of problems that are alike: a frame's column is wrong from top to bottom."""
    alike: dict[tuple[str, ...], list[Problem]] = {}
    for problem in problems:
        column = problem.place.within.partition("column ")[2]
        alike.setdefault((problem.place.file, column, problem.hint), []).append(problem)
    for first, *others in alike.values():
        more = f" (and {len(others):,} more like this)" if others else ""
        yield replace(first, message=first.message + more, hint=in_python(first.hint))


def in_python(text: str) -> str:
    """Return a text that says options as Python does.

    >>> in_python("sort the rows, or ask with --sort; declare one: --time-unit s")
    "sort the rows, or ask with sort=True; declare one: time_unit='s'"
    """
    return _OPTION.sub(_keyword, text)


def _keyword(match: re.Match[str]) -> str:
    name, value = match[1].replace("-", "_"), match[2] or ""
    options = {
        field.name: field.default for field in (*fields(InputOptions), *fields(LearnOptions))
    }
    if name not in options:
        return _ARGUMENTS.get(name, match[0])
    if isinstance(options[name], bool):
        return f"{name}=True{value}"
    return f"{name}={value.strip()!r}" if value else name
