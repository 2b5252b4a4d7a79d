"""What the command costs before it does anything, against an empty app of the same library.

Processor time, the best of some runs of each in turn: a busy machine stretches the clock, but not
what a process computes.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Sequence

from benchmarks.measure import report

_RUNS = 7

_TYPER = """
import typer
app = typer.Typer(add_completion=False)
@app.command()
def first(): "Do something."
@app.command()
def second(): "Do something else."
app()
"""

_WAYS = {
    "typer": ("-c", _TYPER, "--help"),
    "help": ("-m", "splice", "--help"),
    "version": ("-m", "splice", "--version"),
    "learn": ("-m", "splice", "learn", "--help"),
}


def processor_time(arguments: Sequence[str]) -> float:
    """Return the seconds that a process of its own computes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "COLUMNS": "80"},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure each way in turn, so that all meet the same machine."""
    times: dict[str, list[float]] = {name: [] for name in _WAYS}
    for _ in range(_RUNS):
        for name, arguments in _WAYS.items():
            times[name].append(processor_time(arguments))
    report({name: min(seconds) for name, seconds in times.items()})


if __name__ == "__main__":
    main()
