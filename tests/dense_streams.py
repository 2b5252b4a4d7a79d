"""Random streams in which much happens: most query atoms have evidence, and patterns recur."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from splice.completion.completer import SupervisionCompleter
from splice.completion.profile import Profile
from splice.completion.result import Completion
from splice.io.lomrf.modes import parse_modes
from splice.logic.domain import Domain
from splice.logic.syntax import parse_atom
from splice.stream.batch import MicroBatch, TimePoints, batches
from splice.stream.source import MemorySource
from splice.stream.table import NO_TIME
from splice.stream.vocabulary import Kind
from streams import CLOSE, MEET, PERSON, WALKING, Row, table_of

EXIT = Kind(parse_atom("happensAt(exit(V0),V1)"), ("id", "time"), 1)
RUNNING = Kind(parse_atom("happensAt(running(V0),V1)"), ("id", "time"), 1)

MODES: Final = """
modeP(2, Happens(-,+)) modeP(1, Close(.,.,#n.,+)) modeP(0, HoldsAt(+,+)) modeP(1, Person(.))
modeF(2, walking(.)) modeF(2, exit(.)) modeF(0, running(.)) modeF(1, meet(.,.))
"""
"""Modes for these streams: distances stay constants, nobody sees who runs."""

DOMAIN: Final = Domain(modes=parse_modes(MODES))

_EVENTS = st.sampled_from([(WALKING,), (WALKING,), (EXIT,), (WALKING, EXIT), (RUNNING,), ()])
_DISTANCES = st.sampled_from([("25", "34"), ("34",), ("34",), (), ()])


@st.composite
def dense_rows(draw: st.DrawFn, labels: tuple[int, ...] = (1, -1, 0, 0)) -> list[Row]:
    """Return one or two sequences of two or three persons, ordered, some time-points left out."""
    found: list[Row] = []
    for sequence in range(draw(st.integers(1, 2))):
        people = draw(st.sampled_from(["AB", "ABC"]))
        pairs = [(one, two) for one in people for two in people if one != two]
        known = draw(st.lists(st.sampled_from(people), max_size=1))
        found += [(sequence, NO_TIME, PERSON, (person,), 1) for person in known]
        for time in draw(st.lists(st.integers(0, 12), min_size=2, max_size=6, unique=True)):
            for person in people:
                found += [(sequence, time, kind, (person,), 1) for kind in draw(_EVENTS)]
            for one, two in pairs:
                if one < two:
                    found += [
                        (sequence, time, CLOSE, (one, two, far), 1) for far in draw(_DISTANCES)
                    ]
                if draw(st.integers(0, 5)):
                    truth = draw(st.sampled_from(labels))
                    found.append((sequence, time, MEET, (one, two), truth))
    return sorted(found, key=lambda row: row[:2])


def cut(rows: list[Row], count: int = 3, domain: Domain = DOMAIN) -> list[MicroBatch]:
    """Return rows as batches of a few time-points."""
    return list(batches(MemorySource(table_of(rows), domain), TimePoints(count)))


def completed(stream: list[MicroBatch], chosen: Profile) -> list[Completion]:
    """Return what becomes of each batch, online."""
    completer = SupervisionCompleter(chosen)
    return [completer.complete(batch) for batch in stream]
