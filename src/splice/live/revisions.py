"""Revision windows of a live run: one for each sequence, over one completer, and labels that come late to them.

A completer counts the labels of a batch when the batch comes. A label that comes when its batch is held already
must count as if it had come in time. So labels are counted twice: by the completer, all of them, and by a second
one, the *base*, those of batches that have left their window. What came late is put into its batch, and the
completer counts anew: the base, and what is held.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from splice.completion.completer import SupervisionCompleter
from splice.completion.links import Standing
from splice.completion.revision import Answer, Revision, RevisionWindow
from splice.errors import SpliceError
from splice.logic.domain import Domain
from splice.states import anything, check_state, mapping, record
from splice.stream.batch import MicroBatch
from splice.stream.plain import Plain
from splice.stream.states import points_within
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Vocabulary

_STATE: Final = record(base=anything, windows=mapping(anything))


class Revisions:
    """The batches of the last time-points of each sequence, which are completed again when labels come.

    Parameters
    ----------
    completer
        Completes the batches.
    points
        How many time-points of its sequence must come after a batch before its answer is final.
    """

    def __init__(self, completer: SupervisionCompleter, points: int) -> None:
        caching = completer.profile.caching
        if caching is None or not caching.adds_up:
            raise SpliceError(
                f"the profile '{completer.profile.name}' cannot count labels that come late",
                "a revision window needs a cache of labels that neither fades nor forgets",
            )
        completer.profile.check_hindsight()
        self._completer, self._points = completer, points
        self._base: SupervisionCompleter | None = None
        self._windows: dict[int, RevisionWindow] = {}
        self._relabelled: list[int] = []

    def complete(self, code: int, batch: MicroBatch) -> Answer:
        """Return labels for a batch of a sequence, and what it changes of earlier answers."""
        if self._base is None:
            self._begin(batch.domain, batch.table.vocabulary)
        if code not in self._windows:
            self._windows[code] = self._window()
        return self._windows[code].complete(batch)

    def _begin(self, domain: Domain, vocabulary: Vocabulary) -> SupervisionCompleter:
        reading = self._completer.reading(domain, vocabulary)
        self._base = SupervisionCompleter(self._completer.profile, reading)
        return self._base

    def _window(self) -> RevisionWindow:
        return RevisionWindow(self._completer, self._points, self._settle)

    def _settle(self, batches: Sequence[MicroBatch], before: Standing) -> None:
        """Count the labels of batches that leave among those that do not change any more."""
        assert self._base is not None
        self._base.reading(batches[0].domain, batches[0].table.vocabulary)
        self._base.standing = before
        for batch in batches:
            self._base.count_labels(batch)

    def close(self, code: int) -> Answer:
        """Return the last answers for a sequence that has ended."""
        window = self._windows.pop(code, None)
        return window.close() if window else Answer(None, (), ())

    def since(self, code: int) -> int | None:
        """Return the first time-point of a sequence that is held; None: none is."""
        times = self._times(code)
        return int(times[0]) if len(times) else None

    def _times(self, code: int) -> np.ndarray:
        window = self._windows.get(code)
        return window.times if window else np.empty(0, np.int64)

    # labels that come late --------------------------------------------------------------------------

    def relabel(self, code: int, labels: AtomTable) -> tuple[list[MicroBatch], np.ndarray]:
        """Take labels of a sequence into its batches; return these with what is new alone, and which were taken."""
        window = self._windows.get(code)
        if window is None:
            return [], np.zeros(len(labels), bool)
        news, taken = window.relabel(labels)
        if news and code not in self._relabelled:
            self._relabelled.append(code)
        return news, taken

    def relabel_spans(self, code: int, spans: AtomTable, ends: np.ndarray) -> list[MicroBatch]:
        """Take what labels of intervals say about the time-points that are held."""
        times = self._times(code)
        rows, points = points_within(spans.time, ends, times)
        labels = replace(spans.take(rows), time=times[points], lines=None)
        return self.relabel(code, labels)[0]

    def revise(self, domain: Domain, vocabulary: Vocabulary) -> Iterator[Revision]:
        """Complete again what is held of the sequences that labels came late for; yield what changed."""
        codes, self._relabelled = self._relabelled, []
        if not codes:
            return
        counted = self._base.to_state() if self._base and self._base.has_begun else None
        # All windows are counted anew and not only those of ``codes``: labels of one sequence are counted for
        # all, and a completer cannot take single ones back.
        runs = [(window.before, window.batches) for window in self._windows.values()]
        self._completer.recount(counted, runs, domain, vocabulary)
        for code in codes:
            yield from self._windows[code].revise()

    # the state --------------------------------------------------------------------------------------

    def to_state(self) -> Plain:
        """Return what is held and what was counted before, as plain values."""
        base = self._base
        return {
            "base": base.to_state() if base and base.has_begun else None,
            "windows": {str(code): window.to_state() for code, window in self._windows.items()},
        }

    def restore(self, state: Plain, domain: Domain, vocabulary: Vocabulary) -> None:
        """Go on from a state, with a completer that was restored already."""
        check_state(state, _STATE, "revisions")
        base = self._begin(domain, vocabulary)
        if state["base"] is not None:
            base.restore(state["base"], domain, vocabulary)
        for code, plain in state["windows"].items():
            self._windows[int(code)] = self._window()
            self._windows[int(code)].restore(plain, domain, vocabulary)
