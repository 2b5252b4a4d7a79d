"""The stage: a square with a border, and the dice that pick places on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from splice.lab.plaza.actors import Point

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
        for attempt in range(1, 9):
            angle = heading + self.between(-0.25, 0.25) * attempt
            goal = place.ahead(angle, self.between(*distance))
            if goal == self.clamp(goal):
                return goal
        return Point(self.width / 2, self.height / 2).ahead(self.angle(), 60.0)

    def inside(self, place: Point, error: float) -> Point:
        """Return a place near a given one, away from the border."""
        return self.clamp(place.ahead(self.angle(), self.between(0.0, error)))

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
