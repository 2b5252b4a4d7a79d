"""What every structure learner must do, whatever it learns by."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from people_streams import DOMAIN, window
from splice.errors import SpliceError
from splice.evaluation.confusion import Confusion
from splice.events.crisp.program import compile_program
from splice.events.universe import FLUENT_OF
from splice.events.weighted.structure import Coupling, structure
from splice.io.lomrf.modes import parse_modes
from splice.io.oled_modes import parse_oled_modes
from splice.lab.plaza import make_plaza
from splice.labels import FALSE, TRUE, UNKNOWN, Unlabelled
from splice.learners.oled.learner import Oled
from splice.learners.oled.options import (
    FScore,
    Growth,
    Negation,
    OledOptions,
    Points,
    Precision,
    Recall,
    Selection,
    TerminationCounts,
)
from splice.learners.options import AdaGrad
from splice.learners.osla import options as osla
from splice.learners.osla.learner import Osla
from splice.learners.protocol import StructureLearner
from splice.learners.registry import LEARNERS
from splice.logic.atoms import Atom, Literal
from splice.logic.domain import Domain
from splice.logic.modes import Marker, Modes
from splice.logic.schema import Signature
from splice.logic.syntax import parse_theory
from splice.logic.terms import Constant, Function, Term, Variable
from splice.logic.theory import Theory
from splice.stream.batch import Cut, Duration, MicroBatch, TimePoints, batches, query_rows
from splice.stream.source import MemorySource
from splice.stream.table import AtomTable
from streams import table_of

CLASSIC = OledOptions(
    initiation=Precision(),
    termination=Recall(),
    counts=TerminationCounts.TABLE,
    growth=Growth.UNCOVERED,
    selection=Selection.SCORE,
    negation=Negation.NONE,
    unlabelled=Unlabelled.SKIP,
)
EAGER = OledOptions(
    delta=0.9,
    ties=1.0,
    warm_up=1,
    depth=1,
    initiation=FScore(),
    termination=Precision(),
    selection=Selection.SCORE,
    min_score=0.0,
    min_support=1,
)
"""Decides on little evidence, and keeps whatever it has: for odd rules."""

HEAVY = osla.OslaOptions(length=3, threshold=5, selection=osla.Selection.WEIGHT)
"""All clauses, with the weights that AdaGrad found."""
SOFT = osla.OslaOptions(
    length=4,
    loss=osla.Loss.HAMMING,
    inertia=2.0,
    min_support=1,
    beam=1,
    unlabelled=Unlabelled.SKIP,
)

Make = Callable[[], StructureLearner]


def from_the_page() -> Make:
    """Return the learner that docs/how-to/extend.md adds, without registering it for good."""
    text = (Path(__file__).parents[1] / "docs/how-to/extend.md").read_text("utf-8")
    (program,) = re.findall(
        r"^```python title=\"single.py\"\n(.*?)^```$", text, re.DOTALL | re.MULTILINE
    )
    before, made = dict(LEARNERS.known), {"__name__": __name__}
    exec(compile(program, "single.py", "exec", dont_inherit=True), made)
    LEARNERS.known = before
    single: Make = made["Single"]  # type: ignore[assignment]
    return single


MAKERS: dict[str, Make] = {
    **{name: LEARNERS.choose(name) for name in LEARNERS.known},
    "single": from_the_page(),
    "oled-classic": lambda: Oled(CLASSIC),
    "oled-starts": lambda: Oled(OledOptions(points=Points.STARTS, min_score=0.0)),
    "oled-weights": lambda: Oled(OledOptions(weights=AdaGrad())),
    "oled-eager": lambda: Oled(EAGER),
    "osla-weight": lambda: Osla(HEAVY),
    "osla-soft": lambda: Osla(SOFT),
}
GOOD = ("oled", "oled-classic", "oled-weights", "osla", "osla-soft")
"""Those that are meant to learn well from little data."""

every = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
good = pytest.mark.parametrize("make", [MAKERS[name] for name in GOOD], ids=GOOD)


@cache
def plaza() -> MemorySource:
    """People who meet in a square, every pair labelled at every frame."""
    source = make_plaza(sequences=2, frames=150).source
    return MemorySource(source.table, replace(source.domain, fluents=("meet",)))


def cut_plaza(size: int = 50, domain: Domain | None = None) -> Iterator[MicroBatch]:
    return batches(MemorySource(plaza().table, domain or plaza().domain), TimePoints(size))


def whole() -> list[MicroBatch]:
    """The plaza, a sequence a batch."""
    return list(cut_plaza(10**6))


@every
def test_it_speaks_the_protocol(make: Make) -> None:
    assert isinstance(make(), StructureLearner)


@cache
def taught(make: Make) -> StructureLearner:
    """A learner that has seen the plaza; looking at it changes nothing."""
    return make().fit(cut_plaza())


# one stream, one theory


@every
def test_the_same_stream_gives_the_same_theory(make: Make) -> None:
    one, two = make().fit(cut_plaza()), make().fit(cut_plaza())
    assert str(one.theory_) == str(two.theory_)
    assert json.dumps(one.to_state()) == json.dumps(two.to_state())


@every
@pytest.mark.parametrize("cut", [TimePoints(23), TimePoints(1000), Duration(40)], ids=str)
def test_batches_one_by_one_are_the_same_as_all_of_them(make: Make, cut: Cut) -> None:
    learner = make()
    for batch in batches(plaza(), cut):
        assert learner.partial_fit(batch) is learner
    fitted = make().fit(batches(plaza(), cut))
    assert str(learner.theory_) == str(fitted.theory_)
    assert json.dumps(learner.to_state()) == json.dumps(fitted.to_state())


@every
def test_fitting_again_forgets(make: Make) -> None:
    once = make().fit(cut_plaza(50))
    twice = make().fit(cut_plaza(20)).fit(cut_plaza(50))
    assert json.dumps(once.to_state()) == json.dumps(twice.to_state())


@every
def test_looking_changes_nothing(make: Make) -> None:
    quiet, watched = make(), make()
    for batch in cut_plaza():
        quiet.partial_fit(batch)
        watched.partial_fit(batch)
        watched.predict(batch)
        watched.to_state()
        assert watched.theory_ == watched.theory_
    assert str(quiet.theory_) == str(watched.theory_)


@every
def test_only_what_came_so_far_counts(make: Make) -> None:
    learner = make()
    for seen, batch in enumerate(cut_plaza(100), start=1):
        learner.partial_fit(batch)
        prefix = make().fit(islice(cut_plaza(100), seen))
        assert str(learner.theory_) == str(prefix.theory_)


@every
def test_an_empty_batch_changes_nothing(make: Make) -> None:
    def with_empty() -> Iterator[MicroBatch]:
        for batch in cut_plaza():
            nothing = replace(batch, table=batch.table.take(slice(0, 0)))
            yield nothing
            yield batch
            yield replace(nothing, facts=nothing.table)

    assert str(make().fit(with_empty()).theory_) == str(make().fit(cut_plaza()).theory_)


@every
def test_a_resumed_run_equals_an_uninterrupted_one(make: Make) -> None:
    through = make().fit(cut_plaza())
    for half in (0, 4):
        before = make().fit(islice(cut_plaza(), half))
        state = json.loads(json.dumps(before.to_state()))
        after = make().restore(state, plaza().domain, plaza().vocabulary)
        for batch in islice(cut_plaza(), half, None):
            after.partial_fit(batch)
        assert str(after.theory_) == str(through.theory_)


@every
def test_rules_are_those_of_the_theory(make: Make) -> None:
    """Axioms may follow them; looking at rules changes nothing."""
    assert make().rules() == []
    learner = taught(make)
    rules, before = learner.rules(), json.dumps(learner.to_state())
    assert [rule.statement for rule in rules] == list(learner.theory_.statements[: len(rules)])
    assert [rule.number for rule in rules] == list(range(1, len(rules) + 1))
    assert learner.growing >= len(rules) > 0
    for rule, half in zip(rules, learner.rules(passes=2), strict=True):
        assert min(rule.tp, rule.fp, rule.fn, rule.firings) >= 0
        assert half.firings <= rule.firings
        json.dumps([rule.as_json(), rule.details, rule.history])
    assert json.dumps(learner.to_state()) == before


@every
def test_merging_parts_adds_up_what_was_seen(make: Make) -> None:
    first, second = make().fit(islice(cut_plaza(), 2)), make().fit(islice(cut_plaza(), 2, None))
    alone = str(second.theory_)
    before = first.to_state()
    assert json.dumps(first.merge(make()).to_state()) == json.dumps(before)
    merged = first.merge(second)
    assert merged.to_state()["batches"] == len(list(cut_plaza()))
    check(merged.theory_, plaza().domain)
    assert str(second.theory_) == alone
    assert str(make().merge(second).theory_) == alone


@every
def test_a_state_of_another_learner_is_refused(make: Make) -> None:
    for change in ({"learner": "another"}, {"version": -1}, {"memory": "?"}, {"patterns": [3]}):
        state = {**taught(make).to_state(), **change}
        with pytest.raises(SpliceError, match=r"not a state|damaged"):
            make().restore(state, plaza().domain, plaza().vocabulary)


# inputs


def columns(table: AtomTable) -> list[np.ndarray]:
    return [table.sequence, table.time, table.kind, table.args, table.truth]


@every
def test_inputs_are_not_touched(make: Make) -> None:
    given_batches = list(cut_plaza())
    before = [
        [column.copy() for part in (batch.table, batch.facts) for column in columns(part)]
        for batch in given_batches
    ]
    vocabulary = plaza().vocabulary
    sizes = len(vocabulary.constants), len(vocabulary.kinds), len(vocabulary.sequences)
    learner = make().fit(given_batches)
    for batch in given_batches:
        learner.predict(batch)
    for batch, old in zip(given_batches, before, strict=True):
        now = [column for part in (batch.table, batch.facts) for column in columns(part)]
        assert all(map(np.array_equal, old, now))
        assert batch.domain == plaza().domain
    assert sizes == (len(vocabulary.constants), len(vocabulary.kinds), len(vocabulary.sequences))


@every
def test_predicting_ignores_the_labels(make: Make) -> None:
    learner = taught(make)
    rng = np.random.default_rng(0)
    for batch in whole():
        expected = learner.predict(batch).tolist()
        size = len(batch.queries)
        for labels in (
            np.full(size, UNKNOWN, np.int8),
            -batch.labels,
            rng.integers(-1, 2, size).astype(np.int8),
        ):
            assert learner.predict(batch.with_labels(labels)).tolist() == expected


@every
def test_a_prediction_is_one_label_for_each_atom(make: Make) -> None:
    learner = taught(make)
    for batch in whole():
        labels = learner.predict(batch)
        assert labels.dtype == np.int8
        assert labels.shape == (len(batch.queries),)
        assert set(labels.tolist()) <= {TRUE, FALSE}
        rows = np.concatenate((np.arange(len(batch.table)), np.flatnonzero(_asked(batch))))
        doubled = batch.table.take(rows)
        truth = doubled.truth.copy()
        truth[len(batch.table) :] *= -1
        twice = replace(batch, table=doubled.with_truth(truth))
        assert learner.predict(twice).tolist() == [*labels.tolist(), *labels.tolist()]


def _asked(batch: MicroBatch) -> np.ndarray:
    return query_rows(batch.table, batch.domain)


# theories


def check(theory: Theory, domain: Domain) -> None:
    """Compile a theory: crisp rules that can be run, or weighted clauses that make chains."""
    if theory.is_crisp:
        compile_program(theory, domain)
    else:
        assert structure(theory, domain.schema).coupling is Coupling.CHAIN


@every
def test_a_theory_can_be_run_and_written(make: Make) -> None:
    theory = taught(make).theory_
    check(theory, plaza().domain)
    assert parse_theory(str(theory)).statements == theory.statements


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(1, 4), st.sampled_from(list(MAKERS)))
def test_odd_streams_give_theories_that_can_be_run(seed: int, size: int, name: str) -> None:
    table = table_of(window(seed))
    learner = MAKERS[name]().fit(batches(MemorySource(table, DOMAIN), TimePoints(size)))
    theory = learner.theory_
    check(theory, DOMAIN)
    assert parse_theory(str(theory)).statements == theory.statements
    for batch in batches(MemorySource(table, DOMAIN), TimePoints(size)):
        assert len(learner.predict(batch)) == len(batch.queries)


def test_odd_streams_do_give_theories() -> None:
    found = []
    for seed in range(8):
        table = table_of(window(seed))
        learner = Oled(EAGER).fit(batches(MemorySource(table, DOMAIN), TimePoints(4)))
        found.append(len(learner.theory_))
    assert sum(map(bool, found)) > 5


def body_literals(theory: Theory) -> Iterator[Literal]:
    for rule in theory.rules():
        yield from (b for b in rule.body if b.atom.predicate != FLUENT_OF)


def symbols(theory: Theory) -> set[str]:
    found = set()
    for literal in body_literals(theory):
        found.add(literal.atom.predicate)
        found |= {t.functor for t in literal.atom.walk() if isinstance(t, Function)}
    return found


HIDDEN = ("Close(.,.,#.,+)", "Happens(-,+)")
HIDDEN_EVENTS = ("walking(.)", "active(.)")


@every
@pytest.mark.parametrize("hidden", [*HIDDEN, *HIDDEN_EVENTS])
def test_what_has_recall_zero_never_appears(make: Make, hidden: str) -> None:
    domain = plaza().domain
    keyword = "modeP" if hidden in HIDDEN else "modeF"
    (banned,) = parse_modes(f"{keyword}(0, {hidden})").declarations
    modes = Modes((*domain.modes.declarations, banned))
    theory = make().fit(cut_plaza(50, replace(domain, modes=modes))).theory_
    assert banned.signature.name not in symbols(theory)


def markers(modes: Modes, atom: Atom) -> Iterator[tuple[Term, Marker]]:
    """Yield each leaf of an atom with what its mode says of it."""
    own = modes.predicate(atom.signature)
    assert own is not None
    assert own.visible
    for term, marker in zip(atom.args, own.markers, strict=True):
        if not isinstance(term, Function):
            yield term, marker
            continue
        inner = modes.function(Signature(term.functor, len(term.args)))
        assert inner is not None
        assert inner.visible
        yield from zip(term.args, inner.markers, strict=True)


@every
def test_theories_lie_within_the_modes(make: Make) -> None:
    theory = taught(make).theory_
    for literal in body_literals(theory):
        for term, marker in markers(plaza().domain.modes, literal.atom):
            assert isinstance(term, Constant if marker.constant else Variable), str(literal)
    for rule in theory.rules():
        assert rule.head.atom.predicate in ("initiatedAt", "terminatedAt")
        assert str(rule.head.atom.args[0]).startswith("meet(")


SIGNED = """
modeh(initiatedAt(meet(+id,+id),+time))
modeh(terminatedAt(meet(+id,+id),+time))
modeb(close(+id,+id,#dist,+time))
modeb(happensAt(active(+id),+time))
modeb(happensAt(inactive(+id),+time))
modeb(not happensAt(walking(+id),+time))
"""


@every
@pytest.mark.parametrize("only", ["initiatedAt", "terminatedAt", ""])
def test_signs_and_heads_are_those_that_the_modes_allow(make: Make, only: str) -> None:
    lines = [line for line in SIGNED.splitlines() if "modeh" not in line or only in line]
    modes = parse_oled_modes("\n".join(lines)).modes
    theory = make().fit(cut_plaza(50, replace(plaza().domain, modes=modes))).theory_
    for rule in theory.rules():
        assert modes.allows(rule.head), str(rule)
    for literal in body_literals(theory):
        assert modes.allows(literal), str(literal)


# little to learn from


def changed(
    label: int | None = None, *, queries: bool = True, evidence: bool = True
) -> Iterator[MicroBatch]:
    """The plaza with one label for all, without its query atoms, or without its evidence."""
    table = plaza().table
    asked = query_rows(table, plaza().domain)
    truth = table.truth.copy()
    if label is not None:
        truth[asked] = label
    left = table.with_truth(truth).take((asked & queries) | (~asked & evidence))
    return batches(MemorySource(left, plaza().domain), TimePoints(50))


POOR: dict[str, Callable[[], Iterator[MicroBatch]]] = {
    "nothing": lambda: iter(()),
    "all false": lambda: changed(FALSE),
    "no labels": lambda: changed(UNKNOWN),
    "no query atoms": lambda: changed(queries=False),
    "no evidence": lambda: changed(evidence=False),
    "one time-point": lambda: islice(cut_plaza(1), 1),
}


@every
@pytest.mark.parametrize("poor", POOR.values(), ids=POOR.keys())
def test_from_nothing_nothing_is_learned(
    make: Make, poor: Callable[[], Iterator[MicroBatch]]
) -> None:
    learner = make().fit(poor())
    assert len(learner.theory_) == 0
    json.dumps(learner.to_state())
    for batch in whole():
        assert set(learner.predict(batch).tolist()) == {FALSE}


@every
def test_what_always_holds_is_no_trouble(make: Make) -> None:
    learner = make().fit(changed(TRUE))
    check(learner.theory_, plaza().domain)
    for batch in changed(TRUE):
        assert set(learner.predict(batch).tolist()) <= {TRUE, FALSE}


@every
def test_a_learned_theory_is_no_trouble_for_poor_batches(make: Make) -> None:
    learner = taught(make)
    for poor in POOR.values():
        for batch in poor():
            assert len(learner.predict(batch)) == len(batch.queries)


# enough to learn from


@good
def test_it_learns_to_meet(make: Make) -> None:
    learner = taught(make)
    assert len(learner.theory_) > 0
    found = Confusion()
    for batch in whole():
        found += Confusion.of(batch.labels, learner.predict(batch))
    assert found.f1 > 0.8
