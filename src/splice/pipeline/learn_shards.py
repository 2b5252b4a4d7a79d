"""A stream in parts, each with a learner of its own, merged at the end.

Labels are completed as in one piece: each part knows those that come before (in hindsight all),
wherever they are.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from splice.completion.completer import SupervisionCompleter
from splice.completion.hindsight import in_hindsight
from splice.completion.mode import Mode
from splice.completion.source import Before, by_sequence, merged
from splice.learners.protocol import StructureLearner
from splice.logic.domain import Domain
from splice.pipeline.learned import LearnOptions
from splice.pipeline.progress import Stage, Watch, follow
from splice.pipeline.shards import (
    LabelCounting,
    OpenSource,
    Shard,
    ShardSource,
    count_labels,
    in_processes,
    shards,
)
from splice.pipeline.splice import Splice
from splice.stream.batch import TimePoints
from splice.stream.vocabulary import Vocabulary

__all__ = ["LearnedShard", "learn_shards"]


@dataclass(frozen=True, slots=True)
class _ShardTask:
    opened: OpenSource
    choices: LearnOptions
    shard: Shard
    before: Before


@dataclass(frozen=True, slots=True)
class LearnedShard:
    """What was learned from a part, as plain values, and from how much."""

    state: dict[str, Any]
    domain: Domain
    labels: dict[str, Counter[str]]
    examples: int
    batches: int
    given: int
    completed: int


def learn_shards(
    opened: OpenSource, choices: LearnOptions, count: int, jobs: int, watch: Watch
) -> tuple[StructureLearner, list[LearnedShard]]:
    """Learn from each part; return the merged learner, and what each part gave."""
    before: list[Before] = [{} for _ in range(count)]
    if choices.profile:
        asked = LabelCounting(opened, choices.profile, choices.run_mode, choices.batch_size)
        before = count_labels(asked, count, jobs, watch)
    tasks = [
        _ShardTask(opened, choices, shard, own)
        for shard, own in zip(shards(count), before, strict=True)
    ]
    done = in_processes(_learn_shard, tasks, jobs)
    parts = list(follow(done, Stage.LEARN_SHARDS, watch, count))
    learner = choices.learner()
    for part in parts:
        if part.batches:
            learner.merge(choices.learner().restore(part.state, part.domain, Vocabulary()))
    return learner, parts


def _learn_shard(task: _ShardTask) -> LearnedShard:
    """Learn from one part."""
    source = ShardSource(task.opened(), task.shard)
    choices = task.choices
    learner = choices.learner()
    counts, labels = [0, 0, 0, 0], dict[str, Counter[str]]()
    hindsight = choices.run_mode is Mode.HINDSIGHT
    for number in range(choices.passes):
        completer = SupervisionCompleter(choices.profile) if choices.profile else None
        if choices.profile and hindsight:
            completer = in_hindsight(choices.profile, task.before[None])
        splice = Splice(learner, completer)
        for name, own in by_sequence(source, TimePoints(choices.batch_size)):
            if completer is not None and not hindsight:
                merged(completer, task.before, name, source)
            for report in splice.ahead(own):
                if number == 0:
                    new = (report.examples, 1, report.given, report.completed)
                    counts = [a + b for a, b in zip(counts, new, strict=True)]
                    for fluent, found in report.labels().items():
                        labels.setdefault(fluent, Counter()).update(found)
    return LearnedShard(learner.to_state(), source.domain, labels, *counts)
