"""Damage, by chance that can be repeated: of bytes, and of the values inside a state."""

from __future__ import annotations

import copy
import random
import re
from typing import Any

__all__ = ["mutated_bytes", "mutated_value"]

_NUMBERS = [
    "0", "-0", "-1", "1", "2147483648", "4294967296", "9223372036854775807", "-9223372036854775808",
    "9223372036854775808", "18446744073709551616", "9" * 30, "9" * 5000, "1e308", "1e309", "-1e400", "1e-400", "NaN",
    "inf", "0x10", "1_000", "1.5", ".5", "00", "１", "1e", "+1",
]  # fmt: skip
_WORDS = [
    "", " ", "\t", "\n", "\r", "\r\n", "\0", "\x1b[31m", "\ufeff", "\u202e", "\u2028", "😀", "'", '"', '""', "'''",
    '"""', ",", ";", "|", "(", ")", "((", "[", "]", "{", "}", "[[", "{{", "<", ">", "=", ":", ":-", "::", ".", "..",
    "...", "!", "?", "%", "//", "/*", "*/", "#", "\\", "\\x41", "_", "X", "T", "not", "mod", "null", "true", "false",
    "a" * 300, "HoldsAt", "holdsAt", "happensAt", "initiatedAt", "watched", "2024-01-01T00:00:00Z", "1970-01-01",
    "9999-12-31T23:59:59.999999", "0001-01-01", "../x", "/dev/null", "[/x]", "***", "{0}", "(" * 200, "[" * 200, "a." * 200,
]  # fmt: skip
_VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2, 10**6, 2**31, 2**53, 2**63 - 1, -(2**63), 0.5, -1.5, 1e308, "", "x", "0", "-1",
    "a" * 300, "[/x]", [], {}, [[]], [{}], {"": None}, [0], [None], ["x"], [[0, 0, 0, 0]], "initiatedAt(f(X),T)", "p(X,T).",
]  # fmt: skip
_DIGITS = re.compile(rb"[0-9]+")


def mutated_bytes(data: bytes, others: list[bytes], chance: random.Random) -> bytes:
    """Return bytes with one to four kinds of damage."""
    for _ in range(chance.choice((1, 1, 1, 2, 2, 4))):
        data = chance.choice(_DAMAGES)(data, others, chance)
    return data[: 1 << 20]


def _flip(data: bytes, _: list[bytes], chance: random.Random) -> bytes:
    found = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        if found:
            found[chance.randrange(len(found))] = chance.randrange(256)
    return bytes(found)


def _span(data: bytes, chance: random.Random, most: int = 80) -> tuple[int, int]:
    start = chance.randint(0, len(data))
    return start, min(len(data), start + chance.randint(0, most))


def _delete(data: bytes, _: list[bytes], chance: random.Random) -> bytes:
    start, stop = _span(data, chance)
    return data[:start] + data[stop:]


def _insert(data: bytes, _: list[bytes], chance: random.Random) -> bytes:
    at = chance.randint(0, len(data))
    word = chance.choice(_WORDS + _NUMBERS).encode()
    return data[:at] + word + data[at:]


def _replace(data: bytes, _: list[bytes], chance: random.Random) -> bytes:
    start, stop = _span(data, chance, 12)
    return data[:start] + chance.choice(_WORDS).encode() + data[stop:]


def _number(data: bytes, _: list[bytes], chance: random.Random) -> bytes:
    found = list(_DIGITS.finditer(data))
    if not found:
        return data
    match = chance.choice(found)
    return data[: match.start()] + chance.choice(_NUMBERS).encode() + data[match.end() :]


def _repeat(data: bytes, _: list[bytes], chance: random.Random) -> bytes:
    start, stop = _span(data, chance)
    return data[:start] + data[start:stop] * chance.choice((2, 3, 50)) + data[stop:]


def _swap(data: bytes, _: list[bytes], chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    i, j = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]
    return b"\n".join(lines)


def _cross(data: bytes, others: list[bytes], chance: random.Random) -> bytes:
    other = chance.choice(others)
    start, stop = _span(other, chance, 400)
    at = chance.randint(0, len(data))
    return data[:at] + other[start:stop] + data[at:]


def _cut(data: bytes, _: list[bytes], chance: random.Random) -> bytes:
    return data[: chance.randint(0, len(data))]


_DAMAGES = (_flip, _delete, _insert, _replace, _number, _number, _repeat, _swap, _cross, _cut)


def mutated_value(value: Any, chance: random.Random) -> Any:
    """Return a copy of plain values of which one to three are others, missing or there twice."""
    found = copy.deepcopy(value)
    for _ in range(chance.choice((1, 1, 2, 3))):
        places = list(_places(found))
        if places:
            _damage(*chance.choice(places), chance)
    return found


def _places(value: Any) -> Any:
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


def _damage(owner: Any, key: Any, chance: random.Random) -> None:
    kind, old = chance.randrange(8), owner[key]
    if kind == 0:
        del owner[key]
    elif kind == 1 and isinstance(owner, list):
        owner.insert(key, copy.deepcopy(old))
    elif kind == 1:
        owner[f"{key}x"] = old
    elif kind == 2 and isinstance(old, str):
        owner[key] = mutated_bytes(old.encode(), [b"x"], chance).decode("utf-8", "replace")
    elif kind == 3 and isinstance(old, int | float):
        owner[key] = old + chance.choice((-1, 1, 0.5, 1000, -(10**9)))
    elif kind == 4 and isinstance(old, list):
        owner[key] = old * chance.choice((0, 2, 100))
    elif kind == 5 and isinstance(old, list):
        owner[key] = old[: chance.randint(0, len(old))]
    else:
        owner[key] = copy.deepcopy(chance.choice(_VALUES))
