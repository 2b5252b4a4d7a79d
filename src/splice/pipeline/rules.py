"""Learned rules as a person reads them: each with what it got right and wrong.

>>> from splice.logic.syntax import parse_theory
>>> print(rule_text(parse_theory("initiatedAt(on(X),T) :- happensAt(press(X),T).").statements[0]))
initiatedAt(on(X),T) :- happensAt(press(X),T).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

from splice.events.fluents import fluent_of
from splice.learners.oled.learner import Oled
from splice.learners.oled.rules import Event, RuleState
from splice.learners.osla.learner import Osla
from splice.learners.osla.theory import Contribution
from splice.logic.atoms import Literal
from splice.logic.clauses import Rule
from splice.logic.theory import Statement

__all__ = ["LearnedRule", "learned_rules", "rule_text"]

_WIDTH = 100


@dataclass(frozen=True, eq=False)
class LearnedRule:
    """A rule of a learned theory: its number there, its text, and how it came about.

    Parameters
    ----------
    number
        Its number in the theory, from 1.
    statement
        The rule, with its weight if it has one.
    state
        What the learner knows about it.
    tp
        Firings that were right.
    fp
        Firings that were wrong.
    fn
        How often it was silent and should have fired.
    score
        Its score.
    firings
        How often its body was true.
    """

    number: int
    statement: Statement
    state: RuleState | Contribution
    tp: int
    fp: int
    fn: int
    score: float
    firings: int

    @property
    def summary(self) -> str:
        """What it got right, wrong and missed, in a line."""
        return (
            f"tp {self.tp:,}, fp {self.fp:,}, fn {self.fn:,}, score {self.score:.3f}; "
            f"{self.firings:,} firing{'s' * (self.firings != 1)}"
        )

    @property
    def rule(self) -> Rule:
        """The rule without its weight."""
        assert isinstance(self.statement.content, Rule)
        return self.statement.content

    def lines(self) -> Iterator[str]:
        """Yield the rule as text that reads back, below a comment with its counts."""
        yield f"% {self.number}: {self.summary}"
        yield rule_text(self.statement)

    def story(self) -> Iterator[str]:
        """Yield how the rule came about, decision by decision."""
        state = self.state
        yield f"rule {self.number}"
        yield rule_text(self.statement)
        yield f"  {self.summary}"
        if isinstance(state, Contribution):
            yield f"  found in batch {state.born}: it would have set {state.gain:,} states right"
            yield f"  worth {state.effect:+.3f} of F1 over what is remembered, beside the others"
            return
        yield f"  began at batch {state.born} without a body; the situation that called for it:"
        yield from _packed(state.bottom)
        for event in state.history:
            yield from (f"  {line}" for line in str(event).splitlines())

    def as_json(self) -> dict[str, Any]:
        """Return the rule and its counts under the names that the command promises."""
        head = self.rule.head.atom
        weighted = {} if self.statement.weight is None else {"weight": self.statement.weight}
        return {
            "number": self.number,
            "text": str(self.statement),
            "kind": head.predicate,
            "fluent": str(fluent_of(head.args[0])),
            "tp": self.tp,
            "fp": self.fp,
            "fn": self.fn,
            "score": self.score,
            "firings": self.firings,
            "literals": 1 + len(self.rule.body),
            **weighted,
        }

    def details(self) -> dict[str, Any]:
        """Return how the rule came about, as plain values."""
        state = self.state
        if isinstance(state, Contribution):
            return {"born": state.born, "gain": state.gain, "effect": state.effect}
        bottom = [str(literal) for literal in state.bottom]
        return {"born": state.born, "bottom": bottom, "history": self.history()}

    def history(self) -> list[dict[str, Any]]:
        """Return the decisions that made the rule, in order."""
        if isinstance(self.state, Contribution):
            body = [str(literal) for literal in self.rule.body]
            return [{"batch": self.state.born, "body": body, **self.details()}]
        return [_event(event) for event in self.state.history]


def learned_rules(learner: Oled | Osla, passes: int = 1) -> list[LearnedRule]:
    """Return the rules of a learner's theory, numbered from 1.

    Where it has read its input several times, counts are those of one pass, on the average.
    """
    if isinstance(learner, Osla):
        return _learned_clauses(learner, passes)
    options, found = learner.options, []
    pairs = zip(learner.theory_.statements, learner.selected(), strict=True)
    for number, (statement, state) in enumerate(pairs, 1):
        counts = state.counts(options)
        one_pass = learner.transitions[state.head] / passes
        share = min(1.0, one_pass / max(float(state.total.sum()), 1.0))
        tp, fp, fn = (round(float(part) * share) for part in (counts.tp, counts.fp, counts.fn))
        score, fired = state.score(options), round(float(state.fired.sum()) * share)
        found.append(LearnedRule(number, statement, state, tp, fp, fn, score, fired))
    return found


def _learned_clauses(learner: Osla, passes: int) -> list[LearnedRule]:
    """Return the clauses of a theory; what each scores is its precision."""
    found = []
    pairs = zip(learner.theory_.statements, learner.contributions(), strict=False)
    for number, (statement, part) in enumerate(pairs, 1):  # axioms come last and are not told
        right, wrong, missed = (n // passes for n in (part.right, part.wrong, part.missed))
        fired, counts = right + wrong, (right, wrong, missed)
        score = part.right / (part.right + part.wrong) if fired else 0.0
        found.append(LearnedRule(number, statement, part, *counts, score, fired))
    return found


def rule_text(statement: Statement) -> str:
    """Return a statement as text, a long rule over several lines."""
    text, content = str(statement), statement.content
    if len(text) <= _WIDTH or not isinstance(content, Rule):
        return text
    head = str(Statement(Rule(content.head), statement.weight)).removesuffix(".")
    return "\n".join([f"{head} :-", *_packed(content.body)]) + "."


def _packed(literals: Sequence[Literal]) -> Iterator[str]:
    """Yield literals, as many in a line as fit."""
    line = ""
    for literal in map(str, literals):
        if line and len(line) + len(literal) + 3 > _WIDTH:
            yield f"{line},"
            line = ""
        line = f"{line}, {literal}" if line else f"    {literal}"
    yield line


def _event(event: Event) -> dict[str, Any]:
    plain = {f.name: getattr(event, f.name) for f in fields(event) if f.name != "body"}
    return {**plain, "body": [str(literal) for literal in event.body], "tie": event.tie}
