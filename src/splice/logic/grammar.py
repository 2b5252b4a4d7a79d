"""The grammar of the canonical text: recursive descent over tokens with positions.

:mod:`splice.logic.syntax` says what the language is and reads values with it; this module
holds its tokens and productions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NoReturn

from splice.errors import InputError
from splice.logic.atoms import COMPARISONS, Atom, Literal, Rule
from splice.logic.formulas import And, Exists, Forall, Formula, Iff, Implies, Not, Or, as_clause
from splice.logic.lexer import END, Cursor, Lexicon, SourceText, Token, unquote
from splice.logic.schema import lower_first
from splice.logic.terms import ARITHMETIC, LIST, VALUE, Constant, Function, Term, Variable
from splice.logic.theory import HARD, Statement

LEXICON: Final = Lexicon(
    patterns=(
        ("number", r"[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?(?![A-Za-z0-9_])"),
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

_SPELLINGS: Final = {"<=": "=<", "!=": "\\=", "=\\=": "\\=", "=:=": "="}
_OPERATORS: Final = (*COMPARISONS, *_SPELLINGS, *ARITHMETIC)
_UNSUPPORTED: Final = {
    "|": ("disjunctive heads are", "write one rule for each head"),
    "{": ("choice rules and aggregates are", "write plain rules"),
    "}": ("choice rules and aggregates are", "write plain rules"),
    "!": ("the cut is", "remove it, or write 'not' for a negation"),
    ":": ("modules and conditional literals are", "write plain literals"),
    "&": ("theory atoms are", "write ',' for a conjunction"),
    "~": ("weak constraints are", "write 'not' for a negation"),
    "@": ("external functions are", "nothing in a rule file is ever run"),
    "?": ("queries are", "remove it; a rule file holds rules and facts"),
}  # fmt: skip
_NEVER_RUN: Final = "remove it; nothing in a rule file is ever run"


class Parser(Cursor):
    """Reads one text; ``_height`` is that of the term or formula read last."""

    def __init__(self, source: SourceText) -> None:
        super().__init__(source, list(LEXICON.scan(source)))
        self._named = {token.text for token in self.tokens if token.kind == "variable"}
        self._anonymous = 0
        self._height = 0

    # statements

    def statement(self) -> Statement:
        """Read a weight, what it weighs, and the dot."""
        self._anonymous = 0
        start = self.token
        self._refuse_code()
        weight = self._weight()
        content = self.content()
        self._end()
        return Statement(content, weight, self.source.place(start.start))

    def recover(self) -> None:
        """Go to the token after the next dot."""
        while not self.at_kind(END):
            if self.next().text == ".":
                return

    def finish(self) -> None:
        """Read the end of the text, and a dot before it if there is one."""
        self.accept(".")
        if not self.at_kind(END):
            self._refuse_unsupported()
            self.fail(f"unexpected {self.shown()} after the end")

    def content(self) -> Rule | Formula:
        """Read a rule, a fact or a formula."""
        formula = self.formula()
        arrow = self.accept(":-", "<-")
        if arrow:
            head = self._head(formula, arrow)
            body = self.formula()
            return Rule(head, self._body(body, arrow))
        return formula

    def _end(self) -> None:
        if self.at("::"):
            self.fail("expected '.' but found '::'", "a weight is a number or 'hard'")
        self._refuse_unsupported()
        self.expect(".", "a statement ends with a dot")

    def _head(self, formula: Formula, arrow: Token) -> Literal:
        clause = as_clause(formula)
        if clause is None or len(clause.literals) != 1:
            self.fail("the head of a rule is one atom", "write one rule for each head", arrow)
        head = clause.literals[0]
        if head.atom.is_comparison:
            hint = "the head says what follows; move the comparison into the body"
            self.fail("a comparison cannot be the head of a rule", hint, arrow)
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
        if not math.isfinite(float(number.text)):
            self.fail("the weight is out of range", "write 'hard ::' for what must hold", number)
        self.index += 3 if negative else 2
        return -float(number.text) if negative else float(number.text)

    def _refuse_code(self) -> None:
        if self.at_kind("directive"):
            only = "is not supported: only rules and facts are read"
            self.fail(f"'{self.token.text}' {only}", _NEVER_RUN)
        if self.at(":-", "<-"):
            self.fail("directives and constraints are not supported", _NEVER_RUN)

    def _refuse_unsupported(self) -> None:
        if self.at_kind("sign") and self.token.text in _UNSUPPORTED:
            what, hint = _UNSUPPORTED[self.token.text]
            self.fail(f"{what} not supported: '{self.token.text}'", hint)

    # formulas, loosest first

    def formula(self) -> Formula:
        """Read a formula."""
        left = self._implication()
        while self.accept("<=>"):
            below = self._height
            left = Iff(left, self._implication())
            self._rise(below)
        return left

    def _implication(self) -> Formula:
        left = self._joined(";", self._conjunction, Or)
        if not self.accept("=>"):
            return left
        below = self._height
        with self.nested():
            right = self._implication()
        self._rise(below)
        return Implies(left, right)

    def _conjunction(self) -> Formula:
        return self._joined(",", self._unary, And)

    def _joined(
        self,
        sign: str,
        read: Callable[[], Formula],
        make: Callable[[tuple[Formula, ...]], Formula],
    ) -> Formula:
        parts = [read()]
        if not self.at(sign):
            return parts[0]
        below = self._height
        while self.accept(sign):
            parts.append(read())
            below = max(below, self._height)
        self._rise(below)
        return make(tuple(parts))

    def _rise(self, below: int) -> None:
        """Note that what was just read stands beside something of the given height."""
        # ``nested`` bounds the recursion of the parser; a+b+c+... grows to the left without any, and would be
        # too high for those who walk it recursively.
        self._height = max(below, self._height) + 1
        self.bounded(self._height)

    def _unary(self) -> Formula:
        with self.nested():
            if self.accept("not", "\\+"):
                part = self._unary()
                self._rise(0)
                return Not(part)
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
        self.expect("]", "quantified variables stand in a list: exists([X,Y], ...)")
        self.expect(",", "what is quantified follows the variables: exists([X,Y], ...)")
        part = self.formula()
        self.expect(")", "parentheses come in pairs")
        self._rise(0)
        return kind(tuple(variables), part)

    def _variable(self) -> Variable:
        if not self.at_kind("variable") or self.at("_"):
            hint = "variables start with an upper-case letter"
            self.fail(f"expected a variable but found {self.shown()}", hint)
        return Variable(self.next().text)

    def _parenthesised(self) -> Formula:
        """Read ``(formula)``, or a comparison whose left side starts with a parenthesis.

        When it is neither, the reading that got further says why.
        """
        start = self.index
        try:
            self.expect("(")
            inside = self.formula()
            self.expect(")", "parentheses come in pairs")
        except InputError as error:
            furthest, self.index = self.index, start
            try:
                return self.atom()
            except InputError:
                if self.index >= furthest:
                    raise
                self.index = furthest
            raise error
        if not self.at(*_OPERATORS):
            return inside
        self.index = start
        return self.atom()

    # atoms and terms

    def atom(self) -> Atom:
        """Read an atom: a predicate with its arguments, or a comparison of two terms."""
        start, index = self.token, self.index
        if self.at_kind("name", "quoted"):
            self._height = 0
            name, args = self._called()
            if not self.at(*_OPERATORS):
                return Atom(name, args)
            self.index = index
        left = self._sum()
        operator = _SPELLINGS.get(self.token.text, self.token.text)
        if operator not in COMPARISONS or not self.at_kind("sign"):
            self._no_atom(left, start)
        self.next()
        below = self._height
        right = self._sum()
        self._rise(below)
        return Atom(operator, (left, right))

    def _no_atom(self, term: Term, start: Token) -> NoReturn:
        self._refuse_unsupported()
        hint = "compare it, or name a predicate"
        if self.at("is"):
            hint = "write '=' instead of 'is'"
        elif self.at("(") and isinstance(term, Variable):
            hint = f"predicates start in lower case: '{lower_first(term.name)}'"
        self.fail(f"expected an atom but found '{term}'", hint, start)

    def term(self) -> Term:
        """Read a term, or a fluent with its value."""
        left = self._sum()
        if not self.accept("="):
            return left
        below = self._height
        right = self._sum()
        self._rise(below)
        return Function(VALUE, (left, right))

    def _sum(self) -> Term:
        left = self._product()
        while self.at("+", "-"):
            below, functor = self._height, self.next().text
            left = Function(functor, (left, self._product()))
            self._rise(below)
        return left

    def _product(self) -> Term:
        left = self._simple()
        while self.at("*", "/", "mod"):
            below, functor = self._height, self.next().text
            left = Function(functor, (left, self._simple()))
            self._rise(below)
        return left

    def _simple(self) -> Term:
        with self.nested():
            self._height = 0
            return self._primary()

    def _primary(self) -> Term:
        if self.at_kind("name", "quoted"):
            name, args = self._called()
            return Function(name, args) if args else Constant(name)
        if self.at_kind("number"):
            return Constant(self.next().text)
        if self.at_kind("variable"):
            return self._named_or_anonymous(self.next().text)
        if self.at("-") and self.peek().kind == "number":
            self.next()
            return Constant("-" + self.next().text)
        if self.accept("("):
            inside = self.term()
            self.expect(")", "parentheses come in pairs")
            return inside
        if self.accept("["):
            items = () if self.at("]") else self._terms()
            if self.at("|"):
                self.fail("list tails are not supported: '|'", "write the list out")
            self.expect("]", "lists are closed by ']'")
            return Function(LIST, items)
        return self._no_term()

    def _no_term(self) -> NoReturn:
        self._refuse_code()
        self._refuse_unsupported()
        if self.at_kind("string"):
            self.fail("strings are not supported", "quote names with ' instead of \"")
        hint = "write a term, or remove what asks for one" if not self.at_kind(END) else ""
        self.fail(f"expected a term but found {self.shown()}", hint)

    def _called(self) -> tuple[str, tuple[Term, ...]]:
        """Read a name and the arguments in parentheses, if any."""
        token = self.next()
        name = unquote(token.text) if token.kind == "quoted" else token.text
        if not self.accept("("):
            return name, ()
        if self.at(")"):
            self.fail("expected a term but found ')'", "a name without arguments stands alone")
        args = self._terms()
        self.expect(")", "arguments are separated by commas and closed by ')'")
        return name, args

    def _named_or_anonymous(self, name: str) -> Variable:
        """Give each ``_`` a name of its own, one that nobody else uses."""
        if name != "_":
            return Variable(name)
        while name in self._named or name == "_":
            self._anonymous += 1
            name = f"_{self._anonymous}"
        return Variable(name)

    def _terms(self) -> tuple[Term, ...]:
        items, tallest = [self.term()], self._height
        while self.accept(","):
            items.append(self.term())
            tallest = max(tallest, self._height)
        self._height = tallest + 1
        return tuple(items)
