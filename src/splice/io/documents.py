"""JSON and TOML in: values of bounded depth and size, or a located error.

Both parsers of the standard library call themselves for each level and take integers of any length, so
that a few kilobytes can exhaust the stack and some dotted keys the memory. What would do so is refused
before it is parsed.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any, Final

from splice.errors import InputError, Place, Problem
from splice.limits import LIMITS, Limits

_AT: Final = re.compile(r"\(at line (\d+), column (\d+)\)|\(at end of document\)")
_JSON_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_TOML_STRING: Final = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"""|\Z)|\'\'\'.*?(?:\'\'\'|\Z)|"(?:[^"\\\n]|\\.)*"?|\'[^\'\n]*\'?|#[^\n]*',
    re.DOTALL,
)
_BRACKETS: Final = re.compile(r"[][{}]")
_KEY_ENDS: Final = re.compile(r"[=\[\]{},\n]")
_LONG: Final = re.compile(r"[0-9a-fA-F_]{16,}|[01_]{64,}")
_LARGEST: Final = 2**63
_DIGITS: Final = 400
"""So long may a number be that JSON writes out; none of ours has more than 20 digits."""


def parse_json(text: str, file: str, limits: Limits = LIMITS) -> Any:
    """Return the value of a JSON text; numbers are finite, and integers have 64 bits.

    >>> parse_json('{"a": [1, 2.5, null]}', "x.json")
    {'a': [1, 2.5, None]}
    """
    _check_depth(_JSON_STRING.sub(_blank, text), file, limits)
    try:
        return json.loads(text, parse_int=_integer, parse_float=_float, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        place = Place(file, error.lineno, error.colno)
        shown = text.split("\n")[error.lineno - 1][:200]
        raise InputError(Problem(place, f"no JSON: {error.msg}", shown)) from None
    except (ValueError, RecursionError) as error:
        raise InputError(Problem(Place(file, 1, 1), f"no JSON: {error}")) from None


def parse_toml(text: str, file: str, limits: Limits = LIMITS) -> dict[str, Any]:
    """Return the table of a TOML text; integers have 64 bits, as the format demands.

    >>> parse_toml("a.b = [1, 2]", "x.toml")
    {'a': {'b': [1, 2]}}
    """
    plain = _TOML_STRING.sub(_blank, text)
    _check_depth(plain, file, limits)
    _check_keys(plain, file, limits)
    lines = text.split("\n")
    hint = "texts stand in quotes, lists in [ ], tables under [name]"
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        message = str(error) or "nested too deep"
        at = _AT.search(message)
        line, column = (int(at[1]), int(at[2])) if at and at[1] else (len(text.splitlines()), 1)
        shown = lines[line - 1] if 0 < line <= len(lines) else ""
        message = f"not valid TOML: {_AT.sub('', message).strip()}"
        raise InputError(Problem(Place(file, line, column), message, shown, hint)) from None
    except ValueError:  # Python reads no integer of more than some thousand digits
        raise _too_large(lines, file) from None
    if not all(-_LARGEST <= value < _LARGEST for value in _integers(table)):
        raise _too_large(lines, file)
    return table


def _too_large(lines: list[str], file: str) -> InputError:
    line = next((i for i, text in enumerate(lines, 1) if _LONG.search(text)), 1)
    message = "not valid TOML: an integer of more than 64 bits"
    return InputError(
        Problem(Place(file, line, 1), message, lines[line - 1], "write a smaller one")
    )


def _blank(match: re.Match[str]) -> str:
    """Return what stands for a text: nothing but its line ends."""
    return "\n" * match[0].count("\n")


def _check_depth(plain: str, file: str, limits: Limits) -> None:
    depth = 0
    for bracket in _BRACKETS.finditer(plain):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > limits.nesting:
            line = plain.count("\n", 0, bracket.start()) + 1
            raise limits.exceeded("nesting", Place(file, line, 1))


def _check_keys(plain: str, file: str, limits: Limits) -> None:
    """Refuse keys of too many parts: each part makes a table inside the one before."""
    for part in _KEY_ENDS.split(plain):
        if part.count(".") > limits.nesting:
            line = plain.count("\n", 0, plain.index(part)) + 1
            raise limits.exceeded("nesting", Place(file, line, 1), part[:200])


def _integers(value: Any) -> Iterator[int]:
    if isinstance(value, int):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _integers(item)


def _integer(digits: str) -> int:
    if len(digits) > _DIGITS or not -_LARGEST <= int(digits) < _LARGEST:
        raise ValueError("an integer of more than 64 bits")
    return int(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError("a number that is too large")
    return value


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON value")
