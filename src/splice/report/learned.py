"""The report of a run that learned: the labels are completed once more, and looked at."""

from __future__ import annotations

from splice.inputs.open import InputOptions, input_title
from splice.pipeline.learned import Learned, LearnOptions
from splice.pipeline.source import Input, opener, with_measures
from splice.report.document import Note, Report, Table
from splice.report.observer import Watched, Watcher
from splice.report.run import story
from splice.stream.batch import TimePoints, batches
from splice.stream.source import Source


def learned_report(
    data: Input, options: InputOptions, choices: LearnOptions, learned: Learned
) -> Report:
    """Return the report of what :func:`splice.learn` learned, asked with the same arguments.

    The input is read again, so that a run that was resumed is told from its beginning.
    """
    name = "a stream" if isinstance(data, Source) else input_title(data)
    watcher = _watched(with_measures(opener(data, options), choices.mode)(), choices)
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


def _watched(source: Source, choices: LearnOptions) -> Watcher:
    cut, watcher = TimePoints(choices.batch_size), Watcher()
    if choices.profile is None:
        for batch in batches(source, cut):
            watcher.see_labels(batch)
    else:
        for _ in Watched(
            source, choices.profile, cut, choices.run_mode, watcher=watcher
        ).completions():
            pass
    return watcher
