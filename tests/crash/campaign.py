"""Stop every writing command at every call that writes; look at what is left, and run it again.

``python -m crash.campaign --share 1.0 --log crash.log`` (``make crash``). After each stop:

- what has its final name is whole: equal to what an uninterrupted run gives, or not there;
- the command again (``--resume`` where it has that, ``--force`` where its output appeared) gives these bytes;
- nothing else stands beside the output.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["COMMANDS", "Command", "build", "campaign", "crash_points"]

HERE = Path(__file__).resolve().parent
WAYS = ("kill", "term", "nospace", "readonly")
RULES = "initiatedAt(lit(X),T) :- happensAt(press(X),T).\nterminatedAt(lit(X),T) :- happensAt(wait(X),T).\n"


@dataclass(frozen=True)
class Command:
    """A command that writes, what it writes, and how it is asked again."""

    name: str
    words: Sequence[str]
    out: str
    again: Sequence[str] = ()
    before: Sequence[str] = ()
    """Run first, whole: what the command replaces."""


_LEARN = ("learn", "DATA", "--checkpoint-every", "0", "--batch-size", "4", "--out", "OUT/t.rules")
COMMANDS = (
    Command("convert csv", ("data", "convert", "DATA", "OUT/c", "--to", "csv"), "c"),
    Command("convert db", ("data", "convert", "DATA", "OUT/d", "--to", "db"), "d"),
    Command("convert parquet", ("data", "convert", "DATA", "OUT/p", "--to", "parquet"), "p"),
    Command("convert ndjson", ("data", "convert", "DATA", "OUT/n", "--to", "ndjson"), "n"),
    Command("convert again", ("data", "convert", "DATA", "OUT/c", "--to", "csv", "--force"), "c", (),
            ("data", "convert", "DATA", "OUT/c", "--to", "ndjson")),
    Command("make", ("data", "make", "plaza", "--sequences", "1", "--frames", "20", "--out", "OUT/m"), "m"),
    Command("mask", ("mask", "DATA", "--level", "50", "--out", "OUT/m"), "m"),
    Command("complete", ("complete", "DATA", "--out", "OUT/m"), "m"),
    Command("learn", _LEARN, "t.rules", ("--resume",)),
    Command("learn osla", (*_LEARN, "--learner", "osla"), "t.rules", ("--resume",)),
    Command("learn twice", (*_LEARN, "--passes", "2"), "t.rules", ("--resume",)),
    Command("learn mln", ("learn", "DATA", "--out", "OUT/t.mln"), "t.mln", ("--resume",)),
    Command("recognise", ("recognise", "RULES", "DATA", "--out", "OUT/i.csv"), "i.csv"),
    Command("recognise parquet", ("recognise", "RULES", "DATA", "--out", "OUT/i.parquet"), "i.parquet"),
    Command("export", ("theory", "export", "RULES", "--to", "asp", "--out", "OUT/t.lp"), "t.lp"),
)  # fmt: skip


def build(folder: Path) -> Path | None:
    """Compile the shim; None where there is no compiler, or no Linux."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    shim = folder / "shim.so"
    asked = [
        compiler,
        "-shared",
        "-fPIC",
        "-O1",
        "-w",
        "-o",
        str(shim),
        str(HERE / "shim.c"),
        "-ldl",
    ]
    return shim if subprocess.run(asked, check=False, capture_output=True).returncode == 0 else None


def write_data(folder: Path) -> None:
    """Write a small input: two sequences, some labels."""
    folder.mkdir(parents=True)
    events, labels = ["sequence,time,event,arg1"], ["sequence,fluent,time,label"]
    for s in "ab":
        for t in range(12):
            events.append(
                f"{s},{t},{'press' if t % 4 == 0 else 'wait' if t % 4 == 2 else 'idle'},x{t % 2}"
            )
            labels += [
                f"{s},lit(x0),{t},{('false', 'true', 'true', 'false')[t % 4] if t % 3 else ''}"
            ]
    (folder / "events.csv").write_text("\n".join(events) + "\n", "utf-8")
    (folder / "labels.csv").write_text("\n".join(labels) + "\n", "utf-8")
    (folder.parent / "lamp.rules").write_text(RULES, "utf-8")


class Bench:
    """A place to run commands in."""

    def __init__(self, root: Path, shim: Path) -> None:
        self.root, self.shim = root, shim
        write_data(root / "data")

    def run(
        self, words: Sequence[str], out: Path, *, at: int = 0, how: str = ""
    ) -> tuple[int, int, str]:
        """Run a command, stopped at a call; return its code, how many calls it made, and what it said."""
        places = {"DATA": str(self.root / "data"), "RULES": str(self.root / "lamp.rules")}
        given = [places.get(word, word).replace("OUT", str(out)) for word in words]
        count = self.root / "count"
        count.unlink(missing_ok=True)
        watched = {
            "LD_PRELOAD": str(self.shim), "CRASH_BELOW": str(out), "CRASH_AT": str(at), "CRASH_HOW": how, "CRASH_COUNT": str(count),
        }  # fmt: skip
        ran = subprocess.run(
            [sys.executable, "-m", "splice", *given, "--quiet"],
            env={**os.environ, **(watched if how else {}), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        calls = count.stat().st_size if count.exists() else 0
        return ran.returncode, calls, ran.stdout + ran.stderr

    def fresh(self, command: Command) -> Path:
        """Return an empty folder for outputs, with what the command replaces."""
        out = self.root / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        if command.before:
            code, _, said = self.run(command.before, out)
            assert code == 0, said
        return out


def content(path: Path) -> str:
    """Return the sum of a file, or of all files of a folder with their names; empty where nothing is."""
    if not path.exists():
        return ""
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    total = hashlib.sha256()
    for file in files:
        total.update(
            str(file.relative_to(path.parent)).encode() + b"\0" + file.read_bytes() + b"\0"
        )
    return total.hexdigest()


def crash_points(bench: Bench, command: Command) -> tuple[int, str, str]:
    """Return how many calls a command makes, what it gives, and what was there before."""
    out = bench.fresh(command)
    before = content(out / command.out)
    code, calls, said = bench.run(command.words, out, how="count")
    assert code == 0, said
    assert calls > 0, command.name
    return calls, content(out / command.out), before


def crash(
    bench: Bench, command: Command, at: int, how: str, whole: str, before: str
) -> Iterator[str]:
    """Stop a command once, and yield what is wrong with what it leaves."""
    out = bench.fresh(command)
    code, _, said = bench.run(command.words, out, at=at, how=how)
    if "internal error" in said or "Traceback" in said:
        yield f"says {said[-300:]}"
    left = content(out / command.out)
    aside = [p.name for p in out.iterdir() if ".old." in p.name]  # put back by the next run
    if left not in (whole, before, "") or (before and not left and not aside):
        yield "half-written output"
    if code == 0 and left != whole:
        yield "success without the output"
    more = command.again or (("--force",) if left and "--force" not in command.words else ())
    code, _, said = bench.run((*command.words, *more), out)
    if code != 0:
        yield f"again: code {code}: {said[-300:]}"
    if content(out / command.out) != whole:
        yield "again: other bytes"
    litter = [p.name for p in out.iterdir() if p.name != command.out]
    if litter:
        yield f"litter: {litter}"


def campaign(
    share: float = 1.0,
    log: Path | None = None,
    commands: Sequence[Command] = COMMANDS,
    most: int | None = None,
) -> tuple[int, list[str]]:
    """Crash commands at a share of their calls; return how often, and all that was wrong."""
    wrong, crashes = list[str](), Counter[str]()
    begun = time.time()
    with tempfile.TemporaryDirectory() as name:
        shim = build(Path(name))
        if shim is None:
            raise SystemExit("there is no C compiler here, or this is not Linux")
        bench, chance = Bench(Path(name).resolve() / "bench", shim), random.Random(20)
        for command in commands:
            calls, whole, before = crash_points(bench, command)
            points = [(at, how) for at in range(1, calls + 1) for how in WAYS]
            chosen = sorted(chance.sample(points, max(1, round(share * len(points)))))
            for at, how in chosen[:most] if most else chosen:
                crashes[command.name] += 1
                found = list(crash(bench, command, at, how, whole, before))
                wrong += [f"{command.name}, {how} at call {at} of {calls}: {one}" for one in found]
            if log:
                told = {
                    "command": command.name,
                    "calls": calls,
                    "crashes": crashes[command.name],
                    "wrong": len(wrong),
                }
                print(told, flush=True)
    line = {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "seconds": round(time.time() - begun),
        "crashes": sum(crashes.values()), "by_command": dict(crashes), "wrong": wrong,
    }  # fmt: skip
    if log is not None:
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    return sum(crashes.values()), wrong


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument(
        "--share", type=float, default=1.0, help="the share of all calls that is tried"
    )
    asked.add_argument("--log", type=Path, default=None)
    asked.add_argument("--command", action="append", choices=[c.name for c in COMMANDS])
    given = asked.parse_args()
    chosen = [c for c in COMMANDS if not given.command or c.name in given.command]
    count, wrong = campaign(given.share, given.log, chosen)
    print(f"{count:,} crashes, {len(wrong)} wrong", *wrong[:40], sep="\n  ")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
