"""Names that mean something elsewhere are names here: through every command, on a terminal, on the page."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from browser import chromium
from hostile_names import FIRED, NAMES, unseen_by_terminal, write_data
from splice.cli import main
from splice.errors import printable
from splice.io.intervals import read_intervals

THEORY = """initiatedAt(lit(X),T) :- happensAt(press(X),T).
terminatedAt(lit(X),T) :- happensAt(wait(X),T).
"""


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile") / "data"
    write_data(folder)
    write_data(folder.parent / "short", [name for name in NAMES if len(name) < 100])
    write_data(folder.parent / "one", ["a"])
    (folder.parent / "lamp.rules").write_text(THEORY, "utf-8")
    return folder


def ran(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> tuple[int, str]:
    """Run a command on a terminal; return its code, and all that the terminal was sent."""
    terminal = Terminal()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", terminal)
        patch.setattr(sys, "stderr", terminal)
        patch.setenv("TERM", "dumb")
        patch.setenv("COLUMNS", "200")
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
    code = ended.value.code
    return code if isinstance(code, int) else 0, terminal.getvalue()


def test_there_are_a_hundred_of_them() -> None:
    assert len(set(NAMES)) >= 100


COMMANDS = [
    "data show DATA", "data show DATA --format json", "data check DATA", "mask DATA --level 50 --out OUT",
    "complete DATA", "complete DATA --format csv", "learn DATA --no-complete --min-score 0.1", "learn DATA --learner osla --profile regression",
    "recognise RULES DATA", "recognise RULES DATA --format json", "recognise RULES DATA --format csv",
    "evaluate DATA DATA", "theory rates RULES DATA", "explain rule DATA --profile regression --min-score 0.1", "data convert DATA OUT --to ndjson",
    "data convert SHORT OUT --to db", "data convert DATA OUT --to parquet",
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_them_and_sends_nothing_raw_to_the_terminal(
    command: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {
        "DATA": data,
        "SHORT": data.parent / "short",
        "RULES": data.parent / "lamp.rules",
        "OUT": tmp_path / "out",
    }
    code, said = ran(monkeypatch, *(places.get(word, word) for word in command.split()))
    assert "internal error" not in said
    assert code == 0, said[-2000:]
    assert unseen_by_terminal(said) == []


@pytest.mark.parametrize("name", NAMES)
def test_such_a_name_where_a_command_expects_another_is_an_error_that_can_be_read(
    name: str, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "\0" in name:
        pytest.skip("no argument of a process holds it")
    rules, one = data.parent / "lamp.rules", data.parent / "one"
    for arguments in (
        ["recognise", rules, one, "--fluent", name],
        ["theory", "show", name],
        ["data", "show", f"./nothing/{name}"],
        ["complete", one, "--connector", name],
        [name],
    ):
        code, said = ran(monkeypatch, *arguments)
        assert "internal error" not in said
        assert code or name == "--force", (arguments, said)
        assert unseen_by_terminal(said) == []


def test_recognised_intervals_keep_the_names_to_the_last_character(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "found.ndjson"
    code, said = ran(monkeypatch, "recognise", data.parent / "lamp.rules", data, "--out", out)
    assert code == 0, said
    found = read_intervals(out).fluents
    names = set(NAMES) - {"''", "happensAt(a,1)"}  # cells that say something else: '' and a term
    assert {found.vocabulary.sequences[int(code)] for code in found.sequence} == {*names, ""}
    assert {found.vocabulary.constants[int(code)] for code in found.args[:, 0]} >= names


def test_the_page_shows_them_and_executes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, page = tmp_path / "data", tmp_path / "page.html"
    write_data(data, [name for name in NAMES if len(name) < 1000])
    asked = ["learn", data, "--no-complete", "--out", tmp_path / "t.rules", "--report", page]
    code, said = ran(monkeypatch, *asked)
    assert code == 0, said
    with chromium() as browser:
        browser.open(page.as_uri())
        assert browser.run(f"return typeof window.{FIRED}") == "undefined"
        assert not [line for line in browser.said() if "Content Security" not in line]


def test_printable_text_stays_and_everything_else_is_written_out() -> None:
    assert printable("meet(ελλάς,😀)\n\t") == "meet(ελλάς,😀)\n\t"
    for name in NAMES:
        assert unseen_by_terminal(printable(name)) == []
    assert printable("\x1b\u202e\U000e0001") == "\\x1b\\u202e\\U000e0001"
