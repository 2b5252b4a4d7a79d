"""What ``splice learn --report`` writes: the labels are completed once more, and looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from splice.cli.console import note
from splice.inputs.open import InputOptions, open_input
from splice.stream.batches import TimePoints, batches

if TYPE_CHECKING:
    from splice.pipeline.learned import Learned, LearnOptions
    from splice.report.document import Report
    from splice.report.observer import Watcher

__all__ = ["learned_report"]


def learned_report(
    name: str, data: str, options: InputOptions, choices: LearnOptions, learned: Learned
) -> Report:
    """Return the report of what was learned from an input.

    The input is read again, so that a run that was resumed is told from its beginning.
    """
    from splice.report.document import Note, Table
    from splice.report.run import story

    note("reading the input again, for the report")
    watcher = _watched(data, options, choices)
    counts = (
        ("examples", learned.examples),
        ("batches", learned.batches),
        ("labels given", learned.given),
        ("labels completed", learned.completed),
        ("of these, not reached by any label", watcher.unreached),
        ("rules", len(learned.rules)),
    )
    overview = (
        Note(f"Rules learned from {name}, a stream of which a part is labelled."),
        Table("What was read", ("what", "number"), counts),
        Table("How it was learned", ("choice", "value"), tuple(choices.words.items())),
    )
    return story(f"Learned from {name}", overview, learned.rules, watcher, learner=learned.learner)


def _watched(data: str, options: InputOptions, choices: LearnOptions) -> Watcher:
    from splice.report.observer import Watched, Watcher

    source, cut = open_input(data, options), TimePoints(choices.batch_size)
    watcher = Watcher()
    if choices.profile is None:
        for batch in batches(source, cut):
            watcher.see_labels(batch)
    else:
        for _ in Watched(source, choices.profile, cut, watcher=watcher).completions():
            pass
    return watcher
