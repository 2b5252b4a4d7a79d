"""The list of commands is light and true: a command's module is loaded when the command is."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module

import pytest

from splice.cli.commands import COMMANDS

HEAVY = ("numpy", "polars", "scipy", "numba", "highspy", "jinja2", "matplotlib")


def loaded_by(*words: str) -> set[str]:
    """Return the modules that a process has loaded once it has run the command."""
    code = (
        "import sys, atexit\n"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        "from splice.cli import main\n"
        f"main({list(words)!r})\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(ran.stderr.split())


@pytest.mark.parametrize(
    "words", [("--help",), ("--version",), ("data", "--help"), ("theory", "-h")]
)
def test_a_list_of_commands_loads_no_command_and_nothing_heavy(words: tuple[str, ...]) -> None:
    loaded = loaded_by(*words)
    assert not loaded.intersection(HEAVY)
    ours = {name for name in loaded if name.startswith("splice.")}
    assert ours <= {
        "splice.cli",
        "splice.cli.commands",
        "splice.cli.console",
        "splice.threads",
    }


def test_the_help_of_a_command_loads_no_other() -> None:
    loaded = loaded_by("learn", "--help")
    assert "splice.cli.learn" in loaded
    others = {f"splice.cli.{home.partition(':')[0]}" for home, _ in COMMANDS.values()}
    assert loaded & others == {"splice.cli.learn", "splice.cli.report"}  # it can write a report


def test_the_help_of_learn_declares_its_options_without_arrays_and_tables() -> None:
    loaded = loaded_by("learn", "--help")
    # A package that is only promised (splice.arrays) stands among the modules, but has no parts.
    assert not {name for name in loaded for heavy in HEAVY if name.startswith(f"{heavy}.")}
    assert not {"splice.inputs.open", "splice.pipeline.run"} & loaded


@pytest.mark.parametrize("words", COMMANDS)
def test_the_line_in_the_list_is_the_first_of_the_docstring(words: str) -> None:
    home, text = COMMANDS[words]
    module, _, function = home.partition(":")
    said = inspect.getdoc(getattr(import_module(f"splice.cli.{module}"), function))
    assert said is not None
    assert " ".join(said.split("\n\n")[0].split()) == text
