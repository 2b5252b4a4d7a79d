"""Values as a reader wants to see them: only what is not as usual."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

__all__ = ["changes"]


def changes(value: Any, usual: Any) -> str:
    """Return the fields of a dataclass that differ from another one, as they are written in a call.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Options:
    ...     depth: int = 2
    ...     delta: float = 0.01
    >>> changes(Options(depth=1), Options())
    'depth=1'
    """
    pairs = ((field.name, getattr(value, field.name)) for field in fields(value))
    return ", ".join(f"{name}={own!r}" for name, own in pairs if own != getattr(usual, name))
