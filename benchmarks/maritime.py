"""Vessels: labels completed and rules learned, end to end from Parquet, at growing sizes.

The same cells as ``splice experiment run maritime-scale``, which also takes the whole month; here it
is a sixteenth and a quarter of it.
"""

from __future__ import annotations

from benchmarks.measure import report
from splice.lab.experiments.run import load, named
from splice.lab.experiments.scale import cells, work


def main() -> None:
    """Measure two sizes."""
    configuration = load(named("maritime-scale")).configuration
    configuration["grid"]["sizes"] = configuration["grid"]["sizes"][:2]
    rows = [cell.parameters | work(cell.parameters) for cell in cells(configuration)]
    small, large = ([row for row in rows if row["command"] == ["complete"]][i] for i in (0, -1))
    learned = [row for row in rows if row["command"] == ["learn"]][-1]
    share = large["events"] / small["events"]
    report(
        {
            "events": large["events"],
            "rate": large["rate"],
            "learning": learned["seconds"],
            "growth": large["processor"] / small["processor"] / share,
            "memory": max(row["memory"] for row in rows),
        }
    )


if __name__ == "__main__":
    main()
