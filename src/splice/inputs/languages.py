"""The languages that data can be in: evidence files, RTEC's csv, and tables of any format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from splice.io.domain_file import DomainFile
from splice.io.lomrf.db import DbSource, write_db
from splice.io.rtec import RtecSource, looks_like_rtec, write_rtec
from splice.io.tables import TableSource, has_tables, is_data_table, write_tables
from splice.io.tables.files import format_names, format_of
from splice.io.tables.frame_table import Frames
from splice.stream.source import Source

if TYPE_CHECKING:
    from splice.inputs.open import InputOptions


@dataclass(frozen=True, slots=True)
class Located:
    """An input that was found.

    Parameters
    ----------
    language
        What it is written in.
    paths
        Its files.
    root
        What was named: a folder, or the first file.
    """

    language: Language
    paths: tuple[Path, ...]
    root: Path


class Language(ABC):
    """How a stream of atoms stands in files: which files, how they are read, how written."""

    labelled: ClassVar[bool] = True
    """Whether it can say labels."""

    @property
    @abstractmethod
    def formats(self) -> Sequence[str]:
        """The names of the formats that it is written in."""

    @abstractmethod
    def has(self, path: Path) -> bool:
        """Whether a file is in this language."""

    def format_of(self, paths: Sequence[Path]) -> str:
        """Return the name of the format that files are in."""
        return self.formats[0]

    def inside(self, folder: Path, files: Sequence[Path]) -> tuple[Path, ...]:
        """Return the files of a folder that are data in this language."""
        return tuple(path for path in files if self.has(path))

    @abstractmethod
    def open(self, located: Located, described: DomainFile, options: InputOptions) -> Source:
        """Return an input as a source; nothing is read yet."""

    @abstractmethod
    def write(self, source: Source, folder: Path, style: str) -> int:
        """Write a source into a folder; return how many atoms have no place in the language."""


class Evidence(Language):
    """LoMRF's evidence: a ``.db`` file a sequence."""

    formats = ("db",)

    def has(self, path: Path) -> bool:
        """Whether a file is in this language."""
        return path.name.removesuffix(".gz").endswith(".db")

    def open(self, located: Located, described: DomainFile, options: InputOptions) -> Source:
        """Return an input as a source."""
        return DbSource(located.paths, described.domain, limits=options.limits)

    def write(self, source: Source, folder: Path, style: str) -> int:
        """Write a source into a folder."""
        write_db(source, folder)
        return 0


class Rtec(Language):
    """RTEC's pipe-separated csv: a file a sequence, events alone."""

    formats = ("rtec",)
    labelled = False

    def has(self, path: Path) -> bool:
        """Whether a file is in this language."""
        name = path.name.removesuffix(".gz")
        return name.endswith((".csv", ".txt")) and looks_like_rtec(path)

    def inside(self, folder: Path, files: Sequence[Path]) -> tuple[Path, ...]:
        """Return the files of a folder that are data in this language: texts may be notes."""
        named = [path for path in files if path.name.removesuffix(".gz").endswith(".csv")]
        return super().inside(folder, named)

    def open(self, located: Located, described: DomainFile, options: InputOptions) -> Source:
        """Return an input as a source."""
        return RtecSource(
            located.paths,
            described.domain,
            sort=options.sort,
            max_bad=options.max_bad,
            limits=options.limits,
        )

    def write(self, source: Source, folder: Path, style: str) -> int:
        """Write a source into a folder."""
        return write_rtec(source, folder)


class Tables(Language):
    """Tables of events, labels and functions, in any format of tables."""

    @property
    def formats(self) -> Sequence[str]:
        """The names of the formats that it is written in."""
        return format_names()

    def has(self, path: Path) -> bool:
        """Whether a file is in this language."""
        return is_data_table(path)

    def format_of(self, paths: Sequence[Path]) -> str:
        """Return the name of the format that files are in; of several, the first but CSV."""
        used = {style.name for style in map(format_of, paths) if style and style.streamed}
        first, *others = self.formats
        return next((name for name in others if name in used), first)

    def inside(self, folder: Path, files: Sequence[Path]) -> tuple[Path, ...]:
        """Return the files of a folder that has tables by their usual names."""
        return tuple(files) if has_tables(folder) else ()

    def open(self, located: Located, described: DomainFile, options: InputOptions) -> Source:
        """Return an input as a source."""
        return open_tables(
            located.root if located.root.is_dir() else located.paths, described, options
        )

    def write(self, source: Source, folder: Path, style: str) -> int:
        """Write a source into a folder."""
        write_tables(source, folder, style)
        return 0


def open_tables(
    inputs: Path | Sequence[Path] | Frames, described: DomainFile, options: InputOptions
) -> TableSource:
    """Return tables as a source; nothing is read yet."""
    return TableSource(
        inputs,
        described.domain,
        described.layout,
        sort=options.sort,
        max_bad=options.max_bad,
        time_unit=options.time_unit,
        limits=options.limits,
    )


EVIDENCE: Final = Evidence()
TABLES: Final = Tables()
LANGUAGES: Final[tuple[Language, ...]] = (EVIDENCE, TABLES, Rtec())
"""Every language, in the order in which a folder is taken to be in it."""


def written_formats() -> dict[str, Language]:
    """Return every format that data can be written in, with its language.

    >>> ", ".join(sorted(written_formats()))
    'csv, db, ndjson, parquet, rtec'
    """
    return {name: language for language in LANGUAGES for name in language.formats}


def language_of(path: Path) -> Language | None:
    """Return the language of a file, or None."""
    # RTEC's csv is asked first: it is told from a table by what stands in it.
    return next((language for language in reversed(LANGUAGES) if language.has(path)), None)
