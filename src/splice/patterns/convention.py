"""When changes count, found out from labels: at the time-point at which something is seen, or after it.

Where nobody says it, what is seen at a time-point may tell the label of that very point or that of the
next one; a theory that is made for the other is a point late or early wherever something changes. Both readings
are compared by how probable they make the given labels: the label before and what is seen are looked
up in a table, and an unknown share stands for each of its cells. Each share is thought to be as after
such a label on the whole until its own labels say otherwise (a beta-binomial likelihood, which needs no
held-out labels): so cells with one label each, of which both readings have many, cost about the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from scipy.special import betaln

from splice.arrays import Floats, Ints, Mask, unique_rows
from splice.labels import Unlabelled
from splice.logic.domain import Holds
from splice.patterns.numeric import Thresholds, seen_through
from splice.patterns.reading import Reading, blocks
from splice.patterns.transitions import Overlap, Reader
from splice.stream.batch import MicroBatch

_CLEARLY: Final = 0.04
"""Labels must cost so much less than by the usual convention, as a share. With all labels it was .11 to .26 in
homes, where rules need it, .03 to .10 in an office and in traffic, .01 to .07 on plaza, and below 0 at sea, when
half a label of either sort was thought of in each cell."""

_SURE: Final = 4.0
"""And so much less in nats: odds of 50 to 1 that it is not chance. Where little speaks for either, rules are as
good by either: on plaza F1 changed by .01 at most in seven of eight trials (.23 in one)."""

_IMAGINED: Final = 0.3
"""So many labels are thought of in each cell before any is seen. With 10 % of the labels of two homes *from* is
found in eight cases of eight, where a half of either sort in each cell finds it in six."""


def find_holds(batches: Iterable[MicroBatch], reading: Reading | None = None) -> Holds:
    """Return when changes count, by the given labels of a stream; after, unless from is clearly better.

    Parameters
    ----------
    batches
        The stream, or a sample of it.
    reading
        A lasting reading of it to share, where it sees what a learner does.
    """
    sample = list(batches)
    if not sample:
        return Holds.AFTER
    domain, vocabulary = seen_through(sample[0].domain), sample[0].table.vocabulary
    thresholds = Thresholds(sample[0].domain, vocabulary)
    expanded = [thresholds.expand(batch) for batch in sample]
    # What is seen at a time-point is the same in either convention: both share one reading.
    if reading is None or not reading.fits(domain, vocabulary):
        reading = Reading(domain, vocabulary, ground=False, lasting=True)
    for block in blocks(expanded):
        reading.prefetcher.prefetch(block)
    after, from_ = (_cost(expanded, reading, holds) for holds in (Holds.AFTER, Holds.FROM))
    gain = after - from_
    return Holds.FROM if gain > max(_SURE, _CLEARLY * after) else Holds.AFTER


def _cost(batches: Sequence[MicroBatch], reading: Reading, holds: Holds) -> float:
    """Return minus the log-likelihood of the labels, in nats, given those before them and what is seen."""
    reader, overlap = Reader(reading.domain, reading.vocabulary, reading), Overlap()
    # A cell is a pattern and the label before: how often the label after it is true, of how often.
    cells: list[Ints] = []
    labels: list[Mask] = []
    for batch in batches:
        batch = replace(batch, domain=batch.domain.holding(holds))  # noqa: PLW2901
        transitions = reader.read(batch, Unlabelled.SKIP, overlap)
        cells.append(
            np.column_stack((transitions.pattern, transitions.before > 0)).astype(np.int64)
        )
        labels.append(transitions.after > 0)
    first, which = unique_rows(np.concatenate(cells))
    keys = np.concatenate(cells)[first]
    after = np.concatenate(labels)
    positive, negative = (
        np.bincount(which, part, len(first)).astype(np.float64) for part in (after, ~after)
    )
    usual = _usual_share(keys, positive, negative, reader)
    # With some cases as usual thought of before any is seen, the likelihood of so many true and false
    # labels is a quotient of beta functions, whatever their order.
    true, false = _IMAGINED * usual, _IMAGINED * (1.0 - usual)
    return float(-(betaln(positive + true, negative + false) - betaln(true, false)).sum())


def _usual_share(keys: Ints, positive: Floats, negative: Floats, reader: Reader) -> Floats:
    """Return for each cell how often a label is true after one like that before it, whatever is seen."""
    fluents: dict[tuple[str, str, int], int] = {}
    of_pattern = {
        number: fluents.setdefault(reader.patterns.store[number].fluent, len(fluents))
        for number in np.unique(keys[:, 0]).tolist()
    }
    group = np.array(
        [2 * of_pattern[number] + before for number, before in keys.tolist()], np.int64
    )
    true, false = (np.bincount(group, counts) + 0.5 for counts in (positive, negative))
    share: Floats = (true / (true + false))[group]
    return share
