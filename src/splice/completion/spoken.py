"""Who speaks of a missing label: neighbours, a teacher, or each where it is the better one.

Near a given label links in time carry it, and labels tell for each pattern how firmly. Farther off, and in
sequences without labels, little of that is left: there a teacher, who has weighed all labels, knows more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splice.arrays import Floats, Indices, Mask
from splice.completion.links import Ends
from splice.completion.propagation import Answer, Solved


class Taught(NamedTuple):
    """What a teacher says: values of missing labels, whether its fluent has labels, what each atom knows of its past."""

    values: Floats
    reached: Mask
    past: Floats


class Spoken(NamedTuple):
    """What becomes of missing labels, how far all values can be trusted, what chains remember, who spoke."""

    values: Floats
    reached: Mask
    trust: Floats
    ends: Ends
    by_teacher: Mask


def spoken(
    known: Floats,
    missing: Indices,
    answer: Answer | None,
    taught: Taught | None,
    distances: tuple[Floats, Floats] | None,
    near: int | None,
) -> Spoken:
    """Return what is said of the atoms whose label is missing.

    Parameters
    ----------
    known
        The values of all query atoms as far as they are given.
    missing
        Which have none.
    answer, taught
        What neighbours and a teacher say, as far as they were asked; one of them was.
    distances
        How many points ago each atom had a given label, and in how many it has one.
    near
        Within so many points of a given label neighbours speak, where both were asked.
    """
    size = len(known)
    since = np.full(size, np.inf) if distances is None else distances[0]
    alone = np.full(size, np.inf)  # a given value, or one that a teacher stands for, is firm
    if taught is None:
        assert answer is not None
        own = _filled(known, missing, answer.solved.values)
        ends = Ends(own, answer.solved.firm, answer.trust, own, since)
        nobody = np.zeros(size, bool)
        return Spoken(answer.solved.values, answer.solved.reached, answer.trust, ends, nobody)
    by_teacher = np.zeros(size, bool)
    by_teacher[missing] = True
    if answer is None:
        sure = np.ones(size)
        ends = Ends(taught.past, alone, sure, taught.past, since)
        return Spoken(taught.values, taught.reached, sure, ends, by_teacher)
    if near is not None and distances is not None:
        by_teacher &= np.minimum(*distances) > near
    solved: Solved = answer.solved
    by_teacher[missing[~solved.reached]] = True
    theirs = by_teacher[missing]
    values = np.where(theirs, taught.values, solved.values)
    # A chain that no label of a neighbour reached goes on for the teacher's sake: it weighs nothing.
    firm = solved.firm.copy()
    firm[missing[~solved.reached]] = 0.0
    ends = Ends(_filled(known, missing, solved.values), firm, answer.trust, taught.past, since)
    sure = np.where(by_teacher, 1.0, answer.trust)
    return Spoken(values, solved.reached | taught.reached, sure, ends, by_teacher)


def _filled(known: Floats, missing: Indices, values: Floats) -> Floats:
    filled = known.copy()
    filled[missing] = values
    return filled
