"""From critical points that somebody else derived (RTEC's csv) to a labelled stream of pairs.

The files are one fleet: what happens to a vessel goes into the sequence of each pair it belongs to.
Velocities are put into bands of one knot and areas are named by their type, so that real
streams speak as simulated ones do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from splice.arrays import Indices, Ints, Mask, padded
from splice.errors import InputError, Place, Problem, did_you_mean
from splice.inputs.domains import load_domain
from splice.io.rtec import RtecSource, rtec_files
from splice.io.tables.bad_rows import BadRows
from splice.lab.ais import read_vessel_types
from splice.lab.maritime.atoms import Events
from splice.lab.maritime.derive import AisOptions, DerivedSource, derived_source
from splice.lab.maritime.positions import CRITICAL
from splice.lab.maritime.proximity import Encounters
from splice.lab.maritime.sea import AREA_TYPES
from splice.lab.maritime.words import BANDS, Words
from splice.stream.source import ReadReport, collect
from splice.stream.table import AtomTable

_STARTS, _ENDS = "proximity_start", "proximity_end"
_AREAS: Final = ("entersArea", "leavesArea")
_COORD: Final = "coord"
_WIDTH: Final = 3
"""So many arguments of an event are looked at."""

_Hint = Callable[[str], str]


def derive_recorded(path: Path, options: AisOptions | None = None) -> DerivedSource:
    """Read critical points, and put those of each pair of vessels that meets together."""
    options = options or AisOptions()
    kinds = {} if options.vessels is None else read_vessel_types(options.vessels)
    domain = load_domain("rendezvous").domain
    source = RtecSource(rtec_files(path), domain, sort=options.sort, max_bad=options.max_bad)
    table = _wide(collect(source))
    names = (*CRITICAL, "velocity", *_AREAS, _STARTS, _ENDS)
    rows_of = {name: _rows(table, name) for name in (*names, _COORD)}
    wrong, report = _wrong(source, table, rows_of, kinds or None, options.max_bad)
    rows = {name: rows_of[name][~wrong[rows_of[name]]] for name in names}
    used = [table.args[some, 0] for some in rows.values()]
    used += [table.args[rows[name], 1] for name in (_STARTS, _ENDS)]
    codes = np.unique(np.concatenate(used))
    named = sorted((source.vocabulary.constants[int(code)], int(code)) for code in codes)
    if not named:
        raise InputError(Problem(Place(str(path)), "no critical points of vessels here"))
    vessel = np.full(len(source.vocabulary.constants), -1, np.int64)
    vessel[[code for _, code in named]] = np.arange(len(named))

    def events_in(words: Words) -> Events:
        return _events(table, rows, vessel, words)

    near = _encounters(table, rows, vessel)
    vessels = [name for name, _ in named]
    return derived_source(path, vessels, near, events_in, kinds, options, report)


def _wide(table: AtomTable) -> AtomTable:
    """Return a table with a column for each argument that is looked at, even if no event has it."""
    return replace(table, args=padded(table.args, _WIDTH))


def _wrong(
    source: RtecSource,
    table: AtomTable,
    rows: dict[str, Indices],
    vessels: Collection[str] | None,
    max_bad: float,
) -> tuple[Mask, ReadReport]:
    """Return which events say what cannot be, and what the whole reading left out.

    A line counts once, whether it could not be read or says what cannot be, and even if it
    makes two events. Too many such lines are an error.
    """
    unread = source.report
    report = replace(unread, bad=0, examples=[])
    bad = BadRows(max_bad, report, None)
    lines = np.arange(len(table)) if table.lines is None else table.lines
    wrong = np.zeros(len(table), bool)
    problems: dict[int, Problem] = {}

    def add_problems(
        name: str, place: int, faulty: Mask, what: str, hint: _Hint = _no_hint
    ) -> None:
        some = rows[name]
        new = some[faulty[some] & ~wrong[some]]
        wrong[new] = True
        for row in new[: bad.room].tolist():
            constant = table.vocabulary.constants[int(table.args[row, place])]
            at, text = source.locate(int(lines[row])), str(table.atom(row))
            problems.setdefault(
                int(lines[row]), Problem(at, f"{what} '{constant}'", text, hint(constant))
            )

    args = table.args
    add_problems("velocity", 1, ~_sound(table, _is_speed)[args[:, 1]], "impossible speed")
    for place, limit, what in ((1, 180.0, "longitude"), (2, 90.0, "latitude")):
        outside = ~_sound(table, partial(_within, limit))[args[:, place]]
        add_problems(_COORD, place, outside, f"impossible {what}")
    strange = ~_sound(table, _is_area)[args[:, 1]]
    for name in _AREAS:
        add_problems(name, 1, strange, "unknown type of area", _area_hint)
    for name in (_STARTS, _ENDS):
        add_problems(name, 1, args[:, 0] == args[:, 1], "a vessel is near itself:")
    if vessels is not None:
        strangers = ~_sound(table, vessels.__contains__)[args]
        for name in rows:
            for place in (0, 1) if name in (_STARTS, _ENDS) else (0,):
                add_problems(name, place, strangers[:, place], "unknown vessel")
    count = len(np.unique(lines[wrong])) + unread.bad
    total = len(np.unique(lines)) + unread.duplicates + unread.bad
    bad.add(total, count, [*unread.examples, *problems.values()])
    bad.settle()
    return wrong, report


def _sound(table: AtomTable, right: Callable[[str], bool]) -> Mask:
    """Return which constants are right, by their code; -1, which is no constant, is not."""
    return np.array([*(right(name) for name in table.vocabulary.constants), False], bool)


def _no_hint(_: str) -> str:
    return ""


def _area_hint(text: str) -> str:
    kind = _area_type(text)
    return did_you_mean(kind, AREA_TYPES) or f"types are {', '.join(AREA_TYPES)}"


def _area_type(text: str) -> str:
    """Return the type of an area that is named after it (``nearPorts_27048``)."""
    return text.split("_", maxsplit=1)[0]


def _is_area(text: str) -> bool:
    return _area_type(text) in AREA_TYPES


def _within(limit: float, text: str) -> bool:
    try:
        return abs(float(text)) <= limit
    except ValueError:
        return False


def _is_speed(text: str) -> bool:
    try:
        _band(text)
    except ValueError:
        return False
    return True


def _rows(table: AtomTable, event: str) -> Indices:
    kinds = [k for k, kind in enumerate(table.vocabulary.kinds) if kind.functor == event]
    return np.flatnonzero(np.isin(table.kind, kinds))


def _events(table: AtomTable, rows: dict[str, Indices], vessel: Ints, words: Words) -> Events:
    """Return the events of single vessels, ordered by vessel and time."""
    bands = _by_constant(table, lambda text: words.bands[_band(text)])
    areas = _by_constant(table, lambda text: words.areas[AREA_TYPES.index(_area_type(text))])
    parts: list[tuple[Ints, Ints, Ints, Ints]] = []
    for name, some in rows.items():
        if name in (_STARTS, _ENDS):
            continue
        value = np.full(len(some), -1, np.int64)
        if name == "velocity" or name in _AREAS:
            value = (bands if name == "velocity" else areas)[table.args[some, 1]]
        kind = np.full(len(some), words.kinds[name], np.int64)
        parts.append((vessel[table.args[some, 0]], table.time[some], kind, value))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    columns = list(np.unique(np.column_stack(columns), axis=0).T)
    return Events(*columns)


def _by_constant(table: AtomTable, code: Callable[[str], int]) -> Ints:
    """Return a code for each constant, -1 where there is none."""
    codes = []
    for name in table.vocabulary.constants:
        try:
            codes.append(int(code(name)))
        except ValueError:
            codes.append(-1)
    return np.array(codes, np.int64)


def _band(text: str) -> int:
    """Return the band of a speed; what is no speed is a ValueError."""
    speed = float(text)
    if not 0 <= speed < 200:
        raise ValueError(text)
    return min(int(speed), BANDS - 1)


def _encounters(table: AtomTable, rows: dict[str, Indices], vessel: Ints) -> Encounters:
    """Return stretches of proximity: from each first start to the next end of its pair.

    One that no event ends is open until the last time of the stream.
    """
    both = np.concatenate((rows[_STARTS], rows[_ENDS]))
    ends = np.repeat([0, 1], [len(rows[_STARTS]), len(rows[_ENDS])])
    sides = np.sort(vessel[table.args[both, :2]], axis=1)
    left, right = sides.T
    time = table.time[both]
    # By pair and time, starts before ends: what starts and ends in one second has been.
    order = np.lexsort((ends, time, right, left))
    left, right, time, ends = left[order], right[order], time[order], ends[order]
    same = np.zeros(len(time), bool)
    same[1:] = (left[1:] == left[:-1]) & (right[1:] == right[:-1])
    first = ends == 0
    first[1:] &= ~(same[1:] & (ends[:-1] == 0))
    begins = np.flatnonzero(first)
    # ``len(time)`` stands for no end at all, so that every search finds something.
    closing = np.append(np.flatnonzero(ends == 1), len(time))
    until = closing[np.searchsorted(closing, begins)]
    closed = until < len(time)
    closed[closed] = (left[until[closed]] == left[begins[closed]]) & (
        right[until[closed]] == right[begins[closed]]
    )
    last = int(table.time.max(initial=0))
    end = np.where(closed, time[np.minimum(until, len(time) - 1)], last)
    return Encounters(left[begins], right[begins], time[begins], end, ~closed)
