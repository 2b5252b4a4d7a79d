"""From what a teacher says of patterns to values of query atoms: the points of a row are smoothed.

What is seen at a point counts in full where it is new, and ``repeat`` times where the point before it
showed the same pattern: a state that lasts for an hour is one piece of evidence, not sixty, while events
that come one after the other are as many as they are.
"""

from __future__ import annotations

import numpy as np

from splice.arrays import Floats, Ints, Mask
from splice.completion.links import Layout, LinkMemory
from splice.completion.markov import label_follows, smooth
from splice.completion.mode import Mode
from splice.completion.teacher import Verdicts
from splice.labels import UNKNOWN, LabelArray


def taught_values(
    verdicts: Verdicts,
    memory: LinkMemory | None,
    layout: Layout | None,
    patterns: Ints,
    labels: LabelArray,
    mode: Mode,
    repeat: float,
) -> tuple[Floats, Floats]:
    """Return the values of all query atoms of a batch, and what each knows of its past alone.

    Online a point is told of what comes after it up to the last given label, and else of its past
    alone, so that it does not matter where a row is cut in two.
    """
    alone = np.tanh(verdicts.odds[patterns] / 2)
    if memory is None or layout is None:
        return alone, alone
    order = layout.order
    number, given = patterns[order], labels[order] != UNKNOWN
    change = memory.persistence.changes(verdicts.fluent)[verdicts.fluent[number]]
    prior = verdicts.prior[number]
    start = (1 + np.tanh(prior / 2)) / 2
    same = layout.after & np.append(False, number[1:] == number[:-1])[: len(number)]
    for begin, terminal in memory.continued(layout):
        held = (1 + terminal.value) / 2
        start[begin] = held * (1 - change[begin, 1]) + (1 - held) * change[begin, 0]
        same[begin] = terminal.cls == number[begin]
    evidence = (verdicts.odds[number] - prior) * np.where(same, repeat, 1.0)
    evidence[given] = labels[order][given] * np.inf
    heard = _heard(given, layout.after, mode)
    found = smooth(evidence, change, start, layout.after, heard)
    values, past = np.empty(len(order)), np.empty(len(order))
    values[order], past[order] = found
    return values, past


def _heard(given: Mask, after: Mask, mode: Mode) -> Mask:
    if mode is Mode.HINDSIGHT:
        return np.ones(len(given), bool)
    return label_follows(given, after)
