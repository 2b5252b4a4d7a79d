"""What was learned, as a checkpoint: choices, states and what names mean, in plain JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from splice.completion.completer import SupervisionCompleter
from splice.errors import SpliceError
from splice.io.checkpoints import Checkpoint
from splice.io.domain_file import format_domain, parse_domain
from splice.learners.options import LearnerOptions
from splice.learners.registry import LEARNERS
from splice.logic.domain import Domain
from splice.pipeline.learned import Learned, LearnOptions
from splice.plain import from_plain, to_plain
from splice.states import anything, check_state, each, mapping, number, record, text, whole
from splice.stream.vocabulary import Vocabulary

_KIND: Final = {"kind": "rule learner", "version": "1"}
_COUNTS: Final = ("examples", "batches", "given", "completed", "step", "read", "seconds")

_SHAPE: Final = record(
    ("frames",),
    frames=text,
    params=mapping(anything),
    chosen=mapping(anything),
    domain=text,
    counts=record(**{name: number(0) for name in _COUNTS}),
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
        "counts": {name: getattr(learned, name) for name in _COUNTS},
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
    learned.count_labels({name: Counter(counts) for name, counts in state["labels"].items()})
    learned.untold = frozenset(state["untold"])
    profile = used.get("completer", choices.profile)
    if state["completer"] and profile:
        learned.completer = SupervisionCompleter(profile)
        learned.completer.restore(state["completer"], domain, vocabulary)
    learned.finish(max(1, round(learned.step / max(1, learned.batches))))
    return learned, domain
