"""Stop every writing command at every call that writes; look at what is left, and run it again.

``python -m crash.campaign --share 1.0 --log crash.log`` (``make crash``). After each stop:

- what has its final name is whole: equal to what an uninterrupted run gives, or not there;
- an output that grows is a beginning of that, row by row; the studio's labels are those after some answer;
- the command ended as the way of stopping it says, and not in another way;
- the command again (``--resume`` where it has that, ``--force`` where its output appeared) gives these bytes,
  and beside the output the same files with the same bytes (but for those that differ between two whole runs).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from crash.server import HARNESSES

__all__ = ["COMMANDS", "Command", "build", "campaign", "crash_points"]

HERE = Path(__file__).resolve().parent
WAYS = ("kill", "term", "nospace", "readonly")
RULES = "initiatedAt(lit(X),T) :- happensAt(press(X),T).\nterminatedAt(lit(X),T) :- happensAt(wait(X),T).\n"


DOMAIN = """[target]
query = "HoldsAt/2"
[predicates]
Happens = ["event", "time"]
HoldsAt = ["fluent", "time"]
[functions]
press = { args = ["id"], returns = "event" }
wait = { args = ["id"], returns = "event" }
idle = { args = ["id"], returns = "event" }
lit = { args = ["id"], returns = "fluent" }
"""
OFFICE = """"date","Temperature","Humidity","Light","CO2","HumidityRatio","Occupancy"
"1","2015-02-0{day} 14:19:00",23.7,26.27,585.2,749.2,0.004,1
"2","2015-02-0{day} 14:20:00",23.8,26.29,0,760.4,0.004,0
"""
GRID = """kind = "completion"
[grid]
datasets = [{ name = "plaza", sequences = 1, people = 2, frames = 50, seed = 1 }]
masks = [{ scope = "atoms" }]
levels = [20]
samples = 2
[[methods]]
name = "default"
"""
TABLE = "dataset,scope,unit,batch_size,method,level,n,f1,f1_sd,published\nplaza,atoms,pair,25,a,5,20,.8,.1,.7\nplaza,atoms,pair,25,a,10,20,.85,.1,\n"


@dataclass(frozen=True)
class Command:
    """A command that writes, what it writes, and how it is asked again."""

    name: str
    words: Sequence[str]
    out: str
    again: Sequence[str] = ()
    before: Sequence[str] = ()
    """Run first, whole: what the command replaces."""
    resume: Sequence[str] = ()
    """Asked for instead of the command, where ``begun`` is there."""
    begun: str = ""
    keeps: Sequence[str] = ()
    """What stands beside the output and belongs there."""
    growing: bool = False
    """The output is added to: what is there after a crash is a beginning of it."""
    stages: Sequence[Sequence[str]] = ()
    """Commands that end earlier: after a crash the output is what one of them gives, or the whole one."""
    stops: bool = False
    """Told to end, it does so in good order, and with 0."""


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
    Command("learn parts", (*_LEARN, "--shards", "2", "--jobs", "1"), "t.rules", ("--resume",)),
    Command("complete parts", ("complete", "DATA", "--out", "OUT/m", "--shards", "2", "--jobs", "1"), "m", ("--resume",)),
    Command("learn report", ("learn", "DATA", "--out", "OUT/t.rules", "--report", "OUT/r.html", "--force"), "t.rules",
            keeps=("r.html",)),
    Command("make maritime", ("data", "make", "maritime", "--days", "0.01", "--out", "OUT/m"), "m"),
    Command("derive", ("data", "derive", "AIS", "OUT/v", "--to", "csv"), "v"),
    Command("fetch", ("data", "fetch", "occupancy", "--data", "ARCHIVE"), "occupancy/tables", keeps=("occupancy",)),
    Command("experiment", ("experiment", "run", "GRID", "--out", "OUT/e", "--jobs", "1"), "e/table.csv", (), (),
            ("experiment", "resume", "OUT/e", "--jobs", "1"), "e/manifest.json", ("e",)),
    Command("report", ("report", "TABLE", "--out", "OUT/r.html"), "r.html"),
    Command("recognise parts", ("recognise", "RULES", "DATA", "--out", "OUT/i.csv", "--shards", "2", "--jobs", "1"), "i.csv"),
    Command("learn rounds", (*_LEARN, "--rounds", "2"), "t.rules", ("--resume",)),
    Command("run", ("run", "RULES", "--from", "FEED", "--to", "OUT/o.ndjson", "--state", "OUT/live", "--once", "--every", "0"),
            "o.ndjson", keeps=("live",), growing=True, stops=True),
    Command("run long", ("run", "RULES", "--from", "LONG", "--to", "OUT/o.ndjson", "--state", "OUT/live", "--once", "--every", "0"),
            "o.ndjson", keeps=("live",), growing=True, stops=True),
    Command("run learning", ("run", "PROJECT", "--from", "FEED", "--to", "OUT/o.ndjson", "--state", "OUT/live", "--once",
                             "--every", "0", "--learn", "--batch-size", "4", "--rules-every", "1"),
            "o.ndjson", keeps=("live",), growing=True, stops=True),
    Command("run revising", ("run", "PROJECT", "--from", "FEED", "--to", "OUT/o.ndjson", "--state", "OUT/live", "--once",
                             "--every", "0", "--learn", "--batch-size", "4", "--rules-every", "1", "--revise", "8",
                             "--completed", "OUT/c.ndjson"),
            "o.ndjson", keeps=("live", "c.ndjson"), growing=True, stops=True),
    Command("journal", ("journal", "FEED", "OUT/j"), "j/1.ndjson", keeps=("j",), growing=True),
    Command("studio", ("studio", "DATA", "OUT/p", "5"), "p/labels.csv", keeps=("p",),
            stages=[("studio", "DATA", "OUT/p", str(answers)) for answers in range(5)]),
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
    root = folder.parent
    (root / "lamp.rules").write_text(RULES, "utf-8")
    _write_more(root, events, labels)


def _write_more(root: Path, events: list[str], labels: list[str]) -> None:
    """Write what other commands read: rows of a feed, positions, an archive, an experiment, results."""
    rows = [line.split(",") for line in events[1:]]
    feed = [{"sequence": s, "time": int(t), "event": e, "arg1": a} for s, t, e, a in rows]
    told = (line.split(",") for line in labels[1:])
    feed += [
        {"sequence": s, "fluent": f, "time": int(t), "label": v == "true"}
        for s, f, t, v in told
        if v
    ]
    feed.sort(key=lambda row: int(str(row["time"])))
    (root / "feed.ndjson").write_text("".join(json.dumps(row) + "\n" for row in feed), "utf-8")
    kinds = ("press", "idle", "wait", "idle")
    long = ({"sequence": "s", "time": t, "event": kinds[t % 4], "arg1": "x"} for t in range(11_000))
    (root / "long.ndjson").write_text("".join(json.dumps(row) + "\n" for row in long), "utf-8")
    (root / "project").mkdir()
    (root / "project/domain.toml").write_text(DOMAIN, "utf-8")
    ais = ["sourcemmsi,speedoverground,courseoverground,lon,lat,t"]
    for i in range(20):
        for vessel, beside in ((227000001, 0.0), (227000002, 0.001)):
            ais.append(f"{vessel},2,90,{beside - 5:.4f},48.0,{1000 + 60 * i}")
    (root / "ais.csv").write_text("\n".join(ais) + "\n", "utf-8")
    (root / "archive").mkdir()
    with zipfile.ZipFile(root / "archive/occupancy.zip", "w") as archive:
        for day, name in enumerate(("datatest", "datatraining", "datatest2"), 1):
            archive.writestr(f"r/{name}.txt", OFFICE.format(day=day))
    (root / "grid.toml").write_text(GRID, "utf-8")
    (root / "table.csv").write_text(TABLE, "utf-8")


class Bench:
    """A place to run commands in, and the process that runs them."""

    def __init__(self, root: Path, shim: Path) -> None:
        self.root, self.shim = root, shim
        write_data(root / "data")
        path = os.pathsep.join((str(HERE.parent), os.environ.get("PYTHONPATH", "")))
        self._server = subprocess.Popen(
            [sys.executable, "-m", "crash.server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "LD_PRELOAD": str(shim), "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
        self._answer()

    def _answer(self) -> dict[str, int]:
        assert self._server.stdout is not None
        answer: dict[str, int] = json.loads(self._server.stdout.readline())
        return answer

    def close(self) -> None:
        """End the process that runs commands."""
        self._server.communicate()

    def run(
        self, words: Sequence[str], out: Path, *, at: int = 0, how: str = ""
    ) -> tuple[int, int, str]:
        """Run a command, stopped at a call; return its code, how many calls it made, and what it said."""
        root = self.root
        places = {
            "DATA": root / "data", "RULES": root / "lamp.rules", "AIS": root / "ais.csv", "ARCHIVE": root / "archive",
            "GRID": root / "grid.toml", "TABLE": root / "table.csv", "FEED": root / "feed.ndjson", "LONG": root / "long.ndjson",
            "PROJECT": root / "project",
        }  # fmt: skip
        given = [str(places[w]) if w in places else w.replace("OUT", str(out)) for w in words]
        count, said = root / "count", root / "said"
        count.unlink(missing_ok=True)
        watched = {
            "CRASH_BELOW": str(out), "CRASH_AT": str(at), "CRASH_HOW": how, "CRASH_COUNT": str(count),
        }  # fmt: skip
        quiet = [] if words[0] in HARNESSES else ["--quiet"]
        env = {**(watched if how else {}), "SPLICE_DATA": str(out)}
        asked = {"words": [*given, *quiet], "said": str(said), "env": env}
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps(asked) + "\n")
        self._server.stdin.flush()
        code = self._answer()["code"]
        calls = count.stat().st_size if count.exists() else 0
        return code, calls, said.read_text("utf-8", "replace")

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
        name = str(file.relative_to(path.parent)).encode()
        total.update(name + b"\0" + _timeless(file) + b"\0")
    return total.hexdigest()


def _timeless(file: Path) -> bytes:
    """Return a file; the table of an experiment without the seconds that end each of its rows."""
    data = file.read_bytes()
    if file.name != "table.csv":
        return data
    lines = data.split(b"\n")
    assert lines[0].endswith(b",seconds,seconds_sd"), lines[0]
    return b"\n".join(line.rsplit(b",", 2)[0] for line in lines)


def tree(folder: Path) -> dict[str, str]:
    """Return the sum of each file of a folder by its name; of names with numbers, none: there may be more or fewer."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = _NUMBER.sub("#", str(path.relative_to(folder)))
        found[name] = content(path) if path.is_file() and "#" not in name else ""
    return found


_NUMBER = re.compile(r"[0-9]{2,}")


@dataclass(frozen=True)
class Whole:
    """What a command does and leaves when nothing stops it."""

    calls: int
    data: bytes
    """The output, where it is a file."""
    sum: str
    before: str
    stages: frozenset[str]
    beside: dict[str, str]
    """All that stands there afterwards; no sum for what differs between two runs."""


def crash_points(bench: Bench, command: Command) -> Whole:
    """Run a command twice, and the commands that are its stages."""
    out = bench.fresh(command)
    before = content(out / command.out)
    code, calls, said = bench.run(command.words, out, how="count")
    assert code == 0, said
    assert calls > 0, command.name
    path = out / command.out
    data, total, first = path.read_bytes() if path.is_file() else b"", content(path), tree(out)
    stages = set()
    for words in command.stages:
        out = bench.fresh(command)
        code, _, said = bench.run(words, out)
        assert code == 0, said
        stages.add(content(out / command.out))
    out = bench.fresh(command)
    bench.run(command.words, out)
    assert content(out / command.out) == total, f"{command.name}: two runs differ"
    second = tree(out)
    beside = {name: sum_ if second.get(name) == sum_ else "" for name, sum_ in first.items()}
    return Whole(calls, data, total, before, frozenset(stages), beside)


CODES = {"kill": {-9}, "term": {-15, 1, 130, 143}, "nospace": {1}, "readonly": {1}}


def crash(bench: Bench, command: Command, at: int, how: str, whole: Whole) -> Iterator[str]:
    """Stop a command once, and yield what is wrong with what it leaves, then and after it ran again."""
    out = bench.fresh(command)
    code, _, said = bench.run(command.words, out, at=at, how=how)
    if "internal error" in said or "Traceback" in said:
        yield f"says {said[-300:]}"
    if code and code not in CODES[how]:
        yield f"ends with {code}"
    left = content(out / command.out)
    yield from _left(command, out, left, whole)
    if code == 0 and left != whole.sum and not (command.stops and how == "term"):
        yield "success without the output"
    forced = left and "--force" not in command.words and not command.keeps
    more = command.again or (("--force",) if forced else ())
    resumed = command.resume and (out / command.begun).exists()
    code, _, said = bench.run(command.resume if resumed else (*command.words, *more), out)
    if code != 0:
        yield f"again: code {code}: {said[-300:]}"
    if content(out / command.out) != whole.sum:
        yield "again: other bytes"
    yield from _beside(out, whole)


def _left(command: Command, out: Path, left: str, whole: Whole) -> Iterator[str]:
    """Yield what is wrong with the output after a stop."""
    known = {whole.sum, whole.before, "", *whole.stages}
    if left not in known and not (command.growing and _begins(out / command.out, whole.data)):
        yield "half-written output"
    aside = any(".old." in path.name for path in out.iterdir())  # put back by the next run
    if whole.before and not left and not aside:
        yield "the old output is gone"


def _beside(out: Path, whole: Whole) -> Iterator[str]:
    """Yield how what stands there after all differs from what a whole run leaves."""
    found = tree(out)
    if strange := sorted(found.keys() - whole.beside.keys()):
        yield f"litter: {strange}"
    if gone := sorted(whole.beside.keys() - found.keys()):
        yield f"again: missing: {gone}"
    if other := [n for n, sum_ in whole.beside.items() if sum_ and found.get(n, sum_) != sum_]:
        yield f"again: other bytes beside it: {other}"


def _begins(path: Path, data: bytes) -> bool:
    """Tell whether a file has some of the rows of the whole one, from the first on."""
    left = path.read_bytes()
    return data.startswith(left) and (not left or left.endswith(b"\n"))


def campaign(
    share: float = 1.0,
    log: Path | None = None,
    commands: Sequence[Command] = COMMANDS,
    most: int | None = None,
    seed: int = 20,
) -> tuple[int, list[str]]:
    """Crash commands at a share of their calls; return how often, and all that was wrong."""
    wrong, crashes = list[str](), Counter[str]()
    begun = time.time()
    with tempfile.TemporaryDirectory() as name:
        shim = build(Path(name))
        if shim is None:
            raise SystemExit("there is no C compiler here, or this is not Linux")
        bench, chance = Bench(Path(name).resolve() / "bench", shim), random.Random(seed)
        for command in commands:
            whole = crash_points(bench, command)
            calls = whole.calls
            points = [(at, how) for at in range(1, calls + 1) for how in WAYS]
            size = max(1, round(share * len(points)))
            for at, how in sorted(chance.sample(points, min(size, most or size))):
                crashes[command.name] += 1
                found = list(crash(bench, command, at, how, whole))
                wrong += [f"{command.name}, {how} at call {at} of {calls}: {one}" for one in found]
            if log:
                told = {
                    "command": command.name,
                    "calls": calls,
                    "crashes": crashes[command.name],
                    "wrong": len(wrong),
                }
                print(told, *wrong[-2:], flush=True)
        bench.close()
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
    asked.add_argument("--most", type=int, default=None, help="of one command")
    asked.add_argument("--seed", type=int, default=20, help="of what is chosen")
    given = asked.parse_args()
    chosen = [c for c in COMMANDS if not given.command or c.name in given.command]
    count, wrong = campaign(given.share, given.log, chosen, given.most, given.seed)
    print(f"{count:,} crashes, {len(wrong)} wrong", *wrong[:40], sep="\n  ")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
