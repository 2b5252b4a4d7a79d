"""Theories in RTEC's rule language: an event description that its compiler reads.

A fluent has a value there, ``true`` where ours has none; ``not`` is ``\\+``; ``longer_than`` is
``intDurGreater``. Conditions come in the order that Prolog needs: events first, what only
tests last. Atoms with a time that are no events (``close(P,Q,25,T)``) become input fluents. What
RTEC must know beside the rules is declared at the end: which entities there are
(``dynamicDomain``, ``grounding``) and which fluents arrive as intervals (``collectIntervals``).

RTEC's time goes on in steps of 1. A fluent that is initiated and terminated at once goes on there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final, NoReturn

from splice.errors import InputError
from splice.events.crisp.program import Program
from splice.events.crisp.static import LONGER_THAN
from splice.events.fluents import HOLDS_FOR, STARTS_WITH, border_of, fluent_of
from splice.events.points import Step
from splice.events.universe import FLUENT_OF
from splice.logic.atoms import Atom, Literal, Rule
from splice.logic.domain import Domain, Holds
from splice.logic.schema import HAPPENS_AT, HOLDS_AT, TERMINATED_AT, Signature
from splice.logic.terms import VALUE, Constant, Function, Term, Variable
from splice.logic.theory import Statement

OBSERVED: Final = "observed"
"""An event that must happen at every time-point, for rules that wait for no event of their own."""

_TRUE: Final = Constant("true")
_ORDERS: Final = frozenset({"<", ">", "=<", ">="})
_ENTITY: Final = "entity"
_TIMED: Final = frozenset({"initiatedAt", "terminatedAt", HOLDS_AT, HAPPENS_AT})


def format_rtec(program: Program, domain: Domain | None = None) -> str:
    """Return a program as an event description; the domain says of which types entities are."""
    writer = _Writer(domain or Domain(), {d.fluent for d in program.definitions})
    rules = [writer.rule(s) for d in program.definitions for s in d.statements()]
    lines = ["% An event description for RTEC."]
    if program.successor != Step(1):
        lines.append(
            "% RTEC's time goes on in steps of 1, not from one observed point to the next."
        )
    if program.holds is Holds.FROM:
        lines.append(
            "% RTEC lets what is initiated at T hold after T. The domain of these rules says from T on:"
        )
        lines.append("% the intervals that RTEC gives begin and end one time-point later.")
    if writer.waits:
        lines.append(f"% The event '{OBSERVED}' must happen at every time-point of the stream.")
    return "\n".join([*lines, "", *rules, *writer.declarations(program)]) + "\n"


class _Writer:
    """Rules one by one, and what they mention."""

    def __init__(self, domain: Domain, defined: Collection[Signature]) -> None:
        self._domain, self._defined = domain, defined
        self._events: dict[Term, None] = {}
        self._inputs: dict[Term, None] = {}
        self._heads: dict[Term, tuple[str, ...]] = {}
        self.waits = False
        """Whether some rule needs :data:`OBSERVED`."""

    def rule(self, statement: Statement) -> str:
        """Return one rule and an empty line."""
        rule = statement.content
        assert isinstance(rule, Rule)
        if statement.weight is not None and not statement.is_hard:
            _refuse(statement, "RTEC's rules have no weights", "remove the weight")
        head = rule.head.atom
        fluent, time = _valued(head.args[0]), head.args[1]
        static = head.predicate == HOLDS_FOR
        body = [x for x in rule.body if x.atom.predicate != FLUENT_OF]
        body = body if static else sorted(body, key=_place)
        types = self._types(rule)
        if head.predicate != TERMINATED_AT:  # who says what a fluent ranges over is what begins it
            self._heads.setdefault(*_grounded(fluent, types))
        conditions = [self._literal(x, time, types, static=static) for x in body]
        if not static and not any(x.positive and x.atom.predicate == HAPPENS_AT for x in body):
            self.waits = True
            self._events.setdefault(Constant(OBSERVED))
            conditions.insert(0, f"happensAt({OBSERVED}, {time})")
        body_text = ",\n    ".join(conditions)
        return f"{head.predicate}({fluent}, {time}) :-\n    {body_text}.\n"

    def _literal(
        self, literal: Literal, time: Term, types: dict[Variable, str], *, static: bool
    ) -> str:
        atom, sign = literal.atom, "" if literal.positive else "\\+"
        border = border_of(atom)
        if border is not None and fluent_of(border[1]) in self._defined:
            event = Function(border[0], (_valued(border[1]),))
            atom = Atom(HAPPENS_AT, (event, atom.args[1]))
        elif atom.predicate == HAPPENS_AT:
            self._events.setdefault(_shape(atom.args[0]))
        elif atom.predicate in (HOLDS_AT, HOLDS_FOR):
            atom = Atom(atom.predicate, (_valued(atom.args[0]), *atom.args[1:]))
        elif atom.predicate == STARTS_WITH:
            return f"{sign}sub_atom({atom.args[0]}, 0, _, _, {atom.args[1]})"
        elif atom.predicate == LONGER_THAN:
            atom = Atom("intDurGreater", atom.args)
        elif atom.is_comparison:
            if atom.predicate in _ORDERS and all(isinstance(arg, Variable) for arg in atom.args):
                order = (
                    f"{atom.args[0]} @{atom.predicate} {atom.args[1]}"  # names have an order, too
                )
                return f"{sign}({order})" if sign else order
            return f"{sign}({atom})" if sign else str(atom)
        elif not static and atom.args and atom.args[-1] == time:
            fluent = _valued(_term(atom.predicate, atom.args[:-1]))
            self._inputs.setdefault(_shape(fluent))
            atom = Atom(HOLDS_AT, (fluent, time))
        return f"{sign}{atom.predicate}({', '.join(map(str, atom.args))})"

    def _types(self, rule: Rule) -> dict[Variable, str]:
        """Return the types of variables, as the domain and the fluents so far give them."""
        types: dict[Variable, str] = {}
        for literal in (*rule.body, rule.head):
            atom = literal.atom
            term = atom.args[0] if atom.predicate in (*_TIMED, HOLDS_FOR) and atom.args else None
            for arg, kind in self._signature(atom, term):
                if isinstance(arg, Variable) and kind:
                    types.setdefault(arg, kind)
        return types

    def _signature(self, atom: Atom, term: Term | None) -> Iterator[tuple[Term, str]]:
        if isinstance(term, Function):
            bare = term.args[0] if term.functor == VALUE else term
            if isinstance(bare, Function):
                decl = self._domain.schema.function(Signature(bare.functor, len(bare.args)))
                types = decl.args if decl else self._known(bare)
                yield from zip(bare.args, types, strict=False)
        else:
            declared = self._domain.schema.predicate(atom.signature)
            yield from zip(atom.args, declared.args if declared else (), strict=False)

    def _known(self, fluent: Function) -> tuple[str, ...]:
        """Return the types of a fluent that rules before define."""
        for head, types in self._heads.items():
            bare = head.args[0] if isinstance(head, Function) else head
            if isinstance(bare, Function) and bare.functor == fluent.functor:
                return types
        return ()

    def declarations(self, program: Program) -> Iterator[str]:
        """Yield what RTEC must know beside the rules."""
        groundings = [(term, _by_domain(term, self._domain)) for term in self._events]
        outputs = [(term, types) for term, types in self._heads.items()]
        inputs = [_term(f.name, [Variable("_")] * f.arity) for f in program.inputs]
        arriving = dict.fromkeys([*(_valued(_shape(fluent)) for fluent in inputs), *self._inputs])
        received = [(term, _by_domain(term, self._domain)) for term in arriving]
        lines, domains = [], dict[str, None]()
        for term, types in (*groundings, *received, *outputs):
            conditions = list(_conditions(term, types))
            domains |= dict.fromkeys(_open(name, width) for name, width, _ in conditions)
            body = ", ".join(text for _, _, text in conditions)
            lines.append(f"grounding({term}){' :- ' if body else ''}{body}.")
        yield from (f"collectIntervals({_blank(term)})." for term in arriving)
        yield from (f"dynamicDomain({domain})." for domain in domains)
        yield from lines


def _refuse(statement: Statement, message: str, hint: str) -> NoReturn:
    raise InputError(statement.problem(message, hint))


def _place(literal: Literal) -> int:
    """Return how late a condition comes: what binds first, events before all, tests last."""
    atom = literal.atom
    if not literal.positive:
        return 3
    if atom.is_comparison or atom.predicate == STARTS_WITH:
        return 2
    return 0 if atom.predicate == HAPPENS_AT else 1


def _valued(fluent: Term) -> Term:
    valued = isinstance(fluent, Function) and fluent.functor == VALUE
    return fluent if valued else Function(VALUE, (fluent, _TRUE))


def _term(name: str, args: Iterable[Term]) -> Term:
    arguments = tuple(args)
    return Function(name, arguments) if arguments else Constant(name)


def _shape(term: Term) -> Term:
    """Return a term with a variable of its own at each argument that is no value."""
    if isinstance(term, Function) and term.functor == VALUE:
        return Function(VALUE, (_shape(term.args[0]), term.args[1]))
    if not isinstance(term, Function):
        return term
    return Function(term.functor, tuple(Variable(f"X{i + 1}") for i in range(len(term.args))))


def _grounded(fluent: Term, types: dict[Variable, str]) -> tuple[Term, tuple[str, ...]]:
    """Return a head with its variables numbered, and the types of all its arguments."""
    assert isinstance(fluent, Function)
    bare, value = fluent.args
    args = bare.args if isinstance(bare, Function) else ()
    kinds = tuple(types.get(arg, _ENTITY) if isinstance(arg, Variable) else "" for arg in args)
    named = [Variable(f"X{i + 1}") if kind else args[i] for i, kind in enumerate(kinds)]
    shown = _term(bare.functor, named) if isinstance(bare, Function) else bare
    return Function(VALUE, (shown, value)), kinds


def _by_domain(term: Term, domain: Domain) -> tuple[str, ...]:
    bare = term.args[0] if isinstance(term, Function) and term.functor == VALUE else term
    if not isinstance(bare, Function):
        return ()
    schema, size = domain.schema, len(bare.args)
    decl = schema.function(Signature(bare.functor, size))
    if decl is not None:
        return decl.args
    timed = schema.predicate(Signature(bare.functor, size + 1))
    return timed.args[:-1] if timed is not None else (_ENTITY,) * size


def _conditions(term: Term, types: tuple[str, ...]) -> Iterator[tuple[str, int, str]]:
    """Yield the domains of an entity's arguments: name, width and text; equal types come as one."""
    bare = term.args[0] if isinstance(term, Function) and term.functor == VALUE else term
    args = bare.args if isinstance(bare, Function) else ()
    for kind in dict.fromkeys(types):
        members = [arg for arg, t in zip(args, types, strict=False) if t == kind]
        if kind and members:
            name = (
                kind
                if len(members) == 1
                else f"{kind}_{'pair' if len(members) == 2 else len(members)}"
            )
            yield name, len(members), f"{name}({', '.join(map(str, members))})"


def _open(name: str, width: int) -> str:
    return f"{name}({', '.join(['_'] * width)})"


def _blank(term: Term) -> str:
    assert isinstance(term, Function)
    bare, value = term.args
    if not isinstance(bare, Function):
        return str(term)
    return f"{_open(bare.functor, len(bare.args))}={value}"
