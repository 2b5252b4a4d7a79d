"""What reads files: streams, knowledge, and what the laboratory reads."""

from __future__ import annotations

import contextlib
import functools
import io
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from fuzz.samples import (
    AIS,
    CALENDAR,
    CVML,
    DB,
    DOMAIN,
    EVENTS,
    EXPERIMENT,
    INTERVALS,
    LABELS,
    MLN,
    MODES,
    OLED_MODES,
    RESULTS,
    RTEC,
    RULES,
    SPANS,
    WEIGHTED,
    WEIGHTED_MLN,
)
from fuzz.target import Target, damaged, in_file, packed, whole_tables
from splice.io.remote import as_path

__all__ = ["TARGETS"]

# data: read as a stream, and checked


def _stream(path: Path) -> None:
    from splice.inputs.check import input_problems
    from splice.inputs.open import InputOptions, open_input

    options = InputOptions(time_unit="s" if path.stat().st_size % 2 else None)
    source = open_input(str(path), options)
    with _left_to_the_check():
        for chunk in source.chunks():
            assert chunk.lines is None or len(chunk.lines) == len(chunk)
    for problem in input_problems(str(path), options):
        assert problem.place.file
        str(problem)


@contextlib.contextmanager
def _left_to_the_check() -> Iterator[None]:
    from splice.errors import SpliceError

    with contextlib.suppress(SpliceError):
        yield


@functools.cache
def _parquet() -> bytes:
    frame = pl.read_csv(io.BytesIO(EVENTS.encode()))
    with io.BytesIO() as stream:
        frame.write_parquet(stream)
        return stream.getvalue()


def _ndjson(text: str) -> str:
    return pl.read_csv(io.BytesIO(text.encode()), infer_schema=False).write_ndjson()


def _folder(data: bytes, folder: Path) -> None:
    """Read a domain.toml beside tables, and the tables by it."""
    home = folder / "data"
    home.mkdir(exist_ok=True)
    (home / "events.csv").write_text(EVENTS, "utf-8")
    (home / "labels.csv").write_text(LABELS, "utf-8")
    (home / "domain.toml").write_bytes(data)
    _stream(home)


_STATES = """[time]
every = "2"
holds = "from"
[states]
on = ["press", "walk(*,p1,*)"]
walk = "walk(p0,*)"
changes = true
"""


def _elsewhere(data: bytes, _: Path) -> None:
    """Read a table at an address."""
    import fsspec

    fsspec.filesystem("memory").pipe_file("/fuzz/events.csv", data)
    _stream(as_path("memory://fuzz/events.csv"))


# knowledge


def _domain(path: Path) -> None:
    from splice.io.domain_file import parse_domain, read_domain_file
    from splice.io.domain_text import format_domain

    found = read_domain_file(path)
    again = parse_domain(format_domain(found.domain, time_unit=found.layout.time_unit))
    assert again.domain.schema == found.domain.schema


def _mln(path: Path) -> None:
    from splice.io.lomrf.mln import read_mln

    str(read_mln(path))


def _modes(path: Path) -> None:
    from splice.io.lomrf.modes import format_modes, some_modes
    from splice.io.oled_modes import is_oled_modes, parse_oled_modes
    from splice.io.text import read_text

    text = read_text(path)
    if is_oled_modes(text):
        parse_oled_modes(text, str(path))
    else:
        format_modes(some_modes(text, str(path)))


def _rules(path: Path) -> None:
    from splice.events.crisp.program import compile_program
    from splice.inputs.theories import load_theory
    from splice.logic.domain import Domain
    from splice.logic.syntax import parse_theory

    theory = load_theory(str(path))
    assert parse_theory(str(theory)) == parse_theory(str(parse_theory(str(theory))))
    compile_program(theory, Domain())


def _recognised(data: bytes, folder: Path) -> None:
    """Recognise by a damaged theory, on tables that are whole."""
    from splice.events.recognise import recognise
    from splice.inputs.open import open_input
    from splice.inputs.theories import load_theory

    home = whole_tables(folder)
    (folder / "t.rules").write_bytes(data)
    theory = load_theory(str(folder / "t.rules"))
    recognise(theory, open_input(str(home))).intervals()


def _recognised_mln(data: bytes, folder: Path) -> None:
    """Work out a damaged knowledge base on evidence that is whole."""
    from splice.events.recognise import recognise
    from splice.inputs.open import open_input
    from splice.inputs.theories import load_theory

    (folder / "e.db").write_text(DB, "utf-8")
    (folder / "t.mln").write_bytes(data)
    theory = load_theory(str(folder / "t.mln"))
    recognise(theory, open_input(str(folder / "e.db"))).intervals()


def _intervals(path: Path) -> None:
    from splice.io.intervals import read_intervals

    read_intervals(path, time_unit="s")


# what the laboratory reads


def _experiment(path: Path) -> None:
    from splice.lab.experiments.run import load

    for cell in load(path).cells()[:50]:
        str(cell)


def _cvml(path: Path) -> None:
    from splice.lab.cvml import read_cvml

    read_cvml(path, "clip")


def _ais(path: Path) -> None:
    from splice.lab.ais import read_ais
    from splice.stream.source import ReadReport

    for frame in read_ais(path, ReadReport(), max_bad=0.5):
        assert frame.width


def _results(path: Path) -> None:
    from splice.lab.figures.results import read_results

    read_results(path)


def _manifest(data: bytes, folder: Path) -> None:
    from splice.lab.experiments.run import rows_of

    (folder / "manifest.json").write_bytes(data)
    rows_of(folder)


TARGETS = (
    Target("csv events", damaged(EVENTS, CALENDAR, LABELS), in_file("events.csv", _stream)),
    Target("csv labels", damaged(LABELS, SPANS), in_file("labels.csv", _stream), turn=60),
    Target("csv.gz", packed(damaged(EVENTS)), in_file("events.csv.gz", _stream), turn=60),
    Target("csv elsewhere", damaged(EVENTS, CALENDAR), _elsewhere, turn=60),
    Target("ndjson", damaged(_ndjson(EVENTS), _ndjson(LABELS)), in_file("events.ndjson", _stream), turn=80),
    Target("parquet", damaged(_parquet()), in_file("events.parquet", _stream)),
    Target("db", damaged(DB), in_file("a.db", _stream), turn=50),
    Target("db.gz", packed(damaged(DB)), in_file("a.db.gz", _stream)),
    Target("rtec", damaged(RTEC), in_file("stream.csv", _stream), turn=25),
    Target("domain", damaged(DOMAIN), in_file("domain.toml", _domain), turn=1000),
    Target("folder", damaged(DOMAIN, "[time]\nevery = '2s'\n", _STATES), _folder, turn=200),
    Target("mln", damaged(MLN), in_file("a.mln", _mln), turn=1000),
    Target("modes", damaged(MODES, OLED_MODES), in_file("a.modes", _modes), turn=1000),
    Target("rules", damaged(RULES), in_file("a.rules", _rules), turn=300),
    Target("recognise", damaged(RULES, WEIGHTED), _recognised),
    Target("recognise mln", damaged(MLN, WEIGHTED_MLN), _recognised_mln),
    Target("intervals csv", damaged(INTERVALS), in_file("a.csv", _intervals), turn=200),
    Target("intervals ndjson", damaged(_ndjson(INTERVALS)), in_file("a.ndjson", _intervals), turn=200),
    Target("intervals json", damaged('[{"fluent":"lit(a)","start":1,"end":2}]'), in_file("a.json", _intervals), turn=1000),
    Target("experiment", damaged(EXPERIMENT), in_file("e.toml", _experiment), turn=1000),
    Target("manifest", damaged('{"format":1,"name":"x","configuration":{},"cells":[]}'), _manifest, turn=2000),
    Target("cvml", damaged(CVML), in_file("a.xml", _cvml), turn=2000),
    Target("ais", damaged(AIS), in_file("ais.csv", _ais)),
    Target("results", damaged(RESULTS), in_file("r.csv", _results), turn=2000),
)  # fmt: skip
