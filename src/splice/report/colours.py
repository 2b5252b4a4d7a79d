"""Colours that read on white and on black, the same in pages and in pictures."""

from __future__ import annotations

from typing import Final

from splice.report.document import Lane, Role, Span

PALETTE: Final = (
    "#2f80c8",
    "#e07b1a",
    "#2a9d6a",
    "#c2478f",
    "#8468d8",
    "#b08a1c",
    "#20a3b5",
    "#d2524d",
)
NEUTRAL: Final = "#808792"
FAINT: Final = "#9aa1ab"

_ROLES: Final = {
    Role.GIVEN: PALETTE[0],
    Role.COMPLETED: PALETTE[0],
    Role.RECOGNISED: PALETTE[1],
    Role.TRUTH: PALETTE[2],
    Role.FIRING: PALETTE[3],
    Role.EVENT: NEUTRAL,
}
_LEAST: Final = 0.2
_FALSE: Final = 0.28


def colour(number: int) -> str:
    """Return the colour of a curve; a negative number is neutral."""
    return NEUTRAL if number < 0 else PALETTE[number % len(PALETTE)]


def rgb(code: str) -> tuple[int, int, int]:
    """Return the parts of a colour.

    >>> rgb("#ff8000")
    (255, 128, 0)
    """
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)


def shade(lane: Lane, span: Span) -> tuple[str, float]:
    """Return the colour of a span and how opaque it is: the surer, the stronger."""
    strength = min(abs(span.value), 1.0)
    if lane.role is Role.EVENT:
        return NEUTRAL, 0.9
    if span.value > 0:
        return _ROLES[lane.role], _LEAST + (1 - _LEAST) * strength
    return FAINT, _FALSE * (_LEAST + (1 - _LEAST) * strength)
