"""Smoothing along time by a Markov chain of two states: from what a teacher says of patterns to values of query atoms.

At each point of a row the evidence says how much likelier it is under *true* than under *false*, and
labels say how often a fluent begins and ends; the points of a row are smoothed (:mod:`.smoothing`).

What is seen at a point counts ``fresh`` times where it is new, and ``repeat`` times where the point before it
showed the same pattern: a state that lasts for an hour is one piece of evidence, not sixty. Events that come
one after the other may be as many pieces as they are (a door, a tap, a cupboard), or hardly more than one (a
movement that is seen twenty times a minute): which, only labels can tell (:mod:`splice.pipeline.auto`).
"""

from __future__ import annotations

import numpy as np

from splice.arrays import Floats, Ints, Mask
from splice.completion.links import Layout, LinkMemory, until_label
from splice.completion.mode import Mode
from splice.completion.teacher import Teacher, Verdicts, log_odds, probability
from splice.completion.votes import outvoted
from splice.labels import UNKNOWN, LabelArray


def smooth(
    evidence: Floats, change: Floats, start: Floats, after: Mask, heard: Mask
) -> tuple[Floats, Floats]:
    """Return the values of points in a row, in [-1, 1], and what each knows of its past alone.

    Parameters
    ----------
    evidence
        Log-odds of what is seen at each point, infinite where its label is given.
    change
        Two columns: the chances that the fluent begins before the point, and that it ends.
    start
        The chance that it holds, before its evidence is seen, at points that go on from none.
    after
        Which points follow the one before them in the row.
    heard
        Which points are told of what comes after them.
    """
    from splice.completion.smoothing import forward_backward  # noqa: PLC0415  (loads numba)

    likely, unlikely = _share(evidence), _share(-evidence)
    told = np.append(after[1:] & heard[:-1], False)[: len(evidence)]
    return forward_backward(unlikely, likely, change[:, 0], change[:, 1], start, after, told)


def _share(odds: Floats) -> Floats:
    """Return probabilities of log-odds, infinite ones included."""
    with np.errstate(over="ignore"):
        share: Floats = 1.0 / (1.0 + np.exp(-odds))
    return share


def taught_values(
    verdicts: Verdicts,
    memory: LinkMemory | None,
    layout: Layout | None,
    patterns: Ints,
    labels: LabelArray,
    mode: Mode,
    teacher: Teacher,
    votes: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Return the values of all query atoms of a batch, and what each knows of its past alone.

    ``votes`` are those of a theory: the chance of each atom, or NaN.

    Online a point is told of what comes after it up to the last given label, and else of its past
    alone, so that it does not matter where a row is cut in two.
    """
    odds = verdicts.odds[patterns]
    if votes is not None:
        odds = log_odds(outvoted(probability(odds), verdicts.labels[patterns], votes))
    alone = np.tanh(odds / 2)
    if memory is None or layout is None:
        return alone, alone
    order = layout.order
    number, given = patterns[order], labels[order] != UNKNOWN
    change = memory.persistence.changes(verdicts.fluent)[verdicts.fluent[number]]
    prior = verdicts.prior[number]
    start = (1 + np.tanh(prior / 2)) / 2
    same = layout.after & np.append(False, number[1:] == number[:-1])[: len(number)]
    for begin, terminal in memory.continued(layout):
        held = (1 + terminal.past) / 2
        start[begin] = held * (1 - change[begin, 1]) + (1 - held) * change[begin, 0]
        same[begin] = terminal.cls == number[begin]
    evidence = (odds[order] - prior) * np.where(same, teacher.repeat, teacher.fresh)
    evidence[given] = labels[order][given] * np.inf
    heard = _heard(given, layout.after, mode)
    found = smooth(evidence, change, start, layout.after, heard)
    values, past = np.empty(len(order)), np.empty(len(order))
    values[order], past[order] = found
    return values, past


def _heard(given: Mask, after: Mask, mode: Mode) -> Mask:
    if mode is Mode.HINDSIGHT:
        return np.ones(len(given), bool)
    following: Mask = np.isfinite(until_label(given, after))
    return following
