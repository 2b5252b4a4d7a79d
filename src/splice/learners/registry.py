"""The learners by name: a line each, and all that asks for one by name follows from it.

``register`` takes a name, the dataclass of the options (:mod:`splice.options`) and what makes a learner
of them. The command line, TOML experiments, checkpoints and the contract suite ask here and know no
learner by its class. A learner of the package is named by its place, so that its options can be read
without loading it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from splice.errors import SpliceError, UnknownName
from splice.learners.oled.options import OledOptions
from splice.learners.options import LearnerOptions
from splice.learners.osla.options import OslaOptions
from splice.options import Readers, identity_of, read_options, words_of

if TYPE_CHECKING:
    from splice.learners.protocol import StructureLearner

_Make: TypeAlias = "Callable[[Any], StructureLearner]"
M = TypeVar("M", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class LearnerKind:
    """A learner that is known by name.

    Parameters
    ----------
    name
        What it is asked for by.
    title
        What people call it.
    options
        The dataclass of its options.
    make
        What makes a learner of options, or where that is: ``module:name``.
    """

    name: str
    title: str
    options: type[LearnerOptions]
    make: _Make | str

    def read(self, words: Mapping[str, object], readers: Readers | None = None) -> LearnerOptions:
        """Return the options that words name."""
        return read_options(self.options, words, self.title, readers)

    def learner(self, options: LearnerOptions) -> StructureLearner:
        """Return a learner that knows nothing yet."""
        make = self.make
        if isinstance(make, str):
            module, _, name = make.partition(":")
            make = getattr(import_module(module), name)
        assert callable(make)
        learner: StructureLearner = make(options)
        return learner


@dataclass(frozen=True, slots=True)
class LearnerChoice:
    """A learner that is yet to be made: each call makes one that knows nothing.

    Parameters
    ----------
    name
        The name it is registered under.
    options
        Its options.
    """

    name: str
    options: LearnerOptions

    def __call__(self) -> StructureLearner:
        return LEARNERS[self.name].learner(self.options)

    def words(self) -> dict[str, str]:
        """Return what a heading says of the choice, without what all learners are told."""
        shared = words_of(LearnerOptions())
        return {name: word for name, word in words_of(self.options).items() if name not in shared}

    def identity(self) -> dict[str, str]:
        """Return the choice as text: those of equal text learn the same."""
        return {"learner": self.name, **identity_of(self.options)}

    def in_hindsight(self) -> LearnerChoice:
        """Return the choice that ``auto`` learns with where all of the stream can be looked at."""
        return LearnerChoice(self.name, self.options.in_hindsight())


class LearnerRegistry:
    """Learners by name."""

    def __init__(self) -> None:
        self.known: dict[str, LearnerKind] = {}

    def __getitem__(self, name: str) -> LearnerKind:
        if name not in self.known:
            raise UnknownName("learner", name, self.known)
        return self.known[name]

    def choose(self, name: str = "oled", **options: Any) -> LearnerChoice:
        """Return the choice of a learner with some options, given as values.

        >>> LEARNERS.choose("oled", depth=1).words()["depth"]
        '1'
        """
        return LearnerChoice(name, self[name].options(**options))

    def made(self, learner: object) -> Callable[[], StructureLearner]:
        """Return what makes a learner like the one that is given: it knows nothing yet.

        Parameters
        ----------
        learner
            A name, options, a learner (what it has learned is left behind), or a class of learners.

        Examples
        --------
        >>> LEARNERS.made("oled") == LEARNERS.made(OledOptions()) == LEARNERS.choose("oled")
        True
        """
        if isinstance(learner, str):
            return self.choose(learner)
        if isinstance(learner, LearnerChoice):
            return learner
        options = (
            learner if isinstance(learner, LearnerOptions) else getattr(learner, "options", None)
        )
        for kind in self.known.values():
            if type(options) is kind.options:
                return LearnerChoice(kind.name, options)
        if not hasattr(learner, "partial_fit"):
            names = ", ".join(f"'{name}'" for name in self.known)
            raise SpliceError(
                f"a value of type {type(learner).__name__} is no learner",
                f"give one, such as splice.Oled(), or the name of one: {names}",
            )
        if isinstance(learner, type):
            return learner
        return partial(_fresh, cast("StructureLearner", learner))

    def register(
        self, name: str, options: type[LearnerOptions], make: str = "", title: str = ""
    ) -> Callable[[M], M]:
        """Make a learner known; without its place, return a decorator of what makes it.

        Parameters
        ----------
        name
            What it is asked for by, in small letters.
        options
            The dataclass of its options, each with a default.
        make
            Where the learner is: ``module:name``. It is loaded when it is made.
        title
            What people call it (default: the name).
        """
        if name in self.known:
            raise SpliceError(f"there is a learner '{name}' already", "choose another name")
        if not name.isidentifier() or name != name.lower():
            raise SpliceError(f"'{name}' cannot name a learner", "use small letters")
        if "__dataclass_fields__" not in vars(options) or not issubclass(options, LearnerOptions):
            raise SpliceError(
                f"{options.__name__} is no dataclass of options",
                "write @dataclass(frozen=True), and extend LearnerOptions",
            )

        def enter(maker: M | str) -> Any:
            self.known[name] = LearnerKind(name, title or name, options, maker)
            return maker

        return enter(make) if make else enter


def _fresh(learner: StructureLearner) -> StructureLearner:
    return deepcopy(learner).fit(())


LEARNERS = LearnerRegistry()
LEARNERS.register("oled", OledOptions, "splice.learners.oled.learner:Oled", "OLED")
LEARNERS.register("osla", OslaOptions, "splice.learners.osla.learner:Osla", "OSLa")
