"""A stream that comes in parts: learn from each day when it is over, keep the model, go on tomorrow."""

import tempfile
from pathlib import Path

import polars as pl

import splice


def day(name: str, watched: bool) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """Return the events of a day and, if somebody watched it, its labels."""
    rows = [(name, time, "green" if time % 30 < 10 else "red", "light") for time in range(240)]
    events = pl.DataFrame(rows, schema=["sequence", "time", "event", "arg1"], orient="row")
    if not watched:
        return events, None
    stretches = [(start, start + (10 if start % 30 == 0 else 20)) for start in (0, 10, 30, 40)]
    labels = pl.DataFrame(
        [(name, "flows(light)", start, end, start % 30 == 0) for start, end in stretches],
        schema=["sequence", "fluent", "start", "end", "label"],
        orient="row",
    )
    return events, labels


model = splice.RuleLearner()
with tempfile.TemporaryDirectory() as folder:
    kept = Path(folder) / "lights.model"
    for name, watched in ("monday", True), ("tuesday", False), ("wednesday", True):
        model.partial_fit(*day(name, watched))
        model.save(kept)
        model = splice.RuleLearner.load(kept)
        print(name, model.learned_.examples, "examples,", model.learned_.given, "labels given")
# > monday 240 examples, 60 labels given
# > tuesday 480 examples, 60 labels given
# > wednesday 720 examples, 120 labels given

print(*model.rules_["words"], sep="\n")
# > flows(X0) begins when green(X0) happens
# > flows(X0) ends when red(X0) happens
