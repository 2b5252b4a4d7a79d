"""The same bytes before and after walls are moved: sums of what the command writes.

`SPLICE_GOLDEN=check` and `make exhaustive` add CAVIAR, which takes minutes. `SPLICE_GOLDEN=renew` writes the sums anew; do that
only where an answer is meant to change, and say so in the commit.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from functools import partial
from pathlib import Path

import pytest

import command

SUMS = Path(__file__).parent / "golden.json"
RENEW = os.environ.get("SPLICE_GOLDEN") == "renew"


run = partial(command.run, "--quiet")

DEFAULT = ("--profile", "default")
"""The profile of the published comparisons."""


IN_WORDS = re.compile(rb"(?m)^(% \d+: .*\n)% .*\n")
"""The line below the counts of a rule that says it in words."""


def said(path: Path) -> bytes:
    """Return what a file says; what went without saying once is left out."""
    text = path.read_bytes()
    for once in (b", mode online", b", holds after", b'\n[time]\nholds = "after"\n'):
        text = text.replace(once, b"")
    return IN_WORDS.sub(rb"\1", text)


def sums(folder: Path) -> dict[str, str]:
    """Return a sum for each file below a folder, by its path."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(said(path)).hexdigest()[:16]
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def road(data: str, out: Path, *mode: str, levels: tuple[str, ...] = ("10",)) -> None:
    """Go the whole road: mask, complete, learn by both learners, recognise."""
    masked = str(out / "masked")
    for level in levels:
        run("mask", data, "--level", level, "--scope", "batches", "--seed", "1", "--out", masked)
        run("complete", masked, *mode, *DEFAULT, "--out", str(out / "completed"))
        paper = ("--connector", "knn:2", "--profile", "paper")
        run("complete", masked, *paper, "--out", str(out / "paper"))
        for learner, ending in (("oled", "rules"), ("osla", "mln")):
            theory = str(out / f"{learner}.{ending}")
            run("learn", masked, *mode, *DEFAULT, "--learner", learner, "--out", theory)
            run("recognise", theory, data, "--out", str(out / f"{learner}.csv"))
        shards = ("--shards", "2", "--jobs", "1")
        run("learn", masked, *mode, *DEFAULT, *shards, "--out", str(out / "shards.rules"))


def check(name: str, folder: Path) -> None:
    known = json.loads(SUMS.read_text("utf-8")) if SUMS.exists() else {}
    found = sums(folder)
    if RENEW:
        SUMS.write_text(
            json.dumps({**known, name: found}, indent=1, sort_keys=True) + "\n", "utf-8"
        )
        return
    assert found == known[name]


def test_plaza(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = ("--sequences", "2", "--frames", "300", "--people", "3", "--seed", "5", "--out", "plaza")
    run("data", "make", "plaza", *made)
    for name, mode in (("plaza", ("--online",)), ("plaza-hindsight", ("--hindsight",))):
        road("plaza", tmp_path / f"out-{name}", *mode, levels=("20",))
        check(name, tmp_path / f"out-{name}")


def test_the_small_sea(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run("data", "make", "maritime", "--preset", "small", "--out", "sea")
    run("mask", "sea", "--level", "10", "--scope", "batches", "--seed", "1", "--out", "masked")
    for name, mode in (("sea-online", ("--online",)), ("sea-hindsight", ("--hindsight",))):
        (tmp_path / name).mkdir()
        run("learn", "masked", *mode, *DEFAULT, "--out", f"{name}/oled.rules")
        run("recognise", f"{name}/oled.rules", "sea", "--out", f"{name}/oled.csv")
        check(name.removesuffix("-online"), tmp_path / name)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["caviar-meet", "caviar-move"])
def test_caviar(
    name: str, tmp_path: Path, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPLICE_DATA", str(shared_data))
    road(name, tmp_path / "out", "--online")
    check(name, tmp_path / "out")
