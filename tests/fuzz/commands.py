"""Command lines: any option of a command, with values that are none."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import random
import shutil
from pathlib import Path
from typing import Any

from fuzz.mutations import mutated_bytes
from fuzz.samples import RULES
from fuzz.target import Target, whole_tables
from hostile_names import NAMES

__all__ = ["TARGETS"]

_RUNNABLE = {
    "data show": ["DATA"], "data check": ["DATA"], "data convert": ["DATA", "OUT"], "mask": ["DATA"],
    "complete": ["DATA"], "learn": ["DATA"], "recognise": ["RULES", "DATA"], "evaluate": ["DATA", "DATA"],
    "explain label": ["DATA"], "explain interval": ["RULES", "DATA"], "explain rule": ["DATA"],
    "theory show": ["RULES"], "theory check": ["RULES"], "theory diff": ["RULES", "RULES"],
    "theory export": ["RULES"], "theory rates": ["RULES", "DATA"], "data list": [], "ask": ["DATA"],
}  # fmt: skip
_NEEDED = {"mask": ["--level", "50", "--out", "OUT"], "data convert": ["--to", "ndjson"]}
_FORMS = [
    "knn:2",
    "enn:0.5",
    "lifted",
    "ground",
    "hoeffding",
    "log-odds",
    "1min",
    "auto",
    "50",
    "0.5",
    "json",
    "csv",
    "from",
    "2",
    "regression",
    "oled",
]
_LEFT_OUT = {"--help", "--report", "--jobs", "--shards", "--page", "--engine", "--debug"}
"""Files of their own, processes, and help."""


def _words(chance: random.Random) -> bytes:
    """Return a command line as JSON: a command, its arguments, and some options with odd values."""
    command = chance.choice(list(_RUNNABLE))
    options = [p for p in _options_of(command) if p[0] not in _LEFT_OUT]
    words = [*command.split(), *_RUNNABLE[command], *_NEEDED.get(command, [])]
    for name, takes in chance.sample(options, min(len(options), chance.choice((1, 1, 2, 3)))):
        words.append(name)
        if takes:
            seed = chance.choice([*_FORMS, *NAMES]).encode()
            value = mutated_bytes(seed, [b"1"], chance) if chance.random() < 0.7 else seed
            words.append(value[:300].decode("utf-8", "replace").replace("\0", ""))
    return json.dumps(words).encode()


@functools.cache
def _options_of(words: str) -> list[tuple[str, bool]]:
    """Return the options of a command, and whether each takes a value."""
    import typer

    from splice.cli.commands import app

    command: Any = typer.main.get_command(app)
    context = None
    for word in words.split():
        context = typer.Context(command, parent=context)
        command = command.get_command(context, word)
    command = command.load()  # what is listed has no options before
    context = typer.Context(command, parent=context)
    return sorted(
        (name, not parameter.is_flag)
        for parameter in command.get_params(context)
        if hasattr(parameter, "is_flag")
        for name in parameter.opts
    )


def _command(data: bytes, folder: Path) -> None:
    from splice.cli import _exit_code
    from splice.cli.commands import app

    home, rules, out = whole_tables(folder), folder / "t.rules", folder / "out"
    rules.write_text(RULES, "utf-8")
    places = {"DATA": str(home), "RULES": str(rules), "OUT": str(out)}
    words = [places.get(word, word) for word in json.loads(data)]
    for i, word in enumerate(words[:-1]):
        if word in ("--out", "--checkpoint", "--table") and words[i + 1] != str(out):
            name = words[i + 1].replace("/", "_")
            words[i + 1] = str(folder / f"x{name}")[:200]
    shutil.rmtree(out, ignore_errors=True)
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            app(args=words, prog_name="splice", standalone_mode=False)
        except SystemExit:
            pass
        except Exception as error:
            known = hasattr(error, "show") or isinstance(error, OSError)
            if not known:
                raise
            _exit_code(error)


TARGETS = (Target("command", _words, _command, seconds=20.0),)
