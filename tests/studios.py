"""Studios that tests start: a square without labels, a server in another process, a client that speaks to it."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import uvicorn
from starlette.applications import Starlette

import splice
from splice.completion.profile import SESSION_PROFILE, Profile
from splice.inputs.open import InputOptions
from splice.lab.plaza import make_plaza
from splice.logic.syntax import ground_text
from splice.stream.batch import query_rows
from splice.stream.source import MemorySource
from splice.studio.app import make_app
from splice.studio.security import Guard
from splice.studio.serve import open_studio
from splice.studio.state import Studio


def write_square(folder: Path, **options: Any) -> MemorySource:
    """Write a simulated square without its labels, and return it with them."""
    truth = make_plaza(**options).source
    evidence = truth.table.take(~query_rows(truth.table, truth.domain))
    splice.write_source(replace(truth, table=evidence), folder, "csv")
    return truth


class Server:
    """``splice studio`` in a process of its own."""

    def __init__(self, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "splice", "studio", *words, "--no-browser"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.fullmatch(r"studio: ((http://127\.0\.0\.1:\d+)/\?token=\S+)\n", line)
        if found is None:
            assert self.process.stderr is not None
            raise AssertionError(line + self.process.stderr.read())
        self.address, self.origin = found[1], found[2]

    @classmethod
    @contextmanager
    def studio(cls, *words: str) -> Iterator[Server]:
        """Run ``splice studio`` with some words, and end it."""
        server = cls(*words)
        try:
            yield server
        finally:
            server.kill()

    @contextmanager
    def client(self) -> Iterator[httpx.Client]:
        """Give a client that has exchanged the token for the cookie, as a page does."""
        origin = {"Origin": self.origin}
        with httpx.Client(base_url=self.origin, headers=origin, timeout=60) as client:
            assert client.get(self.address).status_code == 303
            yield client

    def kill(self) -> None:
        """End it as a power cut does."""
        self.process.kill()
        self.process.communicate(timeout=20)


@contextmanager
def running(square: Path, project: Path) -> Iterator[Server]:
    """Run a studio on a square, and end it."""
    words = [str(square / "events.csv"), "--domain", str(square / "domain.toml"), "--open-world"]
    with Server.studio(*words, "--project", str(project)) as server:
        yield server


def opened(square: Path, project: Path, profile: Profile = SESSION_PROFILE) -> Studio:
    """Open a studio in this process, without a server."""
    options = InputOptions(domain=str(square / "domain.toml"), open_world=True)
    return open_studio(str(square / "events.csv"), options, project, profile)


@contextmanager
def local(
    square: Path, project: Path, profile: Profile = SESSION_PROFILE
) -> Iterator[httpx.Client]:
    """Give a client that speaks to a studio in this process, served and guarded as it always is."""
    studio = opened(square, project, profile)
    try:
        with guarded(make_app(studio)) as client:
            yield client
    finally:
        studio.close()


@contextmanager
def guarded(app: Starlette) -> Iterator[httpx.Client]:
    """Give a client that speaks to an application in this process, and has its cookie."""
    bound = socket.create_server(("127.0.0.1", 0))
    guard = Guard(app, ["127.0.0.1"], bound.getsockname()[1])
    served = uvicorn.Server(uvicorn.Config(guard, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=served.run, args=([bound],))
    thread.start()
    origin = f"http://127.0.0.1:{bound.getsockname()[1]}"
    try:
        with httpx.Client(base_url=origin, headers={"Origin": origin}, timeout=60) as client:
            assert client.get("/", params={"token": guard.token}).status_code == 303
            yield client
    finally:
        served.should_exit = True
        thread.join()
        bound.close()


class Expert:
    """Somebody who knows the truth and answers through the interface alone."""

    def __init__(self, truth: MemorySource, client: httpx.Client) -> None:
        self._client = client
        queries = truth.table.take(query_rows(truth.table, truth.domain))
        names = np.array([ground_text(queries.atom(i).args[0]) for i in range(len(queries))])
        sequences = np.array([truth.vocabulary.sequences[int(c)] for c in queries.sequence])
        self._truth = {
            (sequence, name): (queries.time[own], queries.truth[own] > 0)
            for sequence, name in sorted(set(zip(sequences.tolist(), names.tolist(), strict=True)))
            for own in [np.flatnonzero((sequences == sequence) & (names == name))]
        }

    def parts(self, question: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the answer to a question: where it is true, and where not."""
        found = []
        for fluent in question["fluents"]:
            time, true = self._truth[question["sequence"], fluent]
            own = (time >= question["from"]) & (time < question["to"])
            time, true = time[own], true[own]
            cuts = [0, *(np.flatnonzero(np.diff(true)) + 1).tolist(), len(time)]
            for a, b in pairwise(cuts):
                end = int(time[b]) if b < len(time) else question["to"]
                part = {"fluents": [fluent], "start": int(time[a]), "end": end}
                found.append({**part, "label": bool(true[a])})
        return found

    def answer(self, count: int) -> dict[str, Any]:
        """Answer so many questions, a few a round; return where the studio stands then."""
        state: dict[str, Any] = {}
        while count:
            for question in self._client.get("/api/questions", params={"count": 2}).json()[:count]:
                body = {"sequence": question["number"], "parts": self.parts(question)}
                answer = self._client.post("/api/answer", json=body)
                assert answer.status_code == 200, answer.text
                state, count = answer.json(), count - 1
        return state
