"""Theories in RTEC's language: its words, its order, its declarations; and our parser reads them."""

from __future__ import annotations

import pytest

from command import Command
from splice.errors import InputError
from splice.events.crisp.program import compile_program, stated_step
from splice.inputs.domains import load_domain
from splice.inputs.theories import load_theory, theory_names
from splice.io.rtec_rules import format_rtec
from splice.logic.atoms import Atom, Literal, Rule
from splice.logic.domain import Domain
from splice.logic.syntax import parse_theory
from splice.logic.terms import Constant, Function, Term, Variable
from splice.logic.theory import Statement, Theory, compare_theories


def exported(text: str, domain: Domain | None = None) -> str:
    return format_rtec(compile_program(parse_theory(text)), domain)


def read_back(text: str) -> Theory:
    """Read an event description as a theory of ours: values that are true go, names come back."""
    declared = ("grounding", "dynamicDomain", "collectIntervals")
    rules = list(parse_theory(text).rules())
    inputs = {
        fluent.functor
        for rule in rules
        if rule.head.atom.predicate == "collectIntervals"
        and isinstance(fluent := _bare(rule.head.atom.args[0]), Function)
    }
    kept = [rule for rule in rules if rule.head.atom.predicate not in declared]
    return Theory(
        tuple(
            Statement(Rule(_ours(r.head, inputs), tuple(_ours(b, inputs) for b in r.body)))
            for r in kept
        )
    )


def _ours(literal: Literal, inputs: set[str]) -> Literal:
    atom = literal.atom
    if atom.predicate == "sub_atom":
        return Literal(Atom("startsWith", (atom.args[0], atom.args[-1])), literal.positive)
    if atom.predicate == "intDurGreater":
        return Literal(Atom("longer_than", atom.args), literal.positive)
    args = tuple(_bare(arg) for arg in atom.args)
    first = args[0] if args else None
    if isinstance(first, Function) and first.functor in inputs:
        return Literal(Atom(first.functor, (*first.args, args[1])), literal.positive)
    return Literal(Atom(atom.predicate, args), literal.positive)


def _bare(term: Term) -> Term:
    match term:
        case Function("=", (fluent, Constant("true"))):
            return fluent
        case _:
            return term


@pytest.mark.parametrize("name", theory_names())
def test_an_exported_theory_reads_back_as_itself(name: str) -> None:
    domain = load_domain({"pilotOps": "rendezvous"}.get(name, name)).domain
    theory = load_theory(name)
    text = format_rtec(compile_program(theory, domain), domain)
    kept = tuple(s for s in theory.statements if stated_step(s) is None)
    found = compare_theories(Theory(kept), read_back(text))
    assert (found.only_first, found.only_second) == ((), ())
    assert len(found.same) == len(kept)


def test_rules_are_written_as_rtec_writes_them() -> None:
    text = exported(
        "initiatedAt(stopped(V)=far,T) :- not holdsAt(near(V),T), happensAt(stop_start(V),T).\n"
        "initiatedAt(near(V),T) :- happensAt(entersArea(V,A),T), startsWith(A,'Near').\n"
        "holdsFor(calm(V),I) :- holdsFor(stopped(V)=far,J), longer_than(J,240,I)."
    )
    assert (
        "initiatedAt(stopped(V)=far, T) :-\n"
        "    happensAt(stop_start(V), T),\n"
        "    \\+holdsAt(near(V)=true, T).\n"
    ) in text
    assert "    sub_atom(A, 0, _, _, 'Near')." in text
    assert (
        "holdsFor(calm(V)=true, I) :-\n"
        "    holdsFor(stopped(V)=far, J),\n"
        "    intDurGreater(J, 240, I).\n"
    ) in text
    assert text.index("near(V)=true, T) :-") < text.index("stopped(V)=far, T) :-")


def test_declarations_name_all_entities_with_the_types_of_the_domain() -> None:
    domain = load_domain("caviar-meet").domain
    text = format_rtec(compile_program(load_theory("caviar-meet"), domain), domain)
    for line in (
        "collectIntervals(close(_, _, _)=true).",
        "dynamicDomain(id(_)).",
        "dynamicDomain(id_pair(_, _)).",
        "grounding(walking(X1)) :- id(X1).",
        "grounding(meet(X1,X2)=true) :- id_pair(X1, X2).",
    ):
        assert line in text.splitlines()
    groundings = [line for line in text.splitlines() if line.startswith("grounding")]
    assert len(groundings) == len(set(groundings))
    for line in groundings:
        entity, _, body = line.partition(" :- ")
        variables = set(parse_theory(line).statements[0].content.head.atom.variables())  # type: ignore[union-attr]
        assert all(str(v) in body for v in variables if isinstance(v, Variable)), entity


def test_a_rule_without_an_event_waits_for_one_that_always_happens() -> None:
    begin = "initiatedAt(f(X),T) :- happensAt(near(X),T).\n"
    text = exported(begin + "terminatedAt(f(X),T) :- not happensAt(near(X),T).")
    assert "must happen at every time-point" in text
    assert "    happensAt(observed, T),\n    \\+happensAt(near(X), T).\n" in text
    assert "happensAt(observed" not in exported(begin)
    assert "grounding(observed)." in text


def test_weights_are_refused_with_their_place() -> None:
    from splice.events.crisp.program import Definition, Program
    from splice.logic.schema import Signature

    soft = parse_theory("1.5 :: initiatedAt(f(X),T) :- happensAt(e(X),T).", "soft.rules")
    program = Program((Definition(Signature("f", 1), initiations=soft.statements),))
    with pytest.raises(InputError, match=r"soft.rules:1:1: RTEC's rules have no weights"):
        format_rtec(program)


def test_the_command_exports(splice: Command) -> None:
    ran = splice("theory", "export", "rendezvous", "--to", "rtec", "--domain", "rendezvous")
    assert ran.code == 0
    assert "intDurGreater(AtSea, 240, I)." in ran.out
    assert "grounding(rendezvous(X1,X2)=true) :- vessel_pair(X1, X2)." in ran.out
    ran = splice("theory", "export", "rendezvous", "--to", "rtec", "--facts", "plaza")
    assert ran.code == 1
    assert "data convert --to rtec" in ran.err
