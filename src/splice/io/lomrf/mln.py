"""Knowledge bases, ``.mln``: a schema, weighted formulas and definite clauses, read and written.

What LoMRF trips over is read: comments after a declaration, underscores in names, declarations
and formulas over several lines, decimals, and constants in quotes. What is not supported is
named as such.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from splice.errors import InputError, Place, Problem, raise_problems
from splice.io.lomrf.mln_grammar import MlnParser
from splice.io.text import read_text
from splice.limits import LIMITS
from splice.logic.atoms import Atom, Literal, Rule
from splice.logic.formulas import And, Exists, Forall, Formula, Iff, Implies, Not, Or
from splice.logic.lexer import SourceText, escape, unquote
from splice.logic.schema import Schema, TypeDecl, lower_first
from splice.logic.terms import ARITHMETIC, Constant, Function, Term, Variable
from splice.logic.theory import Statement, Theory


class _Reader:
    """Reads a knowledge base and what it includes, collecting every problem."""

    def __init__(self) -> None:
        self.schema = Schema()
        self.statements: list[Statement] = []
        self.problems: list[Problem] = []
        self._open: list[Path] = []

    def text(self, text: str, file: str, path: Path | None) -> None:
        """Read a text; files that it includes stand in the folder of the given one."""
        parser = MlnParser(SourceText(text, file), self.schema)
        _, problems = parser.statements(lambda: self._statement(parser, path))
        self.problems.extend(problems)
        self.schema = parser.schema

    def _statement(self, parser: MlnParser, path: Path | None) -> None:
        if parser.at_kind("include"):
            self._include(parser, path)
        elif statement := parser.statement():
            self.statements.append(statement)

    def file(self, path: Path) -> None:
        """Read a file."""
        self._open.append(path.resolve())
        try:
            self.text(read_text(path), str(path), path)
        finally:
            self._open.pop()

    def _include(self, parser: MlnParser, path: Path | None) -> None:
        parser.next()
        token = parser.token
        if token.kind != "quoted":
            parser.fail("expected a quoted file name", 'write #include "other.mln"')
        parser.next()
        parser.end_of_statement()
        name = unquote(token.text)
        near = (path.parent / name) if path else Path(name)
        target = near if near.exists() else Path(name)
        if not target.is_file():
            parser.fail(f"included file '{name}' does not exist", "paths start at this file", token)
        if target.resolve() in self._open:
            chain = " -> ".join(p.name for p in (*self._open, target))
            parser.fail(f"files include each other: {chain}", "remove one #include", token)
        if len(self._open) > LIMITS.nesting:
            parser.fail(
                f"files include each other more than {LIMITS.nesting} levels deep", "", token
            )
        self.schema = parser.schema
        self.file(target)
        parser.schema = self.schema


def parse_mln_all(text: str, file: str = "<mln>") -> tuple[Theory, list[Problem]]:
    """Read what can be read of a knowledge base, and every problem of the rest."""
    reader = _Reader()
    reader.text(text, file, None)
    return Theory(tuple(reader.statements), reader.schema), reader.problems


def parse_mln(text: str, file: str = "<mln>") -> Theory:
    """Read a knowledge base.

    >>> theory = parse_mln("Happens(event,time)\\nevent walking(id)\\n1.5 Happens(walking(x),t)")
    >>> print(theory)
    1.5 :: happensAt(walking(X),T).
    """
    theory, problems = parse_mln_all(text, file)
    raise_problems(problems)
    return theory


def read_mln_all(path: Path) -> tuple[Theory, list[Problem]]:
    """Read what can be read of a ``.mln`` file and its includes, and every problem."""
    reader = _Reader()
    try:
        reader.file(path)
    except InputError as error:
        reader.problems.extend(error.problems)
    schema = reader.schema
    if not (reader.problems or reader.statements or schema.predicates or schema.types):
        reader.problems.append(
            Problem(
                Place(str(path), 1, 1), "the file declares nothing", hint="is it the right file?"
            )
        )
    return Theory(tuple(reader.statements), schema), reader.problems


def read_mln(path: Path) -> Theory:
    """Read a ``.mln`` file and the files it includes."""
    theory, problems = read_mln_all(path)
    raise_problems(problems)
    return theory


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
