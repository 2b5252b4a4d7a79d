"""The verdict of a run: by fluent, what was given, what came of it, and how good that is where it can be known.

It is measured on given labels that were held out (:mod:`splice.pipeline.holdout`), beside what anybody
would compare with. For the profile ``auto`` it also decides: which profile completes, and for which
fluents the given labels alone do better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from splice.completion.mode import Mode
from splice.completion.profile import PROFILES, Profile
from splice.evaluation.confusion import Confusion
from splice.learners.protocol import StructureLearner
from splice.pipeline.holdout import (
    Fold,
    Scores,
    folds,
    sample,
    score_baselines,
    score_labels,
    score_rules,
    total,
)
from splice.stream.batch import MicroBatch
from splice.stream.summary import label_tally

AUTO: Final = "auto"
"""The name of the profile that is chosen by what is held out."""

ENOUGH_LABELS: Final = 200
"""With fewer labels of a fluent, of both kinds, too little can be held out to choose by."""

ALONE: Final = "given labels alone"

CANDIDATES: Final = ("regression", "default", "patterns")
"""The profiles that are tried, the one that is taken where nothing can be told first."""


@dataclass(frozen=True, slots=True)
class FluentVerdict:
    """What is known of a fluent at the end of a run.

    Parameters
    ----------
    given_true, given_false
        How many labels were given.
    completed
        How many were completed.
    rules
        How many rules are about it; None: nothing was learned.
    held_out
        How right the result of the same run without them is at labels that were held out; None: not
        measured.
    baselines
        The F1 of others at the same labels.
    chosen
        The profile, or that the given labels alone were learned from.
    why
        The reason for that choice.
    warnings
        What to be wary of.
    """

    given_true: int = 0
    given_false: int = 0
    completed: int = 0
    rules: int | None = None
    held_out: Confusion | None = None
    baselines: Mapping[str, float] = field(default_factory=dict)
    chosen: str = ""
    why: str = ""
    warnings: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return it under the names that the command promises."""
        held, measured = self.held_out, None
        if held is not None:
            measured = {
                "f1": round(held.f1, 4),
                "precision": round(held.precision, 4),
                "recall": round(held.recall, 4),
                "n": held.tp + held.fp + held.fn + held.tn,
            }
        return {
            "given_true": self.given_true,
            "given_false": self.given_false,
            "completed": self.completed,
            "rules": self.rules,
            "held_out": measured,
            "baselines": {name: round(f1, 4) for name, f1 in self.baselines.items()},
            "chosen": self.chosen,
            "why": self.why,
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdicts of all fluents.

    Parameters
    ----------
    fluents
        By the name of the fluent.
    """

    fluents: Mapping[str, FluentVerdict]

    @property
    def micro(self) -> float | None:
        """The held-out F1 of all fluents counted together."""
        held = [one.held_out for one in self.fluents.values() if one.held_out is not None]
        return Confusion.total(held).f1 if held else None

    @property
    def macro(self) -> float | None:
        """The mean of the fluents' held-out F1."""
        held = [one.held_out.f1 for one in self.fluents.values() if one.held_out is not None]
        return sum(held) / len(held) if held else None

    @property
    def without_rules(self) -> list[str]:
        """The fluents that no rule is about, although something was learned."""
        return [name for name, one in self.fluents.items() if one.rules == 0]

    def as_json(self) -> dict[str, Any]:
        """Return it under the names that the command promises."""
        means = {"micro": self.micro, "macro": self.macro}
        return {
            "fluents": {name: one.as_json() for name, one in self.fluents.items()},
            **{name: None if f1 is None else round(f1, 4) for name, f1 in means.items()},
            "without_rules": self.without_rules,
        }

    def lines(self) -> Iterator[str]:
        """Yield the verdict in words, a line for each fluent."""
        for name, one in self.fluents.items():
            parts = [f"{one.given_true:,} true and {one.given_false:,} false labels given"]
            if one.held_out is not None:
                parts.append(f"F1 {one.held_out.f1:.3f} on labels held out")
                rivals = [f"{rival} {f1:.3f}" for rival, f1 in one.baselines.items()]
                parts.append(", ".join(rivals))
            if one.chosen:
                parts.append(f"{one.chosen} ({one.why})" if one.why else one.chosen)
            yield f"{name}: {'; '.join(filter(None, [*parts, *one.warnings]))}"
        if len(self.fluents) > 1 and self.micro is not None and self.macro is not None:
            yield f"all: F1 {self.micro:.3f} on labels held out, {self.macro:.3f} on the average of fluents"
        if self.without_rules:
            yield f"no rules for: {', '.join(self.without_rules)}"

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each fluent, for a table."""
        return [
            {
                "fluent": name,
                "true": one.given_true,
                "false": one.given_false,
                "rules": one.rules,
                "held-out F1": None if one.held_out is None else round(one.held_out.f1, 3),
                **{rival: round(f1, 3) for rival, f1 in one.baselines.items()},
                "chosen": one.chosen,
            }
            for name, one in self.fluents.items()
        ]


@dataclass(frozen=True, slots=True)
class Findings:
    """What labels that were held out say, before the run: which profile, and how good it is."""

    profile: Profile | None
    chosen: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """By fluent: what was chosen, and why."""
    held_out: Scores = field(default_factory=dict)
    baselines: Mapping[str, Scores] = field(default_factory=dict)

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
            }
        )


def _warnings(counts: Mapping[str, int], rules: int | None) -> Iterator[str]:
    for sort in ("true", "false"):
        if not counts.get(sort):
            yield f"no {sort} label"
    if rules == 0:
        yield "no rules"


def find_out(
    batches: Iterable[MicroBatch],
    mode: Mode,
    learner: Callable[[], StructureLearner] | None = None,
) -> Findings:
    """Choose how labels are completed, by labels that are held out.

    The profile is ``regression``, unless another completes better in every fold, on the average of
    fluents. With a learner, rules from its labels are compared with rules from the given labels alone,
    fluent by fluent: these are taken if they are better in every fold. Three folds over a bounded
    sample: some seconds.
    """
    looked_at = sample(batches)
    tally = _tally(looked_at)
    enough = {n for n, c in tally.items() if c["true"] + c["false"] >= ENOUGH_LABELS}
    enough = {name for name in enough if tally[name]["true"] and tally[name]["false"]}
    usual = PROFILES[CANDIDATES[0]]
    every = folds(looked_at) if enough else []
    if not every:
        few = f"fewer than {ENOUGH_LABELS} labels of both kinds to choose by"
        return Findings(usual, dict.fromkeys(tally, (usual.name, few)))
    tried = {name: score_labels(every, PROFILES[name], mode) for name in CANDIDATES}
    means = {name: _macro(total(scores), enough) for name, scores in tried.items()}
    usual_means = [_macro(fold, enough) for fold in tried[usual.name]]
    rivals = [
        name
        for name in CANDIDATES[1:]
        if _is_better([_macro(fold, enough) for fold in tried[name]], usual_means)
    ]
    best = max(rivals, key=lambda name: means[name], default=usual.name)
    told = ", ".join(f"{name} {means[name]:.3f}" for name in CANDIDATES)
    found = Findings(
        PROFILES[best],
        dict.fromkeys(tally, (best, f"labels held out are completed with F1: {told}")),
        total(tried[best]),
        score_baselines(every),
    )
    return found if learner is None else _with_rules(found, every, learner, mode, enough)


_CLEARLY: Final = 0.1
"""What is taken instead of the usual has to be better by so much on the average of folds."""


def _is_better(one: Sequence[float], usual: Sequence[float]) -> bool:
    """Return whether scores are better than the usual ones in every fold, and clearly in all.

    Better in every one of three folds alone is luck once in eight.
    """
    mean = sum(a - b for a, b in zip(one, usual, strict=True)) / len(one)
    return all(a >= b for a, b in zip(one, usual, strict=True)) and mean > _CLEARLY


def _with_rules(
    found: Findings,
    every: Sequence[Fold],
    learner: Callable[[], StructureLearner],
    mode: Mode,
    enough: set[str],
) -> Findings:
    """Compare rules from completed labels with those from the given ones alone."""
    assert found.profile is not None
    completed = score_rules(every, learner, found.profile, mode)
    alone = score_rules(every, learner, None, mode)
    of_completed, of_alone = total(completed), total(alone)
    better = {
        name
        for name in enough
        if _is_better(*([_macro(fold, {name}) for fold in side] for side in (alone, completed)))
    }
    chosen = {
        name: (
            (ALONE, f"rules F1 {of_alone[name].f1:.3f}, completed {of_completed[name].f1:.3f}")
            if name in better
            else said
        )
        for name, said in found.chosen.items()
    }
    return replace(
        found,
        profile=replace(found.profile, given_alone=tuple(sorted(better))),
        chosen=chosen,
        held_out={n: of_alone[n] if n in better else c for n, c in of_completed.items()},
        baselines={ALONE: of_alone, **found.baselines},
    )


def _tally(batches: Iterable[MicroBatch]) -> dict[str, dict[str, int]]:
    total: dict[str, dict[str, int]] = {}
    for batch in batches:
        for name, counts in label_tally(batch.queries, batch.domain).items():
            own = total.setdefault(name, {"true": 0, "false": 0})
            for sort in own:
                own[sort] += counts[sort]
    return total


def _macro(scores: Scores, names: set[str]) -> float:
    held = [scores[name].f1 for name in sorted(names) if name in scores]
    return sum(held) / len(held) if held else 0.0
