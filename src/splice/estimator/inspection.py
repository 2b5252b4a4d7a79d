"""What there is to look at in an estimator: reasons, questions, pictures and the page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from splice.active.ask import ask
from splice.completion.explain import Explanation
from splice.completion.profile import Profile
from splice.completion.source import CompletedSource
from splice.errors import SpliceError
from splice.estimator.frames import labelled, question_frame, question_points, recognised
from splice.estimator.messages import in_keywords, warn
from splice.estimator.params import Parameters
from splice.events.crisp.explain import IntervalExplanation, explain_interval
from splice.events.crisp.program import compile_program
from splice.inputs.frame_checks import check_frames, refuse_empty, unread
from splice.inputs.open import Queries, open_input
from splice.io.dataframes import AnyFrame, FrameKind
from splice.io.outputs import new_file
from splice.io.tables.frame_table import Frames, frames_of
from splice.io.tables.values import time_point_of
from splice.learners.learned_rule import LearnedRule
from splice.learners.options import LearnerOptions
from splice.learners.protocol import StructureLearner
from splice.logic.domain import Domain
from splice.logic.syntax import parse_ground_term
from splice.logic.theory import Theory
from splice.pipeline.completed import explain_label
from splice.pipeline.learned import Learned
from splice.pipeline.source import opener, with_measures
from splice.pipeline.verdict import Verdict
from splice.report.html import report_page
from splice.report.picture import Picture, rule_picture, timeline_picture
from splice.report.run import learned_report
from splice.stream.batch import TimePoints
from splice.stream.source import Source, one_sequence
from splice.stream.times import TimeFormat

_LEARNED: Final = ("learned_", "domain_", "theory_", "verdict_", "rules_", "_fitted")
"""Attributes of a fitted estimator."""


class NotFitted(SpliceError, AttributeError):
    """Nothing was learned yet, and so an attribute is not there."""


class Inspection(Parameters):
    """An estimator that has learned something, and can be asked about it."""

    learned_: Learned
    domain_: Domain
    _kind: FrameKind

    def __init__(
        self,
        learner: str | LearnerOptions | StructureLearner = "oled",
        completer: str | Profile | None = "default",
        **options: Any,
    ) -> None:
        super().__init__(learner, completer, **options)
        self._frames: Frames | None = None

    def _with_labels(self, events: AnyFrame, labels: AnyFrame) -> Frames:
        if labels is None:
            raise SpliceError(
                "there are no labels: labels is None",
                "give a frame of what is known to hold and not to: fluent, start, end, label",
            )
        return self._labelled(events, labels)

    def _labelled(self, events: AnyFrame, labels: AnyFrame | None) -> Frames:
        frames = self._part(events, labels)
        if not self._options.get("domain"):
            refuse_empty(frames)
        return frames

    def _part(self, events: AnyFrame, labels: AnyFrame | None = None) -> Frames:
        """Return frames that may be without rows, as some parts of a stream are."""
        if events is None:
            raise SpliceError(
                "there are no events: events is None",
                "give a frame of what happens: time, event, arg1, arg2, ...",
            )
        frames = frames_of(self._columns, events=events, labels=labels)
        if not self._options.get("domain"):
            check_frames(frames)
            if text := unread(frames):
                warn(text)
        return frames

    @property
    def is_fitted(self) -> bool:
        """Whether anything was learned."""
        return "learned_" in self.__dict__

    @property
    def theory_(self) -> Theory:
        """The rules, as a value."""
        return self._fitted.theory

    @property
    def verdict_(self) -> Verdict:
        """By fluent, how good the rules are on given labels that were held out, beside others."""
        return self._fitted.verdict

    @property
    def _fitted(self) -> Learned:
        return self.learned_

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in _LEARNED and not self.is_fitted:
                raise NotFitted("nothing was learned yet", "call fit(events, labels) first")
            return super().__getattr__(name)

    # what scikit-learn asks for before it passes an estimator on

    def __sklearn_is_fitted__(self) -> bool:
        return self.is_fitted

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags  # noqa: PLC0415  (whoever asks has it)

        return Tags(None, TargetTags(required=True), input_tags=InputTags(two_d_array=False))

    def _completed(self, frames: Frames) -> CompletedSource:
        choices = self._learn_options
        if choices.profile is None:
            raise SpliceError("completer=None completes nothing", "name a profile, or leave it out")
        opened = with_measures(opener(frames, self._input_options), choices.run_mode)
        cut = TimePoints(choices.batch_size)
        return CompletedSource(opened(), choices.profile, cut, choices.run_mode)

    def _written(self, frames: Frames) -> Source:
        return open_input(frames, self._input_options, queries=Queries.WRITTEN)

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
        if not isinstance(what, str):
            return self._rule(what)
        if at is None or events is None:
            raise SpliceError(
                f"when, and in which events, does {what} hold?", "say explain(fluent, at, events)"
            )
        name = None if sequence is None else str(sequence)

        def moment(times: TimeFormat) -> int:
            return time_point_of(at, times)

        with in_keywords():
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

    def _rule(self, number: object) -> LearnedRule:
        rules = self._fitted.rules
        if not isinstance(number, int | np.integer):
            kind = type(number).__name__
            raise SpliceError(
                f"a value of type {kind} is neither the number of a rule nor a fluent",
                "such as 1, or 'meet(anna,bob)' with the time and the events",
            )
        if not 1 <= number <= len(rules):
            some = f"1 to {len(rules)}" if rules else "none"
            raise SpliceError(f"there is no rule {number}", f"the numbers of the rules: {some}")
        return rules[int(number) - 1]

    def ask(
        self,
        budget: int = 5,
        events: AnyFrame | None = None,
        labels: AnyFrame | None = None,
        **options: Any,
    ) -> AnyFrame:
        """Return where a label would help most: ``sequence, fluent, start, end, label, believed, reason``.

        The labels are empty: fill them in, add the rows to the labels and fit again. The columns have
        the names that the labels' own have, and there is no ``sequence`` where the labels have none;
        labels of one row a time-point are asked for so, with ``time`` in place of ``start`` and ``end``.

        Parameters
        ----------
        budget
            How many questions.
        events, labels
            What to ask about; default: what was learned from.
        **options
            As :func:`splice.ask` has them: ``strategy``, ``length``, ``seed``...
        """
        with in_keywords():
            frames = self._shown(events, labels)
            source = open_input(frames, self._input_options)
            chosen = {"profile": self._learn_options.profile, **options}
            questions = ask(
                source, budget=budget, **{k: v for k, v in chosen.items() if v is not None}
            )
            answered = frames.tables.get("labels")
            by_point = answered is not None and "time" in answered.names
            rows = question_points(questions) if by_point else question_frame(questions)
            return (answered or frames.tables["events"]).further_rows(rows, source.vocabulary.times)

    # pictures

    def plot_timeline(
        self,
        events: AnyFrame | None = None,
        labels: AnyFrame | None = None,
        *,
        sequence: Any = None,
    ) -> Picture:
        """Return a picture of a sequence: labels given and completed, what the rules say, and events.

        Parameters
        ----------
        events
            What happens; default: what was learned from.
        labels
            What is known of it; None: only what the rules say is shown.
        sequence
            The sequence (default: the first in which something is labelled true).
        """
        name = None if sequence is None else str(sequence)
        with in_keywords():
            frames = self._shown(events, labels)
            theory = self.theory_ if self.is_fitted else None
            if "labels" in frames.tables:
                return timeline_picture(labelled(self._completed(frames), theory, name))
            return timeline_picture(recognised(self._written(frames), self.theory_, name))

    def plot_rule(self, number: int = 1) -> Picture:
        """Return a picture of a rule: its conditions, what follows, and how often it was right.

        Parameters
        ----------
        number
            Its place among the rules, from 1.
        """
        return rule_picture(self._rule(number))

    def report(
        self, path: str | Path, events: AnyFrame | None = None, labels: AnyFrame | None = None
    ) -> None:
        """Write the page of what was learned, as ``splice learn --report`` does; it works offline.

        Parameters
        ----------
        path
            The file, whose name ends in ``.html``.
        events, labels
            What was learned from, where it is not here any more.
        """
        with in_keywords():
            frames = self._shown(events, labels)
            options, choices = self._input_options, self._learn_options
            page = report_page(learned_report(frames, options, choices, self._fitted))
            with new_file(Path(path)) as partial:
                partial.write_text(page, encoding="utf-8")

    def _shown(self, events: AnyFrame | None, labels: AnyFrame | None) -> Frames:
        """Return the frames that are given, or those that were learned from."""
        if events is not None:
            return self._labelled(events, labels)
        if self._frames is None:
            raise SpliceError("there are no events here", "give them: events, and labels")
        return self._frames
