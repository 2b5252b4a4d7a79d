"""The grammar of knowledge bases: declarations, weighted formulas, definite clauses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from splice.errors import did_you_mean
from splice.io.line_cursor import LineCursor
from splice.logic.atoms import Atom, Literal, Rule
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
    height,
)
from splice.logic.lexer import END, MAX_DEPTH, Lexicon, SourceText, Token, unquote
from splice.logic.schema import (
    FunctionDecl,
    PredicateDecl,
    Schema,
    Signature,
    TypeDecl,
    upper_first,
)
from splice.logic.terms import Constant, Function, Term, Variable
from splice.logic.theory import HARD, Statement

LEXICON: Final = Lexicon(
    patterns=(
        ("include", r"\#include\b"),
        ("number", r"[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?(?![A-Za-z_0-9:])"),
        ("name", r"[A-Za-z_][A-Za-z0-9_]*|[0-9][A-Za-z0-9_:]*"),
        ("quoted", r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\""),
        ("sign", r"<=>|=>|:-|=<|>=|<=|!=|\+\+|--|\.\.\.|[-=<>!^(){},.+*/%?#|&~:;\[\]@$]"),
    ),
    line_comment="//",
    block_comment=("/*", "*/"),
    newlines=True,
)

_COMPARISONS: Final = {
    "=": "=", "!=": "\\=", "<": "<", "=<": "=<", "<=": "=<", ">": ">", ">=": ">=",
}  # fmt: skip
_BUILT_INS: Final = {"Substr": "the built-in predicate", "concat": "the built-in function"}


class MlnParser(LineCursor):
    """One knowledge base; ``schema`` grows with each declaration that is read."""

    lexicon = LEXICON

    def __init__(self, source: SourceText, schema: Schema) -> None:
        super().__init__(source)
        self.schema = schema

    # statements

    def statement(self) -> Statement | None:
        """Read one declaration (and return None) or one weighted statement."""
        start = self.token
        if self._is_type():
            self._type()
        elif start.kind == "name" and self.peek().kind == "name" and not self._is_quantifier():
            self._function()
        elif self._is_predicate():
            self._predicate()
        else:
            return self._weighted(start)
        self.end_of_statement()
        return None

    def end_of_statement(self) -> None:
        """Refuse what follows a statement on its line."""
        if not self.at_line_end:
            self.fail(
                f"unexpected {self.shown()} after the end of the statement",
                "a statement ends with its line",
            )

    def _is_type(self) -> bool:
        return self.at_kind("name") and self.peek().text == "=" and self.peek(2).text == "{"

    def _is_quantifier(self) -> bool:
        return self.at("Exist", "Forall")

    def _is_predicate(self) -> bool:
        """Whether a declaration follows: plain lower-case names, and not declared before."""
        # ``Close(id,id,time)`` on a line of its own is a declaration, and a formula over variables once there
        # is one: LoMRF's language does not tell the two apart otherwise.
        if not self.at_kind("name") or not self.token.text[:1].isupper():
            return False
        name = self.schema.internal_name(self.token.text)
        if self.peek().kind in ("newline", END):
            return self.schema.predicate(Signature(name, 0)) is None
        index, arity = self.index + 1, 0
        if self.tokens[index].text != "(":
            return False
        while self.tokens[index].text in ("(", ","):
            word = self.tokens[index + 1]
            if word.kind != "name" or not word.text[:1].islower():
                return False
            index, arity = index + 2, arity + 1
        closed = self.tokens[index].text == ")"
        ended = self.tokens[min(index + 1, len(self.tokens) - 1)].kind in ("newline", END)
        return closed and ended and self.schema.predicate(Signature(name, arity)) is None

    def _type(self) -> None:
        name = self.next()
        if not name.text[:1].islower():
            self.fail("a type starts with a lower-case letter", "", name)
        self.expect("=")
        opening = self.index
        self.expect("{")
        constants = [] if self.at("}") else [self._type_constant()]
        bounds: tuple[int, int] | None = None
        while self.accept(","):
            self.skip_newlines()
            if self.accept("..."):
                self.expect(",", "an integer range is {1, ..., 100}")
                bounds = self._bounds(constants, self._type_constant(), name)
            else:
                constants.append(self._type_constant())
        self.skip_newlines()
        self.close(opening, "}", "the constants of a type stand in { }")
        decl = TypeDecl(name.text, () if bounds else tuple(dict.fromkeys(constants)), bounds)
        others = (t for t in self.schema.types if t.name != decl.name)
        self.schema = replace(self.schema, types=(*others, decl))

    def _type_constant(self) -> str:
        self.skip_newlines()
        return self._constant_name()

    def _bounds(self, before: list[str], last: str, at: Token) -> tuple[int, int]:
        try:
            low, high = int(before[0]), int(last)
        except (ValueError, IndexError):
            return self.fail("the ends of a range are integers", "write {1, ..., 100}", at)
        if low > high:
            self.fail(f"the range from {low} to {high} is empty", "write {1, ..., 100}", at)
        return low, high

    def _constant_name(self) -> str:
        minus = "-" if self.accept("-") else ""
        if not self.at_kind("name", "number", "quoted"):
            self.fail(f"expected a constant but found {self.shown()}")
        token = self.next()
        return minus + (unquote(token.text) if token.kind == "quoted" else token.text)

    def _predicate(self) -> None:
        token = self.next()
        name = Schema().internal_name(token.text)
        self._refuse_other_spelling(name, token)
        decl = PredicateDecl(name, self._type_names(), token.text)
        self.schema = self.schema.with_predicates([decl])

    def _refuse_other_spelling(self, name: str, token: Token) -> None:
        spelled = self.schema.spelling(name)
        if self.schema.arities(name) and spelled != token.text:
            self.fail(f"'{token.text}' beside '{spelled}': they mean the same", "use one", token)

    def _function(self) -> None:
        returns, name = self.next(), self.next()
        if not (returns.text[:1].islower() and name.text[:1].islower()):
            self.fail(
                "expected a function declaration: type name(types)",
                "types and functions start with a lower-case letter",
                returns,
            )
        if not self.at("("):
            self.fail(f"expected '(' but found {self.shown()}", "write: type name(types)")
        decl = FunctionDecl(name.text, self._type_names(), returns.text)
        self.schema = self.schema.with_functions([decl])

    def _type_names(self) -> tuple[str, ...]:
        if not self.accept("("):
            return ()
        names = self.several(self._type_name)
        self.expect(")")
        return tuple(names)

    def _type_name(self) -> str:
        self.skip_newlines()
        if not self.at_kind("name") or not self.token.text[:1].islower():
            self.fail(f"expected a type but found {self.shown()}")
        return self.next().text

    def _weighted(self, start: Token) -> Statement:
        weight = self._weight()
        content = self._content()
        if self.accept("."):
            if weight is not None:
                self.fail(
                    "a statement has a weight or a final dot, not both",
                    "drop the dot to keep it soft, or the weight to make it hard",
                    start,
                )
            weight = HARD
        self.end_of_statement()
        return Statement(content, weight, self.source.place(start.start))

    def _weight(self) -> float | None:
        negative = self.at("-") and self.peek().kind == "number"
        number = self.peek() if negative else self.token
        after = self.peek(2 if negative else 1)
        if number.kind != "number" or after.text in _COMPARISONS:
            return None
        if float(number.text) == HARD:
            self.fail("the weight is too large", "a final dot makes a statement hard", number)
        self.index += 2 if negative else 1
        return -float(number.text) if negative else float(number.text)

    def _whole_formula(self) -> Formula:
        start = self.token
        formula = self.formula()
        if height(formula) > MAX_DEPTH:
            message = f"nested more than {MAX_DEPTH} levels deep"
            self.fail(message, "split the expression", start)
        return formula

    def _content(self) -> Rule | Formula:
        formula = self._whole_formula()
        arrow = self.accept(":-")
        if not arrow:
            return formula
        if not isinstance(formula, Atom):
            self.fail("the head of a definite clause is one positive atom", "", arrow)
        body = self._whole_formula()
        literals = []
        for part in body.parts if isinstance(body, And) else (body,):
            clause = as_clause(part)
            if clause is None or isinstance(part, Or):
                self.fail("the body of a definite clause is a conjunction of literals", "", arrow)
            literals.append(clause.literals[0])
        return Rule(Literal(formula), tuple(literals))

    # formulas, loosest first

    def _joined_by(self, *signs: str) -> Token | None:
        """Read an operator, also one that starts the next line: then the statement goes on there."""
        index = self.index
        while self.tokens[index].kind == "newline":
            index += 1
        token = self.tokens[index]
        starts_line = index > self.index
        if token.text not in signs or token.kind == "quoted":
            return None
        if starts_line and token.text == "v" and self.tokens[index + 1].text == "=":
            return None  # the next line declares a type that is called v
        self.index = index + 1
        self.skip_newlines()
        return token

    def formula(self) -> Formula:
        with self.nested():
            left = self._implication()
            while self._joined_by("<=>"):
                left = Iff(left, self._implication())
            return left

    def _implication(self) -> Formula:
        left = self._disjunction()
        if not self._joined_by("=>"):
            return left
        with self.nested():
            return Implies(left, self._implication())

    def _disjunction(self) -> Formula:
        parts = [self._conjunction()]
        while self._joined_by("v"):
            parts.append(self._conjunction())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _conjunction(self) -> Formula:
        parts = [self._unary()]
        while self._joined_by("^"):
            parts.append(self._unary())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _unary(self) -> Formula:
        with self.nested():
            if self.accept("!"):
                return Not(self._unary())
            if self._is_quantifier():
                return self._quantified()
            return self._parenthesised() if self.at("(") else self._atom()

    def _parenthesised(self) -> Formula:
        """Read ``(formula)``, or a comparison whose left side starts with a parenthesis."""
        opening = self.index
        if self._closes_a_term():
            return self._atom()
        self.expect("(")
        self.skip_newlines()
        inside = self.formula()
        self.skip_newlines()
        self.close(opening, ")", "parentheses come in pairs")
        return inside

    def _closes_a_term(self) -> bool:
        """Whether an operator on terms follows the parenthesis that closes this one."""
        depth = 0
        for index in range(self.index, len(self.tokens)):
            depth += {"(": 1, ")": -1}.get(self.tokens[index].text, 0)
            if depth == 0:
                after = self.tokens[index + 1].text
                return after in _COMPARISONS or after in ("+", "-", "*", "/", "%", "++", "--")
        return False

    def _quantified(self) -> Formula:
        kind: Callable[[tuple[Variable, ...], Formula], Formula]
        kind = Exists if self.next().text == "Exist" else Forall
        variables = tuple(self.several(self._variable))
        return kind(variables, self._unary())

    def _variable(self) -> Variable:
        if not self.at_kind("name") or not self.token.text[:1].islower():
            self.fail(f"expected a variable but found {self.shown()}")
        return Variable(upper_first(self.next().text))

    def _atom(self) -> Atom:
        token = self.token
        if token.kind == "name" and token.text[:1].isupper() and not self._compares():
            return self._predicate_atom()
        self._refuse_lower_case_predicate()
        left = self._term()
        sign = self.token.text
        if sign not in _COMPARISONS:
            self.fail(f"expected a comparison but found {self.shown()}")
        self.next()
        return Atom(_COMPARISONS[sign], (left, self._term()))

    def _refuse_lower_case_predicate(self) -> None:
        token = self.token
        if self.peek().text != "(" or any(f.name == token.text for f in self.schema.functions):
            return
        hint = did_you_mean(token.text, self._spellings())
        if hint:
            self.fail(f"unknown predicate '{token.text}': they start in upper case", hint)

    def _spellings(self) -> list[str]:
        return [decl.spelling for decl in self.schema.predicates]

    def _compares(self) -> bool:
        return self.peek().text in _COMPARISONS or self.peek().text in ("+", "-", "*", "/", "%")

    def _predicate_atom(self) -> Atom:
        token = self.next()
        args = self.arguments(self._term) if self.at("(") else ()
        if token.text in _BUILT_INS:
            self.fail(f"{_BUILT_INS[token.text]} '{token.text}' is not supported", "", token)
        name = self.schema.internal_name(token.text)
        self._refuse_other_spelling(name, token)
        if self.schema.predicate(Signature(name, len(args))) is None:
            arities = self.schema.arities(name)
            if arities:
                expected = " or ".join(map(str, arities))
                message = f"'{token.text}' takes {expected} arguments, not {len(args)}"
                self.fail(message, "see its declaration", token)
            hint = did_you_mean(token.text, self._spellings()) or "declare it: Name(type, ...)"
            self.fail(f"unknown predicate '{token.text}'", hint, token)
        return Atom(name, args)

    # terms

    def _term(self) -> Term:
        left = self._product()
        while self.at("+", "-"):
            left = Function(self.next().text, (left, self._product()))
        return left

    def _product(self) -> Term:
        left = self._postfix()
        while self.at("*", "/", "%"):
            sign = self.next().text
            left = Function("mod" if sign == "%" else sign, (left, self._postfix()))
        return left

    def _postfix(self) -> Term:
        with self.nested():
            left = self._simple()
        if self.at("++", "--"):
            return Function(self.next().text[0], (left, Constant("1")))
        return left

    def _simple(self) -> Term:
        token = self.token
        if self.at("+"):
            self.fail(
                "'+variable' (one clause for each constant) is not supported", "write them out"
            )
        if self.accept("("):
            inside = self._term()
            self.expect(")", "parentheses come in pairs")
            return inside
        if token.kind == "name" and token.text[:1].islower():
            self.next()
            if not self.at("("):
                return Variable(upper_first(token.text))
            return self._function_term(token)
        if token.kind in ("name", "number", "quoted") or self.at("-"):
            return Constant(self._constant_name())
        return self.fail(f"expected a term but found {self.shown()}")

    def _function_term(self, token: Token) -> Function:
        args = self.arguments(self._term)
        if token.text in _BUILT_INS:
            self.fail(f"{_BUILT_INS[token.text]} '{token.text}' is not supported", "", token)
        if self.schema.function(Signature(token.text, len(args))) is None:
            arities = {decl.name: len(decl.args) for decl in self.schema.functions}
            if token.text in arities:
                message = f"'{token.text}' takes {arities[token.text]} arguments, not {len(args)}"
                self.fail(message, "see its declaration", token)
            hint = did_you_mean(token.text, arities) or "declare it: type name(types)"
            self.fail(f"unknown function '{token.text}'", hint, token)
        return Function(token.text, args)
