"""What an estimator was asked for: names that are fields of the options, declared nowhere else."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from splice.completion.profile import PROFILES, Profile, profile
from splice.errors import SpliceError, UnknownName
from splice.inputs.open import InputOptions
from splice.io.tables.frame_table import Columns
from splice.learners.online import OnlineLearner
from splice.learners.options import LearnerOptions
from splice.learners.protocol import StructureLearner
from splice.learners.registry import LEARNERS
from splice.options import changes
from splice.pipeline.learned import LearnOptions

Options = TypeVar("Options", InputOptions, Columns)

_USUAL: Final = "default"


def _names(*options: type) -> tuple[str, ...]:
    return tuple(field.name for cls in options for field in fields(cls))


_LEARNING: Final = tuple(
    n for n in _names(LearnOptions) if n not in ("profile", "learner", "words")
)
_OPTIONS: Final[Mapping[str, Any]] = {
    **{name: getattr(LearnOptions(), name) for name in _LEARNING},
    **{n: getattr(each(), n) for each in (InputOptions, Columns) for n in _names(each)},
}
"""What may be chosen beside the learner and the completer, with the defaults."""


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
        self._options: Mapping[str, Any] = {}
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
            if name not in ("learner", "completer", *_OPTIONS):
                raise _unknown_option(name)
            setattr(self, name, value)
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _OPTIONS:  # another dictionary each time: copies of an estimator share none
            self._options = {**self._options, name: value}
        else:
            super().__setattr__(name, value)

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            if name in _OPTIONS:
                return self.__dict__.get("_options", {}).get(name, _OPTIONS[name])
            raise AttributeError(
                f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self
            )

    def __repr__(self) -> str:
        usual = inspect.signature(type(self)).parameters
        chosen = ", ".join(
            f"{name}={_written(value)}"
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
        names = _names(options)
        return options(**{name: value for name, value in self._options.items() if name in names})

    @property
    def _learn_options(self) -> LearnOptions:
        chosen = {name: value for name, value in self._options.items() if name in _LEARNING}
        options = LearnOptions(learner=LEARNERS.made(self.learner), **chosen)
        if self.completer == _USUAL:
            return options
        chosen_profile = (
            profile(self.completer) if isinstance(self.completer, str) else self.completer
        )
        if chosen_profile is not None and not isinstance(chosen_profile, Profile):
            raise SpliceError(
                f"a value of type {type(chosen_profile).__name__} is no completer",
                f"name a profile: {', '.join(PROFILES)}; or give a splice.Profile, or None",
            )
        return replace(options, profile=chosen_profile)


def _written(value: object) -> str:
    """Return a choice as it is written in a call: of a learner, no more than what was chosen."""
    if isinstance(value, OnlineLearner):
        return f"{type(value).__name__}({changes(value.options, value.options_type())})"
    if isinstance(value, Profile) and PROFILES.get(value.name) == value:
        return repr(value.name)
    return repr(value)


def _unknown_option(name: str) -> SpliceError:
    name = name.removeprefix("learner__")  # scikit-learn's way to what is inside
    for kind in LEARNERS.known.values():
        if name in _names(kind.options):
            title = kind.make.partition(":")[2] if isinstance(kind.make, str) else kind.name
            return SpliceError(
                f"'{name}' is an option of a learner", f"say learner=splice.{title}({name}=...)"
            )
    return UnknownName("option", name, [*_OPTIONS, "learner", "completer"])
