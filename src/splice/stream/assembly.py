"""From rows as a file has them to the ordered, duplicate-free chunks a source promises."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import polars as pl

from splice import labels
from splice.arrays import Ints, Mask
from splice.errors import InputError, Place, Problem
from splice.stream.distinct import unique_rows
from splice.stream.source import ReadReport
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import Vocabulary

Locator = Callable[[int], Place]
"""Turns a row's number in its file (``AtomTable.lines``) into a place."""


def ordered(
    chunks: Iterable[AtomTable], locate: Locator, *, sort: bool, vocabulary: Vocabulary
) -> Iterator[AtomTable]:
    """Pass on rows that are ordered by sequence and time; sort them all first if asked to.

    Atoms without a time may stand anywhere at the start of their sequence. A row out of
    order is an error that says where it is.
    """
    if sort:
        table = AtomTable.concat(list(chunks), vocabulary).sorted()
        if len(table):
            yield table
        return
    ended: set[int] = set()
    last_sequence, last_time = -1, NO_TIME
    for table in chunks:
        if not len(table):
            continue
        sequence = np.concatenate(([last_sequence], table.sequence)).astype(np.int64)
        time = np.concatenate(([last_time], table.time))
        same = sequence[1:] == sequence[:-1]
        backwards = np.flatnonzero(same & (time[1:] < time[:-1]))
        if len(backwards):
            raise InputError(_out_of_order(table, int(backwards[0]), time, locate))
        for row in np.flatnonzero(~same):
            ended.add(int(sequence[row]))
            if int(sequence[row + 1]) in ended:
                raise InputError(_sequence_returns(table, int(row), locate))
        last_sequence, last_time = int(sequence[-1]), int(time[-1])
        yield table


def aligned(chunks: Iterable[AtomTable], vocabulary: Vocabulary) -> Iterator[AtomTable]:
    """Recut ordered chunks so that no time-point is split between two of them."""
    held: list[AtomTable] = []
    for table in chunks:
        last = (table.sequence == table.sequence[-1]) & (table.time == table.time[-1])
        start = int(len(table) - np.argmin(last[::-1])) if not last.all() else 0
        if start == 0 and held and _same_point(held[-1], table):
            held.append(table)
            continue
        if start or held:
            yield AtomTable.concat([*held, table.take(slice(0, start))], vocabulary)
        held = [table.take(slice(start, None))]
    if held:
        yield AtomTable.concat(held, vocabulary)


def without_duplicates(
    chunks: Iterable[AtomTable], locate: Locator, report: ReadReport
) -> Iterator[AtomTable]:
    """Merge identical rows, counting them; the same atom with two labels is an error."""
    for table in chunks:
        report.rows += len(table)
        repeated = _repeated(table)
        if not repeated.any():
            yield table
            continue
        first, group = unique_rows(table.key())
        contradictory = np.flatnonzero(table.truth != table.truth[first[group]])
        if len(contradictory):
            raise InputError(
                _contradiction(table, int(first[group[row]]), int(row), locate)
                for row in contradictory
            )
        report.duplicates += len(table) - len(first)
        yield table.take(first)


def _repeated(table: AtomTable) -> Mask:
    columns = {f"a{i}": table.args[:, i] for i in range(table.args.shape[1])}
    frame = pl.DataFrame(
        {"s": table.sequence, "t": table.time, "k": table.kind, **columns}, nan_to_null=False
    )
    return frame.is_duplicated().to_numpy()


def _same_point(left: AtomTable, right: AtomTable) -> bool:
    same_sequence = left.sequence[-1] == right.sequence[0]
    return bool(same_sequence and left.time[-1] == right.time[0])


def _place(table: AtomTable, row: int, locate: Locator) -> Place:
    return locate(int(table.lines[row]) if table.lines is not None else 0)


def _out_of_order(table: AtomTable, row: int, time: Ints, locate: Locator) -> Problem:
    now, before = int(time[row + 1]), int(time[row])
    message = (
        f"time goes backwards: {now} after {before}"
        if now != NO_TIME
        else "an atom without a time comes after atoms with one"
    )
    return Problem(
        _place(table, row, locate),
        message,
        str(table.atom(row)),
        "sort the rows, or ask with --sort",
    )


def _sequence_returns(table: AtomTable, row: int, locate: Locator) -> Problem:
    name = table.vocabulary.sequences[int(table.sequence[row])]
    return Problem(
        _place(table, row, locate),
        f"sequence '{name}' comes back after another one began",
        str(table.atom(row)),
        "keep the rows of a sequence together, or ask for a sort with --sort",
    )


def _contradiction(table: AtomTable, first: int, row: int, locate: Locator) -> Problem:
    before, now = (
        {1: "true", -1: "false", 0: "unknown"}[int(table.truth[r])] for r in (first, row)
    )
    return Problem(
        _place(table, row, locate),
        f"contradictory labels: {now} here, {before} at {_place(table, first, locate)}",
        labels.mark(int(table.truth[row])) + str(table.atom(row)),
        "an atom has one label; remove one of the two",
    )
