"""Rows of a table as plain JSON, by names: the last time-point of a batch in the state of a learner."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from splice.arrays import Codes
from splice.logic.syntax import parse_atom
from splice.states import each, maybe, record, require, text, whole
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Kind, Vocabulary

__all__ = ["ROWS", "plain_rows", "read_rows"]

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

Plain = dict[str, Any]


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
