"""The reliability diagram: how sure completed labels are said to be, and how often they are right."""

from __future__ import annotations

from splice.completion.calibration import Reliability
from splice.pipeline.calibrate import Calibrated
from splice.report.document import Curve, Figure, Panel


def reliability(calibrated: Calibrated) -> Figure | None:
    """Return a panel for each fluent that has enough labels to hold some out; None: there is none."""
    panels = tuple(
        Panel(
            f"{name}, {measured.labels:,} labels held out",
            "confidence",
            "share that is right",
            (
                Curve("as it should be", (0.0, 1.0), (0.0, 1.0), colour=-1),
                _curve("distance from zero", measured.before, 0),
                _curve("calibrated", measured.after, 1),
            ),
            unit_y=True,
        )
        for name, measured in sorted(calibrated.fluents.items())
    )
    if not panels:
        return None
    note = (
        "Given labels that were held out and completed all the same, in tenths of confidence; each fold is judged "
        "by the curve of the others. Below the line labels are less often right than they are sure."
    )
    return Figure("reliability", "How sure completed labels are", panels, note=note)


def _curve(name: str, measured: Reliability, colour: int) -> Curve:
    notes = tuple(f"{count:,} labels" for count in measured.count)
    return Curve(
        f"{name} (error {measured.error:.3f})",
        measured.confidence,
        measured.right,
        colour=colour,
        notes=notes,
    )
