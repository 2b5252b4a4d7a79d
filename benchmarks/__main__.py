"""``make bench``: every measurement, as a table of ratios."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import scaling as axes
from benchmarks.measure import best_of, in_process
from splice.lab.plaza import make_plaza

Row = tuple[str, str, str, str]


def importing() -> Row:
    """The cost of ``import splice`` over a bare interpreter."""

    def start(code: str) -> float:
        return best_of(5, lambda: subprocess.run([sys.executable, "-c", code], check=True))

    bare, ours = start("pass"), start("import splice")
    return (
        "import splice",
        f"{ours - bare:.3f} s over {bare:.3f} s",
        f"{ours / bare:.1f} x bare",
        "0.5 s",
    )


def starting() -> list[Row]:
    """Processor time of help texts over that of an empty typer app."""
    seconds = in_process("benchmarks.starting")
    return [
        (
            f"splice {words}",
            f"{seconds[name]:.2f} s of processor time",
            f"{seconds[name] / seconds['typer']:.1f} x an empty typer app",
            goal,
        )
        for words, name, goal in (
            ("--help", "help", "3 x"),
            ("--version", "version", "3 x"),
            ("learn --help", "learn", ""),
        )
    ]


def reading_db() -> list[Row]:
    """Evidence text: the vectorised path against the grammar."""
    measured = in_process("benchmarks.reading_db", threads=1)
    return [
        (
            f"parse .db text ({measured['megabytes']:.0f} MB, one core)",
            f"{measured['parse']:.1f} MB/s",
            f"{measured['parse'] / measured['grammar']:.0f} x the grammar",
            "10 MB/s",
        ),
        ("read .db files into columns", f"{measured['read']:.1f} MB/s", "", "10 MB/s"),
    ]


def streaming(rows: int) -> list[Row]:
    """Parquet through the batcher against polars' own scan."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "events.parquet")
        subprocess.run(
            [sys.executable, "-m", "benchmarks.streaming", "make", path, str(rows)], check=True
        )
        scan = in_process("benchmarks.streaming", "scan", path)
        ours = in_process("benchmarks.streaming", "stream", path)
    assert scan["rows"] == ours["rows"], "the batcher lost rows"
    return [
        (
            f"stream {ours['rows']:,} Parquet rows in {ours['batches']:,} batches",
            f"{ours['rows'] / ours['seconds']:,.0f} rows/s",
            f"{ours['seconds'] / scan['seconds']:.1f} x the time of polars' scan",
            "500,000 rows/s",
        ),
        (
            "... most memory held",
            f"{ours['memory']:.2f} GiB",
            f"scan {scan['memory']:.2f} GiB",
            "1.5 GiB",
        ),
    ]


def frames() -> list[Row]:
    """DataFrames through RuleLearner against the same rows in CSV files."""
    measured = in_process("benchmarks.frames", "1000000")
    return [
        (
            f"learn from {measured['rows']:,} rows in frames of {kind}",
            f"{measured[kind]:.1f} s of processor time",
            f"{measured[kind] / measured['files']:.2f} x the file route",
            "1.1 x",
        )
        for kind in ("polars", "pandas")
    ]


def engines() -> Row:
    """One run in eight parts by Dask over processes of our own."""
    measured = in_process("benchmarks.workers", "dask")
    return (
        f"learn {measured['examples']:,} examples in eight parts, two workers",
        f"{measured['local']:.1f} s by processes, {measured['dask']:.1f} s by Dask",
        f"{measured['dask'] / measured['local']:.2f} x",
        "1.15 x",
    )


def simulating() -> Row:
    """A million person-frames of the plaza."""
    begun = time.perf_counter()
    plaza = make_plaza(sequences=250, people=4, frames=1000)
    seconds = time.perf_counter() - begun
    frames = plaza.tracks.height
    return (f"simulate {frames:,} person-frames", f"{frames / seconds:,.0f} /s", "", "seconds")


def completing() -> list[Row]:
    """Completion against its literal twin, and along a long stream."""
    measured = in_process("benchmarks.completing", threads=1)
    return [
        (
            f"complete {measured['data']} at 5 % ({measured['atoms']:,} query atoms)",
            f"{measured['seconds']:.2f} s",
            f"{measured['twin']:.0f} x the literal twin",
            "0.5 s, 50 x",
        ),
        (
            f"complete a stream of {measured['examples']:,} examples",
            f"{measured['rate']:,.0f} /s",
            f"last batches {measured['growth']:.2f} x the first",
            "no growth",
        ),
    ]


def recognising() -> list[Row]:
    """Crisp recognition, in process and warm."""
    measured = in_process("benchmarks.recognising", "170", threads=1)
    return [
        (
            f"recognise meet and move in {measured['events']:,} events ({measured['atoms']:,} atoms)",
            f"{measured['events'] / measured['seconds']:,.0f} events/s",
            f"{measured['seconds'] / measured['scan']:.0f} x the time of polars' scan",
            "1,000,000 events/s",
        )
    ]


def recognising_rtec() -> list[Row]:
    """Rules that silence ends, on RTEC's own stream."""
    measured = in_process("benchmarks.recognising_rtec", threads=1)
    if "missing" in measured:
        return [("recognise RTEC's CAVIAR stream", "", f"no {measured['missing']}", "")]
    twin, rtec = (measured[name] / measured["seconds"] for name in ("twin", "rtec"))
    return [
        (
            f"recognise RTEC's CAVIAR stream ({measured['events']:,} events)",
            f"{measured['seconds']:.2f} s",
            f"{twin:.1f} x asking everywhere; {rtec:.1f} x RTEC's {measured['rtec']} s elsewhere",
            "2 x RTEC",
        )
    ]


def chains() -> list[Row]:
    """The best states of a chain against HiGHS on the same ground network."""
    measured = in_process("benchmarks.chains", threads=1)
    return [
        (
            f"MAP on a chain of {measured['points']:,} points",
            f"{1000 * measured['map']:.2f} ms",
            f"{measured['ratio']:,.0f} x HiGHS ({measured['highs']:.1f} s)",
            "1,000 x",
        ),
        (
            "... marginals; MAP on ten times as many points",
            f"{1000 * measured['marginals']:.1f} ms",
            f"{measured['growth']:.1f} x the time",
            "linear",
        ),
    ]


def learning() -> list[Row]:
    """OLED against clingo's counting, and along a long stream."""
    measured = in_process("benchmarks.learning", threads=1)
    return [
        (
            f"train OLED once on {measured['data']} ({measured['batches']} batches)",
            f"{measured['seconds']:.2f} s",
            f"{measured['clingo'] / measured['seconds']:,.0f} x clingo counting {measured['rules']:.0f} rules",
            "1 s, 50 x",
        ),
        (
            f"learn from a stream of {measured['examples']:,} examples",
            f"{measured['rate']:,.0f} /s, {measured['memory']:.2f} GiB",
            f"last batches {measured['growth']:.2f} x earlier ones",
            "no growth",
        ),
    ]


def osla() -> list[Row]:
    """OSLa against the same steps with ground networks and a MILP solver."""
    measured = in_process("benchmarks.osla", threads=1)
    return [
        (
            f"train OSLa on a fold of {part['data']} ({part['batches']} batches)",
            f"{part['seconds']:.2f} s",
            f"{part['ratio']:,.0f} x with MILP inference: {_programs(part)}",
            "100 x",
        )
        for part in measured.values()
    ]


def sizes() -> list[Row]:
    """What grows with the data, against the same stream with less of it."""
    measured = in_process("benchmarks.sizes", threads=1)
    kinds, numbers, fluents = (measured[name] for name in ("kinds", "numbers", "fluents"))
    return [
        (
            f"OSLa, 25 kinds of events ({kinds['examples']:,.0f} examples)",
            f"{kinds['osla']:.1f} s",
            f"{kinds['osla'] / kinds['oled']:.1f} x OLED",
            "20 x",
        ),
        (
            f"OLED, three numbers an entity ({numbers['examples']:,.0f} examples)",
            f"{numbers['hindsight']:.1f} s; online {numbers['online']:.1f} s",
            f"{numbers['hindsight'] / numbers['words']:.1f} x words; online {numbers['online'] / numbers['words']:.1f} x",
            "5 x",
        ),
        (
            f"complete and learn ten fluents ({fluents['examples']:,.0f} examples each)",
            f"{fluents['ten']:.1f} s",
            f"{fluents['ten'] / fluents['one']:.1f} x one fluent",
            "10 x",
        ),
    ]


def _programs(part: dict[str, Any]) -> str:
    """Say where the time of the programs goes; networks are built for some batches only."""
    return (
        f"{part['grounding']:,.0f} s to build the networks, {part['solving']:,.1f} s to solve them "
        f"({part['sampled']} of the batches, extrapolated)"
    )


def maritime() -> list[Row]:
    """A quarter of the simulated month, end to end, and how the cost grows."""
    measured = in_process("benchmarks.maritime")
    return [
        (
            f"complete {measured['events']:,.0f} vessel events at 5 % from Parquet, two processes",
            f"{measured['rate']:,.0f} events/s",
            f"{measured['growth']:.2f} x proportional; {measured['memory']:.2f} GiB a process",
            "100,000 events/s, 1.3 x",
        ),
        (
            "... and learn rules from it with OLED",
            f"{measured['learning']:.0f} s",
            f"{measured['events'] / measured['learning']:,.0f} events/s",
            "27,000 events/s",
        ),
    ]


def scaling() -> list[Row]:
    """Time and memory at n, 2n, 4n and 8n along each axis of the data."""
    return [(*row, "1.3 x") for row in axes.table(axes.POINTS, list(axes.BASE))]


def main() -> None:
    """Measure, then print one table."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--rows", type=int, default=16_000_000, help="rows of the Parquet table")
    options = parser.parse_args()
    table = Table("what", "measured", "ratio in this run", "wanted")
    for rows in (
        [importing()],
        starting(),
        reading_db(),
        [simulating()],
        [engines()] if find_spec("distributed") else [],
        completing(),
        chains(),
        recognising(),
        recognising_rtec(),
        learning(),
        osla(),
        sizes(),
        maritime(),
        streaming(options.rows),
        frames(),
        scaling(),
    ):
        for row in rows:
            table.add_row(*row)
            print(" | ".join(row), file=sys.stderr)
    Console().print(table)


if __name__ == "__main__":
    main()
