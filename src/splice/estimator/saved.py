"""What was learned, as a checkpoint: choices, states and what names mean, in plain JSON.

A dataclass or a member of an enumeration is written with the place of its class. What is read back must
be one of these in this package: nothing else is ever made or called, whatever a file says.

>>> from splice.labels import Unlabelled
>>> to_plain({"unlabelled": Unlabelled.SKIP, "depth": 2})
{'unlabelled': {'of': 'splice.labels:Unlabelled', 'value': 'skip'}, 'depth': 2}
>>> from_plain(to_plain([Unlabelled.SKIP]))
[<Unlabelled.SKIP: 'skip'>]

"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from splice.completion.completer import SupervisionCompleter
from splice.errors import SpliceError
from splice.io.checkpoints import Checkpoint
from splice.io.domain_file import parse_domain
from splice.io.domain_text import format_domain
from splice.learners.options import LearnerOptions
from splice.learners.registry import LEARNERS
from splice.logic.domain import Domain
from splice.pipeline.learned import Learned, LearnOptions
from splice.pipeline.run import COUNTS
from splice.states import anything, check_state, each, mapping, number, record, text, whole
from splice.stream.vocabulary import Vocabulary

_CLASS: Final = "of"
_PACKAGE: Final = __name__.partition(".")[0]


def to_plain(value: Any) -> Any:
    """Return a value as JSON holds it; what is of no class of the package is an error."""
    if isinstance(value, Enum):
        return {_CLASS: _place(type(value)), "value": value.value}
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {_CLASS: "float", "value": str(value)}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, list | tuple | frozenset | set):
        items = sorted(value) if isinstance(value, frozenset | set) else value
        return [to_plain(item) for item in items]
    if isinstance(value, dict):
        return {str(key): to_plain(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        plain_fields = {
            field.name: to_plain(getattr(value, field.name))
            for field in fields(value)
            if field.init
        }
        return {_CLASS: _place(type(value)), "fields": plain_fields}
    raise _cannot_be_saved(type(value))


def from_plain(value: Any) -> Any:
    """Return the value that was written; lists that a dataclass holds become tuples again."""
    if isinstance(value, list):
        return [from_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    if _CLASS not in value:
        return {key: from_plain(item) for key, item in value.items()}
    try:
        return _instance(value)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, SpliceError):
            raise
        raise SpliceError(
            f"this is no value of {str(value[_CLASS])[:80]}", "was it saved by another version?"
        ) from None


def _instance(value: dict[str, Any]) -> Any:
    if value[_CLASS] == "float":
        return float(value["value"])
    cls = _class(str(value[_CLASS]))
    if issubclass(cls, Enum):
        return cls(value["value"])
    # Dataclasses of options hold tuples and no lists, and JSON has lists alone.
    values = {name: from_plain(item) for name, item in value["fields"].items()}
    return cls(**{n: tuple(item) if isinstance(item, list) else item for n, item in values.items()})


def _place(cls: type) -> str:
    if cls.__module__.partition(".")[0] != _PACKAGE or "." in cls.__qualname__:
        raise _cannot_be_saved(cls)
    return f"{cls.__module__}:{cls.__qualname__}"


def _class(place: str) -> type[Any]:
    module, _, name = place.partition(":")
    cls: Any = None
    if module.partition(".")[0] == _PACKAGE:
        try:
            cls = vars(import_module(module)).get(name)
        except ImportError:
            cls = None
    if not isinstance(cls, type) or not (is_dataclass(cls) or issubclass(cls, Enum)):
        raise SpliceError(f"there is no class '{place}' here", "was it saved by another version?")
    return cls


def _cannot_be_saved(cls: type) -> SpliceError:
    return SpliceError(
        f"a value of {cls.__module__}.{cls.__qualname__} cannot be saved",
        "only what comes with the package can; give your own again when you load",
    )


_KIND: Final = {"kind": "rule learner", "version": "1"}
_SHAPE: Final = record(
    ("frames",),
    frames=text,
    params=mapping(anything),
    chosen=mapping(anything),
    domain=text,
    counts=record(**{name: number(0) for name in COUNTS}),
    labels=mapping(mapping(whole())),
    untold=each(text),
    learner=anything,
    completer=anything,
)
"""What a saved model looks like; learner and completer look at their own parts."""


def to_checkpoint(
    params: Mapping[str, Any], learned: Learned, domain: Domain, frames: str
) -> Checkpoint:
    """Return a model as a checkpoint.

    Parameters
    ----------
    params
        What was chosen; what is no value of the package is left out.
    learned
        What was learned.
    domain
        What names mean.
    frames
        The library of the frames that were learned from.
    """
    completer = learned.completer
    state = {
        "frames": frames,
        "params": _plain_params(params),
        "domain": format_domain(domain),
        "counts": {name: getattr(learned, name) for name in COUNTS},
        "labels": {name: dict(counts) for name, counts in learned.labels.items()},
        "untold": sorted(learned.untold),
        "learner": learned.learner.to_state(),
        "completer": completer.to_state() if completer and completer.has_begun else None,
        # What was used, which a run may have chosen by itself.
        "chosen": _plain_params(
            {
                "learner": learned.learner,
                "completer": completer.profile if completer else None,
            }
        ),
    }
    return Checkpoint(dict(_KIND), state)


def _plain_params(params: Mapping[str, Any]) -> dict[str, Any]:
    plain = {}
    for name, value in params.items():
        options = value if isinstance(value, str) else getattr(value, "options", value)
        chosen = options if name == "learner" and isinstance(options, LearnerOptions) else value
        if isinstance(chosen, Domain):
            continue  # the domain that it has grown to is kept
        try:
            plain[name] = to_plain(chosen)
        except SpliceError:
            continue  # of somebody else: given again to load
    return plain


def saved_params(saved: Checkpoint) -> dict[str, Any]:
    """Return what was chosen, as far as it could be saved."""
    if saved.identity.get("kind") != _KIND["kind"]:
        raise SpliceError(
            "this checkpoint is not of a RuleLearner", "go on with it by `splice learn --resume`"
        )
    check_state(saved.state, _SHAPE)
    params: dict[str, Any] = from_plain(saved.state["params"])
    return params


def from_checkpoint(saved: Checkpoint, choices: LearnOptions) -> tuple[Learned, Domain]:
    """Return what was learned, and what names mean.

    Parameters
    ----------
    saved
        The checkpoint.
    choices
        How it was learned.
    """
    state = saved.state
    domain, vocabulary = parse_domain(state["domain"]).domain, Vocabulary()
    used: dict[str, Any] = from_plain(state["chosen"])
    made = LEARNERS.made(used["learner"]) if "learner" in used else choices.learner
    learner = made().restore(state["learner"], domain, vocabulary)
    learned = Learned(learner, **state["counts"])
    learned.count_labels(state["labels"])
    learned.untold = frozenset(state["untold"])
    profile = used.get("completer", choices.profile)
    if state["completer"] and profile:
        learned.completer = SupervisionCompleter(profile)
        learned.completer.restore(state["completer"], domain, vocabulary)
    # Counts of rules are those of one pass; how many there were is not kept, and follows from the batches.
    learned.finish(max(1, round(learned.step / max(1, learned.batches))))
    return learned, domain
