"""How time and memory grow along each axis of the data: entities, fluents, event types, patterns, sequences.

Each axis is doubled three times while the others stay as they are. What is told is the processor time at n, 2n, 4n
and 8n, and the last over eight times the first: 1 is linear, less is better than that. So for memory: the peak beyond
what the process held after a run over a few points, which loads and compiles everything. Each row is a process of its
own, which goes from the smallest input to the largest.

``python -m benchmarks.scaling [POINTS] [AXIS ...] [WORK ...]``: so many time-points in a sequence (default 300: 14,400
query atoms at n), some axes or all, some work (``"learn auto"``) or all.
"""

from __future__ import annotations

import gc
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.measure import in_process, memory_now, peak_since, report
from splice.completion.profile import PROFILES
from splice.inputs.open import InputOptions
from splice.pipeline.complete import complete
from splice.pipeline.learned import LearnOptions
from splice.pipeline.run import learn

BASE = {"entities": 6, "fluents": 2, "events": 12, "patterns": 400, "sequences": 4}
POINTS = 300
LABELLED = 0.3
WARM = 50
"""Time-points of what is run first."""


def write(folder: Path, axis: dict[str, int], points: int = POINTS) -> int:
    """Write events and labels; return how many query atoms there are."""
    chance = random.Random(7)
    kinds, entities, fluents = axis["events"], axis["entities"], axis["fluents"]
    # A pattern is a set of events that happen to an entity at once.
    sets = [
        [k for k in range(kinds) if (number + 1) >> (k % 16) & 1]
        for number in range(axis["patterns"])
    ]
    sets = [events_at_once or [number % kinds] for number, events_at_once in enumerate(sets)]
    events, labels = ["sequence,time,event,arg1"], ["sequence,fluent,time,label"]
    for sequence in range(axis["sequences"]):
        holding = [[False] * fluents for _ in range(entities)]
        for point in range(points):
            for entity in range(entities):
                seen = sets[chance.randrange(len(sets))]
                events += [f"s{sequence},{point},e{k},x{entity}" for k in seen]
                for fluent in range(fluents):
                    truth = "true" if holding[entity][fluent] else "false"
                    label = truth if chance.random() < LABELLED else ""
                    labels.append(f"s{sequence},f{fluent}(x{entity}),{point},{label}")
                    holding[entity][fluent] = fluent % kinds in seen
    folder.mkdir()
    (folder / "events.csv").write_text("\n".join(events) + "\n", "utf-8")
    (folder / "labels.csv").write_text("\n".join(labels) + "\n", "utf-8")
    return len(labels) - 1


def _complete(folder: str, profile: str) -> None:
    complete(folder, InputOptions(), PROFILES[profile])


def _learn(folder: str, profile: str) -> None:
    learn(folder, InputOptions(), LearnOptions(profile=PROFILES[profile]))


WORK: dict[str, Callable[[str], None]] = {
    "complete auto": lambda folder: _complete(folder, "auto"),
    "complete default": lambda folder: _complete(folder, "default"),
    "learn auto": lambda folder: _learn(folder, "auto"),
    "learn default": lambda folder: _learn(folder, "default"),
}
"""``auto`` is what the commands do unless told otherwise, ``default`` a profile that is named."""


def measured(name: str, warm: str, *folders: str) -> dict[str, list[float]]:
    """Return the processor time of some work on each folder, and the MiB that it takes."""
    WORK[name](warm)  # what is compiled and loaded once
    gc.collect()
    before, seconds, mebibytes = memory_now(), [], []
    for folder in folders:
        begun = time.process_time()
        WORK[name](folder)
        seconds.append(time.process_time() - begun)
        mebibytes.append(peak_since() - before)
        gc.collect()
    return {"seconds": seconds, "mebibytes": mebibytes}


def table(points: int, axes: list[str], works: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the axis and the work, what was measured, and the growth from n to 8n over eight."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        write(home / "warm", BASE, WARM)
        for axis in axes:
            sizes = [home / f"{axis}{power}" for power in range(4)]
            for power, folder in enumerate(sizes):
                write(folder, {**BASE, axis: BASE[axis] << power}, points)
            for work in works:
                cells = (work, str(home / "warm"), *map(str, sizes))
                found = in_process("benchmarks.scaling", "one", *cells, threads=1)
                yield f"{work}, {axis} x 1, 2, 4, 8", _values(found), _growth(found)


def _values(found: dict[str, list[float]]) -> str:
    seconds = ", ".join(f"{each:.2f}" for each in found["seconds"])
    mebibytes = ", ".join(f"{each:.0f}" for each in found["mebibytes"])
    return f"{seconds} s; {mebibytes} MiB"


def _growth(found: dict[str, list[float]]) -> str:
    time, memory = (each[-1] / (8 * max(each[0], 1e-9)) for each in found.values())
    return f"{time:.2f} x linear; {memory:.2f}"


if __name__ == "__main__":
    words = sys.argv[1:]
    if words[:1] == ["one"]:
        report(measured(*words[1:]))
    else:
        points = int(words.pop(0)) if words and words[0].isdigit() else POINTS
        axes, works = ([name for name in words if name in names] for names in (BASE, WORK))
        for row in table(points, axes or list(BASE), works or list(WORK)):
            print(*row, sep=" | ", flush=True)
