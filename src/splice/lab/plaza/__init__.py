"""Plaza: people in a square, what a tracker sees of them, and what an annotator says.

A simulator in the image of the CAVIAR data. In each sequence some people enter a square, walk,
run, stand, meet, move together and leave (:mod:`.scenes`); simple events,
closeness and orientation are derived from their places by CAVIAR's rules
(:mod:`.perception`); ``meet`` and ``move`` are labelled by what the people do, as somebody
who watches would (:mod:`.atoms`). Units are pixels and frames, 25 a second.

>>> plaza = make_plaza(sequences=2, people=3, frames=100, seed=1)
>>> plaza
Plaza(2 sequences, 3 people, 100 frames)
>>> plaza.source.vocabulary.sequences[0], plaza.tracks.columns
('plaza-001', ['sequence', 'frame', 'id', 'x', 'y', 'orientation', 'movement'])
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from splice.arrays import Mask
from splice.errors import SpliceError
from splice.inputs.domains import load_domain
from splice.lab.plaza.atoms import PERFECT, USUAL, Annotator, Slots, annotate, emit
from splice.lab.plaza.perception import MOVEMENTS, Sight, perceive, trace
from splice.lab.plaza.scenes import write_script
from splice.stream.source import MemorySource, Source
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Vocabulary

__all__ = ["PERFECT", "USUAL", "Annotator", "Plaza", "make_plaza", "plaza"]

_BLOCK: Final = 200_000
"""How many person-frames are simulated in one go."""


@dataclass(frozen=True, eq=False)
class Plaza:
    """A simulated stream and the tracks behind it.

    ``source`` gives the atoms; ``tracks`` has a row for every person at every frame where
    they are in the square, ordered by sequence, frame and person. Frames count from 0;
    whoever is still there before the last frame leaves at it.
    """

    source: MemorySource
    tracks: pl.DataFrame
    people: int
    frames: int

    def __repr__(self) -> str:
        count = len(self.source.vocabulary.sequences)
        return f"Plaza({count} sequences, {self.people} people, {self.frames} frames)"


_MOST_ATOMS: Final = 100_000_000


def make_plaza(
    sequences: int = 8,
    people: int = 4,
    frames: int = 600,
    seed: int = 0,
    annotator: Annotator = USUAL,
) -> Plaza:
    """Return a simulation of people in a square, as a source and as tracks.

    The same arguments give the same data, a sequence does not depend on how many follow it, and
    tracks do not depend on the annotator. Time and memory grow with frames times the square of
    people, since every ordered pair is labelled at every frame.

    Parameters
    ----------
    sequences
        How many scenes.
    people
        How many persons in each.
    frames
        How many frames each lasts, 25 a second.
    seed
        The seed of every random choice.
    annotator
        How well the labels follow what happens.
    """
    check_plaza(sequences, people, frames, seed)
    vocabulary = Vocabulary()
    slots = Slots.of(vocabulary, people)
    vocabulary.sequences.codes([f"plaza-{i + 1:03d}" for i in range(sequences)])
    tables: list[AtomTable] = []
    tracks: list[pl.DataFrame] = []
    for first, sight, labels in _blocks(sequences, people, frames, seed, annotator):
        tables += emit(slots, sight, labels, first)
        tracks.append(_tracks(sight, first))
    table = AtomTable.concat(tables, vocabulary)
    source = MemorySource(table, load_domain("plaza").domain)
    return Plaza(source, pl.concat(tracks), people, frames)


def _blocks(
    sequences: int, people: int, frames: int, seed: int, annotator: Annotator
) -> Iterator[tuple[int, Sight, Mask]]:
    """Yield the sequences some at a time: the first one's number, the sight and the labels."""
    size = max(1, _BLOCK // (people * frames))
    for first in range(0, sequences, size):
        numbers = range(first, min(first + size, sequences))
        scripts = [write_script(_rng(seed, i, 0), people, frames) for i in numbers]
        sight = perceive(trace(scripts, [_rng(seed, i, 1) for i in numbers], frames))
        labels = np.stack(
            [
                annotate(script.acts, present, annotator, _rng(seed, i, 2))
                for i, script, present in zip(numbers, scripts, sight.present, strict=True)
            ]
        )
        yield first, sight, labels


def _rng(seed: int, sequence: int, purpose: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(sequence, purpose)))


def _tracks(sight: Sight, first: int) -> pl.DataFrame:
    sequence, frame, person = np.nonzero(sight.present.transpose(0, 2, 1))
    here = (sequence, person, frame)
    count, people, _ = sight.present.shape
    names = pl.Series([f"plaza-{first + i + 1:03d}" for i in range(count)])
    ids = pl.Series([f"ID{i + 1}" for i in range(people)])
    return pl.DataFrame(
        {
            "sequence": names.gather(sequence),
            "frame": frame,
            "id": ids.gather(person),
            "x": sight.x[here],
            "y": sight.y[here],
            "orientation": sight.orientation[here],
            "movement": pl.Series(MOVEMENTS).gather(sight.movement[here].astype(np.int64)),
        }
    )


def check_plaza(sequences: int = 8, people: int = 4, frames: int = 600, seed: int = 0) -> None:
    """Refuse a square that cannot be simulated, or that would not fit into memory.

    Parameters
    ----------
    sequences
        How many scenes.
    people
        How many persons in each.
    frames
        How many frames each lasts.
    seed
        The seed of every random choice.
    """
    least = {"sequences": (sequences, 1), "people": (people, 1), "frames": (frames, 2)}
    for what, (value, low) in least.items():
        if value < low:
            raise SpliceError(
                f"the number of {what} must be at least {low}, not {value}",
                "everybody needs a frame to be seen in and one to leave at",
            )
    atoms = 2 * sequences * frames * people * (people - 1)
    if atoms > _MOST_ATOMS or sequences > _MOST_ATOMS:
        raise SpliceError(
            f"such a square has about {atoms:.3g} query atoms, and {_MOST_ATOMS:,} fit into memory",
            "take fewer sequences, frames or people, or several seeds",
        )
    if seed < 0:
        raise SpliceError(f"the seed must not be negative: {seed}", "use 0, 1, 2, ...")


def plaza() -> Source:
    """Return the dataset of this name: the square with all its defaults."""
    return make_plaza().source
