"""A report as plain values: tabs of sections, which something else draws.

Nothing here knows how a page or a picture is made. :mod:`.html` makes one page of a report, and
:mod:`splice.lab.figures.pictures` makes pictures of its figures.

>>> report = Report("A day", (Tab("Overview", (Note("Nothing happened."),)),))
>>> [tab.title for tab in report.tabs], list(report.figures())
(['Overview'], [])
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from splice.errors import SpliceError
from splice.stream.times import TimeFormat

Cell: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Note:
    """Some words; a blank line begins a new paragraph."""

    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells below the names of their columns; a folded one is opened when asked."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    folded: bool = False

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise SpliceError(f"the rows of '{self.title}' do not fit its columns")


@dataclass(frozen=True, slots=True)
class Curve:
    """Points of one series.

    Parameters
    ----------
    name
        What the legend says.
    x, y
        The points.
    spread
        Half the width of the band around each point, where that is known.
    published
        Whether others published it: then it is drawn dashed.
    colour
        A number of the palette; -1 is neutral.
    notes
        What there is to say about each point.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    spread: tuple[float, ...] = ()
    published: bool = False
    colour: int = 0
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        sizes = {
            len(part) for part in (self.x, self.y, self.spread or self.x, self.notes or self.x)
        }
        if len(sizes) > 1:
            raise SpliceError(f"the columns of the curve '{self.name}' differ in length")

    def band(self, *, log: bool) -> tuple[list[float], list[float]]:
        """Return the lower and upper border of the band; a logarithmic axis has no zero."""
        pairs = list(zip(self.y, self.spread, strict=True))
        low = [max(y - s, y / 10) if log else y - s for y, s in pairs]
        return low, [y + s for y, s in pairs]


@dataclass(frozen=True, slots=True)
class Panel:
    """One coordinate system.

    Parameters
    ----------
    title, x, y
        What stands above it and at its axes.
    curves
        What is drawn.
    ticks
        Where the x-axis is marked; by default wherever fits.
    log_x, log_y
        Whether an axis is logarithmic.
    unit_y
        Whether values lie between 0 and 1, which is shown whole.
    names
        Makes it a plot of dots: the y of a point is the number of its name.
    """

    title: str
    x: str
    y: str
    curves: tuple[Curve, ...]
    ticks: tuple[float, ...] = ()
    log_x: bool = False
    log_y: bool = False
    unit_y: bool = False
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        last = len(self.names) - 1
        if self.names and any(not 0 <= y <= last for curve in self.curves for y in curve.y):
            raise SpliceError(f"a point of '{self.title}' has no name")
        drawn = [(self.log_x, curve.x) for curve in self.curves]
        drawn += [(self.log_y, curve.y) for curve in self.curves]
        if any(log and min(part, default=1) <= 0 for log, part in drawn):
            raise SpliceError(
                f"'{self.title}' has a logarithmic axis and a point that is not on it"
            )


@dataclass(frozen=True, slots=True)
class Figure:
    """Panels beside and below each other; ``name`` is that of its picture's file."""

    name: str
    title: str
    panels: tuple[Panel, ...]
    columns: int = 2
    note: str = ""

    def __post_init__(self) -> None:
        if self.columns < 1:
            raise SpliceError(f"'{self.title}' has no columns")


class Role(StrEnum):
    """What a lane of a timeline tells."""

    GIVEN = "given"
    COMPLETED = "completed"
    RECOGNISED = "recognised"
    TRUTH = "truth"
    FIRING = "firing"
    EVENT = "event"


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch ``[start, end)`` of some time-points, and the mean of their values in [-1, 1].

    Parameters
    ----------
    start, end
        The first time, and the first one after it.
    value
        The mean of the values of its time-points, in [-1, 1].
    points
        How many time-points these are.
    note
        What else there is to say.
    """

    start: int
    end: int
    value: float
    points: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Lane:
    """One line of a timeline; where it has no span, nothing is known."""

    name: str
    role: Role
    spans: tuple[Span, ...]
    about: str = ""
    """What it tells, where the role alone does not say it: ``rule 3 begins``."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """What was given, filled in, recognised and true in one sequence, simple events below.

    Parameters
    ----------
    name
        The name of its picture's file.
    title
        The heading.
    start, end
        Which times are shown.
    lanes
        The lanes, those of a fluent together.
    note
        What is left out.
    times
        How the input writes its times.
    """

    name: str
    title: str
    start: int
    end: int
    lanes: tuple[Lane, ...]
    note: str = ""
    times: TimeFormat = field(default_factory=TimeFormat)


@dataclass(frozen=True, slots=True)
class RuleEntry:
    """A learned rule: its text, what it got right and wrong, and how it came about.

    Parameters
    ----------
    number
        Its number in the theory.
    text
        The rule.
    kind
        Whether it begins or ends its fluent.
    fluent
        What it is about.
    tp, fp, fn
        How often it was right, wrong, and silent where it should have spoken.
    score
        How good the learner holds it to be.
    firings
        How often its body was true.
    weight
        Its weight, where it has one.
    origin
        Where it comes from, in words.
    history
        How it grew, decision by decision.
    """

    number: int
    text: str
    kind: str
    fluent: str
    tp: int
    fp: int
    fn: int
    score: float
    firings: int
    weight: float | None = None
    origin: str = ""
    history: Table | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a theory."""

    title: str
    rules: tuple[RuleEntry, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Influence:
    """What pulls a value to one side: its own value, its weight, and what was compared.

    Parameters
    ----------
    text
        What it is.
    value
        Its own value, in [-1, 1].
    weight
        How much of the value is its.
    similarity
        How similar it is, where that was compared.
    details
        What was compared, and how it differs.
    """

    text: str
    value: float
    weight: float
    similarity: float | None = None
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a query atom got its label."""

    query: str
    sequence: str
    value: float
    label: bool | None
    truth: bool | None
    evidence: tuple[str, ...]
    parts: tuple[Influence, ...]


@dataclass(frozen=True, slots=True)
class Reasons:
    """Some labels and what decided them."""

    title: str
    reasons: tuple[Reason, ...]
    note: str = ""


Section: TypeAlias = Note | Table | Figure | Timeline | Rules | Reasons


@dataclass(frozen=True, slots=True)
class Tab:
    """Sections that are looked at together."""

    title: str
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """Something to look at.

    Parameters
    ----------
    title
        The heading.
    tabs
        The tabs, each with its sections.
    about
        A line below the title.
    """

    title: str
    tabs: tuple[Tab, ...]
    about: str = ""

    def figures(self) -> Iterator[Figure]:
        """Yield the figures of all tabs."""
        for tab in self.tabs:
            yield from (section for section in tab.sections if isinstance(section, Figure))
