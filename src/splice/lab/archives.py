"""Data that others publish: where it stands, and on what terms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from splice.errors import UnknownName
from splice.inputs.registry import DATASETS
from splice.lab.caviar import CLIPS, PUBLISHED, SITUATIONS


@dataclass(frozen=True, slots=True)
class Archive:
    """Data that is published somewhere: where, on what terms, and what becomes of it.

    ``files`` gives for each file the paths below ``home`` where it may stand, the likeliest
    first; ``folder`` is where the files are kept, and ``targets`` what is made of them, below
    the data folder. ``needed`` are the files without which nothing can be made.
    """

    name: str
    about: str
    home: str
    licence: str
    credit: str
    files: Mapping[str, tuple[str, ...]]
    needed: frozenset[str]
    folder: str
    targets: tuple[str, ...]
    limit: int

    def addresses(self, home: str | None = None) -> dict[str, tuple[str, ...]]:
        """Return for each file the addresses where it may stand."""
        base = (home or self.home).rstrip("/")
        return {
            name: tuple(f"{base}/{path}" for path in paths) for name, paths in self.files.items()
        }


# Most clips stand at their home in a folder of their name without the number.
_FOLDERS: Final = {
    "22-Meet_Split3rdGuy": ("Meet_Split_3rdGuy",),
    "24-Meet_Split": ("Split", "Meet_Split"),
    **{f"27-Fight_OneManDown{n}": ("Fight_OneManDown",) for n in (1, 2, 3)},
}


def _clip_paths(clip: str, file: str) -> tuple[str, ...]:
    folders = _FOLDERS.get(clip) or (re.sub("^[0-9]+-", "", clip),)
    return tuple(f"{folder}/{file}" for folder in folders)


def _github(repository: str, commit: str, **more: Any) -> Archive:
    """Return what a repository had at a commit, as one zip archive."""
    name = more["name"]
    return Archive(
        home=f"https://github.com/{repository}",
        files={f"{name}.zip": (f"archive/{commit}.zip",)},
        needed=frozenset({f"{name}.zip"}),
        folder=f"{name}/archive",
        targets=(DATASETS[name].folder,),
        limit=256 * 2**20,
        **more,
    )


AIS_ZIP: Final = "[P1] AIS Data.zip"
AIS_CSV: Final = "nari_dynamic.csv"

FETCHED: Final[dict[str, Archive]] = {
    archive.name: archive
    for archive in (
        Archive(
            name="caviar",
            about="CAVIAR, ground truth of 30 surveillance clips",
            home="https://homepages.inf.ed.ac.uk/rbf/CAVIARDATA1",
            licence="Creative Commons BY-SA",
            credit="EC Funded CAVIAR project/IST 2001 37540, "
            "http://homepages.inf.ed.ac.uk/rbf/CAVIAR/",
            files={file: _clip_paths(clip, file) for clip, file in CLIPS.items()},
            needed=frozenset(CLIPS[pair.clip] for pair in PUBLISHED),
            folder="caviar/xml",
            targets=tuple(DATASETS[f"caviar-{composite}"].folder for composite in SITUATIONS),
            limit=64 * 2**20,
        ),
        Archive(
            name="brest",
            about="positions of vessels around Brest, October 2015 to March 2016 (AIS)",
            home="https://zenodo.org/record/1167595/files",
            licence="Creative Commons BY-NC-SA 4.0: not for commercial use",
            credit="Ray et al., Heterogeneous Integrated Dataset for Maritime Intelligence, "
            "Surveillance, and Reconnaissance, https://doi.org/10.5281/zenodo.1167595",
            files={AIS_ZIP: ("%5BP1%5D%20AIS%20Data.zip?download=1",)},
            needed=frozenset({AIS_ZIP}),
            folder="brest/archive",
            targets=(f"brest/{AIS_CSV}",),
            limit=2 * 2**30,
        ),
        _github(
            "LuisM78/Occupancy-detection-data",
            "ba2b1d7b53a71292ff61b867d3e16f0e539c7eb6",
            name="occupancy",
            about="an office: light, air and heat of 17 days, and whether somebody is in",
            licence="Creative Commons BY 4.0 (as data set 357 of the UCI repository)",
            credit="Candanedo and Feldheim, Accurate occupancy detection of an office room, "
            "Energy and Buildings 112 (2016), https://doi.org/10.24432/C5X01N",
        ),
        _github(
            "waico/SKAB",
            "b2c0d46c2971dcbfe71e26087b6d231998bb91c2",
            name="skab",
            about="SKAB, 20 experiments with a pump and a valve that is closed",
            licence="GNU General Public License 3.0",
            credit="Katser and Kozitsin, Skoltech Anomaly Benchmark (SKAB), "
            "https://doi.org/10.34740/KAGGLE/DSV/1693952",
        ),
        _github(
            "ykotseruba/JAAD",
            "7712f553f869e3e50199565b7b8a8f2d0657550d",
            name="jaad",
            about="JAAD, annotation of 346 clips of pedestrians before a car",
            licence="MIT",
            credit="Rasouli, Kotseruba and Tsotsos, Are they going to cross?, ICCV workshops (2017), "
            "https://data.nvision2.eecs.yorku.ca/JAAD_dataset/",
        ),
    )
}
"""What can be fetched, by name."""


def archive_of(name: str) -> Archive:
    """Return an archive by its name."""
    if name not in FETCHED:
        raise UnknownName("archive", name, FETCHED)
    return FETCHED[name]
