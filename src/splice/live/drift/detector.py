"""Whether the mean of a signal has risen: the test of Page and Hinkley, as river has it.

ADWIN was tried first: with one value a batch it needs more than twenty values to see a mean leap from
0.1 to 0.9, and its window is in an extension type that can only be pickled. Page-Hinkley needs six.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Final

from splice.errors import SpliceError
from splice.states import check_state, each, number, record, require, whole
from splice.stream.plain import Plain

_MOST: Final = 100
"""So many values are kept; of more the older half is let go: what is usual is what was of late."""


_STATE: Final = record(values=each(number()), batches=each(whole()))


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a mean: what it was, what it is, and the batch of its first value."""

    before: float
    after: float
    begun: int


@dataclass
class Detector:
    """Watches values between 0 and 1 for a mean that rises.

    A checkpoint holds values and no code: the test is made again from what it has seen.

    Parameters
    ----------
    slack
        How far above the mean a value may be without counting.
    threshold
        How much of what counts adds up to a change.
    values
        What was seen since the last change.
    batches
        The batch that each of them is about: not every batch has a value.
    """

    slack: float = 0.1
    threshold: float = 3.0
    values: list[float] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)
    _test: Any = field(default=None, repr=False)

    def see(self, value: float, batch: int) -> Change | None:
        """Take in the value of a batch; return a change, if there is one."""
        if self._test is None:
            self._replay()
        self.values.append(value)
        self.batches.append(batch)
        self._test.update(value)
        if not self._test.drift_detected:
            if len(self.values) > _MOST:
                self.values = self.values[-_MOST // 2 :]
                self.batches = self.batches[-_MOST // 2 :]
                self._replay()
            return None
        change = self._change()
        self.forget()
        return change

    def forget(self) -> None:
        """Begin anew: what was usual is no longer."""
        self.values, self.batches, self._test = [], [], None

    def _change(self) -> Change:
        """Return where the values began to rise: where the sum of what counts was least."""
        # For 0 0 1 1 with slack .1: means 0 0 .33 .5, what counts -.1 -.1 .57 .4, sums -.1 -.2 .37 .77. The
        # least sum is at the second value, so the third is the first that is higher.
        means = [total / (i + 1) for i, total in enumerate(accumulate(self.values))]
        counts = (v - mean - self.slack for v, mean in zip(self.values, means, strict=True))
        sums = list(accumulate(counts))
        first = min(range(len(sums) - 1), key=sums.__getitem__, default=0) + 1
        older, recent = self.values[:first], self.values[first:]
        return Change(sum(older) / len(older), sum(recent) / len(recent), self.batches[first])

    def to_state(self) -> Plain:
        """Return what was seen, as plain values."""
        return {"values": self.values, "batches": self.batches}

    def restore(self, state: Plain) -> None:
        """Go on from a state."""
        check_state(state, _STATE, "detector")
        same_length = len(state["values"]) == len(state["batches"])
        require(same_length, "detector", "has values of no batch")
        self.values, self.batches = list(state["values"]), list(state["batches"])
        self._test = None

    def _replay(self) -> None:
        self._test = _page_hinkley(self.slack, self.threshold)
        for value in self.values:
            self._test.update(value)


def _page_hinkley(slack: float, threshold: float) -> Any:
    try:
        from river.drift import PageHinkley  # noqa: PLC0415 - seconds, and only where it is asked for
    except ModuleNotFoundError:
        hint = "pip install 'splice-cer[drift]'"
        raise SpliceError("watching for drift needs the package 'river'", hint) from None
    return PageHinkley(min_instances=10, delta=slack, threshold=threshold, alpha=1.0, mode="up")
