"""Learning that goes on: a stream that comes in parts, each a source with a vocabulary of its own."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import chain

from splice.completion.completer import SupervisionCompleter
from splice.learners.registry import LEARNERS
from splice.logic.domain import Domain
from splice.pipeline.learned import Learned, LearnOptions
from splice.pipeline.progress import Begun, Ended, LearnedBatch, Read, Stage, Watch, ignore
from splice.pipeline.splice import Splice
from splice.stream.batch import TimePoints, batches
from splice.stream.source import Source
from splice.stream.summary import one_sided
from splice.stream.vocabulary import Vocabulary


def learn_more(
    source: Source, choices: LearnOptions, before: Learned | None = None, *, watch: Watch = ignore
) -> Learned:
    """Learn from a further part of a stream, in one pass, and return all that was learned so far.

    What was learned before stays as it is: the learner goes on from a copy of its state. A sequence
    may go on where the part before ended.

    Parameters
    ----------
    source
        The part.
    choices
        How to learn; the same for every part.
    before
        What was learned from the parts before.
    watch
        Called with each event of :mod:`splice.pipeline.progress`.
    """
    begun = time.perf_counter()
    # Counting labels makes new counters, so those of the parts before stay as they are.
    learned = Learned(choices.learner()) if before is None else replace(before, checkpoint=None)
    stream = batches(source, TimePoints(choices.batch_size))
    first = next(stream, None)
    if first is not None:
        domain, vocabulary = first.domain, source.vocabulary
        if before is not None and before.batches:
            learned.learner = LEARNERS.made(before.learner)().restore(
                before.learner.to_state(), domain, vocabulary
            )
        completer = _completer(choices, before, domain, vocabulary)
        learned.completer = completer
        watch(Begun(Stage.LEARN))
        try:
            for report in Splice(learned.learner, completer).run_in_blocks(chain([first], stream)):
                learned.add(report, 0)
                watch(LearnedBatch(Stage.LEARN, learned, lambda: None))
        finally:
            watch(Ended(Stage.LEARN))
    watch(Read(source.report))
    missing = one_sided(learned.labels)
    learned.untold = frozenset(name for name, lacks in missing.items() if lacks == "false")
    learned.finish(1)
    learned.seconds += time.perf_counter() - begun
    return learned


def _completer(
    choices: LearnOptions, before: Learned | None, domain: Domain, vocabulary: Vocabulary
) -> SupervisionCompleter | None:
    """Return what completes the part, with the labels of the parts before."""
    last = before.completer if before else None
    if last is None or not last.has_begun:
        usual = choices.online_profile
        return SupervisionCompleter(usual) if usual else None
    completer = SupervisionCompleter(last.profile)  # a run may have chosen it by itself
    state = last.to_state()
    if state["frozen"]:  # all labels of a run in hindsight; those that come are counted beside them
        completer.merge(state, domain, vocabulary)
    else:
        completer.restore(state, domain, vocabulary)
    return completer
