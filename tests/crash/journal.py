"""A sender without a memory: it says again what was not acknowledged, as a broker of MQTT does."""

from __future__ import annotations

from pathlib import Path

from splice.live.feeds.journal import Journal

PORTION = 6


def work(feed: str, folder: str) -> None:
    """Send all rows in portions; those that a run before this one had are said again, and marked so."""
    again = Path(folder).exists()
    journal = Journal(Path(folder))
    rows = Path(feed).read_bytes().splitlines()
    for start in range(0, len(rows), PORTION):
        journal.append((row, again) for row in rows[start : start + PORTION])
