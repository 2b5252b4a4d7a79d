"""A rule that is being learned as plain JSON, by names: saved and restored anywhere."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

import numpy as np

from splice.learners.oled.options import Points
from splice.learners.oled.rules import Event, RuleState
from splice.logic.schema import INITIATED_AT, TERMINATED_AT
from splice.logic.syntax import parse_atom, parse_literal
from splice.patterns.lifting import Body
from splice.states import each, number, record, require, text, truth, whole, word

Plain = dict[str, Any]

_COUNTS: Final = ("fired", "total", "candidate_fired", "since", "own")

_FOUR: Final = each(number(0.0), size=4)

RULE: Final = record(
    predicate=word(INITIATED_AT, TERMINATED_AT),
    head=text,
    bottom=each(text),
    picked=each(whole(0, 10_000)),
    points=word(*(points.value for points in Points)),
    **{name: each(_FOUR) if name == "candidate_fired" else _FOUR for name in _COUNTS},
    gap=number(0.0),
    tests=whole(),
    born=whole(),
    history=each(
        record(
            ("early",),
            batch=whole(),
            body=each(text),
            n=whole(),
            **dict.fromkeys(("score", "best", "second", "gap", "bound"), number()),
            early=truth,
        )
    ),
)
"""The shape of a rule in a state."""


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
    counts: Plain = {name: np.array(plain[name], np.float64) for name in _COUNTS}
    counts["candidate_fired"] = counts["candidate_fired"].reshape(-1, 4)
    picked, size = plain["picked"], len(plain["bottom"])
    good = len(set(picked)) == len(picked) and all(i < size for i in picked)
    require(good, "picked", "is not a choice of the bottom rule")
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
