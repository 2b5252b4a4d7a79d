"""States: of a run in the midst, of a live run, of a model, of parts, with the right sum and damaged content."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import random
import tempfile
import zlib
from pathlib import Path
from typing import Any

import polars as pl

from fuzz.mutations import mutated_bytes, mutated_value
from fuzz.rooms import live_engine, live_rows
from fuzz.samples import EVENTS, LABELS
from fuzz.target import Target, in_file, whole_tables

__all__ = ["TARGETS"]


@functools.cache
def _run_states() -> tuple[dict[str, Any], ...]:
    """Return the checkpoints of runs in the midst: OLED, with completion, and OSLa."""
    from splice.learners.registry import LEARNERS
    from splice.pipeline.learned import LearnOptions

    return tuple(
        _checkpoint_of(LearnOptions(learner=LEARNERS.choose(name))) for name in ("oled", "osla")
    )


def _checkpoint_of(choices: Any) -> dict[str, Any]:
    from splice.io.checkpoints import read_checkpoint
    from splice.pipeline.checkpoint import Checkpointing
    from splice.pipeline.progress import LearnedBatch
    from splice.pipeline.run import learn

    class _Stop(BaseException):
        pass

    with tempfile.TemporaryDirectory() as name:
        home, path = whole_tables(Path(name)), Path(name) / "c"

        def stop(event: object) -> None:
            if isinstance(event, LearnedBatch) and event.learned.batches >= 5:
                raise _Stop

        with contextlib.suppress(_Stop):
            learn(
                str(home),
                None,
                _small(choices),
                checkpoint=Checkpointing(path, every=0),
                watch=stop,
            )
        return read_checkpoint(path).state


def _small(choices: Any) -> Any:
    from dataclasses import replace

    return replace(choices, batch_size=3)


def _state(chance: random.Random) -> bytes:
    which = chance.randrange(2)
    return json.dumps([which, mutated_value(_run_states()[which], chance)]).encode()


def _resume(data: bytes, folder: Path) -> None:
    """Go on from a checkpoint whose sum is right and whose content is damaged."""
    from splice.io.checkpoints import Checkpoint, write_checkpoint
    from splice.learners.registry import LEARNERS
    from splice.pipeline.checkpoint import Checkpointing, run_identity
    from splice.pipeline.learned import LearnOptions
    from splice.pipeline.run import InputOptions, learn

    which, state = json.loads(data)
    home, path = whole_tables(folder), folder / "c"
    choices = _small(LearnOptions(learner=LEARNERS.choose(("oled", "osla")[which])))
    identity = run_identity(str(home), InputOptions(), choices.identity())
    write_checkpoint(path, Checkpoint(identity, state))
    learned = learn(
        str(home), None, choices, checkpoint=Checkpointing(path, resume=True, every=1e9)
    )
    [rule.as_json() for rule in learned.rules]


@functools.cache
def _whole_checkpoint() -> bytes:
    from splice.io.checkpoints import Checkpoint, write_checkpoint

    with tempfile.TemporaryDirectory() as name:
        write_checkpoint(Path(name) / "c", Checkpoint({"a": "b"}, _run_states()[0]))
        return (Path(name) / "c").read_bytes()


def _checkpoint(chance: random.Random) -> bytes:
    """Return a damaged file, or one whose sum is right and whose packed content is no state."""
    if chance.random() < 0.5:
        return mutated_bytes(_whole_checkpoint(), [b"{}"], chance)
    text = mutated_bytes(
        b'{"identity":{"a":"b"},"state":{"pass":0,"batch":[1.5]}}', [b"[" * 99], chance
    )
    packed = zlib.compress(text, 1) if chance.random() < 0.8 else text
    return b"splice checkpoint 1 %s\n" % hashlib.sha256(packed).hexdigest().encode() + packed


def _read_checkpoint(path: Path) -> None:
    from splice.io.checkpoints import read_checkpoint

    read_checkpoint(path)


# live runs and models


@functools.cache
def _live_states() -> tuple[dict[str, Any], ...]:
    """Return the states of live runs in the midst: with rules, and learning them."""
    states = []
    for learning in (False, True):
        engine = live_engine(learning=learning)
        rows = live_rows(EVENTS, LABELS).splitlines()
        engine.events([(str(i), row) for i, row in enumerate(rows[: len(rows) // 2])])
        states.append(json.loads(json.dumps(engine.to_state())))
    return tuple(states)


def _live_state(chance: random.Random) -> bytes:
    which = chance.randrange(2)
    return json.dumps([which, mutated_value(_live_states()[which], chance)]).encode()


def _go_on_live(data: bytes, _: Path) -> None:
    """Go on with a live run from a damaged state."""
    which, state = json.loads(data)
    engine = live_engine(learning=bool(which))
    engine.restore(state)
    rows = live_rows(EVENTS, LABELS).splitlines()
    engine.events([(str(i), row) for i, row in enumerate(rows[len(rows) // 2 :])])
    engine.finish()
    json.dumps(engine.to_state())


@functools.cache
def _saved_model() -> dict[str, Any]:
    import splice
    from splice.io.checkpoints import read_checkpoint

    with tempfile.TemporaryDirectory() as name:
        model = splice.RuleLearner(batch_size=5, mode="online")
        model.fit(*_table_frames()).save(Path(name) / "m")
        return read_checkpoint(Path(name) / "m").state


@functools.cache
def _table_frames() -> tuple[pl.DataFrame, pl.DataFrame]:
    events, labels = (pl.read_csv(io.StringIO(text)) for text in (EVENTS, LABELS))
    return events, labels.filter(pl.col("label").is_not_null())


def _model(chance: random.Random) -> bytes:
    return json.dumps(mutated_value(_saved_model(), chance)).encode()


def _load_model(data: bytes, folder: Path) -> None:
    """Load a model whose sum is right and whose content is damaged, and use it."""
    import splice
    from splice.io.checkpoints import Checkpoint, write_checkpoint

    identity = {"kind": "rule learner", "version": "1"}
    write_checkpoint(folder / "m", Checkpoint(identity, json.loads(data)))
    model = splice.RuleLearner.load(folder / "m")
    model.predict(_table_frames()[0])
    repr(model), str(model)


TARGETS = (
    Target("checkpoint", _checkpoint, in_file("c", _read_checkpoint), turn=1000),
    Target("state", _state, _resume, seconds=20.0, turn=10),
    Target("live state", _live_state, _go_on_live, seconds=20.0, turn=40),
    Target("model", _model, _load_model, seconds=20.0, turn=20),
)
