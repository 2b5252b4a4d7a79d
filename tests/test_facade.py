"""What a Python user finds under ``splice``: everything to configure, run, look at and score."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import splice
from splice.evaluation.confusion import Confusion
from splice.io.tables.reader import TableSource
from splice.learners.protocol import StructureLearner

LEARNERS = {"oled": splice.Oled, "osla": splice.Osla}


def some(count: int = 6, sequences: int = 1) -> Iterator[splice.MicroBatch]:
    made = splice.make_plaza(sequences=sequences, frames=200, people=2).source
    masked = splice.MaskedSource(made, splice.KeepAtoms(50), 1, splice.TimePoints(25))
    return islice(masked.batches(), count)


@pytest.mark.parametrize("name", LEARNERS)
def test_fit_forgets(name: str) -> None:
    """Fitting twice is fitting once: neither labels nor rules of the first time are left."""
    learner: StructureLearner = LEARNERS[name]()
    pipeline = splice.Splice(learner, splice.SupervisionCompleter())
    pipeline.fit(some(3)).fit(some(6))
    fresh = splice.Splice(LEARNERS[name](), splice.SupervisionCompleter()).fit(some(6))
    assert pipeline.learner.to_state() == fresh.learner.to_state()
    assert pipeline.completer is not None
    assert fresh.completer is not None
    assert pipeline.completer.to_state() == fresh.completer.to_state()
    assert str(pipeline.theory_) == str(fresh.theory_)


def test_partial_fit_does_not_forget() -> None:
    pipeline = splice.Splice(splice.Oled(), splice.SupervisionCompleter())
    for batch in some(3):
        pipeline.partial_fit(batch)
    assert "3 batches" in repr(pipeline.learner)


def test_everything_can_be_configured_from_the_facade() -> None:
    profile = replace(splice.profile("default"), connector=splice.KNN(k=3))
    learner = splice.Oled(depth=1, weights=splice.AdaGrad(eta=0.25))
    pipeline = splice.Splice(learner, splice.SupervisionCompleter(profile))
    assert "depth=1" in repr(pipeline)
    assert "KNN(k=3" in repr(pipeline)
    assert "eta=0.25" in repr(pipeline)
    assert "eta=0.5" in repr(splice.Osla(weights=splice.AdaGrad(eta=0.5)))


def test_values_tell_what_they_are() -> None:
    assert repr(splice.Oled()) == "<Oled(): 0 batches, 0 rules in the making>"
    assert repr(splice.Osla()) == "<Osla(): 0 batches, 0 clauses>"
    completer = splice.SupervisionCompleter("paper")
    assert repr(completer) == "<SupervisionCompleter('paper'): 0 labelled patterns>"
    completer.complete(next(some()))
    assert f" {len(completer.cache.entries)} labelled patterns" in repr(completer)
    own = replace(splice.profile("default"), name="mine")
    assert "name='mine'" in repr(splice.SupervisionCompleter(own))
    assert repr(TableSource("week")) == "TableSource('week')"
    assert repr(TableSource(["a.csv", "b.csv"])) == "TableSource('a.csv', 'b.csv')"
    plaza, theory = (
        splice.make_plaza(sequences=1, frames=100).source,
        splice.load_theory("caviar-meet"),
    )
    (part,) = splice.recognise(theory, plaza).parts
    assert (
        repr(part)
        == f"Recognised({len(part.fluents)} ground fluents, {len(part.intervals.key)} intervals)"
    )


def test_a_theory_shows_itself_in_a_notebook() -> None:
    theory = splice.parse_theory("initiatedAt(fast(X),T) :- happensAt(speed(X,N),T), N > 12.")
    assert "&gt;" in theory._repr_html_()
    assert "<pre>" in theory._repr_html_()
    assert "no rules" in splice.Theory()._repr_html_()


def test_a_recognition_is_scored_part_by_part() -> None:
    """However many parts an answer has, it is scored as the labels that it gives."""
    plaza, theory = (
        splice.make_plaza(sequences=2, frames=300).source,
        splice.load_theory("caviar-meet"),
    )
    whole = splice.recognise(theory, plaza)
    windows = splice.recognise(theory, plaza, window=50)
    assert len(windows.parts) > 1
    assert splice.score(plaza, whole) == splice.score(plaza, windows)
    assert splice.score(plaza, whole).fluents["meet"].tp > 0
    rows = plaza.table.truth.copy()
    rows[:] = 0
    nothing = splice.score(plaza.table.with_truth(rows.astype(np.int8)), whole)
    assert nothing.total == Confusion()


def test_the_api_page_has_every_name_once() -> None:
    page = Path(__file__).parents[1] / "docs/reference/api.md"
    listed = re.findall(r"^::: splice\.(\w+)$", page.read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(splice.__all__), "docs/reference/api.md lists the facade"


def test_the_facade_is_what_normal_use_needs() -> None:
    """About 45 names; what is further in is imported from its own module."""
    assert 40 <= len(splice.__all__) <= 50


def test_the_pages_share_no_name() -> None:
    page = Path(__file__).parents[1] / "docs/reference/modules.md"
    further = re.findall(r"^::: (splice\.\S+)$", page.read_text("utf-8"), re.MULTILINE)
    assert len(further) == len(set(further)) > 60
    assert not {name.rpartition(".")[2] for name in further} & set(splice.__all__)


def test_every_public_class_says_what_it_is() -> None:
    """No ``<... object at 0x...>``; what is only extended and never made has nothing to say."""
    never_made = {"Filter", "Source"}
    page = Path(__file__).parents[1] / "docs/reference/modules.md"
    further = re.findall(r"^::: (splice\.\S+)$", page.read_text("utf-8"), re.MULTILINE)
    values = [getattr(splice, n) for n in splice.__all__] + [*map(pkgutil.resolve_name, further)]
    classes = [value for value in values if isinstance(value, type)]
    silent = {cls.__name__ for cls in classes if cls.__repr__ is object.__repr__}
    assert silent == never_made
