"""The command, run in the process of the tests."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest

from splice.cli import main
from splice.cli.console import settings


def exit_code(*words: object) -> int:
    """Run the command and return how it ends."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("quiet", "verbose", "debug"):  # which the command sets for its whole process
            patch.setattr(settings, name, False)
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
    code = ended.value.code
    return code if isinstance(code, int) else 0


def run(*words: object) -> None:
    """Run the command, which succeeds."""
    assert exit_code(*words) == 0, words


class Ran(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """What it printed, where it succeeded."""
        assert self.code == 0, self.err
        answer: dict[str, Any] = json.loads(self.out)
        return answer


class Command:
    """Runs the command and catches what it says."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: object) -> Ran:
        self._capsys.readouterr()
        code = exit_code(*words)
        out, err = self._capsys.readouterr()
        return Ran(code, out, err)
