"""A studio that is answered: what a page would ask for, without a server."""

from __future__ import annotations

import time
from pathlib import Path

from splice.inputs.open import InputOptions
from splice.studio.serve import open_studio

RULE = "initiatedAt(lit(X),T) :- happensAt(press(X),T)."


def work(data: str, project: str, answers: str) -> None:
    """Answer some questions and pin a rule; what the journal has already is not done again.

    A journal has the moment of each entry, which differs from run to run, and nothing else does.
    """
    studio = open_studio(data, InputOptions(), Path(project))
    try:
        done = len(studio.project.journal.entries)
        for step in range(done, int(answers)):
            if step == 2:
                studio.change_rule("pin", RULE)
            else:
                part = {
                    "fluents": ["lit(x0)"],
                    "start": 2 * step,
                    "end": 2 * step + 2,
                    "label": step % 2 == 0,
                }
                studio.answer(step % 2, [part])
        while studio.learning:  # rules come from a thread of their own
            time.sleep(0.01)
    finally:
        studio.close()
