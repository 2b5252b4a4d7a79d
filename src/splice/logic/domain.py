"""A domain: the schema, the modes and what is to be learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from splice.logic.modes import Modes
from splice.logic.schema import HOLDS_AT, Schema, Signature

DEFAULT_QUERY: Final = Signature(HOLDS_AT, 2)


@dataclass(frozen=True)
class Domain:
    """What the atoms of a stream mean.

    ``query`` is the predicate whose atoms are labelled, learned and recognised; ``fluents``
    narrows it to some functors (none: all). With ``closed`` false the schema was not given
    and grows with the data: a predicate cannot be unknown then. A pair is two: where instances of
    fluents are enumerated, arguments of one type differ, unless ``self_pairs`` says otherwise.
    """

    name: str = ""
    schema: Schema = Schema()
    modes: Modes = Modes()
    query: Signature = DEFAULT_QUERY
    fluents: tuple[str, ...] = ()
    closed: bool = False
    self_pairs: bool = False
