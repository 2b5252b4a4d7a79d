"""Supervision completion: laws that hold for every profile, and its edges."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dense_streams import DOMAIN, completed, cut, dense_rows
from reference.splice_twin import Twin
from splice.completion.cache import Caching, Weighting
from splice.completion.completer import SupervisionCompleter
from splice.completion.connector import KNN, Direction, EpsilonNN, Neighbours
from splice.completion.distance import Lifted, SetRule
from splice.completion.filter import Majority, Undecided, Unfiltered
from splice.completion.persistence import Temporal
from splice.completion.profile import PROFILES, Profile, profile
from splice.completion.result import Completion
from splice.completion.similarity import Similarity, Vertices
from splice.completion.solver import (
    Harmonic,
    LabelPropagation,
    LabelSpreading,
    PseudoInverse,
    TinyWeight,
    Unreached,
)
from splice.completion.threshold import ClassMass, LogOdds
from splice.errors import SpliceError
from splice.io.lomrf.db import DbSource
from splice.io.lomrf.modes import parse_modes
from splice.logic.canonical import canonical_key
from splice.logic.domain import Domain
from splice.logic.schema import Signature
from splice.logic.syntax import parse_rule
from splice.patterns.lifting import Lifting
from splice.patterns.partition import Examples, partition
from splice.patterns.visibility import Visibility
from splice.stream.batch import TimePoints, batches
from streams import CLOSE, MEET, WALKING, Row

VARIANTS = {
    **PROFILES,
    "all neighbours": profile("patterns", connector=KNN(2)),
    "union": profile("patterns", connector=KNN(2, direction=Direction.UNION)),
    "mutual": profile("patterns", connector=KNN(2, direction=Direction.MUTUAL)),
    "epsilon": profile("patterns", connector=EpsilonNN(0.5)),
    "hausdorff": profile("patterns", distance=Lifted(SetRule.HAUSDORFF)),
    "tiny weight": profile("patterns", connector=KNN(2), solver=TinyWeight(), caching=Caching()),
    "pseudo-inverse": profile(
        "patterns", connector=KNN(2), solver=PseudoInverse(1e-4), caching=Caching()
    ),
    "propagation": profile("patterns", connector=KNN(2), solver=LabelPropagation()),
    "spreading": profile("patterns", connector=KNN(2), solver=LabelSpreading()),
    "no cache": profile("default", caching=None),
    "links on ground": profile("paper", solver=Harmonic(), links=Temporal(2)),
    "drop and decay": profile("default", caching=Caching(undecided=Undecided.DROP, decay=0.5)),
    "log-odds": profile("patterns", threshold=LogOdds()),
    "class mass": profile("patterns", threshold=ClassMass()),
    "majority": profile("default", caching=Caching(filter=Majority())),
}
every_variant = pytest.mark.parametrize("chosen", VARIANTS.values(), ids=VARIANTS)


def flat(found: list[Completion]) -> np.ndarray:
    return np.concatenate([np.empty(0), *(done.values for done in found)])


@every_variant
@settings(max_examples=4)
@given(given_rows=dense_rows(), count=st.integers(1, 3))
def test_looking_ahead_changes_nothing(chosen: Profile, given_rows: list[Row], count: int) -> None:
    stream = cut(given_rows, count)
    one, two = SupervisionCompleter(chosen), SupervisionCompleter(chosen)
    straight = [one.complete(batch) for batch in stream]
    ahead = list(two.completions(stream))
    assert np.array_equal(flat(straight), flat(ahead))
    assert one.to_state() == two.to_state()


@pytest.mark.parametrize(
    "chosen", [v for v in VARIANTS.values() if v.teacher is None and not v.distance.learns],
    ids=[n for n, v in VARIANTS.items() if v.teacher is None and not v.distance.learns],
)  # fmt: skip
@given(given_rows=dense_rows(), count=st.integers(1, 5))
@settings(max_examples=5)
def test_the_literal_twin_agrees(chosen: Profile, given_rows: list[Row], count: int) -> None:
    """Algorithms 1 to 3, read literally and slowly, give the same values, labels and reach."""
    stream = cut(given_rows, count)
    twin = Twin(DOMAIN, chosen)
    for batch, done in zip(stream, completed(stream, chosen), strict=True):
        expected = twin.complete(batch)
        assert done.values.tolist() == pytest.approx(expected.values, abs=1e-8)
        assert done.labels.tolist() == expected.labels
        assert done.reached.tolist() == expected.reached


@every_variant
@given(given_rows=dense_rows(), count=st.integers(1, 5))
@settings(max_examples=5)
def test_values_are_sane_and_given_labels_are_kept(
    chosen: Profile, given_rows: list[Row], count: int
) -> None:
    stream = cut(given_rows, count)
    for batch, done in zip(stream, completed(stream, chosen), strict=True):
        assert not np.isnan(done.values).any()
        assert (np.abs(done.values) <= 1).all()
        known = batch.labels != 0
        assert (done.labels[known] == batch.labels[known]).all()
        assert (done.given == known).all()
        assert (done.labels != 0).all()
        assert (done.completed().labels == done.labels).all()


@every_variant
@given(given_rows=dense_rows())
@settings(max_examples=5)
def test_flipping_all_labels_flips_what_they_reach(chosen: Profile, given_rows: list[Row]) -> None:
    flipped = [(*row[:4], -row[4] if row[2] == MEET else row[4]) for row in given_rows]
    before, after = (completed(cut(r), chosen) for r in (given_rows, flipped))
    for one, other in zip(before, after, strict=True):
        assert (one.reached == other.reached).all()
        reached = one.reached
        assert one.values[reached] == pytest.approx(-other.values[reached], abs=1e-9)


@every_variant
@given(given_rows=dense_rows())
@settings(max_examples=5)
def test_names_do_not_matter(chosen: Profile, given_rows: list[Row]) -> None:
    names = {"A": "zoe", "B": "yan", "C": "xi", "34": "34", "25": "25"}
    renamed = [
        (s, t + 1000, k, tuple(names[a] for a in args), y) for s, t, k, args, y in given_rows
    ]
    renamed = [(s, t if k.time is not None else t - 1000, k, a, y) for s, t, k, a, y in renamed]
    before, after = flat(completed(cut(given_rows), chosen)), flat(completed(cut(renamed), chosen))
    assert after == pytest.approx(before, abs=1e-9)


@pytest.mark.parametrize(
    "chosen", [v for n, v in VARIANTS.items() if n != "lomrf-2019"],
    ids=[n for n in VARIANTS if n != "lomrf-2019"],
)  # fmt: skip
@given(given_rows=dense_rows(), data=st.data())
@settings(max_examples=5)
def test_the_order_of_examples_does_not_matter(
    chosen: Profile, given_rows: list[Row], data: st.DataObject
) -> None:
    """Atoms of one time-point may come in any order."""
    shuffled = sorted(data.draw(st.permutations(given_rows)), key=lambda row: row[:2])
    found = []
    for some_rows in (given_rows, shuffled):
        values = {}
        for batch, done in zip(s := cut(some_rows), completed(s, chosen), strict=True):
            names = [f"{batch.sequence} {atom}" for atom in batch.queries.atoms()]
            values |= dict(zip(names, done.values.tolist(), strict=True))
        found.append(values)
    assert found[0] == pytest.approx(found[1], abs=1e-9)


@pytest.mark.parametrize(
    "connector",
    [
        KNN(1),
        KNN(2),
        KNN(3),
        EpsilonNN(0.6),
        KNN(2, direction=Direction.UNION),
        KNN(2, direction=Direction.MUTUAL),
        KNN(1, Neighbours.LABELLED),
    ],
)
@given(given_rows=dense_rows())
@settings(max_examples=5)
def test_the_quotient_is_exact(connector: KNN | EpsilonNN, given_rows: list[Row]) -> None:
    """Merging equal vertices gives the values of the graph that keeps them apart."""
    chosen = profile("patterns", connector=connector, caching=Caching())
    merged = flat(completed(cut(given_rows, 6), chosen))

    def apart(self: Vertices, _: Similarity) -> tuple[np.ndarray, np.ndarray]:
        return np.arange(len(self)), np.arange(len(self))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Vertices, "classes", apart)
        unmerged = flat(completed(cut(given_rows, 6), chosen))
    assert merged == pytest.approx(unmerged, abs=1e-9)


@every_variant
@given(given_rows=dense_rows(), split=st.integers(1, 6))
@settings(max_examples=4)
def test_a_restored_completer_goes_on(chosen: Profile, given_rows: list[Row], split: int) -> None:
    stream = cut(given_rows)
    if len(stream) <= split:
        return
    whole = SupervisionCompleter(chosen)
    expected = [whole.complete(batch) for batch in stream]
    first, second = SupervisionCompleter(chosen), SupervisionCompleter(chosen)
    for batch in stream[:split]:
        first.complete(batch)
    state = json.loads(json.dumps(first.to_state()))
    second.restore(state, stream[0].domain, stream[0].table.vocabulary)
    found = [second.complete(batch) for batch in stream[split:]]
    assert flat(found) == pytest.approx(flat(expected[split:]), abs=1e-12)
    assert second.to_state() == whole.to_state()


@pytest.mark.parametrize("name", ["default", "patterns", "all neighbours", "epsilon", "union"])
@given(given_rows=dense_rows())
@settings(max_examples=4)
def test_an_explanation_adds_up(name: str, given_rows: list[Row]) -> None:
    """What is told is the average that the value is."""
    completer = SupervisionCompleter(VARIANTS[name])
    for batch in cut(given_rows):
        done = completer.complete(batch)
        for row in range(len(done)):
            told = completer.explain(row)
            assert str(told.query) in str(told)
            assert json.dumps(told.as_json())
            if done.reached[row] and not done.given[row]:
                assert told.average() == pytest.approx(told.value, abs=1e-9)
            for neighbour in told.neighbours:
                cost = sum(match.cost for match in neighbour.matches)
                size = max(len(told.evidence), len(neighbour.rule.body))
                assert 1 - cost / size == pytest.approx(neighbour.similarity)


def _scene(*labels: int) -> list[Row]:
    """Walking alone is labelled as given, once a time-point, by different people."""
    found: list[Row] = []
    for t, label in enumerate(labels):
        found += [(0, t, WALKING, ("A",), 1), (0, t, MEET, ("A", "B"), label)]
    return found


@every_variant
def test_edges(chosen: Profile) -> None:
    nothing = completed(cut(_scene(0, 0, 0)), chosen)[0]
    assert nothing.labels.tolist() == [-1, -1, -1], "no labels at all: false"
    assert not nothing.reached.any()
    one_class = completed(cut(_scene(1, 0, 0)), chosen)[0]
    assert one_class.labels.tolist() == [1, 1, 1]
    assert one_class.reached.all()
    all_given = completed(cut(_scene(1, -1, 1)), chosen)[0]
    assert all_given.labels.tolist() == [1, -1, 1]
    no_evidence = completed(cut([(0, 1, MEET, ("A", "B"), 1), (0, 2, MEET, ("A", "C"), 0)]), chosen)
    # To neighbours no evidence reads as false; a teacher has a label for it, as for anything else.
    taught = chosen.teacher is not None
    assert no_evidence[0].labels.tolist() == [1, 1 if taught else -1]
    assert no_evidence[0].reached.tolist() == [True, taught]
    no_queries = completed(cut([(0, 1, WALKING, ("A",), 1)]), chosen)[0]
    assert len(no_queries) == 0
    assert completed([], chosen) == []


def test_contradictions_are_kept_until_the_bound_decides() -> None:
    completer = SupervisionCompleter(profile("patterns"))
    labels = [1] + [-1] * 7
    for batch in cut(_scene(*labels), 1):
        completer.complete(batch)
    assert completer.cache.contradictions() == 1
    assert len(completer.cache.labelled()) == 2, "1 against 7: both are used"
    for batch in cut([(0, 99, WALKING, ("B",), 1), (0, 99, MEET, ("B", "A"), -1)]):
        completer.complete(batch)
    assert completer.cache.labelled().labels.tolist() == [-1], "1 against 8: decided"
    for t in range(20):
        for batch in cut([(0, 200 + t, WALKING, ("B",), 1), (0, 200 + t, MEET, ("B", "A"), 1)]):
            completer.complete(batch)
    assert completer.cache.labelled().labels.tolist() == [1], "21 against 8: decisions change"


def test_modes_may_mention_what_is_not_there() -> None:
    domain = replace(DOMAIN, modes=parse_modes("modeP(1, Nowhere(+,-)) modeF(0, never(.))"))
    done = completed(cut(_scene(1, 0), domain=domain), profile("default"))[0]
    assert done.labels.tolist() == [1, 1]


def test_recall_zero_makes_evidence_invisible() -> None:
    hidden = replace(DOMAIN, modes=parse_modes("modeP(0, Happens(-,+))"))
    done = completed(cut(_scene(1, 0), domain=hidden), profile("default"))[0]
    assert done.labels.tolist() == [1, -1]
    function = replace(DOMAIN, modes=parse_modes("modeP(1, Happens(-,+)) modeF(0, walking(.))"))
    assert completed(cut(_scene(1, 0), domain=function), profile("default"))[0].labels[1] == -1


def test_unreached_policies() -> None:
    given_rows: list[Row] = [
        (0, 1, WALKING, ("A",), 1),
        (0, 1, MEET, ("A", "B"), 1),
        (0, 2, CLOSE, ("A", "B", "34"), 1),
        (0, 2, MEET, ("A", "B"), 0),
    ]
    for policy, value, label in (
        (Unreached.NEGATIVE, -1, -1),
        (Unreached.MEAN, 1, 1),
        (Unreached.ABSTAIN, 0, 0),
    ):
        done = completed(cut(given_rows), profile("patterns", solver=Harmonic(policy)))[0]
        assert (done.values[1], done.labels[1], done.reached[1]) == (value, label, False)
    with pytest.raises(SpliceError, match="no label reaches 1 query atoms"):
        completed(cut(given_rows), profile("patterns", solver=Harmonic(Unreached.ERROR)))


def test_links_carry_a_label_forward_and_never_back() -> None:
    """Nothing like it was labelled, but it held a moment ago."""
    given_rows: list[Row] = []
    for t in range(6):
        given_rows.append((0, t, CLOSE, ("A", "B", "34"), 1))
        given_rows.append((0, t, MEET, ("A", "B"), 1 if t == 3 else 0))
    without = flat(completed(cut(given_rows, 2), profile("default", links=None)))
    linked = flat(completed(cut(given_rows, 2), profile("default", links=Temporal(10))))
    assert linked[:2].tolist() == [-1, -1], "a later label does not change an earlier batch"
    assert linked[2:].tolist() == [1, 1, 1, 1]
    assert without[2:].tolist() == [1, 1, 1, 1]


def test_fluents_do_not_mix() -> None:
    move = replace(MEET, template=parse_move())
    given_rows: list[Row] = [
        (0, 1, WALKING, ("A",), 1),
        (0, 1, MEET, ("A", "B"), 1),
        (0, 1, move, ("A", "B"), 0),
    ]
    done = completed(cut(given_rows), profile("patterns"))[0]
    assert done.labels.tolist() == [1, -1]
    assert done.reached.tolist() == [True, False]


def parse_move() -> object:
    from splice.logic.syntax import parse_atom

    return parse_atom("holdsAt(move(V0,V1),V2)")


def test_counts_weigh_and_decay_and_cap() -> None:
    labels = [1, 1, 1, -1]
    chosen = profile("patterns", caching=Caching(filter=Unfiltered(), weighting=Weighting.COUNTS))
    done = completed(cut(_scene(*labels, 0), 5), chosen)[0]
    assert done.values[-1] == pytest.approx(0.5)
    once = profile("patterns", caching=Caching(filter=Unfiltered()))
    assert completed(cut(_scene(*labels, 0), 5), once)[0].values[-1] == pytest.approx(0)
    fading = SupervisionCompleter(profile("patterns", caching=Caching(decay=0.5)))
    for batch in cut(_scene(1, 1), 1):
        fading.complete(batch)
    assert [entry.count for entry in fading.cache.entries.values()] == [0.75]
    small = SupervisionCompleter(profile("patterns", caching=Caching(cap=1)))
    both: list[Row] = [*_scene(1), (0, 5, CLOSE, ("A", "B", "34"), 1), (0, 5, MEET, ("A", "B"), -1)]
    for batch in cut(both, 1):
        small.complete(batch)
    assert len(small.cache) == 1
    assert not next(iter(small.cache.entries.values())).positive


MOVE_MODES = """
modeP(2, Happens(-,+)) modeP(1, Close(.,.,#.,+)) modeP(1, OrientationMove(.,.,+))
modeP(0, Next(-,+)) modeF(2, walking(.)) modeF(2, exit(.))
"""


def _move_stream(tmp_path: Path, text: str) -> tuple[Examples, Lifting]:
    (tmp_path / "a.db").write_text(text)
    source = DbSource([tmp_path / "a.db"], Domain(modes=parse_modes(MOVE_MODES)))
    (batch,) = batches(source, TimePoints(1000))
    visibility = Visibility(batch.domain, batch.table.vocabulary)
    return partition(batch, visibility), Lifting(visibility)


FIGURE = """
M = move(ID1, ID2)
W1 = walking(ID1)
W2 = walking(ID2)
W9 = walking(ID9)
E1 = exit(ID1)
Happens(W1, 5)
Happens(W2, 5)
Happens(W9, 5)
OrientationMove(ID1, ID2, 5)
Close(ID1, ID2, 34, 5)
Close(ID1, ID9, 34, 5)
Next(6, 5)
Happens(E1, 10)
Happens(W2, 10)
HoldsAt(M, 5)
!HoldsAt(M, 10)
?HoldsAt(M, 15)
Person(ID1)
Person(ID9)
"""


def test_fig_partition(tmp_path: Path) -> None:
    """``fig:partition``: evidence joins a query atom on the constants of the types they share.

    34 is of a type that the query lacks; ``Person(ID1)`` is about every example; ID9 about none.
    """
    examples, _ = _move_stream(tmp_path, FIGURE)
    found = {
        int(examples.queries.time[i]): {str(examples.evidence.atom(r)) for r in examples.rows(i)}
        for i in range(len(examples))
    }
    always = {"person('ID1')"}
    assert found == {
        5: always
        | {
            "happensAt(walking('ID1'),5)",
            "happensAt(walking('ID2'),5)",
            "orientationMove('ID1','ID2',5)",
            "close('ID1','ID2',34,5)",
        },
        10: always | {"happensAt(exit('ID1'),10)", "happensAt(walking('ID2'),10)"},
        15: always,
    }


def test_evidence_joins_a_query_atom_without_a_time_once(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_text("Smokes(A)\nSmokes(B)\nSmokes(C)\nFriends(A, B)\n")
    domain = Domain(query=Signature("friends", 2))
    (batch,) = batches(DbSource([tmp_path / "a.db"], domain), TimePoints(1000))
    examples = partition(batch, Visibility(batch.domain, batch.table.vocabulary))
    evidence = [str(examples.evidence.atom(row)) for row in examples.rows(0)]
    assert evidence == ["smokes('A')", "smokes('B')"]


def test_logic_clause(tmp_path: Path) -> None:
    """``logic:clause``: the second example of the figure as a clause, and its opposite."""
    examples, lifting = _move_stream(tmp_path, FIGURE.replace("Person(ID1)\n", ""))
    patterns = lifting.lift(examples)
    rule = lifting.store[int(patterns[1])].rule
    expected = parse_rule("holdsAt(move(A,B),T) :- happensAt(exit(A),T), happensAt(walking(B),T).")
    assert canonical_key(rule) == canonical_key(expected)
    negative = rule.opposite()
    assert not negative.is_definite
    assert negative.opposite() == rule
    assert negative.body == rule.body
