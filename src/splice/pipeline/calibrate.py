"""Calibrate a profile on given labels that are held out (:mod:`splice.pipeline.holdout`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from splice.arrays import Floats
from splice.completion.calibration import LINE, Calibration, Curve, Reliability, fit_curve
from splice.completion.mode import Mode
from splice.completion.profile import Profile
from splice.completion.source import in_hindsight, label_counts
from splice.evaluation.recognition import fluent_names
from splice.labels import UNKNOWN, LabelArray
from splice.pipeline.holdout import Fold, folds, sample
from splice.stream.batch import MicroBatch


@dataclass(frozen=True, slots=True)
class FluentCalibration:
    """What calibration has done for a fluent, on held-out labels that the curve has not seen.

    Parameters
    ----------
    labels
        How many were held out.
    before, after
        How reliable the distance of values from zero was, and how reliable chances are.
    bent
        Whether values had to be bent to be chances; else they are as good as they are.
    """

    labels: int
    before: Reliability
    after: Reliability
    bent: bool

    def as_json(self) -> dict[str, Any]:
        """Return it under the names that the command promises."""
        errors = {"before": round(self.before.error, 4), "after": round(self.after.error, 4)}
        return {"calibrated": True, "bent": self.bent, "labels": self.labels, "error": errors}


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A profile that knows how sure it is, and how it came to know.

    Parameters
    ----------
    profile
        The profile, with its curves.
    fluents
        What was found of each fluent that has enough labels.
    """

    profile: Profile
    fluents: Mapping[str, FluentCalibration] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return by fluent whether confidence is calibrated."""
        return {name: calibration.as_json() for name, calibration in sorted(self.fluents.items())}


_Held = tuple[Floats, LabelArray, Floats]
"""Values of held-out atoms, their labels, and what these weigh."""

_A_BATCH: Final = 3.0
"""Labels of one fluent in one batch are alike: together they are worth so many, at most."""


def calibrate(stream: Iterable[MicroBatch], profile: Profile, mode: Mode) -> Calibrated:
    """Return a profile with curves for the fluents that have enough labels.

    Labels are held out in folds, over a bounded sample of the stream; each fold is judged by the curve of
    the others. Online nothing is held out: that would be looking ahead.

    Parameters
    ----------
    stream
        The batches; they are read once.
    profile
        How labels are completed.
    mode
        Whether all labels are counted first.
    """
    if profile.mode(mode) is Mode.ONLINE:
        return Calibrated(profile)
    whole = replace(profile, margin=0.0, given_alone=())
    parts = [_held_out(fold, whole) for fold in folds(sample(stream))]
    fluents: dict[str, FluentCalibration] = {}
    curves: list[tuple[str, Curve]] = []
    for name in sorted({name for part in parts for name in part}):
        fluent_parts = [part[name] for part in parts if name in part]
        curve, judged = fit_curve(*_joined(fluent_parts)), _judged(fluent_parts)
        if curve is not None and judged is not None:
            fluents[name] = judged
            curves.append((name, curve if judged.bent else LINE))
    return Calibrated(replace(profile, calibration=Calibration(tuple(curves))), fluents)


def _held_out(fold: Fold, profile: Profile) -> dict[str, _Held]:
    """Return by fluent the values that held-out labels would have had, and these labels."""
    by_fluent: dict[str, list[_Held]] = {}
    completer = in_hindsight(profile, label_counts(profile, fold.stream))
    for done, labels in zip(completer.completions(fold.stream), fold.labels, strict=True):
        rows = np.flatnonzero((labels != UNKNOWN) & done.reached)
        names, which = fluent_names(done.batch.queries.take(rows))
        for number, name in enumerate(names):
            fluent_rows = rows[which == number]
            weight = np.full(len(fluent_rows), min(1.0, _A_BATCH / len(fluent_rows)))
            by_fluent.setdefault(name, []).append(
                (done.values[fluent_rows], labels[fluent_rows], weight)
            )
    return {name: _joined(parts) for name, parts in by_fluent.items()}


def _joined(parts: Sequence[_Held]) -> _Held:
    values, labels, weights = zip(*parts, strict=True)
    return np.concatenate(values), np.concatenate(labels), np.concatenate(weights)


def _judged(parts: Sequence[_Held]) -> FluentCalibration | None:
    """Return how reliable confidence is before and after; None where a fold leaves too few labels.

    Values are bent where that lowers the squared error of chances at labels that the curve has not seen.
    """
    # Cross-fitting: fold i is judged by the curve of the other folds, which has not seen its labels. One curve
    # that cannot be fitted leaves all unjudged, since the folds would not be compared on the same labels.
    others = [[*parts[:i], *parts[i + 1 :]] for i in range(len(parts))]
    curves = [fit_curve(*_joined(some)) if some else None for some in others]
    values, labels, weights = _joined(parts)
    holds = labels > 0
    if len(parts) < 2 or any(curve is None for curve in curves):
        return None
    chance = np.concatenate(
        [c(fold_values) for c, (fold_values, *_) in zip(curves, parts, strict=True) if c]
    )
    line = LINE(values)
    errors = [float((weights * (chances - holds) ** 2).sum()) for chances in (line, chance)]
    bent = errors[1] < errors[0]
    chosen = chance if bent else line
    right = (values > 0) == holds
    before = Reliability.of(np.abs(values), right)
    after = Reliability.of(np.where(values > 0, chosen, 1 - chosen), right)
    return FluentCalibration(len(values), before, after, bent)
