"""From reported positions (AIS) to a labelled stream of pairs of vessels.

The same code and the same thresholds as in the simulation turn positions into critical points. A
sequence is a pair of vessels that were near each other for a while, with all that happens to the
two. Positions are held in memory, some fifty bytes each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from splice.datasets.maritime.areas import Area
from splice.datasets.maritime.atoms import Events, Teller, events_of, pair_rows
from splice.datasets.maritime.positions import KNOT, Floats, Ints, Positions
from splice.datasets.maritime.proximity import Encounters, proximity
from splice.datasets.maritime.sea import AREA_TYPES
from splice.datasets.maritime.thresholds import THRESHOLDS, Thresholds
from splice.datasets.maritime.words import WordChoice, Words, word_domain
from splice.errors import InputError, Place, Problem
from splice.io.ais import read_ais, read_areas, read_vessel_types
from splice.logic.domain import Domain
from splice.stream.source import ReadReport
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Vocabulary

__all__ = ["AisOptions", "DerivedSource", "derive_ais", "put_together"]

_EARTH: Final = 6_371_000.0
_BLOCK: Final = 500_000
"""Pairs are told together until they have so many events."""


@dataclass(frozen=True, slots=True)
class AisOptions:
    """What goes with positions, how strictly they are read, and which pairs make a sequence.

    Pairs count that are near each other for ``min_near`` seconds at a stretch, at least once.
    """

    areas: Path | None = None
    vessels: Path | None = None
    sort: bool = False
    max_bad: float = 0.0
    min_near: int = 240
    thresholds: Thresholds = THRESHOLDS
    choice: WordChoice = WordChoice.Y2019
    target: str = "rendezvous"


@dataclass(frozen=True, eq=False)
class DerivedSource:
    """The pairs of vessels of some positions; what single vessels do is derived once."""

    words: Words
    domain: Domain
    events: Events
    near: Encounters
    types: Ints
    options: AisOptions
    report: ReadReport = field(default_factory=ReadReport)

    @property
    def vocabulary(self) -> Vocabulary:
        """The dictionary of all chunks."""
        return self.words.vocabulary

    @cached_property
    def pairs(self) -> npt.NDArray[np.int64]:
        """The pairs of vessels that come near each other, in the order of the sequences."""
        return _pairs(self.near, self.options.min_near)

    def chunks(self) -> Iterator[AtomTable]:
        """Yield the atoms of some pairs at a time."""
        fluents = self.options.choice is WordChoice.FULL
        teller = Teller(self.words, self.domain, self.options.target, fluents=fluents)
        size = np.bincount(self.events.vessel, minlength=len(self.words.vessels))
        total = np.cumsum(size[self.pairs].sum(axis=1)) // _BLOCK
        for block in np.unique(total).tolist():
            sequences = np.flatnonzero(total == block).astype(np.int64)
            pairs = self.pairs[sequences]
            rows = pair_rows(pairs, sequences, self.events, self.near, self.words, self.types)
            yield teller.tell(rows, pairs, sequences)


def derive_ais(path: Path, options: AisOptions | None = None) -> DerivedSource:
    """Read positions and derive what the vessels do; the pairs are put together when read."""
    options = options or AisOptions()
    report = ReadReport()
    kinds = {} if options.vessels is None else read_vessel_types(options.vessels)
    known = kinds or None
    parts = list(read_ais(path, report, known=known, sort=options.sort, max_bad=options.max_bad))
    frame = pl.concat(parts) if parts else None
    if frame is None or not frame.height:
        raise InputError(Problem(Place(str(path)), "no positions here"))
    names = frame["vessel"].unique().sort()
    middle = float(frame["lat"].mean() or 0.0)  # type: ignore[arg-type]
    positions = _positions(frame, names, middle, report)
    del frame, parts
    areas = [] if options.areas is None else _areas(options.areas, middle)
    near = proximity(positions, options.thresholds)

    def told(words: Words) -> Events:
        return events_of(positions, areas, words, options.thresholds)

    return put_together(path, names.to_list(), near, told, kinds, options, report)


def put_together(
    path: Path,
    names: list[str],
    near: Encounters,
    told: Callable[[Words], Events],
    kinds: Mapping[str, str],
    options: AisOptions,
    report: ReadReport,
) -> DerivedSource:
    """Return a stream of the pairs that meet; ``told`` gives the events in some words."""
    pairs = _pairs(near, options.min_near)
    if not len(pairs):
        message = f"no two vessels are near each other for {options.min_near} s"
        raise InputError(Problem(Place(str(path)), message, "", "a sequence is a pair of vessels"))
    sequences = [f"{names[left]}-{names[right]}" for left, right in pairs.tolist()]
    words = Words.of(names, sequences)
    words.vocabulary.constants.code("farFromPorts")
    types = _types(names, kinds, words)
    domain = word_domain(options.choice, options.target)
    return DerivedSource(words, domain, told(words), near, types, options, report)


def _pairs(near: Encounters, seconds: int) -> npt.NDArray[np.int64]:
    lasting = near.end - near.start >= seconds
    return np.unique(np.column_stack((near.left[lasting], near.right[lasting])), axis=0)


def _types(names: list[str], kinds: Mapping[str, str], words: Words) -> Ints:
    codes = np.full(len(names), -1, np.int64)
    for number, name in enumerate(names):
        if name in kinds:
            codes[number] = words.vocabulary.constants.code(kinds[name])
    return codes


def _plane(lon: Floats, lat: Floats, middle: float) -> tuple[Floats, Floats]:
    """Return degrees as metres on a plane that touches the earth at a latitude."""
    return (
        np.radians(lon) * (_EARTH * np.cos(np.radians(middle))),
        np.radians(lat) * _EARTH,
    )


def _areas(path: Path, middle: float) -> list[Area]:
    areas = []
    for name, corners in read_areas(path, AREA_TYPES).items():
        lon, lat = np.array(corners).T
        areas.append(Area(name.split("_")[0], *_plane(lon, lat, middle)))
    return areas


def _positions(
    frame: pl.DataFrame, names: pl.Series, middle: float, report: ReadReport
) -> Positions:
    """Return the positions in order; speed and course that are not told follow from the way."""
    frame = frame.sort("vessel", "time", maintain_order=True)
    distinct = frame.unique(["vessel", "time"], keep="first", maintain_order=True)
    report.duplicates += frame.height - distinct.height
    vessel = names.search_sorted(distinct["vessel"]).to_numpy().astype(np.int64)
    time = distinct["time"].to_numpy()
    x, y = _plane(distinct["lon"].to_numpy(), distinct["lat"].to_numpy(), middle)
    same = np.zeros(len(time), bool)
    same[1:] = vessel[1:] == vessel[:-1]
    dx, dy = np.diff(x, prepend=x[:1]), np.diff(y, prepend=y[:1])
    passed = np.where(same, np.diff(time, prepend=time[:1]), 1)
    made = np.where(same, np.hypot(dx, dy) / passed / KNOT, 0.0)
    headed = np.where(same, np.degrees(np.arctan2(dx, dy)) % 360.0, 0.0)
    speed, course = (
        np.where(np.isnan(told), other, told)
        for told, other in (
            (distinct["speed"].fill_null(np.nan).to_numpy(), made),
            (distinct["course"].fill_null(np.nan).to_numpy(), headed),
        )
    )
    return Positions(vessel, time, x, y, speed, course)
