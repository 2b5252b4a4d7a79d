"""Vocabularies and tables as plain values that JSON can hold: what a live run must not forget.

A stream that arrives cannot be read again to give its names the same numbers. So the names go into
the checkpoint, in the order of their codes, and the columns over them as they are: as the bytes of
64-bit and smaller numbers in base64, which costs a fraction of their digits. A learner, which may be
restored over another vocabulary, keeps its few rows by names (:func:`plain_rows`).
"""

from __future__ import annotations

import base64
from dataclasses import asdict
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from splice.arrays import Codes
from splice.logic.atoms import Atom
from splice.logic.syntax import parse_atom
from splice.logic.terms import Constant, Function, Term, Variable
from splice.states import (
    StateError,
    anything,
    check_state,
    each,
    mapping,
    maybe,
    record,
    require,
    text,
    whole,
    word,
)
from splice.states import (
    row as row_of,
)
from splice.stream.table import AtomTable
from splice.stream.times import TimeFormat
from splice.stream.vocabulary import Kind, Vocabulary

Plain: TypeAlias = dict[str, Any]


def plain_array(array: npt.NDArray[Any]) -> Plain:
    """Return an array of numbers as its type, its shape and its bytes.

    >>> array_from(plain_array(np.array([[1, 2], [3, 4]]))).tolist()
    [[1, 2], [3, 4]]
    """
    ordered = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    data = base64.b64encode(ordered.tobytes()).decode("ascii")
    return {"type": ordered.dtype.str, "shape": list(array.shape), "data": data}


def array_from(state: Plain) -> npt.NDArray[Any]:
    """Return the array of a state; it may be written to."""
    check_state(state, _ARRAY)
    try:
        flat = np.frombuffer(base64.b64decode(state["data"], validate=True), state["type"])
        return flat.reshape(state["shape"]).astype(flat.dtype.newbyteorder("="))
    except ValueError as error:
        raise StateError("a column", f"is none ({error})") from None


_ARRAY: Final = record(
    type=word("<f8", "<i8", "<i4", "<i2", "|i1", "|b1", "|u1"),
    shape=each(whole(0, 1 << 32)),
    data=anything,
)


def plain_term(term: Term) -> Any:
    """Return a term: a variable as its name, a constant in a list of its own, else a list.

    >>> plain_term(Function("meet", (Variable("X"), Constant("anna"))))
    ['meet', ['X', ['anna']]]
    """
    if isinstance(term, Variable):
        return term.name
    if isinstance(term, Constant):
        return [term.name]
    return [term.functor, [plain_term(arg) for arg in term.args]]


def term_from(state: Any) -> Term:
    """Return the term of a state."""
    if isinstance(state, str):
        return Variable(state)
    named = isinstance(state, list) and len(state) in (1, 2) and isinstance(state[0], str)
    require(named, "a term", "is none")
    if len(state) == 1:
        return Constant(state[0])
    require(isinstance(state[1], list), "a term", "has no arguments")
    return Function(state[0], tuple(term_from(arg) for arg in state[1]))


def is_template(of: Atom | Term, leaves: int) -> bool:
    """Tell whether each of so many leaves is a variable of its own, numbered from left to right."""
    leaf_terms = [term for term in of.walk() if not isinstance(term, Function)]
    return leaf_terms == [Variable(f"V{i}") for i in range(leaves)]


def plain_vocabulary(vocabulary: Vocabulary) -> Plain:
    """Return every name of a vocabulary, in the order of their codes."""
    return {
        "constants": list(vocabulary.constants),
        "sequences": list(vocabulary.sequences),
        "kinds": [
            [
                kind.predicate,
                [plain_term(arg) for arg in kind.template.args],
                list(kind.types),
                kind.time,
            ]
            for kind in vocabulary.kinds
        ],
        "times": asdict(vocabulary.times),
    }


def vocabulary_from(state: Plain) -> Vocabulary:
    """Return a vocabulary in which every name has the code that it had."""
    check_state(state, _VOCABULARY, "vocabulary")
    vocabulary = Vocabulary()
    for name in state["constants"]:
        vocabulary.constants.code(name)
    for name in state["sequences"]:
        vocabulary.sequences.code(name)
    for predicate, args, types, time in state["kinds"]:
        template = Atom(predicate, tuple(term_from(arg) for arg in args))
        numbered = is_template(template, len(types))
        require(numbered and (time is None or time < len(types)), "kinds", "has no kind of atom")
        vocabulary.kind(Kind(template, tuple(types), time))
    vocabulary.times = TimeFormat(**state["times"])
    return vocabulary


_VOCABULARY: Final = record(
    constants=each(text),
    sequences=each(text),
    kinds=each(row_of(text, each(anything), each(text), maybe(whole(0, 1000)))),
    times=mapping(anything),
)


def plain_table(table: AtomTable) -> Plain:
    """Return the columns of a table; where its rows were read is not kept."""
    names = ("sequence", "time", "kind", "args", "truth")
    return {name: plain_array(getattr(table, name)) for name in names}


def table_from(state: Plain, vocabulary: Vocabulary) -> AtomTable:
    """Return the table of a state, over the vocabulary that it was made with."""
    check_state(state, _TABLE)
    columns = {name: array_from(part) for name, part in state.items()}
    for name, column in columns.items():
        require(column.ndim == (2 if name == "args" else 1), name, "is not a column")
        require(len(column) == len(columns["time"]), name, "is not as long as the others")
    sizes = {"sequence": len(vocabulary.sequences), "kind": len(vocabulary.kinds)}
    for name, size in {**sizes, "args": len(vocabulary.constants)}.items():
        least = -1 if name == "args" else 0
        within = (columns[name] >= least) & (columns[name] < size)
        require(within.all(), name, "has a code that no name has")
    require((np.abs(columns["truth"].astype(np.int64)) <= 1).all(), "truth", "is no label")
    return AtomTable(vocabulary, **columns)


_TABLE: Final = record(**dict.fromkeys(("sequence", "time", "kind", "args", "truth"), anything))


ROWS: Final = each(
    record(
        sequence=text,
        time=whole(-(2**63)),
        template=text,
        types=each(text),
        at=maybe(whole(0, 1000)),
        args=each(text),
        truth=whole(-1, 1),
    )
)
"""The shape of rows in a state."""


def plain_rows(table: AtomTable | None) -> list[Plain]:
    """Return the rows of a table as plain values: the last time-point of a batch."""
    if table is None:
        return []
    rows = []
    for row in range(len(table)):
        kind = table.vocabulary.kinds[int(table.kind[row])]
        rows.append(
            {
                "sequence": table.vocabulary.sequences[int(table.sequence[row])],
                "time": int(table.time[row]),
                "template": str(kind.template),
                "types": list(kind.types),
                "at": kind.time,
                "args": table.vocabulary.constants.names(table.args[row, : kind.arity].tolist()),
                "truth": int(table.truth[row]),
            }
        )
    return rows


def read_rows(rows: list[Plain], vocabulary: Vocabulary) -> AtomTable | None:
    """Return the table of plain rows over a vocabulary."""
    if not rows:
        return None
    width = max(len(row["args"]) for row in rows)
    args = np.full((len(rows), width), -1, np.int32)
    for i, row in enumerate(rows):
        args[i, : len(row["args"])] = vocabulary.constants.codes(row["args"])
    return AtomTable(
        vocabulary,
        _column([vocabulary.sequences.code(row["sequence"]) for row in rows]),
        np.array([row["time"] for row in rows], np.int64),
        _column([vocabulary.kind(_kind(row)) for row in rows]),
        args,
        np.array([row["truth"] for row in rows], np.int8),
    )


def _kind(row: Plain) -> Kind:
    kind = Kind(parse_atom(row["template"]), tuple(row["types"]), row["at"])
    require(
        kind.arity == len(row["args"]), "last", "has an atom with other arguments than its kind"
    )
    return kind


def _column(codes: list[int]) -> Codes:
    return np.array(codes, np.int32)
