"""All commands, under one name."""

from __future__ import annotations

from importlib.metadata import version as installed
from typing import Annotated

import typer

from splice.cli import (
    complete,
    data,
    demo,
    evaluate,
    experiment,
    learn,
    mask,
    rates,
    recognise,
    report,
    theory,
)

__all__ = ["app"]

_EVERYWHERE = (
    "Every command also takes --quiet (say only what was asked for), --verbose (say more) and "
    "--debug (show where an error came from)."
)

app = typer.Typer(
    name="splice",
    help="From a stream of events and a few labels to readable rules that recognise what matters.",
    epilog=_EVERYWHERE,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"splice {installed('splice-cer')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    pass


app.add_typer(data.app, name="data")
app.command("mask")(mask.mask)
app.command("complete")(complete.complete)
app.command("learn")(learn.learn)
app.command("recognise")(recognise.recognise)
app.command("evaluate")(evaluate.evaluate)
complete.explain.command("interval")(recognise.explain_interval)
complete.explain.command("rule")(learn.explain_rule)
app.add_typer(complete.explain, name="explain")
theory.app.command("rates")(rates.rates)
app.add_typer(theory.app, name="theory")
app.add_typer(experiment.app, name="experiment")
app.command("report")(report.report)
app.command("demo")(demo.demo)
