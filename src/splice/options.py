"""Options declared once: the fields of a frozen dataclass, and all that follows from them.

A field has a type and a default; :func:`option` adds what people are told of it and the values that
are allowed. From this follow the checks of a value that is made in Python (:class:`Checked`), what the
words of a TOML file or of a command line mean (:func:`read_options`), the words of headings
(:func:`words_of`) and those by which a checkpoint tells runs apart (:func:`identity_of`).

>>> @dataclass(frozen=True, slots=True)
... class Counting(Checked):
...     at_most: int = option(3, "How many are counted.", at_least=1)
>>> read_options(Counting, {"at-most": 2}, "counting"), words_of(Counting(5))
(Counting(at_most=2), {'at-most': '5'})
>>> Counting(0)
Traceback (most recent call last):
splice.errors.SpliceError: at_most must be at least 1, not 0
"""

from __future__ import annotations

import hashlib
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from enum import Enum
from numbers import Real
from typing import Any, Final, TypeAlias, TypeVar

from splice.errors import SpliceError, UnknownName

T = TypeVar("T")

Readers: TypeAlias = Mapping[type, Callable[[str], Any]]
"""What reads texts that name something outside: a theory in a file."""

_LONG: Final = 60
"""Longer texts are told apart by their sums."""


@dataclass(frozen=True, slots=True)
class _Spec:
    """What is said of an option beside its type and its default."""

    about: str = ""
    spelling: str = ""
    metavar: str | None = None
    at_least: float | None = None
    at_most: float | None = None
    above: float | None = None
    below: float | None = None
    infinite: bool = False
    named: Mapping[str, object] | None = None
    read: Callable[[str], Any] | None = None
    write: Callable[[Any], str] | None = None
    kind: type | None = None
    usual: str = ""
    quiet: bool = False


def option(default: Any, about: str = "", **details: Any) -> Any:
    """Return the field of an option.

    Parameters
    ----------
    default
        Its default; the type says how it is written: a number, a word of an enumeration, a flag.
    about
        What the command says of it in its help. Without that the command does not have it; Python and TOML do.
    details
        ``spelling``: its name on the command line, where that is not the field's; ``metavar``: what
        stands for its value there. ``at_least``, ``at_most``, ``above``, ``below``: the numbers that
        are allowed; ``infinite``: whether they need not be finite. ``named``: values by their names,
        the default first. ``read``, ``write``: from text to value and back. ``kind``: what a caller's
        readers make of the text; ``usual``: the text that stands for the default. ``quiet``: headings
        tell it only where it is not the default.
    """
    return field(default=default, metadata={"option": _Spec(about, **details)})


def parts(default: Any) -> Any:
    """Return a field that is itself made of options: they are written as if they stood beside it."""
    return field(default=default, metadata={"parts": True})


@dataclass(frozen=True, slots=True)
class Declared:
    """An option of a dataclass: where its value is, and all that is said of it."""

    path: tuple[str, ...]
    default: Any
    spec: _Spec

    @property
    def name(self) -> str:
        """The name of the field."""
        return self.path[-1]

    @property
    def spelling(self) -> str:
        """The name on the command line, without the dashes before it."""
        return self.spec.spelling or self.name.replace("_", "-")

    @property
    def names(self) -> tuple[str, ...]:
        """All that a file may call it."""
        return tuple(dict.fromkeys((self.name, self.spelling, self.spelling.replace("-", "_"))))

    @property
    def on_command(self) -> bool:
        """Whether the command has it."""
        return bool(self.spec.about)

    @property
    def is_flag(self) -> bool:
        """Whether it is said or not said, without a value."""
        return isinstance(self.default, bool) or self.spec.named is not None

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers."""
        return isinstance(self.default, int | float) and not isinstance(self.default, bool)

    def value(self, options: object) -> Any:
        """Return its value among some options."""
        for name in self.path:
            options = getattr(options, name)
        return options

    def read(self, word: object, readers: Readers) -> Any:
        """Return the value that a word means."""
        spec, default = self.spec, self.default
        if spec.named is not None:
            return self._named(word, spec.named)
        if isinstance(default, Enum):
            if isinstance(word, type(default)):
                return word
            return self._member(str(word), {str(v.value): v for v in type(default)})
        if isinstance(default, bool):
            if not isinstance(word, bool):
                raise SpliceError(f"'{word}' is neither true nor false, for '{self.name}'")
            return word
        if self.is_number:
            return self._number(word)
        if spec.usual and word == spec.usual:
            return default
        read = readers.get(spec.kind) if spec.kind else spec.read
        if read is None:
            raise SpliceError(f"'{self.name}' cannot be said in words")
        return read(str(word))

    def _named(self, word: object, named: Mapping[str, object]) -> object:
        if word in (False, True):
            return list(named.values())[bool(word)]
        return self._member(str(word), named)

    def _member(self, word: str, values: Mapping[str, Any]) -> Any:
        if word not in values:
            raise UnknownName(self.name, word, values)
        return values[word]

    def _number(self, word: object) -> float:
        """Return a number, a whole one where the default is."""
        if isinstance(word, int | float) and not isinstance(word, bool):
            if isinstance(self.default, float):
                return float(word)
            if math.isfinite(word) and int(word) == word:
                return int(word)
        raise SpliceError(
            f"'{word}' is no number for '{self.name}'", f"the usual one is {self.default}"
        )

    def word(self, value: Any) -> str:
        """Return what is written for a value."""
        spec = self.spec
        if value == self.default and spec.usual:
            return spec.usual
        if spec.named is not None:
            return next((name for name, v in spec.named.items() if v == value), str(value))
        if spec.write is not None:
            return spec.write(value)
        if isinstance(value, Enum):
            return str(value.value)
        return f"{value:g}" if isinstance(value, float) else str(value)

    def exact(self, value: Any) -> str:
        """Return a text that only equal values have; it names them where that is short."""
        has_name = isinstance(value, Enum) or value == self.default
        text = self.word(value) if has_name else repr(value)
        if len(text) <= _LONG:
            return text
        return hashlib.sha256(text.encode()).hexdigest()

    def checked(self, value: Any) -> Any:
        """Return a value that is allowed, a word of an enumeration as its member; refuse others."""
        if self.spec.named is not None:
            return value
        if isinstance(self.default, Enum):
            return self.read(value, {})
        if isinstance(self.default, bool) and value not in (False, True):
            raise SpliceError(f"{self.name} must be True or False, not {value!r}")
        if self.is_number:
            self._check_number(value)
        return value

    def _check_number(self, value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise SpliceError(f"{self.name} must be a number, not {value!r}")
        if isinstance(self.default, int) and math.isfinite(value) and value % 1 != 0:
            raise SpliceError(f"{self.name} must be a whole number, not {value:g}")
        spec = self.spec
        bounds = (
            (spec.above, operator.gt, "above"),
            (spec.at_least, operator.ge, "at least"),
            (spec.below, operator.lt, "below"),
            (spec.at_most, operator.le, "at most"),
        )
        stated = [(bound, met, words) for bound, met, words in bounds if bound is not None]
        finite = spec.infinite or math.isfinite(value)
        if finite and all(met(value, bound) for bound, met, _ in stated):
            return
        demands = [f"{words} {bound:g}" for bound, _, words in stated]
        demand = " and ".join(demands + ["finite"] * (not finite)).replace("above 0", "positive")
        also = f" (--{spec.spelling})" if spec.spelling else ""
        raise SpliceError(f"{self.name}{also} must be {demand}, not {value:g}")


class Checked:
    """A dataclass of options that refuses values which are not allowed."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for declaration in declared(type(self)):
            if len(declaration.path) == 1:  # what is inside of another value has been checked there
                value = declaration.value(self)
                allowed = declaration.checked(value)
                if allowed is not value:  # the fields are frozen for everybody else
                    object.__setattr__(self, declaration.name, allowed)


_DECLARED: Final[dict[type, tuple[Declared, ...]]] = {}


def declared(cls: type) -> tuple[Declared, ...]:
    """Return the options of a dataclass, in the order of its fields."""
    if cls not in _DECLARED:
        _DECLARED[cls] = tuple(_declared(cls, ()))
    return _DECLARED[cls]


def _declared(cls: Any, path: tuple[str, ...]) -> Iterator[Declared]:
    for item in fields(cls):
        inner = (*path, item.name)
        default = item.default
        if default is MISSING and item.default_factory is not MISSING:
            default = item.default_factory()
        if default is MISSING:
            raise SpliceError(f"'{item.name}' of {cls.__name__} has no default")
        if item.metadata.get("parts"):
            yield from _declared(type(default), inner)
        elif "option" in item.metadata:
            yield Declared(inner, default, item.metadata["option"])
        elif not path:
            yield Declared(inner, default, _Spec())


def read_options(
    cls: type[T], words: Mapping[str, object], what: str, readers: Readers | None = None
) -> T:
    """Return the options that words name: numbers as they are, enumerations by their values.

    Parameters
    ----------
    cls
        The dataclass of the options.
    words
        Their values, each under its field's name or its spelling on the command line.
    what
        Whose options they are, for messages.
    readers
        What reads texts that name something outside of a program, by what they make of it.
    """
    by_name = {name: declaration for declaration in declared(cls) for name in declaration.names}
    options = cls()
    values: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for name, word in words.items():
        if name not in by_name:
            raise UnknownName(
                f"choice of {what}", name, [declaration.name for declaration in declared(cls)]
            )
        declaration = by_name[name]
        *outer, last = declaration.path
        inside = parts.setdefault(outer[0], {}) if outer else values
        inside[last] = declaration.read(word, readers or {})
    changed_parts = {part: replace(getattr(options, part), **v) for part, v in parts.items()}
    return cls(**values, **changed_parts)


def changed(options: T, changes: Mapping[str, Any], what: str) -> T:
    """Return options with some values changed; a name that is none of theirs is told.

    Parameters
    ----------
    options
        The options.
    changes
        New values, by the names of the fields.
    what
        Whose options they are, for messages.
    """
    names = [item.name for item in fields(options)]  # type: ignore[arg-type]
    for name in changes:
        if name not in names:
            raise UnknownName(f"option of {what}", name, names)
    return replace(options, **changes)  # type: ignore[type-var]


def words_of(options: Any) -> dict[str, str]:
    """Return what a heading says of some options: those that the command has, as they are spelled."""
    return {
        declaration.spelling: declaration.word(value)
        for declaration in declared(type(options))
        for value in [declaration.value(options)]
        if declaration.on_command and not (declaration.spec.quiet and value == declaration.default)
    }


def identity_of(options: Any) -> dict[str, str]:
    """Return all options as text, to the last digit: equal text means equal options."""
    if not is_dataclass(options):
        return {}
    return {
        declaration.spelling: declaration.exact(declaration.value(options))
        for declaration in declared(type(options))
    }


def changes(value: Any, usual: Any) -> str:
    """Return the fields of a dataclass that differ from another one, as they are written in a call.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Options:
    ...     depth: int = 2
    ...     delta: float = 0.01
    >>> changes(Options(depth=1), Options())
    'depth=1'
    """
    pairs = ((field.name, getattr(value, field.name)) for field in fields(value))
    return ", ".join(f"{name}={new!r}" for name, new in pairs if new != getattr(usual, name))
