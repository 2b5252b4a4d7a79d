"""``splice theory``: show, check, compare and export theories, and rates of their initiations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from splice.cli.console import Format, emit, note, print_problems, print_reading, say, tracked
from splice.cli.options import DomainOption, Force, InputArgument, Printed, with_input_options
from splice.cli.recognise import Given, TheoryArgument, TimeStep, Winner
from splice.errors import SpliceError
from splice.evaluation.reinitiation import reinitiation_rates
from splice.events.crisp.program import Simultaneous, compile_program
from splice.events.fluents import defined_fluent
from splice.events.points import Step
from splice.events.theory_check import other_convention, theory_problems
from splice.inputs.domains import load_domain
from splice.inputs.open import InputOptions, Queries, input_paths, open_input, with_holds
from splice.inputs.theories import load_theory, load_theory_all
from splice.inputs.write import with_progress
from splice.io.outputs import check_file, write_text
from splice.logic.atoms import Rule
from splice.logic.domain import Domain
from splice.logic.theory import Statement, Theory, TheoryDifference, compare_theories
from splice.stream.source import one_sequence


class Language(StrEnum):
    """A language that theories can be exported to."""

    LOMRF = "lomrf"
    ASP = "asp"
    RTEC = "rtec"


def show(theory: TheoryArgument, style: Printed = Format.TABLE) -> None:
    """Print a theory as text that reads back, fluent by fluent; json has a row for each rule."""
    loaded = load_theory(theory)
    rows = [_row(statement) for statement in loaded.statements]
    if style is Format.TABLE:
        say("\n".join(_text(loaded)))
    else:
        emit(rows, style, {"theory": theory, "crisp": loaded.is_crisp, "rules": rows})


def _row(statement: Statement) -> dict[str, Any]:
    content, place = statement.content, statement.place
    return {
        "fluent": _fluent(statement),
        "head": content.head.atom.predicate if isinstance(content, Rule) else None,
        "weight": "hard" if statement.is_hard else statement.weight,
        "rule": str(content),
        "file": place.file if place else None,
        "line": place.line if place else None,
    }


def _fluent(statement: Statement) -> str | None:
    fluent = defined_fluent(statement)
    return str(fluent) if fluent else None


def _text(theory: Theory) -> Iterator[str]:
    groups: dict[str | None, list[Statement]] = {}
    for statement in theory.statements:
        groups.setdefault(_fluent(statement), []).append(statement)
    for number, (fluent, statements) in enumerate(groups.items()):
        if number:
            yield ""
        if fluent is not None:
            yield f"% {fluent}"
        yield from map(str, statements)


def check(
    theory: TheoryArgument, domain: DomainOption = None, style: Printed = Format.TABLE
) -> None:
    """Report every problem of a theory, each with its place; exit 1 if there is one.

    With a domain, predicates and events that it does not have are problems, too.
    """
    loaded, problems = load_theory_all(theory)
    if not problems:
        declared = load_domain(domain).domain if domain else Domain(schema=loaded.schema)
        problems = sorted(set(theory_problems(loaded, declared)))
    print_problems(theory, problems, style)
    if problems:
        raise typer.Exit(1)


def diff(
    first: Annotated[str, typer.Argument(metavar="A", help="A theory.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    style: Printed = Format.TABLE,
) -> None:
    """Compare two theories: rules of one alone, and rules of both with other weights.

    Names of variables and the order of conditions make no difference.
    """
    difference = compare_theories(load_theory(first), load_theory(second))
    if style is Format.TABLE:
        say("\n".join(_differences(difference)))
        return
    changed = [
        {"rule": str(a.content), "a": _weight(a), "b": _weight(b)} for a, b in difference.reweighted
    ]
    rows: list[dict[str, Any]] = [
        *(
            {"where": "A", "rule": str(s.content), "a": _weight(s), "b": None}
            for s in difference.only_first
        ),
        *(
            {"where": "B", "rule": str(s.content), "a": None, "b": _weight(s)}
            for s in difference.only_second
        ),
        *({"where": "both", **row} for row in changed),
    ]
    value = {
        "same": len(difference.same),
        "only_a": [str(s) for s in difference.only_first],
        "only_b": [str(s) for s in difference.only_second],
        "weights": changed,
    }
    emit(rows, style, value)


def _differences(difference: TheoryDifference) -> Iterator[str]:
    yield from (f"- {statement}" for statement in difference.only_first)
    yield from (f"+ {statement}" for statement in difference.only_second)
    for first, second in difference.reweighted:
        yield f"~ {first.content}.  {_weight(first)} -> {_weight(second)}"
    yield (
        f"{len(difference.same)} the same, {len(difference.reweighted)} with another weight, "
        f"{len(difference.only_first)} only in A, {len(difference.only_second)} only in B"
    )


def _weight(statement: Statement) -> float | str:
    if statement.weight is None:
        return "none"
    return "hard" if statement.is_hard else statement.weight


@with_input_options
def export(
    theory: TheoryArgument,
    to: Annotated[
        Language, typer.Option("--to", help="The language to write.", case_sensitive=False)
    ],
    options: InputOptions,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where to write (default: print).")
    ] = None,
    facts: Annotated[
        str | None,
        typer.Option("--facts", metavar="INPUT", help="Also write this stream as facts (asp)."),
    ] = None,
    sequence: Annotated[
        str | None,
        typer.Option("--sequence", metavar="S", help="Which sequence of it, if it has several."),
    ] = None,
    simultaneous: Winner = Simultaneous.TERMINATE,
    time_step: TimeStep = None,
    given: Given = None,
    force: Force = False,
) -> None:
    """Write a theory in another language, with the axioms of the Event Calculus.

    clingo, run on an exported program with facts, gives the intervals of `splice recognise`.
    """
    if out is not None:
        check_file(out, input_paths(facts) if facts else (), force=force)
    rules = load_theory(theory)
    if to is Language.LOMRF:
        if facts or time_step:
            raise SpliceError(
                "--facts and --time-step are for asp", "convert data with data convert"
            )
        text = _lomrf(rules, options, simultaneous)
    elif to is Language.RTEC:
        text = _rtec(rules, options, facts)
    else:
        text = _asp(rules, options, facts, sequence, simultaneous, time_step, given or ())
    if out is None:
        say(text, end="")
        return
    write_text(out, text)
    note(f"wrote {out}")


def _lomrf(theory: Theory, options: InputOptions, simultaneous: Simultaneous) -> str:
    from splice.io.lomrf.event_calculus import format_lomrf
    from splice.io.lomrf.mln import read_mln

    schema = None
    if options.domain:
        schema = load_domain(options.domain).domain.schema
    elif options.schema:
        schema = read_mln(options.schema).schema
    if theory.is_crisp:
        compile_program(theory)
    holds = _domain(options, theory).clock.holds or theory.holds
    return format_lomrf(replace(theory, holds=holds), schema, simultaneous=simultaneous)


def _domain(options: InputOptions, theory: Theory) -> Domain:
    """Return the domain of an export; without one, changes count as the theory itself says."""
    domain = load_domain(options.domain).domain if options.domain else Domain()
    holds = options.holds or (None if options.domain else theory.holds and theory.holds.value)
    return with_holds(domain, holds)


def _rtec(theory: Theory, options: InputOptions, facts: str | None) -> str:
    from splice.io.rtec_rules import format_rtec

    if facts:
        raise SpliceError("--facts is for asp", "write the stream with data convert --to rtec")
    domain = _domain(options, theory)
    return format_rtec(compile_program(theory, domain), domain)


def _asp(
    theory: Theory,
    options: InputOptions,
    facts: str | None,
    sequence: str | None,
    simultaneous: Simultaneous,
    time_step: int | None,
    given: Iterable[str],
) -> str:
    from splice.io.asp import format_asp, format_asp_facts

    domain = _domain(options, theory)
    successor = Step(time_step) if time_step else None
    program = compile_program(
        theory, domain, simultaneous=simultaneous, successor=successor, given=given
    )
    text = format_asp(program)
    if facts is None:
        return text
    source = with_progress(open_input(facts, options, queries=Queries.WRITTEN), tracked, "reading")
    table = one_sequence(source, sequence)
    return f"{text}\n% The stream.\n{format_asp_facts(program, table, source.domain)}"


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
    source = with_progress(open_input(data, options, queries=Queries.WRITTEN), tracked, "reading")
    if warning := other_convention(rules, source.domain):
        note(f"warning: {warning}")
    program = compile_program(rules, source.domain)
    static = [str(d.fluent) for d in program.definitions if d.static]
    if static:
        note(f"nothing initiates {', '.join(static)}: they follow from other fluents")
    measured = reinitiation_rates(program, source)
    print_reading(source.report)
    rows = [
        {
            "fluent": rate.fluent,
            "intervals": rate.basis.value,
            "points": rate.points,
            "initiated": rate.initiated,
            "rate": rate.rate,
        }
        for rate in measured
    ]
    emit(rows, style, {"theory": theory, "rates": rows})
