"""Every problem of an input, not only the first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from splice.errors import InputError, Place, Problem
from splice.events.theory_check import SeenAtoms, SeenSource
from splice.inputs.open import InputOptions, Inputs, Queries, input_paths, locate, open_input
from splice.io.domain_file import read_domain_file
from splice.io.lomrf.db import DbSource
from splice.io.lomrf.mln import read_mln_all
from splice.io.lomrf.modes import some_modes
from splice.io.oled_modes import is_oled_modes, parse_oled_modes
from splice.io.rtec import RtecSource
from splice.io.tables import TableSource
from splice.io.text import natural_key, read_text
from splice.logic.syntax import parse_theory_all
from splice.stream.open_world import WorldSource
from splice.stream.summary import CLOSING_HINT, one_sided_text, survey

RULE_ENDINGS = (".rules", ".pl", ".prolog", ".lp")
"""The endings of files that hold rules."""

_KNOWLEDGE = (".mln", ".modes", ".toml", *RULE_ENDINGS)


def input_problems(name: Inputs, options: InputOptions) -> Iterator[Problem]:
    """Yield every problem of data, of a theory, of modes or of a domain.

    A folder that holds no data itself is checked folder by folder.
    """
    paths = input_paths(name)
    path = Path(name) if isinstance(name, str) and len(paths) < 2 else None
    if path is None:
        yield from _data_problems(name, options)
    elif path.is_file():
        yield from _file_problems(path, str(name), options)
    elif _only_folders(path):
        inside = (e for e in path.iterdir() if e.is_dir())
        for folder in sorted(inside, key=lambda e: natural_key(e.name)):
            yield from input_problems(str(folder), options)
    else:
        yield from _data_problems(name, options)


def input_warnings(name: Inputs, options: InputOptions) -> list[str]:
    """Return what is no problem and yet likely not meant: labels about nothing, of one sort, ...

    Only of data: a theory, modes or a domain have none.
    """
    paths = input_paths(name)
    if len(paths) == 1 and (paths[0].suffix in _KNOWLEDGE or _only_folders(paths[0])):
        return []
    source = open_input(name, options, queries=Queries.LABELLED)
    tables = source.inner if isinstance(source, WorldSource) else source
    seen = SeenAtoms()
    surveyed = survey(SeenSource(source, seen), tables if isinstance(tables, TableSource) else None)
    sides = (one_sided_text(surveyed.labels, "false"), one_sided_text(surveyed.labels, "true"))
    warnings = [f"{sides[0]}: {CLOSING_HINT}"] if sides[0] else []
    warnings += [f"{sides[1]}: nothing can say when it holds"] if sides[1] else []
    warnings += tables.report.notes
    return [*warnings, *surveyed.warnings(source.domain.clock), *_switches(seen)]


_SWITCHES: Final = (
    ("on", "off"), ("open", "close"), ("open", "closed"), ("opened", "closed"), ("open", "shut"),
    ("start", "end"), ("start", "stop"), ("started", "stopped"), ("begin", "end"), ("enter", "leave"),
    ("enter", "exit"), ("in", "out"), ("up", "down"),
)  # fmt: skip
"""What the names of two events end with that say when something begins and ends to be so."""


def _switches(seen: SeenAtoms) -> Iterator[str]:
    """Yield which events come in pairs, one for a beginning and one for an end, as states have them."""
    names = {event.name for event in seen.events}
    for beginning, ending in _SWITCHES:
        for sign in ("_", "-", ".", " "):
            on, off = f"{sign}{beginning}", f"{sign}{ending}"
            pairs = sorted(n for n in names if n.endswith(on) and n[: -len(on)] + off in names)
            if pairs:
                stem = pairs[0][: -len(on)]
                more = f" and {len(pairs) - 1} more pairs" if len(pairs) > 1 else ""
                yield (
                    f"events come in pairs, '{pairs[0]}' and '{stem}{off}'{more}: if they say that "
                    f'something begins and ends, declare in domain.toml [states] on = "*{on}", off = '
                    f'"*{off}"; then rules see what is so in between'
                )


def _only_folders(path: Path) -> bool:
    """Whether a path is a folder that holds folders and no data itself."""
    if not path.is_dir():
        return False
    try:
        locate(path)
    except InputError:
        return any(entry.is_dir() for entry in path.iterdir())
    return False


def _file_problems(path: Path, name: str, options: InputOptions) -> Iterator[Problem]:
    if path.suffix == ".mln":
        yield from read_mln_all(path)[1]
    elif path.suffix in _KNOWLEDGE:
        try:
            if path.suffix == ".modes":
                text = read_text(path)
                (parse_oled_modes if is_oled_modes(text) else some_modes)(text, str(path))
            elif path.suffix == ".toml":
                read_domain_file(path)
            else:
                yield from _rule_problems(path)
        except InputError as error:
            yield from error.problems
    else:
        yield from _data_problems(name, options)


def _rule_problems(path: Path) -> Iterator[Problem]:
    theory, problems = parse_theory_all(read_text(path), str(path))
    if not problems and not len(theory):
        hint = "a rule is 'head :- body.'"
        problems = [Problem(Place(str(path), 1, 1), "the file has no rules", hint=hint)]
    yield from problems


def _data_problems(name: Inputs, options: InputOptions) -> Iterator[Problem]:
    try:
        source = open_input(
            name, replace(options, open_world=False, exhaustive=False), queries=Queries.WRITTEN
        )
        if isinstance(source, DbSource | TableSource | RtecSource):
            yield from source.problems()
        else:
            for _ in source.chunks():
                pass
    except InputError as error:
        yield from error.problems
