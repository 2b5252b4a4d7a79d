"""``splice mask``: hide labels."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Annotated

import typer

from splice.cli.console import Format, emit, note, print_reading, tracked
from splice.cli.formats import Written
from splice.cli.options import (
    BatchSize,
    Force,
    InputArgument,
    Out,
    Printed,
    Seed,
    with_input_options,
)
from splice.errors import SpliceError
from splice.inputs.open import InputOptions, input_paths, open_input
from splice.inputs.write import format_of_input, write_source
from splice.io.outputs import check_output
from splice.stream.batch import TimePoints
from splice.stream.mask import Keep, KeepAtoms, KeepBatches, KeepSequences, MaskedSource, Unit
from splice.stream.summary import summarise


class Scope(StrEnum):
    """Where the labels that are kept stand."""

    ATOMS = "atoms"
    BATCHES = "batches"
    SEQUENCES = "sequences"


@with_input_options
def mask(
    data: InputArgument,
    out: Out,
    level: Annotated[
        float,
        typer.Option(
            "--level", metavar="P", help="Percent to keep; with `sequences`, how many sequences."
        ),
    ],
    options: InputOptions,
    scope: Annotated[
        Scope,
        typer.Option(
            "--scope",
            case_sensitive=False,
            help="Keep P % of the labels in every batch, all labels of P % of the batches, "
            "or those of the first P sequences.",
        ),
    ] = Scope.ATOMS,
    unit: Annotated[
        Unit,
        typer.Option(
            "--unit", case_sensitive=False, help="Treat both directions of a pair as one, or not."
        ),
    ] = Unit.ATOM,
    stratify: Annotated[
        bool, typer.Option("--stratify", help="Keep the same share of true and false labels.")
    ] = False,
    batch_size: BatchSize = 25,
    seed: Seed = 0,
    out_format: Written = None,
    force: Force = False,
    style: Printed = Format.TABLE,
) -> None:
    """Hide labels: write the same atoms with some labels set to unknown.

    For one seed, what is kept at a lower level is also kept at a higher one.
    """
    keep = _keep(scope, level, unit, stratify=stratify)
    check_output(out, input_paths(data), force=force)
    source = open_input(data, options)
    before = summarise(source).labels
    masked = MaskedSource(source, keep, seed, TimePoints(batch_size))
    write_source(masked, out, out_format or format_of_input(data), progress=tracked)
    print_reading(source.report)
    after = summarise(masked).labels
    given, kept = (counts["true"] + counts["false"] for counts in (before, after))
    row = {
        "given": given,
        "kept": kept,
        "hidden": given - kept,
        "true": after["true"],
        "false": after["false"],
        "unknown": after["unknown"],
    }
    emit([row], style, row)
    note(f"wrote {out}")


def _keep(scope: Scope, level: float, unit: Unit, *, stratify: bool) -> Keep:
    if scope is Scope.ATOMS:
        return KeepAtoms(level, unit, stratify)
    if unit is Unit.PAIR:
        note("--unit says nothing here: whole batches and sequences keep pairs together")
    if scope is Scope.BATCHES:
        return KeepBatches(level, stratify)
    if stratify:
        raise SpliceError("--stratify does not go with --scope sequences", "leave one out")
    if not math.isfinite(level) or level != int(level):
        raise SpliceError(f"--level {level:g} is not a number of sequences", "say a whole number")
    return KeepSequences(int(level))
