"""Actors, who walk, run, stand and vanish, leg after leg; and the stage, a square with a border.

What an actor does is a list of legs that tile its time from frame 0 on: each leg says when it
ends, where the actor is then, and how restless it is on the way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

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

    def offset(self, angle: float, distance: float) -> Point:
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


WIDTH: Final = 384
HEIGHT: Final = 288
_CROWD = 4
"""The number of people for whom the square has that size; it grows with more of them."""
_MARGIN = 30.0
"""How far from the border people do things."""


class Stage:
    """A square for some people, and everything random about a script."""

    def __init__(self, rng: np.random.Generator, people: int) -> None:
        growth = max(1.0, math.sqrt(people / _CROWD))
        self.rng = rng
        self.width, self.height = WIDTH * growth, HEIGHT * growth

    def chance(self, share: float) -> bool:
        """Return true in that share of all cases."""
        return self.rng.random() < share

    def between(self, low: float, high: float) -> float:
        """Return a number between two others, all equally likely."""
        return low + (high - low) * self.rng.random()

    def about(self, mean: float, spread: float, bounds: tuple[float, float]) -> float:
        """Return a number that is normally distributed, but stays within bounds."""
        return min(max(float(self.rng.normal(mean, spread)), bounds[0]), bounds[1])

    def angle(self) -> float:
        """Return any direction (radians)."""
        return self.between(-math.pi, math.pi)

    def choose(self, scenes: Sequence[tuple[float, str]]) -> str:
        """Return a scene; each stands with the share of it and all before it."""
        drawn = self.rng.random()
        return next(scene for share, scene in scenes if drawn < share)

    def anywhere(self) -> Point:
        """Return any place that is not too near the border."""
        return Point(
            self.between(_MARGIN, self.width - _MARGIN),
            self.between(_MARGIN, self.height - _MARGIN),
        )

    def onward(self, place: Point, heading: float, distance: tuple[float, float]) -> Point:
        """Return a place at a distance in about that direction, or where there is room."""
        # Each attempt looks further to both sides; who is in a corner after eight of them goes to the middle.
        for attempt in range(1, 9):
            angle = heading + self.between(-0.25, 0.25) * attempt
            goal = place.offset(angle, self.between(*distance))
            if goal == self.clamp(goal):
                return goal
        return Point(self.width / 2, self.height / 2).offset(self.angle(), 60.0)

    def inside(self, place: Point, error: float) -> Point:
        """Return a place near a given one, away from the border."""
        return self.clamp(place.offset(self.angle(), self.between(0.0, error)))

    def clamp(self, place: Point) -> Point:
        """Return the nearest place that is away from the border."""
        return Point(
            min(max(place.x, _MARGIN), self.width - _MARGIN),
            min(max(place.y, _MARGIN), self.height - _MARGIN),
        )

    def door(self, place: Point) -> Point:
        """Return the nearest place on the border."""
        doors = (Point(0.0, place.y), Point(self.width, place.y),
                 Point(place.x, 0.0), Point(place.x, self.height))  # fmt: skip
        return min(doors, key=place.distance)
