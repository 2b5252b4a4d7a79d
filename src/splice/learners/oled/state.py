"""A rule that is being learned as plain JSON, by names: saved and restored anywhere."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

import numpy as np

from splice.learners.oled.options import Points
from splice.learners.oled.rules import Event, RuleState
from splice.logic.syntax import parse_atom, parse_literal
from splice.patterns.columns import Body

__all__ = ["plain_rule", "read_rule"]

Plain = dict[str, Any]

_COUNTS: Final = ("fired", "total", "candidate_fired", "since", "own")


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
