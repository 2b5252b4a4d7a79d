"""How time grows along each axis of the data: entities, fluents, event types, patterns, sequences.

Each axis is doubled three times while the others stay as they are. What is told is the processor time at n, 2n, 4n
and 8n, and the last over eight times the first: 1 is linear, less is better than that.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import report
from splice.completion.profile import PROFILES
from splice.inputs.open import InputOptions
from splice.pipeline.complete import complete
from splice.pipeline.learned import LearnOptions
from splice.pipeline.run import learn

BASE = {"entities": 6, "fluents": 2, "events": 12, "patterns": 40, "sequences": 4}
POINTS = 150
LABELLED = 0.3


def write(folder: Path, axis: dict[str, int]) -> int:
    """Write events and labels; return how many query atoms there are."""
    chance = random.Random(7)
    kinds, entities, fluents = axis["events"], axis["entities"], axis["fluents"]
    # A pattern is a set of events that happen to an entity at once.
    sets = [
        [k for k in range(kinds) if (number + 1) >> (k % 16) & 1]
        for number in range(axis["patterns"])
    ]
    sets = [one or [number % kinds] for number, one in enumerate(sets)]
    events, labels = ["sequence,time,event,arg1"], ["sequence,fluent,time,label"]
    for sequence in range(axis["sequences"]):
        held = [[False] * fluents for _ in range(entities)]
        for point in range(POINTS):
            for entity in range(entities):
                seen = sets[chance.randrange(len(sets))]
                events += [f"s{sequence},{point},e{k},x{entity}" for k in seen]
                for fluent in range(fluents):
                    truth = "true" if held[entity][fluent] else "false"
                    said = truth if chance.random() < LABELLED else ""
                    labels.append(f"s{sequence},f{fluent}(x{entity}),{point},{said}")
                    held[entity][fluent] = fluent % kinds in seen
    folder.mkdir()
    (folder / "events.csv").write_text("\n".join(events) + "\n", "utf-8")
    (folder / "labels.csv").write_text("\n".join(labels) + "\n", "utf-8")
    return len(labels) - 1


def measured(folder: Path) -> dict[str, float]:
    """Return the processor time of completing and of learning."""
    options, found = InputOptions(), {}
    begun = time.process_time()
    complete(str(folder), options, PROFILES["default"])
    found["complete"] = time.process_time() - begun
    begun = time.process_time()
    learn(str(folder), options, LearnOptions())
    found["learn"] = time.process_time() - begun
    return found


def main(doublings: int = 3) -> None:
    rows = []
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        write(home / "warm", BASE)
        measured(home / "warm")  # what is compiled and loaded once
        for axis, least in BASE.items():
            for power in range(doublings + 1):
                folder = home / f"{axis}{power}"
                atoms = write(folder, {**BASE, axis: least << power})
                rows.append({"axis": axis, "times": 1 << power, "atoms": atoms, **measured(folder)})
    report({"rows": rows})


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
