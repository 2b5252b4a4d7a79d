"""The input of a run: a name, or a source that is there already."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from splice.completion.mode import Mode
from splice.engines.choice import LOCAL, EngineChoice
from splice.engines.local import LocalEngine
from splice.inputs.open import InputName, InputOptions, open_input
from splice.io.tables.frame_table import Frames
from splice.logic.domain import Domain, Holds
from splice.patterns.convention import find_holds
from splice.patterns.measures import find_measures, measured
from splice.patterns.reading import Reading
from splice.pipeline.exclusive import one_held_at_a_time
from splice.pipeline.holdout import sample
from splice.pipeline.progress import Settled, Watch, ignore
from splice.pipeline.shards import OpenSource
from splice.stream.batch import MicroBatch, TimePoints, batches
from splice.stream.source import RedefinedSource, Source

Named = TypeVar("Named")

Change: TypeAlias = Callable[[Domain], Domain]
"""Returns a domain with what was found out about the input; a function that can be pickled."""

KEPT_ROWS: Final = 200_000
"""A run keeps a stream of at most so many rows: with its examples 26 MB more at the peak for 286,000 rows of plaza."""

Input: TypeAlias = Source | str | Path | Frames
"""A folder, a file, the name of a dataset, DataFrames, or a source."""


def opener(data: Input, options: InputOptions) -> OpenSource:
    """Return what opens an input, as often as it is asked; a source is always the same one."""
    if isinstance(data, Path):
        data = str(data)
    if isinstance(data, Source):
        return partial(_as_it_is, data)
    return partial(open_input, data, options)  # as it is: an InputName knows its files


def as_told_to(
    engine: EngineChoice, data: Named, options: InputOptions
) -> tuple[Named, InputOptions]:
    """Return an input as workers are told of it: those of a cluster need not be in this folder.

    Processes of this machine are, and are told what the user said, so that errors say it, too.
    """
    if engine == LOCAL or isinstance(engine, LocalEngine):
        return data, options
    domain, schema, modes = map(_whole, (options.domain, options.schema, options.modes))
    return _whole(data), replace(options, domain=domain, schema=schema, modes=modes)


def _whole(name: Any) -> Any:
    """Return the whole path of a file or a folder; anything else as it is."""
    if isinstance(name, InputName):
        return InputName(*map(_whole, name.names))
    if isinstance(name, str | Path) and Path(name).exists():
        return type(name)(Path(name).absolute())
    return name


def with_measures(opened: OpenSource, mode: Mode) -> OpenSource:
    """Return what opens an input whose measured numbers have thresholds that its labels suggest.

    That takes a reading of its own, so online, where nobody looks ahead, it is the input as it is.
    """
    change = find_thresholds(opened(), mode)
    return redefined(opened, change) if change else opened


def find_thresholds(source: Source, mode: Mode) -> Change | None:
    """Return what a domain becomes by the thresholds that labels suggest for measured numbers, if any."""
    measures = find_measures(source) if mode is Mode.HINDSIGHT else ()
    return partial(measured, measures=measures) if measures else None


class RunStream:
    """The batches of an input that a run reads several times, and what is read of them.

    A short stream is cut once and kept. Then the convention that is looked for, the labels that are held
    out, those that are counted and the run itself share one partition of it. A longer one is cut and
    partitioned anew each time, so that memory stays bounded.

    Parameters
    ----------
    source
        The input.
    batch_size
        Time-points in a batch.
    keep
        Whether it may be kept; online each batch is read once, and nothing is looked at ahead.
    """

    def __init__(self, source: Source, batch_size: int, *, keep: bool) -> None:
        self.source = source
        self._cut = TimePoints(batch_size)
        self._cuts_anew = not keep
        self._kept: list[MicroBatch] | None = None
        self._begun: Iterator[MicroBatch] | None = None
        self._readings: dict[bool, Reading] = {}

    def __iter__(self) -> Iterator[MicroBatch]:
        self._begin()
        if self._kept is not None:
            # What is inferred of a domain is complete by now, and its clock may have been found out.
            domain = self.source.domain
            return (replace(batch, domain=domain) for batch in self._kept)
        begun, self._begun = self._begun, None
        return begun or batches(self.source, self._cut)

    def _begin(self) -> None:
        """Read the first time as far as may be kept, and find out whether that is all."""
        if self._kept is not None or self._cuts_anew:
            return
        head, rows = list[MicroBatch](), 0
        stream = batches(self.source, self._cut)
        for batch in stream:
            head.append(batch)
            rows += len(batch)
            if rows > KEPT_ROWS:
                self._cuts_anew, self._begun = True, chain(head, stream)
                return
        self._kept = head

    def reading(self, *, ground: bool = False) -> Reading | None:
        """Return the reading that all share; None where the stream is too long to be kept.

        ``ground`` says whether distances are over ground atoms.
        """
        self._begin()
        if self._kept is None:
            return None
        if ground not in self._readings:
            domain, vocabulary = self.source.domain, self.source.vocabulary
            self._readings[ground] = Reading(domain, vocabulary, ground=ground, lasting=True)
        return self._readings[ground]

    def redefine(self, change: Change) -> None:
        """Let the domain say more from now on: anything before the first reading, then its clock alone.

        A reading does not depend on the clock, so it stays.
        """
        self.source, self._begun = RedefinedSource(self.source, change), None

    def forget(self) -> None:
        """Free what was kept: a completer lives longer than its run, and has the reading."""
        self._kept, self._begun, self._cuts_anew = None, None, True
        for reading in self._readings.values():
            reading.prefetcher.forget()
        self._readings.clear()


def find_convention(stream: RunStream, watch: Watch = ignore) -> Change | None:
    """Find out by the labels when changes count, where the domain does not say it.

    Return what a domain becomes by that; None where it stays as it is. A part of the stream is read.
    ``watch`` is told where changes count at once.
    """
    if stream.source.domain.clock.holds is not None:
        return None
    holds = find_holds(sample(stream), stream.reading())
    if holds is Holds.AFTER:
        return None
    text = "nobody says when changes count; by the labels, what begins at a time-point holds from it on"
    watch(Settled(f"{text} (--holds after says otherwise)"))
    return partial(Domain.holding, holds=holds)


def find_rivals(stream: RunStream, watch: Watch = ignore) -> Change | None:
    """Find out by the labels whether one fluent holds at a time, where the domain does not say it.

    Return what a domain becomes by that; None where it stays as it is. A part of the stream is read.
    ``watch`` is told where one does.
    """
    if stream.source.domain.exclusive is not None or not one_held_at_a_time(
        sample(stream, KEPT_ROWS)
    ):
        return None
    text = "by the labels one fluent about the same entities holds at a time, and labels are completed so"
    watch(Settled(f"{text} ([target] exclusive = false says otherwise)"))
    return partial(replace, exclusive=True)


def redefined(opened: OpenSource, change: Change) -> OpenSource:
    """Return what opens an input whose domain says more than it does by itself."""
    return partial(_open_redefined, opened, change)


def _open_redefined(opened: OpenSource, change: Change) -> Source:
    return RedefinedSource(opened(), change)


def name_of(data: Input) -> str | None:
    """Return the name of an input, which may stand for several files; a source has none."""
    if isinstance(data, str):  # as it is: an InputName knows its files
        return data
    return str(data) if isinstance(data, Path) else None


def _as_it_is(source: Source) -> Source:
    return source
