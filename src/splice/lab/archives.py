"""Data that others publish: where it stands, and on what terms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

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
    )
}
"""What can be fetched, by name."""


def archive_of(name: str) -> Archive:
    """Return an archive by its name."""
    if name not in FETCHED:
        raise UnknownName("archive", name, FETCHED)
    return FETCHED[name]
