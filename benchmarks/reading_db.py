"""Reading evidence: the vectorised path against the grammar, one core."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.measure import best_of, report
from splice.io.lomrf.db import DbSource, write_db
from splice.io.lomrf.db_grammar import parse_raw, parse_raw_by_grammar
from splice.lab.plaza import make_plaza
from splice.logic.lexer import SourceText
from splice.stream.source import collect


def main() -> None:
    """Write a plaza as evidence and read it in both ways."""
    with tempfile.TemporaryDirectory() as folder:
        write_db(make_plaza(sequences=12, frames=600).source, Path(folder))
        files = sorted(Path(folder).glob("*.db"))
        megabytes = sum(file.stat().st_size for file in files) / 1e6
        text = SourceText(files[0].read_text())
        report(
            {
                "megabytes": megabytes,
                "read": megabytes / best_of(3, lambda: collect(DbSource(files))),
                "parse": len(text.text) / 1e6 / best_of(5, lambda: parse_raw(text)),
                "grammar": len(text.text) / 1e6 / best_of(1, lambda: parse_raw_by_grammar(text)),
            }
        )


if __name__ == "__main__":
    main()
