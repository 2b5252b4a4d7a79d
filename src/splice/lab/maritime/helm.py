"""Steering one vessel: knots of a path, with how it is reported between them.

A path is a row of knots (a time and a place) and straight legs between them. A leg also says how
often the vessel reports on it and how much its speed and its course waver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from splice.arrays import Floats, expand_ranges
from splice.lab.maritime.positions import KNOT, Positions, concatenated

SILENT: Final = 1e9
"""The period of a leg on which nothing is reported."""

_UNDERWAY: Final = 9.0
_RIDING: Final = 10.0
_MOORED: Final = 180.0


@dataclass(frozen=True, slots=True)
class _Legs:
    """Some legs: where and when each one starts, and how it is reported."""

    time: Floats
    place: np.ndarray[tuple[int], np.dtype[np.complex128]]
    period: Floats
    wobble: Floats
    yaw: Floats


class Helm:
    """A vessel under way through its script: it grows by the legs it is told to make."""

    def __init__(self, rng: np.random.Generator, time: float, place: complex) -> None:
        self.rng = rng
        self.time = time
        self.place = place
        self._legs: list[_Legs] = []

    def sail(self, to: complex, knots: float, arrive: float | None = None) -> None:
        """Sail to a place, with small turns on the way; ``arrive`` sets the time it may take."""
        way = to - self.place
        length = abs(way)
        takes = length / (knots * KNOT) if arrive is None else max(arrive - self.time, 1.0)
        if length < 1.0:
            self._add(np.array([takes]), np.array([to]), _UNDERWAY, 0.15, 2.0)
            return
        count = max(1, round(takes / self.rng.uniform(95, 170)))
        share = np.arange(1, count + 1) / count
        aside = self.rng.normal(0, 0.115 * length / count, count) * (np.arange(count) < count - 1)
        places = self.place + way * share + 1j * way / length * aside
        steps = np.abs(np.diff(places, prepend=self.place))
        pace = steps * np.exp(self.rng.normal(0, 0.05, count))
        self._add(takes * pace / pace.sum(), places, _UNDERWAY, 0.2, 2.0)

    def arrive(self, to: complex, knots: float, at: float) -> None:
        """Come to a place at a time, slowing down on the last kilometre."""
        way = to - self.place
        last = min(abs(way), 900.0)
        unit = way / abs(way) if abs(way) else 1.0
        ramp = ((0.45, 8.0), (0.30, 6.0), (0.25, 3.2))
        slow = [(share * last, min(speed, knots)) for share, speed in ramp]
        takes = sum(length / (speed * KNOT) for length, speed in slow)
        self.sail(to - unit * last, knots, at - takes)
        for length, speed in slow:
            self._add(
                np.array([max(length, 1.0) / (speed * KNOT)]),
                np.array([self.place + unit * length]),
                _UNDERWAY,
                0.15,
                3.0,
            )

    def wander(
        self, seconds: float, low: float, high: float, leg: float = 45.0, home: float = 1.0
    ) -> None:
        """Move slowly this way and that, between two speeds, and end up where it began.

        ``home`` is how much of the way is undone: 1 returns exactly.
        """
        rng = self.rng
        count = max(2, round(seconds / leg))
        takes = rng.gamma(6.0, 1.0, count)
        takes *= seconds / takes.sum()
        knots = np.clip(0.5 * (low + high) + 0.28 * (high - low) * _drifting(rng, count), low, high)
        side = np.where(np.arange(count) % 2, 1.0, -1.0)
        turn = rng.uniform(0, 2 * np.pi) + side * rng.uniform(0.9, 2.2, count)
        turn += np.cumsum(rng.normal(0, 0.25, count))
        path = np.cumsum(knots * KNOT * takes * np.exp(1j * turn))
        path -= home * path[-1] * (np.arange(1, count + 1) / count)
        self._add(takes, self.place + path, _UNDERWAY, 0.12, 3.0)

    def ride(self, seconds: float, knots: float, wobble: float, leg: float = 120.0) -> None:
        """Lie stopped and drift about, reporting often; speed wavers around some knots."""
        self._swing(seconds, knots, wobble, leg, _RIDING)

    def moor(self, seconds: float) -> None:
        """Lie still, reporting every few minutes."""
        self._swing(seconds, 0.05, 0.04, 900.0, _MOORED)

    def silence(self, seconds: float, to: complex | None = None) -> None:
        """Report nothing, and turn up again here or elsewhere."""
        place = self.place if to is None else to
        self._add(np.array([seconds]), np.array([place]), SILENT, 0.05, 2.0)

    def _swing(
        self, seconds: float, knots: float, wobble: float, leg: float, period: float
    ) -> None:
        count = max(1, round(seconds / leg))
        takes = self.rng.gamma(5.0, 1.0, count)
        takes *= seconds / takes.sum()
        turn = self.rng.uniform(0, 2 * np.pi) + np.cumsum(self.rng.normal(0, 0.9, count))
        path = np.cumsum(knots * KNOT * takes * np.exp(1j * turn))
        path -= path[-1] * (np.arange(1, count + 1) / count)
        self._add(takes, self.place + path, period, wobble, 4.0)

    def _add(
        self,
        takes: Floats,
        places: np.ndarray[tuple[int], np.dtype[np.complex128]],
        period: float,
        wobble: float,
        yaw: float,
    ) -> None:
        ends = self.time + np.cumsum(takes)
        count = len(takes)
        self._legs.append(
            _Legs(
                np.concatenate(([self.time], ends[:-1])),
                np.concatenate(([self.place], places[:-1])),
                np.full(count, period),
                np.full(count, wobble),
                np.full(count, yaw),
            )
        )
        self.time, self.place = float(ends[-1]), complex(places[-1])

    def legs(self) -> _Legs:
        """Return the whole path; the last leg is only its start."""
        end = _Legs(
            np.array([self.time]), np.array([self.place]), np.ones(1), np.zeros(1), np.zeros(1)
        )
        parts = [*self._legs, end]
        return concatenated(_Legs, parts)


def _drifting(rng: np.random.Generator, count: int) -> Floats:
    """Return a random walk that stays around 0 with a spread of about 1."""
    noise = rng.normal(0, 1, count + 3)
    return (noise[3:] + noise[2:-1] + noise[1:-2] + noise[:-3]) / 2


def report(
    helm: Helm, vessel: int, rng: np.random.Generator, start: float, end: float
) -> Positions:
    """Return what a vessel reports of its path between two times."""
    legs = helm.legs()
    time, place = legs.time, legs.place
    # Legs are straight: from place to place (complex numbers, in metres) at one speed. Each is reported
    # ``count`` times, at its start and then about evenly; the last leg is only an end.
    takes, way = np.diff(time), np.diff(place)
    count = np.maximum(1, (takes / legs.period[:-1]).astype(np.int64))
    leg, number = expand_ranges(np.zeros_like(count), count)
    share = (number + rng.uniform(0, 0.4, len(leg)) * (number > 0)) / count[leg]
    seconds = np.floor(time[leg] + share * takes[leg]).astype(np.int64)
    knots: Floats = np.abs(way) / np.maximum(takes, 1e-9) / KNOT
    speed: Floats = np.abs(knots[leg] + legs.wobble[leg] * rng.normal(size=len(leg)))
    course = np.degrees(np.angle(way))[leg] + legs.yaw[leg] * rng.normal(size=len(leg))
    spot = place[leg] + share * way[leg]
    kept = np.ones(len(leg), bool)
    kept[1:] = np.diff(seconds) > 0
    kept &= (seconds >= start) & (seconds < end)
    return Positions(
        np.full(int(kept.sum()), vessel, np.int64),
        seconds[kept],
        spot.real[kept],
        spot.imag[kept],
        np.round(speed[kept], 2),
        np.round((90.0 - course[kept]) % 360.0, 1),
    )
