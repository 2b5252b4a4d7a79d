"""The command: parse, one call of the library, render.

Data goes to stdout, everything else to stderr. Exit codes: 0 done, 1 user error, 2 usage,
130 interrupted.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from splice.cli.console import fail, settings

__all__ = ["app", "main"]

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
        from importlib.metadata import version

        print(f"splice {version('splice-cer')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    pass


def _commands() -> None:
    from splice.cli import complete, data, demo, experiment, mask

    app.add_typer(data.app, name="data")
    app.command("mask")(mask.mask)
    app.command("complete")(complete.complete)
    app.add_typer(complete.explain, name="explain")
    app.add_typer(experiment.app, name="experiment")
    app.command("demo")(demo.demo)


_commands()


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit with its code."""
    given = _take_settings(list(sys.argv[1:] if arguments is None else arguments))
    try:
        code = app(args=given, prog_name="splice", standalone_mode=False)
    except Exception as error:
        code = _exit_code(error)
    except KeyboardInterrupt:
        fail("interrupted")
        code = 130
    sys.exit(code if isinstance(code, int) else 0)


def _take_settings(arguments: list[str]) -> list[str]:
    """Take out the options that every command has, wherever they stand."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    own = arguments[:end]
    settings.quiet = "--quiet" in own or "-q" in own
    settings.verbose = "--verbose" in own or "-v" in own
    settings.debug = "--debug" in own
    taken = {"--quiet", "-q", "--verbose", "-v", "--debug"}
    return [word for word in own if word not in taken] + arguments[end:]


def _exit_code(error: Exception) -> int:
    from splice.errors import SpliceError

    if settings.debug:
        import traceback

        traceback.print_exception(error)
    if isinstance(error, typer.Abort):
        fail("interrupted")
        return 130
    if hasattr(error, "show") and hasattr(error, "exit_code"):
        error.show()  # usage errors of the command line's own library, whichever it is built on
        return int(error.exit_code)
    if isinstance(error, SpliceError):
        fail(str(error))
        return 1
    if isinstance(error, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    if isinstance(error, OSError):
        fail(f"{error.filename or 'system'}: {(error.strerror or str(error)).lower()}")
        return 1
    fail(f"internal error: {type(error).__name__}: {error}")
    fail("hint: this is a defect of splice; run again with --debug and report what it says")
    return 1
