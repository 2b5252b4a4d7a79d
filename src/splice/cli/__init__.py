"""The command: parse, one call of the library, render.

Data goes to stdout, everything else to stderr. Exit codes: 0 done, 1 user error, 2 usage,
130 interrupted.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from splice.cli.console import fail, settings
from splice.threads import use_one_thread

__all__ = ["app", "main"]

_INTERRUPTED = 130


def __getattr__(name: str) -> Any:
    """Load the commands, and with them the library, when they are asked for."""
    if name != "app":
        raise AttributeError(f"module 'splice.cli' has no attribute '{name}'")
    from splice.cli.commands import app

    return app


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit with its code."""
    words = _take_settings(list(sys.argv[1:] if arguments is None else arguments))
    use_one_thread()
    _speak_utf8()
    try:
        from splice.cli.commands import app

        with _ending_as_interrupted():
            code = app(args=words, prog_name="splice", standalone_mode=False)
        if code == _INTERRUPTED:
            fail("interrupted")
    except Exception as error:
        code = _exit_code(error)
    except KeyboardInterrupt:
        fail("interrupted")
        code = _INTERRUPTED
    sys.exit(code if isinstance(code, int) else 0)


def _speak_utf8() -> None:
    """Let what is printed depend on nothing but itself: the same bytes in every locale."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


@contextmanager
def _ending_as_interrupted() -> Iterator[None]:
    """Let a run that is told to end clean up as one that is interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _take_settings(arguments: list[str]) -> list[str]:
    """Take out the options that every command has, wherever they stand."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options = arguments[:end]
    settings.quiet = "--quiet" in options or "-q" in options
    settings.verbose = "--verbose" in options or "-v" in options
    settings.debug = "--debug" in options
    taken = {"--quiet", "-q", "--verbose", "-v", "--debug"}
    return [word for word in options if word not in taken] + arguments[end:]


def _exit_code(error: Exception) -> int:
    from splice.errors import SpliceError, printable

    if settings.debug:
        import traceback

        traceback.print_exception(error)
    # By name: which library typer is built on is its own affair, and differs between its versions.
    if type(error).__name__ == "Abort":
        fail("interrupted")
        return _INTERRUPTED
    if hasattr(error, "show") and hasattr(error, "exit_code"):
        if isinstance(getattr(error, "message", None), str):
            error.message = printable(error.message)  # type: ignore[attr-defined]  # it quotes what was typed
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
