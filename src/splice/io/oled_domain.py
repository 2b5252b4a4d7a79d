"""What OLED's mode declarations say together: a schema, modes, the target, and what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from splice.errors import Problem
from splice.logic.atoms import Atom, Literal
from splice.logic.domain import DEFAULT_QUERY, Domain
from splice.logic.lexer import SourceText, Token
from splice.logic.modes import INPUT, OUTPUT, UNBOUNDED, Marker, Mode, Modes
from splice.logic.schema import (
    EVENT_CALCULUS,
    HAPPENS_AT,
    HOLDS_AT,
    INITIATED_AT,
    TERMINATED_AT,
    TIME,
    FunctionDecl,
    PredicateDecl,
    Schema,
    Signature,
)
from splice.logic.terms import VALUE, Function, Term, Variable

_HEADS: Final = (INITIATED_AT, TERMINATED_AT)
_TIMED: Final = (HAPPENS_AT, HOLDS_AT, *_HEADS)

_MARKERS: Final = {"+": INPUT, "-": OUTPUT, "#": Marker(".", constant=True)}


@dataclass(frozen=True, slots=True)
class Leaf:
    """A placemarker: ``+person``."""

    sign: Token
    type: str

    @property
    def token(self) -> Token:
        """Where it starts."""
        return self.sign


@dataclass(frozen=True, slots=True)
class Node:
    """A predicate or a function and its arguments."""

    token: Token
    args: tuple[Node | Leaf, ...]

    @property
    def signature(self) -> Signature:
        """The name and the number of arguments."""
        return Signature(self.token.text, len(self.args))

    @property
    def bare(self) -> Node:
        """The fluent without its value: ``light(+lamp)`` of ``light(+lamp)=#colour``."""
        inner = self.args[0]
        return inner if self.token.text == VALUE and isinstance(inner, Node) else self

    def nodes(self) -> Iterator[Node]:
        """Yield the node and all that are inside it."""
        yield self
        for arg in self.args:
            yield from () if isinstance(arg, Leaf) else arg.nodes()

    def leaves(self) -> Iterator[Leaf]:
        """Yield the placemarkers from left to right."""
        for arg in self.args:
            yield from (arg,) if isinstance(arg, Leaf) else arg.leaves()


@dataclass(frozen=True, slots=True)
class Declaration:
    """One line of a mode file.

    Parameters
    ----------
    keyword
        ``modeh``, ``modeb``, ...
    atom
        What it speaks of.
    positive
        Whether that may stand in a rule as it is, or negated.
    path
        The places that lead to the number which a comparison is about.
    """

    keyword: Token
    atom: Node
    positive: bool = True
    path: tuple[Token, ...] = ()


def atom_of(node: Node) -> Atom:
    """Return what a declaration speaks of as an atom, each leaf the variable that names its type."""
    return Atom(node.token.text, _leaves(node))


def domain_of(
    declarations: Sequence[Declaration], source: SourceText
) -> tuple[Domain, list[Problem]]:
    """Return what declarations mean, as far as they make sense, and every problem with them."""
    builder = _Builder(source)
    for declaration in declarations:
        builder.add(declaration)
    for declaration in declarations:
        if declaration.path:
            builder.compare(declaration)
    return builder.domain(), builder.problems


_Symbol = tuple[bool, Signature]
"""Whether it is a function, and what it is called."""


@dataclass
class _Entry:
    """What is known of a predicate or a function."""

    types: tuple[str, ...]
    returns: str
    markers: list[Marker]
    visible: bool = False
    declared: bool = False
    """Whether the markers are those of a mode, and not only of an input."""


@dataclass
class _Builder:
    source: SourceText
    problems: list[Problem] = field(default_factory=list)
    entries: dict[_Symbol, _Entry] = field(default_factory=dict)
    literals: dict[Literal, None] = field(default_factory=dict)
    heads: dict[Signature, None] = field(default_factory=dict)
    patterns: dict[Signature, Token] = field(default_factory=dict)

    def fail(self, token: Token, message: str, hint: str = "") -> None:
        self.problems.append(self.source.problem(token.start, message, hint))

    def add(self, declaration: Declaration) -> None:
        """Take in a declaration, or note what is wrong with it."""
        keyword, atom = declaration.keyword.text, declaration.atom
        before = len(self.problems)
        self._check(declaration)
        if len(self.problems) > before or keyword == "comparisonPredicate":
            return
        if keyword in ("modeh", "modeb"):
            literal = Literal(atom_of(atom), declaration.positive)
            self.literals[literal] = None
        fluent = atom.args[0]
        if isinstance(fluent, Node) and keyword == "modeh":
            self.heads[fluent.bare.signature] = None
        elif isinstance(fluent, Node) and keyword == "examplePattern":
            self.patterns.setdefault(fluent.bare.signature, fluent.bare.token)
        self._note(atom, is_function=False, keyword=keyword, returns="")

    def _check(self, declaration: Declaration) -> None:
        keyword, name = declaration.keyword.text, declaration.atom.token
        if not declaration.positive and keyword != "modeb":
            self.fail(name, f"{keyword} cannot be negated", "only modeb(not ...) can")
        if keyword == "modeh" and name.text not in _HEADS:
            hint = f"heads are {' and '.join(_HEADS)} of a fluent"
            self.fail(name, f"'{name.text}' cannot be a head", hint)
        elif keyword == "modeb" and name.text in (HOLDS_AT, *_HEADS):
            hint = "what is learned is no condition; state it as an event, or name it otherwise"
            self.fail(name, f"'{name.text}' cannot stand in a body", hint)
        elif keyword == "examplePattern" and name.text != HOLDS_AT:
            hint = f"write examplePattern({HOLDS_AT}(fluent(+type),+time))"
            self.fail(name, f"'{name.text}' is not what is annotated", hint)
        if name.text in _TIMED:
            self._check_timed(declaration.atom)
        self._check_leaves(declaration)

    def _check_leaves(self, declaration: Declaration) -> None:
        """Check the arguments of fluents that are learned, and where values may stand."""
        target = declaration.keyword.text in ("modeh", "examplePattern")
        values = [node for node in declaration.atom.nodes() if node.token.text == VALUE]
        for value in values:
            if not target or value is not declaration.atom.args[0]:
                hint = "only the fluent of modeh and of examplePattern has one"
                self.fail(value.token, "a value cannot stand here", hint)
        kept = {id(value.args[1]) for value in values}
        for leaf in declaration.atom.leaves() if target else ():
            if id(leaf) in kept and leaf.sign.text != "#":
                hint = f"write #{leaf.type}: every value has rules of its own"
                self.fail(leaf.sign, f"'{leaf.sign.text}{leaf.type}' as a value", hint)
            elif id(leaf) not in kept and leaf.sign.text != "+":
                hint = f"write +{leaf.type}: every argument of a fluent becomes a variable"
                self.fail(leaf.sign, f"'{leaf.sign.text}{leaf.type}' in a head", hint)

    def _check_timed(self, atom: Node) -> None:
        name = atom.token.text
        what = "event" if name == HAPPENS_AT else "fluent"
        hint = f"write {name}({what}(+type),+{TIME})"
        if len(atom.args) != 2:
            self.fail(atom.token, f"'{name}' takes 2 arguments, not {len(atom.args)}", hint)
            return
        first, second = atom.args
        if isinstance(first, Leaf):
            self.fail(first.token, f"'{name}' must name its {what}", hint)
        if not isinstance(second, Leaf) or second.type != TIME or second.sign.text != "+":
            self.fail(second.token, f"'{name}' ends with its time", hint)

    def _note(self, node: Node, *, is_function: bool, keyword: str, returns: str) -> None:
        """Learn the types and the markers of a predicate or a function, and of those inside."""
        # A place that holds a function has no type in the file: it gets that of the Event Calculus, or one
        # that is called after the place. What stands there is new, since the function is bound as a whole.
        usual = None if is_function else EVENT_CALCULUS.get(node.signature)
        types, markers = [], []
        for i, arg in enumerate(node.args):
            if isinstance(arg, Leaf):
                types.append(arg.type)
                markers.append(_MARKERS[arg.sign.text])
            else:
                types.append(usual.args[i] if usual else f"{node.token.text}_{i + 1}")
                markers.append(OUTPUT)
                self._note(arg.bare, is_function=True, keyword=keyword, returns=types[-1])
        entry = self.entries.setdefault(
            (is_function, node.signature), _Entry(tuple(types), returns, markers)
        )
        self._agree(node, entry, (*types, returns))
        if keyword in ("modeh", "modeb"):
            self._declare(node, entry, markers)

    def _agree(self, node: Node, entry: _Entry, types: tuple[str, ...]) -> None:
        places = (*(arg.token for arg in node.args), node.token)
        for token, here, before in zip(places, types, (*entry.types, entry.returns), strict=True):
            if here != before:
                message = f"'{node.token.text}' has type '{here}' here and '{before}' before"
                self.fail(token, message, "a place has one type")

    def _declare(self, node: Node, entry: _Entry, markers: list[Marker]) -> None:
        if not entry.declared:
            entry.markers = list(markers)
        entry.visible = entry.declared = True
        for i, marker in enumerate(markers):
            if marker.constant != entry.markers[i].constant:
                message = f"'{node.token.text}' keeps this place as a constant in one mode only"
                self.fail(node.args[i].token, message, "mark it '#' in all modes, or in none")
            elif marker == OUTPUT:
                entry.markers[i] = OUTPUT

    def compare(self, declaration: Declaration) -> None:
        """Mark the place that a comparison is about as a number."""
        atom = declaration.atom
        literal = Literal(atom_of(atom))
        if literal not in self.literals and -literal not in self.literals:
            self.fail(atom.token, f"no modeb speaks of this '{atom.token.text}'", "add one")
            return
        node: Node | Leaf = atom
        owner, place = atom, 0
        for token in declaration.path:
            number = int(token.text[:9])
            if isinstance(node, Leaf) or not 0 < number <= len(node.args):
                self.fail(token, f"there is no place {token.text}", "places count from 1")
                return
            owner, place, node = node, number - 1, node.args[number - 1]
        markers = self.entries[owner is not atom, owner.signature].markers
        if isinstance(node, Node) or not (markers[place].constant or markers[place] == OUTPUT):
            last = declaration.path[-1]
            hint = "mark it '#type' in modeb if it is a threshold, '-type' if it is measured"
            self.fail(last, "the place of a comparison is no number", hint)
            return
        markers[place] = replace(markers[place], numeric=True)

    def domain(self) -> Domain:
        """Return the domain, once all declarations are in."""
        self._check_target()
        modes = [
            Mode(
                signature,
                UNBOUNDED if entry.visible else 0,
                tuple(entry.markers),
                is_function=is_function,
            )
            for (is_function, signature), entry in self.entries.items()
            if is_function or signature.name not in (HOLDS_AT, *_HEADS)
        ]
        modes.append(Mode(DEFAULT_QUERY, 0, (INPUT, INPUT)))
        fluents = dict.fromkeys(name for name, _ in self.patterns or self.heads)
        return Domain(
            schema=Schema(predicates=self._predicates(), functions=self._functions()),
            modes=Modes(tuple(modes), frozenset(self.literals)),
            fluents=tuple(fluents),
        )

    def _check_target(self) -> None:
        if self.problems:
            return
        start = Token("", "", 0)
        if not self.heads:
            hint = f"add modeh({INITIATED_AT}(fluent(+type),+{TIME}))"
            self.fail(start, "no modeh: nothing is to be learned", hint)
        elif not any(literal.atom.predicate not in _HEADS for literal in self.literals):
            hint = f"add modeb({HAPPENS_AT}(event(+type),+{TIME}))"
            self.fail(start, "no modeb: rules would have no conditions", hint)
        for signature, token in self.patterns.items():
            if self.heads and signature not in self.heads:
                hint = f"add modeh({INITIATED_AT}({signature.name}(...),+{TIME}))"
                self.fail(token, f"no modeh speaks of the fluent '{signature}'", hint)

    def _predicates(self) -> tuple[PredicateDecl, ...]:
        return tuple(
            PredicateDecl(signature.name, entry.types)
            for (is_function, signature), entry in self.entries.items()
            if not is_function and signature not in EVENT_CALCULUS
        )

    def _functions(self) -> tuple[FunctionDecl, ...]:
        return tuple(
            FunctionDecl(signature.name, entry.types, entry.returns)
            for (is_function, signature), entry in self.entries.items()
            if is_function
        )


def _leaves(node: Node) -> tuple[Term, ...]:
    """Return the arguments as terms, each leaf the variable that names its type."""
    return tuple(
        Variable(f"_{arg.type}")
        if isinstance(arg, Leaf)
        else Function(arg.token.text, _leaves(arg))
        for arg in node.args
    )
