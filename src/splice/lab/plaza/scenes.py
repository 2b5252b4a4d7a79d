"""Scenes: who does what, when.

A director fills the time of every actor with scenes, always for the actor who is free first.
Some scenes are what the labels are about (meet, move together); others only look like it:
people pass each other, cross, overtake, walk the same way far apart, or stand near each other
for a moment without interacting.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from splice.lab.plaza.actors import FIDGET, MEET, MOVE, STILL, Act, Actor, Leg, Point, Stage

_PATIENCE = 60
"""How many frames somebody waits for a partner who is busy."""
_SLOW = 0.9
"""The slowest walk, in pixels a frame."""

_FAR = (70.0, 170.0)
"""How far people walk together before they turn."""

# Each scene stands with the share of it and of all before it: a number drawn from [0, 1) picks the first above.
_TOGETHER = (
    (0.38, "meet"),
    (0.77, "move"),
    (0.80, "pass"),
    (0.85, "cross"),
    (0.90, "overtake"),
    (0.94, "apart"),
    (1.00, "loiter"),
)
_ALONE = ((0.35, "walk"), (0.60, "run"), (0.90, "stand"), (1.00, "step_out"))


@dataclass(frozen=True, slots=True)
class Script:
    """One sequence: where everybody starts, their legs, and what they do together.

    The legs of every actor tile the frames from 0 on, to the end of the sequence or beyond.
    """

    starts: tuple[Point, ...]
    legs: tuple[tuple[Leg, ...], ...]
    acts: tuple[Act, ...]
    size: tuple[float, float]


def write_script(rng: np.random.Generator, people: int, frames: int) -> Script:
    """Make up what happens in one sequence."""
    director = _Director(rng, people, frames)
    director.run()
    return Script(
        tuple(actor.start for actor in director.actors),
        tuple(tuple(actor.legs) for actor in director.actors),
        tuple(director.acts),
        (director.stage.width, director.stage.height),
    )


class _Director:
    """Gives actors something to do until the sequence is over."""

    def __init__(self, rng: np.random.Generator, people: int, frames: int) -> None:
        self.stage = Stage(rng, people)
        self.frames = frames
        self.acts: list[Act] = []
        self.actors = [self._newcomer(index) for index in range(people)]

    def run(self) -> None:
        """Play scenes until nobody is free before the end."""
        while True:
            actor = min(self.actors, key=lambda a: a.frame)
            if actor.frame >= self.frames:
                return
            if actor.frame >= actor.leaves:
                self._leave(actor)
                actor.vanish(self.frames - actor.frame)
                continue
            partners = self._partners(actor)
            if partners and self.stage.chance(0.85):
                self._play_together([actor, *partners])
            else:
                self._play_alone(actor)

    def _newcomer(self, index: int) -> Actor:
        leaves = int(self.stage.between(0.7, 1.2) * self.frames)
        inside = self.stage.anywhere()
        if self.stage.chance(0.3):
            return Actor(index, inside, self.stage.angle(), leaves)
        door = self.stage.door(inside)
        actor = Actor(index, door, door.angle_to(inside), leaves)
        actor.vanish(int(self.stage.between(0.0, self.frames / 6)))
        self._go(actor, inside)
        return actor

    def _partners(self, actor: Actor) -> list[Actor]:
        """Return one or two of the nearest people who will be free soon."""
        soon = actor.frame + _PATIENCE
        free = [a for a in self.actors if a is not actor and a.frame <= min(soon, a.leaves)]
        free.sort(key=lambda a: a.place.distance(actor.place))
        if len(free) > 1 and self.stage.chance(0.3):
            free[0], free[1] = free[1], free[0]
        return free[: 2 if self.stage.chance(0.2) else 1]

    def _play_together(self, members: list[Actor]) -> None:
        scene = self.stage.choose(_TOGETHER)
        if scene == "meet":
            self._meet(members)
        elif scene == "move":
            self._move(members)
        elif scene == "loiter":
            self._loiter(members[:2])
        else:
            self._stroll(members[:2], scene)

    def _play_alone(self, actor: Actor) -> None:
        scene = self.stage.choose(_ALONE)
        if scene == "walk":
            self._go(actor, self.stage.anywhere())
        elif scene == "run":
            place = self.stage.anywhere()
            actor.walk(place, actor.place.distance(place) / self.stage.between(2.8, 4.0))
        elif scene == "stand":
            self._linger(actor, actor.frame + int(self.stage.between(20, 90)))
        else:
            self._leave(actor)
            actor.vanish(int(self.stage.between(30, 90)))
            self._go(actor, self.stage.anywhere())

    def _meet(self, members: Sequence[Actor], *, follows: bool = False) -> None:
        centre = self.stage.inside(_middle(members), 25.0)
        gap = self.stage.about(18.0, 5.5, (9.0, 34.0))
        radius = gap / (2 * math.sin(math.pi / len(members)))
        turn = centre.angle_to(members[0].place)
        step = 2 * math.pi / len(members)
        places = [centre.offset(turn + i * step, radius) for i in range(len(members))]
        start = self._gather(members, places, punctual=0.8)
        end = start + int(self.stage.between(110, 320))
        for actor in members:
            self._linger(actor, end, actor.place.angle_to(centre))
        self._act(MEET, members, start, end)
        if not follows and self.stage.chance(0.2):
            self._move(members, follows=True)
        else:
            self._part(members)

    def _move(self, members: Sequence[Actor], *, follows: bool = False) -> None:
        """Let people join, on the way, and go on side by side."""
        middle = self.stage.clamp(_middle(members))
        join = (5.0, 15.0) if follows else (50.0, 110.0)
        here = self.stage.onward(middle, self.stage.angle(), join)
        goal = self.stage.onward(here, middle.angle_to(here), _FAR)
        gap = self.stage.about(17.0, 6.0, (8.0, 38.0))
        start = self._gather(members, _abreast(here, here.angle_to(goal), gap, len(members)))
        self._walk_abreast(members, here, goal, gap)
        self._act(MOVE, members, start, members[0].frame)
        if not follows and self.stage.chance(0.2):
            self._meet(members, follows=True)
        else:
            self._part(members)

    def _walk_abreast(self, members: Sequence[Actor], here: Point, goal: Point, gap: float) -> None:
        """Walk to a goal and perhaps on to others, now and then with a pause before."""
        speed = self.stage.between(_SLOW, 1.5)
        more = True
        while more:
            heading = here.angle_to(goal)
            duration = here.distance(goal) / speed
            places = _abreast(goal, heading, gap, len(members))
            for actor, place in zip(members, places, strict=True):
                error = self.stage.between(0.0, 4.0)
                actor.walk(place.offset(self.stage.angle(), error), duration)
            more = self.stage.chance(0.6)
            if more and self.stage.chance(0.06):
                self._pause(members)
            here, goal = goal, self.stage.onward(goal, heading, _FAR)

    def _pause(self, members: Sequence[Actor]) -> None:
        """Let people who move together stop for a moment."""
        until = members[0].frame + int(self.stage.between(8, 25))
        for actor in members:
            self._linger(actor, until)

    def _loiter(self, pair: Sequence[Actor]) -> None:
        centre = self.stage.inside(_middle(pair), 25.0)
        turn, gap = self.stage.angle(), self.stage.between(16.0, 34.0)
        places = [centre.offset(turn, gap / 2), centre.offset(turn + math.pi, gap / 2)]
        end = self._gather(pair, places) + int(self.stage.between(8, 30))
        for actor in pair:
            self._linger(actor, end, self.stage.angle())
        self._part(pair)

    def _stroll(self, pair: Sequence[Actor], scene: str) -> None:
        """Let two people walk past each other in one of several ways."""
        centre = self.stage.inside(_middle(pair), 25.0)
        heading = self.stage.angle()
        back, left = heading + math.pi, heading + math.pi / 2
        side = centre.offset(left, self.stage.between(6.0, 20.0))
        half = self.stage.between(35.0, 55.0)
        if scene == "apart":
            side = centre.offset(left, self.stage.between(42.0, 75.0))
        start, end = {"pass": (heading, back), "cross": (left, -left)}.get(scene, (back, heading))
        reach = half / 2 if scene == "overtake" else half  # who is overtaken has half the way
        ways = (
            (centre.offset(back, reach), centre.offset(heading, reach)),
            (side.offset(start, half), side.offset(end, half)),
        )
        self._gather(pair, [way[0] for way in ways])
        duration = 2 * half / self.stage.between(1.2, 1.7)
        for actor, way in zip(pair, ways, strict=True):
            actor.walk(way[1], duration)

    def _gather(
        self, members: Sequence[Actor], places: Sequence[Point], punctual: float = 1.0
    ) -> int:
        """Bring everybody to a place of their own and return the frame when all are there.

        The ``punctual`` share of those with time to spare set out late; others wait there.
        """
        ways = [actor.place.distance(place) for actor, place in zip(members, places, strict=True)]
        due = max(
            actor.frame + max(1, math.ceil(way / self.stage.between(1.2, 1.6)))
            for actor, way in zip(members, ways, strict=True)
        )
        for actor, place, way in zip(members, places, ways, strict=True):
            frames = max(1, min(due - actor.frame, math.ceil(way / _SLOW)))
            if self.stage.chance(punctual):
                self._linger(actor, due - frames)
            actor.walk(place, frames)
            self._linger(actor, due)
        return due

    def _part(self, members: Sequence[Actor]) -> None:
        """Let people go apart, now and then with one who stays or runs."""
        turn = self.stage.angle()
        for i, actor in enumerate(members):
            away = turn + 2 * math.pi * i / len(members) + self.stage.between(-0.5, 0.5)
            place = self.stage.clamp(actor.place.offset(away, self.stage.between(50.0, 110.0)))
            if i and self.stage.chance(0.15):
                self._linger(actor, actor.frame + int(self.stage.between(15, 50)))
            elif self.stage.chance(0.2):
                actor.walk(place, actor.place.distance(place) / self.stage.between(2.8, 4.0))
            else:
                self._go(actor, place)

    def _linger(self, actor: Actor, until: int, facing: float | None = None) -> None:
        """Stand until a frame, by turns active and inactive."""
        restless = self.stage.chance(0.5)
        while actor.frame < until:
            frames = min(until - actor.frame, int(self.stage.between(15, 70)))
            actor.stand(frames, FIDGET if restless else STILL, facing)
            restless = not restless

    def _go(self, actor: Actor, place: Point) -> None:
        actor.walk(place, actor.place.distance(place) / self.stage.between(_SLOW, 1.7))

    def _leave(self, actor: Actor) -> None:
        self._go(actor, self.stage.door(actor.place))

    def _act(self, fluent: str, members: Sequence[Actor], start: int, end: int) -> None:
        self.acts.append(Act(fluent, tuple(sorted(a.index for a in members)), start, end))


def _middle(members: Sequence[Actor]) -> Point:
    return Point(
        sum(actor.place.x for actor in members) / len(members),
        sum(actor.place.y for actor in members) / len(members),
    )


def _abreast(centre: Point, heading: float, gap: float, count: int) -> list[Point]:
    """Return places side by side, square to a heading."""
    return [centre.offset(heading + math.pi / 2, gap * (i - (count - 1) / 2)) for i in range(count)]
