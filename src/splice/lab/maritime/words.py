"""The words of vessel streams: kinds of atoms and constants, and two choices among them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import numpy as np

from splice.arrays import Codes
from splice.errors import UnknownName
from splice.inputs.domains import load_domain
from splice.lab.maritime.positions import CRITICAL
from splice.lab.maritime.sea import AREA_TYPES
from splice.logic.domain import Domain
from splice.logic.modes import Modes
from splice.logic.schema import TIME
from splice.logic.syntax import parse_atom
from splice.stream.vocabulary import Kind, Vocabulary

BANDS: Final = 40
"""Speeds come in bands of one knot; the last one holds everything faster."""

FLUENTS: Final = ("lowSpeed", "stopped", "withinArea")
"""The fluents of the theories that are told as evidence, as predicates with a time."""

TARGETS: Final = ("rendezvous", "pilotOps")
"""What can be labelled: each has a theory that ships under its name."""

_HIDDEN: Final = ("proximity_start", "proximity_end", "entersArea", "leavesArea", *FLUENTS)


class WordChoice(StrEnum):
    """Which atoms a learner sees: those of the 2019 experiments, or areas and fluents, too."""

    Y2019 = "2019"
    FULL = "full"


def word_domain(choice: WordChoice, target: str = "rendezvous") -> Domain:
    """Return the domain of a choice of words: what is not chosen has a recall of 0.

    >>> hidden = word_domain(WordChoice.Y2019).modes
    >>> sorted(mode.signature.name for mode in hidden if not mode.visible)[:3]
    ['coord', 'entersArea', 'holdsAt']
    """
    if target not in TARGETS:
        raise UnknownName("target", target, TARGETS)
    domain = replace(load_domain("rendezvous").domain, fluents=(target,))
    if choice is WordChoice.FULL:
        return domain
    modes = (replace(m, recall=0) if m.signature.name in _HIDDEN else m for m in domain.modes)
    return replace(domain, modes=Modes(tuple(modes)))


@dataclass(frozen=True, eq=False)
class Words:
    """A vocabulary with all kinds of vessel streams, and where their codes are.

    ``critical``, ``bands`` and ``areas`` are codes by number: of the kinds of
    :data:`~.critical.CRITICAL`, and of the constants of speed bands and area types.
    """

    vocabulary: Vocabulary
    kinds: dict[str, int]
    critical: Codes
    bands: Codes
    areas: Codes
    vessels: Codes

    @classmethod
    def of(cls, vessels: Sequence[str], sequences: Iterable[str] = ()) -> Words:
        """Lay out the words for some vessels, whose codes come first."""
        vocabulary = Vocabulary()
        constants = vocabulary.constants
        codes = constants.codes(vessels)
        bands = constants.codes([str(band) for band in range(BANDS)])
        areas = constants.codes(AREA_TYPES)
        vocabulary.sequences.codes(list(sequences))
        kinds = {name: vocabulary.kind(kind) for name, kind in _kinds().items()}
        critical = np.array([kinds[name] for name in CRITICAL], np.int32)
        return cls(vocabulary, kinds, critical, bands, areas, codes)


def _kinds() -> dict[str, Kind]:
    """Return the kinds of all atoms of vessel streams, by the name of the event or predicate."""
    single, pair = ("vessel",), ("vessel", "vessel")
    events = {
        **dict.fromkeys(CRITICAL, single),
        "velocity": ("vessel", "speed"),
        "entersArea": ("vessel", "area"),
        "leavesArea": ("vessel", "area"),
        **dict.fromkeys(("proximity", "proximity_start", "proximity_end"), pair),
    }
    kinds = {
        name: _kind(f"happensAt({name}({_leaves(len(types))}),V{len(types)})", types)
        for name, types in events.items()
    }
    states = {
        "lowSpeed": single,
        "stopped": ("vessel", "where"),
        "withinArea": ("vessel", "area"),
    }
    for name, types in states.items():
        kinds[name] = _kind(f"{name}({_leaves(len(types) + 1)})", types)
    for name in TARGETS:
        kinds[name] = _kind(f"holdsAt({name}(V0,V1),V2)", pair)
    kinds["vesselType"] = Kind(parse_atom("vesselType(V0,V1)"), ("vessel", "kind"), None)
    return kinds


def _kind(text: str, types: tuple[str, ...]) -> Kind:
    return Kind(parse_atom(text), (*types, TIME), len(types))


def _leaves(count: int) -> str:
    return ",".join(f"V{i}" for i in range(count))
