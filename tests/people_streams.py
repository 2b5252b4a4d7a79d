"""Small random streams of people, as learners see them: events, facts, labels, and gaps."""

from __future__ import annotations

import random
from collections.abc import Iterator

from splice.io.lomrf.modes import parse_modes
from splice.logic.domain import Domain
from splice.logic.syntax import parse_atom
from splice.stream.table import NO_TIME
from splice.stream.vocabulary import Kind
from streams import CLOSE, MEET, WALKING, Row

ACTIVE = Kind(parse_atom("happensAt(active(V0),V1)"), ("id", "time"), 1)
TALK = Kind(parse_atom("happensAt(talk(V0,V1),V2)"), ("id", "id", "time"), 2)
INSIDE = Kind(parse_atom("inside(V0,V1,V2)"), ("id", "area", "time"), 2)
FRIEND = Kind(parse_atom("friend(V0,V1)"), ("id", "id"), None)
MOVE = Kind(parse_atom("holdsAt(move(V0,V1),V2)"), ("id", "id", "time"), 2)

DOMAIN = Domain(modes=parse_modes("modeP(1, Close(.,.,#.,+)) modeP(1, Inside(.,.,+))"))
PEOPLE = ("A", "B", "C")


def window(seed: int) -> list[Row]:
    """A few people at a few time-points, with gaps; not every pair is asked for at every point."""
    rng = random.Random(seed)
    found: list[Row] = []
    for sequence in range(rng.randint(1, 2)):
        times = sorted(rng.sample(range(14), rng.randint(1, 8)))
        asked = [(k, (a, b)) for k in (MEET, MOVE) for a in PEOPLE for b in PEOPLE]
        asked = rng.sample([x for x in asked if x[1][0] != x[1][1] or rng.random() < 0.2], 6)
        facts = [(a, b) for a in PEOPLE for b in PEOPLE if rng.random() < 0.3]
        found += [(sequence, NO_TIME, FRIEND, pair, 1) for pair in facts]
        label = {pair: rng.choice((1, -1)) for pair in asked}
        for time in times:
            found += [(sequence, time, *event, 1) for event in _events(rng)]
            if rng.random() < 0.3:
                found.append((sequence, time, CLOSE, ("A", "B", "34"), -1))
            for pair in asked:
                label[pair] *= rng.choice((1, 1, -1))
                if rng.random() < 0.9:
                    known = label[pair] if rng.random() < 0.8 else 0
                    found.append((sequence, time, *pair, known))
    distinct = {row[:4]: row for row in found}
    return sorted(distinct.values(), key=lambda row: row[:2])


def _events(rng: random.Random) -> Iterator[tuple[Kind, tuple[str, ...]]]:
    for a in PEOPLE:
        yield from ((kind, (a,)) for kind in (WALKING, ACTIVE) if rng.random() < 0.4)
        if rng.random() < 0.4:
            yield INSIDE, (a, rng.choice(("hall", "yard")))
        for b in PEOPLE:
            if rng.random() < 0.2:
                yield TALK, (a, b)
            if rng.random() < 0.5:
                yield CLOSE, (a, b, rng.choice(("25", "34")))
