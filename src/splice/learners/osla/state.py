"""The state of an OSLa learner as plain JSON, by names: saved, restored and merged anywhere."""

from __future__ import annotations

from typing import Any, Final

from splice.errors import SpliceError
from splice.learners.osla.candidates import Candidates
from splice.logic.syntax import parse_atom, parse_rule

__all__ = ["VERSION", "check_version", "plain_candidates", "read_candidates"]

VERSION: Final = 2

Plain = dict[str, Any]


def check_version(state: Plain) -> None:
    """Refuse a state that another version or another learner has written."""
    if state.get("learner") != "osla" or state.get("version") != VERSION:
        raise SpliceError(
            "this is not a state of OSLa that can be read here",
            f"it was written by another learner or version (wanted: osla, {VERSION})",
        )


def plain_candidates(candidates: Candidates) -> list[list[str]]:
    """Return clauses as text, each with the query atom that it is about."""
    pairs = zip(candidates.rules, candidates.heads, strict=True)
    return [[str(rule), str(head)] for rule, head in pairs]


def read_candidates(plain: list[list[str]], into: Candidates) -> list[int]:
    """Take clauses up; return their numbers."""
    return [into.number(parse_rule(rule), parse_atom(head)) for rule, head in plain]
