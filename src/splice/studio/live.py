"""A live run to look at: what it says, how it stands, and what it tells of rules and habits.

It is read from the files that the run keeps, its last checkpoint and its last rows, and never touched: the run
may be under way, stopped or killed.
"""

from __future__ import annotations

import time
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from splice.errors import SpliceError
from splice.live.generations import Generations
from splice.live.output import Channel
from splice.live.project import Project
from splice.live.recent import RecentRows
from splice.live.status import standing
from splice.stream.plain import Plain
from splice.studio.columns import RECOGNISED, Lanes

_SHOWN: Final = 20
"""So many late and bad rows are shown."""


class LiveView:
    """What there is to see of a live run.

    Parameters
    ----------
    project
        What the run is about.
    title
        What it is called.
    """

    def __init__(self, project: Project, title: str) -> None:
        self.project, self.title = project, title
        self._read: tuple[Path | None, Plain | None] = None, None
        if self._state() is None:
            hint = "start it with `splice run`, or name its --state"
            raise SpliceError(f"no live run has left a checkpoint in '{project.state}'", hint)

    def _state(self) -> Plain | None:
        """Return the newest state; it is read anew when there is a newer one."""
        paths = Generations(self.project.state, {}).paths()
        if paths and paths[-1] != self._read[0]:
            self._read = paths[-1], self.project.last_state()
        return self._read[1]

    def _rows(self) -> dict[str, list[dict[str, Any]]]:
        return RecentRows(self.project.state).read()

    def state(self) -> dict[str, Any]:
        """Return how the run stands, its rules, and what it told of late."""
        rows, state = self._rows(), self._state()
        rows_out = rows.get(Channel.OUT, [])
        status = standing(self.project, state, time.time()) if state else {}
        rules = state["engine"]["rules"]["theory"] if state else ""
        return {
            "title": self.title,
            "version": [status.get("checkpoint"), rows_out[-1]["n"] if rows_out else 0],
            "status": {name: value for name, value in status.items() if value is not None},
            "rules": [line for line in rules.splitlines() if line],
            "told": [
                _news(row) for row in rows_out if row["type"] not in ("interval", "retracted")
            ],
            "late": rows.get(Channel.LATE, [])[-_SHOWN:],
            "dead": rows.get(Channel.DEAD, [])[-_SHOWN:],
            "sequences": self.sequences(),
        }

    def sequences(self) -> list[str]:
        """Return the sequences of which intervals were said of late, the latest first."""
        rows = self._rows().get(Channel.OUT, [])
        return list(dict.fromkeys(r["sequence"] for r in reversed(rows) if r["type"] == "interval"))

    def lanes(self, number: int) -> Lanes:
        """Return the intervals of a sequence that were said of late, a lane for each fluent."""
        names = self.sequences()
        if not 0 <= number < max(1, len(names)):
            raise SpliceError(f"there is no sequence {number}", "reload the page")
        sequence = names[number] if names else None
        latest: dict[str, dict[str, Any]] = {}
        for row in self._rows().get(Channel.OUT, []):
            if row.get("sequence") == sequence and row["type"] == "interval":
                latest[row["id"]] = row  # the last word on an interval counts
            elif row.get("sequence") == sequence and row["type"] == "retracted":
                latest.pop(row["id"], None)
        by_fluent = defaultdict(list)
        for row in latest.values():
            by_fluent[row["fluent"]].append((_moment(row["start"]), _moment(row["end"])))
        moments = [at for spans in by_fluent.values() for span in spans for at in span if at is not None]  # fmt: skip
        first, last = min(moments, default=0), max(moments, default=0) + 1
        table = [
            (lane, RECOGNISED, start - first, (last if end is None else end) - first, 1000)
            for lane, fluent in enumerate(sorted(by_fluent))
            for start, end in sorted(by_fluent[fluent], key=lambda span: span[0] or 0)
            if start is not None
        ]
        lanes = [{"name": fluent, "kind": "fluent"} for fluent in sorted(by_fluent)]
        return Lanes(lanes, first, last, np.array(table, np.int64).reshape(-1, 5))

    def wall(self, lanes: Lanes) -> list[int] | None:
        """Return what a clock on the wall shows at the first time, and a second later, if times are stamps."""
        stamps = any(isinstance(row.get("start"), str) for row in self._rows().get(Channel.OUT, []))
        return [1000 * lanes.first, 1000] if stamps else None


def _news(row: dict[str, Any]) -> dict[str, Any]:
    """Return what a row tells, in words."""
    words = row.get("words")
    if row["type"] == "theory":
        words = f"{len(row['rules'])} rules in use ({row['why']})"
    elif row["type"] == "ask":
        words = f"label {row['sequence']} from {row['start']} to {row['end']}: {row['why']}"
    return {"n": row["n"], "type": row["type"], "words": words or ""}


def _moment(value: int | str | None) -> int | None:
    """Return a time as a number: as it is, or the seconds of a timestamp."""
    if not isinstance(value, str):
        return value
    moment = datetime.fromisoformat(value)
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
