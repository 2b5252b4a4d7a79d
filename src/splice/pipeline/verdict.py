"""The verdict of a run: by fluent, what was given, what came of it, and how good that is where it can be known.

It is measured on given labels that were held out (:mod:`splice.pipeline.holdout`), beside what anybody
would compare with. For the profile ``auto`` it also decides: which profile completes, and for which
fluents the given labels alone do better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from textwrap import wrap
from typing import Any, Final

from splice.completion.mode import Mode
from splice.completion.profile import PROFILES, Profile
from splice.evaluation.confusion import Confusion
from splice.learners.protocol import StructureLearner
from splice.options import html_table
from splice.patterns.reading import Reading
from splice.pipeline.holdout import (
    Scores,
    complete_folds,
    distant_folds,
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

_LOOKED_AT: Final = 45_000
"""So many query atoms are looked at: with fewer, scarce labels are too few to say how good rules are."""

ALONE: Final = "given labels alone"

_HELD_OUT: Final = "held out"
_SHORT: Final = {ALONE: "alone", "nearest in time": "nearest", "decision tree": "tree"}
"""What columns are called where there is little room."""
_LONG: Final = {
    ALONE: "rules from given labels alone",
    "nearest in time": "the label nearest in time",
    "majority": "the commoner label",
    "decision tree": "a decision tree",
}

_WIDTH: Final = 96
_LONGEST: Final = 30
"""So many characters of a fluent's name are shown."""

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


@dataclass(frozen=True, slots=True, repr=False)
class Verdict:
    """The verdicts of all fluents.

    Parameters
    ----------
    fluents
        By the name of the fluent.
    folds
        The held-out F1 of all fluents together, fold by fold: how much it depends on what is held out.
    """

    fluents: Mapping[str, FluentVerdict]
    folds: tuple[float, ...] = ()

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        f1 = "nothing held out" if self.micro is None else f"F1 {self.micro:.3f} held out"
        return f"<Verdict on {', '.join(self.fluents) or 'nothing'}: {f1}>"

    def _repr_html_(self) -> str:
        rows = self.rows()
        sentences = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences())
        return html_table(rows, list(rows[0]) if rows else []) + sentences

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
            "folds": [round(f1, 4) for f1 in self.folds],
            "without_rules": self.without_rules,
        }

    def lines(self) -> Iterator[str]:
        """Yield the verdict as a table and some sentences, none longer than a screen is wide."""
        yield from self._table()
        for sentence in self.sentences():
            yield from wrap(sentence, _WIDTH, subsequent_indent="  ", break_long_words=False)

    def sentences(self) -> Iterator[str]:
        """Yield what a table of the verdict leaves open."""
        if self.micro is not None:
            rivals = ", ".join(_LONG.get(name, name) for name in self._rivals())
            yield (
                "held out: F1 of this run without them on given labels that were held out; "
                f"beside it, on the same, that of {rivals}"
            )
        if self.folds:
            told = ", ".join(f"{f1:.3f}" for f1 in self.folds)
            yield f"held out fold by fold: {told}; unseen data may lie as far apart, or further"
        reasons: dict[tuple[str, str], list[str]] = {}
        for name, one in self.fluents.items():
            reasons.setdefault((one.chosen, one.why), []).append(name)
        for (chosen, why), names in reasons.items():
            whom = f"{', '.join(names)}: " if len(reasons) > 1 else ""
            about = whom if chosen == ALONE else f"{whom}completed by "
            yield f"{about}{chosen} ({why})" if why else f"{about}{chosen}"
        for name, one in self.fluents.items():
            if one.warnings and one.warnings != ("no rules",):
                yield f"{name}: {', '.join(one.warnings)}"
        if self.without_rules:
            yield f"no rules for: {', '.join(self.without_rules)}"

    def _table(self) -> Iterator[str]:
        """Yield the lines of a table of :meth:`rows`, without the choices."""
        rows = self.rows()
        names = [name for name in rows[0] if name != "chosen"] if rows else []
        cells = [[_SHORT.get(name, name) for name in names]]
        cells += [[_cell(row[name]) for name in names] for row in rows]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for row in cells:
            first, *others = zip(row, widths, strict=True)
            yield "  ".join([first[0].ljust(first[1]), *(t.rjust(w) for t, w in others)]).rstrip()

    def _rivals(self) -> Iterable[str]:
        """Return the names of what the fluents are compared with, in order."""
        return dict.fromkeys(name for one in self.fluents.values() for name in one.baselines)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each fluent, then all of them together and their means; for a table."""
        rows: list[dict[str, Any]] = [
            {
                "fluent": name,
                "true": one.given_true,
                "false": one.given_false,
                "completed": one.completed,
                "rules": one.rules,
                _HELD_OUT: None if one.held_out is None else one.held_out.f1,
                **{rival: one.baselines.get(rival) for rival in self._rivals()},
                "chosen": one.chosen,
            }
            for name, one in self.fluents.items()
        ]
        if len(rows) > 1 and self.micro is not None:
            means = {name: _mean([row[name] for row in rows]) for name in self._rivals()}
            rows.append({**dict.fromkeys(rows[0]), "fluent": "all", _HELD_OUT: self.micro})
            rows.append({**rows[-1], "fluent": "mean", _HELD_OUT: self.macro, **means})
        told = [
            name for name in (rows[0] if rows else ()) if any(r[name] is not None for r in rows)
        ]
        return [{name: row[name] for name in told} for row in rows]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _cell(value: object) -> str:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"{value[: _LONGEST - 3]}..."
    if isinstance(value, float):
        return f"{value:.3f}"
    return "" if value is None else f"{value:,}"


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


def settle(asked: Profile, stream: Iterable[MicroBatch], mode: Mode) -> Findings:
    """Return a profile and what is known of it; ``auto`` is chosen by labels that are held out.

    Online, where that would be looking ahead, ``auto`` is ``default``.
    """
    if asked.name != AUTO:
        return Findings(asked)
    found = Findings(PROFILES["default"]) if mode is Mode.ONLINE else find_out(stream, mode)
    assert found.profile is not None
    taken = replace(found.profile, margin=asked.margin, threshold=asked.threshold)
    return replace(found, profile=taken)


def find_out(
    batches: Iterable[MicroBatch],
    mode: Mode,
    learner: Callable[[], StructureLearner] | None = None,
) -> Findings:
    """Choose how labels are completed, by labels that are held out.

    The profile is ``regression``, unless another completes clearly better, on the average of fluents;
    where it is so good that none can, none is tried. With a learner, rules from its labels are compared with rules from the given labels alone,
    fluent by fluent: these are taken if they are better in every fold. Three folds over a bounded
    sample: some seconds.
    """
    looked_at = sample(batches, _LOOKED_AT)
    tally = _tally(looked_at)
    enough = {n for n, c in tally.items() if c["true"] + c["false"] >= ENOUGH_LABELS}
    enough = {name for name in enough if tally[name]["true"] and tally[name]["false"]}
    usual = PROFILES[CANDIDATES[0]]
    hold_out = folds if learner is None else distant_folds
    every = hold_out(looked_at) if enough else []
    if not every:
        few = f"fewer than {ENOUGH_LABELS} labels of both kinds to choose by"
        return Findings(usual, dict.fromkeys(tally, (usual.name, few)))
    first = looked_at[0]
    reading = Reading(first.domain, first.table.vocabulary, ground=False, lasting=True)
    completed = {usual.name: complete_folds(every, usual, mode, reading)}
    tried = {usual.name: score_labels(every, completed[usual.name])}
    room = 1.0 - _macro(total(tried[usual.name]), enough)
    for name in CANDIDATES[1:] if room > _CLEARLY else ():
        completed[name] = complete_folds(every, PROFILES[name], mode, reading)
        tried[name] = score_labels(every, completed[name])
    means = {name: _macro(total(scores), enough) for name, scores in tried.items()}
    rivals = [n for n, scores in tried.items() if _is_better(scores, tried[usual.name], enough)]
    best = max(rivals, key=lambda name: means[name], default=usual.name)
    told = ", ".join(f"{name} {f1:.3f}" for name, f1 in means.items())
    found = Findings(
        PROFILES[best],
        dict.fromkeys(tally, (best, f"labels held out are completed with F1: {told}")),
        total(tried[best]),
        score_baselines(every),
        _micros(tried[best]),
    )
    if learner is None:
        return found
    of_completed = score_rules(every, learner, completed[best], reading)
    alone = score_rules(every, learner, [fold.stream for fold in every], reading)
    return _with_rules(found, of_completed, alone, enough)


_CLEARLY: Final = 0.1
"""What is taken instead of the usual has to be better by so much on the average of folds."""


def _is_better(one: Sequence[Scores], usual: Sequence[Scores], names: set[str]) -> bool:
    """Return whether scores are better than the usual ones in every fold, and clearly in all.

    Better in every one of three folds alone is luck once in eight. A fold without a true label says
    nothing: whoever finds nothing there is right.
    """
    folds = [
        ({n for n in names if n in b and b[n].tp + b[n].fn}, a, b)
        for a, b in zip(one, usual, strict=True)
    ]
    apart = [_macro(a, own) - _macro(b, own) for own, a, b in folds if own]
    return len(apart) > 1 and min(apart) >= 0 and sum(apart) / len(apart) > _CLEARLY


def _with_rules(
    found: Findings, completed: Sequence[Scores], alone: Sequence[Scores], enough: set[str]
) -> Findings:
    """Compare rules from completed labels with those from the given ones alone."""
    assert found.profile is not None
    of_completed, of_alone = total(completed), total(alone)
    better = {name for name in enough if _is_better(alone, completed, {name})}
    chosen = {
        name: (
            (ALONE, f"rules F1 {of_alone[name].f1:.3f}, completed {of_completed[name].f1:.3f}")
            if name in better
            else said
        )
        for name, said in found.chosen.items()
    }
    taken = [
        {name: (b if name in better else a)[name] for name in a}
        for a, b in zip(completed, alone, strict=True)
    ]
    return replace(
        found,
        profile=replace(found.profile, given_alone=tuple(sorted(better))),
        chosen=chosen,
        held_out=total(taken),
        baselines={ALONE: of_alone, **found.baselines},
        folds=_micros(taken),
    )


def _micros(folds: Sequence[Scores]) -> tuple[float, ...]:
    """Return the F1 of all fluents together, fold by fold; none of a fold without a true label."""
    sums = [Confusion.total(scores.values()) for scores in folds]
    return tuple(one.f1 for one in sums if one.tp + one.fn)


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
