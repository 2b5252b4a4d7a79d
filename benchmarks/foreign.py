"""`splice learn` as it comes beside what anybody would try first, on data of one's own.

``python -m benchmarks.foreign [--out DIR] [--levels 5,20] [--samples N] FOLDER...`` takes folders of tables in which
everything is labelled (or the names of data sets that were fetched), hides the labels of all but a share of the batches,
learns from every second sequence and then from the others, and prints F1 on those that were held out: all
fluents together / their mean, and the deviation of the first over the samples of labels. It is the experiment
``experiments/foreign.toml`` with other data: what is computed is kept in DIR, and the same command goes on there.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from splice.lab.experiments.run import Experiment, load, named, resume, start
from splice.lab.experiments.tables import Row


def experiment(data: Sequence[str], levels: Sequence[float], samples: int) -> Experiment:
    """Return the experiment on other data than those of its file."""
    usual = load(named("foreign"))
    grid = {**usual.configuration["grid"], "samples": samples}
    grid |= {"datasets": list(data)} if data else {}
    grid |= {"levels": list(levels)} if levels else {}
    return Experiment(usual.name, {**usual.configuration, "grid": grid})


def lines(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a table in Markdown for each data set: a row a method, a column a share of labels."""
    for dataset in dict.fromkeys(str(row["dataset"]) for row in rows):
        own = [row for row in rows if str(row["dataset"]) == dataset]
        levels = sorted({row["level"] for row in own})
        yield f"\n| {Path(dataset).name} | " + " | ".join(f"{level:g} %" for level in levels) + " |"
        yield "|---" * (len(levels) + 1) + "|"
        for method in dict.fromkeys(str(row["method"]) for row in own):
            cells = {row["level"]: _cell(row) for row in own if row["method"] == method}
            told = " | ".join(cells.get(level, "") for level in levels)
            yield f"| {method} | {told} |"


def _cell(row: Row) -> str:
    spread = row["f1_sd"]
    told = f"{row['f1']:.3f} / {row['macro']:.3f}"
    return told if spread is None else f"{told} ±{spread:.2f}"


def main() -> None:
    """Run the experiment, or go on with it, and print its tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.foreign")
    parser.add_argument("data", nargs="*", help="folders of tables, or names of data sets")
    parser.add_argument("--out", type=Path, default=Path("runs/foreign"))
    parser.add_argument("--levels", type=lambda text: [float(part) for part in text.split(",")])
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    if (asked.out / "manifest.json").exists():
        rows = resume(asked.out, jobs=asked.jobs)
    else:
        made = experiment(asked.data, asked.levels or (), asked.samples)
        rows = start(made, asked.out, jobs=asked.jobs)
    print("\n".join(lines(rows)))


if __name__ == "__main__":
    main()
