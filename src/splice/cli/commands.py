"""All commands, under one name; what is behind each is loaded when it runs.

A command is known by its name, its one-line help and the function behind it, as
``module:function``. Only when it is typed, with its options or with ``--help``, is the module
imported, and with it what the command needs of the library.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand
from typer.main import get_command_from_info
from typer.models import CommandInfo


class LazyCommand(TyperCommand):
    """Stands for a command in lists; becomes it when its arguments are parsed."""

    home: str = ""
    """Where the function is: ``module:function``."""

    def load(self) -> TyperCommand:
        """Return the command itself, with its options and its whole help."""
        module, _, function = self.home.partition(":")
        command = get_command_from_info(
            CommandInfo(self.name, callback=getattr(import_module(module), function)),
            pretty_exceptions_short=False,
            rich_markup_mode=self.rich_markup_mode,
        )
        assert isinstance(command, TyperCommand)
        return command

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Parse the arguments as the command itself does: it is what the context then runs."""
        return self.load().make_context(info_name, args, parent, **extra)


def add_lazily(group: typer.Typer, name: str, home: str, text: str) -> None:
    """Give a group a command that is loaded when it runs.

    Parameters
    ----------
    group
        Where the command is listed.
    name
        What is typed.
    home
        The function behind it, as ``module:function``.
    text
        The one-line help: the first line of the function's docstring (a test compares them).
    """
    command = type("LazyCommand", (LazyCommand,), {"home": home})
    group.command(name, cls=command, help=text)(_never_run)


def _never_run() -> None:
    raise AssertionError("a lazy command runs as the command that it loads")


_EVERYWHERE = (
    "Every command also takes --quiet (say only what was asked for), --verbose (say more) and "
    "--debug (show where an error came from)."
)

# The help is written twice, here and as the first line of the function's docstring, since reading
# the docstring would import what the command needs; tests/test_cli_lazy.py keeps the two equal.
_TABLE: Final = """
data list          data:list_datasets        Say which datasets have a name, and whether they are on this machine.
data make          data_make:make            Simulate a dataset and write it.
data derive        data_make:derive          Derive critical points from positions (AIS); a sequence is a pair of vessels that meet.
data fetch         data:fetch                Fetch data that others publish, below the folder that SPLICE_DATA names (default: data).
data show          data:show                 Count what an input holds: sequences, time-points, atoms and labels.
data convert       data:convert              Write the same atoms, labels and sequences in another format.
data check         data:check                Report every problem of an input, each with its place; exit 1 if there is one.
mask               mask:mask                 Hide labels: write the same atoms with some labels set to unknown.
complete           complete:complete         Fill in the labels that are missing, each with the help of the labels that are given.
ask                ask:ask                   Say which stretches to label next, so that few labels help much, each with its reason.
studio             studio:studio             See what happened and what is believed, answer questions and edit rules, in a browser.
learn              learn:learn               Learn rules from a stream of which a part is labelled.
recognise          recognise:recognise       Say when fluents hold: maximal intervals, half-open, by sequence.
run                run:run                   Recognise and learn while the events arrive, until told to stop.
status             status:status             Say how a live run stands: what it has read, said and learned, by its last checkpoint.
evaluate           evaluate:evaluate         Score what was recognised against the labelled query atoms of TRUTH.
explain label      explain:explain_label     Explain the label of one query atom: what it was like, and how the labels of those weigh.
explain interval   explain:explain_interval  Explain an interval: which rules began and ended it, and with which events.
explain rule       explain:explain_rule      Explain learned rules: learn as `splice learn` does, and tell how each came about.
theory show        theory:show               Print a theory as text that reads back, fluent by fluent; json has a row for each rule.
theory check       theory:check              Report every problem of a theory, each with its place; exit 1 if there is one.
theory diff        theory:diff               Compare two theories: rules of one alone, and rules of both with other weights.
theory export      theory:export             Write a theory in another language, with the axioms of the Event Calculus.
theory rates       theory:rates              Say at which share of the points of its intervals a fluent is initiated again.
experiment run     experiment:run            Run an experiment: every cell once, results kept as they come.
experiment resume  experiment:resume         Go on with a run that was interrupted; what is there is not computed again.
experiment show    experiment:show           Print the table of a run, also of one that is not complete.
report             report:report             Make one page of results, to look at in a browser; it needs no network.
demo               demo:demo                 Simulate people in a square, hide 90 % of the labels, fill them in, learn, and recognise.
"""

COMMANDS: Final = {
    name: (home, text)
    for name, home, text in (re.split(" {2,}", row) for row in _TABLE.strip().split("\n"))
}
"""What can be typed, the function behind it (in ``splice.cli``), and its one-line help."""

_GROUPS: Final = {
    "data": "Datasets: list, make, fetch, derive, show, convert, check.",
    "explain": "Why: what a result was worked out from.",
    "theory": "Theories: show, check, compare, export.",
    "experiment": "Experiments: run, resume, show.",
}

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


def _version(is_set: bool) -> None:
    if is_set:
        from importlib.metadata import version as installed

        print(f"splice {installed('splice-cer')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    pass


def _assemble() -> None:
    groups = {"": app}
    for name, text in _GROUPS.items():
        groups[name] = typer.Typer(help=text, no_args_is_help=True)
        app.add_typer(groups[name], name=name)
    for words, (home, text) in COMMANDS.items():
        group, _, name = words.rpartition(" ")
        add_lazily(groups[group], name, f"splice.cli.{home}", text)


_assemble()
