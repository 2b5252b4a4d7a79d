"""``splice data make`` and ``splice data derive``: simulated datasets; labels from reported positions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from splice.cli.console import Format, emit, note, print_reading, tracked
from splice.cli.formats import DATA_FORMAT
from splice.cli.options import Force, Out, Printed, Seed
from splice.errors import SpliceError, UnknownName
from splice.inputs.write import write_source
from splice.io.outputs import check_output
from splice.lab.maritime import PRESETS, WordChoice, make_maritime
from splice.stream.summary import Gaps, SummarisedSource, Summary

_OPTIONS: Final = {
    "plaza": ("sequences", "people", "frames", "perfect"),
    "maritime": ("preset", "vessels", "days", "vocabulary", "target"),
}


def make(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="What to simulate: plaza or maritime.")
    ],
    out: Out,
    sequences: Annotated[
        int | None, typer.Option(min=1, help="plaza: how many sequences (default: 8).")
    ] = None,
    people: Annotated[
        int | None, typer.Option(min=1, help="plaza: how many people in each (default: 4).")
    ] = None,
    frames: Annotated[
        int | None,
        typer.Option(min=2, help="plaza: how many frames in each, 25 a second (default: 600)."),
    ] = None,
    perfect: Annotated[
        bool, typer.Option("--perfect", help="plaza: label exactly what people do, without slips.")
    ] = False,
    preset: Annotated[
        str | None,
        typer.Option(help="maritime: a size that has a name, small (default) or month."),
    ] = None,
    vessels: Annotated[
        int | None, typer.Option(min=2, help="maritime: how many vessels; two make a sequence.")
    ] = None,
    days: Annotated[float | None, typer.Option(help="maritime: for how many days.")] = None,
    vocabulary: Annotated[
        WordChoice | None,
        typer.Option(help="maritime: which atoms; full adds areas and fluents (default: 2019)."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="maritime: what is labelled, rendezvous (default) or pilotOps."),
    ] = None,
    seed: Seed = 0,
    out_format: Annotated[
        str | None,
        typer.Option(
            "--out-format", help="What to write (default: csv; maritime: parquet).", **DATA_FORMAT
        ),
    ] = None,
    force: Force = False,
    style: Printed = Format.TABLE,
) -> None:
    """Simulate a dataset and write it.

    The same seed gives the same data, and the first sequences do not depend on how many follow.
    """
    values: dict[str, Any] = {
        "sequences": sequences,
        "people": people,
        "frames": frames,
        "perfect": perfect or None,
        "preset": preset,
        "vessels": vessels,
        "days": days,
        "vocabulary": vocabulary,
        "target": target,
    }
    chosen = {option: value for option, value in values.items() if value is not None}
    _check_options(name, chosen)
    check_output(out, force=force)
    if name == "plaza":
        summary = _plaza(out, out_format or "csv", seed, chosen)
    else:
        summary = _maritime(out, out_format or "parquet", seed, chosen)
    note(f"wrote {out}")
    print_summary(summary, style)


def _check_options(name: str, chosen: dict[str, Any]) -> None:
    """Refuse a simulator that there is not, and options that it does not have."""
    if name not in _OPTIONS:
        raise UnknownName("simulator", name, _OPTIONS)
    for option in chosen:
        if option not in _OPTIONS[name]:
            raise SpliceError(
                f"--{option} says nothing about {name}",
                f"{name} has {', '.join(f'--{o}' for o in _OPTIONS[name])}",
            )


def _plaza(out: Path, style: str, seed: int, chosen: dict[str, Any]) -> Summary:
    from splice.lab.plaza import PERFECT, USUAL, make_plaza

    annotator = PERFECT if chosen.pop("perfect", False) else USUAL
    plaza = make_plaza(**chosen, seed=seed, annotator=annotator)
    counted = SummarisedSource(plaza.source)
    write_source(counted, out, style, tracks=plaza.tracks)
    return counted.summary


def _maritime(out: Path, style: str, seed: int, chosen: dict[str, Any]) -> Summary:
    name = chosen.get("preset", "small")
    if name not in PRESETS:
        raise UnknownName("preset", name, PRESETS)
    size = PRESETS[name]
    source = make_maritime(
        chosen.get("vessels", size.vessels),
        chosen.get("days", size.days),
        seed,
        choice=chosen.get("vocabulary", WordChoice.Y2019),
        target=chosen.get("target", "rendezvous"),
    )
    counted = SummarisedSource(source)
    write_source(counted, out, style, progress=tracked)
    return counted.summary


def print_summary(summary: Summary, style: Format) -> None:
    """Print what an input holds."""
    report = summary.as_json()
    rows = [
        {"what": "sequences", "name": "", "count": summary.sequences},
        {"what": "time-points", "name": "", "count": summary.time_points},
        *_gap_rows(summary.gaps),
        *({"what": "atoms", "name": n, "count": c} for n, c in report["predicates"].items()),
        *(
            {"what": f"labels {label}", "name": fluent, "count": count}
            for fluent, counts in report["fluents"].items()
            for label, count in counts.items()
        ),
    ]
    emit(rows, style, report)


def _gap_rows(gaps: Gaps) -> list[dict[str, Any]]:
    """Return how regular time is, as rows of a summary."""
    if gaps.median is None or gaps.largest is None:
        return []
    return [
        {"what": "gaps in time", "name": "median", "count": gaps.median},
        {"what": "gaps in time", "name": "largest", "count": gaps.largest},
    ]


def derive(
    data: Annotated[
        Path,
        typer.Argument(metavar="AIS", help="Positions or critical points: a file, or a folder."),
    ],
    out: Annotated[Path, typer.Argument(metavar="DST", help="The folder to write.")],
    areas: Annotated[
        Path | None,
        typer.Option("--areas", metavar="FILE", help="Corners of areas: area,lon,lat."),
    ] = None,
    vessels: Annotated[
        Path | None,
        typer.Option("--vessels", metavar="FILE", help="The vessels there are: vessel,type."),
    ] = None,
    min_near: Annotated[
        int,
        typer.Option(
            "--min-near",
            metavar="N",
            min=0,
            help="Pairs make a sequence that are near each other for N seconds, at least once.",
        ),
    ] = 240,
    vocabulary: Annotated[
        WordChoice, typer.Option(help="Which atoms; full adds areas and fluents.")
    ] = WordChoice.Y2019,
    target: Annotated[
        str, typer.Option(help="What is labelled by its rule: rendezvous or pilotOps.")
    ] = "rendezvous",
    to: Annotated[
        str, typer.Option("--to", help="The format to write.", **DATA_FORMAT)
    ] = "parquet",
    sort: Annotated[
        bool, typer.Option("--sort", help="Sort rows that are out of order (in memory).")
    ] = False,
    max_bad: Annotated[
        float,
        typer.Option(
            "--max-bad",
            metavar="SHARE",
            min=0.0,
            max=1.0,
            help="The share of bad rows to leave out and report.",
        ),
    ] = 0.0,
    force: Force = False,
    style: Printed = Format.TABLE,
) -> None:
    """Derive critical points from positions (AIS); a sequence is a pair of vessels that meet.

    Critical points that RTEC's csv has already are only put together, pair by pair.
    """
    from splice.io.rtec import looks_like_rtec
    from splice.lab.ais import ais_files
    from splice.lab.maritime.derive import AisOptions, derive_ais
    from splice.lab.maritime.recorded import derive_recorded

    inputs = [path for path in (data, areas, vessels) if path is not None]
    check_output(out, inputs, force=force)
    recorded = looks_like_rtec(ais_files(data)[0])
    if recorded and areas is not None:
        raise SpliceError("critical points know their areas already", "leave --areas out")
    source = (derive_recorded if recorded else derive_ais)(
        data,
        AisOptions(
            areas=areas,
            vessels=vessels,
            sort=sort,
            max_bad=max_bad,
            min_near=min_near,
            choice=vocabulary,
            target=target,
        ),
    )
    counted = SummarisedSource(source)
    left_out = write_source(counted, out, to, progress=tracked)
    print_reading(source.report)
    if areas is None and not recorded:
        note("no --areas: the labels know nothing of ports and coasts")
    if left_out:
        note(f"{left_out:,} atoms and labels have no place in this format and were left out")
    note(f"wrote {out}")
    print_summary(counted.summary, style)
