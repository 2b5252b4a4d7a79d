"""A domain: the schema, the modes and what is to be learned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from splice.errors import SpliceError
from splice.logic.modes import Modes
from splice.logic.schema import HOLDS_AT, Schema, Signature

DEFAULT_QUERY: Final = Signature(HOLDS_AT, 2)


class Holds(Enum):
    """From when on a fluent holds that is initiated at a time-point, and does not that is terminated."""

    AFTER = "after"
    """From the next time-point on: the discrete Event Calculus of the paper, of LoMRF and of RTEC."""
    FROM = "from"
    """From the time-point itself on: what is seen at a point says what holds at that point."""


@dataclass(frozen=True, slots=True)
class Clock:
    """How time goes on in some data.

    ``step`` is the distance between time-points where they lie on a grid, at the multiples of the
    step; None: they are wherever something is observed. ``holds`` says when changes count;
    None: nobody says it, and a theory that does is taken at its word, else it is after.
    """

    step: int | None = None
    holds: Holds | None = None

    def __post_init__(self) -> None:
        if self.step is not None and self.step < 1:
            raise SpliceError(f"the step between time-points must be positive, not {self.step}")


@dataclass(frozen=True, slots=True)
class Measure:
    """A measured argument, and the thresholds it is compared with.

    ``template`` is the atom with a variable at each leaf (``happensAt(speed(V0,V1),V2)``), ``leaf`` the number of
    the argument among its leaves without the time, ``limits`` are the thresholds as they are written.
    """

    template: str
    leaf: int
    limits: tuple[str, ...]


@dataclass(frozen=True)
class Domain:
    """What the atoms of a stream mean.

    Parameters
    ----------
    name
        What it is called.
    schema
        Types, predicates and functions.
    modes
        What learners and completion may look at.
    query
        The predicate whose atoms are labelled, learned and recognised.
    fluents
        The functors among its first arguments that count; none: all.
    closed
        Whether the schema is all there is. Where it is not, it grows with the data, and no
        predicate can be unknown.
    self_pairs
        Whether somebody is paired with themselves where instances of fluents are enumerated.
        Otherwise arguments of one type differ.
    exclusive
        Whether of the fluents about the same entities one holds at a time; None: nobody says it.
    clock
        How time goes on.
    measures
        The arguments that are measured numbers, where their thresholds are known: then atoms say
        which of them they reach, and the numbers themselves are not looked at.
    """

    name: str = ""
    schema: Schema = Schema()
    modes: Modes = Modes()
    query: Signature = DEFAULT_QUERY
    fluents: tuple[str, ...] = ()
    closed: bool = False
    self_pairs: bool = False
    exclusive: bool | None = None
    clock: Clock = Clock()
    measures: tuple[Measure, ...] = ()

    def holding(self, holds: Holds | None) -> Domain:
        """Return the domain with when changes count, where it does not say that itself.

        >>> Domain().holding(Holds.FROM).clock.holds.value
        'from'
        >>> Domain(clock=Clock(holds=Holds.AFTER)).holding(Holds.FROM).clock.holds.value
        'after'
        """
        if holds is None or self.clock.holds is not None:
            return self
        return replace(self, clock=replace(self.clock, holds=holds))
