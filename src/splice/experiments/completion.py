"""How well labels are completed: level x sample x mask x batch size x method.

The protocol of section 4.1: of a sample, some labels are kept, the rest is completed batch by
batch, and F1 is counted over the directed query atoms that are unlabelled at the highest level of
the same sample, so that one test set serves all levels.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from splice.completion.baselines import BASELINES
from splice.completion.completer import Completion, SupervisionCompleter
from splice.completion.options import as_plain, profile_of
from splice.completion.strategies import KNN, Profile
from splice.datasets.inputs import InputOptions, open_input
from splice.datasets.plaza import make_plaza
from splice.errors import SpliceError, UnknownName, did_you_mean
from splice.evaluation.confusion import Confusion
from splice.experiments.grid import Cell, Result, canonical
from splice.experiments.published import published
from splice.labels import UNKNOWN, LabelArray
from splice.stream.batch import MicroBatch
from splice.stream.cutting import TimePoints, batches
from splice.stream.masking import Keep, KeepAtoms, KeepBatches, MaskedSource, Unit
from splice.stream.source import MemorySource, Source, collect

__all__ = ["BY", "MEASURES", "WORK", "cells", "datasets", "reference", "work"]

WORK: Final = "splice.experiments.completion:work"

BY: Final = ("dataset", "scope", "unit", "batch_size", "method", "level")
"""What a row of the table is for: all samples of one of these."""

MEASURES: Final = ("f1", "precision", "recall", "f1_all", "seconds")

_PLAZA: Final = ("sequences", "people", "frames", "seed")
_TEST_LEVEL: Final = 80

_Table: TypeAlias = Mapping[str, Any]


class _Completer(Protocol):
    def complete(self, batch: MicroBatch) -> Completion: ...


def cells(configuration: _Table) -> list[Cell]:
    """Return the cells of a configuration: methods with more samples first, then by sample."""
    grid = _table(configuration, "grid", ("datasets", "masks", "levels", "samples", "batch_sizes"))
    samples = int(grid.get("samples", 20))
    tiers: dict[int, list[tuple[str, dict[str, Any]]]] = {}
    for method in _methods(configuration):
        count = int(method.get("samples", samples))
        tiers.setdefault(count, []).append((method["name"], _choices(method)))
    streams = product(
        grid.get("datasets", ()), map(_mask, grid.get("masks", ())), grid.get("batch_sizes", (25,))
    )
    settings = list(product(streams, map(_number, grid.get("levels", ()))))
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
            **choices,
        )
        for count, methods in sorted(tiers.items(), reverse=True)
        for sample in range(count)
        for (dataset, (scope, unit), size), level in settings
        for name, choices in methods
    ]


def _methods(configuration: _Table) -> list[dict[str, Any]]:
    """Return the methods, those with several values taken apart; each has a name of its own."""
    methods = [m for method in configuration.get("methods", ()) for m in _expanded(method)]
    if not methods:
        raise SpliceError("the experiment has no method", "add a table: [[methods]]")
    names = {method["name"] for method in methods}
    if len(names) < len(methods) or "" in names:
        raise SpliceError(
            "every method needs a name of its own",
            'where a choice has several values, name it: name = "paper {connector}"',
        )
    return methods


def datasets(configuration: _Table) -> list[str]:
    """Return the inputs that a configuration reads, by name."""
    found = configuration["grid"].get("datasets", ())
    return list(dict.fromkeys(str(d["name"] if isinstance(d, Mapping) else d) for d in found))


def reference(configuration: _Table, row: _Table) -> dict[str, Any]:
    """Return the published number that stands beside a row of the table."""
    series = _series(configuration).get(str(row["method"]), "")
    ce = str(row["dataset"]).removeprefix("caviar-")
    number = published(ce, str(row["scope"]), series, float(row["level"])) if series else None
    if number is None:
        return {"series": "", "published": None, "published_sd": None}
    return {"series": series, "published": number.value, "published_sd": number.sd}


def work(parameters: _Table) -> Result:
    """Complete one sample by one method, and count."""
    dataset, size = canonical(parameters["dataset"]), int(parameters["batch_size"])
    mask = (parameters["scope"], parameters["unit"], int(parameters["sample"]))
    stream = _stream(dataset, size)
    given = _masked(dataset, size, *mask, parameters["level"])
    test = _masked(dataset, size, *mask, parameters["test_level"]) == UNKNOWN
    completer = _completer(parameters)
    masked = stream.with_labels(given)
    begun = time.process_time()
    completions = [completer.complete(batch) for batch in masked]
    seconds = time.process_time() - begun
    said = np.concatenate([c.labels for c in completions])
    reached = np.concatenate([c.reached for c in completions])
    missing = (given == UNKNOWN) & (stream.truth != UNKNOWN)
    counts = Confusion.of(stream.truth[test & missing], said[test & missing])
    overall = Confusion.of(stream.truth[missing], said[missing])
    return {
        **counts.as_json(),
        **{f"{name}_all": value for name, value in overall.as_json().items()},
        "given": int((given != UNKNOWN).sum()),
        "missing": int(missing.sum()),
        "unreached": int((missing & ~reached).sum()),
        "abstained": int((missing & (said == UNKNOWN)).sum()),
        "seconds": seconds,
        **_memory(completer, completions),
    }


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
        """Return fresh batches: nothing that was worked out for one method helps the next."""
        ends = np.cumsum([len(batch.labels) for batch in self.batches])[:-1]
        parts = np.split(labels, ends)
        return [b.with_labels(part) for b, part in zip(self.batches, parts, strict=True)]


@lru_cache(maxsize=4)
def _source(dataset: str) -> MemorySource:
    """Return a dataset, read once in each process."""
    given = json.loads(dataset)
    described = {"name": given} if isinstance(given, str) else dict(given)
    name, fluent = described.pop("name"), described.pop("fluent", None)
    source: Source
    if name == "plaza":
        source = make_plaza(**described).source
    else:
        source = open_input(name, InputOptions(domain=described.get("domain")))
    table = collect(source)
    domain = replace(source.domain, fluents=(fluent,)) if fluent else source.domain
    return MemorySource(table, domain)


@lru_cache(maxsize=4)
def _stream(dataset: str, size: int) -> _Stream:
    source = _source(dataset)
    cut = tuple(batches(source, TimePoints(size)))
    if not cut:
        raise SpliceError(f"the dataset {dataset} is empty")
    return _Stream(source, cut, np.concatenate([batch.labels for batch in cut]))


@lru_cache(maxsize=16)
def _masked(
    dataset: str, size: int, scope: str, unit: str, sample: int, level: float
) -> LabelArray:
    """Return the labels that a sample keeps at a level."""
    keep: Keep = KeepBatches(level) if scope == "batches" else KeepAtoms(level, Unit(unit))
    masked = MaskedSource(_stream(dataset, size).source, keep, sample, TimePoints(size))
    return np.concatenate([batch.labels for batch in masked.batches()])


def _completer(parameters: _Table) -> _Completer:
    if "baseline" in parameters:
        baseline: _Completer = BASELINES[parameters["baseline"]]()
        return baseline
    return SupervisionCompleter(profile_of(parameters["profile"], parameters["changes"]))


def _expanded(method: _Table) -> Iterator[dict[str, Any]]:
    """Yield a method for each combination of its listed values, its name filled in."""
    lists = {key: value for key, value in method.items() if isinstance(value, list)}
    for values in product(*lists.values()):
        chosen = dict(zip(lists, values, strict=True))
        try:
            name = str(method.get("name", "")).format(**chosen)
        except (KeyError, IndexError, ValueError):
            hint = f"it may mention {', '.join(lists) or 'nothing'} in braces"
            raise SpliceError(f"'{method['name']}' is not a name for methods", hint) from None
        yield {**method, **chosen, "name": name}


_ABOUT: Final = ("name", "samples", "published")


def _choices(method: _Table) -> dict[str, Any]:
    """Return what a method does: the words of it, and all the choices that follow from them."""
    own = {key: value for key, value in method.items() if key not in _ABOUT}
    baseline = own.pop("baseline", None)
    if baseline is not None:
        if baseline not in BASELINES:
            raise UnknownName("baseline", str(baseline), BASELINES)
        if own:
            raise SpliceError(f"a baseline has no choice '{min(own)}'", "remove it")
        return {"baseline": baseline}
    name = str(own.pop("profile", "default"))
    return {"profile": name, "changes": own, "choices": as_plain(profile_of(name, own))}


def _series(configuration: _Table) -> dict[str, str]:
    """Return the published series beside each method; ``by connector`` finds its own."""
    usual = str(configuration.get("published", ""))
    found = {}
    for method in _methods(configuration):
        series = str(method.get("published", usual))
        if series == "by connector":
            series = _series_of(profile_of(str(method.get("profile", "default")), _changes(method)))
        found[method["name"]] = series
    return found


def _series_of(profile: Profile) -> str:
    connector = profile.connector
    if isinstance(connector, KNN):
        return f"k={connector.k}"
    return f"eps={connector.epsilon:g}"


def _changes(method: _Table) -> dict[str, Any]:
    return {k: v for k, v in method.items() if k not in (*_ABOUT, "profile", "baseline")}


def _mask(mask: object) -> tuple[str, str]:
    if not isinstance(mask, Mapping) or mask.get("scope") not in ("atoms", "batches"):
        raise SpliceError(f"'{mask}' is not a mask", 'write { scope = "atoms", unit = "pair" }')
    unit = mask.get("unit", "atom") if mask["scope"] == "atoms" else "atom"
    if unit not in ("atom", "pair"):
        raise SpliceError(f"'{unit}' is not a unit", "write atom or pair")
    return str(mask["scope"]), str(unit)


def _table(configuration: _Table, name: str, known: Sequence[str]) -> _Table:
    table = configuration.get(name)
    if not isinstance(table, Mapping):
        raise SpliceError(f"the experiment has no table [{name}]", f"it holds {', '.join(known)}")
    for key in table:
        if key not in known:
            hint = did_you_mean(key, known) or f"known: {', '.join(known)}"
            raise SpliceError(f"[{name}] has no '{key}'", hint)
    return table


def _number(level: float) -> float:
    """Return a level in one spelling: 5 and 5.0 are the same cell."""
    return int(level) if level == int(level) else float(level)
