"""Theories as answer set programs.

Each fluent has its rules, as they were written, and the axioms of the Event Calculus. A program
has one time line: what it wants to know of a stream is written for one sequence at a time.
"""

from __future__ import annotations

from typing import Final

from splice.events.crisp.program import Definition, Program, Simultaneous
from splice.events.points import Step
from splice.io.asp.rules import VALUE_OF, format_statement
from splice.logic.clauses import Rule
from splice.logic.domain import Holds
from splice.logic.terms import VALUE, Function

_HEADER: Final = """\
% Written by splice. clingo prints an interval(Fluent,Start,End), half-open, for each time a fluent
% holds. {facts}
"""
_OBSERVED_FACTS: Final = """It takes the atoms of the stream and next(S,T) for every time-point T and
% the next one, S, that is observed."""
_STEP_FACTS: Final = """It takes the atoms of the stream; point(T) for every time-point that is
% observed; follows(S,T) for each point in time T at which something may change, observed or one
% step later, and the next one, S; and end(E), one step after the last time-point."""

_OBSERVED: Final = """\
% Time goes from one observed time-point to the next, and ends just after the last.
point(T) :- next(_,T).
point(S) :- next(S,_).
follows(S,T) :- next(S,T).
follows(T+1,T) :- point(T), not next(_,T).
end(T+1) :- point(T), not next(_,T).
"""
_STEP: Final = """\
% Time goes on in steps, whether or not something is observed.
next(T+{size},T) :- point(T).
"""
_SIMPLE: Final = """\
known({f}) :- initiatedAt({f},_).
holdsAt({f},S) :- holdsAt({f},T), follows(S,T), not broken({f},S), not end(S).
"""
_CHANGES: Final = {
    Holds.AFTER: """\
broken({f},S) :- terminatedAt({f},T), next(S,T).
holdsAt({f},S) :- initiatedAt({f},T), next(S,T){unless}, not end(S).
""",
    Holds.FROM: """\
broken({f},T) :- terminatedAt({f},T).
holdsAt({f},T) :- initiatedAt({f},T), point(T){unless}.
""",
}
"""What is changed at a time-point counts at the next one, or at once."""
_UNLESS: Final = {
    Simultaneous.TERMINATE: ", not terminatedAt({f},T)",
    Simultaneous.INITIATE: "",
}
_OTHERS: Final = """\
rival({f},T) :- initiatedAt({other},T), known({f}), Value != Other.
terminatedAt({f},T) :- rival({f},T).
"""
_INTERVALS: Final = """\
% From points to maximal intervals.
held(F,T) :- holdsAt(F,P), follows(T,P).
since(F,T,T) :- holdsAt(F,T), known(F), not held(F,T).
since(F,S,T) :- since(F,S,P), follows(T,P), holdsAt(F,T).
interval(F,S,E) :- since(F,S,T), follows(E,T), not holdsAt(F,E).
#show interval/3.
"""


def format_asp(program: Program) -> str:
    """Return a program as rules and axioms for clingo; what ASP cannot say is an error.

    >>> from splice.events.crisp.program import compile_program
    >>> from splice.logic.syntax import parse_theory
    >>> rule = "initiatedAt(on(X),T) :- happensAt(press(X),T), not happensAt(fuse,T)."
    >>> rule in format_asp(compile_program(parse_theory(rule))).splitlines()
    True
    """
    step = program.successor if isinstance(program.successor, Step) else None
    parts = [_HEADER.format(facts=_STEP_FACTS if step else _OBSERVED_FACTS)]
    parts.append(_STEP.format(size=step.size) if step else _OBSERVED)
    number = 0
    for definition in program.definitions:
        lines = [f"% {definition.fluent}"]
        for statement in definition.statements():
            number += 1
            lines += format_statement(statement, program, number)
        axioms = "" if definition.static else _axioms(definition, program)
        parts.append("\n".join((*lines, axioms)))
    return "\n".join((*parts, _INTERVALS))


def _axioms(definition: Definition, program: Program) -> str:
    """Return the axioms of one fluent: clingo can work through fluents one after the other."""
    rules = [s.content for s in definition.statements() if isinstance(s.content, Rule)]
    fluents = [rule.head.atom.args[0] for rule in rules]
    simultaneous = program.simultaneous
    name, arity = definition.fluent
    args = ",".join(f"X{i}" for i in range(1, arity + 1))
    plain = f"{name}({args})" if arity else name
    text = ""
    for valued in sorted({isinstance(f, Function) and f.functor == VALUE for f in fluents}):
        fluent = f"{VALUE_OF}({plain},Value)" if valued else plain
        unless = _UNLESS[simultaneous].format(f=fluent)
        if valued and simultaneous is Simultaneous.INITIATE:
            unless = f", not rival({fluent},T)"  # two values at once are none
        text += (_SIMPLE + _CHANGES[program.holds]).format(f=fluent, unless=unless)
        text += _OTHERS.format(f=fluent, other=f"{VALUE_OF}({plain},Other)") if valued else ""
    return text
