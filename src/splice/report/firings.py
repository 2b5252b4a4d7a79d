"""Where rules fire, and which observations they ask for: what lets a reader check them by eye."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from splice.arrays import Indices, Mask
from splice.events.crisp.program import Simultaneous
from splice.events.evidence import leaves_of
from splice.labels import FALSE, LabelArray
from splice.learners.predict import predict
from splice.logic.atoms import Atom, Literal, Rule
from splice.logic.domain import Holds
from splice.logic.schema import CHANGES, FLUENT, INITIATED_AT, TERMINATED_AT
from splice.logic.terms import Constant, Term
from splice.logic.theory import Statement, Theory
from splice.stream.batch import MicroBatch
from splice.stream.table import AtomTable


def firings(rule: Rule, batch: MicroBatch) -> LabelArray:
    """Return at which query atoms of a whole sequence the body of a rule is true.

    A fluent that this rule alone initiates, and that is terminated everywhere else, holds at the
    time-point after each firing. So the last time-point of a sequence cannot be told, unless changes
    count at once: then it holds where the rule fires.
    """
    head = rule.head.atom
    if head.predicate not in CHANGES:
        return np.full(len(batch.queries), FALSE, np.int8)
    # What ends a fluent may have negated conditions alone: somebody must say whom it is about.
    anyone = Literal(Atom(FLUENT, head.args[:1]))
    begins = Rule(Literal(Atom(INITIATED_AT, head.args)), (*rule.body, anyone))
    ends = Rule(Literal(Atom(TERMINATED_AT, head.args)))
    after = predict(Theory((Statement(begins), Statement(ends))), batch, Simultaneous.INITIATE)
    if batch.domain.clock.holds is Holds.FROM:
        return after
    queries = batch.queries
    _, which = queries.instances()
    order: Indices = np.lexsort((queries.time, which))
    followed = np.flatnonzero(np.diff(which[order]) == 0)
    fired = np.full(len(queries), FALSE, np.int8)
    fired[order[followed]] = after[order[followed + 1]]
    return fired


def asked_for(rules: Iterable[Rule], evidence: AtomTable, entities: set[int]) -> Mask:
    """Return the rows of evidence that conditions of rules ask for, about some entities.

    A variable of the head stands for one of the entities, any other for anything, a constant for itself.
    """
    asked = np.zeros(len(evidence), bool)
    for condition, bound in _conditions(rules):
        for code, kind in enumerate(evidence.vocabulary.kinds):
            if condition.signature != kind.signature:
                continue
            leaves = leaves_of(condition.args, kind.template.args)
            if leaves is None:
                continue
            rows = evidence.kind == code
            terms = [term for leaf, term in leaves.items() if leaf != kind.time]
            for column, term in enumerate(terms):
                codes = evidence.args[:, column]
                if isinstance(term, Constant):
                    rows &= codes == evidence.vocabulary.constants.known_code(term.name)
                elif term in bound:
                    rows &= np.isin(codes, list(entities))
            asked |= rows
    return asked


def _conditions(rules: Iterable[Rule]) -> Iterator[tuple[Atom, frozenset[Term]]]:
    """Yield the conditions of rules, each with the variables that its head has, time aside."""
    for rule in rules:
        bound = frozenset(v for arg in rule.head.atom.args[:-1] for v in arg.variables())
        for literal in rule.body:
            yield literal.atom, bound
