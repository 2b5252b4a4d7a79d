"""Recognition in an input: in one piece, or in parts side by side.

Sequences are independent, so the answer in parts is that of one piece.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from splice.engines.choice import LOCAL, EngineChoice, check_choice, chosen_engine
from splice.engines.engine import Engine
from splice.errors import UnknownName
from splice.events.recognise import INTERVAL_SCHEMA, Recognition, fluent_name, recognise
from splice.events.theory_check import SeenAtoms, SeenSource, other_convention, unmatched
from splice.events.weighted.inference import Inference
from splice.inputs.open import InputOptions, Inputs, Queries, input_paths, open_input
from splice.inputs.registry import DATASETS
from splice.inputs.theories import load_theory
from splice.io.domain_file import DOMAIN_FILE
from splice.logic.syntax import parse_ground_term
from splice.logic.theory import Theory
from splice.pipeline.progress import Notice, Read, Stage, Watch, follow, ignore
from splice.pipeline.shards import OpenSource, Shard, located_shards, open_shard
from splice.pipeline.source import as_told_to
from splice.stream.source import ChangedSource, Source

__all__ = ["RecognisedInput", "recognise_input"]


@dataclass(frozen=True, eq=False)
class RecognisedInput:
    """What holds in an input or in a part of it.

    Parameters
    ----------
    frame
        Intervals, their times as the input writes them.
    defined
        The names of the fluents that the theory speaks of.
    targets
        The fluents that the domain asks for; none: all.
    seen
        Which events and predicates the input has.
    unproved
        How states were found that are not proved to be the most probable.
    inference
        How the most probable state was found, where the theory has weights and all was done in one piece.
    """

    frame: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=INTERVAL_SCHEMA))
    defined: frozenset[str] = frozenset()
    targets: tuple[str, ...] = ()
    seen: SeenAtoms = field(default_factory=SeenAtoms, repr=False)
    unproved: frozenset[str] = frozenset()
    inference: Inference | None = None

    @property
    def shown(self) -> frozenset[str]:
        """The fluents that a table shows unless others are asked for: the domain's, else all."""
        return self.defined.intersection(self.targets) or self.defined

    def only(self, fluents: Sequence[str] | None) -> RecognisedInput:
        """Return the intervals of some fluents, or of those that are shown."""
        names = frozenset(fluents or ()) or self.shown
        for name in sorted(names - self.defined):
            if self.defined:
                raise UnknownName("fluent", name, self.defined)
        texts = self.frame["fluent"].unique().to_list()
        chosen = [text for text in texts if fluent_name(parse_ground_term(text)) in names]
        return replace(self, frame=self.frame.filter(pl.col("fluent").is_in(chosen)))


def recognise_input(
    theory: str,
    data: Inputs,
    options: InputOptions | None = None,
    fluents: Sequence[str] | None = None,
    *,
    shards: int = 1,
    jobs: int = 2,
    engine: EngineChoice = LOCAL,
    watch: Watch = ignore,
    **choices: Any,
) -> RecognisedInput:
    """Return what holds in an input, according to a theory: all that ``splice recognise`` does.

    Parameters
    ----------
    theory
        The name of a theory that ships, or a file.
    data
        The name of an input.
    options
        What the input means.
    fluents
        The names of the fluents to tell; those that the domain asks for if not given.
    shards
        In how many parts the sequences are worked on.
    jobs
        How many processes work on them.
    engine
        Who works on them.
    watch
        Called with each event of the run.
    choices
        Those of :func:`splice.recognise`: ``window``, ``step``, ``probabilities``, ``simultaneous``,
        ``successor``, ``given``.
    """
    check_choice(engine, shards)
    rules = load_theory(theory)
    options = _with_schema(options or InputOptions(), theory, rules, data)
    data, options = as_told_to(engine, data, options)
    opened = partial(open_input, data, options, queries=Queries.WRITTEN)
    if rules.holds is not None and (warning := other_convention(rules, opened().domain)):
        watch(Notice(warning))
    if shards > 1:
        with chosen_engine(engine, jobs, lambda text: watch(Notice(text))) as workers:
            parts = _in_shards(rules, opened, shards, workers, choices, watch)
        recognised = parts.only(fluents)
    else:
        recognised = _in_one_piece(rules, opened, fluents, choices, watch)
    for text in unmatched(rules, recognised.seen):
        watch(Notice(text))
    return recognised


def _with_schema(options: InputOptions, name: str, theory: Theory, data: Inputs) -> InputOptions:
    """Let the schema of a ``.mln`` say what the input means, where nothing else does."""
    described = (
        options.domain
        or options.schema
        or any(not path.exists() or (path / DOMAIN_FILE).is_file() for path in input_paths(data))
    )
    named = isinstance(data, str) and data in DATASETS
    if described or named or not theory.schema.predicates:
        return options
    return replace(options, schema=Path(name), partial=True)


def _in_one_piece(
    theory: Theory,
    opened: OpenSource,
    fluents: Sequence[str] | None,
    choices: Mapping[str, Any],
    watch: Watch,
) -> RecognisedInput:
    seen = SeenAtoms()
    source = ChangedSource(
        SeenSource(opened(), seen), lambda chunks: follow(chunks, Stage.RECOGNISE, watch)
    )
    recognition = recognise(theory, source, **choices)
    recognised = _recognised(recognition, recognition.intervals(fluents), source, seen)
    watch(Read(source.report))
    return replace(recognised, inference=recognition.inference)


def _recognised(
    recognition: Recognition, frame: pl.DataFrame, source: Source, seen: SeenAtoms
) -> RecognisedInput:
    times, inference = source.vocabulary.times, recognition.inference
    unproved = [] if inference is None or inference.optimal else [inference.method.value]
    return RecognisedInput(
        frame.with_columns(times.texts(frame["start"]), times.texts(frame["end"])),
        recognition.defined,
        recognition.targets,
        seen,
        frozenset(unproved),
    )


def _in_shards(
    theory: Theory,
    opened: OpenSource,
    count: int,
    engine: Engine,
    choices: Mapping[str, Any],
    watch: Watch,
) -> RecognisedInput:
    """Recognise in at most so many parts, each with the intervals of all its fluents."""
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
    return RecognisedInput(
        pl.concat([part.frame for part in parts]),
        frozenset().union(*(part.defined for part in parts)),
        parts[0].targets,
        seen,
        frozenset().union(*(part.unproved for part in parts)),
    )


def _recognise_shard(
    theory: Theory, opened: OpenSource, shard: Shard, choices: Mapping[str, Any]
) -> RecognisedInput:
    seen = SeenAtoms()
    source = SeenSource(open_shard(opened, shard), seen)
    recognition = recognise(theory, source, **choices)
    frame = recognition.intervals(recognition.defined)
    return _recognised(recognition, frame, source, seen)
