"""Bodies of rules over patterns: which patterns make them true, and with how many transitions.

A rule whose variables all occur in its head is true or not *per pattern*, so its counts are a
product with a table ``pattern x (before, after)`` (:meth:`.Transitions.table`). A rule with further
variables is solved as a join over the batch; both ways give the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from splice.arrays import Mask
from splice.events.crisp.fluent_store import shape_of
from splice.events.evidence import Evidence
from splice.events.joins import Bindings, solve
from splice.logic.atoms import Atom, Literal
from splice.logic.terms import Constant, Variable
from splice.patterns.lifting import Body
from splice.patterns.transitions import Transitions
from splice.stream.table import AtomTable

TIME = Variable("T")
"""The time of a pattern."""


def fires_by_join(head: Atom, body: Body, transitions: Transitions) -> Mask:
    """Return the transitions at which a body is true of what was seen, found by joins."""
    batch = transitions.batch
    queries = batch.queries.take(transitions.seen)
    table = AtomTable.concat([batch.facts, batch.table], batch.table.vocabulary).sorted()
    evidence = Evidence(table)
    leaves = shape_of(head.args[0]).leaves
    mark = Variable("#")  # carries the row of the transition through the join
    columns = {
        leaf: queries.args[:, i].astype(np.int64)
        for i, leaf in enumerate(leaves)
        if isinstance(leaf, Variable)
    }
    point = np.searchsorted(evidence.points.time, queries.time)
    rows = np.flatnonzero(_about(head, transitions))
    start = Bindings(
        point[rows].astype(np.int64),
        {**{v: c[rows] for v, c in columns.items()}, mark: rows.astype(np.int64)},
    )
    fired = np.zeros(len(transitions), bool)
    fired[solve(body, evidence, TIME, start).columns[mark]] = True
    return fired


def _about(head: Atom, transitions: Transitions) -> Mask:
    """Return the transitions whose query atom is the head's: same kind, same coincidences."""
    queries = transitions.batch.queries.take(transitions.query)
    shape = shape_of(head.args[0])
    leaves = shape.leaves
    same_kind = [
        kind.signature == head.signature and kind.template.args[0] == shape.template
        for kind in queries.vocabulary.kinds
    ]
    chosen = np.array(same_kind, bool)[queries.kind]
    for i, leaf in enumerate(leaves):
        if isinstance(leaf, Constant):
            chosen &= queries.args[:, i] == queries.vocabulary.constants.code(leaf.name)
        for j in range(i):
            chosen &= (queries.args[:, i] == queries.args[:, j]) == (leaves[i] == leaves[j])
    return chosen


def needs_join(head: Atom, body: Sequence[Literal]) -> bool:
    """Return whether a body has variables that its head does not have."""
    bound = set(head.variables())
    return any(v not in bound for literal in body for v in literal.variables())
