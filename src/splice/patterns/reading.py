"""A stream, read once: its examples and their patterns, which no label changes."""

from __future__ import annotations

from splice.logic.domain import Domain
from splice.patterns.lifting import Keep, Lifting
from splice.patterns.prefetch import Prefetcher
from splice.patterns.visibility import Visibility
from splice.stream.vocabulary import Vocabulary


class Reading:
    """What is read of a stream; ``ground`` says whether distances are over ground atoms.

    A completer and the learner after it share one, so each batch is partitioned and lifted once.
    Completers that read the same batches one after the other may share one that is ``lasting``: then
    the first to look at a batch does it for all. Answers are the same as with readings of their own.
    """

    def __init__(
        self, domain: Domain, vocabulary: Vocabulary, *, ground: bool, lasting: bool = False
    ) -> None:
        self.domain, self.vocabulary = domain, vocabulary
        self.visibility = Visibility(domain, vocabulary)
        self.lifting = Lifting(self.visibility)
        grounding = Lifting(self.visibility, Keep.ALL_BUT_THE_QUERY) if ground else None
        self.store = grounding.store if grounding else self.lifting.store
        liftings = [self.lifting, grounding] if grounding else [self.lifting]
        self.prefetcher = Prefetcher(self.visibility, liftings, lasting=lasting)
