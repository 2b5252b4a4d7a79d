"""Your own distance: when are two situations alike? A class with one method says it.

Here two atoms are alike as soon as they have the same event, whomever it is about.
"""

from dataclasses import dataclass, replace

import polars as pl

import splice
from splice.completion.distance import Distance
from splice.logic.atoms import Atom
from splice.logic.modes import Modes
from splice.logic.terms import Function


@dataclass(frozen=True, slots=True)
class SameSymbols(Distance):
    """All or nothing: the same symbols, or not."""

    def atoms(self, left: Atom, right: Atom, modes: Modes) -> float:
        return 0.0 if symbols(left) == symbols(right) else 1.0


def symbols(atom: Atom) -> list[str]:
    return [atom.predicate, *(term.functor for term in atom.walk() if isinstance(term, Function))]


events = pl.DataFrame(
    [(time, "barks" if time % 20 < 5 else "sleeps", "rex") for time in range(200)],
    schema=["time", "event", "arg1"],
    orient="row",
)
labels = pl.DataFrame(
    {"fluent": "awake(rex)", "start": [0, 5], "end": [5, 20], "label": [True, False]}
)

own = replace(splice.profile("default"), name="mine", distance=SameSymbols())
completed = splice.RuleLearner(completer=own).complete(events, labels)
print(completed.filter(pl.col("label"), ~pl.col("given")).height)
# > 45
