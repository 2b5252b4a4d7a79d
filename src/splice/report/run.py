"""The report of a run that learned: labels, a timeline, rules, contradictions, doubts.

Nothing of it is kept while a run learns: the labels are completed once more, and looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from splice.completion.contradictions import Contradiction
from splice.completion.explain import Explanation, Match
from splice.errors import plural
from splice.evaluation.confusion import Confusion
from splice.evaluation.recognition import labels_in
from splice.inputs.open import InputOptions, input_title
from splice.labels import decode
from splice.learners.learned_rule import LearnedRule, rule_text
from splice.learners.protocol import StructureLearner
from splice.logic.atoms import Atom
from splice.logic.domain import Domain
from splice.logic.syntax import ground_text
from splice.pipeline.calibrate import calibrate
from splice.pipeline.learned import Learned, LearnOptions
from splice.pipeline.source import Input, opener, with_measures
from splice.report.document import (
    Cell,
    Figure,
    Influence,
    Note,
    Reason,
    Reasons,
    Report,
    RuleEntry,
    Rules,
    Section,
    Tab,
    Table,
)
from splice.report.lanes import Labelling, timeline
from splice.report.observer import CompletionObserver, Doubt, ObservedCompletion
from splice.report.reliability import reliability
from splice.stream.batch import TimePoints, batches
from splice.stream.source import RedefinedSource, Source
from splice.stream.table import AtomTable

_CONTRADICTIONS = 40


def run_report(
    title: str,
    overview: Sequence[Section],
    rules: Sequence[LearnedRule],
    watcher: CompletionObserver,
    *,
    learner: StructureLearner | None = None,
    truth: AtomTable | None = None,
    about: str = "",
) -> Report:
    """Return the report of a run.

    Parameters
    ----------
    title
        The heading.
    overview
        The sections of the first tab.
    rules
        The rules of the theory.
    watcher
        Has seen the labels being completed.
    learner
        Says what the theory recognises in the sequences that are shown.
    truth
        All labels, where they are known.
    about
        A line below the title.
    """
    tabs = [Tab("Overview", tuple(overview))]
    tabs += _timeline_tab(watcher, rules, learner, truth)
    tabs.append(Tab("Rules", (_rules(rules),)))
    if watcher.completer is not None:
        tabs.append(Tab("Labels", tuple(_labels(watcher, truth))))
    return Report(title, tuple(tabs), about)


def table_of(
    title: str, rows: Sequence[Mapping[str, Any]], note: str = "", *, folded: bool = False
) -> Table:
    """Return rows that have the same keys as a table."""
    columns = tuple(rows[0]) if rows else ()
    cells = tuple(tuple(row[name] for name in columns) for row in rows)
    return Table(title, columns, cells, note, folded)


def _timeline_tab(
    watcher: CompletionObserver,
    rules: Sequence[LearnedRule],
    learner: StructureLearner | None,
    truth: AtomTable | None,
) -> Iterator[Tab]:
    """Yield the tab with a timeline for each sequence that was kept, each with the F1 of its rules."""
    shown: list[Section] = []
    for number, kept in enumerate(watcher.labellings()):
        labelling = kept
        if learner is not None:
            labelling = replace(labelling, recognised=learner.predict(kept.batch), rules=rules)
        if truth is not None:
            labelling = replace(labelling, truth=labels_in(truth, kept.batch.queries))
        drawn = timeline(labelling, f"timeline-{number + 1}" if number else "timeline")
        shown.append(replace(drawn, note=" ".join(filter(None, (_scored(labelling), drawn.note)))))
    if shown:
        yield Tab("Timeline", tuple(shown))


def _scored(labelling: Labelling) -> str:
    """Return how well rules recognise a sequence, against all labels if they are known."""
    labels = labelling.batch.labels if labelling.truth is None else labelling.truth
    if labelling.recognised is None or not (labels > 0).any():
        return ""
    scores = Confusion.of(labels, labelling.recognised)
    what = "labels given" if labelling.truth is None else "true labels"
    return f"F1 of the rules on the {scores.count:,} {what} of this sequence: {scores.f1:.3f}."


def _rules(rules: Sequence[LearnedRule]) -> Section:
    if not rules:
        return Note("No rule was good enough.", "Learned rules")
    note = (
        "tp, fp, fn: how often a rule was right, wrong, and silent where it should have spoken, "
        "counted over the completed stream. Its history opens below it."
    )
    return Rules("Learned rules", tuple(map(rule_entry, rules)), note)


def rule_entry(rule: LearnedRule) -> RuleEntry:
    """Return a learned rule as a report shows it."""
    plain = rule.as_json()
    names = ("number", "kind", "fluent", "tp", "fp", "fn", "score", "firings")
    return RuleEntry(
        **{name: plain[name] for name in names},
        text=rule_text(rule.statement),
        weight=plain.get("weight"),
        origin=rule.origin,
        history=_history(rule.history) if all("bound" in e for e in rule.history) else None,
    )


def _history(events: Iterable[Mapping[str, Any]]) -> Table:
    def why(event: Mapping[str, Any]) -> str:
        if event["early"]:
            return "taken for its effect"
        return "a tie, broken" if event["tie"] else "gap above the bound"

    columns = ("batch", "transitions", "conditions", "score", "best", "next", "gap", "bound", "why")
    rows: list[tuple[Cell, ...]] = [
        (
            event["batch"],
            event["n"],
            ", ".join(event["body"]),
            event["score"],
            event["best"],
            event["second"],
            event["gap"],
            event["bound"],
            why(event),
        )
        for event in events
    ]
    return Table("History", columns, tuple(rows))


def _labels(watcher: CompletionObserver, truth: AtomTable | None) -> Iterator[Section]:
    assert watcher.completer is not None
    yield contradiction_table(watcher.completer.contradictions())
    reasons = tuple(reason(doubt, truth) for doubt in watcher.doubts())
    if not reasons:
        yield Note("No label had to be completed, or none could be.", "Why this label")
        return
    note = (
        "The completed labels whose values were nearest to zero, one for each pattern. "
        "A value is the average of what it is linked to: a bar shows how much each weighs."
    )
    yield Reasons("Why this label", reasons, note)


def contradiction_table(contradictions: Sequence[Contradiction]) -> Table:
    """Return what was labelled both ways, and what the filter of the cache did."""
    rows: list[dict[str, Any]] = [
        {
            "pattern": str(c.rule),
            "true": _count(c.positives),
            "false": _count(c.negatives),
            "gap": c.gap,
            "bound": c.bound,
            "what the filter did": c.outcome,
        }
        for c in contradictions
    ]
    if not rows:
        return Table("Contradictions", (), (), "No pattern was labelled both true and false.")
    more = len(rows) - _CONTRADICTIONS
    note = (
        "Patterns that were labelled true and false. Once the gap between the shares exceeds the "
        "bound, the rarer label is left out."
        + (f" {more} rarer ones are not shown." if more > 0 else "")
    )
    return table_of("Contradictions", rows[:_CONTRADICTIONS], note)


def _count(number: float) -> int | float:
    return int(number) if number == int(number) else round(number, 2)


def reason(doubt: Doubt, truth: AtomTable | None = None) -> Reason:
    """Return why a query atom got its label, as a report shows it."""
    why = doubt.why
    truth_label = None if truth is None else decode(int(labels_in(truth, doubt.queries)[0]))
    evidence = tuple(map(_text, why.evidence))
    return Reason(
        _text(why.query), doubt.sequence, why.value, why.label, truth_label, evidence, _parts(why)
    )


def _parts(why: Explanation) -> tuple[Influence, ...]:
    parts = []
    for n in why.neighbours:
        label = "true" if n.label else "false"
        text = f"a pattern labelled {label} {n.count:g} {plural('time', n.count)}"
        value = 1.0 if n.label else -1.0
        parts.append(Influence(text, value, n.weight, n.similarity, tuple(_details(n.matches))))
    for p in why.peers:
        text = f"{p.size} unlabelled in the same batch"
        parts.append(Influence(text, p.value, p.weight, p.similarity))
    for link in why.links:
        when = "before this batch" if link.time is None else f"at {link.time}"
        parts.append(Influence(f"the same entities {when}", link.value, link.weight))
    return tuple(sorted(parts, key=lambda part: -part.weight))


def _details(matches: Sequence[Match]) -> Iterator[str]:
    same = [_text(match.own) for match in matches if match.own and match.cost == 0]
    if same:
        yield f"the same: {', '.join(same)}"
    yield from (str(match) for match in matches if match.cost > 0)


def _text(atom: Atom) -> str:
    """Return a ground atom without quotes that only the syntax needs."""
    return f"{atom.predicate}({','.join(map(ground_text, atom.args))})"


def learned_report(
    data: Input, options: InputOptions, choices: LearnOptions, learned: Learned
) -> Report:
    """Return the report of what :func:`splice.learn` learned, asked with the same arguments.

    The input is read again, so that a run that was resumed is told from its beginning.
    """
    name = "a stream" if isinstance(data, Source) else input_title(data)
    source = with_measures(opener(data, options), choices.mode)()
    if learned.theory.holds is not None:
        source = RedefinedSource(source, partial(Domain.holding, holds=learned.theory.holds))
    watcher = _watched(source, choices)
    counts = (
        ("examples", learned.examples),
        ("batches", learned.batches),
        ("labels given", learned.given),
        ("labels completed", learned.completed),
        ("of these, not reached by any label", watcher.unreached),
        ("rules", len(learned.rules)),
    )
    verdict = learned.verdict
    rows = [
        {k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}
        for row in verdict.rows()
    ]
    overview: tuple[Section, ...] = (
        table_of("Verdict", rows, "; ".join(verdict.sentences())),
        Note(f"Rules learned from {name}, a stream of which a part is labelled."),
        Table("What was read", ("what", "number"), counts),
        Table("How it was learned", ("choice", "value"), tuple(choices.words.items())),
    )
    drawn = _reliability(source, choices, learned)
    overview = (*overview, *([drawn] if drawn else []))
    return run_report(
        f"Learned from {name}", overview, learned.rules, watcher, learner=learned.learner
    )


def _reliability(source: Source, choices: LearnOptions, learned: Learned) -> Figure | None:
    """Return how reliable the confidence of completed labels is, where enough can be held out."""
    taken = learned.findings.profile
    if choices.profile is None or taken is None:
        return None
    stream = batches(source, TimePoints(choices.batch_size))
    return reliability(calibrate(stream, taken, choices.run_mode))


def _watched(source: Source, choices: LearnOptions) -> CompletionObserver:
    cut, watcher = TimePoints(choices.batch_size), CompletionObserver()
    if choices.profile is None:
        for batch in batches(source, cut):
            watcher.see_labels(batch)
    else:
        for _ in ObservedCompletion(
            source, choices.profile, cut, choices.run_mode, watcher=watcher
        ).completions():
            pass
    return watcher
