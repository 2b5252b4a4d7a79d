"""How many threads linear algebra may start, said before numpy is loaded.

The systems that are solved here are small: threads that wait for each other cost more than
they bring, ten times as much on a machine that is busy.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_LIMITS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def use_one_thread() -> list[str]:
    """Let this process and its children use one thread, where nobody said otherwise.

    Return the names of the variables that were set.
    """
    added = [name for name in _LIMITS if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    return added


@contextmanager
def one_thread() -> Iterator[None]:
    """Let the processes that are started meanwhile use one thread each."""
    added = use_one_thread()
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]
