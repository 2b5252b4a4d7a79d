"""The choices of supervision completion as people write them: in options and in TOML files.

Each choice is a word, then what it takes, between colons: ``knn:2:labelled``,
``ground:hausdorff``, ``tiny:1e-4``. Where the rest is left out, the usual value is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, Final, TypeVar

from splice.completion.strategies import (
    KNN,
    Caching,
    ClassMass,
    Connector,
    Direction,
    Distance,
    EpsilonNN,
    Ground,
    Harmonic,
    Identity,
    LabelPropagation,
    LabelSpreading,
    Lifted,
    LogOdds,
    Neighbours,
    Numbers,
    OrderedRows,
    Profile,
    PseudoInverse,
    SetRule,
    Solver,
    Temporal,
    Threshold,
    TinyWeight,
    Unreached,
    Zero,
)
from splice.completion.strategies import profile as named_profile
from splice.errors import SpliceError, did_you_mean

__all__ = [
    "as_plain",
    "caching_of",
    "connector_of",
    "distance_of",
    "profile_of",
    "solver_of",
    "threshold_of",
]

T = TypeVar("T")

_LONGEST: Final = 20

_CONNECTORS: Final = "knn:2, knn:2:labelled, knn:2:all:union, enn:0.75"
_DISTANCES: Final = "lifted, ground, lifted:hausdorff, ground:matching:value"
_THRESHOLDS: Final = "zero, zero:0.1, logodds, classmass"
_SOLVERS: Final = (
    "harmonic, harmonic:abstain, tiny:1e-4, pinv, ordered:1e-4, propagation, spreading:0.2"
)


class _Words:
    """The words of a choice, taken one after the other."""

    def __init__(self, what: str, text: str, examples: str) -> None:
        self._what, self._text = what, text
        self._examples = examples
        self._left = [word.strip() for word in text.lower().split(":")]

    def bad(self, why: str, hint: str = "") -> SpliceError:
        """Return an error about the whole text."""
        return SpliceError(
            f"'{self._text}' is not a {self._what}: {why}", hint or f"write {self._examples}"
        )

    def head(self, known: Iterable[str]) -> str:
        """Take the first word, which must be a known one."""
        word, choices = self._left.pop(0), list(known)
        if word not in choices:
            near = did_you_mean(word, choices)
            raise self.bad(f"unknown '{word}'" if word else "nothing is said", near)
        return word

    def whole(self, usual: int) -> int:
        """Take a whole number, or the usual one where nothing follows."""
        return int(self._number(r"[0-9]+", "a whole number")) if self._left else usual

    def number(self, usual: float) -> float:
        """Take a number, or the usual one where nothing follows."""
        pattern = r"[0-9]*\.?[0-9]+(e[+-]?[0-9]{1,2})?"
        return float(self._number(pattern, "a number")) if self._left else usual

    def _number(self, pattern: str, what: str) -> str:
        word = self._left.pop(0)
        if len(word) > _LONGEST or not re.fullmatch(pattern, word):
            raise self.bad(f"'{word}' is not {what}")
        return word

    def choice(self, values: type[Enum], usual: Any) -> Any:
        """Take one of the values of an enumeration, or the usual one where none follows."""
        if not self._left:
            return usual
        word = self._left.pop(0)
        known = {str(value.value): value for value in values}
        if word not in known:
            raise self.bad(f"'{word}' is none of {', '.join(known)}", did_you_mean(word, known))
        return known[word]

    def end(self, value: T) -> T:
        """Return the finished choice; nothing may be left."""
        if self._left:
            raise self.bad(f"'{':'.join(self._left)}' is too much")
        return value


def connector_of(text: str) -> Connector:
    """Return the connector that a text names.

    >>> connector_of("knn:2:labelled")
    KNN(k=2, neighbours=<Neighbours.LABELLED: 'labelled'>,
        direction=<Direction.DIRECTED: 'directed'>)
    >>> connector_of("enn:0.75").epsilon
    0.75
    """
    words = _Words("connector", text, _CONNECTORS)
    found: Connector
    if words.head(("knn", "enn")) == "knn":
        found = KNN(words.whole(2))
    else:
        found = EpsilonNN(words.number(0.75))
    found = replace(found, neighbours=words.choice(Neighbours, Neighbours.ALL))
    found = replace(found, direction=words.choice(Direction, Direction.DIRECTED))
    return words.end(found)


def distance_of(text: str) -> Distance:
    """Return the distance that a text names.

    >>> distance_of("lifted:hausdorff").sets
    <SetRule.HAUSDORFF: 'hausdorff'>
    """
    words = _Words("distance", text, _DISTANCES)
    lifted = words.head(("lifted", "ground")) == "lifted"
    sets = words.choice(SetRule, SetRule.MATCHING)
    numbers = words.choice(Numbers, Numbers.EQUAL)
    return words.end(Lifted(sets, numbers) if lifted else Ground(sets, numbers))


def threshold_of(text: str) -> Threshold:
    """Return the threshold that a text names.

    >>> threshold_of("zero"), threshold_of("logodds")
    (Zero(at=0.0), LogOdds())
    """
    words = _Words("threshold", text, _THRESHOLDS)
    name = words.head(("zero", "logodds", "classmass"))
    if name == "zero":
        return words.end(Zero(words.number(0.0)))
    return words.end(LogOdds() if name == "logodds" else ClassMass())


def solver_of(text: str) -> Solver:
    """Return the solver that a text names.

    >>> solver_of("tiny:1e-4"), solver_of("pinv")
    (TinyWeight(weight=0.0001), PseudoInverse(weight=0.0))
    """
    words = _Words("solver", text, _SOLVERS)
    makers: dict[str, Callable[[], Solver]] = {
        "harmonic": lambda: Harmonic(words.choice(Unreached, Unreached.NEGATIVE)),
        "tiny": lambda: TinyWeight(words.number(1e-4)),
        "pinv": lambda: PseudoInverse(words.number(0.0)),
        "ordered": lambda: OrderedRows(words.number(1e-4)),
        "propagation": lambda: LabelPropagation(words.whole(1000)),
        "spreading": lambda: LabelSpreading(words.number(0.2)),
    }
    return words.end(makers[words.head(makers)]())


def caching_of(value: object, usual: Caching | None) -> Caching | None:
    """Return the cache that a value names: false for none, or a table of what is unusual.

    >>> caching_of({"filter": "none"}, Caching()).filter
    <Filter.NONE: 'none'>
    >>> caching_of(False, Caching()) is None
    True
    """
    if value is False:
        return None
    base = usual or Caching()
    if value is True:
        return base
    if not isinstance(value, Mapping):
        raise SpliceError(
            f"'{value}' is not a cache",
            'write false, or a table: { delta = 1e-4, filter = "none" }',
        )
    return replace(base, **{name: _field(base, name, given) for name, given in value.items()})


def _field(base: Caching, name: str, given: object) -> Any:
    """Return the value of one field of a cache, an enumeration's by its word."""
    known = [field.name for field in fields(base)]
    if name not in known:
        hint = did_you_mean(name, known) or f"known: {', '.join(known)}"
        raise SpliceError(f"a cache has no '{name}'", hint)
    now = getattr(base, name)
    if isinstance(now, Enum):
        words = _Words(f"'{name}' of a cache", str(given), "one of them")
        return words.end(words.choice(type(now), now))
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise SpliceError(f"'{name}' of a cache is a number, not '{given}'")
    return given if name == "cap" else float(given)


def profile_of(name: str, changes: Mapping[str, object] | None = None) -> Profile:
    """Return a profile, with the changes that a table of words asks for.

    ``links`` is the strength of the temporal links, or false for none.

    >>> profile_of("paper", {"connector": "knn:3", "links": 100}).links
    Temporal(strength=100.0)
    """
    base = named_profile(name)
    known = [*_TEXTS, "caching", "identity", "links", "margin"]
    made: dict[str, object] = {}
    for key, value in (changes or {}).items():
        if key not in known:
            hint = did_you_mean(key, known) or f"known: {', '.join(known)}"
            raise SpliceError(f"completion has no choice '{key}'", hint)
        made[key] = _choice(key, value, base)
    return replace(base, **made)  # type: ignore[arg-type]


_TEXTS: Final[dict[str, Callable[[str], object]]] = {
    "connector": connector_of,
    "distance": distance_of,
    "solver": solver_of,
    "threshold": threshold_of,
}


def _choice(key: str, value: object, base: Profile) -> object:
    if key in _TEXTS:
        return _TEXTS[key](str(value))
    if key == "caching":
        return caching_of(value, base.caching)
    if key == "identity":
        words = _Words("identity of patterns", str(value), "shared or literalwise")
        return words.end(words.choice(Identity, base.identity))
    if key == "links" and value is False:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SpliceError(f"'{key}' is a number, not '{value}'", "links may also be false")
    return Temporal(float(value)) if key == "links" else float(value)


def as_plain(value: object) -> Any:
    """Return a strategy as JSON knows it: every choice with its name, so equal means equal.

    >>> as_plain(KNN(2))
    {'KNN': {'k': 2, 'neighbours': 'all', 'direction': 'directed'}}
    """
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        inside = {field.name: as_plain(getattr(value, field.name)) for field in fields(value)}
        return {type(value).__name__: inside}
    return value
