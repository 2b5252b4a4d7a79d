"""Which labels to ask for: stretches, strategies, the session behind them, and the command."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import splice
from splice.active.ask import questions
from splice.active.session import LabelSession
from splice.active.strategy import STRATEGIES
from splice.cli import app
from splice.completion.profile import PROFILES
from splice.completion.source import CompletedSource
from splice.errors import SpliceError
from splice.evaluation.confusion import Confusion
from splice.lab.experiments import active
from splice.lab.figures.curves import enough
from splice.lab.figures.results import read_results, results_report
from splice.lab.plaza import make_plaza
from splice.labels import LabelArray
from splice.report.document import Figure
from splice.stream.batch import TimePoints
from splice.stream.mask import KeepBatches, MaskedSource, Unit
from splice.stream.source import MemorySource

SQUARE = make_plaza(sequences=3, people=3, frames=240, seed=3).source


def unlabelled() -> tuple[LabelSession, LabelArray]:
    """Return a session that knows no label, and the truth."""
    session = LabelSession(SQUARE)
    truth = session.labels.copy()
    session.answer(np.arange(len(truth)), 0)
    return session, truth


def answered(strategy: str, rounds: int, each: int = 5, seed: int = 0) -> float:
    """Return the F1 of what is completed after some rounds of questions to one who knows."""
    session, truth = unlabelled()
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        for pick in STRATEGIES.parse(strategy).pick(session.pool(), each, rng):
            rows = session.atoms(pick.stretch)
            session.answer(rows, truth[rows])
    left = session.labels == 0
    return Confusion.of(truth[left], session.completion.labels[left]).f1


def test_stretches_share_out_the_atoms_and_each_lies_in_its_time() -> None:
    session, _ = unlabelled()
    stretches, queries = session.stretches, session.queries
    assert sorted(np.unique(stretches.of)) == list(range(len(stretches)))
    start, end = stretches.start[stretches.of], stretches.end[stretches.of]
    assert ((start <= queries.time) & (queries.time < end)).all()
    for stretch in range(0, len(stretches), 7):
        rows = session.atoms(stretch)
        assert len({tuple(sorted(args)) for args in queries.args[rows].tolist()}) == 1
        assert len(np.unique(queries.kind[rows])) == len(np.unique(queries.sequence[rows])) == 1
        assert len(np.unique(queries.time[rows])) <= 25


def test_atoms_alone_are_half_of_a_pair() -> None:
    pairs, atoms = LabelSession(SQUARE), LabelSession(SQUARE, unit=Unit.ATOM)
    assert len(atoms.stretches) == 2 * len(pairs.stretches)
    assert len(pairs.fluents(pairs.atoms(0))) == 2
    assert len(atoms.fluents(atoms.atoms(0))) == 1


@pytest.mark.parametrize("name", STRATEGIES.known)
def test_a_strategy_picks_different_stretches_that_lack_a_label(name: str) -> None:
    session, truth = unlabelled()
    strategy = STRATEGIES.known[name]()
    for _ in range(2):
        pool = session.pool()
        first, again = (strategy.pick(pool, 6, np.random.default_rng(4)) for _ in range(2))
        assert first == again
        chosen = [pick.stretch for pick in first]
        assert len(set(chosen)) == 6
        assert pool.askable[chosen].all()
        assert all(pick.reason for pick in first)
        for stretch in chosen:
            session.answer(session.atoms(stretch), truth[session.atoms(stretch)])
        assert not session.pool().askable[chosen].any()
    session.answer(np.arange(len(truth)), truth)
    assert strategy.pick(session.pool(), 3, np.random.default_rng(0)) == []


def test_all_that_is_left_is_picked_where_the_budget_is_larger() -> None:
    session, truth = unlabelled()
    rest = np.flatnonzero(session.stretches.of > 2)
    session.answer(rest, truth[rest])
    for name in STRATEGIES.known:
        picks = STRATEGIES.known[name]().pick(session.pool(), 50, np.random.default_rng(1))
        assert sorted(pick.stretch for pick in picks) == [0, 1, 2]


def test_a_session_believes_what_completion_in_hindsight_says() -> None:
    masked = MaskedSource(SQUARE, KeepBatches(20), seed=2)
    session = LabelSession(masked)
    done = [
        part
        for _, part in CompletedSource(masked, PROFILES["regression"], TimePoints(25)).completions()
    ]
    for name in ("labels", "values", "reached"):
        oracle = np.concatenate([getattr(part, name) for part in done])
        assert np.allclose(getattr(session.completion, name), oracle)


def test_an_answer_is_taken_back() -> None:
    session, truth = unlabelled()
    rows = session.atoms(5)
    before = session.completion.values.copy()
    session.answer(rows, truth[rows])
    assert session.completion.given[rows].all()
    session.answer(rows, 0)
    assert (session.completion.values == before).all()


def test_coverage_begins_with_the_stretch_that_a_search_finds() -> None:
    """The twin counts, for each stretch, the patterns in it by their share of the stream."""
    session, _ = unlabelled()
    pool = session.pool()
    mass = {p: int((pool.patterns == p).sum()) for p in np.unique(pool.patterns).tolist()}
    worth = [
        sum(mass[p] ** 0.5 for p in set(pool.patterns[session.atoms(s)].tolist()))
        for s in range(len(session.stretches))
    ]
    (pick,) = STRATEGIES.parse("coverage:0.5").pick(pool, 1, np.random.default_rng(0))
    assert worth[pick.stretch] == max(worth)
    assert "was never labelled" in pick.reason


def test_chosen_labels_help_more_than_random_ones() -> None:
    chosen = answered("mix", 6)
    random = np.mean([answered("random", 6, seed=seed) for seed in range(4)])
    assert chosen > 0.9
    assert chosen > random


def test_half_of_the_questions_are_about_doubt_once_both_labels_are_there() -> None:
    """However many are asked at once, and all by need before."""
    session, truth = unlabelled()
    mixed, alone = STRATEGIES.parse("mix:0.75:0:1:0.5"), STRATEGIES.parse("mix:0.75:0:1:0")
    rng = np.random.default_rng(0)
    assert mixed.pick(session.pool(), 8, rng) == alone.pick(session.pool(), 8, rng)
    for stretch in (0, int(session.stretches.of[(truth > 0).argmax()])):
        session.answer(session.atoms(stretch), truth[session.atoms(stretch)])
    pool = session.pool()
    many = mixed.pick(pool, 8, rng)
    assert [pick.reason.startswith("completion is") for pick in many] == [False, True] * 4
    (doubted, *_) = STRATEGIES.parse("uncertainty").pick(pool, 1, rng)
    assert many[1] == doubted
    assert many[0] == alone.pick(pool, 1, rng)[0] == mixed.pick(pool, 1, rng)[0]
    assert len({pick.stretch for pick in many}) == 8


def test_asking_again_goes_on_where_answers_ended() -> None:
    session, truth = unlabelled()
    asked: set[tuple[str, str, int]] = set()
    for _ in range(3):
        for question in questions(session, 4):
            key = (question.sequence, question.fluents[0], question.start)
            assert key not in asked
            asked.add(key)
            rows = np.flatnonzero(
                (session.queries.time >= question.start)
                & (session.queries.time < question.end)
                & np.array([_name(session, row) in question.fluents for row in range(len(truth))])
            )
            rows = rows[_sequence(session, rows) == question.sequence]
            assert question.points == len(rows)
            session.answer(rows, truth[rows])


def _name(session: LabelSession, row: int) -> str:
    atom = session.queries.atom(row)
    return str(atom.args[0]).replace("'", "")


def _sequence(session: LabelSession, rows: np.ndarray) -> np.ndarray:
    return np.array([session.vocabulary.sequences[int(c)] for c in session.queries.sequence[rows]])


def test_questions_are_a_labels_table_to_fill_in(tmp_path: Path) -> None:
    """Answers make the labels grow, and what is answered is not asked again."""
    square = tmp_path / "square"
    splice.write_source(replace_labels(SQUARE), square, "csv")
    run = CliRunner()
    events, labels = square / "events.csv", tmp_path / "labels.csv"
    given = ["--domain", str(square / "domain.toml"), "--format", "csv", "--budget", "3"]
    first = run.invoke(app, ["ask", str(events), "--open-world", *given])
    assert first.exit_code == 0, first.output
    rows = list(csv.DictReader(io.StringIO(first.stdout)))
    assert list(rows[0]) == ["sequence", "fluent", "start", "end", "label", "reason"]
    assert {row["label"] for row in rows} == {""}
    labels.write_text(first.stdout.replace(",,", ",false,"))
    again = run.invoke(app, ["ask", str(events), str(labels), "--open-world", *given])
    assert again.exit_code == 0, again.output
    more = list(csv.DictReader(io.StringIO(again.stdout)))
    places = {(row["sequence"], row["fluent"], row["start"]) for row in rows}
    assert not places & {(row["sequence"], row["fluent"], row["start"]) for row in more}
    shown = run.invoke(app, ["data", "show", str(events), str(labels), "--format", "json"])
    counted = json.loads(shown.stdout)["labels"]
    assert counted["false"] == sum(int(row["end"]) - int(row["start"]) for row in rows)


def replace_labels(source: MemorySource) -> MemorySource:
    """Return a source without its query atoms."""
    table = source.table
    return replace(source, table=table.take(~table.of_predicates((source.domain.query.name,))))


def test_nothing_to_ask_about_is_said() -> None:
    with pytest.raises(SpliceError, match="no query atoms"):
        splice.ask(replace_labels(SQUARE))


def test_a_strategy_that_is_not_there_is_named() -> None:
    with pytest.raises(SpliceError, match="did you mean 'coverage'"):
        splice.ask(SQUARE, strategy="coverge")


def test_the_experiment_counts_the_same_in_any_order() -> None:
    """More answers begin with the fewer, whether or not those were counted before."""
    grid = {
        "datasets": [
            {"name": "plaza", "fluent": "meet", "sequences": 3, "frames": 150, "people": 3}
        ],
        "answers": [3, 6],
        "samples": 1,
    }
    for method in ("mix", "stratified"):
        cells = active.cells({"grid": grid, "methods": [{"name": method}]})
        few, many = (cell.parameters for cell in cells)
        first = [active.work(few), active.work(many)]
        assert [active.work(many), active.work(few)] == first[::-1]
        assert first[0]["labels"] < first[1]["labels"] <= 6 * 50
        assert first[1]["share"] >= 0


def test_the_table_of_the_experiment_is_drawn_and_says_how_many_answers_are_enough() -> None:
    table = Path(__file__).resolve().parents[1] / "experiments/results/active.csv"
    (read,) = read_results(table)
    report = results_report([read])
    figures = [s for tab in report.tabs for s in tab.sections if isinstance(s, Figure)]
    datasets = {str(row["dataset"]) for row in read.rows}
    assert [figure.title for figure in figures] == list(
        dict.fromkeys(figure.title for figure in figures)
    )
    assert {figure.title for figure in figures} == datasets
    for figure in figures:
        for panel in figure.panels:
            assert {line.name for line in panel.curves} == {row["method"] for row in read.rows}
    told = {(row["dataset"], row["method"]): row["answers for 95 %"] for row in enough(read.rows)}
    for (dataset, method), answers in told.items():
        own = [r for r in read.rows if (r["dataset"], r["method"]) == (dataset, method)]
        reached = [r["answers"] for r in own if r["share"] >= 0.95]
        assert answers == (str(min(reached)) if reached else "more than 80")
