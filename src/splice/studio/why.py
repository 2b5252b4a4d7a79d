"""Why: of a label, of an interval, of a rule; and which labels disagree."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import numpy as np

from splice.completion.completer import SupervisionCompleter
from splice.completion.result import Completion
from splice.errors import SpliceError
from splice.evaluation.confusion import Confusion
from splice.evaluation.recognition import fluent_names
from splice.events.crisp.explain import explain_interval
from splice.events.crisp.program import compile_program
from splice.labels import UNKNOWN, LabelArray
from splice.logic.atoms import Rule
from splice.logic.canonical import canonical_key
from splice.logic.domain import Holds
from splice.logic.schema import INITIATED_AT
from splice.logic.syntax import parse_ground_term
from splice.logic.theory import Statement, Theory
from splice.logic.words import in_words
from splice.report.firings import firings
from splice.studio.columns import runs_of
from splice.studio.rulebook import checked_rules, read_rules
from splice.studio.state import Studio


def why_label(studio: Studio, sequence: int, fluent: str, time: int) -> dict[str, Any]:
    """Return what the label of a fluent at a time was worked out from."""
    with studio.lock:
        row = studio.row(sequence, fluent, time)
        completer, done, place = _completed(studio, row)
        explanation = completer.explain(place)
        return {
            **explanation.as_json(),
            "text": str(explanation),
            "time": int(done.batch.queries.time[place]),
            "pattern": [str(atom) for atom in explanation.evidence],
        }


def _completed(studio: Studio, row: int) -> tuple[SupervisionCompleter, Completion, int]:
    """Complete up to the batch that a query atom stands in; return it, and the atom's place there."""
    completer, stream = studio.session.completer()
    start = 0
    for done in completer.completions(stream):
        if row < start + len(done):
            return completer, done, row - start
        start += len(done)
    raise SpliceError("no batch has this time-point", "reload the page")


def why_interval(studio: Studio, sequence: int, fluent: str, time: int) -> dict[str, Any]:
    """Return which rules began and ended the interval that covers a time."""
    with studio.lock:
        theory = studio.theory
        if not len(theory):
            raise SpliceError("there are no rules yet", "label more stretches, true and false ones")
        program = compile_program(theory, studio.session.domain)
        table, domain = studio.table(sequence), studio.session.domain
        explanation = explain_interval(program, table, parse_ground_term(fluent), time, domain)
        return {**explanation.as_json(), "text": "\n".join(explanation.lines())}


def rules(studio: Studio) -> list[dict[str, Any]]:
    """Return all rules: learned, pinned and forbidden, with counts, words and how each came about."""
    with studio.lock:
        shown, keys = [], set()
        for learned in studio.learned:
            keys.add(canonical_key(learned.rule))
            shown.append(
                {
                    **_plain(studio, learned.rule),
                    "summary": learned.summary,
                    "story": list(learned.explanation())[4:],
                }
            )
        kept = {**studio.book.pinned, **studio.book.forbidden}
        more = [_plain(studio, rule) for key, rule in kept.items() if key not in keys]
        return shown + [{**rule, "summary": "", "story": []} for rule in more]


def _plain(studio: Studio, rule: Rule) -> dict[str, Any]:
    text = f"{rule}."
    return {"text": text, "words": in_words(rule), "state": studio.book.state_of(rule)}


def fires(studio: Studio, sequence: int, text: str) -> dict[str, Any]:
    """Return where a rule fires in a sequence, how often it is right by what is believed, and where not.

    A rule that initiates is right where the fluent holds next, one that terminates where it does not.
    """
    with studio.lock:
        session, instances = studio.session, studio.fluents
        rule, *more = read_rules(text)
        if more:
            raise SpliceError("only one rule can be shown", "write one rule")
        fired = session.predicted(lambda batch: firings(rule, batch)) > 0
        # ``after`` is the query atom of the same fluent at the next time-point, and the last one's own.
        after = np.arange(len(fired))
        if session.domain.clock.holds is Holds.AFTER:
            order = instances.order
            same = np.flatnonzero(np.diff(instances.of[order]) == 0)
            after[order[same]] = order[same + 1]
        begins = rule.head.atom.predicate == INITIATED_AT
        right = (session.completion.labels[after] > 0) == begins
        here = session.queries.sequence == studio.sequence_code(sequence)
        rows = instances.order[(fired & here)[instances.order]]
        runs = runs_of(instances, rows, right[rows].astype(np.int64), studio.times(sequence))
        # By instance and time: a place is shown where a run of wrong firings begins, not each of its points.
        wrong = (fired & ~right)[instances.order]
        goes_on = np.append(False, wrong[:-1] & (np.diff(instances.of[instances.order]) == 0))
        places = instances.order[wrong & ~goes_on]
        return {
            "intervals": [
                [instances.names[number], start, end, bool(value)]
                for number, start, end, value in zip(*(c.tolist() for c in runs), strict=True)
            ],
            "right": int((fired & right).sum()),
            "wrong": int(wrong.sum()),
            "places": [_place(studio, int(row)) for row in np.sort(places)[:5]],
        }


def effect(studio: Studio, text: str, instead_of: str = "") -> dict[str, Any]:
    """Return how well the rules do with and without some more, in the place of another or beside all."""
    with studio.lock:
        before = studio.theory
        new = checked_rules(text, studio.session.domain, before)
        old = read_rules(instead_of) if instead_of else []
        gone = {canonical_key(rule) for rule in (*old, *new)}
        kept = [
            s
            for s in before.statements
            if isinstance(s.content, Rule) and canonical_key(s.content) not in gone
        ]
        after = Theory((*kept, *(Statement(rule) for rule in new)), before.schema)
        return {"before": scores(studio), "after": scores(studio, after)}


def scores(studio: Studio, theory: Theory | None = None) -> dict[str, Any]:
    """Return the F1 of rules by fluent: against the labels given, and against what is believed."""
    recognised = studio.recognised(theory)
    session = studio.session
    believed = session.completion.labels
    return {
        name: {
            "given": _f1(session.labels[rows], recognised[rows]),
            "believed": _f1(believed[rows], recognised[rows]),
            "labels": int((session.labels[rows] != UNKNOWN).sum()),
        }
        for name, rows in _by_fluent(studio).items()
    }


def _by_fluent(studio: Studio) -> dict[str, np.ndarray]:
    names, which = fluent_names(studio.session.queries)
    return {name: which == number for number, name in sorted(enumerate(names), key=itemgetter(1))}


def _f1(truth: LabelArray, predicted: LabelArray) -> float | None:
    """Return the F1 over what is known; None where no label is true, so it would say nothing."""
    return Confusion.of(truth, predicted).f1 if (truth > 0).any() else None


def contradictions(studio: Studio) -> list[dict[str, Any]]:
    """Return patterns that were labelled true and false, and a place of the rarer label of each."""
    with studio.lock:
        session, done = studio.session, studio.session.completion
        completer, _ = session.completer()
        if not (session.labels != UNKNOWN).any():
            return []
        numbers = {str(p.rule): i for i, p in enumerate(session.reading.lifting.store.patterns)}
        shown = []
        for contradiction in completer.contradictions():
            rarer = 1 if contradiction.positives <= contradiction.negatives else -1
            pattern = numbers.get(str(contradiction.rule), -1)
            rows = np.flatnonzero((done.patterns == pattern) & (session.labels == rarer))
            shown.append(
                {**contradiction.as_json(), "places": [_place(studio, int(r)) for r in rows[:5]]}
            )
        return shown


def _place(studio: Studio, row: int) -> dict[str, Any]:
    queries = studio.session.queries
    name = studio.session.vocabulary.sequences[int(queries.sequence[row])]
    time = int(queries.time[row])
    return {
        "number": studio.sequence_names().index(name),
        "sequence": name,
        "fluent": studio.fluents.names[int(studio.fluents.of[row])],
        "time": time,
        "when": queries.vocabulary.times.value(time),
        "label": bool(studio.session.labels[row] > 0),
    }
