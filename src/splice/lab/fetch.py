"""Data that others publish: fetched from its home, checked, and put where it is read.

What is downloaded is kept below the data folder with the sums that it had at first. Later it
is never taken for granted: a file that is not what it was, here or at its home, is an error,
and nothing is overwritten. Nobody else's sums are trusted, since nobody publishes any.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from splice.errors import InputError, Place, Problem, SpliceError
from splice.inputs.registry import DATASETS, data_home
from splice.inputs.write import Progress, write_source
from splice.io.outputs import check_output
from splice.lab.archives import AIS_CSV, AIS_ZIP, Archive, archive_of
from splice.lab.caviar import CLIPS, PUBLISHED, caviar_source
from splice.lab.cvml import read_cvml_files
from splice.lab.download import (
    SUMS,
    DownloadError,
    check_address,
    copy_file,
    download,
    file_sum,
    members,
    read_sums,
    unpack,
    write_sums,
)
from splice.lab.foreign import jaad, occupancy, skab
from splice.lab.foreign.tables import EventTables

Steps = Generator[int]
Maker = Callable[[Mapping[str, Path], list[Path]], Iterator[int]]
"""Makes targets of files that are here, given by their names."""

_AIS_LIMIT: Final = 8 * 2**30
"""The most bytes that the unpacked positions of vessels may have."""
_TABLES_LIMIT: Final = 2**30
"""The most bytes that the unpacked files of other data may have."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a fetching did: files downloaded, files that were there, folders and files made."""

    archive: Archive
    downloaded: int
    kept: int
    made: tuple[Path, ...]
    left: tuple[Path, ...]


def fetch(
    name: str,
    *,
    home: str | None = None,
    local: Path | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Fetched:
    """Fetch an archive, make of it what the project reads, and return what was done.

    What is made already stays, and then nothing is downloaded. A file that is not what it was at
    first is an error in any case.

    Parameters
    ----------
    name
        The archive: ``caviar``, ``brest``, ``occupancy``, ``skab`` or ``jaad``.
    home
        Another address than the usual one.
    local
        A folder that has the files already.
    force
        Make anew what is made already.
    progress
        Called with the steps and a function that says what is done now; it yields the steps.
    """
    archive = archive_of(name)
    if home and local:
        raise SpliceError("a home and a local copy are both given", "say one of them")
    if home:
        check_address(home)
    targets = [data_home() / target for target in archive.targets]
    to_make = [target for target in targets if force or not _is_there(target)]
    for target in to_make:
        if not target.suffix:
            check_output(target, force=force)
    job = _Job(archive, to_make)
    steps = _from_folder(job, local) if local else _from_home(job, home, force=force)
    with closing(steps):
        for _ in progress(steps, lambda: job.now) if progress else steps:
            pass
    left = tuple(target for target in targets if target not in to_make)
    return Fetched(archive, job.downloaded, job.kept, tuple(to_make), left)


def _is_there(target: Path) -> bool:
    return any(target.iterdir()) if target.is_dir() else target.exists()


@dataclass
class _Job:
    """A fetching on its way."""

    archive: Archive
    to_make: list[Path]
    now: str = ""
    downloaded: int = 0
    kept: int = 0
    paths: dict[str, Path] = field(default_factory=dict)

    def make(self) -> Steps:
        """Make the targets of the files that are here."""
        if self.to_make:
            self.now = f"making {self.archive.name}"
            yield from _MAKERS[self.archive.name](self.paths, self.to_make)


def _from_home(job: _Job, home: str | None, *, force: bool) -> Steps:
    """Download what is not here yet and check what is."""
    archive = job.archive
    folder = data_home() / archive.folder
    sums = read_sums(folder)
    before = dict(sums)
    job.paths = {name: folder / name for name in archive.files}
    here = [name for name, path in job.paths.items() if path.exists() and not force]
    for name in here:
        job.now = f"checking {name}"
        _check(job.paths[name], name, sums)
        yield 0
    if sums != before:
        write_sums(folder, sums)
    job.kept = len(here)
    missing = (n for n in archive.files if n not in here and job.to_make)
    waiting = {name: archive.addresses(home)[name] for name in missing}
    for name, addresses in list(waiting.items()):
        job.now = f"downloading {name}"
        try:
            checksum = yield from _download(addresses, folder / name, archive.limit, sums.get(name))
        except DownloadError as error:
            raise _unreachable(archive, error, waiting, folder) from None
        sums[name] = checksum
        write_sums(folder, sums)
        job.downloaded += 1
        del waiting[name]
    yield from job.make()


def _check(path: Path, name: str, sums: dict[str, str]) -> None:
    """Compare a file with its first sum, which it gets now if it has none."""
    checksum = file_sum(path)
    if sums.setdefault(name, checksum) != checksum:
        raise InputError(
            Problem(
                Place(str(path)),
                "this is not the file that was downloaded at first: its sum is another",
                hint=f"--force downloads it again; without its line in {SUMS} it is taken as it is",
            )
        )


def _download(
    addresses: tuple[str, ...], path: Path, limit: int, expected: str | None
) -> Generator[int, None, str]:
    """Download a file from the first address that has it."""
    for address in addresses[:-1]:
        try:
            return (yield from download(address, path, limit=limit, expected=expected))
        except DownloadError as error:
            if not error.missing:
                raise
    return (yield from download(addresses[-1], path, limit=limit, expected=expected))


def _unreachable(
    archive: Archive, error: DownloadError, waiting: Mapping[str, tuple[str, ...]], folder: Path
) -> SpliceError:
    """Say what to download by hand, and where to put it."""
    listed = "\n".join(f"    {addresses[0]}" for addresses in waiting.values())
    return SpliceError(
        f"{error.message}\nthe files of '{archive.name}' that are not here yet:\n{listed}",
        f"download them into '{folder}' and run `splice data fetch {archive.name}` again, "
        f"or say `--data DIR` if you have them elsewhere",
    )


def _from_folder(job: _Job, folder: Path) -> Steps:
    """Take the files from a folder, wherever in it they stand."""
    if not folder.is_dir():
        raise SpliceError(f"'{folder}' is not a folder", "name the folder that holds the files")
    by_name: dict[str, list[Path]] = {}
    for path in folder.rglob("*"):
        if path.is_file():
            by_name.setdefault(path.name, []).append(path)
    unpacked = {Path(target).name for target in job.archive.targets if Path(target).suffix}
    for name in sorted({*job.archive.needed, *unpacked}):
        places = by_name.get(name, [])
        if len(places) > 1:
            first, second = sorted(places)[:2]
            message = f"'{name}' is there more than once: '{first}' and '{second}'"
            raise InputError(Problem(Place(str(folder)), message, hint="name the folder of one"))
        if places:
            job.paths[name] = places[0]
    missing = sorted(job.archive.needed - job.paths.keys())
    if missing and not unpacked & job.paths.keys():
        raise InputError(
            Problem(
                Place(str(folder)),
                f"no {', no '.join(missing)} in this folder",
                hint=f"they stand below {unquote(job.archive.home)}",
            )
        )
    job.kept = len(job.paths)
    yield from job.make()


def _make_caviar(paths: Mapping[str, Path], targets: list[Path]) -> Steps:
    """Derive the published sequences and write them as evidence files."""
    needed = dict.fromkeys(pair.clip for pair in PUBLISHED)
    annotation = read_cvml_files({clip: paths[CLIPS[clip]] for clip in needed})
    yield 0
    for composite in ("meet", "move"):
        target = data_home() / DATASETS[f"caviar-{composite}"].folder
        if target in targets:
            write_source(caviar_source(annotation, composite), target, "db")
            yield 0


def _make_brest(paths: Mapping[str, Path], targets: list[Path]) -> Steps:
    """Unpack the positions."""
    (target,) = targets
    if AIS_CSV in paths:
        yield from copy_file(paths[AIS_CSV], target, limit=_AIS_LIMIT)
    else:
        yield from unpack(paths[AIS_ZIP], AIS_CSV, target, limit=_AIS_LIMIT)


def _make_tables(
    name: str, pattern: re.Pattern[str], read: Callable[[dict[str, bytes]], EventTables]
) -> Maker:
    """Return what makes the two tables of a zip archive."""

    def make(paths: Mapping[str, Path], targets: list[Path]) -> Steps:
        (target,) = targets
        files = members(paths[f"{name}.zip"], pattern, limit=_TABLES_LIMIT)
        yield 0
        read(files).write(target)

    return make


_MAKERS: Final[dict[str, Maker]] = {
    "caviar": _make_caviar,
    "brest": _make_brest,
    "occupancy": _make_tables("occupancy", occupancy.MEMBERS, occupancy.read_occupancy),
    "skab": _make_tables("skab", skab.MEMBERS, skab.read_skab),
    "jaad": _make_tables("jaad", jaad.MEMBERS, jaad.read_jaad),
}
