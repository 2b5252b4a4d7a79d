"""Values of the package as plain JSON and back: options, profiles, strategies and their enumerations.

A dataclass or a member of an enumeration is written with the place of its class. What is read back must
be one of these in this package: nothing else is ever made or called, whatever a file says.

>>> from splice.labels import Unlabelled
>>> to_plain({"unlabelled": Unlabelled.SKIP, "depth": 2})
{'unlabelled': {'of': 'splice.labels:Unlabelled', 'value': 'skip'}, 'depth': 2}
>>> from_plain(to_plain([Unlabelled.SKIP]))
[<Unlabelled.SKIP: 'skip'>]
"""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from splice.errors import SpliceError

_CLASS: Final = "of"
_PACKAGE: Final = __name__.partition(".")[0]


def to_plain(value: Any) -> Any:
    """Return a value as JSON holds it; what is of no class of the package is an error."""
    if isinstance(value, Enum):
        return {_CLASS: _place(type(value)), "value": value.value}
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {_CLASS: "float", "value": str(value)}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, list | tuple | frozenset | set):
        items = sorted(value) if isinstance(value, frozenset | set) else value
        return [to_plain(item) for item in items]
    if isinstance(value, dict):
        return {str(key): to_plain(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        own = {
            each.name: to_plain(getattr(value, each.name)) for each in fields(value) if each.init
        }
        return {_CLASS: _place(type(value)), "fields": own}
    raise _stranger(type(value))


def from_plain(value: Any) -> Any:
    """Return the value that was written; lists that a dataclass holds become tuples again."""
    if isinstance(value, list):
        return [from_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    if _CLASS not in value:
        return {key: from_plain(item) for key, item in value.items()}
    try:
        return _made(value)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, SpliceError):
            raise
        raise SpliceError(
            f"this is no value of {str(value[_CLASS])[:80]}", "was it saved by another version?"
        ) from None


def _made(value: dict[str, Any]) -> Any:
    if value[_CLASS] == "float":
        return float(value["value"])
    cls = _class(str(value[_CLASS]))
    if issubclass(cls, Enum):
        return cls(value["value"])
    own = {name: from_plain(item) for name, item in value["fields"].items()}
    return cls(**{n: tuple(item) if isinstance(item, list) else item for n, item in own.items()})


def _place(cls: type) -> str:
    if cls.__module__.partition(".")[0] != _PACKAGE or "." in cls.__qualname__:
        raise _stranger(cls)
    return f"{cls.__module__}:{cls.__qualname__}"


def _class(place: str) -> type[Any]:
    module, _, name = place.partition(":")
    found: Any = None
    if module.partition(".")[0] == _PACKAGE:
        try:
            found = vars(import_module(module)).get(name)
        except ImportError:
            found = None
    if not isinstance(found, type) or not (is_dataclass(found) or issubclass(found, Enum)):
        raise SpliceError(f"there is no class '{place}' here", "was it saved by another version?")
    return found


def _stranger(cls: type) -> SpliceError:
    return SpliceError(
        f"a value of {cls.__module__}.{cls.__qualname__} cannot be saved",
        "only what comes with the package can; give your own again when you load",
    )
