"""Maritime: vessels at sea, simulated, and the encounters of pairs of them.

A simulator in the image of one month of vessel traces off Brest. Each vessel leads a random life
under way, slow, stopped and silent, and each pair meets now and then, at sea or where it does not
count (:mod:`.life`, :mod:`.helm`); critical points are derived from the reported positions by stated
thresholds (:mod:`.critical`, :mod:`.sea`, :mod:`.proximity`), and the labels are what the
theory that ships says about them (:mod:`.atoms`). Times are seconds, a sequence is a pair.

>>> maritime = make_maritime(vessels=4, days=0.5, seed=1)
>>> maritime
MaritimeSource(4 vessels, 0.5 days, seed 1)
>>> list(maritime.vocabulary.sequences)
['pair-001', 'pair-002']
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from splice.errors import SpliceError, UnknownName
from splice.lab.maritime.helm import report
from splice.lab.maritime.life import SPECIAL, TYPES, live
from splice.lab.maritime.positions import THRESHOLDS, Positions
from splice.lab.maritime.proximity import proximity
from splice.lab.maritime.sea import AREAS
from splice.lab.maritime.words import TARGETS, WordChoice, Words, word_domain
from splice.logic.domain import Domain
from splice.stream.source import ReadReport, Source
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Vocabulary

if TYPE_CHECKING:
    from splice.lab.maritime.atoms import SeaLabeller

__all__ = ["PRESETS", "MaritimeSource", "Preset", "WordChoice", "make_maritime", "month", "small"]

START: Final = 1_443_657_600
"""When the simulation begins: 1 October 2015, in seconds since 1970."""

_DAY: Final = 86_400
_BLOCK: Final = 120.0
"""How many days of pairs are simulated in one go."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A size: how many vessels, for how many days."""

    vessels: int
    days: float


PRESETS: Final = {"small": Preset(12, 2.3), "month": Preset(514, 30.0)}
"""Sizes that have a name: a few sequences, and the month of the paper."""


@dataclass(frozen=True, eq=False)
class MaritimeSource:
    """A simulated stream; it is made anew, block by block, whenever it is read."""

    vessels: int
    days: float
    seed: int
    choice: WordChoice = WordChoice.Y2019
    target: str = "rendezvous"
    report: ReadReport = field(default_factory=ReadReport)

    def __repr__(self) -> str:
        return f"MaritimeSource({self.vessels} vessels, {self.days:g} days, seed {self.seed})"

    @cached_property
    def domain(self) -> Domain:
        """What the atoms mean."""
        return word_domain(self.choice, self.target)

    @property
    def vocabulary(self) -> Vocabulary:
        """The dictionary of all chunks."""
        return self._words.vocabulary

    @cached_property
    def _words(self) -> Words:
        pairs = self.vessels // 2
        words = Words.of(
            [f"V{i + 1:03d}" for i in range(self.vessels)],
            [f"pair-{i + 1:03d}" for i in range(pairs)],
        )
        words.vocabulary.constants.codes([*TYPES, *SPECIAL, "farFromPorts"])
        return words

    def chunks(self) -> Iterator[AtomTable]:
        """Yield the atoms of some pairs at a time."""
        from splice.lab.maritime.atoms import SeaLabeller  # noqa: PLC0415  (numba: only when read)

        fluents = self.choice is WordChoice.FULL
        labeller = SeaLabeller(self._words, self.domain, self.target, fluents=fluents)
        pairs = self.vessels // 2
        size = max(1, int(_BLOCK / self.days))
        for first in range(0, pairs, size):
            yield self._block(labeller, range(first, min(first + size, pairs)))

    def _block(self, labeller: SeaLabeller, pairs: range) -> AtomTable:
        from splice.lab.maritime.atoms import events_of, pair_rows  # noqa: PLC0415

        positions, types = self.positions(pairs)
        code = self._words.vocabulary.constants
        kinds = np.full(self.vessels, -1, np.int64)
        kinds[2 * pairs.start : 2 * pairs.stop] = code.codes(types)
        events = events_of(positions, AREAS, self._words, THRESHOLDS)
        near = proximity(positions, THRESHOLDS, np.arange(self.vessels) // 2)
        sequences = np.arange(pairs.start, pairs.stop, dtype=np.int64)
        both = np.column_stack((2 * sequences, 2 * sequences + 1))
        rows = pair_rows(both, sequences, events, near, self._words, kinds)
        return labeller.label(rows, both, sequences)

    def positions(self, pairs: range) -> tuple[Positions, list[str]]:
        """Return what the vessels of some pairs report, and the types of these vessels."""
        end = START + self.days * _DAY
        parts: list[Positions] = []
        types: list[str] = []
        for pair in pairs:
            # A small sea has no pilot by chance; whoever asks for pilots wants one in every pair.
            special = "pilot" if self.target == "pilotOps" else _special(self.seed, pair)
            script = live(_rng(self.seed, pair, 0), START, end, special)
            noise = _rng(self.seed, pair, 1)
            types += script.types
            for side, helm in enumerate(script.helms):
                parts.append(report(helm, 2 * pair + side, noise, START, end))
        return Positions.concat(parts), types


_MOST_VESSELS: Final = 1_000_000


def make_maritime(
    vessels: int = PRESETS["small"].vessels,
    days: float = PRESETS["small"].days,
    seed: int = 0,
    *,
    choice: WordChoice = WordChoice.Y2019,
    target: str = "rendezvous",
) -> MaritimeSource:
    """Return a simulation of pairs of vessels; nothing is made before it is read.

    The same arguments give the same data, and a pair does not depend on how many follow it. Time
    grows with vessels times days, memory does not.

    Parameters
    ----------
    vessels
        How many; an even number, since a pair is a sequence.
    days
        How long they are watched.
    seed
        The seed of every random choice.
    choice
        Which atoms a learner sees: those of the 2019 experiments, or areas and fluents, too.
    target
        The composite event that is labelled: ``rendezvous``, or ``pilotOps``, where every pair has a pilot vessel.
    """
    if vessels > _MOST_VESSELS:
        raise SpliceError(f"the number of vessels must be at most {_MOST_VESSELS:,}, not {vessels}")
    if vessels < 2 or vessels % 2:
        raise SpliceError(
            f"the number of vessels must be even and at least 2, not {vessels}",
            "vessels come in pairs: a pair is a sequence",
        )
    if not 1e-3 <= days <= 3660:
        raise SpliceError(f"the number of days must be from 0.001 to 3660, not {days}")
    if seed < 0:
        raise SpliceError(f"the seed must not be negative: {seed}", "use 0, 1, 2, ...")
    if target not in TARGETS:
        raise UnknownName("target", target, TARGETS)
    return MaritimeSource(vessels, days, seed, choice, target)


def _special(seed: int, pair: int) -> str:
    """Return the type of a pilot vessel or a tug for one pair in eight, an empty string else."""
    group, number = divmod(pair, 8)
    chosen = int(_rng(seed, group, 2).integers(8))
    return SPECIAL[group % 2] if number == chosen else ""


def _rng(seed: int, pair: int, purpose: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(pair, purpose)))


def small() -> Source:
    """Return the dataset ``maritime-small``; it is made anew at each reading."""
    return make_maritime(PRESETS["small"].vessels, PRESETS["small"].days)


def month() -> Source:
    """Return the dataset ``maritime``; it is made anew at each reading."""
    return make_maritime(PRESETS["month"].vessels, PRESETS["month"].days)
