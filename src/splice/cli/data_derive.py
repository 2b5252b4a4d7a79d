"""``splice data derive``: critical points, proximity and labels from reported positions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from splice.cli.console import Format, note, tell_reading, tracked
from splice.cli.data_make import tell_summary
from splice.cli.formats import DATA_FORMAT
from splice.cli.options import Force, Printed
from splice.errors import SpliceError
from splice.inputs.write import write_source
from splice.io.outputs import check_output
from splice.lab.maritime import WordChoice
from splice.stream.summary import SummarisedSource


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

    own = [path for path in (data, areas, vessels) if path is not None]
    check_output(out, own, force=force)
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
    tell_reading(source.report)
    if areas is None and not recorded:
        note("no --areas: the labels know nothing of ports and coasts")
    if left_out:
        note(f"{left_out:,} atoms and labels have no place in this format and were left out")
    note(f"wrote {out}")
    tell_summary(counted.summary, style)
