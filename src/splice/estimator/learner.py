"""The estimator: every verb of the command, over DataFrames."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final, Self, TypeVar

import polars as pl

from splice.completion.explain import Explanation
from splice.completion.profile import PROFILES, Profile, profile
from splice.completion.source import CompletedSource
from splice.errors import SpliceError, UnknownName
from splice.estimator.saved import from_checkpoint, saved_params, to_checkpoint
from splice.estimator.told import told_in_python, warn, warned
from splice.evaluation.measures import By
from splice.evaluation.recognition import Scores, score
from splice.events.crisp.explain import IntervalExplanation, explain_interval
from splice.events.crisp.program import compile_program
from splice.events.recognise import Recognition, recognise
from splice.events.unmatched import SeenAtoms, SeenSource, unmatched
from splice.inputs.frame_checks import check_frames
from splice.inputs.frames import frames_of
from splice.inputs.open import InputOptions, Queries, open_input
from splice.io.checkpoints import read_checkpoint, write_checkpoint
from splice.io.dataframes import AnyFrame, FrameKind
from splice.io.tables.frame_table import Columns, Frames
from splice.io.tables.values import counted
from splice.learners.learned_rule import LearnedRule, rule_text
from splice.learners.options import LearnerOptions
from splice.learners.protocol import StructureLearner
from splice.learners.registry import LEARNERS
from splice.logic.domain import Domain
from splice.logic.syntax import parse_ground_term
from splice.logic.theory import Theory
from splice.options import html_table, preformatted
from splice.pipeline.completed import completed_frame, explain_label
from splice.pipeline.incremental import learn_more
from splice.pipeline.learned import Learned, LearnOptions
from splice.pipeline.progress import Watch, ignore
from splice.pipeline.run import learn
from splice.stream.batch import TimePoints
from splice.stream.source import Source, one_sequence
from splice.stream.times import TimeFormat

__all__ = ["RuleLearner"]

Options = TypeVar("Options", InputOptions, Columns)

_USUAL: Final = "default"
_SHOWN: Final = ("number", "words", "tp", "fp", "fn", "score")
"""What a table of rules begins with."""


def _names(*options: type) -> tuple[str, ...]:
    return tuple(field.name for each in options for field in fields(each))


_LEARNING: Final = tuple(
    n for n in _names(LearnOptions) if n not in ("profile", "learner", "words")
)
_OPTIONS: Final = (*_LEARNING, *_names(InputOptions, Columns))


class RuleLearner:
    """Learns rules from a table of events and a table of labels, and says when they hold.

    Parameters
    ----------
    learner
        What makes the rules: a learner such as ``Oled(depth=3)``, its options, or its name.
    completer
        How labels that are missing are filled in: a :class:`Profile` or its name; None: not at all.
    **options
        What frames call their columns (fields of :class:`Columns`: ``time="ts"``, ``args=["who"]``),
        what the data means and how strictly it is read (:class:`InputOptions`: ``sort=True``,
        ``every="1min"``, ``domain=...``), and how to learn (:class:`LearnOptions`: ``batch_size``,
        ``passes``, ``mode``).
    """

    learned_: Learned
    domain_: Domain

    def __init__(
        self,
        learner: str | LearnerOptions | StructureLearner = "oled",
        completer: str | Profile | None = _USUAL,
        **options: Any,
    ) -> None:
        self.learner = learner
        self.completer = completer
        self._options: dict[str, Any] = {}
        self._kind = FrameKind()
        self.set_params(**options)

    # parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all that was chosen, by name."""
        return {"learner": self.learner, "completer": self.completer, **self._options}

    def set_params(self, **params: Any) -> Self:
        """Choose anew; what was learned stays until the next :meth:`fit`."""
        for name, value in params.items():
            if name in ("learner", "completer"):
                setattr(self, name, value)
            elif name in _OPTIONS:
                self._options[name] = value
            else:
                raise _unknown_option(name)
        return self

    @property
    def _columns(self) -> Columns:
        return self._chosen(Columns)

    def _chosen(self, options: type[Options]) -> Options:
        own = _names(options)
        return options(**{name: value for name, value in self._options.items() if name in own})

    @property
    def _learn_options(self) -> LearnOptions:
        chosen = {name: value for name, value in self._options.items() if name in _LEARNING}
        options = LearnOptions(learner=LEARNERS.made(self.learner), **chosen)
        if self.completer == _USUAL:
            return options
        wanted = profile(self.completer) if isinstance(self.completer, str) else self.completer
        if wanted is not None and not isinstance(wanted, Profile):
            raise SpliceError(
                f"a value of type {type(wanted).__name__} is no completer",
                f"name a profile: {', '.join(PROFILES)}; or give a splice.Profile, or None",
            )
        return replace(options, profile=wanted)

    # learning

    def fit(self, events: AnyFrame, labels: AnyFrame, *, watch: Watch = ignore) -> Self:
        """Forget everything, and learn from events of which some are labelled.

        Parameters
        ----------
        events
            What happens: ``[sequence,] time, event, arg1, arg2, ...``, ordered by time.
        labels
            What is known to hold, and not to: ``[sequence,] fluent, start, end, label``, or one
            row a time-point with ``time`` for ``start`` and ``end``.
        watch
            Called with each event of the run (:mod:`splice.pipeline.progress`).
        """
        with told_in_python():
            options = self._chosen(InputOptions)
            frames = self._labelled(events, labels)
            source = open_input(frames, options)
            learned = learn(source, options, self._learn_options, watch=warned(watch, frames))
            self._keep(learned, source, frames)
        return self

    def partial_fit(
        self, events: AnyFrame, labels: AnyFrame | None = None, *, watch: Watch = ignore
    ) -> Self:
        """Learn from a further part of the stream, in one pass; nothing is forgotten.

        Labels that are missing are completed with those seen so far. A sequence goes on where it
        ended; what is not the same stretch of time has another name in the column ``sequence``.

        Parameters
        ----------
        events
            What happens, as for :meth:`fit`.
        labels
            What is known of it; None: nothing, and the part is completed from the labels before.
        watch
            Called with each event of the run.
        """
        before = self.learned_ if self.is_fitted else None
        with told_in_python():
            options = self._chosen(InputOptions)
            if before is not None:  # names mean what they meant
                options = replace(options, domain=self.domain_, schema=None, modes=None, query=None)
                if labels is None:  # what is asked about is known from the labels before
                    options = replace(options, open_world=True)
            frames = self._labelled(events, labels)
            source = open_input(frames, options)
            learned = learn_more(source, self._learn_options, before, watch=warned(watch, frames))
            self._keep(learned, source, frames)
        return self

    def _keep(self, learned: Learned, source: Source, frames: Frames) -> None:
        self.learned_ = learned
        self.domain_ = source.domain
        self._kind = frames.tables["events"].columns.kind

    def _labelled(self, events: AnyFrame, labels: AnyFrame | None) -> Frames:
        frames = frames_of(self._columns, events=events, labels=labels)
        if not self._options.get("domain"):
            check_frames(frames)
        return frames

    @property
    def is_fitted(self) -> bool:
        """Whether anything was learned."""
        return hasattr(self, "learned_")

    @property
    def theory_(self) -> Theory:
        """The rules, as a value."""
        return self._fitted.theory

    @property
    def rules_(self) -> AnyFrame:
        """The rules with their counts, as a table of the kind that was learned from."""
        rows = [rule.as_json() for rule in self._fitted.rules]
        table = (
            pl.DataFrame(rows) if rows else pl.DataFrame(schema=dict.fromkeys(_SHOWN, pl.String))
        )
        return self._kind.frame(table.select(*_SHOWN, pl.exclude(_SHOWN)))

    @property
    def _fitted(self) -> Learned:
        if not self.is_fitted:
            raise SpliceError("nothing was learned yet", "call fit(events, labels) first")
        return self.learned_

    # completing

    def complete(self, events: AnyFrame, labels: AnyFrame) -> AnyFrame:
        """Return a label for every query atom: ``sequence, fluent, time, label, confidence, given``.

        Nothing needs to be learned before, and nothing is learned.

        Parameters
        ----------
        events
            What happens, as for :meth:`fit`.
        labels
            What is known of it.
        """
        with told_in_python():
            frames = self._labelled(events, labels)
            source = self._completed(frames)
            found = completed_frame(source)
            return frames.tables["events"].like(found, source.vocabulary.times)

    def _completed(self, frames: Frames) -> CompletedSource:
        choices = self._learn_options
        if choices.profile is None:
            raise SpliceError("completer=None completes nothing", "name a profile, or leave it out")
        source = open_input(frames, self._chosen(InputOptions))
        cut = TimePoints(choices.batch_size)
        return CompletedSource(source, choices.profile, cut, **self._mode)

    @property
    def _mode(self) -> dict[str, Any]:
        return {name: value for name, value in self._options.items() if name == "mode"}

    # recognising

    def recognise(self, events: AnyFrame, **options: Any) -> Recognition:
        """Return what holds, according to the rules, as :func:`splice.recognise` does.

        Parameters
        ----------
        events
            What happens.
        **options
            As :func:`splice.recognise` has them: ``window``, ``probabilities``, ``simultaneous``...
        """
        with told_in_python():
            return self._recognise(self._labelled(events, None), options)[0]

    def predict(self, events: AnyFrame) -> AnyFrame:
        """Return when fluents hold: ``sequence, fluent, start, end``, in the caller's kind of frame.

        Intervals are half-open; their times have the type that the events' times have.

        Parameters
        ----------
        events
            What happens, as for :meth:`fit`.
        """
        return self._intervals(events)

    def predict_proba(self, events: AnyFrame) -> AnyFrame:
        """Return when fluents hold, with probabilities; only theories with weights have them.

        Parameters
        ----------
        events
            What happens, as for :meth:`fit`.
        """
        return self._intervals(events, probabilities=True)

    def _intervals(self, events: AnyFrame, **options: Any) -> AnyFrame:
        with told_in_python():
            frames = self._labelled(events, None)
            found, source = self._recognise(frames, options)
            return frames.tables["events"].like(found.intervals(), source.vocabulary.times)

    def _recognise(self, frames: Frames, options: dict[str, Any]) -> tuple[Recognition, Source]:
        theory, seen = self.theory_, SeenAtoms()
        source = SeenSource(self._written(frames), seen)
        found = recognise(theory, source, **options)
        for text in unmatched(theory, seen):
            warn(text)
        return found, source

    def _written(self, frames: Frames) -> Source:
        return open_input(frames, self._chosen(InputOptions), queries=Queries.WRITTEN)

    def scores(
        self, events: AnyFrame, labels: AnyFrame, *, by: By = By.POINTS, tolerance: int = 0
    ) -> Scores:
        """Return how right the rules are, by fluent and in all, over the labelled time-points.

        Parameters
        ----------
        events
            What happens.
        labels
            What is true of it.
        by
            What is counted: time-points, the time they stand for, or intervals.
        tolerance
            How many labelled points an answer may be early or late.
        """
        with told_in_python():
            frames = self._labelled(events, labels)
            truth = open_input(frames, self._chosen(InputOptions), queries=Queries.LABELLED)
            found, _ = self._recognise(Frames({"events": frames.tables["events"]}), {})
            return score(truth, found, by=by, tolerance=tolerance)

    def score(self, events: AnyFrame, labels: AnyFrame) -> float:
        """Return F1 of all fluents over the labelled time-points; :meth:`scores` tells more.

        Parameters
        ----------
        events
            What happens.
        labels
            What is true of it.
        """
        return self.scores(events, labels).total.f1

    # explaining

    def explain(
        self,
        what: int | str,
        at: Any = None,
        events: AnyFrame | None = None,
        labels: AnyFrame | None = None,
        *,
        sequence: Any = None,
    ) -> LearnedRule | IntervalExplanation | Explanation:
        """Return why a rule was learned, why a fluent holds, or why it was given its label.

        Parameters
        ----------
        what
            The number of a rule: how it came about. Or a fluent, such as ``meet(ID1,ID2)``: with events
            alone, which rules began and ended the interval; with labels, too, why a label was
            completed as it was.
        at
            The time-point, as the events have it.
        events
            What happens.
        labels
            What is known of it.
        sequence
            The sequence, if there are several.
        """
        if isinstance(what, int):
            rules = self._fitted.rules
            if not 1 <= what <= len(rules):
                some = f"1 to {len(rules)}" if rules else "none"
                raise SpliceError(f"there is no rule {what}", f"the numbers of the rules: {some}")
            return rules[what - 1]
        if at is None or events is None:
            raise SpliceError(
                f"when, and in which events, does {what} hold?", "say explain(fluent, at, events)"
            )
        name = None if sequence is None else str(sequence)

        def moment(times: TimeFormat) -> int:
            return counted(at, times)

        with told_in_python():
            frames = self._labelled(events, labels)
            if labels is not None:
                return explain_label(self._completed(frames).completions(), what, moment, name)
            source = self._written(frames)
            program = compile_program(self.theory_, source.domain)
            table = one_sequence(source, name)
            term = parse_ground_term(what)
            return explain_interval(
                program, table, term, moment(source.vocabulary.times), source.domain
            )

    # keeping

    def save(self, path: str | Path) -> None:
        """Write all that was chosen and learned to a file, whole or not at all; it is no pickle.

        Parameters
        ----------
        path
            The file.
        """
        write_checkpoint(Path(path), to_checkpoint(self.get_params(), self._fitted, self.domain_))

    @classmethod
    def load(cls, path: str | Path, **params: Any) -> Self:
        """Return what was saved: it predicts, and goes on with :meth:`partial_fit`.

        Parameters
        ----------
        path
            The file.
        **params
            What could not be saved, or is to be another: a learner or a completer of your own.
        """
        saved = read_checkpoint(Path(path))
        model = cls(**{**saved_params(saved), **params})
        model.learned_, model.domain_ = from_checkpoint(saved, model._learn_options)
        return model

    def __str__(self) -> str:
        if not self.is_fitted:
            return repr(self)
        parts = ["\n".join(rule.lines()) for rule in self._fitted.rules]
        return "\n\n".join(parts) or "% No rule was good enough."

    def _repr_html_(self) -> str:
        if not self.is_fitted:
            return preformatted(repr(self))
        rows = [
            {**rule.as_json(), "rule": rule_text(rule.statement)} for rule in self._fitted.rules
        ]
        return html_table(rows, ("number", "rule", "words", "tp", "fp", "fn", "score"))

    def __repr__(self) -> str:
        usual = inspect.signature(type(self)).parameters
        chosen = ", ".join(
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if name not in usual or value != usual[name].default
        )
        return f"RuleLearner({chosen})"


def _unknown_option(name: str) -> SpliceError:
    for kind in LEARNERS.known.values():
        if name in _names(kind.options):
            made = kind.make.partition(":")[2] if isinstance(kind.make, str) else kind.name
            return SpliceError(
                f"'{name}' is an option of a learner", f"say learner=splice.{made}({name}=...)"
            )
    return UnknownName("option", name, [*_OPTIONS, "learner", "completer"])
