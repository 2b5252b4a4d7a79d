"""Theories that ship: hand-written rules that are readable, and label streams like an oracle."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Final

from splice.errors import Problem, SpliceError, UnknownName, raise_problems
from splice.inputs.check import RULE_ENDINGS
from splice.io.lomrf.mln import parse_mln_all, read_mln_all
from splice.io.text import read_text
from splice.learners.options import NamedTheory
from splice.logic.domain import Holds
from splice.logic.syntax import parse_theory_all
from splice.logic.theory import Theory

__all__ = ["AXIOMS", "load_theory", "load_theory_all", "named_theory", "theory_names"]

AXIOMS: Final = "mln-ec"
"""The name of the axioms that ship: the Event Calculus as a knowledge base for Markov logic."""

_HOLDS: Final = re.compile(r"\A(?:[ \t]*(?:%|//)?[ \t]*\n)*(?:[ \t]*(?:%|//)[^\n]*\n)*?"
                           r"[ \t]*(?:%|//)[^\n]*\bholds (after|from)[ \t]*\n")  # fmt: skip
"""What the head of a learned theory says of its changes: the last words of a line of comment."""

_RULES: Final = ".rules"
_MLN: Final = ".mln"


def theory_names() -> tuple[str, ...]:
    """Return the names of the theories that ship.

    >>> theory_names()
    ('caviar-meet', 'caviar-move', 'pilotOps', 'rendezvous')
    """
    files = resources.files(__name__).iterdir()
    return tuple(sorted(f.name.removesuffix(_RULES) for f in files if f.name.endswith(_RULES)))


def load_theory(name_or_path: str | PathLike[str]) -> Theory:
    """Return a theory: one that ships, by its name, or one in a file of rules or a ``.mln``.

    A file without rules is a theory, too: a learner that finds no rule writes one.

    Parameters
    ----------
    name_or_path
        The name of a theory that ships, or a file.

    Examples
    --------
    >>> len(load_theory("caviar-meet"))
    8
    """
    theory, problems = load_theory_all(name_or_path)
    raise_problems(problems)
    return theory


def stated_holds(text: str) -> Holds | None:
    """Return when changes count in a theory, where the comments at its head say it.

    >>> stated_holds("% Learned from week.\\n% learner oled, holds from\\n\\np(X) :- q(X).")
    <Holds.FROM: 'from'>
    >>> stated_holds("p(X) :- q(X).\\n% holds from\\n") is None
    True
    """
    match = _HOLDS.match(text)
    return Holds(match[1]) if match else None


def named_theory(text: str) -> NamedTheory:
    """Return the theory that an option names, as :func:`load_theory` reads it."""
    return NamedTheory(Path(text).name, load_theory(text).statements)


def load_theory_all(name_or_path: str | PathLike[str]) -> tuple[Theory, list[Problem]]:
    """Return what can be read of a theory, and every problem of the rest."""
    name, path = str(name_or_path), Path(name_or_path)
    endings = (*RULE_ENDINGS, _MLN)
    if path.is_file() or path.suffix in endings:
        if path.is_file() and path.suffix not in endings:
            raise SpliceError(
                f"'{path}' is no theory by its name", f"theories end in {', '.join(endings)}"
            )
        text = read_text(path)
        theory, problems = (
            read_mln_all(path) if path.suffix == _MLN else parse_theory_all(text, name)
        )
        return replace(theory, holds=stated_holds(text)), problems
    if name == AXIOMS:
        file = f"{name}{_MLN}"
        return parse_mln_all((resources.files(__name__) / file).read_text("utf-8"), file)
    if name in theory_names():
        file = f"{name}{_RULES}"
        return parse_theory_all((resources.files(__name__) / file).read_text("utf-8"), file)
    if path.suffix or len(path.parts) > 1:
        raise SpliceError(f"there is no file '{name}'", f"theories end in {', '.join(endings)}")
    raise UnknownName("theory", name, (*theory_names(), AXIOMS))
