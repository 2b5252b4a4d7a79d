"""How much is read: bombs, endless lines, deep nesting and millions of mistakes end in an error that says which limit."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from splice.cli import main
from splice.errors import InputError, LimitExceeded, SpliceError
from splice.inputs.check import input_problems
from splice.inputs.open import InputOptions, open_input
from splice.io.documents import parse_json, parse_toml
from splice.io.domain_file import parse_domain
from splice.io.lomrf.mln import read_mln
from splice.io.text import natural_key, read_text
from splice.limits import LIMITS, Limits
from splice.stream.source import collect

HEADER = "time,event,arg1\n"


def read(path: Path, limits: Limits = LIMITS) -> int:
    return len(collect(open_input(str(path), InputOptions(limits=limits))))


def bomb(path: Path, head: bytes, what: bytes, count: int) -> Path:
    with gzip.open(path, "wb") as packed:
        packed.write(head)
        for _ in range(count):
            packed.write(what * 1024)
    return path


@pytest.mark.parametrize("kind", ["db", "csv", "ndjson"])
def test_a_packed_file_that_grows_without_end_is_refused(kind: str, tmp_path: Path) -> None:
    rows = {"db": b"Happens(a, 1)\n", "csv": HEADER.encode(), "ndjson": b'{"time":1,"event":"a"}\n'}
    path = bomb(tmp_path / f"events.{kind}.gz", rows[kind], b" " * 1024, 300)
    with pytest.raises(LimitExceeded, match=r"more than .* bytes"):
        read(path)
    many = bomb(tmp_path / f"many.{kind}.gz", rows[kind], b"\n" * 1024, 5)
    with pytest.raises(
        LimitExceeded, match=r"more than 1,000,000 bytes[\s\S]*--limit bytes=2000000"
    ):
        read(many, Limits(bytes=1_000_000))


def test_a_line_or_a_quote_without_end_is_refused_where_it_begins(tmp_path: Path) -> None:
    long = tmp_path / "events.csv"
    long.write_text(f"{HEADER}1,a,b\n2,{'x' * 2_000_000},c\n", "utf-8")
    with pytest.raises(LimitExceeded, match=r"events.csv:3:1: more than 1,048,576 bytes in a line"):
        read(long)
    assert read(long, Limits(line=4_000_000)) == 2
    quoted = "\n".join(f"{t},a,b" for t in range(200_000))
    long.write_text(f'{HEADER}0,a,"b\n{quoted}\n', "utf-8")
    with pytest.raises(LimitExceeded, match=r"events.csv:2:1[\s\S]*is a quote never closed\?"):
        read(long)


def test_columns_are_counted(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(5000)]
    wide = tmp_path / "events.csv"
    wide.write_text("time,event," + ",".join(names) + "\n", "utf-8")
    with pytest.raises(LimitExceeded, match="more than 1,024 columns"):
        read(wide)
    lines = tmp_path / "events.ndjson"
    lines.write_text(json.dumps(dict.fromkeys(["time", "event", *names], "1")) + "\n", "utf-8")
    with pytest.raises(LimitExceeded, match="columns"):
        read(lines)
    piped = tmp_path / "stream.csv"
    piped.write_text("a|1|1" + "|x" * 5000 + "\n", "utf-8")
    with pytest.raises(LimitExceeded, match="columns"):
        read(piped)


def test_a_million_mistakes_are_counted_and_some_are_told(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text(HEADER + "1,a\n" * 300_000, "utf-8")
    found = list(input_problems(str(path), InputOptions(limits=Limits(problems=100))))
    assert len(found) == 101
    assert "more than 100 problems" in found[-1].message
    with pytest.raises(InputError):
        read(path)


DEEP = [
    lambda: parse_json("[" * 100_000, "x"),
    lambda: parse_json('{"a":' * 100_000 + "1" + "}" * 100_000, "x"),
    lambda: parse_toml("a = " + "[" * 50_000, "x"),
    lambda: parse_toml("a" + ".a" * 50_000 + " = 1", "x"),
    lambda: parse_toml("[a" + ".a" * 50_000 + "]", "x"),
    lambda: parse_domain("a = " + "{b=" * 5_000 + "1" + "}" * 5_000),
]


@pytest.mark.parametrize("parse", DEEP)
def test_nesting_is_bounded_before_anything_is_parsed(parse: Callable[[], object]) -> None:
    with pytest.raises(LimitExceeded, match="more than 100 levels of nesting"):
        parse()


def test_brackets_and_dots_in_texts_are_not_nesting() -> None:
    assert parse_json(json.dumps({"a": "[{" * 500}), "x") == {"a": "[{" * 500}
    text = "a = '" + "[" * 500 + '\'\nb = """' + ".x" * 500 + '\n"""\n# ' + "." * 500
    assert set(parse_toml(text, "x")) == {"a", "b"}


@pytest.mark.parametrize(
    "text", ["1" * 5000, "-" + "9" * 30, "1e999", "NaN", "Infinity", '{"a": ' + "9" * 19 + "}"]
)
def test_numbers_of_json_are_finite_and_have_64_bits(text: str) -> None:
    with pytest.raises(InputError, match="no JSON"):
        parse_json(text, "x.json")


@pytest.mark.parametrize("digits", ["9" * 19, "9" * 5000, "0x" + "f" * 5000])
def test_integers_of_toml_have_64_bits(digits: str) -> None:
    with pytest.raises(InputError, match="2:1: not valid TOML: an integer of more than 64 bits"):
        parse_domain(f"[types]\ntime = {{ first = 1, last = {digits} }}\n")


def test_files_that_include_each_other_end(tmp_path: Path) -> None:
    for i in range(300):
        (tmp_path / f"{i}.mln").write_text(f'#include "{i + 1}.mln"\n', "utf-8")
    (tmp_path / "300.mln").write_text("Happens(event,time)\n", "utf-8")
    with pytest.raises(InputError, match="more than 100 levels deep"):
        read_mln(tmp_path / "0.mln")
    assert read_mln(tmp_path / "250.mln").schema.predicates


def test_a_name_of_many_digits_sorts() -> None:
    assert sorted(["b" + "9" * 5000, "b10", "b9"], key=natural_key) == [
        "b9",
        "b10",
        "b" + "9" * 5000,
    ]


def test_limits_are_raised_by_words() -> None:
    raised = LIMITS.raised(["line=4MB", "nesting=7"])
    assert (raised.line, raised.nesting, raised.bytes) == (4 << 20, 7, LIMITS.bytes)
    for word in ("lines=3", "line", "line=x", "line=0", "line=-1", "line=" + "9" * 40):
        with pytest.raises(SpliceError):
            LIMITS.raised([word])


def test_the_command_raises_a_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "events.csv"
    path.write_text(f"{HEADER}1,a,{'x' * 2_000_000}\n", "utf-8")

    def codes() -> Iterator[object]:
        for more in ([], ["--limit", "line=3MB"]):
            with pytest.raises(SystemExit) as ended:
                main(["data", "show", str(path), *more])
            yield ended.value.code

    assert list(codes()) == [1, 0]
    assert "--limit line=2097152" in capsys.readouterr().err


def test_json_is_one_line_by_nature(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(" " * (LIMITS.line + 1), "utf-8")
    assert len(read_text(path)) > LIMITS.line
