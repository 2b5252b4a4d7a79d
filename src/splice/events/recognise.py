"""Recognition: what holds in some data, according to a theory; the one front door.

:func:`recognise` looks at the theory and decides how it is worked out: rules without weights by
crisp recognition, weighted ones by the most probable state. Everybody asks here: the command,
learners that predict, experiments. The answer is of one type, and a table when asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from splice.arrays import Floats
from splice.errors import SpliceError, UnknownName
from splice.events.crisp.intervals import Intervals
from splice.events.crisp.program import Simultaneous, compile_program
from splice.events.crisp.recognition import CrispRecognition, Recognised
from splice.events.crisp.recognition import recognise as recognise_source
from splice.events.crisp.windows import recognise_windows
from splice.events.fluents import fluent_of
from splice.events.points import Observed, Successor
from splice.logic.domain import Domain
from splice.logic.syntax import ground_text, name_text
from splice.logic.terms import Term
from splice.logic.theory import Theory
from splice.stream.source import MemorySource, RedefinedSource, Source, check_source, collect
from splice.stream.table import AtomTable

if TYPE_CHECKING:
    from splice.events.weighted.inference import Inference

INTERVAL_SCHEMA: Final = {
    "sequence": pl.String,
    "fluent": pl.String,
    "start": pl.Int64,
    "end": pl.Int64,
}
"""The columns of a table of intervals; probabilities, where asked for, are a fifth."""


class Scope(Enum):
    """What recognition is about."""

    EVENTS = "events"
    """What follows from events and theory alone; labels bring neither entities nor time-points."""
    QUERIES = "queries"
    """The query atoms of the data: their times are time-points, too. Their labels are not read."""


@dataclass(frozen=True, eq=False)
class Recognition:
    """What holds, and when.

    Parameters
    ----------
    parts
        The answer, some whole sequences at a time, in the order of the data.
    defined
        The names of the fluents that the theory speaks of.
    targets
        The fluents that the domain asks for; none: all.
    inference
        How the most probable state was found, where the theory has weights.
    probabilities
        Of each interval of each part, where asked for.
    """

    parts: tuple[Recognised, ...]
    defined: frozenset[str] = frozenset()
    targets: tuple[str, ...] = ()
    inference: Inference | None = None
    probabilities: tuple[Floats, ...] | None = None

    def __len__(self) -> int:
        return sum(len(part.intervals.key) for part in self.parts)

    def __repr__(self) -> str:
        how = "most probable" if self.inference is not None else "crisp"
        names = ", ".join(sorted(self.defined)) or "nothing"
        return f"<Recognition of {names}: {len(self):,} intervals, {how}>"

    @property
    def shown(self) -> frozenset[str]:
        """The fluents that a table shows unless others are asked for: the domain's, else all."""
        return self.defined.intersection(self.targets) or self.defined

    def intervals(self, fluents: Iterable[str] | None = None) -> pl.DataFrame:
        """Return a table: ``sequence, fluent, start, end`` and, where asked for, ``probability``.

        Parameters
        ----------
        fluents
            The names of the fluents to tell; those that the domain asks for if not given, and all
            if it asks for none.
        """
        names = frozenset(fluents or ()) or self.shown
        for name in sorted(names - self.defined):
            if self.defined:  # a theory without rules speaks of nothing, and that is no mistake
                raise UnknownName("fluent", name, self.defined)
        return interval_frame(
            self.parts, self.probabilities, keep=lambda term: fluent_name(term) in names
        )

    def _repr_html_(self) -> str:
        return self.intervals()._repr_html_()


def recognise(
    theory: Theory,
    data: Source | AtomTable,
    domain: Domain | None = None,
    *,
    window: int | None = None,
    step: int | None = None,
    probabilities: bool = False,
    simultaneous: Simultaneous = Simultaneous.TERMINATE,
    successor: Successor | None = None,
    given: Iterable[str] = (),
    scope: Scope = Scope.EVENTS,
) -> Recognition:
    """Return what holds in some data, according to a theory.

    Rules without weights are crisp; of weighted theories the most probable state is taken. A
    theory without rules says that nothing holds.

    Parameters
    ----------
    theory
        Rules, or weighted rules and formulas.
    data
        A source, or a table of whole sequences, ordered by sequence and time.
    domain
        What the atoms of a table mean; a source says it itself.
    window, step
        Work in windows of so many units of time that move by so many (default: by the whole
        window); only without weights.
    probabilities
        Add the probability of each interval; only with weights.
    simultaneous
        What wins where a fluent is initiated and terminated at once; weights decide it themselves.
    successor
        How time goes on: ``Step`` or ``Observed``. Default: as the theory says, else
        from one observed time-point to the next.
    given
        Names of fluents that rules ask for and none defines: the labels of the data say them.
    scope
        Whether events alone count, or the query atoms of the data are asked about.

    Examples
    --------
    >>> from splice.inputs.open import open_input
    >>> from splice.inputs.theories import load_theory
    >>> recognise(load_theory("caviar-meet"), open_input("plaza")).intervals().columns
    ['sequence', 'fluent', 'start', 'end']
    """
    lengths: dict[str, object] = {"window": window, "step": step}
    for name, length in lengths.items():
        if length is not None and (not isinstance(length, int | np.integer) or length < 1):
            raise SpliceError(f"{name} must be a number of units of time, not {length!r}")
    if step is not None and window is None:
        raise SpliceError("a step moves a window, and there is none", "say the window, too")
    source = MemorySource(data, domain or Domain()) if isinstance(data, AtomTable) else data
    check_source(source)
    if theory.holds is not None:
        source = RedefinedSource(source, partial(Domain.holding, holds=theory.holds))
    if not len(theory):
        for _ in source.chunks():  # what is wrong with the data is said all the same
            pass
        return Recognition((), probabilities=() if probabilities else None)
    if theory.is_crisp:
        if probabilities:
            raise SpliceError("the theory has no weights, so nothing has a probability")
        return _crisp(theory, source, window, step, simultaneous, successor, given, scope)
    if window is not None:
        raise SpliceError("windows are for theories without weights", "leave the window out")
    return _weighted(theory, source, successor, given, scope, probabilities=probabilities)


def _crisp(
    theory: Theory,
    source: Source,
    window: int | None,
    step: int | None,
    simultaneous: Simultaneous,
    successor: Successor | None,
    given: Iterable[str],
    scope: Scope,
) -> Recognition:
    program = compile_program(
        theory, source.domain, simultaneous=simultaneous, successor=successor, given=given
    )
    parts: Iterable[Recognised]
    if scope is Scope.QUERIES:
        parts = [CrispRecognition(program, collect(source), source.domain).run()]
    elif window is None:
        parts = recognise_source(program, source)
    else:
        parts = recognise_windows(program, source, window, step or window)
    # Fluents that never hold are let go at once: memory is bounded by what is found.
    holding = tuple(map(_holding, parts))
    names = frozenset(d.fluent.name for d in program.definitions)
    return Recognition(holding, names, source.domain.fluents)


def _weighted(
    theory: Theory,
    source: Source,
    successor: Successor | None,
    given: Iterable[str],
    scope: Scope,
    *,
    probabilities: bool,
) -> Recognition:
    from splice.events.weighted.inference import (  # noqa: PLC0415  (numba: only where needed)
        Ask,
        infer,
        infer_events,
    )

    ask = Ask.MARGINALS if probabilities else Ask.MAP
    successor = successor or Observed(source.domain.clock.step or 1)
    if scope is Scope.QUERIES:
        inference = infer(theory, source, ask=ask, successor=successor)
    else:
        inference = infer_events(theory, source, given=given, ask=ask, successor=successor)
    part = Recognised(inference.fluents, inference.intervals)
    return Recognition(
        (part,),
        frozenset(fluent_name(part.fluent(row)) for row in range(len(part.fluents))),
        source.domain.fluents,
        inference,
        (inference.interval_probability,) if probabilities else None,
    )


def _holding(part: Recognised) -> Recognised:
    """Return the ground fluents that hold at all."""
    rows, key = np.unique(part.intervals.key, return_inverse=True)
    intervals = Intervals(
        key.reshape(-1).astype(np.int64), part.intervals.start, part.intervals.end
    )
    return Recognised(part.fluents.take(rows), intervals)


def fluent_name(fluent: Term) -> str:
    """Return the name of a fluent, whatever its arguments and its value."""
    signature = fluent_of(fluent)
    return signature.name if signature else str(fluent)


def interval_frame(
    recognised: Iterable[Recognised],
    probabilities: Sequence[Floats] | None = None,
    *,
    keep: Callable[[Term], bool] = lambda _: True,
) -> pl.DataFrame:
    """Return intervals as a table, ordered by sequence, start and fluent.

    Parameters
    ----------
    recognised
        Parts of what was recognised.
    probabilities
        An array for each part, with the probability of each of its intervals.
    keep
        Chooses among the ground fluents.
    """
    parts = []
    for i, part in enumerate(recognised):
        frame = _frame(part, keep)
        if probabilities is not None:
            frame = frame.with_columns(probability=pl.Series(probabilities[i]))
        parts.append(frame.filter(pl.col("kept")))
    columns = [*INTERVAL_SCHEMA, *(["probability"] if probabilities is not None else [])]
    if not parts:
        return pl.DataFrame(schema={**INTERVAL_SCHEMA, **dict.fromkeys(columns[4:], pl.Float64)})
    return pl.concat(parts).sort("code", "start", "fluent").select(columns)


def _frame(part: Recognised, keep: Callable[[Term], bool]) -> pl.DataFrame:
    """Return the intervals of a part, with the code of their sequence and whether they are kept."""
    rows, which = np.unique(part.intervals.key, return_inverse=True)
    fluents = [part.fluent(int(row)) for row in rows]
    names = part.fluents.vocabulary.sequences
    code = part.fluents.sequence[rows]
    ground = pl.DataFrame(
        {
            "code": code,
            "sequence": pl.Series([name_text(names[int(c)]) for c in code], dtype=pl.String),
            "fluent": pl.Series([ground_text(fluent) for fluent in fluents], dtype=pl.String),
            "kept": pl.Series([keep(fluent) for fluent in fluents], dtype=pl.Boolean),
        }
    )
    times = {"start": part.intervals.start, "end": part.intervals.end}
    return ground[which.reshape(-1)].with_columns(**{n: pl.Series(c) for n, c in times.items()})
