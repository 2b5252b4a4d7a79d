"""A run that completes: the labels that are missing, filled in, counted, and written if asked."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from splice.completion.mode import Mode
from splice.completion.profile import PROFILES, Profile
from splice.completion.source import CompletedSource
from splice.engines.choice import EngineChoice, check_choice, chosen_engine
from splice.engines.engine import Engine
from splice.evaluation.confusion import Confusion
from splice.inputs.languages import TABLES
from splice.inputs.open import InputOptions, input_paths
from splice.inputs.write import format_of_input, write_source
from splice.io.outputs import check_output
from splice.labels import LabelArray
from splice.logic.domain import Domain
from splice.pipeline.counts import CompletionCounts, CountedSource
from splice.pipeline.progress import Read, Stage, Told, Watch, follow, ignore
from splice.pipeline.shards import (
    LabelCounting,
    OpenSource,
    PackedCounts,
    RelabelledSource,
    Shard,
    ShardSource,
    count_labels,
    cut_shards,
    sequence_sizes,
    unpack_counts,
)
from splice.pipeline.source import Input, name_of, opener, with_measures
from splice.stream.batch import TimePoints, query_rows
from splice.stream.source import Source, collect
from splice.stream.table import AtomTable

__all__ = ["complete"]


def complete(
    data: Input,
    options: InputOptions | None = None,
    profile: Profile | None = None,
    *,
    mode: Mode = Mode.HINDSIGHT,
    batch_size: int = 25,
    truth: Input | None = None,
    out: Path | None = None,
    out_format: str | None = None,
    force: bool = False,
    shards: int = 1,
    jobs: int = 2,
    engine: EngineChoice = "local",
    watch: Watch = ignore,
) -> CompletionCounts:
    """Fill in the labels that are missing, as ``splice complete`` does; return the counts.

    To have the completed stream itself and write nothing, see ``CompletedSource``.

    Parameters
    ----------
    data
        A folder, a file, the name of a dataset, or a source.
    options
        What a named input means.
    profile
        How labels are completed (default: the profile ``default``).
    mode
        Whether all labels of the input are counted before the first batch is completed, or each
        batch is completed with those up to it. Some profiles know the latter alone.
    batch_size
        Time-points in a batch.
    truth
        The same atoms with all labels, to score by.
    out
        The folder to write the completed input to; it appears whole or not at all.
    out_format
        What to write (default: as the input; of a source, CSV).
    force
        Replace what is at ``out``.
    shards
        The number of parts that the sequences are split into; the labels are those of one part.
    jobs
        Processes that work on the parts. With more than one, a source must be one that can be
        pickled.
    engine
        Who works on the parts: processes of this machine (``local``), a Dask cluster (``dask``: one
        of its own; ``dask://HOST:PORT``; ``dask:FILE.json``; a client), or an
        :class:`~splice.engines.engine.Engine`. The result does not depend on it.
    watch
        Called with each event of ``splice.pipeline.progress``.

    Examples
    --------
    >>> from splice.lab.plaza import make_plaza
    >>> complete(make_plaza(sequences=2, people=2, frames=50, seed=1).source).completed
    0
    """
    options, profile = options or InputOptions(), profile or PROFILES["default"]
    check_choice(engine, shards)
    name = name_of(data)
    if out is not None:
        check_output(out, input_paths(name) if name is not None else (), force=force)
    mode = profile.mode(mode)
    opened = with_measures(opener(data, options), mode)
    true = None if truth is None else opener(truth, options)
    source = opened()
    task = _ShardTask(opened, profile, mode, batch_size, true, keep=out is not None)

    def write(completed: Source) -> None:
        if out is not None:
            usual = TABLES.formats[0] if name is None else format_of_input(name)
            write_source(completed, out, out_format or usual)

    if shards > 1:
        parts = cut_shards(sequence_sizes(source), shards)
        with chosen_engine(engine, jobs, lambda text: watch(Told(text))) as workers:
            counts, labels = _complete_in_shards(task, parts, source.domain, workers, watch)
        write(RelabelledSource(source, labels))
    else:
        counts = _complete_whole(source, task, write, watch)
    watch(Read(source.report))
    return counts


@dataclass(frozen=True, slots=True)
class _ShardTask:
    """What is asked for: an input, and how to complete it."""

    opened: OpenSource
    profile: Profile
    mode: Mode
    batch_size: int
    truth: OpenSource | None
    keep: bool
    """Whether the labels are wanted, and not their numbers alone."""


def _complete_whole(
    source: Source, task: _ShardTask, write: Callable[[Source], None], watch: Watch
) -> CompletionCounts:
    completed = CompletedSource(source, task.profile, TimePoints(task.batch_size), task.mode)
    truth = _query_atoms(task.truth()) if task.truth else None
    counted = CountedSource(completed, truth, watch)
    if task.keep:
        write(counted)
    else:
        counted.drain()
    return counted.counts


def _complete_in_shards(
    task: _ShardTask, shards: list[Shard], domain: Domain, engine: Engine, watch: Watch
) -> tuple[CompletionCounts, dict[str, LabelArray]]:
    """Complete parts side by side; return the counts of all and the labels by sequence."""
    begun = time.perf_counter()
    total = CompletionCounts(confusion=Confusion() if task.truth else None, mode=task.mode)
    labels = dict[str, LabelArray]()
    asked = LabelCounting(task.opened, task.profile, task.mode, task.batch_size)
    before = count_labels(asked, shards, domain, engine, watch)
    parts = [
        engine.submit(_complete_shard, task, shard, own, name=f"{shard}, completing")
        for shard, own in zip(shards, before, strict=True)
    ]
    for counts, found in follow(engine.results(parts), Stage.COMPLETE_SHARDS, watch, len(parts)):
        total.merge(counts)
        labels |= found
    total.seconds = time.perf_counter() - begun
    return total, labels


def _complete_shard(
    task: _ShardTask, shard: Shard, before: PackedCounts
) -> tuple[CompletionCounts, dict[str, LabelArray]]:
    """Complete one part, with the labels that it must know of."""
    source = ShardSource(task.opened(), shard)
    cut = TimePoints(task.batch_size)
    completed = CompletedSource(source, task.profile, cut, task.mode, unpack_counts(before))
    truth = _query_atoms(ShardSource(task.truth(), shard)) if task.truth else None
    counted = CountedSource(completed, truth)
    found: dict[str, list[LabelArray]] = {}
    for batch in counted.batches():
        if task.keep:
            found.setdefault(batch.sequence, []).append(batch.labels)
    labels = {name: np.concatenate(parts) for name, parts in found.items()}
    return counted.counts, labels


def _query_atoms(source: Source) -> AtomTable:
    """Return the query atoms of an input that has all labels."""
    table = collect(source)
    return table.take(query_rows(table, source.domain))
