"""The same stream written otherwise: rows of a time-point in another order, entities renamed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

from splice.stream.source import MemorySource
from splice.stream.table import AtomTable
from streams import Row, table_of


def rows_of(table: AtomTable) -> list[Row]:
    """Return a table as rows; a sequence is its number."""
    found: list[Row] = []
    for i in range(len(table)):
        kind = table.vocabulary.kinds[int(table.kind[i])]
        names = tuple(table.vocabulary.constants.names(table.args[i, : kind.arity].tolist()))
        found.append((int(table.sequence[i]), int(table.time[i]), kind, names, int(table.truth[i])))
    return found


def rearranged(
    source: MemorySource, seed: int, type_name: str = "", names: Mapping[str, str] | None = None
) -> MemorySource:
    """Return a source with its time-points shuffled, and constants of a type renamed, if asked for.

    The vocabulary is new: all that is numbered by first appearance gets other numbers.
    """
    rng, names = random.Random(seed), names or {}
    rows = [
        (s, t, kind, _renamed(args, kind.arg_types, type_name, names), truth)
        for s, t, kind, args, truth in rows_of(source.table)
    ]
    rng.shuffle(rows)
    rows.sort(key=lambda row: row[:2])
    return replace(source, table=table_of(rows))


def _renamed(
    args: tuple[str, ...], types: tuple[str, ...], type_name: str, names: Mapping[str, str]
) -> tuple[str, ...]:
    return tuple(
        names.get(arg, arg) if own == type_name else arg
        for arg, own in zip(args, types, strict=True)
    )
