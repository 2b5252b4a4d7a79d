"""The state of a completer as plain values, by names: it can be saved and read anywhere.

Codes belong to a vocabulary and a run; names do not. So a state holds rules, atoms and constants
as text, and a completer that takes it up gives them numbers again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from splice.completion.cache import Entry, LabelCache, Lomrf2019Cache, vertices_of
from splice.completion.links import Standing, Terminal
from splice.completion.persistence import Transition
from splice.completion.similarity import Vertices
from splice.errors import InputError, SpliceError
from splice.logic.syntax import parse_atom, parse_rule
from splice.patterns.lifting import PatternStore
from splice.patterns.partition import typed, untyped
from splice.patterns.visibility import Visibility
from splice.states import (
    StateError,
    check_state,
    each,
    maybe,
    number,
    record,
    require,
    row,
    text,
    truth,
    whole,
)
from splice.stream.vocabulary import Kind

VERSION: Final = 7

_VERTEX: Final = {
    "example": text,
    "constants": each(maybe(row(text, text))),
    "time": whole(-(2**63)),
}
_ENTRY: Final = record(
    rule=text,
    label=truth,
    count=number(0.0),
    last=whole(),
    examples=each(record(**_VERTEX)),
)
_TERMINAL: Final = record(
    query=record(template=text, types=each(text), time=maybe(whole(0, 1000)), args=each(text)),
    value=number(-1.0, 1.0),
    conductance=maybe(number(0.0)),
    label=whole(-1, 1),
    trust=number(0.0, 1.0),
    past=number(-1.0, 1.0),
    since=maybe(number(0.0)),
    rule=text,
    **_VERTEX,
)
STANDING: Final = record(sequence=text, last=each(_TERMINAL), time=maybe(whole(-(2**63))))
"""The shape of where chains stand."""
_COMPLETER: Final = record(
    ("chains", "transitions", "gaps", "examples"),
    version=whole(),
    profile=text,
    frozen=truth,
    seen=each(number(0.0), size=2),
    cache=record(
        ("batches", "vertices"),
        updates=whole(),
        entries=each(_ENTRY),
        batches=whole(),
        vertices=each(_ENTRY),
    ),
    chains=STANDING,
    transitions=each(
        record(rule=text, changed=truth, before=whole(-1, 1), now=whole(-1, 1), count=number(0.0))
    ),
    gaps=each(record(gap=whole(1), count=number(0.0))),
    examples=each(record(rule=text, count=number(0.0))),
)
"""The shape of a completer's state."""

Plain = dict[str, Any]


class StateWriter:
    """Turns the parts of a completer into plain values."""

    def __init__(
        self, visibility: Visibility, patterns: PatternStore, vertices: PatternStore
    ) -> None:
        self._visibility = visibility
        self._patterns = patterns
        self._vertices = vertices

    def cache(self, cache: LabelCache, classes: list[int]) -> Plain:
        """Return the cached labels; ``classes`` gives a pattern for each class."""
        state: Plain = {
            "updates": cache.updates,
            "entries": [self._entry(entry, classes) for entry in cache.entries.values()],
        }
        if isinstance(cache, Lomrf2019Cache):
            state["batches"] = cache.batches
            state["vertices"] = [self._entry(entry, classes) for entry in cache.vertices]
        return state

    def chains(self, standing: Standing, classes: list[int]) -> Plain:
        """Return where the chains of a sequence stand; a given label is firm."""
        last = [
            {
                "query": self._query(key),
                "value": end.value,
                "conductance": None if np.isinf(end.conductance) else end.conductance,
                "label": end.label,
                "trust": end.trust,
                "past": end.past,
                "since": None if np.isinf(end.since) else end.since,
                "rule": str(self._patterns[classes[end.cls]].rule),
                **self._vertex(end.vertex, 0),
            }
            for key, end in standing.last.items()
        ]
        return {"sequence": standing.sequence, "last": last, "time": standing.time}

    def transitions(self, counts: Mapping[Transition, float], classes: list[int]) -> list[Plain]:
        """Return how often labels followed labels; ``classes`` gives a pattern for each class."""
        return [
            {
                "rule": str(self._patterns[classes[cls]].rule),
                "changed": bool(changed),
                "before": before,
                "now": now,
                "count": count,
            }
            for (cls, changed, before, now), count in counts.items()
        ]

    def gaps(self, counts: Mapping[int, float]) -> list[Plain]:
        """Return how often each gap was seen between neighbouring time-points."""
        return [{"gap": gap, "count": count} for gap, count in counts.items()]

    def examples(self, counts: Mapping[int, float]) -> list[Plain]:
        """Return how many examples were seen of each pattern."""
        store = self._patterns
        return [{"rule": str(store[one].rule), "count": count} for one, count in counts.items()]

    def _entry(self, entry: Entry, classes: list[int]) -> Plain:
        vertices = vertices_of(entry.examples)
        return {
            "rule": str(self._patterns[classes[entry.cls]].rule),
            "label": entry.positive,
            "count": entry.count,
            "last": entry.last,
            "examples": [self._vertex(vertices, row) for row in range(len(vertices))],
        }

    def _vertex(self, vertices: Vertices, row: int) -> Plain:
        return {
            "example": str(self._vertices[int(vertices.pattern[row])].rule),
            "constants": [self._constant(code) for code in vertices.entities[row].tolist()],
            "time": int(vertices.time[row]),
        }

    def _constant(self, code: int) -> list[str] | None:
        if code < 0:
            return None
        constant, type_code = untyped(code)
        return [
            self._visibility.vocabulary.constants[constant],
            self._visibility.type_codes[type_code],
        ]

    def _query(self, key: tuple[int, ...]) -> Plain:
        kind = self._visibility.vocabulary.kinds[key[0]]
        return {
            "template": str(kind.template),
            "types": list(kind.types),
            "time": kind.time,
            "args": self._visibility.vocabulary.constants.names(key[1:]),
        }


class StateReader:
    """Gives the names of a state numbers again."""

    def __init__(
        self, visibility: Visibility, patterns: PatternStore, vertices: PatternStore
    ) -> None:
        self._visibility = visibility
        self._patterns = patterns
        self._vertices = vertices
        self._known: dict[tuple[bool, str], int] = {}

    def entry(self, state: Plain, cls: int) -> Entry:
        """Return a cached label."""
        examples = []
        for plain in state["examples"]:
            vertex = self.vertex(plain)
            entities = tuple(vertex.entities[0].tolist())
            examples.append((int(vertex.pattern[0]), entities, int(vertex.time[0])))
        label, count, last = bool(state["label"]), float(state["count"]), int(state["last"])
        return Entry(cls, label, examples, count, last)

    def pattern(self, state: Plain) -> int:
        """Return the number of the pattern that a label belongs to."""
        return self._number(self._patterns, state["rule"])

    def _number(self, store: PatternStore, text: str) -> int:
        """Return the number of a rule in a store; texts come again and again."""
        key = (store is self._patterns, text)
        if key not in self._known:
            self._known[key] = store.of_rule(parse_rule(text))
        return self._known[key]

    def vertex(self, state: Plain) -> Vertices:
        """Return the example that stands for a label or a last value."""
        codes = [self._code(constant) for constant in state["constants"]]
        return Vertices(
            np.array([self._number(self._vertices, state["example"])], np.int64),
            np.array([codes], np.int64).reshape(1, len(codes)),
            np.array([state["time"]], np.int64),
        )

    def terminal(self, state: Plain, cls: int) -> Terminal:
        """Return where a chain stands."""
        firm = np.inf if state["conductance"] is None else state["conductance"]
        vertex = self.vertex(state)
        since = np.inf if state["since"] is None else state["since"]
        return Terminal(
            state["value"],
            firm,
            state["label"],
            cls,
            vertex,
            state["trust"],
            state["past"],
            since,
        )

    def key(self, state: Plain) -> tuple[int, ...]:
        """Return the query atom that a last value belongs to."""
        kind = Kind(parse_atom(state["template"]), tuple(state["types"]), state["time"])
        require(kind.arity == len(state["args"]), "chains", "has a query of other arguments")
        vocabulary = self._visibility.vocabulary
        return (vocabulary.kind(kind), *vocabulary.constants.codes(state["args"]).tolist())

    def _code(self, constant: list[str] | None) -> int:
        if constant is None:
            return -1
        name, type_name = constant
        return typed(
            self._visibility.vocabulary.constants.code(name),
            self._visibility.type_codes.code(type_name),
        )


def check_completer(state: Plain, profile: str) -> None:
    """Refuse a state of another version, of another profile, or none at all."""
    require(isinstance(state, dict), "", "is not a table")
    if state.get("version") != VERSION:
        raise SpliceError(
            f"this state is of version {state.get('version')}, not {VERSION}",
            "complete the stream from its start",
        )
    check_state(state, _COMPLETER)
    if state["profile"] != profile:
        raise SpliceError("this state was made with another profile", "use the same choices")


@contextmanager
def readable() -> Iterator[None]:
    """Turn what goes wrong when names of a state are read into an error about the state."""
    try:
        yield
    except StateError:
        raise
    except (InputError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise StateError("", f"holds what cannot be read ({error})") from None
