"""How well rules are learned: level x sample x method, cross-validated.

The protocol of section 4.2: some sequences are held out; of the rest, some labels are kept,
the others completed or not, and a theory is learned in one pass; what it recognises in the held-out
sequences is counted against their labels. A cell is one sample; its F1 is micro-averaged over the folds.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import islice, product
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from splice.completion.completer import SupervisionCompleter
from splice.completion.mode import Mode
from splice.completion.profile import profile_of
from splice.completion.registry import word_of
from splice.errors import SpliceError, UnknownName
from splice.evaluation.classifiers import Classifier, PointClassifier
from splice.evaluation.confusion import Confusion
from splice.evaluation.folds import FoldRule, assigned, read_folds
from splice.evaluation.recognition import confusions
from splice.inputs.open import input_paths
from splice.inputs.theories import named_theory
from splice.io.text import read_text
from splice.lab.experiments import spec
from splice.lab.experiments.grid import Cell, Result, canonical
from splice.lab.experiments.spec import Table
from splice.labels import LabelArray
from splice.learners.options import NamedTheory
from splice.learners.predict import predict
from splice.learners.protocol import StructureLearner
from splice.learners.registry import LEARNERS, LearnerChoice
from splice.logic.theory import Theory
from splice.patterns.measures import find_measures, measured
from splice.pipeline.auto import AUTO
from splice.pipeline.learned import LearnOptions
from splice.pipeline.run import learn
from splice.pipeline.splice import Splice
from splice.stream.batch import MicroBatch, TimePoints, batches
from splice.stream.mask import MaskedSource
from splice.stream.source import MemorySource, RedefinedSource, Source

BY: Final = ("dataset", "folds", "scope", "unit", "batch_size", "method", "level")
MEASURES: Final = ("f1", "precision", "recall", "macro", "rules", "literals", "seconds")

FOLDS: Final = 10
"""So many folds are made where none are given; ``rounds`` says how many of them are held out."""

_ALL: Final = 100
_WHOLE: Final = 10**9
_COMPLETE: Final = ("completed", "closed", "labelled")
_ABOUT: Final = ("name", "samples", "published", "levels")
_CLASSIFIERS: Final = {kind.value: kind for kind in Classifier}
"""What learns single time-points, to compare with; it looks at the given labels alone."""
_Predict: TypeAlias = Callable[[MicroBatch], LabelArray]


def cells(configuration: Table) -> list[Cell]:
    """Return the cells of a configuration; where all labels are kept, one sample says it all."""
    keys = ("datasets", "masks", "levels", "samples", "batch_sizes", "folds", "rounds")
    grid = spec.table_of(configuration, "grid", keys)
    rounds = {"rounds": spec.whole_of(grid, "rounds", FOLDS)} if "rounds" in grid else {}
    samples = spec.whole_of(grid, "samples", 20)
    levels = spec.levels_of(grid, (_ALL,))
    axes = (
        spec.datasets_of(grid),
        spec.list_of(grid, "folds", ("sequences",)),
        list(map(spec.mask_of, spec.list_of(grid, "masks", ({"scope": "batches"},)))),
        spec.numbers_of(grid, "batch_sizes", (25,), whole=True),
    )
    chosen = [(method, _choices(method)) for method in spec.methods_of(configuration)]
    spec.check_cells(samples, *map(len, axes), len(chosen), len(levels))
    streams = list(product(*axes))
    return [
        Cell.of(
            dataset=dataset,
            folds=folds,
            scope=scope,
            unit=unit,
            batch_size=int(size),
            level=level,
            sample=sample,
            method=method["name"],
            **rounds,
            **choices,
        )
        for sample in range(samples)
        for (dataset, folds, (scope, unit), size), (method, choices) in product(streams, chosen)
        for level in spec.levels_of(method, levels)
        if sample < (1 if level == _ALL else spec.whole_of(method, "samples", samples))
    ]


def _choices(method: Table) -> dict[str, Any]:
    """Return what a method does: who completes, who learns, and how."""
    changes = {key: value for key, value in method.items() if key not in _ABOUT}
    labels = str(changes.pop("labels", "completed"))
    if labels not in _COMPLETE:
        raise UnknownName("way to treat missing labels", labels, _COMPLETE)
    learner = str(changes.pop("learner", "oled"))
    profile = str(changes.pop("profile", "default"))
    profile_of(profile, {})
    mode = {"mode": word_of(changes.pop("mode"), Mode, "a mode").value} if "mode" in changes else {}
    if profile == AUTO and (labels != "completed" or mode):
        raise SpliceError(
            "the profile 'auto' is a run as `splice learn` makes it",
            "name neither 'labels' nor 'mode' beside it",
        )
    if learner in _CLASSIFIERS:
        labels = "labelled"
        for key in changes:
            raise UnknownName("choice for a classifier", key, ("learner",))
    else:
        _learner(learner, changes)
    return {"labels": labels, "learner": learner, "profile": profile, "changes": changes, **mode}


def _learner(name: str, changes: Table) -> StructureLearner:
    """Return a learner with the options that the words of a method name."""
    kind = LEARNERS[name]
    return kind.learner(kind.read(changes, {NamedTheory: named_theory}))


def series(configuration: Table) -> dict[str, str]:
    """Return the published series beside each method."""
    return {m["name"]: str(m.get("published", "")) for m in spec.methods_of(configuration)}


def work(parameters: Table) -> Result:
    """Learn from one sample, fold by fold, and count what is recognised."""
    dataset, size = canonical(parameters["dataset"]), int(parameters["batch_size"])
    fluents: dict[str, Confusion] = {}
    seconds, theories = list[float](), list[Theory]()
    folds = _folds(dataset, str(parameters["folds"]))
    for train, test in islice(folds, parameters.get("rounds")):
        scope, sample = str(parameters["scope"]), int(parameters["sample"])
        keep = spec.keep_of(scope, parameters["unit"], parameters["level"])
        masked = MaskedSource(spec.in_order(train, scope, sample), keep, sample, TimePoints(size))
        begun = time.process_time()
        theory, predict_batch = _learned(masked, parameters)
        seconds.append(time.process_time() - begun)
        theories.append(theory)
        for batch in batches(test, TimePoints(_WHOLE)):
            right = confusions(batch.queries, batch.labels, predict_batch(batch))
            for name, counts in right.items():
                fluents[name] = fluents.get(name, Confusion()) + counts
    return {
        **Confusion.total(fluents.values()).as_json(),
        "macro": float(np.mean([counts.f1 for counts in fluents.values()])),
        "fluents": {name: counts.f1 for name, counts in sorted(fluents.items())},
        "rules": float(np.mean([len(theory) for theory in theories])),
        "literals": float(np.mean([_literals(theory) for theory in theories])),
        "seconds": float(np.mean(seconds)),
        "theory": str(theories[0]),
    }


def _with_measures(source: Source, parameters: Table) -> Source:
    """Return what is learned from; in hindsight its numbers have thresholds, as in a run."""
    measures = find_measures(source) if parameters.get("mode") == Mode.HINDSIGHT.value else ()
    return RedefinedSource(source, partial(measured, measures=measures)) if measures else source


def _literals(theory: Theory) -> int:
    return sum(1 + len(rule.body) for rule in theory.rules())


def _learned(masked: Source, parameters: Table) -> tuple[Theory, _Predict]:
    """Return the theory that a method learns, and what it predicts with."""
    points = TimePoints(int(parameters["batch_size"]))
    kind = _CLASSIFIERS.get(parameters["learner"])
    if kind:
        classifier = PointClassifier(kind, seed=int(parameters["sample"]))
        return Theory(()), classifier.fit(list(batches(masked, points))).predict
    if parameters["profile"] == AUTO:
        read = LEARNERS[parameters["learner"]].read(
            parameters["changes"], {NamedTheory: named_theory}
        )
        choices = LearnOptions(
            learner=LearnerChoice(parameters["learner"], read), batch_size=points.count
        )
        theory = learn(masked, choices=choices).theory
        return theory, partial(predict, theory)
    model = _splice(parameters)
    model.fit(list(batches(_with_measures(masked, parameters), points)))
    return model.theory_, model.predict


def _splice(parameters: Table) -> Splice:
    changes = dict(parameters["changes"])
    if parameters["labels"] != "completed":
        changes["unlabelled"] = "false" if parameters["labels"] == "closed" else "skip"
        return Splice(_learner(parameters["learner"], changes))
    completer = SupervisionCompleter(profile_of(parameters["profile"], {}))
    mode = Mode(parameters.get("mode", "online"))
    return Splice(_learner(parameters["learner"], changes), completer, mode)


def _folds(dataset: str, rule: str) -> Iterator[tuple[MemorySource, MemorySource]]:
    """Yield what is learned from and what is held out, fold by fold."""
    source = spec.source_of(dataset)
    fold = _fold_numbers(dataset, rule)[source.table.sequence]
    for number in np.unique(fold).tolist():
        train, test = (source.table.take(fold != number), source.table.take(fold == number))
        yield MemorySource(train, source.domain), MemorySource(test, source.domain)


@lru_cache(maxsize=8)
def _fold_numbers(dataset: str, rule: str) -> np.ndarray:
    """Return the fold of each sequence; ``file`` reads the folds.csv beside the data."""
    source = spec.source_of(dataset)
    names = list(source.vocabulary.sequences)
    if rule != "file":
        rules = {r.value: r for r in FoldRule}
        if rule not in rules:
            raise UnknownName("rule for folds", rule, [*rules, "file"])
        folds = assigned(names, FOLDS, rules[rule])
    else:
        places = [
            folder / "folds.csv" for path in _paths(dataset) for folder in (path, *path.parents)
        ]
        files = [place for place in places if place.is_file()]
        if not files:
            raise SpliceError("there is no folds.csv beside the data", 'say folds = ["sequences"]')
        folds = read_folds(read_text(files[0]), names)
    return np.array([folds[name] for name in names])


def _paths(dataset: str) -> list[Path]:
    """Return a dataset's files and folders; cells write datasets as JSON."""
    parsed = json.loads(dataset)
    name = parsed if isinstance(parsed, str) else str(parsed["name"])
    return [path / "." for path in input_paths(name)]
