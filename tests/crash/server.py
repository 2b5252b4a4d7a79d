"""Runs commands in children of a process that has everything imported: a tenth of the time of fresh ones.

A child is as good as a fresh process here: the parent has imported modules and done nothing else, so no
library has threads yet. One request a line on stdin, JSON; one answer a line on stdout.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import signal
import sys
import traceback

from splice.errors import SpliceError

_LEFT_OUT = ("splice.engines.dask", "splice.live.feeds.", "splice.__main__")
"""What brings clients of its own, or runs."""
_PATIENCE = 120
HARNESSES = ("studio", "journal")
"""What is no command that ends by itself: a module here does what is asked of it."""


def _import_all() -> None:
    import splice

    for module in pkgutil.walk_packages(splice.__path__, "splice."):
        if not module.name.startswith(_LEFT_OUT):
            importlib.import_module(module.name)


def _work(asked: dict[str, object]) -> None:
    """Do what is asked for, and end the process."""
    words: list[str] = asked["words"]  # type: ignore[assignment]
    said = os.open(str(asked["said"]), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.environ.update(asked["env"])  # type: ignore[call-overload]
    signal.alarm(_PATIENCE)
    code = 1
    try:
        if words[0] in HARNESSES:
            module = importlib.import_module(f"crash.{words[0]}")
            module.work(*words[1:])
            code = 0
        else:
            from splice.cli import main

            main(words)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except (OSError, SpliceError) as error:  # of a harness: the command would say it
        print(error)
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def serve() -> None:
    """Answer requests until there are no more."""
    _import_all()
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            _work(asked)
        _, status = os.waitpid(child, 0)
        print(json.dumps({"code": os.waitstatus_to_exitcode(status)}), flush=True)


if __name__ == "__main__":
    serve()
