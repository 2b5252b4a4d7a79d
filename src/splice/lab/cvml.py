"""CAVIAR's ground truth: CVML files, read as a stream into plain columns.

A file has a ``dataset`` of frames; a frame lists objects (persons) and groups, each with a box,
an orientation, an appearance and one or more hypotheses of what it does. Elements that nobody
asks for (``body``, ``head``, ...) are passed over with all that they hold.

Files, texts and nestings beyond any sensible size are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

import polars as pl

from splice.lab.strict_xml import StrictXml

MAX_BYTES: Final = 64 * 2**20
MAX_DEPTH: Final = 32
MAX_TEXT: Final = 1000
_BLOCK: Final = 2**16

_DONE: Final = ("movement", "role", "context", "situation")
_BOX: Final = {"xc": "x", "yc": "y", "w": "w", "h": "h"}
_PARENTS: Final[dict[str, tuple[str, ...]]] = {
    "dataset": ("",),
    "frame": ("dataset",),
    "objectlist": ("frame",),
    "grouplist": ("frame",),
    "object": ("objectlist",),
    "group": ("grouplist",),
    **dict.fromkeys(("orientation", "box", "appearance", "hypothesislist"), ("object", "group")),
    "members": ("group",),
    "hypothesis": ("hypothesislist",),
    **dict.fromkeys(_DONE, ("hypothesis",)),
}
_TEXTS: Final = frozenset({"orientation", "appearance", "members", *_DONE})
_PIXELS: Final = re.compile(r"[+-]?[0-9]{1,4}")
_SHARE: Final = re.compile(r"[0-9]{1,4}(\.[0-9]{1,9})?")
_NATURAL: Final = re.compile(r"[0-9]{1,9}")

_Columns: TypeAlias = dict[str, type[pl.DataType] | pl.DataType]
_SEEN: Final[_Columns] = dict.fromkeys(("x", "y", "w", "h", "orientation"), pl.Int32)
_WORDS: Final[_Columns] = dict.fromkeys(("appearance", *_DONE), pl.String)
_KEY: Final[_Columns] = {"clip": pl.String, "frame": pl.Int64, "id": pl.Int64}
PERSONS: Final = pl.Schema({**_KEY, **_SEEN, **_WORDS})
GROUPS: Final = pl.Schema({**_KEY, "members": pl.List(pl.Int64), **_WORDS})


@dataclass(frozen=True, eq=False)
class Annotation:
    """What the annotators of some clips wrote down: a row for each person, or group, and frame.

    ``persons`` has the columns clip, frame, id, x, y (the middle of the box), w, h, orientation,
    appearance, movement, role, context, situation; ``groups`` has clip, frame, id, members and
    the same words. Words of several parts are joined by an underscore: ``split_up``.
    """

    persons: pl.DataFrame
    groups: pl.DataFrame

    def __repr__(self) -> str:
        clips = self.persons["clip"].n_unique()
        return f"Annotation({clips} clips, {len(self.persons):,} person-frames)"


def read_cvml_files(files: Mapping[str, Path]) -> Annotation:
    """Return the annotation of several clips, each read from its file.

    Parameters
    ----------
    files
        The file of each clip, by the clip's name.
    """
    parts = [read_cvml(path, clip) for clip, path in files.items()]
    persons = [part.persons for part in parts] or [pl.DataFrame(schema=PERSONS)]
    groups = [part.groups for part in parts] or [pl.DataFrame(schema=GROUPS)]
    return Annotation(pl.concat(persons), pl.concat(groups))


def read_cvml(path: Path, clip: str) -> Annotation:
    """Return the annotation of one clip, ordered as its file is."""
    reader = _Reader(str(path), clip)
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            reader.fail_at(0, 0, f"{size:,} bytes are too many for one clip")
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK):
                reader.feed(block)
            reader.feed(b"", last=True)
    except OSError as error:
        reader.fail_at(0, 0, f"cannot read: {(error.strerror or str(error)).lower()}")
    return reader.result()


@dataclass
class _Thing:
    """An object or a group while it is being read."""

    what: str
    number: int
    place: tuple[int, int]
    numbers: dict[str, int] = field(default_factory=dict)
    members: list[int] | None = None
    appearance: str = ""
    words: dict[str, str] = field(default_factory=dict)
    belief: float = -1.0


class _Reader(StrictXml):
    """Takes the events of an XML parser and keeps the rows."""

    def __init__(self, file: str, clip: str) -> None:
        super().__init__(file, "is the file whole, and really a ground-truth file?")
        self._clip = clip
        self._open: list[str] = [""]
        self._passing = 0
        self._text: list[str] = []
        self._frame = -1
        self._frames: set[int] = set()
        self._seen: set[tuple[str, int]] = set()
        self._thing: _Thing | None = None
        self._guess: dict[str, str] = {}
        self._belief = 0.0
        self._persons: list[tuple[object, ...]] = []
        self._groups: list[tuple[object, ...]] = []

    def result(self) -> Annotation:
        """Return the rows."""
        if not self._frames:
            self.fail_at(1, 1, "no frames", hint="a ground-truth file has <frame number='0'> ...")
        return Annotation(
            pl.DataFrame(self._persons, PERSONS, orient="row"),
            pl.DataFrame(self._groups, GROUPS, orient="row"),
        )

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) + self._passing > MAX_DEPTH:
            self.fail(f"elements nest more than {MAX_DEPTH} deep", f"<{name}>")
        inside = self._open[-1]
        if self._passing or (name not in _PARENTS and inside):
            self._passing += 1
            return
        if not inside and name != "dataset":
            self.fail(f"<{name}> is not a ground-truth file", hint="it begins with <dataset>")
        if inside not in _PARENTS[name]:
            homes = " or ".join(f"<{home}>" for home in _PARENTS[name] if home)
            hint = f"it belongs into {homes}" if homes else "there is one in a file"
            self.fail(f"<{name}> cannot be inside <{inside}>", hint=hint)
        self._open.append(name)
        self._text.clear()
        match name:
            case "frame":
                self._begin_frame(attributes)
            case "object" | "group":
                self._begin_thing(name, attributes)
            case "box":
                numbers = self._current.numbers
                for attribute, column in _BOX.items():
                    numbers[column] = self._pixels(self._attribute(name, attributes, attribute))
            case "hypothesis":
                self._guess = {}
                self._belief = self._share(attributes.get("evaluation", "0"))

    def characters(self, text: str) -> None:
        if self._passing or self._open[-1] not in _TEXTS:
            return
        self._text.append(text)
        if sum(map(len, self._text)) > MAX_TEXT:
            self.fail(f"a text of more than {MAX_TEXT} characters in <{self._open[-1]}>")

    def end(self, name: str) -> None:
        if self._passing:
            self._passing -= 1
            return
        self._open.pop()
        if name in _TEXTS:
            self._keep(name, "".join(self._text).strip())
        elif name == "hypothesis" and self._belief > self._current.belief:
            self._current.words, self._current.belief = self._guess, self._belief
        elif name in ("object", "group"):
            self._end_thing(self._current)
            self._thing = None

    @property
    def _current(self) -> _Thing:
        assert self._thing is not None
        return self._thing

    def _keep(self, name: str, text: str) -> None:
        if name == "orientation":
            self._current.numbers[name] = self._pixels(text)
        elif name == "appearance":
            self._current.appearance = _word(text)
        elif name == "members":
            self._current.members = [
                self._natural(part, "a member") for part in re.split(r"[\s,]+", text) if part
            ]
        else:
            self._guess[name] = _word(text)

    def _begin_frame(self, attributes: dict[str, str]) -> None:
        number = self._natural(self._attribute("frame", attributes, "number"), "a frame")
        if number in self._frames:
            self.fail(f"frame {number} comes twice", hint="one file is one clip")
        self._frames.add(number)
        self._frame = number
        self._seen.clear()

    def _begin_thing(self, what: str, attributes: dict[str, str]) -> None:
        number = self._natural(self._attribute(what, attributes, "id"), f"the id of {what}s")
        if (what, number) in self._seen:
            self.fail(f"{what} {number} comes twice in frame {self._frame}")
        self._seen.add((what, number))
        self._thing = _Thing(what, number, self.place())

    def _end_thing(self, thing: _Thing) -> None:
        present = {
            "<box>": thing.numbers.keys() >= {*_BOX.values()},
            "<orientation>": "orientation" in thing.numbers,
            "<appearance>": bool(thing.appearance),
            "<members>": thing.what == "object" or thing.members is not None,
            "<movement>": thing.what == "group" or bool(thing.words.get("movement")),
            "<situation>": thing.what == "object" or bool(thing.words.get("situation")),
        }
        missing = [name for name, there in present.items() if not there]
        if missing:
            self.fail_at(
                *thing.place, f"{thing.what} {thing.number} has no {', no '.join(missing)}"
            )
        key = (self._clip, self._frame, thing.number)
        words = (thing.appearance, *(thing.words.get(name, "") for name in _DONE))
        if thing.what == "group":
            self._groups.append((*key, thing.members, *words))
        else:
            seen = (thing.numbers[name] for name in _SEEN)
            self._persons.append((*key, *seen, *words))

    def _attribute(self, element: str, attributes: dict[str, str], name: str) -> str:
        if name not in attributes:
            self.fail(f"<{element}> has no '{name}'", hint=f'such as {name}="0"')
        return attributes[name]

    def _pixels(self, text: str) -> int:
        if not _PIXELS.fullmatch(text.strip()):
            self.fail("a whole number of at most four digits is needed", text or '""')
        return int(text)

    def _share(self, text: str) -> float:
        if not _SHARE.fullmatch(text.strip()):
            self.fail("a number is needed", text or '""', "such as 1.0")
        return float(text)

    def _natural(self, text: str, what: str) -> int:
        if not _NATURAL.fullmatch(text.strip()):
            self.fail(f"{what} is a number: 0, 1, 2, ...", text or '""')
        return int(text)


def _word(text: str) -> str:
    return "_".join(text.split())
