"""From a weighted theory and a table to a ground network.

What of a statement is asked and what is given depends on the fluent: the states of those that the
theory defines or weighs are asked for, all other atoms are evidence. Initiations and
terminations never become atoms of a chain: they are columns that say where some definition fires.
Where they do may depend on the fluent's own state: then a clause stands once for each state. It may
depend on other fluents: then an auxiliary atom says it, and hard clauses say what that one means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product

import numpy as np

from splice.arrays import Ints, Mask
from splice.errors import did_you_mean, raise_problems
from splice.events.crisp.fluent_store import shape_of
from splice.events.fluents import STARTS_WITH, fluent_of
from splice.events.joins import Fluents
from splice.events.points import Successor
from splice.events.universe import FLUENT_OF, Universe
from splice.events.weighted.axioms import Axioms, read_axioms
from splice.events.weighted.grounding import Clauses, Grounder, candidates_of, everyone, merged
from splice.events.weighted.instances import find_instances, with_kinds
from splice.events.weighted.network import Auxiliary, Network
from splice.events.weighted.templates import Template
from splice.logic.atoms import Literal
from splice.logic.domain import DEFAULT_QUERY, Domain
from splice.logic.schema import EVENT_CALCULUS, FLUENT, INITIATED_AT, Schema, Signature
from splice.logic.terms import Function, Term, Variable
from splice.logic.theory import HARD, Theory
from splice.stream.table import AtomTable


@dataclass(frozen=True, eq=False)
class _Fires:
    """Where definitions of a change fire, atom by atom: if the fluent is on, and if it is off.

    ``whole`` is the auxiliary atom that says so where other fluents decide it, else -1.
    """

    if_on: Mask
    if_off: Mask
    whole: Ints


@dataclass
class Assembly:
    """Clauses and auxiliary atoms as they are found.

    Parameters
    ----------
    grounder
        Finds the groundings of templates.
    firing
        The bodies of the definitions of each change: ``initiatedAt``, ``terminatedAt``.
    """

    grounder: Grounder
    firing: dict[str, list[Template]]
    clauses: list[Clauses] = field(default_factory=list)
    auxiliary: list[Auxiliary] = field(default_factory=list)
    _fires: dict[str, _Fires] = field(default_factory=dict)
    size: int = 0
    """The number of atoms, auxiliary ones included."""

    def __post_init__(self) -> None:
        self.size = int(self.grounder.instances.offsets[-1])

    def add(self, template: Template) -> None:
        """Add the groundings of a template."""
        # The columns of atoms are the literals of the clause, then a fluent for each change that must not
        # happen. Change by change the clause gets what that depends on, and its rows are split.
        literals = [*template.queries, *map(Literal, template.absent)]
        atoms = self._atoms(template, literals)
        k = len(template.queries)
        signs = [literal.positive for literal in template.queries]
        parts = [(atoms[:, :k], signs, atoms[:, k:])]
        for column, atom in enumerate(template.absent):
            fires = self._firing(atom.predicate)
            parts = [split for part in parts for split in _split(*part, column, fires)]
        for clause_atoms, clause_signs, _ in parts:
            self.clauses += merged(template.statement, template.share, clause_atoms, clause_signs)

    def _atoms(self, template: Template, literals: Sequence[Literal]) -> Ints:
        """Return the atoms of some literals, a row for each grounding."""
        mentioned = list(dict.fromkeys(literal.atom.args[0] for literal in literals))
        rows = self.grounder.rows(template, mentioned)
        columns = [self.grounder.atoms(template, rows, literal.atom) for literal in literals]
        atoms = np.column_stack(columns)
        return atoms[(atoms >= 0).all(axis=1)]

    def _firing(self, predicate: str) -> _Fires:
        """Return where the definitions of a change fire."""
        if predicate not in self._fires:
            self._fires[predicate] = self._find_firing(predicate)
        return self._fires[predicate]

    def _find_firing(self, predicate: str) -> _Fires:
        n = int(self.grounder.instances.offsets[-1])
        if_on, if_off = np.zeros(n, bool), np.zeros(n, bool)
        coupled: list[tuple[Ints, list[bool]]] = []
        for template in self.firing.get(predicate, ()):
            atoms = self._atoms(template, template.queries)
            # The first atom is the fluent itself, the others the states that the body asks for.
            head = atoms[:, 0]
            signs = [not literal.positive for literal in template.queries[1:]]
            alone = (atoms[:, 1:] == head[:, None]).all(axis=1)
            if all(signs):
                if_on[head[alone]] = True
            if not any(signs):
                if_off[head[alone]] = True
            if not alone.all():
                coupled.append((atoms[~alone], signs))
        whole = np.full(n, -1, np.int64)
        if coupled:
            self._couple(coupled, if_on, if_off, whole)
        return _Fires(if_on, if_off, whole)

    def _couple(
        self,
        coupled: list[tuple[Ints, list[bool]]],
        if_on: Mask,
        if_off: Mask,
        whole: Ints,
    ) -> None:
        """Make an auxiliary atom for each fluent and point where other fluents decide."""
        # Where it fires in either state nothing is left for others to decide. Elsewhere a firing that
        # depends on the fluent's own state becomes one more member of the disjunction, and leaves the
        # columns: from here on ``whole`` alone says whether the change happens.
        sure = if_on & if_off
        coupled = [(rows[~sure[rows[:, 0]]], signs) for rows, signs in coupled]
        heads = np.unique(np.concatenate([rows[:, 0] for rows, _ in coupled]))
        whole[heads] = self._fresh(len(heads))
        for state, column in ((True, if_on), (False, if_off)):
            fired = heads[column[heads]]
            coupled.append((np.column_stack((fired, fired)), [state]))
            column[fired] = False
        members = []
        for rows, signs in coupled:
            if len(rows):
                members.append(self._conjunctions(whole[rows[:, 0]], rows[:, 1:], signs))
        if members:
            self._disjunctions(np.concatenate(members))

    def _fresh(self, number: int) -> Ints:
        self.size += number
        return np.arange(self.size - number, self.size)

    def _conjunctions(self, whole: Ints, atoms: Ints, signs: list[bool]) -> Ints:
        """Let an auxiliary atom be on exactly where all atoms of a row are as their signs say."""
        part = self._fresh(len(atoms))
        self.auxiliary.append(Auxiliary(whole, part, atoms, tuple(signs)))
        opposite = [not sign for sign in signs]
        self.clauses += merged(-1, 1.0, np.column_stack((part, atoms)), [True, *opposite])
        for column, sign in zip(atoms.T, signs, strict=True):
            self.clauses += merged(-1, 1.0, np.column_stack((part, column)), [False, sign])
        self.clauses += merged(-1, 1.0, np.column_stack((whole, part)), [True, False])
        return np.column_stack((whole, part))

    def _disjunctions(self, members: Ints) -> None:
        """Let a whole be off where all its parts are."""
        members = members[np.lexsort((members[:, 1], members[:, 0]))]
        whole, start, number = np.unique(members[:, 0], return_index=True, return_counts=True)
        for n in np.unique(number):
            chosen = number == n
            parts = members[start[chosen][:, None] + np.arange(n), 1]
            rows = np.column_stack((whole[chosen], parts))
            self.clauses += merged(-1, 1.0, rows, [False, *([True] * int(n))])


def _split(
    atoms: Ints, signs: list[bool], absent: Ints, column: int, fires: _Fires
) -> Iterator[tuple[Ints, list[bool], Ints]]:
    """Yield the groundings where a change does not happen, with what that depends on."""
    # A grounding asks that a change does *not* happen. What that takes depends on whether the
    # definitions fire while the fluent is on, and while it is off:
    #
    #     fires if on   fires if off   it does not happen        the clause gets
    #     no            no             always                    no literal more
    #     no            yes            where the fluent is on    "or the fluent is off"
    #     yes           no             where the fluent is off   "or the fluent is on"
    #     yes           yes            never                     dropped: the clause is true
    #     other fluents decide         where the auxiliary is off  "or the auxiliary is on"
    at = absent[:, column]
    on, off, whole = ~fires.if_on[at], ~fires.if_off[at], fires.whole[at]
    coupled = whole >= 0
    for chosen, literal, sign in (
        (on & off & ~coupled, None, True),
        (on & ~off & ~coupled, at, False),
        (off & ~on & ~coupled, at, True),
        (coupled, whole, True),
    ):
        if not chosen.any():
            continue
        if literal is None:
            yield atoms[chosen], signs, absent[chosen]
        else:
            more = np.column_stack((atoms[chosen], literal[chosen]))
            yield more, [*signs, sign], absent[chosen]


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

    A theory of definitions without axioms gets the standard ones.

    Parameters
    ----------
    theory
        Weighted rules and formulas.
    table
        The atoms, ordered by sequence and time.
    domain
        What the atoms mean.
    inertia
        The weight of inertia, where the theory has no axioms of its own.
    successor
        How time goes on.
    only
        The fluents that the network is about; None: all.
    below
        The fluents of lower layers, whose states are given.
    """
    domain = _completed(domain or Domain(), theory, table)
    axioms = read_axioms(theory, domain.schema, inertia)
    _check_names(axioms, domain)
    weighed = axioms.fluents or _all_fluents(table, domain.schema)
    chained = [f for f in weighed if only is None or fluent_of(f) in only]
    roles = _Roles(
        frozenset(s for f in chained if (s := fluent_of(f))),
        frozenset(s for f in weighed if (s := fluent_of(f))),
        below,
    )
    # Of each statement there is left what is about these fluents; a variable for a fluent stands for each shape.
    shapes = list(dict.fromkeys(shape_of(f).template for f in chained))
    templates = [t for t in map(roles.parted, _spread(axioms.templates, shapes)) if t is not None]
    firing = {
        predicate: [
            t
            for d in axioms.definitions
            if d.predicate == predicate and (t := roles.parted(d.firing)) is not None
        ]
        for predicate in {d.predicate for d in axioms.definitions}
    }
    universe = Universe.of(theory.rules(), domain, theory.schema)
    # Which ground fluents there are may follow from what lets them hold: clauses and initiations.
    speaking = [*templates, *firing.get(INITIATED_AT, ())]
    instances = find_instances(
        table,
        domain,
        chained,
        partial(candidates_of, speaking, below, universe),
        partial(everyone, universe),
        successor,
    )
    assembly = Assembly(Grounder(instances, domain.schema, below), firing)
    for template in templates:
        assembly.add(template)
    return Network(
        axioms.statements,
        instances,
        tuple(assembly.clauses),
        tuple(assembly.auxiliary),
        assembly.size,
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
            if atom.is_comparison or atom.signature in builtin or schema.predicate(atom.signature):
                continue
            arities = schema.arities(atom.predicate)
            if arities:
                numbers = " or ".join(map(str, arities))
                message = f"'{atom.predicate}' takes {numbers} arguments, not {len(atom.args)}"
                hint = ""
            elif domain.closed:
                message = f"unknown predicate '{atom.signature}'"
                hint = did_you_mean(atom.predicate, [d.name for d in schema.predicates])
            else:
                continue
            statement = axioms.statements[template.statement]
            problems.append(statement.problem(message, hint))
    raise_problems(sorted(set(problems)))


def _all_fluents(table: AtomTable, schema: Schema) -> list[Term]:
    """Return the shapes of all fluents, for a theory that names none."""
    shapes: list[Term] = [
        kind.template.args[0] for kind in table.vocabulary.kinds if kind.signature == DEFAULT_QUERY
    ]
    for decl in schema.functions_returning(FLUENT):
        leaves = tuple(Variable(f"V{i}") for i in range(len(decl.args)))
        shapes.append(Function(decl.name, leaves))
    return list(dict.fromkeys(shapes))


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
    """Which fluents have chains here, which the theory weighs at all, and what layers below give."""

    chained: frozenset[Signature]
    weighed: frozenset[Signature]
    below: Fluents | None

    def parted(self, template: Template) -> Template | None:
        """Return a template whose queries have chains here, the others conditions; None if it has no part here."""
        queries, given = [], []
        for literal in template.queries:
            fluent = literal.atom.args[0]
            signature = fluent_of(fluent)
            if signature is None or signature in self.chained:
                queries.append(literal)
            elif signature not in self.weighed or self._is_below(fluent):
                given.append(-literal)
            else:
                return None
        changing = {fluent_of(atom.args[0]) for atom in template.absent}
        if not queries or not changing <= {*self.chained, None}:
            return None
        conditions = (*template.conditions, *given)
        return replace(template, queries=tuple(queries), conditions=conditions)

    def _is_below(self, fluent: Term) -> bool:
        return self.below is not None and self.below.instances(fluent) is not None
