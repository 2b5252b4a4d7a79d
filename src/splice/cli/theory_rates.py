"""``splice theory rates``: how often rules initiate a fluent again while it holds."""

from __future__ import annotations

from splice.cli.console import Format, emit, note, tell_reading, tracked
from splice.cli.options import InputArgument, Printed, with_input_options
from splice.cli.recognise import TheoryArgument
from splice.errors import SpliceError
from splice.evaluation.reinitiation import reinitiation_rates
from splice.events.crisp.program import compile_program
from splice.inputs.open import InputOptions, Queries, open_input
from splice.inputs.theories import load_theory
from splice.inputs.write import WatchedSource

__all__ = ["rates"]


@with_input_options
def rates(
    theory: TheoryArgument,
    data: InputArgument,
    options: InputOptions,
    style: Printed = Format.TABLE,
) -> None:
    """Say at which share of the points of its intervals a fluent is initiated again.

    The intervals are those of the labels, and those that the rules recognise. A high rate speaks
    for `splice learn --points all`, a low one for `--points starts`.
    """
    rules = load_theory(theory)
    if not rules.is_crisp:
        raise SpliceError(f"'{theory}' has weights", "rates are of rules without weights")
    source = WatchedSource(open_input(data, options, queries=Queries.WRITTEN), tracked, "reading")
    program = compile_program(rules, source.domain)
    still = [str(d.fluent) for d in program.definitions if d.static]
    if still:
        note(f"nothing initiates {', '.join(still)}: they follow from other fluents")
    found = reinitiation_rates(program, source)
    tell_reading(source.report)
    rows = [
        {
            "fluent": rate.fluent,
            "intervals": rate.basis.value,
            "points": rate.points,
            "initiated": rate.initiated,
            "rate": rate.rate,
        }
        for rate in found
    ]
    emit(rows, style, {"theory": theory, "rates": rows})
