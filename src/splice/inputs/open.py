"""From what a user names to a source: a folder, a file or several, or a dataset."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Final, Self

from splice.errors import (
    InputError,
    Place,
    Problem,
    SpliceError,
    UnknownName,
    did_you_mean,
    raise_problems,
)
from splice.inputs.domains import load_domain
from splice.inputs.languages import EVIDENCE, LANGUAGES, TABLES, Located, language_of, open_tables
from splice.inputs.options import InputOptions
from splice.inputs.registry import DATASETS, Dataset, local_copy
from splice.io.dataframes import AnyFrame
from splice.io.domain_file import DOMAIN_FILE, DomainFile, read_domain_file
from splice.io.layout import step_in
from splice.io.lomrf.mln import read_mln
from splice.io.lomrf.modes import some_modes
from splice.io.oled_modes import is_oled_modes, parse_oled_modes, undeclared_modes
from splice.io.remote import Inputs, as_path
from splice.io.tables import Layout, TableSource
from splice.io.tables.frame_table import Frames, as_frames
from splice.io.text import natural_key, read_text
from splice.limits import Limits
from splice.logic.domain import DEFAULT_QUERY, Domain, Holds
from splice.logic.schema import Schema, Signature
from splice.stream.closed_world import Closing
from splice.stream.open_world import IntervalWorldSource, OpenWorldSource, WorldSource
from splice.stream.source import MemorySource, Source, collect
from splice.stream.summary import inferred_step
from splice.stream.timeline import Timeline, at_time_points

__all__ = [
    "InputName",
    "InputOptions",
    "Inputs",
    "Located",
    "Queries",
    "input_paths",
    "input_title",
    "locate",
    "open_input",
    "with_holds",
]

AUTO_STEP: Final = "auto"
"""The step of time that the data has, where it is regular."""


def _expected() -> str:
    first, *others = (f".{name}" for name in TABLES.formats)
    return (
        f"a folder holds .db files, or events{first} and labels{first} "
        f"(also {', '.join(others)}), or RTEC's pipe-separated csv"
    )


class InputName(str):
    """What a user names as input, as one text: ``events.csv labels.csv`` are two files.

    Whoever passes the name on, prints or compares it, needs not know that it stands for several.
    """

    names: tuple[str, ...]

    def __new__(cls, name: str, *others: str) -> Self:
        """Return the name of an input; with others, of several files that belong together."""
        text = super().__new__(cls, " ".join((name, *others)))
        text.names = (name, *others)
        return text

    def __reduce__(self) -> tuple[type[Self], tuple[str, ...]]:
        """Let a name travel to another process whole."""
        return type(self), self.names


class Queries(Enum):
    """Which query atoms an input has, besides those that are asked for with ``open_world``."""

    UNLABELLED = "unlabelled"
    """Those that it writes and, where a fluent has interval labels, what nobody labelled."""
    LABELLED = "labelled"
    """Those that it writes, and those that are false by convention."""
    WRITTEN = "written"
    """Only those that it writes."""


def open_input(
    name: Inputs | Frames | AnyFrame,
    options: InputOptions | None = None,
    *,
    queries: Queries = Queries.UNLABELLED,
) -> Source:
    """Return a folder, a file, several files, a dataset or DataFrames as a source.

    Nothing is read yet, but of frames how fine their timestamps are.

    Parameters
    ----------
    name
        A folder, a file, the name of a dataset, or several files: tables told apart by their
        columns, or files of evidence, each a sequence. Or a DataFrame of any kind, several of
        them, or a dictionary of them by name, such as ``{"events": ..., "labels": ...}``.
    options
        What the input means and how strictly it is read.
    queries
        Whether what interval labels leave open is asked about, as unknown.
    """
    options = options or InputOptions()
    # Names are by far the most inputs, and what can tell frames of any library is not loaded for them.
    frames = None if isinstance(name, str | PathLike) else as_frames(name)
    if frames is not None:
        source: Source = _open_frames(frames, options)
    else:
        names = _names(name)
        source = _open(names[0], options) if len(names) == 1 else _open_files(names, options)
    closing = Closing(options.exhaustive, bool(source.domain.exclusive))
    unknown = queries is Queries.UNLABELLED
    if options.open_world:
        return OpenWorldSource(source, closing)
    if queries is Queries.WRITTEN:
        return source
    if closing.exhaustive and not isinstance(source, TableSource):
        return OpenWorldSource(source, closing, unknown)
    if isinstance(source, TableSource):
        return IntervalWorldSource(source, closing, unknown)
    return WorldSource(source, closing, unknown) if closing else source


def input_paths(name: Inputs) -> tuple[Path, ...]:
    """Return the files or the folder that a name stands for; a simulated dataset has none."""
    names = _names(name)
    if len(names) == 1 and _is_dataset(names[0]):
        dataset = DATASETS[names[0]]
        return () if dataset.simulated else (local_copy(dataset),)
    return tuple(map(as_path, names))


def input_title(name: Inputs | Frames) -> str:
    """Return what to call an input in a heading: its name without folders.

    >>> input_title("data/week"), input_title(InputName("week/events.csv", "week/labels.csv"))
    ('week', 'events.csv, labels.csv')
    """
    if isinstance(name, Frames):
        return ", ".join(name.tables)
    return ", ".join(Path(part).name for part in _names(name))


def _names(name: object) -> tuple[str, ...]:
    if isinstance(name, InputName):
        return name.names
    if isinstance(name, str | PathLike):
        return (str(name),)
    several = name if isinstance(name, Sequence) else [name]
    for part in several:
        if not isinstance(part, str | PathLike):
            raise SpliceError(
                f"a value of type {type(part).__name__} is no input",
                "name a folder, a file or a dataset, or give DataFrames of events and labels",
            )
    if not several:
        raise SpliceError("no input is named", _expected())
    return tuple(map(str, several))


def _is_dataset(name: str) -> bool:
    return name in DATASETS and not Path(name).exists()


def _open(name: str, options: InputOptions) -> Source:
    if _is_dataset(name):
        dataset = DATASETS[name]
        if dataset.simulated:
            return _simulated(dataset, options)
        path = local_copy(dataset)
        if not (options.domain or options.schema):
            options = replace(options, domain=dataset.domain)
    else:
        path = as_path(name)
    return _open_path(path, options)


def _simulated(dataset: Dataset, options: InputOptions) -> Source:
    """Return a simulated dataset; what it means it knows, but for when changes count."""
    source = dataset.simulate()
    domain = with_holds(source.domain, options.holds)
    return source if domain is source.domain else MemorySource(collect(source), domain)


def _open_path(path: Path, options: InputOptions) -> Source:
    described = _domain(path, options)
    located = locate(path, described.layout)
    return _opened(partial(located.language.open, located), described, options)


def _open_files(names: Sequence[str], options: InputOptions) -> Source:
    """Open several files as one input; each must be a file, all in one language."""
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise SpliceError(f"'{twice[0]}' is named twice", "name each file once")
    folders = [name for name in names if as_path(name).is_dir() or _is_dataset(name)]
    if folders:
        raise SpliceError(
            f"'{folders[0]}' is not a file",
            "several inputs are files, such as events.csv labels.csv; name a folder or a dataset alone",
        )
    located = [locate(as_path(name)) for name in names]
    languages = {each.language: str(each.root) for each in reversed(located)}
    if len(languages) > 1:
        first, second = list(languages.values())[:2]
        raise SpliceError(
            f"'{second}' and '{first}' are not in one language",
            "several files are tables, or evidence (.db), or RTEC's csv",
        )
    language = located[0].language
    paths = tuple(path for each in located for path in each.paths)
    described = _domain(as_path(names[0]), options)
    return _opened(partial(language.open, Located(language, paths, paths[0])), described, options)


def _open_frames(frames: Frames, options: InputOptions) -> Source:
    """Open frames as an input; their timestamps are counted as finely as they are written."""
    if not (options.time_unit or isinstance(options.domain, str)):
        options = replace(options, time_unit=frames.time_unit)
    return _opened(partial(open_tables, frames), _domain(None, options), options)


def _opened(
    read: Callable[[DomainFile, InputOptions], Source],
    described: DomainFile,
    options: InputOptions,
) -> Source:
    """Return an input as a source, its events at time-points; tables see to that themselves."""
    source = read(described, options)
    if options.every == AUTO_STEP:  # which only a reading can tell; then the input is opened again
        clock = replace(described.domain.clock, step=inferred_step(source))
        described = replace(described, domain=replace(described.domain, clock=clock))
        source = read(described, options)
    timeline = Timeline(described.domain.clock.step, described.layout.states)
    if timeline and not isinstance(source, TableSource):
        return at_time_points(source, timeline)
    return source


def locate(path: Path, layout: Layout | None = None) -> Located:
    """Find out in which language an input is written."""
    if path.is_dir():
        return _locate_folder(path, layout)
    if not path.exists():
        near = did_you_mean(str(path), DATASETS)
        hint = near or f"datasets with a name: {', '.join(DATASETS)}"
        raise SpliceError(f"'{path}' is neither a file, a folder nor a dataset", hint)
    language = language_of(path)
    if language is not None:
        return Located(language, (path,), path)
    raise InputError(
        Problem(
            Place(str(path)), f"'{path.suffix or path.name}' is not a data format", "", _expected()
        )
    )


def _locate_folder(path: Path, layout: Layout | None) -> Located:
    entries = sorted((e for e in path.iterdir() if e.is_file()), key=lambda e: natural_key(e.name))
    databases = EVIDENCE.inside(path, entries)
    if databases and TABLES.inside(path, entries):
        raise InputError(
            Problem(
                Place(str(path)),
                f"both evidence ('{databases[0].name}') and tables in one folder",
                "",
                "name the file, or keep the two apart",
            )
        )
    for language in LANGUAGES:
        files = language.inside(path, entries)
        if files:
            return Located(language, files, path)
    if layout and layout.tables:
        return Located(TABLES, tuple(entries), path)
    folders = sorted(e.name for e in path.iterdir() if e.is_dir())
    inside = f"it holds folders: {', '.join(folders[:5])}; name one of them" if folders else ""
    raise InputError(Problem(Place(str(path)), "no data in this folder", "", inside or _expected()))


def _domain(path: Path | None, options: InputOptions) -> DomainFile:
    """Return what the input means: as the options say, else its own domain.toml, else nothing."""
    if options.domain and options.schema:
        raise SpliceError("--domain and --schema both say what the input means", "say one of them")
    inside = path / DOMAIN_FILE if path and path.is_dir() else None
    if options.domain:
        described = load_domain(options.domain)
    elif options.schema is None and inside and inside.is_file():
        described = read_domain_file(inside, options.limits)
    else:
        described = DomainFile(Domain())
    domain = described.domain
    if options.schema:
        schema = read_mln(options.schema).schema
        domain = replace(domain, schema=schema, closed=not options.partial)
    if options.modes:
        domain = _with_modes(domain, options.modes, options.limits)
    if options.query:
        domain = replace(domain, query=_signature(options.query, domain.schema), fluents=())
    domain = with_holds(domain, options.holds)
    layout = described.layout
    if options.every and options.every != AUTO_STEP:
        step, unit = step_in(options.every, options.time_unit or layout.time_unit)
        domain = replace(domain, clock=replace(domain.clock, step=step))
        layout = replace(layout, time_unit=unit)
    return replace(described, domain=domain, layout=layout)


def with_holds(domain: Domain, holds: str | None) -> Domain:
    """Return a domain in which changes count as a word says, if one is given: after or from."""
    if holds is None:
        return domain
    if holds not in (names := [way.value for way in Holds]):
        raise UnknownName("way to hold", holds, names)
    return replace(domain, clock=replace(domain.clock, holds=Holds(holds)))


def _with_modes(domain: Domain, path: Path, limits: Limits) -> Domain:
    """Return a domain with the modes of a file; OLED's also say what is learned, and the types."""
    text, file = read_text(path, limits), str(path)
    if not is_oled_modes(text):
        return replace(domain, modes=some_modes(text, file))
    declared = parse_oled_modes(text, file)
    target = replace(domain, modes=declared.modes, query=declared.query, fluents=declared.fluents)
    if not domain.schema.predicates:
        return replace(target, schema=declared.schema)
    problems = undeclared_modes(text, file, declared.modes, domain.schema) if domain.closed else []
    raise_problems(problems)
    return target


def _signature(text: str, schema: Schema) -> Signature:
    match = re.fullmatch(r"([A-Za-z]\w*)/([0-9]{1,2})", text)
    if not match:
        raise SpliceError(
            f"'{text}' is not a query predicate",
            f"write name/arity, such as {DEFAULT_QUERY.spelled}",
        )
    signature = Signature(schema.internal_name(match[1]), int(match[2]))
    if schema.predicates and schema.predicate(signature) is None:
        spellings = [f"{schema.spelling(p.name)}/{len(p.args)}" for p in schema.predicates]
        hint = did_you_mean(text, spellings) or f"the schema has: {', '.join(spellings)}"
        raise SpliceError(f"the schema has no predicate {text}", hint)
    return signature
