"""The estimator: every verb of the command, over DataFrames."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Self

import polars as pl

from splice.display import html_table, preformatted
from splice.errors import did_you_mean
from splice.estimator.inspection import Inspection
from splice.estimator.messages import in_keywords, warn, warned
from splice.estimator.saved import from_checkpoint, saved_params, to_checkpoint
from splice.evaluation.confusion import By
from splice.evaluation.recognition import Scores, score
from splice.events.recognise import Recognition, recognise
from splice.events.theory_check import SeenAtoms, SeenSource, unmatched
from splice.inputs.frame_checks import refuse_empty
from splice.inputs.open import Queries, open_input
from splice.io.checkpoints import read_checkpoint, write_checkpoint
from splice.io.dataframes import AnyFrame, FrameKind
from splice.io.tables.frame_table import Frames
from splice.learners.learned_rule import rule_text
from splice.pipeline.completed import completed_frame
from splice.pipeline.incremental import learn_more
from splice.pipeline.learned import Learned
from splice.pipeline.progress import Watch, ignore
from splice.pipeline.run import learn
from splice.stream.source import Source

_NO_RULES: Final = (
    "no rule was good enough; what may help: more labels, of times at which it holds and at which not "
    "(ask() says where), passes=2, learner=splice.Oled(min_score=0.3), completer=None"
)
_SHOWN: Final = ("number", "words", "tp", "fp", "fn", "score")
"""What a table of rules begins with."""


class RuleLearner(Inspection):
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
        with in_keywords():
            options = self._input_options
            frames = self._with_labels(events, labels)
            source = open_input(frames, options)
            learned = learn(source, options, self._learn_options, watch=warned(watch, frames))
            self._keep(learned, source, frames)
            if not learned.rules:
                warn(_NO_RULES)
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
            What happens, as for :meth:`fit`; where there are neither rows nor labels, nothing is learned.
        labels
            What is known of it; None, or no rows: nothing, and the part is completed from the labels
            before.
        watch
            Called with each event of the run.
        """
        before = self.learned_ if self.is_fitted else None
        with in_keywords():
            options, part = self._input_options, self._part(events, labels).tables
            filled = {name: table for name, table in part.items() if table.height}
            if not filled:
                return self
            frames = Frames({"events": part["events"], **filled})
            refuse_empty(frames)  # there may be labels of nothing
            # A part has fewer names and types than the whole, so types are not inferred from it again.
            if before is not None:  # names mean what they meant
                options = replace(options, domain=self.domain_, schema=None, modes=None, query=None)
                if "labels" not in filled:  # what is asked about is known from the labels before
                    options = replace(options, open_world=True)
            source = open_input(frames, options)
            learned = learn_more(source, self._learn_options, before, watch=warned(watch, frames))
            self._keep(learned, source, frames)
        return self

    def _keep(self, learned: Learned, source: Source, frames: Frames) -> None:
        self.learned_ = learned
        self.domain_ = source.domain.holding(learned.theory.holds)
        self._frames, self._kind = frames, frames.tables["events"].columns.kind

    @property
    def rules_(self) -> AnyFrame:
        """The rules with their counts, as a table of the kind that was learned from."""
        rows = [rule.as_json() for rule in self._fitted.rules]
        table = (
            pl.DataFrame(rows) if rows else pl.DataFrame(schema=dict.fromkeys(_SHOWN, pl.String))
        )
        return self._kind.frame(table.select(*_SHOWN, pl.exclude(_SHOWN)))

    # completing

    def complete(self, events: AnyFrame, labels: AnyFrame) -> AnyFrame:
        """Return a label for every query atom: ``sequence, fluent, time, label, confidence, given``.

        A last column, ``calibrated``, says whether confidence is the chance that the label is right.

        Nothing needs to be learned before, and nothing is learned.

        Parameters
        ----------
        events
            What happens, as for :meth:`fit`.
        labels
            What is known of it.
        """
        with in_keywords():
            frames = self._with_labels(events, labels)
            source = self._completed(frames)
            completed = completed_frame(source)
            return frames.tables["events"].like(completed, source.vocabulary.times)

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
        with in_keywords():
            return self._recognise(self._part(events), options)[0]

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
        with in_keywords():
            frames = self._part(events)
            recognition, source = self._recognise(frames, options)
            return frames.tables["events"].like(recognition.intervals(), source.vocabulary.times)

    def _recognise(self, frames: Frames, options: dict[str, Any]) -> tuple[Recognition, Source]:
        theory, seen = self.theory_, SeenAtoms()
        source = SeenSource(self._written(frames), seen)
        recognition = recognise(theory, source, **options)
        if frames.tables["events"].height:
            for text in unmatched(theory, seen):
                warn(text)
        return recognition, source

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
        with in_keywords():
            frames = self._with_labels(events, labels)
            truth = open_input(frames, self._input_options, queries=Queries.LABELLED)
            recognition, _ = self._recognise(Frames({"events": frames.tables["events"]}), {})
            scores = score(truth, recognition, by=by, tolerance=tolerance)
            learned = self._fitted.fluents
            for name in sorted(scores.fluents.keys() - learned):
                hint = did_you_mean(name, learned) or f"learned about: {', '.join(sorted(learned))}"
                warn(f"no rules for '{name}'; {hint}")
            return scores

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

    # keeping

    def save(self, path: str | Path) -> None:
        """Write all that was chosen and learned to a file, whole or not at all; it is no pickle.

        Parameters
        ----------
        path
            The file.
        """
        params, learned = self.get_params(), self._fitted
        saved = to_checkpoint(params, learned, self.domain_, self._kind.library)
        write_checkpoint(Path(path), saved)

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
        model._kind = FrameKind.named(saved.state.get("frames", ""))
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
