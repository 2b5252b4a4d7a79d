"""What grows with the data: kinds of events for OSLa, numbers for OLED, fluents for a whole run.

Each is told against the same stream with less of it: OLED on the same events, words in the place of
numbers, one fluent in the place of ten.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.measure import report
from splice.arrays import Floats, Mask
from splice.completion.completer import SupervisionCompleter
from splice.learners.oled.learner import Oled
from splice.learners.osla.learner import Osla
from splice.logic.domain import Domain
from splice.logic.modes import Marker, Mode, Modes
from splice.logic.schema import Signature
from splice.logic.syntax import parse_atom
from splice.patterns.measures import find_measures, measured
from splice.pipeline.splice import Splice
from splice.stream.batch import TimePoints, batches
from splice.stream.mask import KeepBatches, MaskedSource
from splice.stream.source import MemorySource, RedefinedSource, Source
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Kind, Vocabulary

NUMBERS = ("speed", "depth", "heading")
WORDS = ("low", "middle", "high", "top")


class World:
    """Entities, time-points, and what is written down about them."""

    def __init__(self, points: int, entities: int) -> None:
        self.points, self.entities = points, entities
        self.vocabulary = Vocabulary()
        self._ids = self.vocabulary.constants.codes([f"v{i}" for i in range(entities)])
        self._sequence = self.vocabulary.sequences.code("s")
        self._parts: list[AtomTable] = []

    def happens(self, name: str, seen: Mask) -> None:
        """Write an event down where it is seen: a row a time-point, a column an entity."""
        time_, who = np.nonzero(seen)
        self._add(f"happensAt({name}(V0),V1)", ("id",), time_, [self._ids[who]])

    def measured(self, name: str, values: list[str]) -> None:
        """Write an argument down for every entity at every time-point."""
        time_, who = self._all()
        codes = self.vocabulary.constants.codes(values)
        self._add(
            f"happensAt({name}(V0,V1),V2)", ("id", f"{name}s"), time_, [self._ids[who], codes]
        )

    def holds(self, name: str, state: Mask) -> None:
        """Label a fluent."""
        time_, who = self._all()
        self._add(f"holdsAt({name}(V0),V1)", ("id",), time_, [self._ids[who]])
        labels = np.where(state.ravel(), 1, -1).astype(np.int8)
        self._parts[-1] = self._parts[-1].with_truth(labels)

    def source(self, domain: Domain | None = None) -> MemorySource:
        """Return the stream."""
        table = AtomTable.concat(self._parts, self.vocabulary).sorted()
        return MemorySource(table, domain or Domain())

    def _all(self) -> tuple[np.ndarray, np.ndarray]:
        points, entities = np.arange(self.points), np.arange(self.entities)
        return np.repeat(points, self.entities), np.tile(entities, self.points)

    def _add(
        self, text: str, types: tuple[str, ...], time_: np.ndarray, args: list[np.ndarray]
    ) -> None:
        kind = Kind(parse_atom(text), (*types, "time"), len(types))
        sequence = np.full(len(time_), self._sequence)
        code = self.vocabulary.kind(kind)
        made = AtomTable.of_kind(
            self.vocabulary, code, sequence, time_.astype(np.int64), np.column_stack(args)
        )
        self._parts.append(made)


def states(rng: np.random.Generator, points: int, entities: int, kinds: int) -> Mask:
    """Return what is seen of each kind of event: it comes and goes, and is there an eighth of the time."""
    share = 0.12
    now = rng.random((entities, kinds)) < share
    seen = np.zeros((points, entities, kinds), bool)
    for point in range(points):
        now ^= rng.random((entities, kinds)) < np.where(now, 0.1, 0.1 * share / (1 - share))
        seen[point] = now
    return seen


def inertial(starts: Mask, ends: Mask) -> Mask:
    """Return when a fluent holds that begins and ends so, from the next time-point on."""
    holds, on = np.zeros_like(starts), np.zeros(starts.shape[1], bool)
    for point in range(len(starts)):
        holds[point] = on
        on = (on | starts[point]) & ~ends[point]
    return holds


def kinds_of_events(points: int = 5000) -> dict[str, float]:
    """OSLa and OLED on 25,000 examples with 25 kinds of events."""
    rng = np.random.default_rng(1)
    seen = states(rng, points, 5, 25)
    world = World(points, 5)
    for kind in range(25):
        world.happens(f"e{kind}", seen[:, :, kind])
    starts = seen[:, :, 0] & seen[:, :, 1] | seen[:, :, 2] & ~seen[:, :, 3] & seen[:, :, 4]
    noise = rng.random(starts.shape) < 0.02
    world.holds("f", inertial(starts, seen[:, :, 5]) ^ noise)
    oled, osla = (seconds_of(make, world.source()) for make in (Oled, Osla))
    return {"examples": 5.0 * points, "oled": oled, "osla": osla}


def numbers(points: int = 4000) -> dict[str, float]:
    """OLED with three numbers an entity, in hindsight and online, and with words in their place."""
    rng = np.random.default_rng(1)
    walks = {name: np.cumsum(rng.normal(0, 0.4, (points, 4)), axis=0) for name in NUMBERS}
    values: dict[str, Floats] = {n: (8 + 8 * np.sin(w)).round(2) for n, w in walks.items()}
    alarm = inertial(values["speed"] >= 12, values["speed"] <= 4)
    made = {}
    for way in ("words", "numbers"):
        world = World(points, 4)
        for name, value in values.items():
            flat = value.ravel()
            words = [WORDS[int(min(v // 4, 3))] for v in flat]
            world.measured(name, words if way == "words" else [f"{v:g}" for v in flat])
        world.holds("alarm", alarm)
        made[way] = world.source(_numeric() if way == "numbers" else None)

    def hindsight() -> Source:
        return RedefinedSource(
            made["numbers"], partial(measured, measures=find_measures(made["numbers"]))
        )

    begun = time.process_time()
    compared = hindsight()
    reading = time.process_time() - begun
    return {
        "examples": 4.0 * points,
        "words": seconds_of(Oled, made["words"]),
        "hindsight": reading + seconds_of(Oled, compared),
        "online": seconds_of(Oled, made["numbers"]),
    }


def _numeric() -> Domain:
    """Return a domain in which the second argument of each event is measured."""
    markers = (Marker("."), Marker(".", numeric=True))
    modes = [Mode(Signature(n, 2), 1, markers, is_function=True) for n in NUMBERS]
    return Domain(modes=Modes(tuple(modes)))


def fluents(points: int = 800) -> dict[str, float]:
    """Completion and OLED for ten fluents, and for each of them alone; a tenth of the labels given."""
    rng = np.random.default_rng(1)
    seen = states(rng, points, 3, 12)
    seconds = []
    for chosen in (range(10), *([number] for number in range(10))):
        world = World(points, 3)
        for kind in range(12):
            world.happens(f"e{kind}", seen[:, :, kind])
        for number in chosen:
            world.holds(f"f{number}", inertial(seen[:, :, number], seen[:, :, number + 1]))
        masked = MaskedSource(world.source(), KeepBatches(10), 1, TimePoints(25))
        seconds.append(seconds_of(lambda: Splice(Oled(), SupervisionCompleter()), masked))
    return {"examples": 3.0 * points, "one": sum(seconds[1:]) / 10, "ten": seconds[0]}


def seconds_of(make: Callable[[], Oled | Osla | Splice], source: Source) -> float:
    """Return the processor time of learning a theory."""
    stream = list(batches(source, TimePoints(25)))
    begun = time.process_time()
    make().fit(stream).theory_  # noqa: B018  (choosing the theory is part of it)
    return time.process_time() - begun


if __name__ == "__main__":
    parts = {"kinds": kinds_of_events, "numbers": numbers, "fluents": fluents}
    chosen = sys.argv[1:] or list(parts)
    Splice(Oled(), SupervisionCompleter()).fit(batches(World(1, 1).source(), TimePoints(25)))
    report({name: parts[name]() for name in chosen})
