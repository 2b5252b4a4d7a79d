"""Give damaged input to what reads, count what comes of it, and keep what should not have come.

``python -m fuzz.campaign --seconds 600 --log fuzz.log`` (``make fuzz``) goes on from the numbers at which
the log's last run ended. A child process does the work, so that its death and its memory are findings,
too; it is renewed now and then.
"""

from __future__ import annotations

import argparse
import bisect
import contextlib
import gc
import hashlib
import itertools
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fuzz.targets import TARGETS, Target
from splice.errors import InputError, LimitExceeded, SpliceError

__all__ = ["CORPUS", "attempt", "campaign", "input_of"]

CORPUS = Path(__file__).resolve().parent / "corpus"
MEMORY = 2 << 30
"""Bytes that a process may have, beside what it needs to be there."""
_CHILD = 50_000
"""Inputs before a child is renewed."""


PATIENCE = (60.0, 1800.0)
"""Seconds of the processor, and of the day, after which an input hangs: a busy machine lets everybody wait."""


class Slow(BaseException):
    """An input takes longer than it may; nothing catches it."""


def input_of(target: Target, number: int) -> bytes:
    """Return the input of a number, the same on every machine."""
    return target.make(random.Random(f"{target.name} {number}"))


class Turns:
    """Which target a number of the campaign belongs to, and which input of it: all have a turn in each round.

    Parameters
    ----------
    names
        The targets.
    done
        How many inputs of each were tried before.
    """

    def __init__(self, names: list[str], done: Mapping[str, int]) -> None:
        self.names, self.done = names, done
        self.sizes = [TARGETS[name].turn for name in names]
        self._ends = list(itertools.accumulate(self.sizes))

    def place(self, number: int) -> tuple[str, int]:
        """Return the name of the target, and the number among its own inputs."""
        rounds, rest = divmod(number, self._ends[-1])
        which = bisect.bisect_right(self._ends, rest)
        size, name = self.sizes[which], self.names[which]
        return name, self.done.get(name, 0) + rounds * size + rest - (self._ends[which] - size)


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def ring(*_: object) -> None:
        raise Slow(f"more than {seconds} s")

    # Time of the processor: on a busy machine everything takes long. Who waits without end is
    # killed by the parent.
    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def attempt(target: Target, data: bytes, folder: Path) -> tuple[str, str]:
    """Give an input to what reads it; return what came of it, in a word, and the traceback of a finding."""
    try:
        with warnings.catch_warnings(), _alarm(target.seconds):
            warnings.simplefilter("ignore")
            target.read(data, folder)
    except LimitExceeded:
        return "limit", ""
    except SpliceError as error:
        if isinstance(error, InputError) and not all(p.place.file for p in error.problems):
            return "no place", traceback.format_exc()
        return ("error", "") if str(error).strip() else ("no words", traceback.format_exc())
    except Slow:
        return "slow", traceback.format_exc()
    except MemoryError:
        return "memory", traceback.format_exc()
    except (Exception, SystemExit) as error:
        return f"internal: {type(error).__name__}", traceback.format_exc()
    except BaseException as error:  # polars' panics are no Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"internal: {type(error).__name__}", traceback.format_exc()
    return "success", ""


GOOD = ("success", "error", "limit")


def _work(turns: Turns, start: int, count: int, at: Any, out: Any) -> None:
    """Try inputs in a child process; ``at`` always says which one, in case it is the last."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Path(os.devnull).open("w") as nothing:
        os.dup2(nothing.fileno(), 2)  # what others print about inputs
    used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY + (6 << 30), -1))
    folder = Path(tempfile.mkdtemp(prefix="fuzz"))
    os.chdir(folder)
    outcomes: Counter[tuple[str, str]] = Counter()
    last = time.monotonic()
    for number in range(start, start + count):
        name, own = turns.place(number)
        target = TARGETS[name]
        at.value = number
        data = input_of(target, own)
        outcome, trace = attempt(target, data, folder)
        outcomes[name, outcome] += 1
        if outcome not in GOOD:
            out.put(("finding", name, own, outcome, trace, data))
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > MEMORY:
            out.put(("finding", name, own, "memory", "", data))
            break
        if number % 100 == 0:
            for entry in folder.iterdir():
                if entry.name != "whole":
                    shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        if time.monotonic() - last > 5 or number == start + count - 1:
            last = time.monotonic()
            out.put(("counts", dict(outcomes), number + 1))
            outcomes.clear()
            gc.collect()
    out.put(("counts", dict(outcomes), number + 1))
    out.put(("end", number + 1))
    shutil.rmtree(folder, ignore_errors=True)


def campaign(
    seconds: float, log: Path | None = None, names: list[str] | None = None
) -> Counter[tuple[str, str]]:
    """Try inputs for so long; log what was tried, keep what should not have come, return the counts."""
    turns = Turns(names or list(TARGETS), _done(log))
    # Small inputs: several threads cost twice what one does. Read by the libraries of the child.
    for name in ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    context = multiprocessing.get_context("spawn")
    total: Counter[tuple[str, str]] = Counter()
    ends = time.monotonic() + seconds
    start, seen = 0, set[str]()
    while time.monotonic() < ends:
        at, out = context.Value("q", start), context.Queue()
        child = context.Process(target=_work, args=(turns, start, _CHILD, at, out), daemon=True)
        child.start()
        start = _watch(child, at, out, ends, turns, total, seen, start)
    _tell(log, turns, start, seconds, total)
    return total


def _watch(
    child: Any,
    at: Any,
    out: Any,
    ends: float,
    turns: Turns,
    total: Counter[tuple[str, str]],
    seen: set[str],
    start: int,
) -> int:
    """Follow a child to its end; return the number that is tried next."""
    reached, moved, mark = start, _clocks(child.pid), start
    while True:
        try:
            message = out.get(timeout=1.0)
        except Exception:
            message = None
        if at.value != mark:
            mark, moved = at.value, _clocks(child.pid)
        if message is None:
            stuck = any(
                now - then > most
                for now, then, most in zip(_clocks(child.pid), moved, PATIENCE, strict=True)
            )
            if child.is_alive() and not stuck and time.monotonic() < ends:
                continue
            over = time.monotonic() >= ends and child.is_alive() and not stuck
            code = child.exitcode
            child.kill()
            child.join()
            if over:
                return int(reached)
            name, own = turns.place(mark)
            total[name, "died"] += 1
            how = "hang" if stuck else f"died ({code})"
            _keep(name, own, how, "", input_of(TARGETS[name], own), seen)
            return int(mark) + 1
        if message[0] == "finding":
            _keep(*message[1:4], message[4], message[5], seen)
        elif message[0] == "counts":
            total.update(message[1])
            reached = message[2]
        else:
            child.join()
            return int(message[1])


def _clocks(pid: int) -> tuple[float, float]:
    """Return the time of the processor that a process has had, and the time of day."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    except OSError:  # it is gone
        return 0.0, time.monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), time.monotonic()


def _keep(name: str, number: int, outcome: str, trace: str, data: bytes, seen: set[str]) -> None:
    """Keep an input that was not dealt with, once for each place in the code."""
    where = [line for line in trace.splitlines() if "/splice/" in line]
    key = hashlib.sha256(f"{name} {outcome} {where[-1:] or data}".encode()).hexdigest()[:10]
    if key in seen:
        return
    seen.add(key)
    CORPUS.mkdir(exist_ok=True)
    path = CORPUS / f"{name.replace(' ', '-')}-{key}"
    if not path.exists():
        path.write_bytes(data)
    print(
        f"finding: {name} {number}: {outcome}; kept as {path.name}",
        *where[-1:],
        trace[-300:],
        sep="\n  ",
        flush=True,
    )


def _done(log: Path | None) -> dict[str, int]:
    """Return how many inputs of each target the runs of a log have tried."""
    done = dict[str, int]()
    if log is not None and log.exists():
        for line in log.read_text("utf-8").splitlines():
            done |= json.loads(line)["done"]
    return done


def _tell(
    log: Path | None, turns: Turns, last: int, seconds: float, total: Counter[tuple[str, str]]
) -> None:
    """Add a line to the log, and say what it says."""
    outcomes: dict[str, dict[str, int]] = {}
    for (name, outcome), count in sorted(total.items()):
        outcomes.setdefault(name, {})[outcome] = count
    begun = Turns(turns.names, {})
    # Of the target whose turn was cut short all is tried again but the inputs before.
    rounds = [begun.place(last + size) for size in range(sum(begun.sizes))]
    fresh = {name: min(n for other, n in rounds if other == name) for name in turns.names}
    line = {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "seconds": seconds,
        "inputs": sum(total.values()), "findings": sum(n for (_, o), n in total.items() if o not in GOOD),
        "done": {**turns.done, **{name: turns.done.get(name, 0) + n for name, n in fresh.items()}}, "outcomes": outcomes,
    }  # fmt: skip
    if log is not None:
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    print(f"{line['inputs']:,} inputs, {line['findings']} findings")
    for name, counts in outcomes.items():
        print(f"  {name:18} {counts}")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--seconds", type=float, default=60.0)
    asked.add_argument("--log", type=Path, default=None)
    asked.add_argument("--target", action="append", choices=list(TARGETS))
    given = asked.parse_args()
    total = campaign(given.seconds, given.log, given.target)
    sys.exit(any(outcome not in GOOD for _, outcome in total))


if __name__ == "__main__":
    main()
