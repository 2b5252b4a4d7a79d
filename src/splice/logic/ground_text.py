"""Ground terms as tables write them: the texts that name fluents, entities and sequences."""

from __future__ import annotations

import re
from typing import Final

from splice.logic.terms import VALUE, Function, Term, quoted

FUNCTION_TEXT: Final = re.compile(r"('(?:[^'\\]|\\.)*'|-?[^\W](?:[-\w:.]*\w)?)\(")
"""A text that begins so is a function: a name directly followed by a parenthesis."""

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
