"""What learners do alike: read a stream batch by batch, remember the last of it, save, restore, merge.

A learner that extends :class:`OnlineLearner` says what it makes of the transitions of a batch
(``_learn``), which rules make the theory (``_select``), how they are told (``_rules``) and, where it
keeps more than the shell does, how that is saved, restored and merged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final, Generic, Self, TypeVar

import numpy as np

from splice.arrays import Codes
from splice.errors import InputError, SpliceError
from splice.labels import LabelArray
from splice.learners.learned_rule import LearnedRule
from splice.learners.memory import MEMORY, Memory
from splice.learners.options import LearnerOptions
from splice.learners.predict import predict
from splice.logic.atoms import Rule
from splice.logic.domain import Domain, Holds
from splice.logic.modes import Modes
from splice.logic.syntax import parse_rule
from splice.logic.theory import Statement, Theory
from splice.options import changed, changes
from splice.patterns.lifting import Patterns
from splice.patterns.reading import Reading, blocks
from splice.patterns.transitions import Overlap, Reader, Transitions
from splice.states import Shape, StateError, anything, check_state, each, record, text, whole
from splice.stream.batch import MicroBatch
from splice.stream.plain import ROWS, plain_rows, read_rows
from splice.stream.vocabulary import Vocabulary

O = TypeVar("O", bound=LearnerOptions)  # noqa: E741
S = TypeVar("S")

_SHELL: Final[Mapping[str, Shape]] = {
    "learner": text,
    "version": whole(),
    "batches": whole(),
    "patterns": each(text),
    "last": ROWS,
    "memory": MEMORY,
}
"""The shapes of what every state has."""


class OnlineLearner(ABC, Generic[O, S]):
    """A learner of one pass; ``O`` are its options, ``S`` what it selects for the theory.

    Parameters
    ----------
    options
        Its choices (default: those of the class of options).
    **changes
        Fields of the options that are to be others: ``Oled(depth=3)``.
    """

    title: ClassVar[str]
    """What messages call it (the class's name, unless it says otherwise); in small letters, what its
    states are marked with."""
    version: ClassVar[int] = 2
    """The version of its states."""
    options_type: ClassVar[type[LearnerOptions]] = LearnerOptions
    state_shape: ClassVar[Mapping[str, Shape]] = {}
    """The shapes of what its states have beside what the shell keeps, by name."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.title = vars(cls).get("title", cls.__name__)

    def __init__(self, options: O | None = None, **changes: Any) -> None:
        base = self.options_type() if options is None else options
        if not isinstance(base, self.options_type):
            raise SpliceError(
                f"a value of type {type(options).__name__} is no {self.options_type.__name__}",
                f"name what you choose, such as {type(self).__name__}(memory=1000)",
            )
        self.options: O = changed(base, changes, self.title)  # type: ignore[assignment]
        self._shared: Reading | None = None
        self._reset()

    def __repr__(self) -> str:
        chosen = changes(self.options, self.options_type())
        return f"<{type(self).__name__}({chosen}): {self.batches:,} batches, {self._progress()}>"

    def _progress(self) -> str:
        return f"{self.growing:,} rules"

    def _reset(self) -> None:
        """Forget everything; a learner that keeps more forgets that, too."""
        self.batches = 0
        self._overlap = Overlap()
        self._memory = Memory(self.options.memory)
        self._reader: Reader | None = None
        self._domain: Domain | None = None
        self._selected: S | None = None

    # reading

    def fit(self, batches: Iterable[MicroBatch]) -> Self:
        """Forget everything and learn from some batches."""
        self._reset()
        for block in blocks(batches):
            self.prefetch(block)
            for batch in block:
                self.partial_fit(batch)
        return self

    def share(self, reading: Reading) -> None:
        """Read the stream that begins now together with a completer: each batch once."""
        self._shared = reading

    def prefetch(self, block: Sequence[MicroBatch]) -> None:
        """Look at consecutive batches of a sequence that will come next: then they cost less."""
        reader = self._reading(block[0].domain, block[0].table.vocabulary)
        if len(block) > 1 and self._reads_as_given():
            reader.prefetch(block)

    def partial_fit(self, batch: MicroBatch) -> Self:
        """Learn from one more batch."""
        reader = self._reading(batch.domain, batch.table.vocabulary)
        transitions = reader.read(self._expand(batch), self.options.unlabelled, self._overlap)
        self.batches += 1
        if len(transitions):
            self._selected = None
            self._memory.add(transitions)
            self._learn(transitions)
        return self

    def _reading(self, domain: Domain, vocabulary: Vocabulary) -> Reader:
        """Return what reads the stream; with the first batch it gets ready."""
        if self._reader is None:
            self._reader = Reader(self._visible(domain), vocabulary, self._shared)
            self._domain = domain
            self._begin(domain, vocabulary)
        return self._reader

    @property
    def patterns(self) -> Patterns:
        """The patterns seen so far."""
        assert self._reader is not None
        return self._reader.patterns

    @property
    def modes(self) -> Modes:
        """What rules may have in them, and with which sign."""
        assert self._reader is not None
        return self._reader.domain.modes

    def _visible(self, domain: Domain) -> Domain:
        """Return what the learner sees of a domain."""
        return domain

    def _begin(self, domain: Domain, vocabulary: Vocabulary) -> None:
        """Get ready to learn from a stream."""

    def _expand(self, batch: MicroBatch) -> MicroBatch:
        """Return a batch with what the learner adds to it before it is read."""
        return batch

    def _reads_as_given(self) -> bool:
        """Return whether batches are read as they come, without additions."""
        return True

    @abstractmethod
    def _learn(self, transitions: Transitions) -> None:
        """Learn from the transitions of a batch; there is at least one."""

    # the theory

    def selected(self) -> S:
        """Return what makes the theory; it is chosen when it is asked for, once a batch."""
        if self._selected is None:
            self._selected = self._select()
        return self._selected

    @property
    def theory_(self) -> Theory:
        """What was learned so far."""
        if self._reader is None:
            return Theory()
        domain = self._reader.domain
        return Theory(tuple(self._statements()), domain.schema, domain.clock.holds or Holds.AFTER)

    def rules(self, passes: int = 1) -> list[LearnedRule]:
        """Return the rules of the theory, with their counts and how they came about."""
        return [] if self._reader is None else self._rules(passes)

    @property
    def growing(self) -> int:
        """How many rules are worked on that say something, in the theory or not."""
        return len(self.rules())

    @abstractmethod
    def _select(self) -> S:
        """Choose what makes the theory."""

    @abstractmethod
    def _rules(self, passes: int) -> list[LearnedRule]:
        """Return the rules of the theory; counts are those of one pass."""

    def _statements(self) -> Iterable[Statement]:
        """Return the statements of the theory: the rules, then axioms if there are some."""
        return [rule.statement for rule in self._rules(1)]

    def predict(self, batch: MicroBatch) -> LabelArray:
        """Return a label for each query atom of a batch, by recognition; nothing holds at first."""
        return predict(self.theory_, batch)

    # state

    def to_state(self) -> dict[str, Any]:
        """Return everything that was learned, as plain JSON."""
        patterns = self.patterns.store.patterns if self._reader else []
        return {
            "learner": self.title.lower(),
            "version": self.version,
            "batches": self.batches,
            "patterns": [str(pattern.rule) for pattern in patterns],
            "last": plain_rows(self._overlap.last),
            "memory": self._memory.to_state(),
            **self._learned_state(),
        }

    def restore(self, state: dict[str, Any], domain: Domain, vocabulary: Vocabulary) -> Self:
        """Go on from a state, over the vocabulary of the stream that follows."""
        self._check_mark(state)
        shape = {**_SHELL, **(self.state_shape or dict.fromkeys(state.keys() - _SHELL, anything))}
        check_state(state, record(**shape))
        self._reset()
        self._reading(domain, vocabulary)
        try:
            patterns = self._numbers([parse_rule(text) for text in state["patterns"]])
            self.batches = int(state["batches"])
            self._overlap.last = read_rows(state["last"], vocabulary)
            self._memory.restore(state["memory"], patterns)
            self._restore(state, patterns)
        except StateError:
            self._reset()
            raise
        except (InputError, LookupError, TypeError, ValueError, AttributeError) as error:
            self._reset()
            raise StateError("", f"holds what {self.title} cannot read ({error})") from None
        return self

    def _check_mark(self, state: object) -> None:
        """Refuse a state that another version or another learner has written."""
        mark = (state.get("learner"), state.get("version")) if isinstance(state, dict) else ()
        learner, version = self.title.lower(), self.version
        if mark != (learner, version):
            raise SpliceError(
                f"this is not a state of {self.title} that can be read here",
                f"it was written by another learner or version (wanted: {learner}, {version})",
            )

    def merge(self, other: Self) -> Self:
        """Take over what another learner has learned from another part of the stream.

        Where both memories do not fit into one, each keeps its latest part, in proportion to what
        it has seen.
        """
        if other._reader is None or other._domain is None:
            return self
        if type(self) is not type(other) or self.options != other.options:
            raise SpliceError(
                "learners with different options cannot be merged", "give both the same ones"
            )
        self._reading(other._domain, other._reader.vocabulary)
        patterns = self._numbers([pattern.rule for pattern in other.patterns.store.patterns])
        self.batches += other.batches
        self._memory.merge(other._memory, patterns)
        self._merge(other, patterns)
        self._selected = None
        return self

    def _numbers(self, rules: Sequence[Rule]) -> Codes:
        """Return our numbers for patterns that are given as rules."""
        return np.array([self.patterns.store.of_rule(rule) for rule in rules], np.int32)

    def _learned_state(self) -> dict[str, Any]:
        """Return what is kept beside the memory, as plain JSON."""
        return {}

    def _restore(self, state: dict[str, Any], patterns: Codes) -> None:
        """Take what is kept beside the memory; ``patterns`` are our numbers for those of the state."""

    def _merge(self, other: Self, patterns: Codes) -> None:
        """Add what another learner keeps beside its memory; batches and memories are joined by now."""
