"""A report as JSON, and back: the folder that ``splice demo --report DIR`` leaves.

Each value is an object that names its class; whatever is read is checked field by field, so a
damaged file is an error that says where, never a surprise while drawing.
"""

from __future__ import annotations

import json
import math
import types
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from splice.errors import InputError, OutputError, Place, Problem, SpliceError
from splice.io.outputs import new_folder
from splice.io.text import read_text
from splice.report import document
from splice.report.document import Report

__all__ = ["FILE", "from_json", "load", "save", "to_json"]

FILE: Final = "report.json"
"""The name of the file in the folder."""

_FORMAT: Final = 1
_HINT: Final = "make the report again"


def save(report: Report, folder: Path) -> None:
    """Write a report into a folder of its own."""
    plain = {"format": _FORMAT, "report": to_json(report)}
    try:
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise OutputError("the report has a number that JSON cannot hold") from None
    with new_folder(folder) as partial:
        (partial / FILE).write_text(text + "\n", encoding="utf-8")


def load(folder: Path) -> Report:
    """Read a report from a folder."""
    path = folder / FILE
    try:
        plain = json.loads(read_text(path))
    except (ValueError, RecursionError):
        raise _damaged(path, "not JSON") from None
    if not isinstance(plain, dict) or plain.get("format") != _FORMAT:
        raise _damaged(path, "not a report of this version")
    try:
        report = from_json(plain.get("report"), Report)
    except _Bad as bad:
        raise _damaged(path, f"damaged at {bad}") from None
    assert isinstance(report, Report)
    return report


def _damaged(path: Path, what: str) -> InputError:
    return InputError(Problem(Place(str(path)), what, hint=_HINT))


def to_json(value: Any) -> Any:
    """Return a value of :mod:`.document` as plain JSON.

    >>> to_json(document.Note("hello"))
    {'is': 'Note', 'text': 'hello', 'title': ''}
    """
    if is_dataclass(value):
        own = {f.name: to_json(getattr(value, f.name)) for f in fields(value)}
        return {"is": type(value).__name__, **own}
    if isinstance(value, tuple):
        return [to_json(part) for part in value]
    return value.value if isinstance(value, Enum) else value


class _Bad(Exception):
    """The path to what is wrong, from the inside out."""


def from_json(plain: Any, wanted: Any, path: str = "report") -> Any:
    """Return the value that JSON stands for, of the wanted type.

    >>> from_json({"is": "Note", "text": "hello"}, document.Note)
    Note(text='hello', title='')
    """
    origin = get_origin(wanted)
    if origin in (Union, types.UnionType):
        return _one_of(plain, get_args(wanted), path)
    if origin is tuple:
        return _many(plain, get_args(wanted), path)
    if is_dataclass(wanted):
        return _object(plain, wanted, path)
    if isinstance(wanted, type) and issubclass(wanted, Enum):
        if plain not in [member.value for member in wanted]:
            raise _Bad(path)
        return wanted(plain)
    return _simple(plain, wanted, path)


def _simple(plain: Any, wanted: Any, path: str) -> Any:
    if wanted is float and isinstance(plain, int | float) and not isinstance(plain, bool):
        if not math.isfinite(plain):
            raise _Bad(path)
        return plain
    if wanted is types.NoneType and plain is None:
        return None
    if type(plain) is not wanted:
        raise _Bad(path)
    return plain


def _one_of(plain: Any, choices: tuple[Any, ...], path: str) -> Any:
    if isinstance(plain, dict):
        chosen = [c for c in choices if is_dataclass(c) and _name(c) == plain.get("is")]
        if not chosen:
            raise _Bad(path)
        return from_json(plain, chosen[0], path)
    for choice in choices:
        try:
            return from_json(plain, choice, path)
        except _Bad:
            continue
    raise _Bad(path)


def _many(plain: Any, inner: tuple[Any, ...], path: str) -> tuple[Any, ...]:
    if not isinstance(plain, list) or len(inner) != 2 or inner[1] is not Ellipsis:
        raise _Bad(path)
    return tuple(from_json(part, inner[0], f"{path}[{i}]") for i, part in enumerate(plain))


def _object(plain: Any, wanted: Any, path: str) -> Any:
    if not isinstance(plain, dict) or plain.get("is") != _name(wanted):
        raise _Bad(path)
    hints = _hints(wanted)
    if not set(plain) <= {"is", *hints}:
        raise _Bad(f"{path}.{min(set(plain) - {'is', *hints})}")
    own = {}
    for field in fields(wanted):
        if field.name in plain:
            own[field.name] = from_json(
                plain[field.name], hints[field.name], f"{path}.{field.name}"
            )
        elif field.default is MISSING:
            raise _Bad(f"{path}.{field.name}")
    try:
        return wanted(**own)
    except SpliceError as error:
        raise _Bad(f"{path}: {error.message}") from None


@cache
def _hints(wanted: Any) -> dict[str, Any]:
    return get_type_hints(wanted, vars(document))


def _name(wanted: Any) -> str:
    return str(wanted.__name__)
