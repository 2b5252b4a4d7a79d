"""Three truth values, one convention.

======== ======= ======= ==================== =====
meaning  Python  tables  evidence text        array
======== ======= ======= ==================== =====
true     True    true    ``HoldsAt(...)``     +1
false    False   false   ``!HoldsAt(...)``    -1
unknown  None    null    ``?HoldsAt(...)``    0
======== ======= ======= ==================== =====

The paper's -1 is *false*, as here; scikit-learn's -1 is *unlabelled*.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Label = bool | None
"""A truth value in Python: ``True``, ``False`` or ``None`` for unknown."""

LabelArray: TypeAlias = "npt.NDArray[np.int8]"

TRUE: Final = 1
FALSE: Final = -1
UNKNOWN: Final = 0

_WORDS: Final[dict[str, int]] = {
    "true": TRUE, "1": TRUE, "1.0": TRUE, "+1": TRUE, "yes": TRUE,
    "false": FALSE, "0": FALSE, "0.0": FALSE, "-1": FALSE, "no": FALSE,
    "null": UNKNOWN, "": UNKNOWN, "?": UNKNOWN, "unknown": UNKNOWN, "none": UNKNOWN,
}  # fmt: skip


def encode(label: Label) -> int:
    """Return the array code of a Python label.

    >>> [encode(label) for label in (True, False, None)]
    [1, -1, 0]
    """
    if label is None:
        return UNKNOWN
    return TRUE if label else FALSE


def decode(code: int) -> Label:
    """Return the Python label of an array code.

    >>> [decode(code) for code in (1, -1, 0)]
    [True, False, None]
    """
    return None if code == UNKNOWN else code > 0


def mark(code: int) -> str:
    """Return the sign that evidence text puts before an atom: nothing, ``!`` or ``?``."""
    return {TRUE: "", FALSE: "!", UNKNOWN: "?"}[int(code)]


def parse(word: str) -> int | None:
    """Return the code of a label as tables write it, or None when it is no label.

    >>> parse("true"), parse("0"), parse(""), parse("maybe")
    (1, -1, 0, None)
    """
    return _WORDS.get(word.strip().lower())


def words() -> dict[str, int]:
    """Return every spelling of a label that tables may use, with its code."""
    return dict(_WORDS)


class Unlabelled(Enum):
    """What a learner makes of query atoms without a label."""

    FALSE = "false"
    """The closed world: what nobody said does not hold (the paper's *incomplete*)."""
    SKIP = "skip"
    """Transitions with an unknown end are left out: only the labelled part is learned from."""
