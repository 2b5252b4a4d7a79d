"""The profile ``auto``: labels that are held out say how to complete, and what to learn from.

They choose which profile completes, and for which fluents the given labels alone do better; and they tell
how good the result is (:mod:`splice.pipeline.verdict`). A learner that can look at the whole stream does
(:meth:`splice.learners.options.LearnerOptions.in_hindsight`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from splice.completion.mode import Mode
from splice.completion.profile import PROFILES, Profile
from splice.evaluation.confusion import Confusion
from splice.evaluation.recognition import summed
from splice.labels import UNKNOWN
from splice.learners.registry import LearnerChoice
from splice.patterns.reading import Reading
from splice.pipeline.evidence import FRESH, weighed
from splice.pipeline.holdout import (
    Scores,
    complete_folds,
    distant_folds,
    fold_completers,
    folds,
    sample,
    score_baselines,
    score_labels,
    score_rules,
)
from splice.pipeline.verdict import ALONE, FluentVerdict, Verdict
from splice.stats import surely_better
from splice.stream.batch import MicroBatch
from splice.stream.summary import label_tally, merge_tallies

AUTO: Final = "auto"
"""The name of the profile that is chosen by what is held out."""

ENOUGH_LABELS: Final = 200
"""With fewer labels of a fluent, of both kinds, too little can be held out to choose by."""

_LOOKED_AT: Final = 45_000
"""So many query atoms are looked at: with fewer, scarce labels are too few to say how good rules are."""

CANDIDATES: Final = ("regression", "default", "patterns")
"""The profiles that are tried, the one that is taken where nothing can be told first."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What labels that were held out say, before the run: which profile, and how good it is."""

    profile: Profile | None
    chosen: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """By fluent: what was chosen, and why."""
    held_out: Scores = field(default_factory=dict)
    baselines: Mapping[str, Scores] = field(default_factory=dict)
    folds: tuple[float, ...] = ()

    def verdict(
        self, labels: Mapping[str, Mapping[str, int]], rules: Mapping[str, int] | None
    ) -> Verdict:
        """Return the verdict of a run, from what it counted by fluent."""
        return Verdict(
            {
                name: FluentVerdict(
                    counts.get("true", 0),
                    counts.get("false", 0),
                    counts.get("completed", 0),
                    None if rules is None else rules.get(name, 0),
                    self.held_out.get(name),
                    {r: scores[name].f1 for r, scores in self.baselines.items() if name in scores},
                    *self.chosen.get(name, (self.profile.name if self.profile else ALONE, "")),
                    tuple(_warnings(counts, None if rules is None else rules.get(name, 0))),
                )
                for name, counts in sorted(labels.items())
            },
            self.folds,
        )


def _warnings(counts: Mapping[str, int], rules: int | None) -> Iterator[str]:
    for sort in ("true", "false"):
        if not counts.get(sort):
            yield f"no {sort} label"
    if rules == 0:
        yield "no rules"


def settle(profile: Profile, stream: Iterable[MicroBatch], mode: Mode) -> Findings:
    """Return a profile and what is known of it; ``auto`` is chosen by labels that are held out.

    Online, where that would be looking ahead, ``auto`` is ``default``.
    """
    if profile.name != AUTO:
        return Findings(profile)
    findings = Findings(PROFILES["default"]) if mode is Mode.ONLINE else find_out(stream, mode)
    assert findings.profile is not None
    taken = replace(findings.profile, margin=profile.margin, threshold=profile.threshold)
    return replace(findings, profile=taken)


def find_out(
    batches: Iterable[MicroBatch],
    mode: Mode,
    learner: LearnerChoice | None = None,
    reading: Reading | None = None,
) -> Findings:
    """Choose how labels are completed, by labels that are held out.

    The profile is ``regression``, unless another completes clearly better, on the average of fluents;
    where it is so good that none can, none is tried. With a learner, rules from completed labels are
    compared with rules from the given labels alone, fluent by fluent: these are taken if they are surely
    better. Three folds over a bounded sample: some seconds. A lasting ``reading`` of the stream may
    be shared.
    """
    looked_at = sample(batches, _LOOKED_AT)
    tally = merge_tallies(*(label_tally(b.queries, b.domain) for b in looked_at))
    enough = {n for n, c in tally.items() if c["true"] + c["false"] >= ENOUGH_LABELS}
    enough = {name for name in enough if tally[name]["true"] and tally[name]["false"]}
    usual = PROFILES[CANDIDATES[0]]
    hold_out = folds if learner is None else distant_folds
    splits = hold_out(looked_at) if enough else []
    if not splits:
        few = f"fewer than {ENOUGH_LABELS} labels of both kinds to choose by"
        return Findings(usual, dict.fromkeys(tally, (usual.name, few)))
    if reading is None:
        first = looked_at[0]
        reading = Reading(first.domain, first.table.vocabulary, ground=False, lasting=True)
    missing = any((batch.labels == UNKNOWN).any() for batch in looked_at)
    usual, streams = weighed(splits, usual, mode, reading, FRESH if missing else ())
    completed = {usual.name: streams}
    tried = {usual.name: score_labels(splits, streams)}
    room = 1.0 - _macro(summed(tried[usual.name]), enough)
    for name in CANDIDATES[1:] if missing and room > _CLEARLY else ():
        completers = fold_completers(splits, PROFILES[name], mode, reading)
        completed[name] = complete_folds(splits, completers)
        tried[name] = score_labels(splits, completed[name])
    means = {name: _macro(summed(scores), enough) for name, scores in tried.items()}
    rivals = [n for n, scores in tried.items() if _is_better(scores, tried[usual.name], enough)]
    best = max(rivals, key=lambda name: means[name], default=usual.name)
    why = ", ".join(f"{name} {f1:.3f}" for name, f1 in means.items())
    why = f"labels held out are completed with F1: {why}"
    if best == usual.name and usual.teacher and usual.teacher.fresh < 1:
        why += f"; what is seen at a point counts {usual.teacher.fresh:g} times"
    findings = Findings(
        usual if best == usual.name else PROFILES[best],
        dict.fromkeys(tally, (best, why)),
        summed(tried[best]),
        score_baselines(splits),
        _micros(tried[best]),
    )
    if learner is None:
        return findings
    of_completed = score_rules(splits, learner, completed[best], reading)
    alone = score_rules(splits, learner, [fold.stream for fold in splits], reading)
    return _with_rules(findings, of_completed, alone, enough)


_CLEARLY: Final = 0.1
"""What is taken instead of the usual has to be better by so much on the average of folds."""


def _is_better(
    candidate: Sequence[Scores], usual: Sequence[Scores], names: set[str], by: float = _CLEARLY
) -> bool:
    """Return whether scores are better than the usual ones in every fold, and clearly in all.

    Better in every one of three folds alone is luck once in eight. A fold without a true label says
    nothing: whoever finds nothing there is right.
    """
    folds = [
        ({n for n in names if n in b and b[n].tp + b[n].fn}, a, b)
        for a, b in zip(candidate, usual, strict=True)
    ]
    apart = [_macro(a, judged) - _macro(b, judged) for judged, a, b in folds if judged]
    return len(apart) > 1 and min(apart) >= 0 and sum(apart) / len(apart) > by


_UNITS: Final = 6
"""From so many sequences with a true label it can be told how much a difference is due to chance."""


def _is_surely_better(
    candidate: Sequence[Sequence[Scores]], usual: Sequence[Sequence[Scores]], name: str
) -> bool:
    """Return whether rules about a fluent are better by more than chance, by sequences that were held out.

    With few sequences the folds have to agree, and clearly.
    """
    pairs = [
        (a[name], b[name])
        for ours, theirs in zip(candidate, usual, strict=True)
        for a, b in zip(ours, theirs, strict=True)
        if name in a
    ]
    if sum(counts.tp + counts.fn > 0 for counts, _ in pairs) < _UNITS:
        return _is_better(
            [summed(fold) for fold in candidate], [summed(fold) for fold in usual], {name}
        )
    return surely_better(np.array([[(c.tp, c.fp, c.fn) for c in pair] for pair in pairs]))


def _with_rules(
    findings: Findings,
    by_completed: Sequence[Sequence[Scores]],
    by_alone: Sequence[Sequence[Scores]],
    enough: set[str],
) -> Findings:
    """Compare rules from completed labels with those from the given ones alone."""
    assert findings.profile is not None
    completed, alone = ([summed(fold) for fold in folds] for folds in (by_completed, by_alone))
    of_completed, of_alone = summed(completed), summed(alone)
    better = {name for name in enough if _is_surely_better(by_alone, by_completed, name)}
    chosen = {
        name: (
            (ALONE, f"rules F1 {of_alone[name].f1:.3f}, completed {of_completed[name].f1:.3f}")
            if name in better
            else choice
        )
        for name, choice in findings.chosen.items()
    }
    taken = [
        {name: (b if name in better else a)[name] for name in a}
        for a, b in zip(completed, alone, strict=True)
    ]
    return replace(
        findings,
        profile=replace(findings.profile, given_alone=tuple(sorted(better))),
        chosen=chosen,
        held_out=summed(taken),
        baselines={ALONE: of_alone, **findings.baselines},
        folds=_micros(taken),
    )


def _micros(folds: Sequence[Scores]) -> tuple[float, ...]:
    """Return the F1 of all fluents together, fold by fold; none of a fold without a true label."""
    sums = [Confusion.total(scores.values()) for scores in folds]
    return tuple(counts.f1 for counts in sums if counts.tp + counts.fn)


def _macro(scores: Scores, names: set[str]) -> float:
    f1s = [scores[name].f1 for name in sorted(names) if name in scores]
    return sum(f1s) / len(f1s) if f1s else 0.0
