"""RTEC's CAVIAR stream by its own description: rules that events end, and rules that silence ends.

What is said of a person in a frame (``walking``) is ended by the first frame that does not say it.
Such rules are asked only where the fluent may hold; the twin asks them everywhere. RTEC itself
is not run here: on two cores, quiet, its reasoning took .65 to .70 s, and the best of these is
what our time is compared with.
"""

from __future__ import annotations

import gzip
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import best_of, report
from splice.events.crisp.changes import Changes, Stretches
from splice.events.crisp.program import compile_program
from splice.events.crisp.recognition import OWN_NUMBER, CrispRecognition, Recognised
from splice.events.evidence import Relation
from splice.events.joins import solve
from splice.events.points import Step
from splice.io.rtec import RtecSource
from splice.logic.atoms import Rule
from splice.logic.syntax import parse_theory
from splice.logic.terms import Variable
from splice.stream.source import collect
from splice.stream.table import AtomTable

RTEC = 0.65
"""The seconds that RTEC's reasoning takes, measured apart, on a machine of two cores."""

FRAME = 40
RULES = Path(__file__).with_name("rtec_caviar.rules")
FILES = ("movementB.csv.gz", "appearance.csv.gz")


class Everywhere(CrispRecognition):
    """Asks rules that no event triggers of every ground fluent at every point."""

    def silent_ends(self, rules: Sequence[tuple[Rule, Relation]], stretches: Stretches) -> Changes:
        """Return where the rules are true."""
        parts = []
        for rule, fluents in rules:
            time = rule.head.atom.args[1]
            assert isinstance(time, Variable)
            solutions = solve(rule.body, self.evidence, time, None, self.store, (fluents,))
            parts.append(Changes(solutions.columns[OWN_NUMBER], solutions.point))
        return Changes.concat(parts)


def stream(folder: Path) -> AtomTable:
    """Return the events of both files as one sequence."""
    texts = [gzip.decompress((folder / name).read_bytes()).decode() for name in FILES]
    lines = [line for text in texts for line in text.splitlines(keepends=True)]
    lines.sort(key=lambda line: int(line.split("|")[2]))
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "caviar.csv"
        path.write_text("".join(lines))
        return collect(RtecSource(path))


def main() -> None:
    """Recognise by both roads, which must agree, and tell how long each took."""
    folder = Path(os.environ.get("SPLICE_DATA", "../shared/data")) / "rtec-caviar"
    if not (folder / FILES[0]).is_file():
        report({"missing": str(folder)})
        return
    table = stream(folder)
    program = compile_program(parse_theory(RULES.read_text()), successor=Step(FRAME))

    def plain(recognised: Recognised) -> list[tuple[int, int, int]]:
        return recognised.intervals.rows()

    assert plain(CrispRecognition(program, table).run()) == plain(Everywhere(program, table).run())
    seconds = best_of(7, lambda: CrispRecognition(program, table).run())
    twin = best_of(5, lambda: Everywhere(program, table).run())
    report({"events": len(table), "seconds": seconds, "twin": twin, "rtec": RTEC})


if __name__ == "__main__":
    main()
