"""Strategies and their names: how a choice is written in options, in TOML files and in texts.

A strategy is one class in one file: a frozen dataclass of its parameters, with the methods that do
its work. ``register`` gives it a name; all else follows from the name and the dataclass's fields. The text
of a choice is the name, then the parameters in the order of the fields, between colons:
``knn:2:labelled``, ``ground:hausdorff``, ``tiny:1e-4``. What is left out has its default, whose type
says how the parameter is written.

>>> from dataclasses import dataclass
>>> rounding = Registry[Strategy]("rounding")
>>> @rounding.register("digits")
... @dataclass(frozen=True, slots=True)
... class Digits(Strategy):
...     kept: int = 2
>>> rounding.parse("digits:3"), str(Digits(3)), rounding.forms
(Digits(kept=3), 'digits:3', 'digits:2')
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, fields, is_dataclass
from enum import Enum
from typing import Any, ClassVar, Final, Generic, TypeVar, cast

from splice.errors import SpliceError, did_you_mean

_LONGEST: Final = 24
"""No number that is meant has more characters: those of the longest float."""

_WHOLE: Final = re.compile(r"[0-9]+")
_NUMBER: Final = re.compile(r"[0-9]*\.?[0-9]+(e[+-]?[0-9]{1,2})?")


class Strategy:
    """A choice: its parameters are the fields of a frozen dataclass, its work its methods."""

    __slots__ = ()

    name: ClassVar[str] = ""
    """The name it was registered under."""

    def __str__(self) -> str:
        """Return the text that names this choice, without trailing defaults."""
        parameters = _parameters(type(self))
        values = [getattr(self, each.name) for each in parameters]
        while parameters and values[-1] == parameters[-1].default:
            parameters, values = parameters[:-1], values[:-1]
        return ":".join((self.name, *(str(as_plain(value)) for value in values)))


S = TypeVar("S", bound=Strategy)
C = TypeVar("C", bound=Strategy)
E = TypeVar("E", bound=Enum)


class Registry(Generic[S]):
    """The strategies of one kind, by name."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.known: dict[str, type[S]] = {}

    def register(self, name: str) -> Callable[[type[C]], type[C]]:
        """Return a decorator that makes a dataclass known under a name.

        Every field has a default: a whole number, a number or a value of an enumeration.
        """

        def enter(cls: type[C]) -> type[C]:
            if name in self.known:
                raise SpliceError(f"there is a {self.what} '{name}' already", "choose another name")
            if not re.fullmatch(r"[a-z][a-z0-9_-]*", name):
                raise SpliceError(f"'{name}' cannot name a {self.what}", "use small letters")
            _check_fields(cls)
            cls.name = name
            self.known[name] = cast("type[S]", cls)
            return cls

        return enter

    @property
    def forms(self) -> str:
        """How each is written, numbers with their defaults and words with all that they may be."""
        return ", ".join(map(_form, self.known.values()))

    def parse(self, text: str) -> S:
        """Return the strategy that a text names."""
        name, *words = (word.strip() for word in text.lower().split(":"))
        if name not in self.known:
            why = f"unknown '{name}'" if name else "nothing is said"
            hint = did_you_mean(name, self.known) or f"write {', '.join(self.known)}"
            raise self._bad(text, why, hint)
        cls = self.known[name]
        parameters, hint = _parameters(cls), f"write {_form(cls)}"
        if len(words) > len(parameters):
            raise self._bad(text, f"'{':'.join(words[len(parameters) :])}' is too much", hint)
        try:
            given = {
                each.name: _read(word, each.default)
                for each, word in zip(parameters, words, strict=False)
            }
        except _NotRead as error:
            raise self._bad(text, error.why, error.hint or hint) from None
        return cls(**given)

    def _bad(self, text: str, why: str, hint: str) -> SpliceError:
        return SpliceError(f"'{text}' is not a {self.what}: {why}", hint)


class _NotRead(Exception):
    """A word that is not what the parameter takes."""

    def __init__(self, why: str, hint: str = "") -> None:
        super().__init__(why)
        self.why, self.hint = why, hint


def _parameters(cls: type[Strategy]) -> tuple[Field[Any], ...]:
    return fields(cls)  # type: ignore[arg-type]  # registered classes are dataclasses


def _check_fields(cls: Any) -> None:
    """Check that a class is a dataclass whose fields can be written as words."""
    name = cls.__name__
    if not is_dataclass(cls):
        raise SpliceError(f"{name} is not a dataclass", "write @dataclass(frozen=True)")
    for each in fields(cls):
        if isinstance(each.default, bool) or not isinstance(each.default, int | float | Enum):
            raise SpliceError(
                f"'{each.name}' of {name} has no default that says how it is written",
                "give it a whole number, a number or a value of an enumeration",
            )


def _form(cls: type[Strategy]) -> str:
    """Return how a strategy is written."""
    parts = [cls.name]
    for each in _parameters(cls):
        if isinstance(each.default, Enum):
            parts.append("|".join(str(value.value) for value in type(each.default)))
        else:
            parts.append(f"{each.default:g}")
    return ":".join(parts)


def _read(word: str, usual: Enum | float) -> object:
    """Return the value that a word has for a parameter with such a default."""
    if isinstance(usual, Enum):
        return _member(word, type(usual))
    whole = isinstance(usual, int)
    pattern, what = (_WHOLE, "a whole number") if whole else (_NUMBER, "a number")
    if len(word) > _LONGEST or not pattern.fullmatch(word):
        raise _NotRead(f"'{word}' is not {what}")
    return int(word) if whole else float(word)


def _member(word: str, values: type[E]) -> E:
    members = {str(value.value): value for value in values}
    if word not in members:
        raise _NotRead(f"'{word}' is none of {', '.join(members)}", did_you_mean(word, members))
    return members[word]


def word_of(value: object, values: type[E], what: str) -> E:
    """Return the member of an enumeration that a word of a table names."""
    try:
        return _member(str(value).lower().strip(), values)
    except _NotRead as error:
        raise SpliceError(f"'{value}' is not {what}: {error.why}", error.hint) from None


def number_of(value: object, what: str, hint: str = "") -> float:
    """Return a number of a table."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SpliceError(f"{what} is a number, not '{value}'", hint)
    return float(value)


def check_key(table: Mapping[str, object], keys: Iterable[str], what: str) -> None:
    """Check that a table has no other keys than the known ones."""
    names = list(keys)
    for key in table:
        if key not in names:
            hint = did_you_mean(key, names) or f"known: {', '.join(names)}"
            raise SpliceError(f"{what} '{key}'", hint)


def as_plain(value: object) -> Any:
    """Return a strategy as JSON knows it: every choice with its name, so equal means equal.

    >>> from splice.completion.connector import KNN
    >>> as_plain(KNN(2))
    {'KNN': {'k': 2, 'neighbours': 'all', 'direction': 'directed'}}
    """
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        inside = {each.name: as_plain(getattr(value, each.name)) for each in fields(value)}
        return {type(value).__name__: inside}
    if isinstance(value, tuple):
        return [as_plain(each) for each in value]
    return value
