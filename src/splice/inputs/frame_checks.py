"""What is wrong with frames that people give by hand, told before anything is read.

What tables of any kind can have wrong (a time that is none, labels that contradict each other, rows out
of order) is told by whoever reads them. Here is what a file could mean and a frame hardly ever does:
columns that are not there, frames without rows, gaps where there must be a value, and labels about
somebody whom no event names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import polars as pl

from splice.errors import Problem, did_you_mean, raise_problems
from splice.io.dataframes import cell_place
from splice.io.tables.cells import read_cell
from splice.io.tables.frame_table import Frames, FrameTable
from splice.io.tables.frames import ARGUMENTS, select
from splice.io.tables.values import is_timestamp, is_zoned
from splice.logic.terms import Constant, Function

_SHOWN: Final = 5
_ROLES: Final = {"events": "event", "labels": "fluent"}
_TIMES: Final = ("time", "start", "end")
_HINTS: Final = {
    "event": "what happens, such as 'walking'",
    "fluent": "what holds or not, such as 'meet(anna,bob)'",
    "time": "when",
    "start": "when it begins",
    "end": "when it ends, the end not in it",
    "sequence": "which stretch of time",
}
_USUAL: Final = (*_HINTS, "label", "probability")
_ARGUMENT: Final = re.compile(r"arg[0-9]+\Z")
_WHOM: Final = "whom an event is about"


def check_frames(frames: Frames) -> None:
    """Refuse frames of events and labels that cannot be meant.

    Parameters
    ----------
    frames
        Events and, where there are some, labels, with the usual columns.
    """
    problems = [
        problem
        for role, table in frames.tables.items()
        for problem in (
            _missing(role, table) or _without_arguments(role, table) or _gaps(role, table)
        )
    ]
    events, labels = frames.tables.get("events"), frames.tables.get("labels")
    if not problems and events and labels and events.height and labels.height:
        problems = [
            *_strange_times(events, labels),
            *_strange_sequences(events, labels),
            *_strange_entities(events, labels),
        ]
    raise_problems(problems)


def refuse_empty(frames: Frames) -> None:
    """Refuse frames without rows, where there is no stream of which they could be a part.

    Parameters
    ----------
    frames
        Events and, where there are some, labels.
    """
    problems = [
        Problem(table.place(), "the frame has no rows", hint="was a filter too strict?")
        for table in frames.tables.values()
        if not table.height
    ]
    raise_problems(problems)


def _needed(role: str, table: FrameTable) -> list[str]:
    declared = table.declared if role == "labels" else ()
    interval = "time" not in table.names and {"start", "end"} & {*table.names, *declared}
    return [*(["start", "end"] if interval else ["time"]), _ROLES[role]]


def _missing(role: str, table: FrameTable) -> list[Problem]:
    if role not in _ROLES:
        return []
    originals = [table.original_name(name) for name in table.names]
    spare = [name for name in originals if name not in _needed(role, table)]
    return [
        Problem(
            table.place(),
            f"column '{table.declared.get(name, name)}' is missing ({_HINTS.get(name, _WHOM)})",
            ", ".join(originals),
            _hint(name, role, table, spare),
        )
        for name in dict.fromkeys([*_needed(role, table), *_named(role, table)])
        if name not in table.names
    ]


def _named(role: str, table: FrameTable) -> list[str]:
    """Return what need not be there and was said to be: of whom events are, and their sequences."""
    declared = table.declared if role == "events" else ()
    return [name for name in declared if name == "sequence" or name.startswith("arg")]


def _hint(name: str, role: str, table: FrameTable, spare: Sequence[str]) -> str:
    if name.startswith("arg"):
        near = did_you_mean(table.declared[name], spare)
        return near or "args=[...] names columns that the events have"
    if name == "time" and table.columns.unnamed_times:
        meant = table.declared.get(name, name)
        return f"if the index is meant, name it: {role}.rename_axis({meant!r})"
    guess = f"{name}={_guess(name, table, spare)!r}"
    if name == "time" and role == "labels":
        guess += ", or start='...' and end='...'"
    return f"rename a column, or say which one it is: {guess}"


def _without_arguments(role: str, table: FrameTable) -> list[Problem]:
    """Return that nobody says whom the events are about, where a column may."""
    spare = [name for name in table.names if name not in _USUAL]
    if role != "events" or not spare or any(map(_ARGUMENT.match, table.names)):
        return []
    lost = ", ".join(f"'{name}'" for name in spare)
    hint = f"say whom the events are about: args={spare[:1]}, or args=[] if they are about nobody"
    return [Problem(table.place(), f"nothing is read from {lost}", ", ".join(table.names), hint)]


def _guess(name: str, table: FrameTable, spare: Sequence[str]) -> str:
    """Return the column that is most probably meant."""
    near = did_you_mean(table.declared.get(name, name), spare) or did_you_mean(name, spare)
    if near:
        return near.split("'")[1]
    if name in _TIMES:
        cells = table.readable().items()
        originals = (table.original_name(n) for n, column in cells if column.dtype.is_temporal())
        return next((n for n in originals if n in spare), "...")
    return "..."


def _gaps(role: str, table: FrameTable) -> list[Problem]:
    """Return the cells that must have a value and have none."""
    names = [*(_needed(role, table) if role in _ROLES else []), "sequence"]
    return [
        _at(table, name, row, "the value is missing (null or NaN)", "fill it in, or drop the row")
        for name in names
        if (column := table.column(name)) is not None
        for row in column.is_null().arg_true()[:_SHOWN].to_list()
    ]


def _at(table: FrameTable, column: str, row: int, message: str, hint: str) -> Problem:
    cells = ((table.original_name(name), series[row]) for name, series in table.readable().items())
    text = ", ".join(f"{name}={value}" for name, value in cells if value is not None)
    original = table.original_name(column)
    return Problem(cell_place(str(table.path), row, original), message, text, hint)


def _strange_times(events: FrameTable, labels: FrameTable) -> list[Problem]:
    """Return labels whose times are not those of the events: counted otherwise, or elsewhere."""
    name = "time" if "time" in events.names else "start"
    first = "time" if "time" in labels.names else "start"
    ours, begin = events.column(name), labels.column(first)
    end = labels.column("end") if first == "start" else begin
    assert ours is not None
    assert begin is not None
    assert end is not None
    sorts = [_sort(column) for column in (ours, begin)]
    if sorts[0] != sorts[1] and "texts" not in sorts:
        message = f"the times of the labels are {sorts[1]}, and those of the events {sorts[0]}"
        return [_at(labels, first, 0, message, "convert one of the two")]
    zones = [_zone(column) for column in (ours, begin)]
    if all(zones) and zones[0] != zones[1]:
        message = f"the times of the labels have {zones[1]}, and those of the events {zones[0]}"
        return [_at(labels, first, 0, message, "give all timestamps a zone, or none")]
    if "texts" in sorts or ours.dtype != begin.dtype or ours.dtype != end.dtype:
        return []
    # As columns of one row: a number beyond 64 bits fits into them, and into no literal.
    least, most = (pl.Series([bound], dtype=ours.dtype) for bound in (ours.min(), ours.max()))
    reached = (end >= least) & (begin <= most)
    if reached.any():
        return []
    message = f"no label lies in the time of the events, {ours.min()!s} to {ours.max()!s}"
    return [_at(labels, first, 0, message, "are both counted from the same beginning?")]


def _sort(column: pl.Series) -> str:
    if column.dtype.is_temporal():
        return "dates" if column.dtype == pl.Date else "timestamps"
    return "texts" if column.dtype == pl.String else "numbers"


def _zone(column: pl.Series) -> str:
    """Return in words whether timestamps have a zone; nothing where some have, or there are none."""
    zoned = is_zoned(column)[is_timestamp(column)]
    if not len(zoned) or zoned.any() != zoned.all():
        return ""
    return "a zone" if zoned.all() else "no zone"


def duplicates(frames: Frames) -> str:
    """Return in words which rows of frames stand there before, and the first of them."""
    texts = []
    for name, table in frames.tables.items():
        rows = pl.DataFrame(table.readable())
        again = rows.select(~pl.struct(pl.all()).is_first_distinct()).to_series()
        if again.any():
            first = int(again.arg_true()[0])
            texts.append(f"{name} has {int(again.sum()):,} rows twice, the first is row {first}")
    return "; ".join(texts)


def _strange_sequences(events: FrameTable, labels: FrameTable) -> list[Problem]:
    theirs, ours = labels.column("sequence"), events.column("sequence")
    if theirs is None or ours is None:
        return []  # that one has the column and the other does not is told by the reader
    names = set(_texts(ours))
    return [
        _at(
            labels,
            "sequence",
            row,
            f"no event is in sequence '{name}'",
            did_you_mean(name, names) or f"sequences of the events: {_some(names)}",
        )
        for name, row in _first_rows(theirs)
        if name not in names
    ][:_SHOWN]


def _strange_entities(events: FrameTable, labels: FrameTable) -> list[Problem]:
    """Return labels about somebody whom no event names.

    An argument of a fluent none of whose values is in the events is no entity but a value, as in
    ``speed(anna,high)``, unless no argument is: then the two frames do not speak of the same.
    """
    named: dict[tuple[str, int], dict[str, tuple[str, int]]] = {}
    for place, name, where in _label_arguments(labels):
        named.setdefault(place, {}).setdefault(name, where)
    entities = _entities(events)
    if not named or not entities:
        return []
    # A place, such as (meet, 0), is about entities if some name there is one's.
    met = {place for place, names in named.items() if entities.intersection(names)}
    doubtful = [place for place in named if place in met] if met else list(named)
    return [
        _at(labels, column, row, f"no event is about '{name}'", _nearest(name, entities))
        for place in doubtful
        for name, (column, row) in named[place].items()
        if name not in entities
    ][:_SHOWN]


def _label_arguments(
    labels: FrameTable,
) -> Iterator[tuple[tuple[str, int], str, tuple[str, int]]]:
    """Yield whom labels are about: the place of an argument, its name, and the cell that says so first.

    Arguments stand in fluents, ``meet(anna,bob)``, or in columns of their own.
    """
    fluents = labels.column("fluent")
    assert fluents is not None
    for text, row in _first_rows(fluents):
        for place, name in _arguments(text):
            yield place, name, ("fluent", row)
    for number, column in enumerate(select(labels.names, [ARGUMENTS])):
        cells = labels.column(column)
        assert cells is not None
        for text, row in _first_rows(cells):
            yield (column, number), text, (column, row)


def _nearest(name: str, entities: set[str]) -> str:
    if f"{name}.0" in entities:
        return f"the events are about '{name}.0': make integers of that column"
    return did_you_mean(name, entities) or f"events are about {_some(entities)}"


def unread(frames: Frames) -> str:
    """Return in words that labels have a column of whom they are about which nobody reads, if so."""
    events, labels = frames.tables.get("events"), frames.tables.get("labels")
    fluents = labels.column("fluent") if labels else None
    if not events or not labels or fluents is None or any(map(_ARGUMENT.match, labels.names)):
        return ""
    entities = _entities(events)
    if not entities or any("(" in text for text in _texts(fluents)):
        return ""
    for name, column in labels.readable().items():
        named = set() if name in _USUAL else set(_texts(column))
        if named and named <= entities:
            return (
                f"labels, column '{name}': not read, and events are about what it names; "
                f"if the fluents are, too, rename it to '{events.original_name('arg1')}'"
            )
    return ""


def _entities(events: FrameTable) -> set[str]:
    columns = (events.column(name) for name in events.names if name.startswith("arg"))
    texts = {text for column in columns if column is not None for text in _texts(column)}
    return texts | {name for text in texts for _, name in _arguments(text)}


def _arguments(text: str) -> Iterator[tuple[tuple[str, int], str]]:
    """Yield the constants of a fluent, each with the place at which it stands."""
    term = read_cell(text)
    if isinstance(term, Function):
        for number, part in enumerate(p for p in term.walk() if isinstance(p, Constant)):
            yield (term.functor, number), part.name


def _texts(column: pl.Series) -> Iterable[str]:
    return (text.strip() for text in column.drop_nulls().unique().cast(pl.String).to_list())


def _first_rows(column: pl.Series) -> Sequence[tuple[str, int]]:
    """Return each distinct text of a column, and the row at which it first stands."""
    frame = column.cast(pl.String).str.strip_chars().alias("text").to_frame().with_row_index("row")
    first = frame.drop_nulls().unique("text", keep="first", maintain_order=True)
    return list(zip(first["text"].to_list(), first["row"].to_list(), strict=True))


def _some(names: Iterable[str]) -> str:
    first = sorted(names)
    return ", ".join(first[:6]) + (", ..." if len(first) > 6 else "")
