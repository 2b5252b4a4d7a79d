"""What the bounds of OLED's searches cost: F1 of unseen sequences with other values of them.

`python -m benchmarks.bounds` takes four simulated squares of six sequences, learns from three of them with all
labels, and prints the F1 of the other three for each value, and the mean.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

from splice.evaluation.confusion import Confusion
from splice.lab.plaza import make_plaza
from splice.learners.oled import grow, search, selection, theory
from splice.learners.oled.learner import Oled
from splice.learners.oled.options import Selection
from splice.learners.predict import predict
from splice.stream.batch import MicroBatch, TimePoints, batches, whole_sequences

SEEDS = (1, 2, 3, 4)

SEARCHED: tuple[tuple[ModuleType, str, tuple[float, ...]], ...] = (
    (grow, "BEAM", (2, 4, 16)),
    (grow, "KEPT", (2, 3, 12)),
    (search, "_CONDITIONS", (20, 40, 120)),
    (search, "_WIDER", (0, 12, 48)),
    (selection, "PAIRED", (6, 12, 48)),
    (selection, "CLIMBS", (1, 3, 12)),
    (selection, "ALIKE", (0.25, 0.75)),
)
DECIDED = (*SEARCHED[4:], (theory, "_PROMISING", (0, 2, 12)))

Square = tuple[list[MicroBatch], list[MicroBatch]]


def square(seed: int) -> Square:
    """Return the batches of three sequences, and three other sequences as a whole."""
    stream = list(batches(make_plaza(sequences=6, seed=seed).source, TimePoints(25)))
    names = sorted({batch.sequence for batch in stream})
    seen = [batch for batch in stream if batch.sequence in names[:3]]
    unseen = (batch for batch in stream if batch.sequence in names[3:])
    return seen, list(whole_sequences(unseen))


def unseen_f1(squares: list[Square], how: Selection) -> list[float]:
    """Return the F1 of the unseen sequences of each square, by rules learned from the others."""
    scores = []
    for seen, unseen in squares:
        rules = Oled(selection=how).fit(seen).theory_
        counts = (Confusion.of(batch.labels, predict(rules, batch)) for batch in unseen)
        scores.append(Confusion.total(counts).f1)
    return scores


def show(name: str, scores: list[float]) -> None:
    """Print a line of the table."""
    each = " ".join(f"{f1:.3f}" for f1 in scores)
    print(f"{name:32} {each}   mean {np.mean(scores):.3f}", flush=True)


def main() -> None:
    """Print the table."""
    squares = [square(seed) for seed in SEEDS]
    for how, bounds in ((Selection.SEARCH, SEARCHED), (Selection.EFFECT, DECIDED)):
        show(f"{how.value}, as it is", unseen_f1(squares, how))
        for module, name, values in bounds:
            usual = getattr(module, name)
            for value in values:
                setattr(module, name, value)
                show(f"{how.value}, {name} {value:g} for {usual:g}", unseen_f1(squares, how))
            setattr(module, name, usual)


if __name__ == "__main__":
    main()
