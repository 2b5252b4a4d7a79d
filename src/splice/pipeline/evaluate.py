"""What was recognised or completed against labels: in one piece, or by parts side by side.

Scores are sums over sequences, so those of parts add up to what one piece gives.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from splice.engines.choice import LOCAL, EngineChoice, check_choice, chosen_engine
from splice.engines.engine import Engine
from splice.errors import SpliceError
from splice.evaluation.confusion import By, Confusion
from splice.evaluation.recognition import Scores, score, summed, universe
from splice.events.crisp.recognition import Recognised
from splice.inputs.open import InputOptions, Queries, open_input
from splice.io.intervals import holds_intervals, read_intervals
from splice.labels import UNKNOWN
from splice.logic.domain import Domain
from splice.pipeline.progress import Notice, Read, Stage, Watch, follow, ignore
from splice.pipeline.shards import OpenSource, Shard, located_shards, open_shard, sequence_sizes
from splice.pipeline.source import as_told_to
from splice.stream.batch import query_rows
from splice.stream.source import ReadReport, Source, collect
from splice.stream.table import AtomTable

__all__ = ["Comparison", "Evaluated", "evaluate", "evaluate_input", "evaluate_shards"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared with what, and how.

    Parameters
    ----------
    predicted
        A file of intervals, or labelled data.
    truth
        Labelled data, or a file of intervals.
    options
        What both mean.
    stream
        Where the truth is intervals: the data whose time-points count.
    by
        What is counted.
    tolerance
        How many labelled time-points an answer may be early or late.
    """

    predicted: str
    truth: str
    options: InputOptions = field(default_factory=InputOptions)
    stream: str | None = None
    by: By = By.POINTS
    tolerance: int = 0

    @property
    def opened(self) -> OpenSource:
        """What opens the data whose sequences are compared, one by one."""
        if not holds_intervals(Path(self.truth)):
            return _labelled(self.truth, self.options)
        if self.stream is None:
            raise SpliceError(
                "TRUTH is a file of intervals, which does not say at which time-points nothing holds",
                "name the data it is about with --stream INPUT, or give labelled data as TRUTH",
            )
        options = replace(self.options, open_world=False)
        return partial(open_input, self.stream, options, queries=Queries.WRITTEN)


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Scores, and what limits their meaning.

    ``predicted`` and ``labelled`` are the sequences that the two sides mention, ``unknown`` counts atoms of
    labelled data that have no label where one was predicted.
    """

    scores: Scores
    predicted: frozenset[str]
    labelled: frozenset[str]
    unknown: int = 0
    reports: tuple[ReadReport, ...] = field(default=(), repr=False)


def evaluate(
    comparison: Comparison, shard: Shard | None = None, only: str | None = None
) -> Evaluated:
    """Return how right what was predicted is, in all sequences or in those of one part.

    Parameters
    ----------
    comparison
        What is compared.
    shard
        The part; None: all.
    only
        The one sequence that there is, to which intervals without a sequence belong (default: that
        of the truth, if it has but one).
    """
    options, intervals = comparison.options, holds_intervals(Path(comparison.truth))
    stream = _opened(comparison.opened, shard)
    table = collect(stream)
    if intervals:
        right = read_intervals(Path(comparison.truth), time_unit=options.time_unit or "s")
        only = only or _only_sequence(right.fluents)
        predicted, reports = _predicted(comparison, shard, only, Domain())
        labelled = universe(right, predicted, table)
    else:
        labelled = table.take(query_rows(table, stream.domain))
        options = replace(options, time_unit=options.time_unit or table.vocabulary.times.unit)
        comparison = replace(comparison, options=options)
        only = only or _only_sequence(labelled)
        predicted, reports = _predicted(comparison, shard, only, stream.domain)
        reports = (stream.report, *reports)
    mentioned = predicted.fluents if isinstance(predicted, Recognised) else predicted
    unknown = int((predicted.truth == UNKNOWN).sum()) if isinstance(predicted, AtomTable) else 0
    scores = score(labelled, predicted, by=comparison.by, tolerance=comparison.tolerance)
    return Evaluated(scores, _sequences(mentioned), _sequences(labelled), unknown, reports)


def evaluate_input(
    comparison: Comparison,
    *,
    shards: int = 1,
    jobs: int = 2,
    engine: EngineChoice = LOCAL,
    watch: Watch = ignore,
) -> Evaluated:
    """Return how right what was predicted is: all that ``splice evaluate`` does.

    Parameters
    ----------
    comparison
        What is compared.
    shards
        In how many parts the sequences are worked on.
    jobs
        How many processes work on them.
    engine
        Who works on them.
    watch
        Called with each event of the run.
    """
    check_choice(engine, shards)
    comparison = _as_told_to(engine, comparison)
    if shards > 1:
        with chosen_engine(engine, jobs, lambda text: watch(Notice(text))) as workers:
            return evaluate_shards(comparison, shards, workers, watch)
    evaluated = evaluate(comparison)
    for report in evaluated.reports:
        watch(Read(report))
    return evaluated


def _as_told_to(engine: EngineChoice, comparison: Comparison) -> Comparison:
    """Return what is compared as workers are told of it."""
    names = {
        side: as_told_to(engine, name, comparison.options)[0]
        for side in ("predicted", "truth", "stream")
        if (name := getattr(comparison, side)) is not None
    }
    _, options = as_told_to(engine, comparison.truth, comparison.options)
    return replace(comparison, options=options, **names)


def evaluate_shards(
    comparison: Comparison, count: int, engine: Engine, watch: Watch = ignore
) -> Evaluated:
    """Compare in at most so many parts; the scores are those of one piece.

    Parameters
    ----------
    comparison
        What is compared.
    count
        How many parts.
    engine
        Who works on them.
    watch
        Called with each event of :mod:`splice.pipeline.progress`.
    """
    source = comparison.opened()
    intervals = holds_intervals(Path(comparison.predicted))
    predicted_sources = (
        () if intervals else (_labelled(comparison.predicted, comparison.options)(),)
    )
    shards = located_shards(count, source, *predicted_sources)
    watch(Read(source.report))
    names = [name for shard in shards for name in shard.sequences]
    only = names[0] if len(names) == 1 else None
    promises = [
        engine.submit(evaluate, comparison, shard, only, name=f"{shard}, evaluating")
        for shard in shards
    ]
    parts = list(follow(engine.results(promises), Stage.EVALUATE_SHARDS, watch, len(shards)))
    predicted = frozenset[str]().union(*(part.predicted for part in parts))
    if not predicted and not intervals:
        # No part met a sequence of its own: the other side may be about others.
        predicted = frozenset(sequence_sizes(_labelled(comparison.predicted, comparison.options)()))
    fluents = summed(part.scores.fluents for part in parts)
    return Evaluated(
        Scores(Confusion.total(fluents.values()), fluents),
        predicted,
        frozenset[str]().union(*(part.labelled for part in parts)),
        sum(part.unknown for part in parts),
    )


def _predicted(
    comparison: Comparison, shard: Shard | None, sequence: str | None, domain: Domain
) -> tuple[AtomTable | Recognised, tuple[ReadReport, ...]]:
    """Return what was predicted, and what reading it met."""
    path, options = Path(comparison.predicted), comparison.options
    if holds_intervals(path):
        unit = options.time_unit or "s"  # as a column of dates; a file of intervals declares none
        where = {} if sequence is None else {"sequence": sequence}
        return read_intervals(path, domain, time_unit=unit, **where), ()
    source = _opened(_labelled(comparison.predicted, options), shard)
    table = collect(source)
    return table.take(query_rows(table, source.domain)), (source.report,)


def _labelled(name: str, options: InputOptions) -> OpenSource:
    return partial(open_input, name, options, queries=Queries.LABELLED)


def _opened(opened: OpenSource, shard: Shard | None) -> Source:
    return opened() if shard is None else open_shard(opened, shard)


def _sequences(table: AtomTable) -> frozenset[str]:
    return frozenset(table.vocabulary.sequences[code] for code in set(table.sequence.tolist()))


def _only_sequence(table: AtomTable) -> str | None:
    """Return the one sequence that there is: intervals without a sequence belong to it."""
    names = _sequences(table)
    return next(iter(names)) if len(names) == 1 else None
