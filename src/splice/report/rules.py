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
from splice.logic.atoms import Literal
from splice.logic.clauses import Rule
from splice.logic.theory import Statement

__all__ = ["LearnedRule", "learned_rules", "rule_text"]

_WIDTH = 100


@dataclass(frozen=True, eq=False)
class LearnedRule:
    """A rule of a learned theory: its number there, its text, and how it came about."""

    number: int
    statement: Statement
    state: RuleState
    tp: int
    fp: int
    fn: int
    score: float

    @property
    def firings(self) -> int:
        """How often its body was true."""
        return int(self.state.fired.sum())

    @property
    def summary(self) -> str:
        """What it got right, wrong and missed, in a line."""
        return (
            f"tp {self.tp:,}, fp {self.fp:,}, fn {self.fn:,}, score {self.score:.3f}; "
            f"{self.firings:,} firing{'s' * (self.firings != 1)}"
        )

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
        yield f"  began at batch {state.born} without a body; the situation that called for it:"
        yield from _packed(state.bottom)
        for event in state.history:
            yield from (f"  {line}" for line in str(event).splitlines())

    def as_json(self) -> dict[str, Any]:
        """Return the rule and its counts under the names that the command promises."""
        content = self.statement.content
        body = content.body if isinstance(content, Rule) else ()
        weighted = {} if self.statement.weight is None else {"weight": self.statement.weight}
        return {
            "number": self.number,
            "text": str(self.statement),
            "kind": self.state.predicate,
            "fluent": str(fluent_of(self.state.head.args[0])),
            "tp": self.tp,
            "fp": self.fp,
            "fn": self.fn,
            "score": self.score,
            "firings": self.firings,
            "literals": 1 + len(body),
            **weighted,
        }

    def history(self) -> list[dict[str, Any]]:
        """Return the decisions that made the rule, in order."""
        return [_event(event) for event in self.state.history]


def learned_rules(learner: Oled) -> list[LearnedRule]:
    """Return the rules of a learner's theory, numbered from 1."""
    options, found = learner.options, []
    pairs = zip(learner.theory_.statements, learner.selected(), strict=True)
    for number, (statement, state) in enumerate(pairs, 1):
        counts = state.counts(options)
        tp, fp, fn = (int(part) for part in (counts.tp, counts.fp, counts.fn))
        found.append(LearnedRule(number, statement, state, tp, fp, fn, state.score(options)))
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
