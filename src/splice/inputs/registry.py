"""The datasets that have a name."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final

from splice.errors import SpliceError
from splice.stream.source import Source

DATA_VARIABLE: Final = "SPLICE_DATA"
"""The environment variable that says where data that cannot ship is kept."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset that has a name.

    Parameters
    ----------
    name
        It.
    domain
        The domain that ships for it.
    about
        What it is, in a line.
    folder
        Where it stands below the data folder, unless it is simulated.
    simulator
        The function that makes it, as ``module:name``; it is loaded when it is asked for.
    """

    name: str
    domain: str
    about: str
    folder: str = ""
    simulator: str = ""

    @property
    def simulated(self) -> bool:
        """Whether the project makes the data itself."""
        return bool(self.simulator)

    def simulate(self) -> Source:
        """Return the simulated stream."""
        module, _, name = self.simulator.partition(":")
        made: Source = getattr(import_module(module), name)()
        return made


DATASETS: Final[dict[str, Dataset]] = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            "plaza",
            "plaza",
            "people in a square, simulated: meet and move",
            simulator="splice.lab.plaza:plaza",
        ),
        Dataset(
            "maritime-small",
            "rendezvous",
            "6 pairs of vessels, simulated: rendezvous",
            simulator="splice.lab.maritime:small",
        ),
        Dataset(
            "maritime",
            "rendezvous",
            "a month of 257 pairs of vessels, simulated: rendezvous",
            simulator="splice.lab.maritime:month",
        ),
        Dataset(
            "caviar-meet",
            "caviar-meet",
            "CAVIAR surveillance videos, 19 pairs of persons: meet",
            "caviar/lomrf_db/meet",
        ),
        Dataset(
            "caviar-move",
            "caviar-move",
            "CAVIAR surveillance videos, 19 pairs of persons: move",
            "caviar/lomrf_db/move",
        ),
        Dataset(
            "occupancy",
            "occupancy",
            "an office, four numbers a minute for 17 days: occupied",
            "occupancy/tables",
        ),
        Dataset(
            "skab",
            "skab",
            "a pump, eight numbers a second in 20 experiments: anomaly",
            "skab/tables",
        ),
        Dataset(
            "jaad",
            "jaad",
            "pedestrians before a car in 346 clips: crossing",
            "jaad/tables",
        ),
    )
}


def data_home() -> Path:
    """Return the folder of data that cannot ship: ``SPLICE_DATA``, or ``data`` here."""
    return Path(os.environ.get(DATA_VARIABLE) or "data")


def local_copy(dataset: Dataset) -> Path:
    """Return where a dataset stands on this machine, or say where it is expected."""
    folder = data_home() / dataset.folder
    if not folder.is_dir():
        raise SpliceError(
            f"dataset '{dataset.name}' is not on this machine: no folder '{folder}'",
            f"`splice data fetch {Path(dataset.folder).parts[0]}` gets it; or set {DATA_VARIABLE} "
            f"to the folder that holds '{dataset.folder}'",
        )
    return folder
