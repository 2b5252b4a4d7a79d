"""How well labels are completed: level x sample x mask x batch size x method.

The protocol of section 4.1: of a sample, some labels are kept, the rest is completed batch by
batch, and F1 is counted over the directed query atoms that are unlabelled at the highest level of
the same sample, so that one test set serves all levels.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any, Final, Protocol

import numpy as np

from splice.arrays import Mask
from splice.completion.baselines import BASELINES
from splice.completion.completer import SupervisionCompleter
from splice.completion.mode import Mode
from splice.completion.profile import Profile, profile_of
from splice.completion.registry import as_plain, word_of
from splice.completion.result import Completion
from splice.completion.revision import STEP, revised
from splice.errors import SpliceError, UnknownName
from splice.evaluation.confusion import Confusion
from splice.lab.experiments import spec
from splice.lab.experiments.grid import Cell, Result, canonical
from splice.lab.experiments.spec import Table
from splice.labels import FALSE, TRUE, UNKNOWN, LabelArray
from splice.patterns.reading import Reading, blocks
from splice.stream.batch import MicroBatch, TimePoints, batches
from splice.stream.mask import MaskedSource
from splice.stream.source import MemorySource

BY: Final = ("dataset", "scope", "unit", "batch_size", "method", "level")
"""What a row of the table is for: all samples of one of these."""

MEASURES: Final = ("f1", "precision", "recall", "f1_all", "ceiling", "seconds")

_TEST_LEVEL: Final = 80
_MUCH: Final = 1_000_000
"""Streams of more rows are read anew by each method: they are not held twice in memory."""


class _Completer(Protocol):
    def complete(self, batch: MicroBatch) -> Completion: ...


def cells(configuration: Table) -> list[Cell]:
    """Return the cells of a configuration: methods with more samples first, then by sample."""
    keys = ("datasets", "masks", "levels", "samples", "batch_sizes", "mask_size")
    grid = spec.table_of(configuration, "grid", keys)
    drawn = {"mask_size": spec.whole_of(grid, "mask_size", 25)} if "mask_size" in grid else {}
    samples = spec.whole_of(grid, "samples", 20)
    tiers: dict[int, list[tuple[str, dict[str, Any]]]] = {}
    for method in spec.methods_of(configuration):
        count = spec.whole_of(method, "samples", samples)
        tiers.setdefault(count, []).append((method["name"], _choices(method)))
    axes = (
        spec.datasets_of(grid),
        list(map(spec.mask_of, spec.list_of(grid, "masks"))),
        spec.numbers_of(grid, "batch_sizes", (25,), whole=True),
    )
    runs = sum(count * len(methods) for count, methods in tiers.items())
    spec.check_cells(*(len(axis) for axis in axes), len(spec.levels_of(grid)), runs)
    settings = list(product(product(*axes), spec.levels_of(grid)))
    return [
        Cell.of(
            dataset=dataset,
            scope=scope,
            unit=unit,
            batch_size=int(size),
            level=level,
            sample=sample,
            test_level=_TEST_LEVEL,
            method=name,
            **drawn,
            **choices,
        )
        for count, methods in sorted(tiers.items(), reverse=True)
        for sample in range(count)
        for (dataset, (scope, unit), size), level in settings
        for name, choices in methods
    ]


def work(parameters: Table) -> Result:
    """Complete one sample by one method, and count."""
    scope, sample = str(parameters["scope"]), int(parameters["sample"])
    order = _Order(
        canonical(parameters["dataset"]), scope, sample if scope == spec.SEQUENCES else 0
    )
    mode, revise = Mode(parameters.get("mode", "online")), int(parameters.get("revise", 0))
    asked = int(parameters["batch_size"])
    drawn = int(parameters.get("mask_size", asked))
    size = STEP.count if revise else asked
    stream = _stream(order, size)
    given = _masked(order, drawn, parameters["unit"], sample, parameters["level"])
    test = np.ones(len(given), bool)
    # In the scenarios of SPLICE+ all that is missing is counted, as published.
    if scope not in (spec.STRATIFIED, spec.SEQUENCES):
        test = (
            _masked(order, drawn, parameters["unit"], sample, parameters["test_level"]) == UNKNOWN
        )
    completer, reading = _completer(parameters, order, size)
    masked = stream.with_labels(given)
    begun = time.process_time()
    completions = list(_completed(completer, masked, mode, revise))
    seconds = time.process_time() - begun + reading
    predicted = np.concatenate([c.labels for c in completions])
    reached = np.concatenate([c.reached for c in completions])
    missing = (given == UNKNOWN) & (stream.truth != UNKNOWN)
    counts = Confusion.of(stream.truth[test & missing], predicted[test & missing])
    overall = Confusion.of(stream.truth[missing], predicted[missing])
    return {
        **counts.as_json(),
        **{f"{name}_all": value for name, value in overall.as_json().items()},
        "given": int((given != UNKNOWN).sum()),
        "missing": int(missing.sum()),
        "unreached": int((missing & ~reached).sum()),
        "abstained": int((missing & (predicted == UNKNOWN)).sum()),
        "seconds": seconds,
        "ceiling": _ceiling(completions, stream.truth, test & missing),
        **_memory(completer, completions),
    }


def _ceiling(completions: Sequence[Completion], truth: LabelArray, test: Mask) -> float:
    """Return the F1 of whoever knows what most examples of each pattern are: no pattern tells more."""
    patterns = np.concatenate([c.patterns for c in completions])
    size = int(patterns.max(initial=-1)) + 1
    share = np.bincount(patterns, (truth > 0).astype(np.float64), size)
    labelled = np.bincount(patterns, (truth != UNKNOWN).astype(np.float64), size)
    best = np.where(2 * share[patterns] > labelled[patterns], TRUE, FALSE).astype(np.int8)
    return Confusion.of(truth[test], best[test]).f1


def _completed(
    completer: _Completer, stream: list[MicroBatch], mode: Mode, revise: int
) -> Iterable[Completion]:
    """Return what a completer makes of a stream, online (perhaps revised) or in hindsight."""
    if not isinstance(completer, SupervisionCompleter):
        return map(completer.complete, stream)
    if completer.profile.mode(mode) is Mode.HINDSIGHT:
        for batch in stream:  # read already, so each costs little
            completer.count_labels(batch)
        completer.freeze()
    elif revise:
        return revised(completer, stream, revise)
    return completer.completions(stream)


def _memory(completer: _Completer, completions: Sequence[Completion]) -> dict[str, int]:
    """Return how many patterns there were, and how many with both labels."""
    if not isinstance(completer, SupervisionCompleter):
        return {"patterns": 0, "contradictions": 0}
    patterns = np.unique(np.concatenate([c.patterns for c in completions]))
    return {"patterns": len(patterns), "contradictions": completer.cache.contradictions()}


@dataclass(frozen=True, eq=False)
class _Stream:
    """A dataset in memory, cut into batches."""

    source: MemorySource
    batches: tuple[MicroBatch, ...]
    truth: LabelArray

    def with_labels(self, labels: LabelArray) -> list[MicroBatch]:
        """Return fresh batches with other labels."""
        ends = np.cumsum([len(batch.labels) for batch in self.batches])[:-1]
        parts = np.split(labels, ends)
        return [b.with_labels(part) for b, part in zip(self.batches, parts, strict=True)]


@dataclass(frozen=True, slots=True)
class _Order:
    """A dataset, and what the order of its sequences depends on."""

    dataset: str
    scope: str
    sample: int


@lru_cache(maxsize=4)
def _stream(order: _Order, size: int) -> _Stream:
    source = spec.in_order(spec.source_of(order.dataset), order.scope, order.sample)
    cut = tuple(batches(source, TimePoints(size)))
    if not cut:
        raise SpliceError(f"the dataset {order.dataset} is empty")
    return _Stream(source, cut, np.concatenate([batch.labels for batch in cut]))


@lru_cache(maxsize=16)
def _masked(order: _Order, size: int, unit: str, sample: int, level: float) -> LabelArray:
    """Return the labels that a sample keeps at a level; they are drawn by batches of a size."""
    keep = spec.keep_of(order.scope, unit, level)
    masked = MaskedSource(_stream(order, size).source, keep, sample, TimePoints(size))
    return np.concatenate([batch.labels for batch in masked.batches()])


def _completer(parameters: Table, order: _Order, size: int) -> tuple[_Completer, float]:
    """Return a completer, and the seconds that reading took if it is done already."""
    if "baseline" in parameters:
        baseline: _Completer = BASELINES[parameters["baseline"]]()
        return baseline, 0.0
    profile = profile_of(parameters["profile"], parameters["changes"])
    if sum(map(len, _stream(order, size).batches)) > _MUCH:
        return SupervisionCompleter(profile), 0.0
    reading, seconds = _reading(order, size, profile.distance.ground)
    return SupervisionCompleter(profile, reading), seconds


@lru_cache(maxsize=4)
def _reading(order: _Order, size: int, ground: bool) -> tuple[Reading, float]:
    """Return a stream as all methods read it, and the seconds that this takes."""
    stream = _stream(order, size)
    first = stream.batches[0]
    reading = Reading(first.domain, first.table.vocabulary, ground=ground, lasting=True)
    begun = time.process_time()
    for block in blocks(stream.batches):
        reading.prefetcher.prefetch(block)
    return reading, time.process_time() - begun


_ABOUT: Final = ("name", "samples", "published")


def _choices(method: Table) -> dict[str, Any]:
    """Return what a method does: the words of it, and all the choices that follow from them."""
    changes = {key: value for key, value in method.items() if key not in _ABOUT}
    baseline = changes.pop("baseline", None)
    if baseline is not None:
        if baseline not in BASELINES:
            raise UnknownName("baseline", str(baseline), BASELINES)
        if changes:
            raise SpliceError(f"a baseline has no choice '{min(changes)}'", "remove it")
        return {"baseline": baseline}
    name = str(changes.pop("profile", "default"))
    # Online is the paper's: cells say a mode only where it is another.
    mode = word_of(changes.pop("mode", "online"), Mode, "a mode")
    hindsight = {"mode": mode.value} if mode is Mode.HINDSIGHT else {}
    window = {"revise": spec.whole_of(changes, "revise", 0)} if "revise" in changes else {}
    changes.pop("revise", None)
    return {
        **hindsight,
        **window,
        "profile": name,
        "changes": changes,
        "choices": as_plain(profile_of(name, changes)),
    }


def series(configuration: Table) -> dict[str, str]:
    """Return the published series beside each method; ``by connector`` finds its own."""
    usual = str(configuration.get("published", ""))
    beside = {}
    for method in spec.methods_of(configuration):
        name = str(method.get("published", usual))
        if name == "by connector":
            choices = _choices(method)
            name = _series_of(
                profile_of(choices.get("profile", "default"), choices.get("changes", {}))
            )
        beside[method["name"]] = name
    return beside


_SYMBOLS: Final = {"knn": ("k", "k"), "enn": ("eps", "epsilon")}
"""The connectors of the paper: the symbol of their published curves and the parameter that it is."""


def _series_of(profile: Profile) -> str:
    """Return the published series of a connector; one that the paper does not have has none."""
    connector = profile.connector
    if connector.name not in _SYMBOLS:
        return ""
    symbol, parameter = _SYMBOLS[connector.name]
    return f"{symbol}={getattr(connector, parameter):g}"
