"""The labels to ask for next, of an input: questions to a person, and why they are asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from splice.active.session import LabelSession
from splice.active.strategy import STRATEGIES, Mix, Pick, QueryStrategy
from splice.completion.mode import Mode
from splice.completion.profile import SESSION_PROFILE, Profile
from splice.errors import SpliceError
from splice.inputs.open import InputOptions
from splice.labels import UNKNOWN
from splice.pipeline.source import Input, opener, with_measures
from splice.stream.mask import Unit


@dataclass(frozen=True, slots=True)
class Question:
    """A stretch to label next.

    Parameters
    ----------
    sequence
        The sequence that it lies in.
    fluents
        What is asked about: one ground fluent, or those that differ in the order of their entities
        and are judged as one.
    start, end
        Its time, half-open, as the input counts it.
    when
        The same as the input writes it.
    believed
        The share of its points that are believed to be true so far; None where no label tells.
    times
        The time-points at which a label is missing.
    points
        How many query atoms have no label yet.
    score
        How much it is worth to the strategy that picked it.
    reason
        Why it is asked, in words.
    """

    sequence: str
    fluents: tuple[str, ...]
    start: int
    end: int
    when: tuple[int | str, int | str]
    believed: float | None
    times: tuple[int, ...]
    points: int
    score: float
    reason: str

    def __str__(self) -> str:
        start, end = self.when
        place = f" of {self.sequence}" if self.sequence else ""
        return f"{self.fluents[0]} from {start} to {end}{place}: {self.reason}"

    def as_json(self) -> dict[str, Any]:
        """Return the question as plain values."""
        return {
            "sequence": self.sequence,
            "fluents": list(self.fluents),
            "start": self.when[0],
            "end": self.when[1],
            "believed": self.believed,
            "points": self.points,
            "score": self.score,
            "reason": self.reason,
        }

    def as_rows(self, label: str = "") -> list[dict[str, Any]]:
        """Return the question as rows of a labels table, for somebody to fill in the label."""
        return [
            {
                "sequence": self.sequence,
                "fluent": fluent,
                "start": self.when[0],
                "end": self.when[1],
                "label": label,
                "reason": self.reason,
            }
            for fluent in self.fluents
        ]


DEFAULT_STRATEGY = Mix()
"""The strategy that is best on the whole: chosen on simulated squares and seas."""


def ask(
    data: Input,
    options: InputOptions | None = None,
    *,
    budget: int = 20,
    strategy: QueryStrategy | str = DEFAULT_STRATEGY,
    length: int = 25,
    unit: Unit = Unit.PAIR,
    profile: Profile = SESSION_PROFILE,
    seed: int = 0,
) -> list[Question]:
    """Return the stretches of an input whose labels would help most, the best first.

    The labels that the input has are taken into account: add the answers to them and ask again.
    For many rounds on one stream use :class:`~splice.active.session.LabelSession`, which reads it once:
    ``questions(session, budget, strategy)`` and ``session.answer(rows, labels)``.

    Parameters
    ----------
    data
        A folder, a file, the name of a dataset, or a source.
    options
        What a named input means.
    budget
        How many questions.
    strategy
        How they are picked, or its name: ``mix``, ``coverage``, ``uncertainty``, ``change``, ``random``.
    length
        How many time-points a question is about at most: what a person can judge in one look.
    unit
        Whether both orders of the entities are one question.
    profile
        How missing labels are completed meanwhile.
    seed
        The seed of every random choice.

    Examples
    --------
    >>> from splice.lab.plaza import make_plaza
    >>> from splice.stream.mask import KeepBatches, MaskedSource
    >>> square = make_plaza(sequences=1, people=3, frames=200, seed=1).source
    >>> asked = ask(MaskedSource(square, KeepBatches(0)), budget=2)
    >>> [(question.fluents, question.points) for question in asked]
    [(('meet(ID2,ID3)', 'meet(ID3,ID2)'), 50), (('move(ID2,ID3)', 'move(ID3,ID2)'), 50)]
    """
    opened = with_measures(opener(data, options or InputOptions()), profile.mode(Mode.HINDSIGHT))
    session = LabelSession(opened(), profile, length, unit)
    chosen = STRATEGIES.parse(strategy) if isinstance(strategy, str) else strategy
    return questions(session, budget, chosen, np.random.default_rng(seed))


def questions(
    session: LabelSession,
    budget: int,
    strategy: QueryStrategy = DEFAULT_STRATEGY,
    rng: np.random.Generator | None = None,
) -> list[Question]:
    """Return questions about a session's stream, the best first.

    Parameters
    ----------
    session
        The stream and the labels so far.
    budget
        How many questions.
    strategy
        How they are picked.
    rng
        Where random choices come from (default: the same ones each time).
    """
    count: object = budget  # from a notebook it may be anything
    if not isinstance(count, int | np.integer) or count < 0:
        raise SpliceError(f"budget must be a number of questions, not {budget!r}", "such as 5")
    picks = strategy.pick(session.pool(), budget, rng or np.random.default_rng(0))
    return [question_of(session, pick) for pick in picks]


def question_of(session: LabelSession, pick: Pick) -> Question:
    """Return a stretch that was picked as a question to a person."""
    rows, stretches, queries = session.atoms(pick.stretch), session.stretches, session.queries
    done, times = session.completion, session.vocabulary.times
    left = rows[session.labels[rows] == UNKNOWN]
    reached = done.reached[left]
    start, end = int(stretches.start[pick.stretch]), int(stretches.end[pick.stretch])
    return Question(
        sequence=session.vocabulary.sequences[int(queries.sequence[rows[0]])],
        fluents=session.fluents(rows),
        start=start,
        end=end,
        when=(times.value(start), times.value(end)),
        believed=float((done.labels[left] > 0).mean()) if reached.any() else None,
        times=tuple(np.unique(queries.time[left]).tolist()),
        points=len(left),
        score=pick.score,
        reason=pick.reason,
    )
