"""From a weighted theory and a table to a ground network.

What of a statement is asked and what is given depends on the fluent: the states of those that the
theory defines or weighs are asked for, all other atoms are evidence. Initiations and
terminations never become atoms of a chain: they are columns that say where some definition fires.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

from splice.errors import InputError, Problem, did_you_mean
from splice.events.comparisons import STARTS_WITH
from splice.events.crisp.ground import shape_of
from splice.events.fluents import fluent_of, place_of
from splice.events.joins import FLUENT_OF, Fluents
from splice.events.points import Successor
from splice.events.universe import Universe
from splice.events.weighted.assembly import Assembly
from splice.events.weighted.axioms import Axioms, read_axioms
from splice.events.weighted.grounding import Grounder, candidates_of, everyone
from splice.events.weighted.instances import find_instances, with_kinds
from splice.events.weighted.network import Network
from splice.events.weighted.templates import Template
from splice.logic.domain import DEFAULT_QUERY, Domain
from splice.logic.schema import EVENT_CALCULUS, FLUENT, INITIATED_AT, Schema, Signature
from splice.logic.terms import Function, Term, Variable
from splice.logic.theory import HARD, Theory
from splice.stream.table import AtomTable


def ground(
    theory: Theory,
    table: AtomTable,
    domain: Domain | None = None,
    *,
    inertia: float = HARD,
    successor: Successor | None = None,
    only: frozenset[Signature] | None = None,
    below: Fluents | None = None,
) -> Network:
    """Return the ground network of a theory over a table of whole sequences.

    A theory of definitions without axioms gets the standard ones, with ``inertia`` as the weight
    of inertia. With ``only`` the network is about some fluents, and what ``below`` knows is given.
    """
    domain = _completed(domain or Domain(), theory, table)
    axioms = read_axioms(theory, domain.schema, inertia)
    _check_names(axioms, domain)
    asked = axioms.fluents or _all_fluents(table, domain.schema)
    own = [f for f in asked if only is None or fluent_of(f) in only]
    roles = _Roles(
        frozenset(s for f in own if (s := fluent_of(f))),
        frozenset(s for f in asked if (s := fluent_of(f))),
        below,
    )
    shapes = list(dict.fromkeys(shape_of(f).template for f in own))
    templates = [t for t in map(roles.parted, _spread(axioms.templates, shapes)) if t is not None]
    firing = {
        predicate: [
            t
            for d in axioms.definitions
            if d.predicate == predicate and (t := roles.parted(d.firing)) is not None
        ]
        for predicate in {d.predicate for d in axioms.definitions}
    }
    speaking = [*templates, *firing.get(INITIATED_AT, ())]
    universe = Universe.of(theory.rules(), domain, theory.schema)
    spoken = partial(candidates_of, speaking, below, universe)
    there = partial(everyone, universe)
    instances = find_instances(table, domain, own, spoken, there, successor)
    building = Assembly(Grounder(instances, domain.schema, below), firing)
    for template in templates:
        building.add(template)
    return Network(
        axioms.statements,
        instances,
        tuple(building.clauses),
        tuple(building.auxiliary),
        building.size,
    )


def _completed(domain: Domain, theory: Theory, table: AtomTable) -> Domain:
    """Return a domain whose schema has what the theory and the table declare, too."""
    schema = domain.schema
    predicates = [d for d in theory.schema.predicates if schema.predicate(d.signature) is None]
    functions = [d for d in theory.schema.functions if schema.function(d.signature) is None]
    schema = schema.with_predicates(predicates).with_functions(functions)
    return replace(domain, schema=with_kinds(schema, table))


def _check_names(axioms: Axioms, domain: Domain) -> None:
    """Refuse predicates that a closed domain does not have, and wrong numbers of arguments."""
    schema = domain.schema
    builtin = {*EVENT_CALCULUS, Signature(FLUENT_OF, 1), Signature(STARTS_WITH, 2)}
    problems = []
    for template in (*axioms.templates, *(d.firing for d in axioms.definitions)):
        for literal in template.conditions:
            atom = literal.atom
            known = atom.is_comparison or atom.signature in builtin
            if known or schema.predicate(atom.signature) is not None:
                continue
            arities = schema.arities(atom.predicate)
            if arities:
                wanted = " or ".join(map(str, arities))
                message = f"'{atom.predicate}' takes {wanted} arguments, not {len(atom.args)}"
                hint = ""
            elif domain.closed:
                message = f"unknown predicate '{atom.signature}'"
                hint = did_you_mean(atom.predicate, [d.name for d in schema.predicates])
            else:
                continue
            statement = axioms.statements[template.statement]
            problems.append(Problem(place_of(statement), message, str(statement), hint))
    if problems:
        raise InputError(sorted(set(problems)))


def _all_fluents(table: AtomTable, schema: Schema) -> list[Term]:
    """Return the shapes of all fluents, for a theory that names none."""
    found: list[Term] = [
        kind.template.args[0] for kind in table.vocabulary.kinds if kind.signature == DEFAULT_QUERY
    ]
    for decl in schema.functions_returning(FLUENT):
        leaves = tuple(Variable(f"V{i}") for i in range(len(decl.args)))
        found.append(Function(decl.name, leaves))
    return list(dict.fromkeys(found))


def _spread(templates: Sequence[Template], shapes: Sequence[Term]) -> Iterator[Template]:
    """Yield templates in which every fluent has a shape: one copy for each choice of shapes."""
    for template in templates:
        atoms = [*(q.atom for q in template.queries), *template.absent]
        free = list(dict.fromkeys(v for a in atoms if isinstance(v := a.args[0], Variable)))
        for chosen in product(shapes, repeat=len(free)):
            theta = {v: _leaves_named(s, v) for v, s in zip(free, chosen, strict=True)}
            yield replace(
                template,
                queries=tuple(q.substitute(theta) for q in template.queries),
                conditions=tuple(c.substitute(theta) for c in template.conditions),
                absent=tuple(a.substitute(theta) for a in template.absent),
            )


def _leaves_named(shape: Term, name: Variable) -> Term:
    return shape.substitute({v: Variable(f"{name.name} {v.name}") for v in shape.variables()})


@dataclass(frozen=True)
class _Roles:
    """Which fluents are asked for here, which by the theory at all, and which are known."""

    own: frozenset[Signature]
    asked: frozenset[Signature]
    below: Fluents | None

    def parted(self, template: Template) -> Template | None:
        """Return a template in which only own fluents are asked for; None if it is none of ours."""
        queries, given = [], []
        for literal in template.queries:
            fluent = literal.atom.args[0]
            name = fluent_of(fluent)
            if name is None or name in self.own:
                queries.append(literal)
            elif name not in self.asked or self._is_known(fluent):
                given.append(-literal)
            else:
                return None
        if not queries:
            return None
        names = {fluent_of(atom.args[0]) for atom in template.absent}
        if not names <= {*self.own, None}:
            return None
        conditions = (*template.conditions, *given)
        return replace(template, queries=tuple(queries), conditions=conditions)

    def _is_known(self, fluent: Term) -> bool:
        return self.below is not None and self.below.instances(fluent) is not None
