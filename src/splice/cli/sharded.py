"""``--shards``: a stream in parts, each with a learner of its own, merged at the end.

Labels are completed as in one piece: each part knows those that come before, wherever they are.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from splice.cli.console import tracked
from splice.cli.elsewhere import Labelling, labels_elsewhere
from splice.cli.learning_options import Choices
from splice.completion.completer import SupervisionCompleter
from splice.completion.source import Before, by_sequence, merged
from splice.inputs.open import InputOptions, open_input
from splice.learners.oled.learner import Oled
from splice.learners.osla.learner import Osla
from splice.logic.domain import Domain
from splice.pipeline.shards import Shard, ShardSource, in_processes, shards
from splice.pipeline.splice import Splice
from splice.stream.batches import TimePoints
from splice.stream.vocabulary import Vocabulary

__all__ = ["LearnedPart", "learned_in_shards"]


@dataclass(frozen=True, slots=True)
class _ToLearn:
    data: str
    options: InputOptions
    choices: Choices
    shard: Shard
    before: Before


@dataclass(frozen=True, slots=True)
class LearnedPart:
    """What was learned from a part, as plain values, and from how much."""

    state: dict[str, Any]
    domain: Domain
    examples: int
    batches: int
    given: int
    completed: int


def learned_in_shards(
    data: str, options: InputOptions, choices: Choices, count: int, jobs: int
) -> tuple[Oled | Osla, list[LearnedPart], float]:
    """Learn from each part, and return the merged learner, what each part gave, and seconds."""
    begun = time.perf_counter()
    before: list[Before] = [{} for _ in range(count)]
    if choices.profile:
        toward = Labelling(data, options, choices.profile, choices.batch_size)
        before = labels_elsewhere(toward, count, jobs)
    asked = [
        _ToLearn(data, options, choices, shard, own)
        for shard, own in zip(shards(count), before, strict=True)
    ]
    parts = list(tracked(in_processes(_learn, asked, jobs), "learning, part by part", count))
    learner = choices.learner()
    for part in parts:
        if part.batches:
            _merge(learner, choices.learner().take_up(part.state, part.domain, Vocabulary()))
    return learner, parts, time.perf_counter() - begun


def _merge(learner: Oled | Osla, other: Oled | Osla) -> None:
    if isinstance(learner, Oled):
        assert isinstance(other, Oled)
        learner.merge(other)
    else:
        assert isinstance(other, Osla)
        learner.merge(other)


def _learn(part: _ToLearn) -> LearnedPart:
    """Learn from one part."""
    source = ShardSource(open_input(part.data, part.options), part.shard)
    choices = part.choices
    learner = choices.learner()
    counts = [0, 0, 0, 0]
    for number in range(choices.passes):
        completer = SupervisionCompleter(choices.profile) if choices.profile else None
        splice = Splice(learner, completer)
        for name, own in by_sequence(source, TimePoints(choices.batch_size)):
            if completer is not None:
                merged(completer, part.before, name, source)
            for report in splice.ahead(own):
                if number == 0:
                    new = (report.examples, 1, report.given, report.completed)
                    counts = [a + b for a, b in zip(counts, new, strict=True)]
    return LearnedPart(learner.to_state(), source.domain, *counts)
