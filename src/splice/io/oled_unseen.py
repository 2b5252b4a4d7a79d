"""Which of OLED's mode declarations are about nothing that there is: misspelt, mostly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from splice.errors import Problem, did_you_mean
from splice.io.oled_domain import Declaration, Leaf, Node, atom_of
from splice.io.oled_modes import declarations, is_oled_modes
from splice.io.text import read_text
from splice.logic.atoms import Atom, Literal
from splice.logic.lexer import SourceText
from splice.logic.modes import Modes
from splice.logic.schema import HOLDS_AT, Schema, Signature
from splice.stream.vocabulary import Kind


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
    source: SourceText, found: Sequence[Declaration], kinds: Sequence[Kind]
) -> Iterator[Problem]:
    for declaration in found:
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
            known = sorted({kind.functor for kind in near if kind.functor})
        else:
            known = sorted({kind.predicate for kind in kinds})
        hint = did_you_mean(node.token.text, [name for name in known if name != node.token.text])
        shown = f"{node.token.text}({','.join(_marked(arg) for arg in node.args)})"
        yield source.problem(
            node.token.start,
            f"the input has nothing like '{shown}'",
            hint or f"it has {', '.join(known) or 'nothing of this kind'}",
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
        known = schema.function if mode.is_function else schema.predicate
        if mode.visible and known(mode.signature) is None:
            decls = schema.functions if mode.is_function else schema.predicates
            names = [decl.name for decl in decls]
            hint = did_you_mean(mode.signature.name, names) or f"it has {', '.join(names)}"
            message = f"the domain does not declare '{mode.signature}'"
            start = places.get((mode.is_function, mode.signature), 0)
            problems.append(source.problem(start, message, hint))
    return problems


def _marked(arg: Node | Leaf) -> str:
    return f"{arg.sign.text}{arg.type}" if isinstance(arg, Leaf) else f"{arg.token.text}(...)"
