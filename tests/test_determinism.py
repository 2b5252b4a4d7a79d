"""The same input gives the same bytes: whatever the hash seed, locale, time zone, order of rows, processes and read-ahead."""

from __future__ import annotations

import csv
import json
import os
import random
import subprocess
import sys
from itertools import groupby
from pathlib import Path

import pytest

from command import run
from splice.patterns import reading

ENVIRONMENTS = {
    "usual": {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "TZ": "UTC"},
    "elsewhere": {"PYTHONHASHSEED": "4711", "LC_ALL": "POSIX", "TZ": "Asia/Kathmandu", "PYTHONUTF8": "0"},
    "east": {"PYTHONHASHSEED": "99", "LC_ALL": "tr_TR.ISO-8859-9", "TZ": "Pacific/Auckland", "PYTHONUTF8": "0", "COLUMNS": "200"},
}  # fmt: skip

RULES = """initiatedAt(meet(X,Y),T) :- close(X,Y,25,T), not happensAt(walking(X),T).
terminatedAt(meet(X,Y),T) :- not close(X,Y,34,T), fluent(meet(X,Y)).
"""

COMMANDS = [
    "mask DATA --level 30 --scope batches --seed 3 --out OUT/masked",
    "complete OUT/masked --out OUT/completed",
    "learn OUT/masked --out OUT/oled.rules",
    "learn OUT/masked --profile regression --weights --out OUT/weights.rules",
    "learn OUT/masked --profile regression --learner osla --out OUT/osla.rules",
    "recognise RULES DATA --out OUT/found.csv",
    "data convert DATA OUT/db --to db",
    "data convert DATA OUT/ndjson --to ndjson",
    "data show DATA --format json",
    "data show NAMES",
]

RUN = """
import contextlib, io, json, sys
from splice.cli import main
for words in json.loads(sys.argv[1]):
    quiet = contextlib.nullcontext() if words[0] == "data" else contextlib.redirect_stdout(io.StringIO())
    try:
        with quiet:  # what others print tells seconds, too
            main(words)
    except SystemExit as ended:
        if ended.code:
            sys.exit(f"{words}: {ended.code}")
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("square")
    asked = "data make plaza --sequences 2 --frames 120 --people 3 --seed 5 --quiet --out"
    run(*asked.split(), folder / "all")
    (folder / "t.rules").write_text(RULES, "utf-8")
    names = folder / "names"
    names.mkdir()
    (names / "events.csv").write_text(
        "time,event,arg1\n1,gehe,Jürgen\n1,gehe,İpek\n2,gehe,ß\n", "utf-8"
    )
    return folder


def outcome(
    folder: Path, out: Path, environment: dict[str, str], data: str = "all"
) -> dict[str, bytes]:
    """Return every file that the commands write, and what they say on stdout."""
    out.mkdir()
    places = {
        "DATA": str(folder / data),
        "RULES": str(folder / "t.rules"),
        "NAMES": str(folder / "names"),
    }
    asked = [
        [places.get(word, word.replace("OUT", str(out))) for word in command.split()] + ["--quiet"]
        for command in COMMANDS
    ]
    # PYTHONUTF8 and the locale count from the start of an interpreter.
    ran = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(asked)],
        env={**os.environ, **environment}, capture_output=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr.decode()
    files = {str(p.relative_to(out)): p.read_bytes() for p in sorted(out.rglob("*")) if p.is_file()}
    assert ran.stdout
    return {**files, "stdout": ran.stdout}


@pytest.fixture(scope="module")
def usual(data: Path) -> dict[str, bytes]:
    """What is written and said where nothing is unusual."""
    return outcome(data, data / "usual", ENVIRONMENTS["usual"])


def test_hash_seed_locale_and_time_zone_change_no_byte(
    data: Path, usual: dict[str, bytes], tmp_path: Path
) -> None:
    assert len(usual) > 10
    for name in ("elsewhere", "east"):
        assert outcome(data, tmp_path / name, ENVIRONMENTS[name]) == usual, name


def test_rows_of_a_time_point_have_no_order(
    data: Path, usual: dict[str, bytes], tmp_path: Path
) -> None:
    """Theories and intervals are the same; tables say the same rows."""
    shuffled(data / "all", data / "shuffled", random.Random(3))
    other = outcome(data, tmp_path / "other", ENVIRONMENTS["usual"], "shuffled")
    theories = [name for name in usual if name.endswith(".rules")]
    assert len(theories) == 3
    for name in theories:
        assert rules(other[name]) == rules(usual[name]), name
    assert sorted(other["found.csv"].splitlines()) == sorted(usual["found.csv"].splitlines())


def rules(text: bytes) -> list[str]:
    """Return a theory without the line that names its input."""
    return text.decode().splitlines()[1:]


LEARNERS = (
    ("--weights", "--profile", "default"), ("--learner", "osla"), ("--learner", "osla", "--online"),
)  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_weights_and_osla_take_rows_in_any_order(seed: int, data: Path, tmp_path: Path) -> None:
    """Of few labels, by the command: events and labels of a time-point in another order."""
    level = (10, 20, 40)[seed]
    words = ("--level", level, "--scope", "atoms", "--seed", seed, "--quiet")
    run("mask", data / "all", *words, "--out", tmp_path / "one")
    shuffled(tmp_path / "one", tmp_path / "other", random.Random(seed))
    for number, words in enumerate(LEARNERS):
        texts = []
        for name in ("one", "other"):
            out = tmp_path / f"{name}{number}.rules"
            run("learn", tmp_path / name, *words, "--out", out, "--quiet")
            texts.append(rules(out.read_bytes()))
        assert texts[0] == texts[1], words


def shuffled(source: Path, home: Path, chance: random.Random) -> None:
    """Write a folder once more, with the rows of each time-point of its tables in another order."""
    home.mkdir()
    for path in source.iterdir():
        text = path.read_bytes()
        if path.suffix == ".csv":
            header, *lines = text.decode().splitlines()
            names = header.split(",")
            columns = [i for i, name in enumerate(names) if name in ("sequence", "time", "start")]
            rows = []
            for _, group in groupby(lines, key=lambda line: [cells(line)[i] for i in columns]):
                same = list(group)
                chance.shuffle(same)
                rows += same
            text = "\n".join([header, *rows, ""]).encode()
        (home / path.name).write_bytes(text)


def cells(line: str) -> list[str]:
    return next(csv.reader([line]))


@pytest.mark.parametrize("size", [1, 100])
def test_how_far_is_read_ahead_changes_nothing(
    size: int, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = []
    for ahead in (None, size):
        out = tmp_path / f"{ahead}.rules"
        if ahead is not None:
            monkeypatch.setattr(reading, "_ROWS", ahead)
        run("learn", data / "all", "--out", out, "--quiet")
        texts.append(out.read_bytes())
    assert texts[0] == texts[1]
