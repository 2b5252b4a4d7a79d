"""Names, numbers and terms as clingo reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from splice.logic.terms import VALUE, Constant, Term, Variable

LARGEST: Final = 2**31 - 1
"""The largest number that clingo has."""

VALUE_OF: Final = "value"
"""The functor of a fluent and its value."""

_NAME: Final = re.compile(r"[a-z][A-Za-z0-9_]*\Z")
_WHOLE: Final = re.compile(r"(?:0|-?[1-9][0-9]{0,9})\Z")


def asp_term(term: Term, names: Mapping[Variable, str]) -> str:
    """Write a term; ``names`` spells its variables."""
    if isinstance(term, Variable):
        return names[term]
    if isinstance(term, Constant):
        return asp_constant(term.name)
    name = VALUE_OF if term.functor == VALUE else term.functor
    return f"{name}({','.join(asp_term(arg, names) for arg in term.args)})"


def asp_constant(name: str) -> str:
    r"""Write a constant: a whole number, a plain name, or a string.

    >>> print(asp_constant("34"), asp_constant("walking"), asp_constant("ID1"), asp_constant("007"))
    34 walking "ID1" "007"
    """
    if _WHOLE.match(name) and abs(int(name)) <= LARGEST:
        return name
    return name if asp_name(name) else f'"{_escaped(name)}"'


def asp_name(name: str) -> str | None:
    """Return a name as it is where clingo can read it, else None."""
    return name if _NAME.match(name) and name != "not" else None


def _escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
