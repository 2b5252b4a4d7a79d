"""Calibration: how sure a completed label is said to be, and how often it is right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splice.completion.calibration import LINE, Calibration, Reliability, fit_curve
from splice.completion.completer import SupervisionCompleter
from splice.completion.mode import Mode
from splice.completion.profile import PROFILES, Profile
from splice.completion.result import Completion
from splice.completion.source import CompletedSource, in_hindsight, label_counts
from splice.inputs.open import InputOptions
from splice.lab.plaza import make_plaza
from splice.pipeline.calibrate import calibrate
from splice.pipeline.complete import complete
from splice.pipeline.completed import completed_frame
from splice.pipeline.learned import LearnOptions
from splice.pipeline.run import learn
from splice.report.reliability import reliability
from splice.report.run import learned_report
from splice.stream.batch import MicroBatch, TimePoints, batches
from splice.stream.mask import KeepBatches, MaskedSource
from splice.stream.source import MemorySource, collect

CUT = TimePoints(25)
NAMES = ("default", "regression")


@pytest.fixture(scope="module")
def whole() -> MemorySource:
    return make_plaza(sequences=5, people=2, frames=300, seed=1).source


@pytest.fixture(scope="module")
def source(whole: MemorySource) -> MemorySource:
    masked = MaskedSource(whole, KeepBatches(30), 1, CUT)
    return MemorySource(collect(masked), whole.domain)


def completed(source: MemorySource, profile: Profile) -> list[Completion]:
    stream = list(batches(source, CUT))
    return list(in_hindsight(profile, label_counts(profile, stream)).completions(stream))


def error(done: list[Completion], truth: list[MicroBatch], sure: str) -> float:
    """Return the expected calibration error of completed labels, by the whole truth."""
    rows = [each.calibrated for each in done]
    column = [getattr(each, sure)[own] for each, own in zip(done, rows, strict=True)]
    right = [
        ((each.values > 0) == (batch.labels > 0))[own]
        for each, batch, own in zip(done, truth, rows, strict=True)
    ]
    return Reliability.of(np.abs(np.concatenate(column)), np.concatenate(right)).error


def test_calibrated_confidence_is_nearer_to_the_truth(
    whole: MemorySource, source: MemorySource
) -> None:
    truth, errors = list(batches(whole, CUT)), []
    for name in NAMES:
        found = calibrate(batches(source, CUT), PROFILES[name], Mode.HINDSIGHT)
        assert found.fluents
        done = completed(source, found.profile)
        errors.append((error(done, truth, "values"), error(done, truth, "confidence")))
    before, after = np.mean(errors, axis=0)
    assert after < before


@pytest.mark.parametrize("name", NAMES)
def test_calibration_keeps_labels_values_and_their_order(source: MemorySource, name: str) -> None:
    found = calibrate(batches(source, CUT), PROFILES[name], Mode.HINDSIGHT)
    for own, plain in zip(
        completed(source, found.profile), completed(source, PROFILES[name]), strict=True
    ):
        assert (own.labels == plain.labels).all()
        assert (own.values == plain.values).all()
        assert (own.confidence[own.given] == 1).all()
        assert not own.calibrated[own.given].any()
        assert ((own.confidence >= 0) & (own.confidence <= 1)).all()
    for _, curve in found.profile.calibration.curves if found.profile.calibration else ():
        assert (np.diff(curve(np.linspace(-1, 1, 501))) >= 0).all()


@settings(max_examples=30)
@given(st.lists(st.tuples(st.floats(-1, 1), st.booleans()), min_size=60, max_size=200))
def test_a_curve_never_falls_and_is_a_chance(pairs: list[tuple[float, bool]]) -> None:
    values = np.array([value for value, _ in pairs])
    labels = np.where([held for _, held in pairs], 1, -1).astype(np.int8)
    curve = fit_curve(values, labels, np.ones(len(values)))
    if curve is None:
        assert min((labels > 0).sum(), (labels < 0).sum()) < 5
        return
    chances = curve(np.linspace(-1, 1, 101))
    assert (np.diff(chances) >= -1e-12).all()
    assert ((chances >= 0) & (chances <= 1)).all()


def test_abstaining_leaves_out_what_is_less_sure_and_nothing_that_was_given(
    source: MemorySource,
) -> None:
    found = calibrate(batches(source, CUT), PROFILES["regression"], Mode.HINDSIGHT)
    sure = completed(source, found.profile)
    kept = completed(source, replace(found.profile, margin=0.9))
    for one, all_ in zip(kept, sure, strict=True):
        wanted = np.where(~all_.given & (all_.confidence < 0.9), 0, all_.labels)
        assert (one.labels == wanted).all()
    assert any((one.labels == 0).any() for one in kept)
    told = complete(source, profile=replace(PROFILES["regression"], margin=0.9))
    assert told.abstained == sum(int((one.labels == 0).sum()) for one in kept)
    assert all(fluent["calibrated"] for fluent in told.as_json()["calibration"].values())


def test_tables_say_whether_confidence_is_calibrated(
    whole: MemorySource, source: MemorySource
) -> None:
    frame = completed_frame(CompletedSource(source, PROFILES["default"], CUT))
    assert frame.filter(~frame["given"])["calibrated"].any()
    assert not frame.filter(frame["given"])["calibrated"].any()
    few = MemorySource(collect(MaskedSource(whole, KeepBatches(1), 1, CUT)), whole.domain)
    for data, mode in ((few, Mode.HINDSIGHT), (source, Mode.ONLINE)):
        plain = completed_frame(CompletedSource(data, PROFILES["default"], CUT, mode))
        assert not plain["calibrated"].any()


def test_without_curves_confidence_is_the_distance_from_zero(source: MemorySource) -> None:
    completer = SupervisionCompleter(replace(PROFILES["default"], calibration=Calibration()))
    done = completer.complete(next(batches(source, CUT)))
    assert (done.confidence == np.abs(done.values)).all()
    assert LINE(np.array([-1.0, 0.0, 0.5])).tolist() == [0.0, 0.5, 0.75]


def test_the_report_draws_what_was_measured(source: MemorySource) -> None:
    found = calibrate(batches(source, CUT), PROFILES["regression"], Mode.HINDSIGHT)
    figure = reliability(found)
    assert figure is not None
    for panel, told in zip(figure.panels, found.fluents.values(), strict=True):
        ideal, before, after = panel.curves
        assert ideal.x == ideal.y
        assert (before.x, before.y) == (told.before.confidence, told.before.right)
        assert (after.x, after.y) == (told.after.confidence, told.after.right)
    choices = LearnOptions(PROFILES["regression"])
    report = learned_report(source, InputOptions(), choices, learn(source, choices=choices))
    assert figure in report.tabs[0].sections
