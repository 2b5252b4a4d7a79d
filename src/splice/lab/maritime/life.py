"""What vessels do: a semi-Markov life of each one, and the encounters of a pair.

Between two encounters a vessel calls at a port, coasts, anchors, fishes, cruises or falls
silent, for random times. Encounters come in kinds: at sea for a while, which is what the
rendezvous rule describes, and hard negatives that look like it (:class:`Meeting`). The
script only moves vessels; what is a rendezvous is for the rule to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from itertools import cycle
from typing import Final

import numpy as np

from splice.lab.maritime import sea
from splice.lab.maritime.helm import Helm
from splice.lab.maritime.positions import KNOT

HOUR: Final = 3600.0
_ROUGH: Final = (0.35, 0.16)
"""Speed and waver of a vessel that rides in rough water, in knots."""

TYPES: Final = ("passenger", "cargo", "fishing", "tanker", "sailing")
SPECIAL: Final = ("tug", "pilot")
_TYPE_SHARES: Final = (0.24, 0.28, 0.24, 0.14, 0.10)


class Meeting(Enum):
    """A kind of encounter."""

    AT_SEA = auto()
    AT_PORT = auto()
    AT_COAST = auto()
    SHORT = auto()
    PASSING = auto()
    CONVOY = auto()
    GAP = auto()


_DECKS: Final = (
    (*[Meeting.AT_SEA] * 4, Meeting.AT_PORT, Meeting.SHORT, Meeting.PASSING, Meeting.GAP),
    (*[Meeting.AT_SEA] * 4, *[Meeting.AT_COAST] * 2, Meeting.PASSING, Meeting.CONVOY),
)
"""Encounters come as from shuffled decks of cards, one deck after the other."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two vessels after their time: their types and their paths."""

    types: tuple[str, str]
    helms: tuple[Helm, Helm]


def live(rng: np.random.Generator, start: float, end: float, special: str = "") -> Pair:
    """Write the script of a pair of vessels from one time to another.

    ``special`` is the type of one of the two, where it is no common one.
    """
    types = [str(name) for name in rng.choice(TYPES, 2, p=_TYPE_SHARES)]
    if special:
        types[int(rng.integers(2))] = special
    helms = (
        Helm(rng, start - 1, sea.at_sea(rng)),
        Helm(rng, start - 1, sea.at_sea(rng)),
    )
    for kind in _deal(rng):
        at = max(helm.time for helm in helms) + rng.uniform(4.5, 12.5) * HOUR
        if at >= end:
            break
        place = _place(rng, kind)
        for helm in helms:
            _spend(helm, place, at)
        at = max(at, *(h.time + _takes(h.place, place, 18.0) + 500 for h in helms))
        _come(helms[0], place - 60, at, brakes=True)
        _come(helms[1], place + 60, at, brakes=kind is not Meeting.PASSING)
        _meet(rng, kind, helms)
    for helm in helms:
        while helm.time < end:
            _ACTS[int(rng.choice(len(_ACTS), p=_SHARES))](helm, 3 * HOUR)
    return Pair((types[0], types[1]), helms)


def _deal(rng: np.random.Generator) -> Iterator[Meeting]:
    """Yield encounters without end."""
    for deck in cycle(_DECKS):
        for card in rng.permutation(len(deck)).tolist():
            yield deck[card]


def _place(rng: np.random.Generator, kind: Meeting) -> complex:
    if kind is Meeting.AT_PORT:
        return sea.PORTS[int(rng.integers(len(sea.PORTS)))] + 700j
    if kind is Meeting.AT_COAST:
        return sea.coastal(rng)
    return sea.at_sea(rng)


def _spend(helm: Helm, place: complex, at: float) -> None:
    """Fill the time until a vessel has to leave for an encounter."""
    while (left := at - helm.time - _takes(helm.place, place, 9.0)) > 1.2 * HOUR:
        _ACTS[int(helm.rng.choice(len(_ACTS), p=_SHARES))](helm, 0.7 * left)


def _come(helm: Helm, place: complex, at: float, *, brakes: bool) -> None:
    """Be at a place in time; whoever only passes does not brake."""
    knots = helm.rng.uniform(9, 15)
    slack = at - helm.time - _takes(helm.place, place, knots) - 600
    if slack > 60:
        helm.moor(slack)
    if brakes:
        helm.arrive(place, knots, at)
    else:
        helm.sail(place, knots, at)


def _takes(start: complex, end: complex, knots: float) -> float:
    return abs(end - start) / (knots * KNOT)


def _port_call(helm: Helm, most: float) -> None:
    """Sail along the coast into a port, ride there for a while, and be silent."""
    rng = helm.rng
    port = sea.PORTS[int(rng.integers(len(sea.PORTS)))]
    knots = rng.uniform(6.5, 10.5)
    helm.sail(sea.coastal(rng), knots)
    helm.arrive(port, knots, helm.time + _takes(helm.place, port, knots) + 300)
    helm.ride(rng.uniform(0.05, 0.5) * HOUR, *_ROUGH)
    helm.silence(max(0.55 * HOUR, min(most, rng.uniform(1.5, 6.0) * HOUR)))
    helm.ride(rng.uniform(0.03, 0.15) * HOUR, *_ROUGH)
    helm.sail(sea.coastal(rng), knots)


def _coast(helm: Helm, _most: float) -> None:
    """Sail along the coast, past the ports."""
    rng = helm.rng
    first, second = sea.coastal(rng), sea.coastal(rng)
    knots = rng.uniform(6.5, 10.5)
    helm.sail(first, knots)
    helm.sail(second, knots)
    if rng.uniform() < 0.5:
        helm.sail(sea.coastal(rng), knots)


def _anchor(helm: Helm, most: float) -> None:
    """Lie at an anchorage, in calm and in rough water."""
    rng = helm.rng
    spot = sea.anchorage(rng)
    helm.arrive(spot, rng.uniform(9, 13), helm.time + _takes(helm.place, spot, 10.0) + 400)
    helm.ride(min(most, rng.uniform(0.05, 0.5) * HOUR), *_ROUGH)
    helm.moor(min(most, rng.uniform(0.8, 4.5) * HOUR))


def _fish(helm: Helm, most: float) -> None:
    """Move slowly over a fishing ground."""
    rng = helm.rng
    helm.sail(sea.grounds(rng), rng.uniform(9, 13))
    helm.wander(min(most, rng.uniform(0.3, 1.2) * HOUR), 2.0, 4.8, leg=120.0, home=0.0)


def _cruise(helm: Helm, _most: float) -> None:
    """Sail to a place at sea."""
    helm.sail(sea.at_sea(helm.rng), helm.rng.uniform(9, 16))


def _hush(helm: Helm, _most: float) -> None:
    """Sail on without reporting."""
    to = sea.at_sea(helm.rng)
    helm.silence(max(0.55 * HOUR, _takes(helm.place, to, 10.0)), to)


_ACTS: Final[tuple[Callable[[Helm, float], None], ...]] = (
    _port_call,
    _coast,
    _anchor,
    _fish,
    _cruise,
    _hush,
)
_SHARES: Final = (0.28, 0.15, 0.22, 0.09, 0.22, 0.04)


def _meet(rng: np.random.Generator, kind: Meeting, helms: tuple[Helm, Helm]) -> None:
    """Let two vessels meet at a place where both have just arrived."""
    lasts = float(np.clip(np.exp(rng.normal(np.log(1210), 0.71)), 260, 3 * HOUR))
    if kind is Meeting.SHORT:
        lasts = rng.uniform(60, 170)
    if kind in (Meeting.PASSING, Meeting.CONVOY):
        _pass(rng, kind, helms)
        return
    rides = rng.uniform(size=2) < 0.35
    for helm, lies in zip(helms, rides, strict=True):
        _stay_close(helm, lasts if kind is not Meeting.GAP else 0.4 * lasts, bool(lies))
    if kind is Meeting.GAP:
        _stay_close(helms[0], 0.4 * lasts + 0.6 * HOUR, bool(rides[0]))
        helms[1].silence(rng.uniform(0.52, 0.6) * HOUR)
        _stay_close(helms[1], 0.4 * lasts, bool(rides[1]))
    away = np.exp(1j * rng.uniform(0.2, np.pi - 0.2))
    for helm, side in zip(helms, (away, -away.conjugate()), strict=True):
        helm.sail(helm.place + side * 1500, rng.uniform(7, 10))


def _stay_close(helm: Helm, seconds: float, lies: bool) -> None:
    if lies:
        helm.ride(seconds, 0.22, 0.05, leg=50.0)
    else:
        helm.wander(seconds, 1.2, 3.6)


def _pass(rng: np.random.Generator, kind: Meeting, helms: tuple[Helm, Helm]) -> None:
    """Let one vessel pass a slow one, or both sail on side by side."""
    first, second = helms
    if kind is Meeting.PASSING:
        first.wander(rng.uniform(300, 1500), 1.2, 3.6)
        second.sail(second.place + 2500 * np.exp(1j * rng.uniform(0.1, 3.0)), rng.uniform(8, 14))
        return
    way = rng.uniform(3_000, 9_000) * np.exp(1j * rng.uniform(0, np.pi))
    knots = rng.uniform(7, 11)
    start = max(first.time, second.time)
    for helm in helms:
        helm.sail(helm.place + way, knots, start + abs(way) / (knots * KNOT))
