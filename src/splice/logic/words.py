"""A rule as a sentence, for somebody who does not read rules.

>>> from splice.logic.syntax import parse_rule
>>> in_words(parse_rule("initiatedAt(loading(X,Y),T) :- happensAt(lifting(Y),T), not happensAt(near(X,Y),T)."))
'loading(X,Y) begins when lifting(Y) happens and near(X,Y) does not'
"""

from __future__ import annotations

from typing import Final

from splice.logic.atoms import Atom, Literal, Rule
from splice.logic.schema import HAPPENS_AT, HOLDS_AT, INITIATED_AT, TERMINATED_AT

_HEADS: Final = {INITIATED_AT: "begins", TERMINATED_AT: "ends", HOLDS_AT: "holds"}
_COMPARISONS: Final = {
    "=": "is",
    "\\=": "is not",
    ">=": "is at least",
    "=<": "is at most",
    ">": "is above",
    "<": "is below",
}


def in_words(rule: Rule) -> str:
    """Return what a rule says, in a sentence without its full stop.

    Parameters
    ----------
    rule
        The rule.
    """
    head = rule.head.atom
    sentence = f"{about(head)} {_HEADS.get(head.predicate, 'is true')}"
    if not rule.body:
        return f"{sentence} at every time-point"
    positive = [literal for literal in rule.body if literal.positive]
    negative = [literal for literal in rule.body if not literal.positive]
    return f"{sentence} when {_joined([*_grouped(positive), *_grouped(negative)])}"


def _grouped(literals: list[Literal]) -> list[str]:
    """Return literals as clauses, those with the same verb together."""
    clauses: dict[tuple[str, str], list[str]] = {}
    plain = []
    for literal in literals:
        atom = literal.atom
        if atom.is_comparison:
            word = _COMPARISONS.get(atom.predicate, atom.predicate)
            clause = f"{atom.args[0]} {word} {atom.args[1]}"
            plain.append(clause if literal.positive else f"it is not so that {clause}")
            continue
        verb = ("happens", "happen") if atom.predicate == HAPPENS_AT else ("holds", "hold")
        if not literal.positive:
            verb = (
                ("does not", "do not") if verb[0] == "happens" else ("does not hold", "do not hold")
            )
        clauses.setdefault(verb, []).append(about(atom))
    return [
        f"{_joined(names)} {singular if len(names) == 1 else plural}"
        for (singular, plural), names in clauses.items()
    ] + plain


def about(atom: Atom) -> str:
    """Return an atom without what says when: the event, the fluent, or the predicate's arguments."""
    if atom.predicate in (HAPPENS_AT, *_HEADS) and len(atom.args) == 2:
        return str(atom.args[0])
    return str(Atom(atom.predicate, atom.args[:-1])) if len(atom.args) > 1 else str(atom)


def _joined(parts: list[str]) -> str:
    return " and ".join(parts) if len(parts) < 3 else f"{', '.join(parts[:-1])} and {parts[-1]}"
