"""Critical points and proximity, said slowly."""

from __future__ import annotations

from itertools import combinations, groupby, pairwise

from splice.lab.maritime.positions import Positions, Thresholds

Row = tuple[int, int, float, float]


def critical_points(rows: list[Row]) -> set[tuple[int, str]]:
    """Return (row, event) of rows (vessel, time, speed, course), by the words of the docs."""
    found: set[tuple[int, str]] = set()
    for _, group in groupby(range(len(rows)), key=lambda i: rows[i][0]):
        pieces: list[list[int]] = []
        for row in group:
            silent = pieces and rows[row][1] - rows[pieces[-1][-1]][1] >= 1800
            if silent:
                found |= {(pieces[-1][-1], "gap_start"), (row, "gap_end")}
            if silent or not pieces:
                pieces.append([])
            pieces[-1].append(row)
        for piece in pieces:
            found |= _states(rows, piece) | _speeds(rows, piece) | _headings(rows, piece)
    return found


def _states(rows: list[Row], piece: list[int]) -> set[tuple[int, str]]:
    found = set()
    for name, low, high in (("stop", -1.0, 0.5), ("slow_motion", 0.5, 5.0)):
        before = False
        for row in piece:
            now = low < rows[row][2] <= high
            if now != before:
                found.add((row, f"{name}_{'start' if now else 'end'}"))
            before = now
    return found


def _speeds(rows: list[Row], piece: list[int]) -> set[tuple[int, str]]:
    found = set()
    steady, changing = rows[piece[0]][2], False
    for before, row in pairwise(piece):
        last, now = rows[before][2], rows[row][2]
        if changing and abs(now - last) <= 0.25 * max(last, 1):
            found.add((row, "change_in_speed_end"))
            changing, steady = False, now
        elif not changing and abs(now - steady) > 0.25 * max(steady, 1):
            found.add((row, "change_in_speed_start"))
            changing = True
    return found


def _headings(rows: list[Row], piece: list[int]) -> set[tuple[int, str]]:
    found = set()
    reference = rows[piece[0]][3]
    for row in piece[1:]:
        turned = abs(rows[row][3] - reference)
        if rows[row][2] > 0.1 and min(turned, 360 - turned) > 15:
            found.add((row, "change_in_heading"))
            reference = rows[row][3]
    return found


def proximity(positions: Positions, limits: Thresholds) -> set[tuple[int, int, int, int]]:
    """Return (left, right, start, end) of all pairs, tick by tick."""
    places = _places(positions, limits)
    found = set()
    for left, right in combinations(sorted(places), 2):
        there = places[left].keys() & places[right].keys()
        near = {t for t in there if abs(places[left][t] - places[right][t]) <= limits.near}
        for first in near - {tick + 1 for tick in near}:
            last = first
            while last + 1 in near:
                last += 1
            found.add((left, right, first * limits.tick, (last + 1) * limits.tick))
    return found


def _places(positions: Positions, limits: Thresholds) -> dict[int, dict[int, complex]]:
    """Return where each vessel is at each tick."""
    places: dict[int, dict[int, complex]] = {}
    spots = [complex(x, y) for x, y in zip(positions.x, positions.y, strict=True)]
    for i in range(1, len(positions)):
        vessel = int(positions.vessel[i])
        start, end = int(positions.time[i - 1]), int(positions.time[i])
        if vessel == positions.vessel[i - 1] and end - start < limits.gap:
            for time in range(start, end):
                if time % limits.tick == 0:
                    way = (spots[i] - spots[i - 1]) * (time - start) / (end - start)
                    places.setdefault(vessel, {})[time // limits.tick] = spots[i - 1] + way
    return places
