"""What the studio knows: the session, the journal behind it, and the rules learned from both.

One lock guards the session. Rules are learned in a thread of their own, with a reading of their own, so
answers do not wait for them; ``version`` counts changes of labels and rules, and pages ask for it.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import RLock
from typing import Any, Final

import numpy as np

from splice.active.ask import DEFAULT_STRATEGY, Question, questions
from splice.active.session import LabelSession
from splice.active.strategy import STRATEGIES
from splice.arrays import Indices, Ints
from splice.errors import SpliceError
from splice.labels import UNKNOWN, LabelArray, encode
from splice.learners.learned_rule import LearnedRule
from splice.learners.predict import predict
from splice.logic.theory import Theory
from splice.patterns.reading import Reading
from splice.stream.batch import query_rows, whole_sequences
from splice.stream.table import NO_TIME
from splice.stream.vocabulary import EQUALS
from splice.studio.columns import Instances, Lanes, runs_of
from splice.studio.journal import Entry
from splice.studio.project import THEORY, Project
from splice.studio.rulebook import RuleBook, checked_rules, read_rules

_MOST_QUESTIONS: Final = 200
"""So many questions are given at once, whatever a page asks for."""


class Studio:
    """A stream that is being labelled.

    Parameters
    ----------
    session
        The stream, with the labels of the input.
    project
        Where answers are kept.
    title
        What to call it.
    """

    def __init__(self, session: LabelSession, project: Project, title: str) -> None:
        self.session, self.project, self.title = session, project, title
        self.lock = RLock()
        self.version = 0
        self.fluents = Instances.in_table(session.queries)
        self._input: LabelArray = session.labels.copy()
        self._tables = [sequence.table for sequence in whole_sequences(session.batches)]
        self._codes = [int(table.sequence[0]) for table in self._tables]
        self._times = [table.times for table in self._tables]
        self._lanes: dict[int, tuple[int, Lanes]] = {}
        self.book = RuleBook(project.journal.active())
        self.learned: list[LearnedRule] = []
        self._learned_theory = Theory()
        self._recognised: LabelArray | None = None
        # The values of ``version`` at which labels changed last, and of the labels that rules were last
        # learned from: the thread that learns compares them to know whether its labels are still the newest.
        self._labels_version = self._learned_version = -1
        self.trouble = ""
        self.changed = 0
        self._learning = ThreadPoolExecutor(1, "learning")
        self._rules_reading = Reading(
            session.domain, session.vocabulary, ground=False, lasting=True
        )
        self._replay()
        # Rules are yet to be learned: those of the last time stay until then, however soon it is closed.
        if not (self.project.folder / THEORY).exists():
            self.project.write(THEORY, self.theory_text())

    # -- answers ---------------------------------------------------------------------------------

    def answer(self, sequence: int, parts: list[dict[str, Any]]) -> Entry:
        """Keep an answer on disk, then complete anew; a part is fluents, start, end and label."""
        with self.lock:
            self.project.check()
            code = self.sequence_code(sequence)
            placed = [(self._rows(code, part), _label(part)) for part in parts]
            believed, (right, asked) = self.session.completion.labels, (0, 0)
            for rows, label in placed:
                if not len(rows):
                    raise SpliceError(
                        "no time-point lies there", "choose a stretch inside the data"
                    )
                asked += len(rows)
                right += int((believed[rows] == label).sum())
            entry = self.project.journal.append(
                "answer",
                {"sequence": self._name(code), "parts": parts, "right": right, "asked": asked},
            )
            self._relabel()
            return entry

    def undo(self) -> Entry | None:
        """Take back what was done last: an answer, or a change of a rule."""
        with self.lock:
            self.project.check()
            entry = self.project.journal.undo()
            if entry and entry["do"] == "answer":
                self._relabel()
            elif entry:
                self._rules_changed()
            return entry

    def _replay(self) -> None:
        """Apply the answers of the journal; count those that fit nothing in the input as trouble."""
        labels, codes = self._input.copy(), self.session.vocabulary.sequences
        lost = 0
        for entry in self.project.journal.active():
            if entry["do"] != "answer":
                continue
            code = codes.find(entry["sequence"])
            for part in entry["parts"]:
                try:
                    rows = self._rows(-1 if code is None else code, part)
                except SpliceError:
                    rows = np.empty(0, np.intp)
                lost += not len(rows)
                labels[rows] = _label(part)
        if lost:
            self.trouble = f"{lost} answers of the journal are about nothing in this input"
        self.session.answer(np.arange(len(labels)), labels)
        self.project.write_labels(self._label_rows())
        self._changed()

    def _relabel(self) -> None:
        before = self.session.completion.labels
        self._replay()
        self.changed = int((before != self.session.completion.labels).sum())

    def _changed(self) -> None:
        self.version += 1
        self._labels_version = self.version
        labels = self.session.completion.labels.copy()
        self._learning.submit(self._learn, labels, self.version)

    def _rows(self, code: int, part: dict[str, Any]) -> Indices:
        """Return the query atoms that a part of an answer is about."""
        parts = []
        for name in part["fluents"]:
            number = self.fluents.numbers.get((code, name))
            if number is None:
                raise SpliceError(f"there is no '{name}' in this sequence", "reload the page")
            rows = self.fluents.rows(number)
            time = self.session.queries.time[rows]
            parts.append(rows[(time >= part["start"]) & (time < part["end"])])
        return np.concatenate(parts)

    def _label_rows(self) -> list[dict[str, Any]]:
        """Return all labels as rows of a table, runs of equal ones together."""
        labels, written = self.session.labels, self.session.vocabulary.times.value
        rows: list[dict[str, Any]] = []
        order = self.fluents.order[labels[self.fluents.order] != UNKNOWN]
        sequence = self.session.queries.sequence[order]
        for code, times in zip(self._codes, self._times, strict=True):
            sequence_rows = order[sequence == code]
            runs = runs_of(
                self.fluents, sequence_rows, labels[sequence_rows].astype(np.int64), times
            )
            for number, start, end, value in zip(*(c.tolist() for c in runs), strict=True):
                rows.append(
                    {
                        "sequence": self._name(code),
                        "fluent": self.fluents.names[number],
                        "start": written(start),
                        "end": written(end),
                        "label": "true" if value > 0 else "false",
                    }
                )
        return rows

    # -- rules -----------------------------------------------------------------------------------

    def _learn(self, labels: LabelArray, version: int) -> None:
        """Learn from what is believed; only the newest of what waits is worth it."""
        # Not ``version``: rules that were just learned from older labels count it up, too.
        if version != self._labels_version:
            return
        if not (labels > 0).any():
            self._learned_version = version
            return
        try:
            learner = self.session.learn(labels, self._rules_reading)
            theory, rules = learner.theory_, learner.rules()
        except Exception as error:
            with self.lock:
                self.trouble = f"no rules could be learned: {error}"
                self._learned_version = version
            return
        with self.lock:
            self._learned_theory, self.learned = theory, rules
            self._learned_version = version
            self._rules_changed()

    def _rules_changed(self) -> None:
        self.book = RuleBook(self.project.journal.active())
        self.version += 1
        self._recognised = None
        self.project.write(THEORY, self.theory_text())

    @property
    def learning(self) -> bool:
        """Whether rules from the newest labels are yet to come."""
        return self._learned_version < self._labels_version

    @property
    def theory(self) -> Theory:
        """The rules as they are now."""
        return self.book.applied(self._learned_theory)

    def theory_text(self) -> str:
        """Return the rules as a file has them."""
        head = (
            f"% {self.title}: learned from {int((self.session.labels != UNKNOWN).sum()):,} labels"
        )
        return "\n\n".join((head, *map(str, self.theory.statements))) + "\n"

    def change_rule(self, action: str, text: str) -> Entry:
        """Pin, forbid or release the rules of a text, which are checked first."""
        with self.lock:
            self.project.check()
            pinned = action == "pin"
            rules = (
                checked_rules(text, self.session.domain, self.theory)
                if pinned
                else read_rules(text)
            )
            for rule in rules:
                RuleBook().apply(action, rule)
            entry = self.project.journal.append("rule", {"action": action, "text": text})
            self._rules_changed()
            return entry

    def recognised(self, theory: Theory | None = None) -> LabelArray:
        """Return what the rules say of all query atoms."""
        with self.lock:
            if theory is None and self._recognised is not None:
                return self._recognised
            rules = self.theory if theory is None else theory
            answers = self.session.predicted(lambda batch: predict(rules, batch))
            if theory is None:
                self._recognised = answers
            return answers

    # -- what pages ask for ----------------------------------------------------------------------

    def lanes(self, sequence: int) -> Lanes:
        """Return the lanes of a sequence as they are now."""
        with self.lock:
            code, cached = self.sequence_code(sequence), self._lanes.get(sequence)
            if cached and cached[0] == self.version:
                return cached[1]
            of_sequence = np.flatnonzero(self.session.queries.sequence == code)
            table, times = self._tables[sequence], self._times[sequence]
            no_event = query_rows(table, self.session.domain) | table.of_predicates((EQUALS,))
            events = table.take(~no_event & (table.truth > 0) & (table.time != NO_TIME))
            recognised = self.recognised() if len(self.theory) else None
            lanes = Lanes.of(
                Instances.in_table(self.session.queries.take(of_sequence)),
                Instances.in_table(events),
                self.session.labels[of_sequence].astype(np.int64),
                np.where(
                    self.session.completion.reached[of_sequence],
                    self.session.completion.values[of_sequence],
                    0,
                ),
                None if recognised is None else recognised[of_sequence].astype(np.int64),
                times,
            )
            self._lanes[sequence] = (self.version, lanes)
            return lanes

    def questions(self, count: int, strategy: str = "") -> list[dict[str, Any]]:
        """Return the next questions, each with the number of its sequence."""
        chosen = STRATEGIES.parse(strategy) if strategy else DEFAULT_STRATEGY
        with self.lock:
            rng = np.random.default_rng(self.answers)
            chosen_questions = questions(self.session, min(count, _MOST_QUESTIONS), chosen, rng)
            return [
                {
                    **question.as_json(),
                    "number": self._codes.index(
                        self.session.vocabulary.sequences.known_code(question.sequence)
                    ),
                    "from": question.start,
                    "to": question.end,
                    "times": self._question_times(question),
                }
                for question in chosen_questions
            ]

    def _question_times(self, question: Question) -> list[int]:
        code = self.session.vocabulary.sequences.known_code(question.sequence)
        times = self._times[self._codes.index(code)]
        inside: list[int] = times[(times >= question.start) & (times < question.end)].tolist()
        return inside

    @property
    def answers(self) -> int:
        """How many answers stand."""
        return sum(entry["do"] == "answer" for entry in self.project.journal.active())

    def table(self, sequence: int) -> Any:
        """Return the atoms of a sequence."""
        self.sequence_code(sequence)
        return self._tables[sequence]

    def sequence_names(self) -> list[str]:
        """Return the names of the sequences."""
        return [self._name(code) for code in self._codes]

    def times(self, sequence: int) -> Ints:
        """Return the time-points of a sequence."""
        self.sequence_code(sequence)
        return self._times[sequence]

    def row(self, sequence: int, fluent: str, time: int) -> int:
        """Return the query atom of a fluent at a time, or at the last one before it."""
        number = self.fluents.numbers.get((self.sequence_code(sequence), fluent))
        if number is None:
            raise SpliceError(f"there is no '{fluent}' in this sequence", "reload the page")
        rows = self.fluents.rows(number)
        place = int(np.searchsorted(self.session.queries.time[rows], time, side="right")) - 1
        return int(rows[max(place, 0)])

    def close(self) -> None:
        """End learning and let others have the project."""
        self._learning.shutdown(wait=True, cancel_futures=True)
        self.project.journal.close()

    def _name(self, code: int) -> str:
        return self.session.vocabulary.sequences[code]

    def sequence_code(self, sequence: int) -> int:
        """Return the code of a sequence by its number."""
        if not 0 <= sequence < len(self._codes):
            raise SpliceError(f"there is no sequence {sequence}", "reload the page")
        return self._codes[sequence]


def _label(part: dict[str, Any]) -> int:
    label = part["label"]
    if label is not None and not isinstance(label, bool):
        raise SpliceError(f"'{label}' is no label", "true, false or null")
    return encode(label)
