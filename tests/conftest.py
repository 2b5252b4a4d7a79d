"""What all tests share: how hypothesis behaves, and where the data sets are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from command import Command

ROOT = Path(__file__).resolve().parent.parent

# The suite says the same thing every time it is run. HYPOTHESIS_PROFILE=explore looks further.
settings.register_profile(
    "repeatable",
    deadline=None,
    max_examples=50,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "explore",
    deadline=None,
    max_examples=2000,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


EXHAUSTIVE = bool(os.environ.get("SPLICE_EXHAUSTIVE") or os.environ.get("SPLICE_GOLDEN"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what takes long, unless it is asked for: each has a smaller twin that always runs."""
    for item in items:
        if not EXHAUSTIVE and item.get_closest_marker("exhaustive"):
            item.add_marker(pytest.mark.skip(reason="takes long: `make exhaustive` runs it"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of data sets that are not part of the project, or skip the test."""
    folder = Path(os.environ.get("SPLICE_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip("the data sets are not here; SPLICE_DATA can say where they are")
    return folder


@pytest.fixture
def splice(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run the command, and catch what it says."""
    return Command(capsys)
