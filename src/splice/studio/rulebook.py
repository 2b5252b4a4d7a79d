"""Rules that people hold on to: pinned ones stay whatever is learned, forbidden ones never return."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from splice.errors import SpliceError, UnknownName, raise_problems
from splice.events.fluents import defined_fluent
from splice.events.theory_check import theory_problems
from splice.logic.atoms import Rule
from splice.logic.canonical import canonical_key
from splice.logic.domain import Domain
from splice.logic.schema import TERMINATED_AT
from splice.logic.syntax import parse_theory_all
from splice.logic.theory import Statement, Theory
from splice.studio.journal import Entry

ACTIONS: Final = ("pin", "forbid", "release")
_FILE: Final = "rule"


def read_rules(text: str) -> list[Rule]:
    """Return the rules of a text."""
    theory, problems = parse_theory_all(text, _FILE)
    raise_problems(problems)
    rules = list(theory.rules())
    if not rules or len(rules) < len(theory) or not theory.is_crisp:
        raise SpliceError("that is no rule", "write head :- body. without a weight")
    return rules


def checked_rules(text: str, domain: Domain, beside: Theory) -> list[Rule]:
    """Return the rules of a text; every problem of it is an error, as in ``splice theory check``.

    They are checked together with those that they stand beside: a rule that ends a fluent may leave
    it to others to begin it.
    """
    rules, (theory, _) = read_rules(text), parse_theory_all(text, _FILE)
    problems_of_all = theory_problems(Theory((*theory.statements, *beside.statements)), domain)
    problems = [problem for problem in problems_of_all if problem.place.file == _FILE]
    raise_problems(problems)
    return rules


class RuleBook:
    """What stands in the journal about rules."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.pinned: dict[object, Rule] = {}
        self.forbidden: dict[object, Rule] = {}
        for entry in entries:
            if entry["do"] == "rule":
                for rule in parse_theory_all(entry["text"])[0].rules():
                    self.apply(entry["action"], rule)

    def apply(self, action: str, rule: Rule) -> None:
        """Pin or forbid a rule, or leave it to the learner again."""
        if action not in ACTIONS:
            raise UnknownName("action", action, ACTIONS)
        key = canonical_key(rule)
        self.pinned.pop(key, None)
        self.forbidden.pop(key, None)
        if action == "pin":
            self.pinned[key] = rule
        elif action == "forbid":
            self.forbidden[key] = rule

    def applied(self, learned: Theory) -> Theory:
        """Return a learned theory without what is forbidden and with what is pinned."""
        kept = [
            statement
            for statement in learned.statements
            if isinstance(statement.content, Rule)
            and canonical_key(statement.content) not in {**self.forbidden, **self.pinned}
        ]
        pinned = [Statement(rule) for rule in self.pinned.values()]
        return Theory(_effective([*kept, *pinned]), learned.schema)

    def state_of(self, rule: Rule) -> str:
        """Return whether a rule is ``pinned``, ``forbidden`` or ``learned``."""
        key = canonical_key(rule)
        return (
            "pinned" if key in self.pinned else "forbidden" if key in self.forbidden else "learned"
        )


def _effective(statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """Return the statements without rules that end what none begins: a program cannot be made of these."""
    begun = {defined_fluent(s) for s in statements if not _ends(s)}
    return tuple(s for s in statements if not _ends(s) or defined_fluent(s) in begun)


def _ends(statement: Statement) -> bool:
    return statement.atoms()[0].predicate == TERMINATED_AT
