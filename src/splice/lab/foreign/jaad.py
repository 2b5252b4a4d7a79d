"""Traffic: pedestrians before a driving car, and when they cross.

JAAD, Joint Attention in Autonomous Driving (Rasouli, Kotseruba and Tsotsos, 2017): 346 clips of a few
seconds, annotated frame by frame. What is seen of a pedestrian becomes words (walking or standing,
looking, where in the picture and how large, which way the box drifts), and so do the car
and the road; every fifth frame is a time-point, six in a second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from splice.errors import InputError, Place, Problem
from splice.lab.foreign.tables import EventTables, label_intervals
from splice.lab.strict_xml import StrictXml

MEMBERS: Final = re.compile(
    r"(?:.*/)?(annotations|annotations_vehicle|annotations_traffic)/(video_[0-9]{4})(?:_[a-z]+)?\.xml"
)
EVERY: Final = 5
"""Every so many frames there is a time-point."""

_WIDTH, _HEIGHT = 1920.0, 1080.0
_FAR, _NEAR = 0.12, 0.3
"""Shares of the picture's height that a pedestrian takes."""
_LEFT, _RIGHT = 0.35, 0.65
_DRIFT: Final = 0.006
"""A box that moves by this share of the width between two time-points drifts."""
_SIGNS: Final = ("ped_crossing", "ped_sign", "stop_sign")
_TEXT: Final = 200
_BROKEN: Final = "download it again"

_Row = tuple[str, int, str, str | None]


def read_jaad(files: Mapping[str, bytes]) -> EventTables:
    """Return the tables of the clips, given by the paths of their files in the archive."""
    clips: dict[str, dict[str, str]] = {}
    for path in files:
        match = MEMBERS.fullmatch(path)
        if not match:
            raise InputError(Problem(Place(path), "not an annotation of JAAD"))
        clips.setdefault(match[2], {})[match[1]] = path
    events: list[_Row] = []
    points: list[tuple[str, int, str, bool]] = []
    for clip, paths in sorted(clips.items()):
        read = {what: _read(path, files[path]) for what, path in paths.items()}
        if "annotations" in read:
            events += _events(clip, read)
            points += _points(clip, read["annotations"])
    table = pl.DataFrame(events, ["sequence", "time", "event", "arg1"], orient="row").unique()
    labels = pl.DataFrame(points, ["sequence", "time", "fluent", "label"], orient="row")
    return EventTables(table.sort("sequence", "time", "event", "arg1"), label_intervals(labels))


@dataclass(slots=True)
class _Box:
    """A pedestrian in a frame."""

    who: str
    frame: int
    middle: float
    height: float
    words: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Clip:
    """What a file tells: pedestrians, or frames with what is said of them."""

    boxes: list[_Box] = field(default_factory=list)
    frames: dict[int, dict[str, str]] = field(default_factory=dict)


def _events(clip: str, read: Mapping[str, _Clip]) -> Iterator[_Row]:
    last: dict[str, float] = {}
    seen = set[int]()
    for box in read["annotations"].boxes:
        time = box.frame // EVERY
        seen.add(time)
        for word in _words(box, last.get(box.who)):
            yield clip, time, word, box.who
        last[box.who] = box.middle
    nothing = _Clip()
    vehicle, road = (read.get(f"annotations_{w}", nothing).frames for w in ("vehicle", "traffic"))
    for time in sorted(seen):
        action = vehicle.get(time * EVERY, {}).get("action")
        if action:
            yield clip, time, f"vehicle_{action}", None
        scene = road.get(time * EVERY, {})
        yield from ((clip, time, sign, None) for sign in _SIGNS if scene.get(sign) == "1")
        light = scene.get("traffic_light", "n/a")
        if light != "n/a":
            yield clip, time, f"light_{light}", None


def _words(box: _Box, before: float | None) -> Iterator[str]:
    """Yield what is seen of a pedestrian, in words."""
    yield box.words.get("action", "standing")
    if box.words.get("look") == "looking":
        yield "looking"
    yield "far" if box.height < _FAR else "near" if box.height > _NEAR else "middle"
    yield "left" if box.middle < _LEFT else "right" if box.middle > _RIGHT else "ahead"
    if before is not None and abs(box.middle - before) > _DRIFT:
        yield "drifts_right" if box.middle > before else "drifts_left"


def _points(clip: str, read: _Clip) -> Iterator[tuple[str, int, str, bool]]:
    for box in read.boxes:
        crosses = box.words.get("cross") == "crossing"
        yield clip, box.frame // EVERY, f"crossing({box.who})", crosses


def _read(path: str, text: bytes) -> _Clip:
    reader = _Reader(path)
    reader.feed(text, last=True)
    return reader.clip


class _Reader(StrictXml):
    """Takes the events of an XML parser and keeps boxes of pedestrians and attributes of frames."""

    def __init__(self, path: str) -> None:
        super().__init__(path, _BROKEN)
        self.clip = _Clip()
        self._tracks = 0
        self._label = ""
        self._box: _Box | None = None
        self._attribute = ""
        self._value = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "track":
            self._label = attributes.get("label", "")
            self._tracks += self._label == "pedestrian"
        elif name == "box" and self._label == "pedestrian" and attributes.get("outside") != "1":
            frame = int(self._number(attributes, "frame"))
            if frame % EVERY == 0:
                left, right, top, bottom = (
                    self._number(attributes, side) for side in ("xtl", "xbr", "ytl", "ybr")
                )
                middle, height = (left + right) / 2 / _WIDTH, (bottom - top) / _HEIGHT
                self._box = _Box(f"p{self._tracks}", frame, middle, height)
        elif name == "attribute" and self._box:
            self._attribute, self._value = attributes.get("name", ""), ""
        elif name == "frame":
            self.clip.frames[int(self._number(attributes, "id"))] = attributes

    def _number(self, attributes: dict[str, str], name: str) -> float:
        try:
            return float(attributes[name])
        except (KeyError, ValueError):
            self.fail(f"no number for '{name}'", hint=_BROKEN)

    def characters(self, text: str) -> None:
        if self._attribute:
            self._value = (self._value + text)[:_TEXT]

    def end(self, name: str) -> None:
        if name == "attribute" and self._box:
            self._box.words[self._attribute] = self._value.strip()
            self._attribute = ""
        elif name == "box" and self._box:
            self.clip.boxes.append(self._box)
            self._box = None
