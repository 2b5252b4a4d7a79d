"""Crisp recognition of a long plaza stream, in process and warm, against polars' scan of it."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import polars as pl

from benchmarks.measure import best_of, report
from splice.events.crisp.program import compile_program
from splice.events.crisp.recognition import recognise
from splice.inputs.theories import load_theory
from splice.lab.plaza import make_plaza
from splice.logic.theory import Theory
from splice.stream.batch import query_rows
from splice.stream.source import MemorySource, collect

FRAMES = 3500


def main() -> None:
    """Recognise meet and move among the events of many short sequences."""
    sequences = int(sys.argv[1])
    source = make_plaza(sequences=sequences, people=4, frames=FRAMES).source
    table = collect(source)
    evidence = table.take(~query_rows(table, source.domain))
    del table
    rules = [load_theory(name).statements for name in ("caviar-meet", "caviar-move")]
    program = compile_program(Theory(rules[0] + rules[1]))
    memory = MemorySource(evidence, source.domain)
    seconds = best_of(3, lambda: list(recognise(program, memory)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.parquet"
        columns = {f"arg{i}": evidence.args[:, i] for i in range(evidence.args.shape[1])}
        pl.DataFrame(
            {"sequence": evidence.sequence, "time": evidence.time, "kind": evidence.kind, **columns}
        ).write_parquet(path)
        scan = best_of(3, lambda: pl.scan_parquet(path).sum().collect())
    report(
        {
            "events": int(evidence.of_predicates(("happensAt",)).sum()),
            "atoms": len(evidence),
            "intervals": sum(len(part.intervals) for part in recognise(program, memory)),
            "seconds": seconds,
            "scan": scan,
        }
    )


if __name__ == "__main__":
    main()
