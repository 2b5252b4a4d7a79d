"""The verdict of a run: by fluent, what was given, what came of it, and how good that is where it can be known.

It is measured on given labels that were held out (:mod:`splice.pipeline.auto`), beside what anybody
would compare with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from textwrap import wrap
from typing import Any, Final

from splice.display import cell_text, html_table
from splice.evaluation.confusion import Confusion

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
"""Characters in a line of sentences: a screen of 100 with a margin."""
_LONGEST: Final = 30
"""So many characters of a fluent's name are shown."""


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

    @property
    def f1(self) -> float | None:
        """The held-out F1; None where no label that was held out is true, so that none can be found."""
        held_out = self.held_out
        return held_out.f1 if held_out and held_out.tp + held_out.fn else None

    def rival(self, name: str) -> float | None:
        """Return the F1 of a baseline at the same labels, where they can tell."""
        return None if self.f1 is None else self.baselines.get(name)

    def as_json(self) -> dict[str, Any]:
        """Return it under the names that the command promises."""
        held_out, measured = self.held_out, None
        if held_out is not None:
            measured = {
                "f1": None if self.f1 is None else round(self.f1, 4),
                "precision": round(held_out.precision, 4),
                "recall": round(held_out.recall, 4),
                "n": held_out.tp + held_out.fp + held_out.fn + held_out.tn,
            }
        return {
            "given_true": self.given_true,
            "given_false": self.given_false,
            "completed": self.completed,
            "rules": self.rules,
            "held_out": measured,
            "baselines": {
                name: round(f1, 4)
                for name in self.baselines
                if (f1 := self.rival(name)) is not None
            },
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
        held_out = [
            verdict.held_out for verdict in self.fluents.values() if verdict.held_out is not None
        ]
        return Confusion.total(held_out).f1 if held_out else None

    @property
    def macro(self) -> float | None:
        """The mean of the fluents' held-out F1, where there was a true label to find."""
        return _mean([verdict.f1 for verdict in self.fluents.values()])

    @property
    def without_rules(self) -> list[str]:
        """The fluents that no rule is about, although something was learned."""
        return [name for name, verdict in self.fluents.items() if verdict.rules == 0]

    def as_json(self) -> dict[str, Any]:
        """Return it under the names that the command promises."""
        means = {"micro": self.micro, "macro": self.macro}
        return {
            "fluents": {name: verdict.as_json() for name, verdict in self.fluents.items()},
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
            f1s = ", ".join(f"{f1:.3f}" for f1 in self.folds)
            yield f"held out fold by fold: {f1s}; unseen data may lie as far apart, or further"
        unseen = [name for name, v in self.fluents.items() if v.held_out and v.f1 is None]
        if unseen:
            yield f"no true label was held out, so that nothing is known of: {', '.join(unseen)}"
        reasons: dict[tuple[str, str], list[str]] = {}
        for name, verdict in self.fluents.items():
            reasons.setdefault((verdict.chosen, verdict.why), []).append(name)
        for (chosen, why), names in reasons.items():
            whom = f"{', '.join(names)}: " if len(reasons) > 1 else ""
            about = whom if chosen == ALONE else f"{whom}completed by "
            yield f"{about}{chosen} ({why})" if why else f"{about}{chosen}"
        for name, verdict in self.fluents.items():
            if verdict.warnings and verdict.warnings != ("no rules",):
                yield f"{name}: {', '.join(verdict.warnings)}"
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
        return dict.fromkeys(
            name for verdict in self.fluents.values() for name in verdict.baselines
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each fluent, then all of them together and their means; for a table."""
        rows: list[dict[str, Any]] = [
            {
                "fluent": name,
                "true": verdict.given_true,
                "false": verdict.given_false,
                "completed": verdict.completed,
                "rules": verdict.rules,
                _HELD_OUT: verdict.f1,
                **{rival: verdict.rival(rival) for rival in self._rivals()},
                "chosen": verdict.chosen,
            }
            for name, verdict in self.fluents.items()
        ]
        if len(rows) > 1 and self.micro is not None:
            means = {name: _mean([row[name] for row in rows]) for name in self._rivals()}
            rows.append({**dict.fromkeys(rows[0]), "fluent": "all", _HELD_OUT: self.micro})
            rows.append({**rows[-1], "fluent": "mean", _HELD_OUT: self.macro, **means})
        columns = [
            name for name in (rows[0] if rows else ()) if any(r[name] is not None for r in rows)
        ]
        return [{name: row[name] for name in columns} for row in rows]


def _mean(values: Sequence[float | None]) -> float | None:
    given = [value for value in values if value is not None]
    return sum(given) / len(given) if given else None


def _cell(value: object) -> str:
    text = cell_text(value)
    long = isinstance(value, str) and len(text) > _LONGEST
    return f"{text[: _LONGEST - 3]}..." if long else text
