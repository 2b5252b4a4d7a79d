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
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

MANIFEST = ".splice"
"""The list of its files that a folder which was written has."""


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
    Command("run", ("run", "RULES", "--from", "FEED", "--to", "OUT/o.ndjson", "--state", "OUT/live", "--once", "--every", "0"),
            "o.ndjson", keeps=("live",), growing=True),
    Command("run learning", ("run", "PROJECT", "--from", "FEED", "--to", "OUT/o.ndjson", "--state", "OUT/live", "--once",
                             "--every", "0", "--learn", "--batch-size", "4", "--rules-every", "1"),
            "o.ndjson", keeps=("live",), growing=True),
    Command("studio", ("studio", "DATA", "OUT/p"), "p/labels.csv", keeps=("p",), growing=True),
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
            "GRID": root / "grid.toml", "TABLE": root / "table.csv", "FEED": root / "feed.ndjson", "PROJECT": root / "project",
        }  # fmt: skip
        given = [str(places[w]) if w in places else w.replace("OUT", str(out)) for w in words]
        count, said = root / "count", root / "said"
        count.unlink(missing_ok=True)
        watched = {
            "CRASH_BELOW": str(out), "CRASH_AT": str(at), "CRASH_HOW": how, "CRASH_COUNT": str(count),
        }  # fmt: skip
        quiet = [] if words[0] == "studio" else ["--quiet"]
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
        total.update(name + b"\0" + _timeless(file.read_bytes()) + b"\0")
    return total.hexdigest()


def _timeless(data: bytes) -> bytes:
    """Return a file without the seconds that a table of results ends with."""
    lines = data.split(b"\n")
    if not lines[0].endswith(b",seconds,seconds_sd"):
        return data
    return b"\n".join(line.rsplit(b",", 2)[0] for line in lines)


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
    torn = left not in (whole, before, "") or (before and not left and not aside)
    if torn and not command.growing:
        yield "half-written output"
    if code == 0 and left != whole and not (command.growing and how == "term"):
        yield "success without the output"
    forced = left and "--force" not in command.words and not command.keeps
    more = command.again or (("--force",) if forced else ())
    resumed = command.resume and (out / command.begun).exists()
    code, _, said = bench.run(command.resume if resumed else (*command.words, *more), out)
    if code != 0:
        yield f"again: code {code}: {said[-300:]}"
    if content(out / command.out) != whole:
        yield "again: other bytes"
    litter = [p.name for p in out.iterdir() if p.name not in (command.out, *command.keeps)]
    hidden = [p.name for own in command.keeps for p in (out / own).rglob(".*")]
    litter += [name for name in hidden if name != MANIFEST]
    if litter:
        yield f"litter: {litter}"


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
            calls, whole, before = crash_points(bench, command)
            points = [(at, how) for at in range(1, calls + 1) for how in WAYS]
            size = max(1, round(share * len(points)))
            for at, how in sorted(chance.sample(points, min(size, most or size))):
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
