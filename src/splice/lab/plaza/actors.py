"""Actors: people who walk, run, stand and vanish, leg after leg.

What an actor does is a list of legs that tile its time from frame 0 on: each leg says when it
ends, where the actor is then, and how restless it is on the way.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

MEET: Final = "meet"
MOVE: Final = "move"

STILL: Final = 0.08
"""How far, in pixels, somebody who stands still strays from the spot."""
FIDGET: Final = 1.5
"""How far somebody who is active on the spot strays from it."""
SWAY: Final = 0.5
"""How far a walker strays from the straight line."""


class Point(NamedTuple):
    """A place in the square, in pixels."""

    x: float
    y: float

    def ahead(self, angle: float, distance: float) -> Point:
        """Return the place at a distance in a direction (radians)."""
        return Point(self.x + distance * math.cos(angle), self.y + distance * math.sin(angle))

    def angle_to(self, other: Point) -> float:
        """Return the direction of another place (radians)."""
        return math.atan2(other.y - self.y, other.x - self.x)

    def distance(self, other: Point) -> float:
        """Return how far another place is."""
        return math.hypot(other.x - self.x, other.y - self.y)


class Leg(NamedTuple):
    """From where the last leg ended to ``place`` at frame ``end``.

    ``stray`` is the size of the wobble around the straight line, ``facing`` the direction of
    the body in radians, ``seen`` whether the actor is in the square at all.
    """

    end: int
    place: Point
    stray: float
    facing: float
    seen: bool


class Act(NamedTuple):
    """What some people do together from frame ``start`` until before frame ``end``."""

    fluent: str
    members: tuple[int, ...]
    start: int
    end: int


class Actor:
    """One person: the legs so far, and the frame and place where they end."""

    def __init__(self, index: int, place: Point, facing: float, leaves: int) -> None:
        self.index = index
        self.start = place
        self.place = place
        self.facing = facing
        self.leaves = leaves
        self.frame = 0
        self.legs: list[Leg] = []

    def walk(self, place: Point, frames: float) -> None:
        """Go straight to a place and take that many frames (at least one)."""
        if place != self.place:
            self.facing = self.place.angle_to(place)
        self._leg(max(1, math.ceil(frames)), place, SWAY, seen=True)

    def stand(self, frames: int, stray: float, facing: float | None = None) -> None:
        """Stay on the spot for some frames, if there are any."""
        if facing is not None:
            self.facing = facing
        if frames > 0:
            self._leg(frames, self.place, stray, seen=True)

    def vanish(self, frames: int) -> None:
        """Be out of sight for some frames, if there are any."""
        if frames > 0:
            self._leg(frames, self.place, 0.0, seen=False)

    def _leg(self, frames: int, place: Point, stray: float, *, seen: bool) -> None:
        self.frame += frames
        self.place = place
        self.legs.append(Leg(self.frame, place, stray, self.facing, seen))
