"""Recognition in parts, side by side: sequences are independent, so the answer is that of one piece."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import polars as pl

from splice.engines.engine import Engine
from splice.errors import UnknownName
from splice.events.recognise import INTERVAL_SCHEMA, fluent_name, recognise
from splice.events.theory_check import SeenAtoms, SeenSource
from splice.inputs.open import InputOptions, Inputs, Queries, open_input
from splice.logic.syntax import parse_ground_term
from splice.logic.theory import Theory
from splice.pipeline.progress import Read, Stage, Watch, follow, ignore
from splice.pipeline.shards import OpenSource, Shard, located_shards, open_shard


@dataclass(frozen=True, eq=False)
class RecognisedShard:
    """What holds in a part or in several: intervals of all fluents, times as the input writes them."""

    frame: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=INTERVAL_SCHEMA))
    defined: frozenset[str] = frozenset()
    targets: tuple[str, ...] = ()
    seen: SeenAtoms = field(default_factory=SeenAtoms, repr=False)
    unproved: frozenset[str] = frozenset()
    """How states were found that are not proved to be the most probable."""

    @property
    def shown(self) -> frozenset[str]:
        """The fluents that a table shows unless others are asked for: the domain's, else all."""
        return self.defined.intersection(self.targets) or self.defined

    def intervals(self, fluents: list[str] | None = None) -> pl.DataFrame:
        """Return the intervals of some fluents, or of those that are shown."""
        names = frozenset(fluents or ()) or self.shown
        for name in sorted(names - self.defined):
            if self.defined:
                raise UnknownName("fluent", name, self.defined)
        texts = self.frame["fluent"].unique().to_list()
        chosen = [text for text in texts if fluent_name(parse_ground_term(text)) in names]
        return self.frame.filter(pl.col("fluent").is_in(chosen))


def recognise_shards(
    theory: Theory,
    data: Inputs,
    options: InputOptions,
    count: int,
    engine: Engine,
    choices: Mapping[str, Any],
    watch: Watch = ignore,
) -> RecognisedShard:
    """Recognise in at most so many parts.

    Parameters
    ----------
    theory
        The rules.
    data
        The name of the input, or the names of its files.
    options
        What these mean.
    count
        How many parts.
    engine
        Who works on them.
    choices
        Those of :func:`~splice.events.recognise.recognise`, by name.
    watch
        Called with each event of :mod:`splice.pipeline.progress`.
    """
    opened = partial(open_input, data, options, queries=Queries.WRITTEN)
    source = opened()
    shards = located_shards(count, source)
    promises = [
        engine.submit(
            _recognise_shard, theory, opened, shard, choices, name=f"{shard}, recognising"
        )
        for shard in shards
    ]
    done = follow(engine.results(promises), Stage.RECOGNISE_SHARDS, watch, len(shards))
    parts = list(done)
    watch(Read(source.report))
    seen = SeenAtoms()
    for part in parts:
        seen.events |= part.seen.events
        seen.predicates |= part.seen.predicates
    return RecognisedShard(
        pl.concat([part.frame for part in parts]),
        frozenset().union(*(part.defined for part in parts)),
        parts[0].targets,
        seen,
        frozenset().union(*(part.unproved for part in parts)),
    )


def _recognise_shard(
    theory: Theory, opened: OpenSource, shard: Shard, choices: Mapping[str, Any]
) -> RecognisedShard:
    seen = SeenAtoms()
    source = SeenSource(open_shard(opened, shard), seen)
    recognition = recognise(theory, source, **choices)
    frame, times = recognition.intervals(recognition.defined), source.vocabulary.times
    how = recognition.inference
    return RecognisedShard(
        frame.with_columns(times.texts(frame["start"]), times.texts(frame["end"])),
        recognition.defined,
        recognition.targets,
        seen,
        frozenset([how.method.value] if how is not None and not how.optimal else []),
    )
