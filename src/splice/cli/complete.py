"""``splice complete`` and ``splice explain label``."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from splice.cli.console import Format, emit, note, tell_reading, tracked
from splice.cli.options import BatchSize, Force, InputArgument, Printed, Written, with_input_options
from splice.completion.completion import Completion
from splice.completion.options import profile_of
from splice.completion.source import CompletedSource
from splice.completion.strategies import PROFILES, Profile
from splice.datasets.inputs import InputOptions, input_paths, open_input
from splice.datasets.outputs import format_of_input, write_source
from splice.errors import SpliceError
from splice.evaluation.alignment import labels_in
from splice.evaluation.confusion import Confusion
from splice.io.outputs import check_output
from splice.labels import UNKNOWN
from splice.logic.syntax import parse_ground_term
from splice.stream.batch import MicroBatch, query_rows
from splice.stream.cutting import BatchedSource, TimePoints
from splice.stream.source import collect
from splice.stream.table import AtomTable

__all__ = ["complete", "explain"]

_ProfileName: TypeAlias = Annotated[
    str, typer.Option("--profile", help=f"A bundle of choices: {', '.join(PROFILES)}.")
]
_Connector: TypeAlias = Annotated[
    str | None, typer.Option("--connector", metavar="C", help="knn:2, enn:0.75, knn:1:labelled ...")
]
_Distance: TypeAlias = Annotated[
    str | None, typer.Option("--distance", metavar="D", help="lifted, ground, lifted:hausdorff ...")
]
_Threshold: TypeAlias = Annotated[
    str | None, typer.Option("--threshold", metavar="T", help="zero, logodds or classmass.")
]
_Delta: TypeAlias = Annotated[
    float | None, typer.Option("--delta", metavar="D", help="Confidence of the Hoeffding filter.")
]
_Abstain: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--abstain", metavar="M", min=0.0, max=1.0, help="Say nothing within this margin."
    ),
]


@with_input_options
def complete(
    data: InputArgument,
    options: InputOptions,
    profile: _ProfileName = "default",
    connector: _Connector = None,
    distance: _Distance = None,
    threshold: _Threshold = None,
    delta: _Delta = None,
    abstain: _Abstain = None,
    batch_size: BatchSize = 25,
    truth: Annotated[
        str | None,
        typer.Option(
            "--truth", metavar="INPUT", help="The same atoms with all labels, to score by."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Where to write the completed input."),
    ] = None,
    out_format: Written = None,
    force: Force = False,
    style: Printed = Format.TABLE,
) -> None:
    """Fill in the labels that are missing, each with the help of the labels that are given."""
    chosen = _profile(profile, connector, distance, threshold, delta, abstain)
    if out is not None:
        check_output(out, input_paths(data), force=force)
    truths = _truth(truth, options) if truth else None
    completed = CompletedSource(open_input(data, options), chosen, TimePoints(batch_size))
    counted = Counted(completed, truths)
    if out is not None:
        write_source(counted, out, out_format or format_of_input(data))
        note(f"wrote {out}")
    else:
        for _ in counted.batches():
            pass
    tell_reading(completed.report)
    report = counted.tally.as_json()
    rows = [{"what": key, "value": value} for key, value in report.items()]
    emit(rows, style, report)


def _profile(
    name: str,
    connector: str | None,
    distance: str | None,
    threshold: str | None,
    delta: float | None,
    abstain: float | None,
) -> Profile:
    given = {
        "connector": connector,
        "distance": distance,
        "threshold": threshold,
        "caching": None if delta is None else {"delta": delta},
        "margin": abstain,
    }
    return profile_of(name, {key: value for key, value in given.items() if value is not None})


def _truth(name: str, options: InputOptions) -> AtomTable:
    source = open_input(name, options)
    table = collect(source)
    return table.take(query_rows(table, source.domain))


@dataclass
class Tally:
    """What became of a stream, counted while it passes."""

    given: int = 0
    completed: int = 0
    positive: int = 0
    unreached: int = 0
    abstained: int = 0
    contradictions: int = 0
    seconds: float = 0.0
    confusion: Confusion | None = None

    def add(self, done: Completion, truth: AtomTable | None) -> None:
        """Count a batch."""
        missing = ~done.given
        self.given += int(done.given.sum())
        self.completed += int(missing.sum())
        self.positive += int((missing & (done.labels > 0)).sum())
        self.unreached += int((missing & ~done.reached).sum())
        self.abstained += int((missing & (done.labels == UNKNOWN)).sum())
        if truth is not None:
            right = labels_in(truth, done.batch.queries.take(missing))
            self.confusion = (self.confusion or Confusion()) + Confusion.of(
                right, done.labels[missing]
            )

    def as_json(self) -> dict[str, Any]:
        """Return the counts under the names that the command promises."""
        report = {field.name: getattr(self, field.name) for field in fields(self)}
        confusion: Confusion | None = report.pop("confusion")
        report["seconds"] = round(self.seconds, 3)
        return report | (confusion.as_json() if confusion else {})


@dataclass(frozen=True, eq=False)
class Counted(BatchedSource):
    """A completed source that counts what passes."""

    inner: CompletedSource
    truth: AtomTable | None
    tallies: list[Tally] = field(default_factory=list)

    @property
    def tally(self) -> Tally:
        """The counts of the last reading."""
        return self.tallies[-1]

    def batches(self) -> Iterator[MicroBatch]:
        """Yield the completed batches."""
        tally = Tally(confusion=None if self.truth is None else Confusion())
        self.tallies.append(tally)
        begun = time.perf_counter()
        for completer, done in tracked(self.inner.completions(), "completing"):
            tally.seconds += time.perf_counter() - begun
            tally.contradictions = completer.cache.contradictions()
            tally.add(done, self.truth)
            yield done.completed()
            begun = time.perf_counter()


explain = typer.Typer(help="Why: what a result was worked out from.", no_args_is_help=True)


@explain.command("label")
@with_input_options
def explain_label(
    data: InputArgument,
    fluent: Annotated[str, typer.Argument(metavar="FLUENT", help="Such as 'meet(ID1,ID2)'.")],
    time_point: Annotated[int, typer.Argument(metavar="TIME", help="The time-point.")],
    options: InputOptions,
    sequence: Annotated[
        str | None,
        typer.Option("--sequence", metavar="S", help="The sequence, if there are several."),
    ] = None,
    profile: _ProfileName = "default",
    connector: _Connector = None,
    distance: _Distance = None,
    threshold: _Threshold = None,
    delta: _Delta = None,
    abstain: _Abstain = None,
    batch_size: BatchSize = 25,
    style: Printed = Format.TABLE,
) -> None:
    """Explain the label of one query atom: what it was like, and how the labels of those weigh."""
    chosen = _profile(profile, connector, distance, threshold, delta, abstain)
    source = CompletedSource(open_input(data, options), chosen, TimePoints(batch_size))
    wanted = str(parse_ground_term(fluent))
    for completer, done in tracked(source.completions(), "completing"):
        if sequence not in (None, done.batch.sequence):
            continue
        queries = done.batch.queries
        for row in (queries.time == time_point).nonzero()[0].tolist():
            if wanted in (str(queries.atom(row).args[0]), str(queries.atom(row))):
                said = completer.explain(row)
                if style is Format.TABLE:
                    print(said)
                else:
                    emit([said.as_json()], style, said.as_json())
                return
    where = f" of sequence '{sequence}'" if sequence else ""
    raise SpliceError(
        f"no query atom {fluent} at {time_point}{where}",
        "fluents are written as in labels.csv: meet(ID1,ID2)",
    )
