"""The state of an OLED learner as plain JSON, by names: saved, restored and merged anywhere."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

import numpy as np

from splice.arrays import Codes
from splice.errors import SpliceError
from splice.learners.oled.options import Points
from splice.learners.oled.rules import Event, RuleState
from splice.logic.syntax import parse_atom, parse_literal
from splice.patterns.columns import Body
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Kind, Vocabulary

__all__ = ["VERSION", "check_version", "plain_rows", "plain_rule", "read_rows", "read_rule"]

VERSION: Final = 5

Plain = dict[str, Any]

_COUNTS: Final = ("fired", "total", "candidate_fired", "since", "own")


def check_version(state: object) -> None:
    """Refuse a state that another version or another learner has written."""
    said = (state.get("learner"), state.get("version")) if isinstance(state, dict) else ()
    if said != ("oled", VERSION):
        raise SpliceError(
            "this is not a state of OLED that can be read here",
            f"it was written by another learner or version (wanted: oled, {VERSION})",
        )


def plain_rule(rule: RuleState) -> Plain:
    """Return a rule and its counts as plain values."""
    return {
        "predicate": rule.predicate,
        "head": str(rule.head),
        "bottom": [str(literal) for literal in rule.bottom],
        "picked": list(rule.picked),
        "points": rule.points.value,
        **{name: getattr(rule, name).tolist() for name in _COUNTS},
        "gap": rule.gap,
        "tests": rule.tests,
        "born": rule.born,
        "history": [{**asdict(e), "body": [str(b) for b in e.body]} for e in rule.history],
    }


def read_rule(plain: Plain) -> RuleState:
    """Return the rule that plain values describe."""
    counts = {name: np.array(plain[name], np.float64) for name in _COUNTS}
    counts["candidate_fired"] = counts["candidate_fired"].reshape(-1, 4)
    history = [Event(**{**e, "body": _body(e["body"])}) for e in plain["history"]]
    return RuleState(
        plain["predicate"],
        parse_atom(plain["head"]),
        _body(plain["bottom"]),
        tuple(plain["picked"]),
        Points(plain["points"]),
        **counts,
        gap=plain["gap"],
        tests=plain["tests"],
        born=plain["born"],
        history=history,
    )


def _body(texts: list[str]) -> Body:
    return tuple(map(parse_literal, texts))


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
    return Kind(parse_atom(row["template"]), tuple(row["types"]), row["at"])


def _column(codes: list[int]) -> Codes:
    return np.array(codes, np.int32)
