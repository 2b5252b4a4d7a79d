"""Theories that teach back: what was learned votes in the completion of what it is learned from anew.

After a round of learning the theory is run over the input. Where it says that a fluent holds, or not, the
chance that it does is what given labels say of such answers (its counts of right and wrong); that is a
vote for each missing label (:mod:`splice.completion.votes`). Labels are completed with the votes, and a new
learner sees them. It ends after so many rounds, or when nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy as np

from splice.arrays import Floats
from splice.completion.completer import LabelCounts, SupervisionCompleter
from splice.completion.mode import Mode
from splice.completion.profile import Profile
from splice.completion.result import Completion
from splice.completion.source import in_hindsight
from splice.errors import SpliceError
from splice.evaluation.confusion import Confusion
from splice.evaluation.recognition import confusions, fluent_names, labels_from
from splice.events.crisp.recognition import Recognised
from splice.events.recognise import recognise
from splice.labels import FALSE, UNKNOWN, LabelArray
from splice.logic.domain import Domain
from splice.logic.syntax import parse_theory
from splice.logic.theory import Theory
from splice.pipeline.source import RunStream
from splice.states import anything, each, record, text, whole
from splice.stream.batch import MicroBatch
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Round:
    """What a round of teaching back has changed.

    Parameters
    ----------
    number
        The round, from 1.
    changed
        Completed labels that differ from those of the round before.
    rules
        Rules that were learned from them.
    """

    number: int
    changed: int
    rules: int

    def __str__(self) -> str:
        rules = f"{self.rules} rule{'s' * (self.rules != 1)}"
        return f"round {self.number}: {self.changed:,} completed labels changed, {rules}"


@dataclass(frozen=True, eq=False)
class Votes:
    """What a theory says of the query atoms of an input, and how often that is right.

    Parameters
    ----------
    recognised
        What it recognises, by the number of the sequence.
    chances
        By fluent, the chance that it holds where the theory says that it does not, and that it does.
    """

    recognised: Mapping[int, Recognised]
    chances: Mapping[str, tuple[float, float]]

    @classmethod
    def of(cls, theory: Theory, stream: RunStream) -> Votes:
        """Run a theory over an input, and count its answers at the labels that are given."""
        recognition = recognise(theory, stream.source)
        recognised = {
            int(code): part
            for part in recognition.parts
            for code in np.unique(part.fluents.sequence)
        }
        counts = dict.fromkeys(recognition.defined, Confusion())
        for batch in stream:
            given = batch.queries.take(batch.labels != UNKNOWN)
            if not len(given):
                continue
            answers = _answers(recognised, given)
            for name, right in confusions(given, given.truth, answers).items():
                if name in counts:
                    counts[name] += right
        return cls(recognised, {name: _chances(count) for name, count in counts.items()})

    def __call__(self, queries: AtomTable) -> Floats:
        """Return the votes for query atoms of one sequence; NaN where the theory has no rules."""
        chance = np.full(len(queries), np.nan)
        answers = _answers(self.recognised, queries)
        names, which = fluent_names(queries)
        for number, name in enumerate(names):
            if name in self.chances:
                of_fluent = which == number
                chance[of_fluent] = np.where(answers[of_fluent] > 0, *reversed(self.chances[name]))
        return chance


def _answers(recognised: Mapping[int, Recognised], queries: AtomTable) -> LabelArray:
    part = recognised.get(int(queries.sequence[0])) if len(queries) else None
    if part is None:
        return np.full(len(queries), FALSE, np.int8)
    return labels_from(part, queries)


def _chances(counts: Confusion) -> tuple[float, float]:
    """Return the chances of an answer no and of an answer yes: as often as labels were true there."""
    # As if there had been one more right and one more wrong answer: with few labels nobody is sure.
    no = (counts.fn + 1) / (counts.fn + counts.tn + 2)
    return no, (counts.tp + 1) / (counts.tp + counts.fp + 2)


TEACHING = record(
    round=whole(),
    voters=each(text),
    changed=whole(),
    rounds=each(record(number=whole(), changed=whole(), rules=whole())),
    before=anything,
)
"""The shape of the state of teaching back."""


class Teaching:
    """Where teaching back stands: the round, the theories that vote in it, and what has changed.

    Parameters
    ----------
    stream
        The input.
    profile
        How labels are completed; None: not at all.
    most
        The most rounds; 0: a theory teaches nobody.
    """

    def __init__(self, stream: RunStream, profile: Profile | None, most: int) -> None:
        self._stream, self._profile, self._most = stream, profile, most
        self.round = self.changed = 0
        self.rounds: list[Round] = []
        # The votes of this round are the last; those of the round before it stay to complete beside them, so
        # that what has changed can be counted. None: the theory of no round, which votes for nothing.
        self._voters: list[Theory] = []
        self._ballots: list[Votes | None] = [None]
        self._before: SupervisionCompleter | None = None
        self._mark: dict[str, Any] | None = None

    def completer(self, counts: LabelCounts) -> SupervisionCompleter:
        """Return what completes the labels in this round; what did in the last is kept to compare."""
        assert self._profile is not None
        reading = self._stream.reading(ground=self._profile.distance.ground)
        *before, now = (
            in_hindsight(self._profile, counts, votes, reading) for votes in self._ballots[-2:]
        )
        self._before = before[0] if before else None
        return now

    def mark(self) -> None:
        """Note what the completer of the round before knows before a block, for a checkpoint."""
        begun = self._before is not None and self._before.has_begun
        self._mark = self._before.to_state() if self._before and begun else None

    def resume(self, state: dict[str, Any], domain: Domain, vocabulary: Vocabulary) -> None:
        """Let the completer of the round before go on, too."""
        if self._before and state["before"]:
            self._before.restore(state["before"], domain, vocabulary)

    def compared(self, block: Sequence[MicroBatch], skip: int) -> Iterator[Completion]:
        """Yield batches as they were completed in the round before; nothing where there was none."""
        if self._before is not None:
            yield from islice(self._before.complete_block(block), skip, None)

    def count(self, done: Completion | None, before: Completion | None) -> None:
        """Count what has changed in a batch."""
        if done is not None and before is not None:
            self.changed += int(np.count_nonzero(done.labels != before.labels))

    def advance(self, theory: Theory, rules: int) -> bool:
        """End a round that gave a theory; return whether it votes in another one."""
        if self.round:
            self.rounds.append(Round(self.round, self.changed, rules))
        settled = self.round > 0 and not self.changed
        repeated = bool(self._voters) and str(self._voters[-1]) == str(theory)
        if self.round >= self._most or settled or repeated or not len(theory):
            return False
        self.round, self.changed = self.round + 1, 0
        self._voters = [*self._voters[-1:], theory]
        self._ballots = [self._ballots[-1], self._votes(theory)]
        return True

    def _votes(self, theory: Theory) -> Votes:
        return Votes.of(theory, self._stream)

    def to_state(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "round": self.round,
            "voters": list(map(str, self._voters)),
            "changed": self.changed,
            "rounds": list(map(asdict, self.rounds)),
            "before": self._mark,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state: the theories vote as they did."""
        self.round = int(state["round"])
        self._voters = [parse_theory(theory) for theory in state["voters"]]
        nobody = [None] if self.round < 2 else []  # in the first round nobody voted before
        self._ballots = [*nobody, *map(self._votes, self._voters)]
        self.changed = int(state["changed"])
        self.rounds = [Round(**plain) for plain in state["rounds"]]


def check_rounds(rounds: int, profile: Profile | None, mode: Mode, shards: int) -> None:
    """Refuse rounds where a theory cannot teach back."""
    if not rounds:
        return
    if profile is None:
        raise SpliceError(
            "a theory teaches those who complete labels, and nobody does", "leave out --rounds"
        )
    if mode is Mode.ONLINE:
        raise SpliceError(
            "a theory that teaches back looks ahead, and one pass never does",
            "leave out --rounds, or learn in hindsight with a profile that can",
        )
    if shards > 1:
        raise SpliceError(
            "a theory teaches back over the whole input, which parts do not have",
            "leave out --rounds, or --shards",
        )
