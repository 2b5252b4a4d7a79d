"""OLED's mode files: what may stand in the heads and the bodies of rules, one declaration a line.

::

    modeh(initiatedAt(meet(+person,+person),+time))
    modeh(terminatedAt(light(+lamp)=#colour,+time))
    modeb(happensAt(active(+person),+time))
    modeb(not happensAt(disappear(+person),+time))
    modeb(close(+person,+person,#distance,+time))
    examplePattern(holdsAt(meet(+person,+person),+time))
    inputPredicate(happensAt(walking(+person),+time))
    comparisonPredicate(close(+person,+person,#distance,+time), lessThan, comparison_term_position(3))

Every leaf is a placemarker: ``+type`` for something known, ``-type`` for something new, ``#type`` for a
constant that stays one; the value of a fluent is one. What no ``modeb`` names is invisible, and only what a ``modeb(not ...)`` names
may be negated (:meth:`splice.logic.modes.Modes.allows`). The annotated fluents are the target;
without an ``examplePattern`` they are those of the heads. A ``comparisonPredicate`` marks a constant
as a number.

The predicates of the Event Calculus are not declared: data may spell them in more than one way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from splice.errors import InputError, Problem, did_you_mean
from splice.io.line_cursor import LineCursor
from splice.io.oled_domain import Declaration, Leaf, Node, atom_of, domain_of
from splice.io.text import read_text
from splice.logic.atoms import Atom, Literal
from splice.logic.domain import Domain
from splice.logic.lexer import Lexicon, SourceText, Token
from splice.logic.modes import Modes
from splice.logic.schema import HOLDS_AT, Schema, Signature
from splice.stream.vocabulary import Kind

_LEXICON: Final = Lexicon(
    patterns=(
        ("name", r"[A-Za-z_][A-Za-z0-9_]*"),
        ("number", r"[0-9]+"),
        ("sign", r"[-(),.#+=]"),
    ),
    line_comment="%",
    newlines=True,
)

_KEYWORDS: Final = ("modeh", "modeb", "examplePattern", "inputPredicate", "comparisonPredicate")
_ORDERS: Final = ("lessThan", "greaterThan")
_POSITION: Final = "comparison_term_position"
_PLACES: Final = "each leaf is +type, -type or #type"

_FIRST: Final = re.compile(
    rf"^[ \t]*(?:(%|(?:{'|'.join(_KEYWORDS)}|lookahead)\b)|mode[PF]|//|/\*)", re.MULTILINE
)


def is_oled_modes(text: str) -> bool:
    """Return whether modes are written in OLED's language, by their first line.

    >>> is_oled_modes("modeb(p(+id))"), is_oled_modes("modeP(1, P(+))")
    (True, False)
    """
    first = _FIRST.search(text)
    return first is not None and first[1] is not None


def parse_oled_modes(text: str, file: str = "<modes>") -> Domain:
    """Read mode declarations as a domain: types, modes, and what is to be learned.

    >>> domain = parse_oled_modes('''
    ... modeh(initiatedAt(meet(+person,+person),+time))
    ... modeb(close(+person,+person,#distance,+time))
    ... ''')
    >>> domain.fluents, [str(decl) for decl in domain.schema.predicates]
    (('meet',), ['Close(person,person,distance,time)'])
    >>> print(domain.modes)
    modeP(*, Close(+,+,#.,+))
    modeP(0, HoldsAt(+,+))
    modeF(*, meet(+,+))
    """
    source = SourceText(text, file)
    readable, problems = declarations(source)
    domain, more = domain_of(readable, source)
    if problems or more:
        raise InputError(problems or more)
    return domain


def declarations(source: SourceText) -> tuple[list[Declaration], list[Problem]]:
    """Return the declarations that can be read, and every problem of the others."""
    parser = _Parser(source)
    return parser.statements(parser.declaration)


class _Parser(LineCursor):
    lexicon = _LEXICON

    def declaration(self) -> Declaration:
        keyword = self._keyword()
        self.next()
        opening = self.index
        self.expect("(")
        positive = not (self.at("not") and self.next())
        atom = self._node("a predicate")
        path: tuple[Token, ...] = ()
        if keyword.text == "comparisonPredicate":
            path = self._comparison()
        self.close(opening, ")", "a declaration ends with ')'")
        self.accept(".")
        if not self.at_line_end:
            self.fail(f"unexpected {self.shown()} after the declaration", "one declaration a line")
        return Declaration(keyword, atom, positive, path)

    def _keyword(self) -> Token:
        token = self.token
        if token.text == "lookahead":
            self.fail(
                "lookahead is not supported",
                "remove the line: refinements may add two literals at once (--depth 2)",
            )
        if token.text not in _KEYWORDS:
            hint = did_you_mean(token.text, _KEYWORDS) or f"write {', '.join(_KEYWORDS)}"
            self.fail(f"expected a mode declaration but found {self.shown()}", hint)
        return token

    def _node(self, what: str) -> Node:
        name = self._name(what)
        opening = self.index
        if not self.accept("("):
            self.fail(f"'{name.text}' has no arguments", _PLACES, at=name)
        with self.nested():
            args = self.several(self._argument)
        self.close(opening, ")", "arguments are separated by commas and closed by ')'")
        return Node(name, tuple(args))

    def _argument(self) -> Node | Leaf:
        if self.at("+", "-", "#"):
            sign = self.next()
            return Leaf(sign, self._name("a type").text)
        if not self.at_kind("name") or self.peek().text != "(":
            self.fail(f"expected a placemarker but found {self.shown()}", _PLACES)
        node = self._node("a function")
        if not self.at("="):
            return node
        sign = self.next()
        if not self.at("+", "-", "#"):
            self.fail(f"expected a value but found {self.shown()}", "write fluent(+type)=#type")
        return Node(sign, (node, Leaf(self.next(), self._name("a type").text)))

    def _name(self, what: str) -> Token:
        if not self.at_kind("name"):
            self.fail(f"expected {what} but found {self.shown()}")
        if not self.token.text[0].islower():
            self.fail(f"'{self.token.text}' is not {what}", "names start with a lower-case letter")
        return self.next()

    def _comparison(self) -> tuple[Token, ...]:
        self.expect(",", "say lessThan or greaterThan")
        if not self.at(*_ORDERS):
            hint = did_you_mean(self.token.text, _ORDERS) or "write lessThan or greaterThan"
            self.fail(f"expected an order but found {self.shown()}", hint)
        self.next()
        self.expect(",", f"say which place: {_POSITION}(3)")
        self.expect(_POSITION, f"write {_POSITION}(3)")
        opening = self.index
        self.expect("(")
        path = self.several(self._place)
        self.close(opening, ")")
        return tuple(path)

    def _place(self) -> Token:
        if not self.at_kind("number"):
            self.fail(f"expected a place but found {self.shown()}", "places count from 1")
        return self.next()


def unseen_modes(path: Path, kinds: Sequence[Kind]) -> list[Problem]:
    """Return the modes of a file that no kind of atom of an input is like, each with its place.

    Modes in LoMRF's language name predicates and functions, not atoms: of these none is told.
    """
    text = read_text(path)
    if not is_oled_modes(text):
        return []
    source = SourceText(text, str(path))
    return list(_unseen(source, declarations(source)[0], kinds))


def _unseen(
    source: SourceText, modes: Sequence[Declaration], kinds: Sequence[Kind]
) -> Iterator[Problem]:
    for declaration in modes:
        if declaration.keyword.text not in ("modeh", "modeb"):
            continue
        node, atom = declaration.atom, atom_of(declaration.atom)
        if declaration.keyword.text == "modeh":
            atom = Atom(HOLDS_AT, atom.args)
        like = Modes(literals=frozenset([Literal(atom)]))
        if any(like.allows(Literal(kind.template)) for kind in kinds):
            continue
        near = [kind for kind in kinds if kind.signature == atom.signature]
        if near and isinstance(node.args[0], Node):
            node = node.args[0].bare
            names = sorted({kind.functor for kind in near if kind.functor})
        else:
            names = sorted({kind.predicate for kind in kinds})
        hint = did_you_mean(node.token.text, [name for name in names if name != node.token.text])
        shown = f"{node.token.text}({','.join(_marked(arg) for arg in node.args)})"
        yield source.problem(
            node.token.start,
            f"the input has nothing like '{shown}'",
            hint or f"it has {', '.join(names) or 'nothing of this kind'}",
        )


def undeclared_modes(text: str, file: str, modes: Modes, schema: Schema) -> list[Problem]:
    """Return the modes that are about predicates or functions which a schema does not declare."""
    source = SourceText(text, file)
    places: dict[tuple[bool, Signature], int] = {}
    for declaration in declarations(source)[0]:
        for node in declaration.atom.nodes():
            key = node is not declaration.atom, node.signature
            places.setdefault(key, node.token.start)
    problems = []
    for mode in modes:
        declared = schema.function if mode.is_function else schema.predicate
        if mode.visible and declared(mode.signature) is None:
            decls = schema.functions if mode.is_function else schema.predicates
            names = [decl.name for decl in decls]
            hint = did_you_mean(mode.signature.name, names) or f"it has {', '.join(names)}"
            message = f"the domain does not declare '{mode.signature}'"
            start = places.get((mode.is_function, mode.signature), 0)
            problems.append(source.problem(start, message, hint))
    return problems


def _marked(arg: Node | Leaf) -> str:
    return f"{arg.sign.text}{arg.type}" if isinstance(arg, Leaf) else f"{arg.token.text}(...)"
