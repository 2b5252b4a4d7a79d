"""What an estimator was asked for: names that are fields of the options, declared nowhere else."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace
from typing import Any, Final, Self, TypeVar

from splice.completion.profile import PROFILES, Profile, profile
from splice.errors import SpliceError, UnknownName
from splice.inputs.open import InputOptions
from splice.io.tables.frame_table import Columns
from splice.learners.options import LearnerOptions
from splice.learners.protocol import StructureLearner
from splice.learners.registry import LEARNERS
from splice.pipeline.learned import LearnOptions

Options = TypeVar("Options", InputOptions, Columns)

_USUAL: Final = "default"


def _names(*options: type) -> tuple[str, ...]:
    return tuple(field.name for each in options for field in fields(each))


_LEARNING: Final = tuple(
    n for n in _names(LearnOptions) if n not in ("profile", "learner", "words")
)
_OPTIONS: Final = (*_LEARNING, *_names(InputOptions, Columns))


class Parameters:
    """The choices of an estimator, which can be read back and changed, as in scikit-learn."""

    def __init__(
        self,
        learner: str | LearnerOptions | StructureLearner = "oled",
        completer: str | Profile | None = _USUAL,
        **options: Any,
    ) -> None:
        self.learner = learner
        self.completer = completer
        self._options: dict[str, Any] = {}
        self.set_params(**options)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all that was chosen, by name.

        Parameters
        ----------
        deep
            Scikit-learn asks for it; there is nothing inside that has parameters of its own.
        """
        return {"learner": self.learner, "completer": self.completer, **self._options}

    def set_params(self, **params: Any) -> Self:
        """Choose anew; what was learned stays until it is learned again.

        Parameters
        ----------
        **params
            As the class takes them.
        """
        for name, value in params.items():
            if name in ("learner", "completer"):
                setattr(self, name, value)
            elif name in _OPTIONS:
                self._options[name] = value
            else:
                raise _unknown_option(name)
        return self

    def __repr__(self) -> str:
        usual = inspect.signature(type(self)).parameters
        chosen = ", ".join(
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if name not in usual or value != usual[name].default
        )
        return f"{type(self).__name__}({chosen})"

    @property
    def _columns(self) -> Columns:
        return self._chosen(Columns)

    @property
    def _input_options(self) -> InputOptions:
        return self._chosen(InputOptions)

    def _chosen(self, options: type[Options]) -> Options:
        own = _names(options)
        return options(**{name: value for name, value in self._options.items() if name in own})

    @property
    def _learn_options(self) -> LearnOptions:
        chosen = {name: value for name, value in self._options.items() if name in _LEARNING}
        options = LearnOptions(learner=LEARNERS.made(self.learner), **chosen)
        if self.completer == _USUAL:
            return options
        wanted = profile(self.completer) if isinstance(self.completer, str) else self.completer
        if wanted is not None and not isinstance(wanted, Profile):
            raise SpliceError(
                f"a value of type {type(wanted).__name__} is no completer",
                f"name a profile: {', '.join(PROFILES)}; or give a splice.Profile, or None",
            )
        return replace(options, profile=wanted)


def _unknown_option(name: str) -> SpliceError:
    for kind in LEARNERS.known.values():
        if name in _names(kind.options):
            made = kind.make.partition(":")[2] if isinstance(kind.make, str) else kind.name
            return SpliceError(
                f"'{name}' is an option of a learner", f"say learner=splice.{made}({name}=...)"
            )
    return UnknownName("option", name, [*_OPTIONS, "learner", "completer"])
