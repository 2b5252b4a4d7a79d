"""A new user types in the tutorial: every command of the page runs and prints what the page says."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from splice.cli import main

PROJECT = Path(__file__).resolve().parent.parent
PAGE = PROJECT / "docs/tutorial/your-own-data.md"
_FENCE = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_TIMES = re.compile(r"(?<=seconds)\s+[\d.]+|[\d.]+ s, [\d,]+ examples/s")


@dataclass
class Step:
    """A command of the page, and the lines that it is said to print."""

    command: str
    shown: list[str] = field(default_factory=list)


Said = tuple[Step, str, int]
Typed = tuple[Path, list[Said]]


def files() -> dict[str, str]:
    """Return the files that the page asks to save."""
    return {title: body for _, title, body in _FENCE.findall(PAGE.read_text("utf-8")) if title}


def steps(page: Path = PAGE) -> list[Step]:
    """Return the commands of a page in their order."""
    found: list[Step] = []
    for language, _, body in _FENCE.findall(page.read_text("utf-8")):
        for line in body.splitlines() if language == "console" else ():
            if line.startswith("$ "):
                found.append(Step(line[2:]))
            else:
                found[-1].shown.append(line)
    return found


def plain(lines: list[str]) -> list[str]:
    """Leave out what differs from run to run: times, empty lines, space at the ends."""
    return [_TIMES.sub(" #", line).rstrip() for line in lines if line.strip()]


def agrees(shown: list[str], printed: list[str]) -> bool:
    """Say whether a page shows what was printed; a line of three dots stands for any lines."""
    lines = ("(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in plain(shown))
    return re.fullmatch("".join(lines), "".join(f"{line}\n" for line in plain(printed))) is not None


def type_in(command: str, folder: Path) -> tuple[str, int]:
    """Run a command in a folder; return what it says and its exit code."""
    if not command.startswith("splice ") or ">" in command:
        here = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        done = subprocess.run(
            command, check=False, shell=True, cwd=folder, env=here, capture_output=True, text=True
        )
        return done.stdout + done.stderr, done.returncode
    said = io.StringIO()
    ends = pytest.raises(SystemExit)
    with chdir(folder), redirect_stdout(said), redirect_stderr(said), ends as ended:
        main(shlex.split(command)[1:])
    return said.getvalue(), int(ended.value.code or 0)


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Typed:
    """Follow the page in an empty folder; return it, and what each command said."""
    folder = tmp_path_factory.mktemp("tutorial")
    for name, text in files().items():
        (folder / name).write_text(text, "utf-8")
    return folder, [(step, *type_in(step.command, folder)) for step in steps()]


def scores(said: list[Said]) -> list[float]:
    """Return F1 of all fluents, of each evaluation in turn."""
    texts = (text for step, text, _ in said if step.command.startswith("splice evaluate"))
    return [float(re.findall(r"^ all .* (\S+) *$", text, re.MULTILINE)[0]) for text in texts]


def check(said: list[Said]) -> None:
    """Compare what was printed with what a page shows; a command ends badly where it shows a hint."""
    for step, printed, code in said:
        assert agrees(step.shown, printed.splitlines()), f"$ {step.command}\n{printed}"
        assert code == any(line.startswith("hint: ") for line in step.shown), step.command


def test_every_command_does_what_the_page_shows(typed: Typed) -> None:
    _, said = typed
    assert len(said) > 15
    check(said)


def test_the_session_of_the_readme_is_true(tmp_path: Path) -> None:
    said = [(step, *type_in(step.command, tmp_path)) for step in steps(PROJECT / "README.md")]
    assert len(said) > 8
    check(said)


def test_the_user_has_completed_labels_rules_and_a_report(typed: Typed) -> None:
    folder, _ = typed
    labels = (folder / "completed/labels.csv").read_text("utf-8").splitlines()
    assert len(labels) == 1 + 4 * 4 * 600  # a header; pairs, days, seconds
    assert not any(line.endswith(",") for line in labels)
    rules = (folder / "loading.rules").read_text("utf-8")
    assert "initiatedAt(loading(" in rules
    assert "terminatedAt(loading(" in rules
    report = (folder / "report.html").read_text("utf-8")
    assert "Learned from week" in report
    assert "</html>" in report


def test_f1_is_what_the_page_claims(typed: Typed) -> None:
    _, said = typed
    claimed = [
        float(f1) for f1 in re.findall(r"^F1 is (0\.\d+)", PAGE.read_text("utf-8"), re.MULTILINE)
    ]
    assert len(claimed) == 2
    assert scores(said) == claimed
    assert claimed[0] > claimed[1] + 0.1  # completion was worth it


def test_a_page_that_shows_something_else_is_noticed() -> None:
    assert agrees(["wrote x; 0.5 s, 18,388 examples/s"], ["wrote x; 1.2 s, 9 examples/s", ""])
    assert agrees(["a", "...", "c"], ["a", "b", "b", "c"])
    assert not agrees(["a", "c"], ["a", "b", "c"])
    assert not agrees(["f1 0.969"], ["f1 0.968"])
