"""How true the verdict is: held-out F1 beside the F1 of the same rules on sequences that nobody has seen.

``python -m benchmarks.verdict`` simulates squares and prints a row for each, and the mean distance of
the two. ``python -m benchmarks.verdict TRAIN TEST`` does the same for data of one's own: TRAIN has
some labels, TEST others of the same kind.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TypeAlias

import splice
from splice.evaluation.recognition import score
from splice.events.recognise import recognise
from splice.inputs.open import Queries, open_input
from splice.lab.plaza import make_plaza
from splice.stream.mask import KeepBatches, MaskedSource
from splice.stream.source import Source

SEEDS = (1, 2, 3, 4)
LEVELS = (10, 40)
UNSEEN = 100
"""The seed of the square that is recognised lies so far from that of the square that is learned from."""

Case: TypeAlias = tuple[str, str | Source, Source]


def squares() -> Iterator[Case]:
    """Yield squares of which a part is labelled, each with another one to be recognised."""
    for seed in SEEDS:
        test = make_plaza(sequences=3, seed=seed + UNSEEN).source
        for level in LEVELS:
            square = make_plaza(sequences=3, seed=seed).source
            yield f"plaza {seed}, {level} %", MaskedSource(square, KeepBatches(level), seed), test


def verdicts(case: Case) -> tuple[float | None, float]:
    """Return the held-out F1 of what is learned, and that on unseen sequences."""
    _, train, test = case
    learned = splice.learn(train)
    return learned.verdict.micro, score(test, recognise(learned.theory, test)).total.f1


def main(names: list[str]) -> None:
    """Print a table in Markdown."""
    cases: list[Case] = []
    if names:
        train, unseen = names
        cases.append((train, train, open_input(unseen, queries=Queries.LABELLED)))
    apart = []
    print("| data | held out | unseen | distance |\n|---|---|---|---|")
    for case in cases or squares():
        held, found = verdicts(case)
        told = "-" if held is None else f"{held:.3f}"
        print(f"| {case[0]} | {told} | {found:.3f} |", end=" ", flush=True)
        print("- |" if held is None else f"{held - found:+.3f} |", flush=True)
        apart += [] if held is None else [abs(held - found)]
    if apart:
        near = sum(distance <= 0.05 for distance in apart)
        mean = sum(apart) / len(apart)
        print(f"\nmean distance {mean:.3f}; within .05: {near} of {len(apart)}")


if __name__ == "__main__":
    main(sys.argv[1:])
