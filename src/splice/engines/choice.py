"""Which engine works: by its name, or one that is there already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

from splice.engines.engine import Engine
from splice.engines.local import LocalEngine

__all__ = ["EngineChoice", "chosen_engine"]

EngineChoice: TypeAlias = Engine | str
"""An engine, or what names one."""


@contextmanager
def chosen_engine(choice: EngineChoice, jobs: int) -> Iterator[Engine]:
    """Give an engine; one that is made here is ended here, others stay as they are."""
    if isinstance(choice, str):
        with LocalEngine(jobs) as made:
            yield made
    else:
        yield choice
