"""The canonical text of terms, atoms, rules and theories: Prolog-style, read and written.

``str`` of every value in :mod:`splice.logic` is written in this language and
``parse(str(x)) == x``. Variables start with an upper-case letter or an underscore;
``not`` is negation as failure; a statement ends with a dot and may start with a weight::

    1.5 :: initiatedAt(meet(X,Y),T) :- happensAt(active(X),T), close(X,Y,34,T).
    hard :: startTime(T) => not holdsAt(F,T).

Only rules, facts and formulas are read. Whatever would run code (``#script``, directives)
is refused. A single literal is a rule without a body, also where it has variables.

Tables write ground terms otherwise (:func:`ground_text`, :func:`parse_ground_term`): the texts that
name fluents, entities and sequences quote no more than they need.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeVar

from splice.errors import InputError, Problem, raise_problems
from splice.logic.atoms import Atom, Clause, Literal, Rule
from splice.logic.formulas import Formula, as_clause
from splice.logic.grammar import Parser
from splice.logic.lexer import END, Cursor, Lexicon, SourceText, unquote
from splice.logic.terms import VALUE, Constant, Function, Term, quoted
from splice.logic.theory import Theory

T = TypeVar("T")

GROUND_LEXICON: Final = Lexicon(
    patterns=(
        ("number", r"-?[0-9]+(\.[0-9]+)?[eE]\+[0-9]+(?![-A-Za-z0-9_:.])"),
        ("name", r"-?[A-Za-z0-9_](?:[-A-Za-z0-9_:.]*[A-Za-z0-9_])?"),
        ("quoted", r"'(?:[^'\\\n]|\\.)*'"),
        ("sign", r"[(),=]"),
    ),
)


def parse_term(text: str) -> Term:
    """Return the term that a text spells.

    Parameters
    ----------
    text
        The text.

    Examples
    --------
    >>> parse_term("meet('ID1',Y)")
    Function('meet', (Constant('ID1'), Variable('Y')))
    """
    return _whole(text, Parser.term)


def _whole(text: str, read: Callable[[Parser], T]) -> T:
    """Return what a text spells from its beginning to its end."""
    parser = Parser(SourceText(text))
    value = read(parser)
    parser.finish()
    return value


_cached: Final = lru_cache(maxsize=1 << 14)
"""Values are frozen, and the texts of states are few that come again and again."""


@_cached
def parse_atom(text: str) -> Atom:
    """Return the atom that a text spells.

    Parameters
    ----------
    text
        The text.
    """
    return _whole(text, Parser.atom)


@_cached
def parse_literal(text: str) -> Literal:
    """Read an atom or its negation."""
    clause = parse_clause(text)
    if len(clause.literals) != 1:
        raise InputError(SourceText(text).problem(0, "expected one literal"))
    return clause.literals[0]


def parse_clause(text: str) -> Clause:
    """Read a disjunction of literals.

    >>> print(parse_clause("q(X) ; not p(X)"))
    not p(X) ; q(X)
    """
    clause = as_clause(parse_formula(text))
    if clause is None:
        raise InputError(
            SourceText(text).problem(
                0, "expected a clause", "a clause is literals separated by ';'"
            )
        )
    return clause


def parse_formula(text: str) -> Formula:
    """Read a formula."""
    return _whole(text, Parser.formula)


@_cached
def parse_rule(text: str) -> Rule:
    """Return the rule or fact that a text spells.

    Parameters
    ----------
    text
        ``head :- body.``, or a fact.
    """
    content = _whole(text, Parser.content)
    if isinstance(content, Rule):
        return content
    clause = as_clause(content)
    if clause is not None and len(clause.literals) == 1:
        literal = clause.literals[0]
        if not literal.atom.is_comparison:
            return Rule(literal)
    raise InputError(SourceText(text).problem(0, "expected a rule", "a rule is 'head :- body.'"))


def parse_theory(text: str, file: str = "<text>") -> Theory:
    """Return the theory that a text spells; raise all its problems at once.

    Parameters
    ----------
    text
        Rules and formulas.
    file
        What to call the text in the places of problems.
    """
    theory, problems = parse_theory_all(text, file)
    raise_problems(problems)
    return theory


def parse_theory_all(text: str, file: str = "<text>") -> tuple[Theory, list[Problem]]:
    """Read what can be read of a theory, and every problem of the rest."""
    parser = Parser(SourceText(text, file))
    statements, problems = parser.statements(parser.statement)
    return Theory(tuple(statements)), problems


def parse_ground_term(text: str) -> Term:
    """Read a term of tables and outputs, where every name is a constant, whatever its case.

    >>> print(parse_ground_term("meet(ID1,id2)"))
    meet('ID1',id2)
    """
    source = SourceText(text)
    cursor = Cursor(source, GROUND_LEXICON.tokens(source))
    term = _ground_value(cursor)
    if not cursor.at_kind(END):
        cursor.fail(f"unexpected {cursor.shown()} after the end")
    return term


def _ground_value(cursor: Cursor) -> Term:
    left = _ground(cursor)
    return Function(VALUE, (left, _ground(cursor))) if cursor.accept("=") else left


def _ground(cursor: Cursor) -> Term:
    if not cursor.at_kind("name", "number", "quoted"):
        cursor.fail(f"expected a name but found {cursor.shown()}")
    token = cursor.next()
    name = unquote(token.text) if token.kind == "quoted" else token.text
    if not cursor.accept("("):
        return Constant(name)
    with cursor.nested():
        args = [_ground_value(cursor)]
        while cursor.accept(","):
            args.append(_ground_value(cursor))
    cursor.expect(")", "arguments are separated by commas and closed by ')'")
    return Function(name, tuple(args))


FUNCTION_TEXT: Final = re.compile(r"('(?:[^'\\]|\\.)*'|-?[^\W](?:[-\w:.]*\w)?)\(")
"""A text that begins so is a function: a name directly followed by a parenthesis."""

# What tables write without quotes: names and numbers, and the dates and codes of data (2021-03-04, a:b, x.y).
_NAME: Final = re.compile(r"-?[A-Za-z0-9_](?:[-A-Za-z0-9_:.]*[A-Za-z0-9_])?\Z")


def name_text(name: str) -> str:
    """Return the cell that is read as a constant of the given name."""
    plain = name and name == name.strip() and name.isprintable() and "'" not in (name[0], name[-1])
    return name if plain and not FUNCTION_TEXT.match(name) else _quoted(name)


def ground_text(term: Term) -> str:
    """Return a ground term as tables write it, quoting no more than reading it back needs.

    >>> from splice.logic.terms import Constant
    >>> ground_text(Function("meet", (Constant("ID1"), Constant("it's"))))
    "meet(ID1,'it\\\\'s')"
    """
    if not isinstance(term, Function):
        return _ground_name(term.name)
    if term.functor == VALUE and len(term.args) == 2:
        left, right = term.args
        if isinstance(left, Function) and VALUE not in (left.functor, _functor(right)):
            return f"{ground_text(left)}={ground_text(right)}"
    return f"{_ground_name(term.functor)}({','.join(map(ground_text, term.args))})"


def _functor(term: Term) -> str:
    return term.functor if isinstance(term, Function) else ""


def _ground_name(name: str) -> str:
    return name if _NAME.match(name) else _quoted(name)


def _quoted(name: str) -> str:
    text = quoted(name)
    return text if text.startswith("'") else f"'{text}'"
