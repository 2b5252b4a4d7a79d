"""What is learned does not depend on the order of rows inside a time-point, nor on names.

Vocabulary, patterns and ground atoms are numbered as they come; where scores are equal, one of them
must be taken by what it says, never by such a number.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from people_streams import DOMAIN, window
from splice.completion.completer import SupervisionCompleter
from splice.io.lomrf.modes import parse_modes
from splice.lab.plaza import make_plaza
from splice.learners.oled.learner import Oled
from splice.logic.domain import Domain
from splice.logic.syntax import parse_atom
from splice.logic.terms import Constant, Function
from splice.patterns.numeric import Thresholds
from splice.patterns.transitions import Reader
from splice.pipeline.splice import Splice
from splice.stream.batch import TimePoints, batches
from splice.stream.mask import KeepAtoms, MaskedSource
from splice.stream.source import MemorySource, collect
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Kind
from streams import Row, table_of
from test_learners import MAKERS, Make

every = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())

PEOPLE = {"A": "25", "B": "-7", "C": "it's"}
"""Other names, one of them that of a distance."""


@cache
def people(seed: int) -> MemorySource:
    """People who meet in a square."""
    made = make_plaza(sequences=2, people=4, frames=150, seed=seed).source
    return MemorySource(made.table, replace(made.domain, fluents=("meet",)))


def rows_of(table: AtomTable) -> list[Row]:
    """Return a table as rows; a sequence is its number."""
    found: list[Row] = []
    for i in range(len(table)):
        kind = table.vocabulary.kinds[int(table.kind[i])]
        names = tuple(table.vocabulary.constants.names(table.args[i, : kind.arity].tolist()))
        found.append((int(table.sequence[i]), int(table.time[i]), kind, names, int(table.truth[i])))
    return found


def rearranged(
    source: MemorySource, seed: int, type_name: str = "", names: Mapping[str, str] | None = None
) -> MemorySource:
    """Return a source with its time-points shuffled, and constants of a type renamed, if asked for.

    The vocabulary is new: all that is numbered by first appearance gets other numbers.
    """
    rng, names = random.Random(seed), names or {}
    rows = [
        (s, t, kind, _renamed(args, kind.arg_types, type_name, names), truth)
        for s, t, kind, args, truth in rows_of(source.table)
    ]
    rng.shuffle(rows)
    rows.sort(key=lambda row: row[:2])
    return replace(source, table=table_of(rows))


def _renamed(
    args: tuple[str, ...], types: tuple[str, ...], type_name: str, names: Mapping[str, str]
) -> tuple[str, ...]:
    return tuple(
        names.get(arg, arg) if own == type_name else arg
        for arg, own in zip(args, types, strict=True)
    )


def numbered(source: MemorySource) -> dict[str, str]:
    """Return numbers as other names, in another order."""
    names = list(source.vocabulary.constants)
    return {name: str(7 * i % len(names) + 1) for i, name in enumerate(sorted(names))}


def learned(make: Make, source: MemorySource, size: int = 25) -> str:
    """The theory of a stream as it is written, weights and all."""
    return str(make().fit(batches(source, TimePoints(size))).theory_)


@settings(max_examples=4)
@given(st.integers(0, 2**32), st.integers(0, 2**32), st.integers(1, 5))
@pytest.mark.parametrize("name", ["oled-classic", "oled-eager", "osla-weight"])
def test_odd_streams_shuffled_and_renamed(name: str, seed: int, order: int, size: int) -> None:
    source = MemorySource(table_of(window(seed)), DOMAIN)
    expected = learned(MAKERS[name], source, size)
    assert learned(MAKERS[name], rearranged(source, order), size) == expected
    other = rearranged(source, order, "id", PEOPLE)
    assert learned(MAKERS[name], other, size) == expected


@every
@pytest.mark.parametrize("seed", [0, 2])
def test_a_plaza_shuffled_and_renamed(make: Make, seed: int) -> None:
    source = people(seed)
    other = rearranged(source, 1, "id", numbered(source))
    assert learned(make, other) == learned(make, source)


def completed(source: MemorySource, names: Mapping[str, str]) -> dict[str, tuple[float, int]]:
    """The value and the label of each query atom, under other names."""
    completer, found = SupervisionCompleter(), {}
    for done in completer.completions(batches(source, TimePoints(25))):
        batch = done.batch
        for row, atom in enumerate(done.batch.queries.atoms()):
            fluent, time = atom.args
            assert isinstance(fluent, Function)
            pair = [names.get(x.name, x.name) for x in fluent.args if isinstance(x, Constant)]
            told = f"{batch.table.sequence[0]} {pair} {time}"
            found[told] = (round(float(done.values[row]), 9), int(done.labels[row]))
    return found


def test_completion_and_what_is_learned_from_it() -> None:
    whole = people(1)
    source = MemorySource(collect(MaskedSource(whole, KeepAtoms(10))), whole.domain)
    names = numbered(source)
    other = rearranged(source, 3, "id", names)
    back = {new: old for old, new in names.items()}
    assert completed(other, back) == completed(source, {})
    theories = [
        str(Splice(Oled(), SupervisionCompleter()).fit(batches(s, TimePoints(25))).theory_)
        for s in (source, other)
    ]
    assert theories[0] == theories[1] != ""


# the parts


SPEED = Kind(parse_atom("happensAt(speed(V0,V1),V2)"), ("id", "number", "time"), 2)
FAST = Kind(parse_atom("holdsAt(fast(V0),V1)"), ("id", "time"), 1)


def speeds(order: int) -> MemorySource:
    """Many measured numbers a time-point, more than thresholds are chosen from."""
    values, rng = random.Random(1), random.Random(order)
    rows: list[Row] = []
    for time in range(3):
        some: list[Row] = [
            (0, time, SPEED, (f"v{i}", str(values.randint(0, 99))), 1) for i in range(200)
        ]
        rng.shuffle(some)
        rows += [(0, time, FAST, ("v0",), 1), *some]
    domain = Domain(modes=parse_modes("modeP(1, Happens(-,+)) modeF(1, speed(.,n.))"))
    return MemorySource(table_of(rows), domain)


def test_thresholds_are_chosen_from_the_same_values() -> None:
    found = []
    for order in (1, 2):
        source = speeds(order)
        thresholds = Thresholds(source.domain, source.vocabulary)
        for batch in batches(source, TimePoints(3)):
            thresholds.expand(batch)
        found.append([entry["chosen"] for entry in thresholds.to_state()])
    assert found[0] == found[1]
    assert found[0][0]


def test_patterns_are_numbered_by_what_they_say() -> None:
    for seed in range(10):
        source = MemorySource(table_of(window(seed)), DOMAIN)
        texts = []
        for own in (source, rearranged(source, seed, "id", PEOPLE)):
            reader = Reader(own.domain, own.vocabulary)
            for batch in batches(own, TimePoints(4)):
                reader.read(batch)
            texts.append([str(pattern) for pattern in reader.patterns.store.patterns])
        assert texts[0] == texts[1]
