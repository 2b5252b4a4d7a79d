"""Plaza, slowly: what a tracker sees of the tracks, and the hand-made rules run on the atoms."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

import numpy as np
import numpy.typing as npt

from splice.lab.plaza import Plaza
from splice.lab.plaza.perception import DISTANCES, RUN, STIR, TURN, WALK, WINDOW


def evidence(plaza: Plaza) -> set[tuple[str, str]]:
    """Return every evidence atom as text, with its sequence, from the places in the tracks."""
    people: dict[tuple[str, str], dict[int, dict]] = defaultdict(dict)
    for row in plaza.tracks.iter_rows(named=True):
        people[row["sequence"], row["id"]][row["frame"]] = row
    found: set[tuple[str, str]] = set()
    for (sequence, name), track in people.items():
        for frame in track:
            found.add((sequence, f"happensAt({movement(track, frame)}('{name}'),{frame})"))
            if frame - 1 not in track:
                found.add((sequence, f"happensAt(enter('{name}'),{frame})"))
            if frame + 1 not in track:
                found.add((sequence, f"happensAt(exit('{name}'),{frame + 1})"))
        for (other_sequence, other), other_track in people.items():
            if other_sequence == sequence and other != name:
                for frame in track.keys() & other_track.keys():
                    for text in pairwise(track[frame], other_track[frame]):
                        found.add((sequence, text))
    return found


def movement(track: dict[int, dict], frame: int) -> str:
    """Return what a person does at a frame, by the rules that ``perception`` states."""
    window = [frame]
    while window[0] - 1 in track and frame - window[0] < WINDOW:
        window.insert(0, window[0] - 1)
    while window[-1] + 1 in track and window[-1] - frame < WINDOW:
        window.append(window[-1] + 1)
    places = [(track[t]["x"], track[t]["y"]) for t in window]
    span = max(len(window) - 1, 1)
    speed = math.dist(places[0], places[-1]) / span
    way = sum(abs(x1 - x0) + abs(y1 - y0) for (x0, y0), (x1, y1) in itertools.pairwise(places))
    if speed >= RUN:
        return "running"
    if speed >= WALK:
        return "walking"
    return "active" if way / span >= STIR else "inactive"


def pairwise(one: dict, two: dict) -> list[str]:
    """Return the atoms about one person and another at a frame."""
    distance = math.dist((one["x"], one["y"]), (two["x"], two["y"]))
    ids = f"'{one['id']}','{two['id']}'"
    frame = one["frame"]
    atoms = [f"close({ids},{k},{frame})" for k in DISTANCES if distance <= k]
    if distance <= 34 and abs(one["orientation"] - two["orientation"]) < TURN:
        atoms.append(f"orientationMove({ids},{frame})")
    return atoms


class Dense:
    """The atoms of a plaza as arrays ``[sequence, person, ..., frame]``."""

    def __init__(self, plaza: Plaza) -> None:
        table = plaza.source.table
        self.table = table
        self.shape = (len(table.vocabulary.sequences), plaza.people, plaza.frames)

    def happens(self, event: str) -> npt.NDArray[np.bool_]:
        grid = np.zeros(self.shape, bool)
        rows = self._rows("happensAt", event)
        grid[rows.sequence, rows.args[:, 0], rows.time] = True
        return grid

    def pairs(self, predicate: str, functor: str = "", dist: str = "") -> npt.NDArray[np.bool_]:
        count, people, frames = self.shape
        grid = np.zeros((count, people, people, frames), bool)
        rows = self._rows(predicate, functor)
        if dist:
            rows = rows.take(rows.args[:, 2] == self.table.vocabulary.constants.find(dist))
        rows = rows.take(rows.truth > 0)
        grid[rows.sequence, rows.args[:, 0], rows.args[:, 1], rows.time] = True
        return grid

    def _rows(self, predicate: str, functor: str):
        kinds = self.table.vocabulary.kinds
        chosen = np.array([k.predicate == predicate and k.functor == functor for k in kinds])
        return self.table.take(chosen[self.table.kind])


def crisp(dense: Dense, fluent: str) -> npt.NDArray[np.bool_]:
    """Return what the hand-made definitions of the CAVIAR literature recognise."""
    walking, running, active, inactive, exits = (
        dense.happens(e) for e in ("walking", "running", "active", "inactive", "exit")
    )
    close25, close34 = (dense.pairs("close", dist=k) for k in ("25", "34"))

    def first(cube):
        return cube[:, :, None, :]

    def second(cube):
        return cube[:, None, :, :]

    def either(cube):
        return first(cube) | second(cube)

    ended = (either(walking) & ~close34) | either(running) | either(exits)
    if fluent == "meet":
        begun = close25 & (
            (first(active) & ~second(running))
            | (first(inactive) & ~second(running) & ~second(active))
        )
    else:
        begun = first(walking) & second(walking) & dense.pairs("orientationMove") & close34
        ended |= first(active) & second(active | inactive)
        ended |= first(inactive) & second(active)
    holds = np.zeros_like(begun)
    for t in range(holds.shape[-1] - 1):
        holds[..., t + 1] = (holds[..., t] | begun[..., t]) & ~ended[..., t]
    return holds


def f1(
    predicted: npt.NDArray[np.bool_], truth: npt.NDArray[np.bool_]
) -> tuple[float, float, float]:
    """Return precision, recall and F1."""
    hits = (predicted & truth).sum()
    precision, recall = hits / predicted.sum(), hits / truth.sum()
    return precision, recall, 2 * precision * recall / (precision + recall)
