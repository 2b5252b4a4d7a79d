"""From reported positions (AIS) to a labelled stream of pairs of vessels.

The same code and the same thresholds as in the simulation turn positions into critical points. A
sequence is a pair of vessels that were near each other for a while, with all that happens to the
two. Distances are those on the earth as a globe. Positions are held in memory, at the peak
about 350 bytes each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from splice.arrays import Floats, Ints
from splice.errors import InputError, Place, Problem
from splice.lab.ais import read_ais, read_areas, read_vessel_types
from splice.lab.maritime.atoms import Events, SeaLabeller, events_of, pair_rows
from splice.lab.maritime.positions import KNOT, THRESHOLDS, Positions, Thresholds
from splice.lab.maritime.proximity import Encounters, proximity
from splice.lab.maritime.sea import AREA_TYPES, Area
from splice.lab.maritime.words import WordChoice, Words, word_domain
from splice.logic.domain import Domain
from splice.stream.source import ReadReport
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Vocabulary

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
    def pairs(self) -> Ints:
        """The pairs of vessels that come near each other, in the order of the sequences."""
        return _pairs(self.near, self.options.min_near)

    def chunks(self) -> Iterator[AtomTable]:
        """Yield the atoms of some pairs at a time."""
        fluents = self.options.choice is WordChoice.FULL
        labeller = SeaLabeller(self.words, self.domain, self.options.target, fluents=fluents)
        size = np.bincount(self.events.vessel, minlength=len(self.words.vessels))
        total = np.cumsum(size[self.pairs].sum(axis=1)) // _BLOCK
        for block in np.unique(total).tolist():
            sequences = np.flatnonzero(total == block).astype(np.int64)
            pairs = self.pairs[sequences]
            rows = pair_rows(pairs, sequences, self.events, self.near, self.words, self.types)
            yield labeller.label(rows, pairs, sequences)


def derive_ais(path: Path, options: AisOptions | None = None) -> DerivedSource:
    """Read positions and return what the vessels do; pairs are put together when it is read.

    Parameters
    ----------
    path
        A table of AIS positions.
    options
        What goes with it, how strictly it is read, and which pairs make a sequence.
    """
    options = options or AisOptions()
    report = ReadReport()
    kinds = {} if options.vessels is None else read_vessel_types(options.vessels)
    areas = [] if options.areas is None else _areas(options.areas)
    vessels = kinds or None
    parts = list(
        read_ais(path, report, vessels=vessels, sort=options.sort, max_bad=options.max_bad)
    )
    frame = pl.concat(parts) if parts else None
    if frame is None or not frame.height:
        raise InputError(Problem(Place(str(path)), "no positions here"))
    names = frame["vessel"].unique().sort()
    positions, places = _positions(frame, names, report, options.thresholds.gap)
    del frame, parts
    near = proximity(positions, options.thresholds, places=places)
    del places

    def events_in(words: Words) -> Events:
        return events_of(positions, areas, words, options.thresholds)

    return derived_source(path, names.to_list(), near, events_in, kinds, options, report)


def derived_source(
    path: Path,
    names: list[str],
    near: Encounters,
    events_in: Callable[[Words], Events],
    kinds: Mapping[str, str],
    options: AisOptions,
    report: ReadReport,
) -> DerivedSource:
    """Return a stream of the pairs that meet; ``events_in`` gives the events in some words."""
    pairs = _pairs(near, options.min_near)
    if not len(pairs):
        message = f"no two vessels are near each other for {options.min_near} s"
        raise InputError(Problem(Place(str(path)), message, "", "a sequence is a pair of vessels"))
    sequences = [f"{names[left]}-{names[right]}" for left, right in pairs.tolist()]
    words = Words.of(names, sequences)
    words.vocabulary.constants.code("farFromPorts")
    types = _types(names, kinds, words)
    domain = word_domain(options.choice, options.target)
    return DerivedSource(words, domain, events_in(words), near, types, options, report)


def _pairs(near: Encounters, seconds: int) -> Ints:
    lasting = near.end - near.start >= seconds
    return np.unique(np.column_stack((near.left[lasting], near.right[lasting])), axis=0)


def _types(names: list[str], kinds: Mapping[str, str], words: Words) -> Ints:
    codes = np.full(len(names), -1, np.int64)
    for number, name in enumerate(names):
        if name in kinds:
            codes[number] = words.vocabulary.constants.code(kinds[name])
    return codes


def _plane(lon: Floats, lat: Floats) -> tuple[Floats, Floats]:
    """Return degrees as metres on a plane; it is right along meridians and along the equator."""
    return np.radians(lon) * _EARTH, np.radians(lat) * _EARTH


def _space(lon: Floats, lat: Floats) -> tuple[Floats, ...]:
    """Return places on the earth as metres from its centre along three axes."""
    east, north = np.radians(lon), np.radians(lat)
    level = _EARTH * np.cos(north)
    return level * np.cos(east), level * np.sin(east), _EARTH * np.sin(north)


def _areas(path: Path) -> list[Area]:
    """Return areas on the plane; one that crosses the antimeridian stands on both of its sides."""
    areas = list[Area]()
    for name, corners in read_areas(path, AREA_TYPES).items():
        lon, lat = np.array(corners).T
        sides = (lon % 360, lon % 360 - 360) if np.ptp(lon) > 180 else (lon,)
        areas += [Area(name.split("_")[0], *_plane(side, lat)) for side in sides]
    return areas


def _positions(
    frame: pl.DataFrame, names: pl.Series, report: ReadReport, gap: int
) -> tuple[Positions, tuple[Floats, ...]]:
    """Return the positions in order, and where they are in space.

    Speed and course that are not told follow from the way.
    """
    frame = frame.sort("vessel", "time", maintain_order=True)
    distinct = frame.unique(["vessel", "time"], keep="first", maintain_order=True)
    report.duplicates += frame.height - distinct.height
    vessel = names.search_sorted(distinct["vessel"]).to_numpy().astype(np.int64)
    lon, lat = distinct["lon"].to_numpy(), distinct["lat"].to_numpy()
    speed, course = (distinct[name].fill_null(np.nan).to_numpy() for name in ("speed", "course"))
    positions = Positions(vessel, distinct["time"].to_numpy(), *_plane(lon, lat), speed, course)
    return _completed(positions, lon, lat, gap), _space(lon, lat)


def _completed(positions: Positions, lon: Floats, lat: Floats, gap: int) -> Positions:
    """Return positions with the speeds and courses that are not told, as far as the way tells them.

    It is the way from the position before, for the first one of a vessel and after a gap the way
    to the next. A vessel that stays where it is keeps its last course, or has its next
    one. What a position alone between gaps does not tell stays unknown.
    """
    joined = positions.joined(gap)
    east = np.radians((np.diff(lon, prepend=lon[:1]) + 180.0) % 360.0 - 180.0)
    north = np.radians(np.diff(lat, prepend=lat[:1]))
    east *= np.cos(np.radians(lat) - north / 2)  # a degree of longitude at the latitude half-way
    # The first position of a piece follows from nothing: one second stands there, and its way is dropped.
    passed = np.where(joined, np.diff(positions.time, prepend=0), 1)
    way = np.hypot(east, north)
    made = np.where(joined, way * (_EARTH / KNOT) / passed, np.nan)
    headed = np.where(joined & (way > 0), np.degrees(np.arctan2(east, north)) % 360.0, np.nan)
    for column in (made, headed):
        following = np.append(column[1:], np.nan)
        column[~joined] = following[~joined]
    speed = np.where(np.isnan(positions.speed), made, positions.speed)
    course = np.where(np.isnan(positions.course), headed, positions.course)
    return replace(positions, speed=speed, course=_filled(course, np.cumsum(~joined)))


def _filled(values: Floats, piece: Ints) -> Floats:
    """Return values with the last one known in place of NaN, at the beginning of a piece the next."""
    value = pl.col("value").fill_nan(None)
    frame = pl.DataFrame({"value": values, "piece": piece})
    filled = frame.select(value.forward_fill().backward_fill().over("piece"))
    return filled.to_series().fill_null(np.nan).to_numpy()
