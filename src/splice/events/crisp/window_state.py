"""What a windowed recogniser remembers, as plain values: it can go on after an interruption."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from splice.events.crisp.carried import Carried, CarriedFluents
from splice.events.crisp.intervals import Intervals
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
            [fluent.name, fluent.arity, [_plain_fluents(group) for group in groups]]
            for fluent, groups in carried.fluents.items()
        ],
        "seen": [
            [
                [p.is_function, p.symbol.name, p.symbol.arity, p.argument],
                _columns(sightings, _SIGHTINGS),
            ]
            for p, sightings in carried.sightings.items()
        ],
    }


def window_from(state: Plain, vocabulary: Vocabulary) -> WindowState:
    """Return the window of a state, over the vocabulary that it was made with."""
    check_state(state, _SHAPE, "window")
    fluents = {
        Signature(name, arity): [_fluents_from(group) for group in groups]
        for name, arity, groups in state["held"]
    }
    sightings = {
        Position(is_function, Signature(name, arity), argument): Sightings(*map(array_from, parts))
        for (is_function, name, arity, argument), parts in state["seen"]
    }
    return WindowState(
        [table_from(part, vocabulary) for part in state["parts"]],
        Carried(fluents, state["horizon"], sightings),
        state["final"],
        state["floor"],
    )


_TIME: Final = maybe(whole(-(2**63)))
_SHAPE: Final = record(
    **dict.fromkeys(("parts", "held", "seen"), each(anything)),
    **dict.fromkeys(("horizon", "final", "floor"), _TIME),
)
_SIGHTINGS = ("sequence", "entity", "since")
_INTERVALS = ("key", "start", "end")


def _columns(value: object, names: tuple[str, ...]) -> list[Plain]:
    return [plain_array(getattr(value, name)) for name in names]


def _plain_fluents(fluents: CarriedFluents) -> Plain:
    return {
        "template": plain_term(fluents.template),
        "columns": [plain_array(column) for column in fluents.columns],
        "since": plain_array(fluents.since),
        "past": _columns(fluents.past, _INTERVALS),
    }


def _fluents_from(state: Plain) -> CarriedFluents:
    columns: list[Any] = [array_from(column) for column in state["columns"]]
    since, past = array_from(state["since"]), [array_from(column) for column in state["past"]]
    for side in ([since, *columns], past):
        flat = all(column.ndim == 1 and len(column) == len(side[0]) for column in side)
        require(flat, "held", "has columns that do not belong together")
    require(len(past) == len(_INTERVALS), "held", "has no intervals")
    keys = past[0]
    require(((keys >= 0) & (keys < len(since))).all(), "held", "has intervals of nobody")
    template = term_from(state["template"])
    require(is_template(template, len(columns)), "held", "has no template of a fluent")
    return CarriedFluents(template, columns, since, Intervals(*past))
