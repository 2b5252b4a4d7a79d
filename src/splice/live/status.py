"""How a live run stands, by its last checkpoint."""

from __future__ import annotations

from typing import Any

from splice.live.generations import Generations
from splice.live.project import Project
from splice.live.score import Score
from splice.logic.syntax import parse_theory
from splice.stream.plain import Plain


def summary(project: Project, now: float) -> dict[str, Any] | None:
    """Return what there is to know of a run, None where it has left no checkpoint.

    Parameters
    ----------
    project
        What the run is about.
    now
        The time, in seconds since 1970.
    """
    state = project.last_state()
    return None if state is None else standing(project, state, now)


def standing(project: Project, state: Plain, now: float) -> dict[str, Any]:
    """Return what there is to know of a run by a state of it.

    Parameters
    ----------
    project
        What the run is about.
    state
        Its newest state.
    now
        The time, in seconds since 1970.
    """
    engine, newest = state["engine"], Generations(project.state, {}).paths()[-1]
    f1 = Score.restored(engine["rules"]["score"]).f1
    return {
        "checkpoint": newest.name,
        "age_seconds": round(now - newest.stat().st_mtime, 1),
        "bytes": newest.stat().st_size,
        **{f"place_in_{name}": place for name, place in state["places"].items()},
        **engine["counts"],
        "rules": len(parse_theory(engine["rules"]["theory"])),
        "sequences_open": len(engine["intake"]["clocks"]),
        "f1": None if f1 is None else round(f1, 4),
        "not_sent": sum(map(len, engine["out"]["rows"].values())),
    }
