"""A batch is partitioned and lifted once, for the completer and for the learner after it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from splice.completion.completer import SupervisionCompleter
from splice.lab.plaza import make_plaza
from splice.learners.oled.learner import Oled
from splice.learners.osla.learner import Osla
from splice.patterns import reading
from splice.pipeline.splice import Splice
from splice.stream.batch import TimePoints, batches
from streams import Row, rows, source_of

LEARNERS = [Oled, Osla]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("ahead", [False, True])
def test_each_batch_is_partitioned_once(
    learner: type[Oled | Osla], ahead: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    partition = reading.partition

    def counted(batch, visibility):  # type: ignore[no-untyped-def]
        read.append(len(batch.queries))
        return partition(batch, visibility)

    monkeypatch.setattr(reading, "partition", counted)
    source = make_plaza(sequences=1, people=3, frames=100, seed=3).source
    stream = list(batches(source, TimePoints(25)))
    splice = Splice(learner(), SupervisionCompleter())
    if ahead:
        splice.fit(stream)
    else:
        for batch in stream:
            splice.partial_fit(batch)
    assert sum(read) == sum(len(batch.queries) for batch in stream)


@settings(max_examples=20, deadline=None)
@given(rows())
def test_a_shared_reading_changes_nothing(given_rows: list[Row]) -> None:
    stream = list(batches(source_of(given_rows), TimePoints(3)))
    together, apart = Oled(), Oled()
    Splice(together, SupervisionCompleter()).fit(stream)
    completer = SupervisionCompleter()
    apart.fit(completer.complete(batch).completed() for batch in stream)
    assert str(together.theory_) == str(apart.theory_)
    assert [str(rule) for rule in together.states] == [str(rule) for rule in apart.states]
