"""A question to a person: does this fluent hold in this stretch, and why it is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Question:
    """A stretch to label next.

    Parameters
    ----------
    sequence
        The sequence that it lies in.
    fluents
        What is asked about: one ground fluent, or those that differ in the order of their entities
        and are judged as one.
    start, end
        Its time, half-open, as the input counts it.
    when
        The same as the input writes it.
    believed
        The share of its points that are believed to be true so far; None where no label tells.
    times
        The time-points at which a label is missing.
    points
        How many query atoms have no label yet.
    score
        How much it is worth to the strategy that picked it.
    reason
        Why it is asked, in words.
    """

    sequence: str
    fluents: tuple[str, ...]
    start: int
    end: int
    when: tuple[int | str, int | str]
    believed: float | None
    times: tuple[int, ...]
    points: int
    score: float
    reason: str

    def __str__(self) -> str:
        start, end = self.when
        place = f" of {self.sequence}" if self.sequence else ""
        return f"{self.fluents[0]} from {start} to {end}{place}: {self.reason}"

    def as_json(self) -> dict[str, Any]:
        """Return the question as plain values."""
        return {
            "sequence": self.sequence,
            "fluents": list(self.fluents),
            "start": self.when[0],
            "end": self.when[1],
            "believed": self.believed,
            "points": self.points,
            "score": self.score,
            "reason": self.reason,
        }

    def as_rows(self, label: str = "") -> list[dict[str, Any]]:
        """Return the question as rows of a labels table, for somebody to fill in the label."""
        return [
            {
                "sequence": self.sequence,
                "fluent": fluent,
                "start": self.when[0],
                "end": self.when[1],
                "label": label,
                "reason": self.reason,
            }
            for fluent in self.fluents
        ]
