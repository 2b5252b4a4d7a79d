"""Learned rules as a person reads them: each with what it got right and wrong.

>>> from splice.logic.syntax import parse_theory
>>> print(rule_text(parse_theory("initiatedAt(on(X),T) :- happensAt(press(X),T).").statements[0]))
initiatedAt(on(X),T) :- happensAt(press(X),T).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from splice.display import preformatted
from splice.events.fluents import fluent_of
from splice.logic.atoms import Literal, Rule
from splice.logic.theory import Statement
from splice.logic.words import in_words

_WIDTH = 100


@dataclass(frozen=True, eq=False)
class LearnedRule:
    """A rule of a learned theory: its number there, its text, its counts, and how it came about.

    Parameters
    ----------
    number
        Its place in the theory, from 1.
    statement
        The rule as it is written, with its weight if it has one.
    tp, fp, fn
        How often it was right, wrong, and silent where it should have spoken.
    score
        What the learner thinks it is worth, from 0 to 1.
    firings
        How often its body was true.
    origin
        Where it came from, in a sentence or two.
    derivation
        The same as lines of text, with the decisions that followed.
    details
        The same as plain values, under the names that the command promises.
    history
        The decisions that made the rule, in order: ``batch``, ``body``, and what decided.
    """

    number: int
    statement: Statement
    tp: int
    fp: int
    fn: int
    score: float
    firings: int
    origin: str = ""
    derivation: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    history: tuple[Mapping[str, Any], ...] = ()

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
        """Yield the rule as text that reads back, below comments: its counts, and what it says in words."""
        yield f"% {self.number}: {self.summary}"
        yield f"% {in_words(self.rule)}"
        yield rule_text(self.statement)

    def explanation(self) -> Iterator[str]:
        """Yield how the rule came about, decision by decision."""
        yield f"rule {self.number}"
        yield rule_text(self.statement)
        yield f"  {in_words(self.rule)}"
        yield f"  {self.summary}"
        yield from self.derivation

    def __str__(self) -> str:
        return "\n".join(self.explanation())

    def __repr__(self) -> str:
        return f"<LearnedRule {self.number}: {self.statement} {self.summary}>"

    def _repr_html_(self) -> str:
        return preformatted(str(self))

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
            "words": in_words(self.rule),
            **weighted,
        }


def rule_text(statement: Statement) -> str:
    """Return a statement as text, a long rule over several lines."""
    text, content = str(statement), statement.content
    if len(text) <= _WIDTH or not isinstance(content, Rule):
        return text
    head = str(Statement(Rule(content.head), statement.weight)).removesuffix(".")
    return "\n".join([f"{head} :-", *literal_lines(content.body)]) + "."


def literal_lines(literals: Sequence[Literal]) -> Iterator[str]:
    """Yield literals, as many in a line as fit."""
    line = ""
    for literal in map(str, literals):
        if line and len(line) + len(literal) + 3 > _WIDTH:
            yield f"{line},"
            line = ""
        line = f"{line}, {literal}" if line else f"    {literal}"
    yield line
