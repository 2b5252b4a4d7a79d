"""The canonical text of terms, atoms, rules and theories: Prolog-style, read and written.

``str`` of every value in :mod:`splice.logic` is written in this language and
``parse(str(x)) == x``. Variables start with an upper-case letter or an underscore;
``not`` is negation as failure; a statement ends with a dot and may start with a weight::

    1.5 :: initiatedAt(meet(X,Y),T) :- happensAt(active(X),T), close(X,Y,34,T).
    hard :: startTime(T) => not holdsAt(F,T).

Only rules, facts and formulas are read. Whatever would run code (``#script``, directives)
is refused.
"""

from __future__ import annotations

from itertools import count
from typing import Final

from splice.errors import InputError, Problem
from splice.logic.atoms import COMPARISONS, Atom, Literal
from splice.logic.clauses import Clause, Rule
from splice.logic.formulas import (
    And,
    Exists,
    Forall,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    as_clause,
)
from splice.logic.lexer import END, Cursor, Lexicon, SourceText, Token, unquote
from splice.logic.terms import ARITHMETIC, LIST, VALUE, Constant, Function, Term, Variable
from splice.logic.theory import HARD, Statement, Theory

__all__ = [
    "parse_atom",
    "parse_clause",
    "parse_formula",
    "parse_ground_term",
    "parse_literal",
    "parse_rule",
    "parse_term",
    "parse_theory",
    "parse_theory_all",
]

LEXICON: Final = Lexicon(
    patterns=(
        ("number", r"[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?(?![A-Za-z_])"),
        ("variable", r"[A-Z_][A-Za-z0-9_]*"),
        ("name", r"[a-z][A-Za-z0-9_]*"),
        ("quoted", r"'(?:[^'\\\n]|\\.)*'"),
        ("string", r'"(?:[^"\\\n]|\\.)*"'),
        ("directive", r"#[a-z]+"),
        ("sign", r"<=>|=>|::|:-|<-|=<|>=|<=|\\=|\\\+|!=|=:=|=\\=|=|<|>|[-+*/(),.;|\[\]{}:!&~@?]"),
    ),
    line_comment="%",
    block_comment=("/*", "*/"),
)

GROUND_LEXICON: Final = Lexicon(
    patterns=(
        ("name", r"-?[A-Za-z0-9_](?:[-A-Za-z0-9_:.]*[A-Za-z0-9_])?"),
        ("quoted", r"'(?:[^'\\\n]|\\.)*'"),
        ("sign", r"[(),=]"),
    ),
)

_SPELLINGS: Final = {"<=": "=<", "!=": "\\=", "=\\=": "\\=", "=:=": "="}
_UNSUPPORTED: Final = {
    "|": "disjunctive heads", "{": "choice rules", "}": "choice rules", "!": "the cut",
    ":": "modules and conditional literals", "&": "theory atoms", "~": "weak constraints",
    "@": "external functions", "?": "queries",
}  # fmt: skip


class _Parser(Cursor):
    """Recursive descent over the canonical language."""

    def __init__(self, source: SourceText) -> None:
        super().__init__(source, LEXICON.tokens(source))
        self._anonymous = 0

    # statements

    def statement(self) -> Statement:
        self._anonymous = 0
        start = self.token
        self._refuse_code()
        weight = self._weight()
        content = self._content()
        self.expect(".", "a statement ends with a dot")
        return Statement(content, weight, self.source.place(start.start))

    def recover(self) -> None:
        """Skip to the token after the next dot, so that one error does not hide the rest."""
        while not self.at_kind(END):
            if self.next().text == ".":
                return

    def _content(self) -> Rule | Formula:
        formula = self.formula()
        arrow = self.accept(":-", "<-")
        if arrow:
            head = self._head(formula, arrow)
            body = self.formula()
            return Rule(head, self._body(body, arrow))
        if isinstance(formula, Atom) and formula.is_ground:
            return Rule(Literal(formula))
        return formula

    def _head(self, formula: Formula, arrow: Token) -> Literal:
        clause = as_clause(formula)
        if clause is None or len(clause.literals) != 1:
            self.fail("the head of a rule is one atom", "write one rule for each head", arrow)
        head = clause.literals[0]
        if head.atom.is_comparison:
            self.fail("a comparison cannot be the head of a rule", "", arrow)
        return head

    def _body(self, formula: Formula, arrow: Token) -> tuple[Literal, ...]:
        parts = formula.parts if isinstance(formula, And) else (formula,)
        literals = []
        for part in parts:
            clause = as_clause(part)
            if clause is None or isinstance(part, Or):
                hint = "write one rule for each alternative"
                self.fail("the body of a rule is a conjunction of literals", hint, arrow)
            literals.append(clause.literals[0])
        return tuple(literals)

    def _weight(self) -> float | None:
        if self.at("hard") and self.peek().text == "::":
            self.index += 2
            return HARD
        negative = self.at("-") and self.peek().kind == "number"
        number = self.peek() if negative else self.token
        if number.kind != "number" or self.peek(2 if negative else 1).text != "::":
            return None
        self.index += 3 if negative else 2
        return -float(number.text) if negative else float(number.text)

    def _refuse_code(self) -> None:
        if self.at_kind("directive"):
            self.fail(
                f"'{self.token.text}' is not supported: only rules and facts are read",
                "remove it; nothing in a rule file is ever run",
            )
        if self.at(":-", "<-"):
            self.fail(
                "directives and constraints are not supported",
                "remove it; nothing in a rule file is ever run",
            )

    # formulas, loosest first

    def formula(self) -> Formula:
        left = self._implication()
        for depth in count():
            if not self.accept("<=>"):
                break
            self.bounded(depth)
            left = Iff(left, self._implication())
        return left

    def _implication(self) -> Formula:
        left = self._disjunction()
        if not self.accept("=>"):
            return left
        with self.nested():
            return Implies(left, self._implication())

    def _disjunction(self) -> Formula:
        parts = [self._conjunction()]
        while self.accept(";"):
            parts.append(self._conjunction())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _conjunction(self) -> Formula:
        parts = [self._unary()]
        while self.accept(","):
            parts.append(self._unary())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _unary(self) -> Formula:
        with self.nested():
            if self.accept("not", "\\+"):
                return Not(self._unary())
            if self.at("exists", "forall") and self.peek().text == "(":
                return self._quantified()
            if self.at("("):
                return self._parenthesised()
            return self.atom()

    def _quantified(self) -> Formula:
        kind = Exists if self.next().text == "exists" else Forall
        self.expect("(")
        self.expect("[", "quantified variables stand in a list: exists([X,Y], ...)")
        variables = [self._variable()]
        while self.accept(","):
            variables.append(self._variable())
        self.expect("]")
        self.expect(",")
        part = self.formula()
        self.expect(")")
        return kind(tuple(variables), part)

    def _variable(self) -> Variable:
        if not self.at_kind("variable"):
            self.fail(f"expected a variable but found {self.shown()}")
        return Variable(self.next().text)

    def _parenthesised(self) -> Formula:
        """Read ``(formula)``, or a comparison whose left side starts with a parenthesis."""
        start = self.index
        try:
            self.expect("(")
            inside = self.formula()
            self.expect(")")
            if not self.at("=", *COMPARISONS, *_SPELLINGS, *ARITHMETIC):
                return inside
        except InputError:
            after_error = self.index
            self.index = start
            try:
                return self.atom()
            except InputError:
                if self.index >= after_error:
                    raise
        self.index = start
        return self.atom()

    # atoms and terms

    def atom(self) -> Atom:
        start = self.token
        left = self._sum()
        operator = _SPELLINGS.get(self.token.text, self.token.text)
        if operator in COMPARISONS and self.at_kind("sign"):
            self.next()
            return Atom(operator, (left, self._sum()))
        if isinstance(left, Function) and left.functor not in (LIST, VALUE, *ARITHMETIC):
            return Atom(left.functor, left.args)
        if isinstance(left, Constant) and start.kind in ("name", "quoted"):
            return Atom(left.name)
        return self.fail(f"expected an atom but found '{left}'", "", start)

    def term(self) -> Term:
        left = self._sum()
        return Function(VALUE, (left, self._sum())) if self.accept("=") else left

    def _sum(self) -> Term:
        left = self._product()
        for depth in count():
            if not self.at("+", "-"):
                break
            self.bounded(depth)
            left = Function(self.next().text, (left, self._product()))
        return left

    def _product(self) -> Term:
        left = self._simple()
        for depth in count():
            if not self.at("*", "/", "mod"):
                break
            self.bounded(depth)
            left = Function(self.next().text, (left, self._simple()))
        return left

    def _simple(self) -> Term:
        with self.nested():
            return self._one_term()

    def _one_term(self) -> Term:
        token = self.token
        if token.kind == "number":
            return Constant(self.next().text)
        if token.kind == "variable":
            return self._named_or_anonymous(self.next().text)
        if self.at("-") and self.peek().kind == "number":
            self.next()
            return Constant("-" + self.next().text)
        if token.kind in ("name", "quoted"):
            self.next()
            name = unquote(token.text) if token.kind == "quoted" else token.text
            return Function(name, self._args()) if self.at("(") else Constant(name)
        if self.accept("("):
            inside = self.term()
            self.expect(")", "parentheses come in pairs")
            return inside
        if self.accept("["):
            return Function(LIST, self._list())
        self._refuse_code()
        if token.kind == "string":
            return self.fail("strings are not supported", "quote names with ' instead of \"")
        if token.text in _UNSUPPORTED:
            return self.fail(f"{_UNSUPPORTED[token.text]} are not supported: '{token.text}'")
        return self.fail(f"expected a term but found {self.shown()}")

    def _named_or_anonymous(self, name: str) -> Variable:
        if name != "_":
            return Variable(name)
        self._anonymous += 1
        return Variable(f"_{self._anonymous}")

    def _args(self) -> tuple[Term, ...]:
        self.expect("(")
        args = [self.term()]
        while self.accept(","):
            args.append(self.term())
        self.expect(")", "arguments are separated by commas and closed by ')'")
        return tuple(args)

    def _list(self) -> tuple[Term, ...]:
        items: list[Term] = []
        if not self.at("]"):
            items.append(self.term())
            while self.accept(","):
                items.append(self.term())
        self.expect("]", "lists are closed by ']'")
        return tuple(items)

    def finish(self) -> None:
        self.accept(".")
        if not self.at_kind(END):
            self.fail(f"unexpected {self.shown()} after the end")


def parse_term(text: str) -> Term:
    """Read a term.

    >>> parse_term("meet('ID1',Y)")
    Function('meet', (Constant('ID1'), Variable('Y')))
    """
    parser = _Parser(SourceText(text))
    term = parser.term()
    parser.finish()
    return term


def parse_atom(text: str) -> Atom:
    """Read an atom."""
    parser = _Parser(SourceText(text))
    atom = parser.atom()
    parser.finish()
    return atom


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
    parser = _Parser(SourceText(text))
    formula = parser.formula()
    parser.finish()
    return formula


def parse_rule(text: str) -> Rule:
    """Read one rule or fact."""
    parser = _Parser(SourceText(text))
    content = parser._content()
    parser.finish()
    if isinstance(content, Atom):
        return Rule(Literal(content))
    if isinstance(content, Rule):
        return content
    clause = as_clause(content)
    if clause is not None and len(clause.literals) == 1:
        return Rule(clause.literals[0])
    raise InputError(SourceText(text).problem(0, "expected a rule", "a rule is 'head :- body.'"))


def parse_theory(text: str, file: str = "<text>") -> Theory:
    """Read a theory; raise all its problems at once."""
    theory, problems = parse_theory_all(text, file)
    if problems:
        raise InputError(problems)
    return theory


def parse_theory_all(text: str, file: str = "<text>") -> tuple[Theory, list[Problem]]:
    """Read what can be read of a theory, and every problem of the rest."""
    try:
        parser = _Parser(SourceText(text, file))
    except InputError as error:
        return Theory(), list(error.problems)
    statements: list[Statement] = []
    problems: list[Problem] = []
    while not parser.at_kind(END):
        try:
            statements.append(parser.statement())
        except InputError as error:
            problems.extend(error.problems)
            parser.recover()
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
    if not cursor.at_kind("name", "quoted"):
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
