"""A stream in parts, each with a learner of its own, merged by a tree.

Labels are completed as in one piece: each part knows those that come before (in hindsight all),
wherever they are. What learners have learned is merged neighbour by neighbour, in an order that
depends on the number of parts alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, Final

from splice.completion.completer import SupervisionCompleter
from splice.completion.mode import Mode
from splice.completion.source import in_hindsight
from splice.engines.engine import Engine, Promise, merge_tree
from splice.io.checkpoints import pack, unpack
from splice.learners.protocol import StructureLearner
from splice.logic.domain import Domain
from splice.pipeline.learned import LearnOptions
from splice.pipeline.part_files import Codec, PartFiles, submit_part
from splice.pipeline.progress import Stage, Watch, follow
from splice.pipeline.shards import (
    LabelCounting,
    OpenSource,
    PackedCounts,
    Shard,
    count_labels,
    open_shard,
)
from splice.pipeline.splice import Splice
from splice.stream.batch import TimePoints, batches
from splice.stream.summary import merge_tallies
from splice.stream.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class LearnedShard:
    """What was learned from a part or several, packed, and from how much."""

    state: bytes = field(repr=False)
    labels: dict[str, Counter[str]]
    examples: int = 0
    batches: int = 0
    given: int = 0
    completed: int = 0


def learn_shards(
    opened: OpenSource,
    choices: LearnOptions,
    shards: list[Shard],
    domain: Domain,
    engine: Engine,
    watch: Watch,
    files: PartFiles | None = None,
) -> tuple[StructureLearner, LearnedShard]:
    """Learn from each part; return the merged learner, and how much all parts gave.

    Parameters
    ----------
    opened
        Opens the input, in each worker.
    choices
        How to learn.
    shards
        The parts.
    domain
        What the atoms mean.
    engine
        Who works on the parts.
    watch
        Called with each event of :mod:`splice.pipeline.progress`.
    files
        Keeps what each part has given; None: nothing is kept.
    """
    before: list[Promise[PackedCounts] | PackedCounts | None] = [None] * len(shards)
    if choices.profile:
        counting = LabelCounting(opened, choices.profile, choices.run_mode, choices.batch_size)
        before = [*count_labels(counting, shards, domain, engine, watch, files)]
    parts = [
        submit_part(
            engine, files, _LEARNED, shard, _learn_shard, opened, choices, shard, known_labels
        )
        for shard, known_labels in zip(shards, before, strict=True)
    ]
    merge = partial(_merge, choices, domain)
    total = merge_tree(engine, merge, parts, "merging what parts have learned")
    # Only a word of each part comes here: what it learned stays with those who merge it.
    done = [engine.submit(_examples, part) for part in parts]
    for _ in follow(engine.results(done), Stage.LEARN_SHARDS, watch, len(shards)):
        pass
    (learned,) = engine.results([total])
    learner = choices.learner()
    if learned.batches:
        learner.restore(unpack(learned.state), domain, Vocabulary())
    return learner, learned


def _learn_shard(
    opened: OpenSource, choices: LearnOptions, shard: Shard, before: PackedCounts | None
) -> LearnedShard:
    """Learn from one part, with the labels that it must know of."""
    source = open_shard(opened, shard)
    learner, learned = choices.learner(), LearnedShard(b"", {})
    counts = unpack(before) if before is not None else ()
    for number in range(choices.passes):
        completer = None
        if choices.profile and choices.run_mode is Mode.HINDSIGHT:
            completer = in_hindsight(choices.profile, counts)
        elif choices.profile:
            completer = SupervisionCompleter(choices.profile)
            completer.expect(counts)
        splice = Splice(learner, completer)
        for report in splice.run_in_blocks(batches(source, TimePoints(choices.batch_size))):
            if number == 0:
                more = LearnedShard(
                    b"", report.labels(), report.examples, 1, report.given, report.completed
                )
                learned = _added(learned, more)
    return replace(learned, state=pack(learner.to_state()))


def _added(left: LearnedShard, right: LearnedShard, state: bytes = b"") -> LearnedShard:
    return LearnedShard(
        state,
        merge_tallies(left.labels, right.labels),
        left.examples + right.examples,
        left.batches + right.batches,
        left.given + right.given,
        left.completed + right.completed,
    )


def _merge(
    choices: LearnOptions, domain: Domain, left: LearnedShard, right: LearnedShard
) -> LearnedShard:
    """Return what two neighbours have learned, as one."""
    if not (left.batches and right.batches):
        return _added(left, right, (left if left.batches else right).state)
    learner, later = (
        choices.learner().restore(unpack(part.state), domain, Vocabulary())
        for part in (left, right)
    )
    return _added(left, right, pack(learner.merge(later).to_state()))


def _examples(part: LearnedShard) -> int:
    return part.examples


def _plain(learned: LearnedShard) -> dict[str, Any]:
    plain = {field.name: getattr(learned, field.name) for field in fields(learned)}
    return {**plain, "state": unpack(learned.state)}


def _restored(plain: dict[str, Any]) -> LearnedShard:
    labels = merge_tallies(plain["labels"])
    return LearnedShard(**{**plain, "state": pack(plain["state"]), "labels": labels})


_LEARNED: Final = Codec("learning", _plain, _restored)
