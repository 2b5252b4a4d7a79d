"""How much stands behind a completed label, where nothing can be held out to measure it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from splice.completion.mode import Mode
from splice.completion.profile import PROFILES, Profile, profile
from splice.completion.result import Completion
from splice.completion.source import CompletedSource
from splice.inputs.open import open_input
from splice.lab.plaza import make_plaza
from splice.stream.batch import TimePoints, batches
from splice.stream.mask import KeepBatches, MaskedSource
from splice.stream.source import Source

CUT = TimePoints(25)


def completed(source: Source, chosen: Profile, mode: Mode = Mode.ONLINE) -> list[Completion]:
    return [done for _, done in CompletedSource(source, chosen, CUT, mode).completions()]


def confidence(folder: Path, seen: list[str], labels: str, chosen: Profile) -> list[float]:
    """Return the confidence at each time-point, of which each has one event."""
    folder.mkdir()
    events = "".join(f"{time},{event},a\n" for time, event in enumerate(seen))
    (folder / "events.csv").write_text(f"time,event,arg1\n{events}", "utf-8")
    (folder / "labels.csv").write_text(f"fluent,start,end,label\n{labels}", "utf-8")
    done = completed(open_input(str(folder)), chosen)
    return [float(one) for each in done for one in each.confidence]


def test_a_neighbour_that_shares_nothing_is_none(tmp_path: Path) -> None:
    chosen = PROFILES["patterns"]
    sure = confidence(tmp_path / "d", ["red", "red", "blue"], "up(a),0,1,true\n", chosen)
    assert sure == [1.0, 0.5, 0.0]
    done = completed(open_input(str(tmp_path / "d")), chosen)
    assert done[0].values.tolist() == [1.0, 1.0, 1.0], "the value is what it was"
    assert done[0].labels.tolist() == [1, 1, 1]


@pytest.mark.parametrize("count", [1, 4, 9])
def test_labels_of_equal_patterns_add_up(tmp_path: Path, count: int) -> None:
    seen = ["red"] * (count + 1)
    sure = confidence(tmp_path / "d", seen, f"up(a),0,{count},true\n", PROFILES["patterns"])
    assert sure[-1] == pytest.approx(count / (count + 1))


def test_sureness_fades_along_time(tmp_path: Path) -> None:
    """What shares nothing with any label is as sure as labels are near, across batches as well."""
    seen = ["red"] * 3 + ["blue"] * 60
    sure = confidence(tmp_path / "d", seen, "up(a),0,3,true\n", PROFILES["default"])
    assert sure[:3] == [1.0, 1.0, 1.0]
    assert (np.diff(sure[2:25]) < 0).all()
    assert 0.5 < sure[3] < 1.0
    assert max(sure[25:]) < 0.2


def test_before_the_first_label_nothing_is_sure(tmp_path: Path) -> None:
    sure = confidence(tmp_path / "d", ["red"] * 30, "up(a),29,30,true\n", PROFILES["default"])
    assert not any(sure[:25])


@pytest.mark.parametrize("mode", list(Mode))
def test_abstaining_keeps_labels_that_are_right_more_often(mode: Mode) -> None:
    """The surest half by confidence has fewer errors than the surest half by value, and than all."""
    errors = np.zeros(3)
    for seed in (11, 12, 13):
        plaza = make_plaza(sequences=3, people=3, frames=300, seed=seed).source
        masked = MaskedSource(plaza, KeepBatches(20), seed, CUT)
        truth = np.concatenate([batch.labels for batch in batches(plaza, CUT)])
        done = completed(masked, PROFILES["default"], mode)
        missing = ~np.concatenate([each.given for each in done])
        labels = np.concatenate([each.labels for each in done])
        wrong = (labels != truth)[missing]
        values = np.abs(np.concatenate([each.values for each in done]))[missing]
        sure = np.concatenate([each.confidence for each in done])[missing]
        assert ((sure >= 0) & (sure <= values + 1e-6)).all()
        mixed = np.random.default_rng(0).permutation(len(sure))
        half = [
            mixed[np.argsort(-by[mixed], kind="stable")][: len(sure) // 2] for by in (sure, values)
        ]
        errors += [wrong[half[0]].mean(), wrong[half[1]].mean(), wrong.mean()]
    assert errors[0] < errors[1]
    assert errors[0] < errors[2]


def test_abstaining_online_changes_no_label_that_it_keeps() -> None:
    plaza = make_plaza(sequences=2, people=3, frames=200, seed=1).source
    masked = MaskedSource(plaza, KeepBatches(20), 1, CUT)
    every = completed(masked, PROFILES["default"])
    some = completed(masked, profile("default", margin=0.9))
    kept = 0
    for whole, part in zip(every, some, strict=True):
        own = part.labels != 0
        assert (own == (part.given | (whole.confidence >= 0.9))).all()
        assert (part.labels == whole.labels)[own].all()
        kept += int((own & ~part.given).sum())
    assert kept > 0
