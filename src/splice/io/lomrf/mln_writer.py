"""Knowledge bases as LoMRF writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from splice.logic.atoms import Atom, Literal
from splice.logic.clauses import Rule
from splice.logic.formulas import And, Exists, Forall, Formula, Iff, Implies, Not, Or
from splice.logic.lexer import escape
from splice.logic.schema import Schema, TypeDecl, lower_first
from splice.logic.terms import ARITHMETIC, Constant, Function, Term, Variable
from splice.logic.theory import Statement, Theory

_CONSTANT: Final = re.compile(r"-?(?:[A-Z_0-9][A-Za-z0-9_]*|[0-9]+\.[0-9]+)\Z")
_STRENGTH: Final[dict[type, int]] = {
    Iff: 1, Implies: 2, Or: 3, And: 4, Not: 5, Exists: 5, Forall: 5,
}  # fmt: skip
_SIGNS: Final = {"mod": "%", "\\=": "!="}


def format_mln(theory: Theory) -> str:
    """Write a knowledge base: its schema, then one statement a line."""
    schema = format_schema(theory.schema)
    statements = [format_statement(statement, theory.schema) for statement in theory.statements]
    body = "// Formulas\n" + "\n\n".join(statements) + "\n" if statements else ""
    return f"{schema}\n{body}" if schema else body


def format_schema(schema: Schema) -> str:
    """Write the declarations of types, predicates and functions."""
    groups = (
        ("Types", map(_type, schema.types)),
        ("Predicates", map(str, schema.predicates)),
        ("Functions", map(str, schema.functions)),
    )
    return "\n".join(text for title, lines in groups if (text := _group(title, lines)))


def format_statement(statement: Statement, schema: Schema) -> str:
    """Write one statement with its weight, or its final dot."""
    content = statement.content
    shown = _rule(content, schema) if isinstance(content, Rule) else format_formula(content, schema)
    if statement.weight is None:
        return shown
    return f"{shown}." if statement.is_hard else f"{statement.weight!r} {shown}"


def format_formula(formula: Formula, schema: Schema, around: int = 0) -> str:
    """Write a formula with as few parentheses as reading it back needs."""
    shown = _formula(formula, schema)
    return f"({shown})" if _STRENGTH.get(type(formula), 9) < around else shown


def format_term(term: Term) -> str:
    """Write a term: variables in lower case, constants that would read as one in quotes."""
    match term:
        case Variable(name):
            return _variable(name)
        case Constant(name):
            return name if _CONSTANT.match(name) else f'"{escape(name, quote=chr(34))}"'
        case Function("+" | "-" as sign, (left, Constant("1"))):
            return f"{_operand(left)}{sign * 2}"
        case Function(functor, (left, right)) if functor in ARITHMETIC:
            return f"{_operand(left)} {_SIGNS.get(functor, functor)} {_operand(right)}"
        case Function(functor, args):
            return f"{functor}({', '.join(map(format_term, args))})"


def _operand(term: Term) -> str:
    shown = format_term(term)
    infix = isinstance(term, Function) and term.functor in ARITHMETIC
    return f"({shown})" if infix or shown.startswith("-") else shown


def _formula(formula: Formula, schema: Schema) -> str:
    match formula:
        case Atom():
            return _atom(formula, schema)
        case Not(part):
            return f"!{format_formula(part, schema, 6)}"
        case And(parts):
            return " ^ ".join(format_formula(part, schema, 5) for part in parts)
        case Or(parts):
            return " v ".join(format_formula(part, schema, 4) for part in parts)
        case Implies(left, right):
            return f"{format_formula(left, schema, 3)} => {format_formula(right, schema, 2)}"
        case Iff(left, right):
            return f"{format_formula(left, schema, 2)} <=> {format_formula(right, schema, 2)}"
        case Exists(variables, part):
            return f"Exist {_names(variables)} {format_formula(part, schema, 6)}"
        case Forall(variables, part):
            return f"Forall {_names(variables)} {format_formula(part, schema, 6)}"


def _rule(rule: Rule, schema: Schema) -> str:
    head = _literal(rule.head, schema)
    if not rule.body:
        return head
    return f"{head} :- {' ^ '.join(_literal(literal, schema) for literal in rule.body)}"


def _literal(literal: Literal, schema: Schema) -> str:
    shown = _atom(literal.atom, schema)
    if literal.positive:
        return shown
    return f"!({shown})" if literal.atom.is_comparison else f"!{shown}"


def _atom(atom: Atom, schema: Schema) -> str:
    args = [format_term(arg) for arg in atom.args]
    if atom.is_comparison:
        return f"{args[0]} {_SIGNS.get(atom.predicate, atom.predicate)} {args[1]}"
    name = schema.spelling(atom.predicate)
    return f"{name}({', '.join(args)})" if args else name


def _type(decl: TypeDecl) -> str:
    if decl.bounds:
        return f"{decl.name} = {{{decl.bounds[0]}, ..., {decl.bounds[1]}}}"
    return f"{decl.name} = {{{', '.join(format_term(Constant(c)) for c in decl.constants)}}}"


def _group(title: str, lines: Iterable[str]) -> str:
    shown = "".join(f"{line}\n" for line in lines)
    return f"// {title}\n{shown}" if shown else ""


def _names(variables: Iterable[Variable]) -> str:
    return ",".join(_variable(variable.name) for variable in variables)


def _variable(name: str) -> str:
    return f"v{name}" if name.startswith("_") else lower_first(name)
