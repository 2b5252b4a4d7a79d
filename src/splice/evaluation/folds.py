"""Folds for cross-validation: whole sequences are held out, never parts of them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from enum import Enum

from splice.errors import SpliceError


class FoldRule(Enum):
    """What is held out together."""

    SEQUENCES = "sequences"
    """Each sequence on its own, dealt out in the order of their names."""
    GROUPS = "groups"
    """Sequences of one recording: those whose names agree up to the first dot."""
    HALVES = "halves"
    """Every second sequence, in the order of their names; then the others: two folds only."""


def assigned(
    names: Sequence[str], count: int = 10, rule: FoldRule = FoldRule.SEQUENCES
) -> dict[str, int]:
    """Return the fold of each sequence.

    >>> assigned(["b.1", "a.1", "b.2"], 2, FoldRule.GROUPS)
    {'b.1': 1, 'a.1': 0, 'b.2': 1}
    >>> assigned(["a", "b", "c"], rule=FoldRule.HALVES)
    {'a': 0, 'b': 1, 'c': 0}
    """
    return grouped(names, 2 if rule is FoldRule.HALVES else count, _key(rule))


def grouped(names: Sequence[str], count: int, key: Callable[[str], str]) -> dict[str, int]:
    """Return folds in which sequences with the same key stay together."""
    groups = sorted({key(name) for name in names})
    if len(groups) < 2:
        raise SpliceError("there is only one group of sequences, so nothing can be held out")
    fold = {group: number % min(count, len(groups)) for number, group in enumerate(groups)}
    return {name: fold[key(name)] for name in names}


def read_folds(text: str, names: Sequence[str]) -> dict[str, int]:
    """Return the folds that a table of sequences says: its columns are sequence and fold.

    >>> read_folds("sequence,test_fold\\nfilm,3\\n", ["film"])
    {'film': 3}
    """
    rows = list(csv.reader(text.splitlines()))[1:]
    folds = {row[0]: int(row[1]) for row in rows if len(row) > 1}
    for name in names:
        if name not in folds:
            raise SpliceError(f"the folds do not mention the sequence '{name}'")
    return {name: folds[name] for name in names}


def _key(rule: FoldRule) -> Callable[[str], str]:
    return (lambda name: name.partition(".")[0]) if rule is FoldRule.GROUPS else str
