"""The page of a run lets rules be checked by eye: several sequences, firings, what rules ask for, F1."""

from __future__ import annotations

import pytest

import splice
from splice.inputs.open import InputOptions
from splice.lab.plaza import make_plaza
from splice.logic.syntax import parse_rule
from splice.pipeline.learned import LearnOptions
from splice.report.document import Role, Timeline
from splice.report.firings import asked_for, firings
from splice.report.run import learned_report
from splice.stream.batch import MicroBatch, TimePoints, batches
from splice.stream.source import sequences

SQUARE = make_plaza(sequences=7, people=3, frames=200, seed=4).source


def whole() -> MicroBatch:
    return next(iter(batches(SQUARE, TimePoints(10**9))))


@pytest.mark.parametrize(
    ("text", "fires"),
    [
        (
            "initiatedAt(meet(X,Y),T) :- happensAt(walking(X),T), not happensAt(walking(Y),T).",
            lambda walking, x, y, t: (x, t) in walking and (y, t) not in walking,
        ),
        (
            "terminatedAt(meet(X,Y),T) :- not happensAt(walking(X),T).",
            lambda walking, x, y, t: (x, t) not in walking,
        ),
    ],
)
def test_a_rule_fires_where_its_body_is_true(text: str, fires: object) -> None:
    """The twin looks each body up, atom by atom, once both have been seen.

    The last time-point cannot be told.
    """
    batch = whole()
    walking, first = set(), dict[str, int]()
    for atom in batch.evidence.atoms():
        event, time = str(atom.args[0]), str(atom.args[-1])
        if event.startswith("walking("):
            walking.add((event[8:-1], time))
        if atom.predicate == "happensAt":
            first.setdefault(event.partition("(")[2][:-1], int(time))
    fired = firings(parse_rule(text), batch) > 0
    last = str(batch.times[-1])
    seen = 0
    for row, atom in enumerate(batch.queries.atoms()):
        fluent, time = str(atom.args[0]), str(atom.args[1])
        if not fluent.startswith("meet("):
            assert not fired[row]
        elif time != last:
            x, y = fluent[5:-1].split(",")
            if int(time) < max(first[x], first[y]):
                continue
            assert fired[row] == fires(walking, x, y, time)  # type: ignore[operator]
            seen += fired[row]
    assert seen > 0


def test_what_rules_ask_for_is_shown_and_nothing_of_others() -> None:
    batch = whole()
    rule = parse_rule("initiatedAt(meet(X,Y),T) :- close(X,Y,25,T), happensAt(active(Z),T).")
    entities = {batch.table.vocabulary.constants.known_code(name) for name in ("ID1", "ID2")}
    shown = batch.evidence.take(asked_for([rule], batch.evidence, entities))
    texts = [str(atom) for atom in shown.atoms()]
    close = [text for text in texts if text.startswith("close(")]
    assert close
    assert all("'ID3'" not in text and ",25," in text.replace("'", "") for text in close)
    assert {text.partition("(")[0] for text in texts} <= {"close", "happensAt"}
    assert all("active(" in text for text in texts if text.startswith("happensAt"))


def test_the_page_of_a_run_shows_some_sequences_with_firings_and_f1() -> None:
    choices = LearnOptions()
    learned = splice.learn(SQUARE, choices=choices)
    report = learned_report(SQUARE, InputOptions(), choices, learned)
    (tab,) = (tab for tab in report.tabs if tab.title == "Timeline")
    shown = [section for section in tab.sections if isinstance(section, Timeline)]
    with_true = [
        name
        for name, table in sequences(SQUARE)
        if (table.truth[table.of_predicates((SQUARE.domain.query.name,))] > 0).any()
    ]
    assert [each.title for each in shown] == [f"Sequence {name}" for name in with_true[:5]]
    assert len({each.name for each in shown}) == len(shown) > 1
    assert all("F1 of the rules on the" in each.note for each in shown)
    told = {lane.about for each in shown for lane in each.lanes if lane.role is Role.FIRING}
    numbers = {int(about.split()[1]) for about in told}
    assert numbers
    assert numbers <= {rule.number for rule in learned.rules}
    asked = {lane.name.partition("(")[0] for each in shown for lane in each.lanes}
    bodies = " ".join(str(rule.rule) for rule in learned.rules)
    assert ("close(" in bodies) <= ("close" in asked)
