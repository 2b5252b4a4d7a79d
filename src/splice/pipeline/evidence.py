"""How much what is seen at a point counts where a teacher completes labels: chosen by labels that are held out.

A chain takes what is seen at different points for independent pieces of evidence. Where a log has nothing but
changes, each is news; where a motion sensor speaks twenty times a minute they hardly are, and a chain that
counts each in full is sure of whatever it sees after a moment. Labels can tell which.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from splice.arrays import Ints
from splice.completion.mode import Mode
from splice.completion.profile import Profile
from splice.patterns.reading import Reading
from splice.pipeline.holdout import Fold, complete_folds, count_batches, fold_completers
from splice.stats import f1_score, surely_better
from splice.stream.batch import MicroBatch

FRESH: Final = (0.5, 0.3, 0.1, 0.03, 0.01)
"""So often may count what is seen at a point; ten times less where the point before it showed the same."""

_LEAST: Final = 0.01
"""And it counts so often at least. Also what the F1 of labels held out has to gain by another number."""

_ERRORS: Final = 1.5
"""And it has to gain so many standard errors (docs/explanation/few-labels.md#how-much-what-is-seen-counts)."""

_MOST: Final = 0.7
"""The largest number that has this share of the gain of the best is taken: the rest of a gain is mostly luck."""


def weighed(
    splits: Sequence[Fold],
    profile: Profile,
    mode: Mode,
    reading: Reading,
    numbers: Sequence[float] = FRESH,
) -> tuple[Profile, list[list[MicroBatch]]]:
    """Return a profile in which what is seen counts as often as held-out labels say, and what it completes.

    All fluents are judged together: their mean is more of a chance where some are seldom true.

    Parameters
    ----------
    splits
        The folds.
    profile
        A profile with a teacher.
    mode
        Online nothing is tried.
    reading
        A lasting reading of the stream.
    numbers
        What is tried, from much to little.
    """
    completers = fold_completers(splits, profile, mode, reading)
    streams = complete_folds(splits, completers)
    if profile.mode(mode) is Mode.ONLINE:
        return profile, streams
    usual = count_batches(splits, streams)
    tried = [(usual, profile, streams)]
    for fresh in numbers if 1.0 - _f1(usual) > _LEAST else ():
        for completer in completers:
            completer.weigh(fresh, max(fresh / 10, _LEAST))
        completed = complete_folds(splits, completers)
        tried.append((count_batches(splits, completed), completers[0].profile, completed))
    f1s = [_f1(counts) for counts, *_ in tried]
    best = int(np.argmax(f1s))
    if not best or not surely_better(np.stack((tried[best][0], usual), axis=1), _ERRORS, _LEAST):
        return profile, streams
    enough = f1s[0] + _MOST * (f1s[best] - f1s[0])
    _, chosen, completed = next(one for one, f1 in zip(tried, f1s, strict=True) if f1 >= enough)
    return chosen, completed


def _f1(counts: Ints) -> float:
    """Return the F1 of rows of (tp, fp, fn) together."""
    return float(f1_score(*counts.sum(axis=0)))
