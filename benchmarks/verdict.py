"""How true the verdict is: held-out F1 beside the F1 of the same rules on sequences that nobody has seen.

``python -m benchmarks.verdict`` prints a row for each data set and share of labelled batches, and the mean
distance of the two; ``python -m benchmarks.verdict plaza sea`` does so for some of them. Sequences of *one*
world are split into those that are learned from and those that are not: people of another simulation
differ in ways that no label of these can tell. Between them stands the F1 of the rules on all labels of the
sequences they were learned from: where that is far from the unseen, these sequences are others than those.
``python -m benchmarks.verdict TRAIN TEST`` does the same for data of one's own: TRAIN has some labels, TEST
others of the same kind.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import splice
from splice.errors import SpliceError
from splice.evaluation.recognition import score
from splice.events.recognise import recognise
from splice.inputs.open import Queries, open_input
from splice.lab.maritime import make_maritime
from splice.lab.plaza import make_plaza
from splice.stream.mask import KeepBatches, MaskedSource
from splice.stream.source import MemorySource, Source, collect

LEVELS = (10, 40)
SEEDS = (1, 2, 3, 4, 5)
UNSEEN = 9
"""So many sequences of a square are recognised; three are learned from."""

World: TypeAlias = tuple[str, Source, Source]


def part(source: Source, keep: Callable[[int], bool]) -> MemorySource:
    """Return some sequences of a source, by their numbers."""
    table = collect(source)
    kept = [code for code in range(len(table.vocabulary.sequences)) if keep(code)]
    return MemorySource(table.take(np.flatnonzero(np.isin(table.sequence, kept))), source.domain)


def halves(name: str, source: Source) -> Iterator[World]:
    """Yield every second sequence and the others, and the other way round: one half may be the easier."""
    even, odd = (part(source, lambda code, rest=rest: code % 2 == rest) for rest in (0, 1))
    yield name, even, odd
    yield f"{name}, exchanged", odd, even


def squares() -> Iterator[World]:
    """Yield three sequences of a square, and nine more."""
    for seed in SEEDS:
        square = make_plaza(sequences=3 + UNSEEN, seed=seed).source
        yield f"plaza {seed}", part(square, lambda n: n < 3), part(square, lambda n: n >= 3)


def seas() -> Iterator[World]:
    """Yield half of the pairs of a small sea, and the others."""
    for seed in SEEDS[:4]:
        yield from halves(f"sea {seed}", make_maritime(vessels=24, days=2.3, seed=seed))


def warehouses() -> Iterator[World]:
    """Yield four shifts of the tutorial's warehouse, and eight more."""
    page = Path(__file__).parents[1] / "docs/tutorial/your-own-data.md"
    match = re.search(
        r'title="warehouse.py"\n(.*?)\nwatched = ', page.read_text("utf-8"), re.DOTALL
    )
    assert match
    script: dict[str, Any] = {}
    exec(match[1], script)
    for seed in SEEDS[:3]:
        with tempfile.TemporaryDirectory() as folder:
            days = {f"day {seed}-{n:02d}": (0, 600) for n in range(12)}
            script["write"](f"{folder}/days", days)
            source = open_input(f"{folder}/days")
            four = part(source, lambda n: n < 4), part(source, lambda n: n >= 4)
        yield f"warehouse {seed}", *four


def foreign(name: str) -> Callable[[], Iterator[World]]:
    """Return what yields half of the sequences of a data set that was fetched, and the others."""

    def worlds() -> Iterator[World]:
        try:
            yield from halves(name, open_input(name))
        except SpliceError as error:
            print(f"{name} is left out: {error.message}", file=sys.stderr)

    return worlds


WORLDS: dict[str, Callable[[], Iterator[World]]] = {
    "plaza": squares,
    "sea": seas,
    "warehouse": warehouses,
    **{name: foreign(name) for name in ("occupancy", "skab", "jaad")},
}


def verdicts(train: str | Source, whole: Source | None, unseen: Source) -> list[float | None]:
    """Return the held-out F1 of what is learned, that on all labels of what it is from, and on the unseen."""
    learned = splice.learn(train)

    def f1(source: Source) -> float:
        return score(source, recognise(learned.theory, source)).total.f1

    return [learned.verdict.micro, None if whole is None else f1(whole), f1(unseen)]


def cases(names: list[str]) -> Iterator[tuple[str, str | Source, Source | None, Source]]:
    """Yield what is learned from, the same with all labels where there are more, and what is recognised."""
    if len(names) == 2 and not set(names) & WORLDS.keys():
        yield names[0], names[0], None, open_input(names[1], queries=Queries.LABELLED)
        return
    for name in names or WORLDS:
        for number, (title, train, unseen) in enumerate(WORLDS[name](), 1):
            for level in LEVELS:
                masked = MaskedSource(train, KeepBatches(level), number)
                yield f"{title}, {level} %", masked, train, unseen


def main(names: list[str]) -> None:
    """Print a table in Markdown."""
    apart = []
    print("| data | held out | where learned | unseen | distance |\n|---|---|---|---|---|")
    for title, train, whole, unseen in cases(names):
        shown = verdicts(train, whole, unseen)
        held_out, _, unseen_f1 = shown
        distance = None if held_out is None or unseen_f1 is None else held_out - unseen_f1
        told = " | ".join("-" if f1 is None else f"{f1:.3f}" for f1 in shown)
        print(
            f"| {title} | {told} | {'-' if distance is None else f'{distance:+.3f}'} |", flush=True
        )
        apart += [] if distance is None else [distance]
    if apart:
        near = sum(abs(distance) <= 0.05 for distance in apart)
        means = np.abs(apart).mean(), np.mean(apart)
        print(
            f"\nmean distance {means[0]:.3f} (mean {means[1]:+.3f}); within .05: {near} of {len(apart)}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
