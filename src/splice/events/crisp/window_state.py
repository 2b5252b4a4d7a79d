"""What a windowed recogniser remembers, as plain values: it can go on after an interruption."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from splice.events.crisp.intervals import Intervals
from splice.events.crisp.recognition import Carried, Held
from splice.events.universe import Sightings
from splice.logic.schema import Signature
from splice.states import anything, check_state, each, maybe, record, require, whole
from splice.stream.inference import Position
from splice.stream.plain import (
    Plain,
    array_from,
    is_template,
    plain_array,
    plain_table,
    plain_term,
    table_from,
    term_from,
)
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import Vocabulary


@dataclass
class WindowState:
    """The window over one sequence: its atoms, what is carried into it, and how far it is."""

    parts: list[AtomTable] = field(default_factory=list)
    carried: Carried = field(default_factory=Carried)
    final: int = NO_TIME
    """Intervals that end up to here were given already."""
    floor: int = NO_TIME
    """Atoms before this time come too late."""


def plain_window(state: WindowState) -> Plain:
    """Return a window as plain values."""
    carried = state.carried
    return {
        "parts": [plain_table(part) for part in state.parts if len(part)],
        "final": state.final,
        "floor": state.floor,
        "horizon": carried.horizon,
        "held": [
            [fluent.name, fluent.arity, [_plain_held(held) for held in every]]
            for fluent, every in carried.held.items()
        ],
        "seen": [
            [[p.is_function, p.symbol.name, p.symbol.arity, p.argument], _columns(seen, _SEEN)]
            for p, seen in carried.seen.items()
        ],
    }


def window_from(state: Plain, vocabulary: Vocabulary) -> WindowState:
    """Return the window of a state, over the vocabulary that it was made with."""
    check_state(state, _SHAPE, "window")
    held = {
        Signature(name, arity): [_held_from(part) for part in every]
        for name, arity, every in state["held"]
    }
    seen = {
        Position(is_function, Signature(name, arity), argument): Sightings(*map(array_from, parts))
        for (is_function, name, arity, argument), parts in state["seen"]
    }
    return WindowState(
        [table_from(part, vocabulary) for part in state["parts"]],
        Carried(held, state["horizon"], seen),
        state["final"],
        state["floor"],
    )


_TIME: Final = maybe(whole(-(2**63)))
_SHAPE: Final = record(
    **dict.fromkeys(("parts", "held", "seen"), each(anything)),
    **dict.fromkeys(("horizon", "final", "floor"), _TIME),
)
_SEEN = ("sequence", "entity", "since")
_PAST = ("key", "start", "end")


def _columns(value: object, names: tuple[str, ...]) -> list[Plain]:
    return [plain_array(getattr(value, name)) for name in names]


def _plain_held(held: Held) -> Plain:
    return {
        "template": plain_term(held.template),
        "columns": [plain_array(column) for column in held.columns],
        "since": plain_array(held.since),
        "past": _columns(held.past, _PAST),
    }


def _held_from(state: Plain) -> Held:
    columns: list[Any] = [array_from(column) for column in state["columns"]]
    since, past = array_from(state["since"]), [array_from(column) for column in state["past"]]
    for group in ([since, *columns], past):
        flat = all(column.ndim == 1 and len(column) == len(group[0]) for column in group)
        require(flat, "held", "has columns that do not belong together")
    require(len(past) == len(_PAST), "held", "has no intervals")
    keys = past[0]
    require(((keys >= 0) & (keys < len(since))).all(), "held", "has intervals of nobody")
    template = term_from(state["template"])
    require(is_template(template, len(columns)), "held", "has no template of a fluent")
    return Held(template, columns, since, Intervals(*past))
