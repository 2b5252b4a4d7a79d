"""The Python door: DataFrames in, rules and intervals out.

>>> import polars as pl
>>> hours = range(200)
>>> events = pl.DataFrame({
...     "time": hours, "event": ["warm" if h % 20 < 8 else "cold" for h in hours], "arg1": "room",
... })
>>> labels = pl.DataFrame({
...     "fluent": "heated(room)", "time": hours, "label": [h % 20 < 8 for h in hours],
... })
>>> model = RuleLearner().fit(events, labels[:100])
>>> model.predict(events).columns
['sequence', 'fluent', 'start', 'end']

A :class:`RuleLearner` adds nothing to what is learned: it calls :func:`splice.learn`,
:func:`splice.recognise` and the others as the command does, with frames for files.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any, Final, Self, TypeVar

import polars as pl

from splice.completion.profile import Profile, profile
from splice.errors import InputError, SpliceError, SpliceWarning, UnknownName
from splice.events.recognise import Recognition, recognise
from splice.events.unmatched import SeenAtoms, SeenSource, unmatched
from splice.inputs.frames import frames_of
from splice.inputs.open import InputOptions, Queries, open_input
from splice.io.dataframes import AnyFrame
from splice.io.tables.frame_table import Columns, Frames
from splice.learners.options import LearnerOptions
from splice.learners.protocol import StructureLearner
from splice.learners.registry import LEARNERS
from splice.logic.theory import Theory
from splice.pipeline.learned import Learned, LearnOptions
from splice.pipeline.progress import Event, Told, Warned, Watch, ignore
from splice.pipeline.run import learn
from splice.stream.source import Source

__all__ = ["RuleLearner"]

Options = TypeVar("Options", InputOptions, Columns)

_USUAL: Final = "default"


def _names(*options: type) -> frozenset[str]:
    return frozenset(field.name for each in options for field in fields(each))


_LEARNING: Final = _names(LearnOptions) - {"profile", "learner", "words"}
_OPTIONS: Final = _LEARNING | _names(InputOptions, Columns)


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

    def __init__(
        self,
        learner: str | LearnerOptions | StructureLearner = "oled",
        completer: str | Profile | None = _USUAL,
        **options: Any,
    ) -> None:
        self.learner = learner
        self.completer = completer
        self._options: dict[str, Any] = {}
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
        with _told_in_python():
            frames = frames_of(self._columns, events=events, labels=labels)
            options = self._chosen(InputOptions)
            source = open_input(frames, options)
            self.learned_: Learned = learn(
                source, options, self._learn_options, watch=_warning(watch)
            )
        return self

    @property
    def theory_(self) -> Theory:
        """The rules, as a value."""
        return self._fitted.theory

    @property
    def rules_(self) -> pl.DataFrame:
        """The rules with their counts, as a table."""
        return pl.DataFrame([rule.as_json() for rule in self._fitted.rules])

    @property
    def _fitted(self) -> Learned:
        if not hasattr(self, "learned_"):
            raise SpliceError("nothing was learned yet", "call fit(events, labels) first")
        return self.learned_

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
        with _told_in_python():
            return self._recognise(frames_of(self._columns, events=events), options)[0]

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
        with _told_in_python():
            frames = frames_of(self._columns, events=events)
            found, source = self._recognise(frames, options)
            table, times = frames.tables["events"], source.vocabulary.times
            return table.like(found.intervals(), times)

    def _recognise(self, frames: Frames, options: dict[str, Any]) -> tuple[Recognition, Source]:
        theory, seen = self.theory_, SeenAtoms()
        inner = open_input(frames, self._chosen(InputOptions), queries=Queries.WRITTEN)
        source = SeenSource(inner, seen)
        found = recognise(theory, source, **options)
        for text in unmatched(theory, seen):
            _warn(text)
        return found, source

    def __str__(self) -> str:
        if not hasattr(self, "learned_"):
            return repr(self)
        parts = ["\n".join(rule.lines()) for rule in self._fitted.rules]
        return "\n\n".join(parts) or "% No rule was good enough."

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
    return UnknownName("option", name, {*_OPTIONS, "learner", "completer"})


def _warn(text: str) -> None:
    warnings.warn(text, SpliceWarning, stacklevel=5)


def _warning(watch: Watch) -> Callable[[Event], None]:
    """Let a run's notes be warnings; everything else goes to whoever watches."""

    def see(event: Event) -> None:
        if isinstance(event, Told):
            _warn(_in_python(event.text))
        elif isinstance(event, Warned):
            _warn(_in_python(str(event.problem)))
        watch(event)

    return see


@contextmanager
def _told_in_python() -> Iterator[None]:
    """Let errors speak of keywords where they speak of the command's options."""
    try:
        yield
    except InputError as error:
        raise InputError(
            replace(problem, hint=_in_python(problem.hint)) for problem in error.problems
        ) from None
    except SpliceError as error:
        error.message, error.hint = _in_python(error.message), _in_python(error.hint)
        raise


def _in_python(text: str) -> str:
    """Return a text that says options as Python does.

    >>> _in_python("sort the rows, or ask with --sort; declare one: --time-unit s")
    "sort the rows, or ask with sort=True; declare one: time_unit='s'"
    """
    flags = {each.name for each in fields(InputOptions) if each.type == "bool"}

    def said(match: re.Match[str]) -> str:
        name, value = match[1].replace("-", "_"), match[2] or ""
        if name not in _OPTIONS:
            return match[0]
        if name in flags:
            return f"{name}=True{value}"
        return f"{name}={value.strip()!r}" if value else name

    return re.sub(r"--([a-z][a-z-]*[a-z])( [a-z0-9]+)?", said, text)
