"""A run that completes: the labels that are missing, filled in, counted, and written if asked."""

from __future__ import annotations

import base64
import time
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from splice.completion.mode import Mode
from splice.completion.profile import PROFILES, Profile
from splice.completion.source import CompletedSource
from splice.engines.choice import EngineChoice, check_choice, chosen_engine
from splice.engines.engine import Engine
from splice.errors import SpliceError
from splice.evaluation.confusion import Confusion
from splice.inputs.languages import TABLES
from splice.inputs.open import InputOptions, input_paths
from splice.inputs.write import format_of_input, write_source
from splice.io.checkpoints import unpack
from splice.io.outputs import check_output
from splice.labels import LabelArray
from splice.logic.domain import Domain
from splice.pipeline.auto import AUTO, Findings, settle
from splice.pipeline.calibrate import calibrate
from splice.pipeline.checkpoint import PARTS, Checkpointing, guarded, run_identity
from splice.pipeline.counts import CompletionCounts, CountedSource
from splice.pipeline.part_files import Codec, PartFiles, open_part_files, submit_part
from splice.pipeline.progress import Notice, Read, Stage, Watch, follow, ignore
from splice.pipeline.shards import (
    LabelCounting,
    OpenSource,
    PackedCounts,
    RelabelledSource,
    Shard,
    count_labels,
    located_shards,
    open_shard,
)
from splice.pipeline.source import Input, as_told_to, name_of, opener, with_measures
from splice.stream.batch import TimePoints, batches, query_rows
from splice.stream.source import Source, collect
from splice.stream.summary import merge_tallies
from splice.stream.table import AtomTable


def complete(
    data: Input,
    options: InputOptions | None = None,
    profile: Profile | None = None,
    *,
    mode: Mode = Mode.HINDSIGHT,
    batch_size: int = 25,
    revise: int = 0,
    truth: Input | None = None,
    out: Path | None = None,
    out_format: str | None = None,
    force: bool = False,
    resume: bool = False,
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
        How labels are completed (default: ``auto``, chosen by labels that are held out; online,
        where that would be looking ahead, ``default``).
    mode
        Whether all labels of the input are counted before the first batch is completed, or each
        batch is completed with those up to it. Some profiles know the latter alone.
    batch_size
        Time-points in a batch.
    revise
        Online, how many time-points must come after a batch before its answer is final: until then
        it is completed again when labels come, in steps of 25 time-points, whatever ``batch_size`` is.
        Only where the input is one part.
    truth
        The same atoms with all labels, to score by.
    out
        The folder to write the completed input to; it appears whole or not at all.
    out_format
        What to write (default: as the input; of a source, CSV).
    force
        Replace what is at ``out``, and begin anew where an interrupted run could go on.
    resume
        Go on with a run in parts that was interrupted: those that are done are kept beside ``out``
        until it is there.
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
    options, profile = options or InputOptions(), profile or PROFILES[AUTO]
    check_choice(engine, shards)
    name = name_of(data)
    if out is not None:
        # Stopped when the output was there and its parts were not removed yet: it is written again.
        replaceable = force or (resume and out.with_name(out.name + PARTS).is_dir())
        check_output(out, input_paths(name) if name is not None else (), force=replaceable)
    if revise:
        _check_revision(revise, mode, shards)
    mode = profile.mode(mode)

    def write(completed: Source) -> None:
        if out is not None:
            usual = TABLES.formats[0] if name is None else format_of_input(name)
            write_source(completed, out, out_format or usual)

    files, labels = None, None
    # Whoever works is asked for first: one that is not there is told before anything is read.
    with chosen_engine(engine, jobs, lambda text: watch(Notice(text))) as workers:
        opened = with_measures(opener(*as_told_to(engine, data, options)), mode)
        true = None if truth is None else opener(*as_told_to(engine, truth, options))
        source = opened()
        findings, profile, calibration = _settled(profile, source, batch_size, mode, watch)
        task = _ShardTask(opened, profile, mode, batch_size, true, out is not None, revise)
        if shards == 1:
            counts = _complete_whole(source, task, write, watch)
        else:
            if out is not None and name is not None:
                identity = _identity(name, options, task, name_of(truth) if truth else None, shards)
                place = out.with_name(out.name + PARTS)
                files = open_part_files(Checkpointing(place, resume, force), identity, watch)
            with guarded(files, watch):
                parts = located_shards(shards, source, *([true()] if true else ()))
                counts, labels = _complete_in_shards(
                    task, parts, source.domain, workers, files, watch
                )
    if labels is not None:
        write(RelabelledSource(source, labels))
    if files is not None:
        files.remove()
    watch(Read(source.report))
    counts.verdict = findings.verdict(counts.labels, None)
    counts.calibration = calibration
    return counts


def _settled(
    profile: Profile, source: Source, batch_size: int, mode: Mode, watch: Watch
) -> tuple[Findings, Profile, dict[str, Any]]:
    """Choose by held-out labels what ``auto`` leaves open, and calibrate where confidence decides."""
    stream = batches(source, TimePoints(batch_size))
    findings = settle(profile, follow(stream, Stage.HOLD_OUT, watch), mode)
    assert findings.profile is not None
    if not findings.profile.margin:
        return findings, findings.profile, {}
    stream = batches(source, TimePoints(batch_size))
    calibrated = calibrate(follow(stream, Stage.HOLD_OUT, watch), findings.profile, mode)
    return findings, calibrated.profile, calibrated.as_json()


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
    revise: int = 0


def _check_revision(points: int, mode: Mode, shards: int) -> None:
    if points < 0:
        raise SpliceError(f"a revision window has 0 or more time-points, not {points}")
    if mode is not Mode.ONLINE:
        raise SpliceError(
            "in hindsight there is nothing to revise: all labels are counted first",
            "say --online, or leave --revise out",
        )
    if shards > 1:
        raise SpliceError(
            "a revision window passes over the borders of parts", "leave --shards or --revise out"
        )


_CompletedShard: TypeAlias = tuple[CompletionCounts, dict[str, LabelArray]]


def _complete_whole(
    source: Source, task: _ShardTask, write: Callable[[Source], None], watch: Watch
) -> CompletionCounts:
    cut = TimePoints(task.batch_size)
    completed = CompletedSource(source, task.profile, cut, task.mode, revise=task.revise)
    truth = _query_atoms(task.truth()) if task.truth else None
    counted = CountedSource(completed, truth, watch)
    if task.keep:
        write(counted)
    else:
        counted.drain()
    return counted.counts


def _complete_in_shards(
    task: _ShardTask,
    shards: list[Shard],
    domain: Domain,
    engine: Engine,
    files: PartFiles | None,
    watch: Watch,
) -> tuple[CompletionCounts, dict[str, LabelArray]]:
    """Complete parts side by side; return the counts of all and the labels by sequence."""
    begun = time.perf_counter()
    total = CompletionCounts(confusion=Confusion() if task.truth else None, mode=task.mode)
    labels = dict[str, LabelArray]()
    counting = LabelCounting(task.opened, task.profile, task.mode, task.batch_size)
    before = count_labels(counting, shards, domain, engine, watch, files)
    parts = [
        submit_part(engine, files, _COMPLETED, shard, _complete_shard, task, shard, known_labels)
        for shard, known_labels in zip(shards, before, strict=True)
    ]
    for counts, shard_labels in follow(
        engine.results(parts), Stage.COMPLETE_SHARDS, watch, len(parts)
    ):
        total.merge(counts)
        labels |= shard_labels
    total.seconds = time.perf_counter() - begun
    return total, labels


def _complete_shard(task: _ShardTask, shard: Shard, before: PackedCounts) -> _CompletedShard:
    """Complete one part, with the labels that it must know of."""
    source = open_shard(task.opened, shard)
    cut = TimePoints(task.batch_size)
    completed = CompletedSource(source, task.profile, cut, task.mode, unpack(before))
    truth = _query_atoms(open_shard(task.truth, shard)) if task.truth else None
    counted = CountedSource(completed, truth)
    by_sequence: dict[str, list[LabelArray]] = {}
    for batch in counted.batches():
        if task.keep:
            by_sequence.setdefault(batch.sequence, []).append(batch.labels)
    labels = {name: np.concatenate(parts) for name, parts in by_sequence.items()}
    return counted.counts, labels


def _plain(completed: _CompletedShard) -> dict[str, Any]:
    counts, labels = completed
    packed = {
        name: base64.b85encode(zlib.compress(codes.tobytes())).decode()
        for name, codes in labels.items()
    }
    # ``asdict`` cannot copy a Counter, so its plain copy takes the place.
    plain = asdict(replace(counts, labels={}))
    tally = {name: dict(of_fluent) for name, of_fluent in counts.labels.items()}
    return {"counts": {**plain, "labels": tally, "mode": counts.mode.value}, "labels": packed}


def _restored(plain: dict[str, Any]) -> _CompletedShard:
    counts = plain["counts"]
    confusion = counts["confusion"] and Confusion(**counts["confusion"])
    labels = {
        name: np.frombuffer(zlib.decompress(base64.b85decode(packed)), np.int8)
        for name, packed in plain["labels"].items()
    }
    mode = Mode(counts["mode"])
    tally = merge_tallies(counts["labels"])
    rich = {"labels": tally, "confusion": confusion, "mode": mode}
    return CompletionCounts(**{**counts, **rich}), labels


_COMPLETED: Final = Codec("completing", _plain, _restored)


def _identity(
    name: str, options: InputOptions, task: _ShardTask, truth: str | None, shards: int
) -> dict[str, str]:
    """Return what a run in parts is asked to do."""
    choices = {
        "completion": str(task.profile),
        "mode": task.mode.value,
        "batch-size": str(task.batch_size),
        "shards": str(shards),
    }
    right = run_identity(truth, options, {})["input"] if truth is not None else "none"
    return {**run_identity(name, options, choices), "truth": right}


def _query_atoms(source: Source) -> AtomTable:
    """Return the query atoms of an input that has all labels."""
    table = collect(source)
    return table.take(query_rows(table, source.domain))
