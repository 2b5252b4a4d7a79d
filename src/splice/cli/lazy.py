"""Commands that are loaded when they run: the list of commands costs next to nothing.

A command is known by its name, its one-line help and the function behind it, as
``module:function``. Only when it is typed, with its options or with ``--help``, is the module
imported, and with it what the command needs of the library.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_command_from_info
from typer.models import CommandInfo

__all__ = ["LazyCommand", "add_lazily"]


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
    own = type("LazyCommand", (LazyCommand,), {"home": home})
    group.command(name, cls=own, help=text)(_never_run)


def _never_run() -> None:
    raise AssertionError("a lazy command runs as the command that it loads")
