"""Monitoring of a live run: numbers for Prometheus, and whether it is healthy."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from splice.live.process import Process

_WORDS: Final = {
    "rows": "Rows read from all feeds.",
    "events": "Events taken.",
    "labels": "Labels read.",
    "late": "Events that came too late.",
    "late_labels": "Labels that came too late.",
    "dead": "Rows that could not be taken.",
    "future": "Rows refused for a time far in the future.",
    "intervals": "Intervals that became final.",
    "batches": "Batches learned from.",
    "given": "Labels given in these batches.",
    "completed": "Labels completed.",
    "unreached": "Atoms that no label reached.",
    "theories": "Changes of the rules in use.",
    "reloads": "Reloads of the rules.",
    "ended": "Sequences that ended.",
    "drifts": "Changes of habits that were found.",
    "revised": "Completed labels that were changed afterwards.",
}
_STUCK: Final = 30.0
"""A process that has not come round for so many seconds, and more than its checkpoints take, is stuck."""


def gauges(process: Process) -> dict[str, float]:
    """Return the numbers of the moment that are no counts."""
    engine, now = process.engine, time.time()
    values: dict[str, float] = {
        "rules": len(engine.theory),
        "sequences_open": len(engine.clocks.latest),
        "uptime_seconds": now - process.started,
        "seconds_since_row": now - process.last_row if process.last_row else -1.0,
        "checkpoint_age_seconds": now - process.committed if process.committed else -1.0,
        "resident_bytes": resident_bytes(),
    }
    if engine.learner:
        values["rows_waiting"] = engine.learner.waiting_rows
    if engine.score.f1 is not None:
        values["f1"] = engine.score.f1
    return values


def resident_bytes() -> int:
    """Return how much memory the process has, 0 where the system does not say it."""
    try:
        text = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return 0
    line = next((line for line in text.splitlines() if line.startswith("VmRSS:")), "VmRSS: 0 kB")
    return int(line.split()[1]) * 1024


def prometheus(process: Process) -> str:
    """Return all numbers as Prometheus reads them."""
    return "\n".join(_lines(process)) + "\n"


def _lines(process: Process) -> Iterator[str]:
    for name, value in process.engine.counts.items():
        yield f"# HELP splice_{name}_total {_WORDS.get(name, name)}"
        yield f"# TYPE splice_{name}_total counter"
        yield f"splice_{name}_total {value}"
    for name, number in gauges(process).items():
        yield f"# TYPE splice_{name} gauge"
        yield f"splice_{name} {number:g}"


def serve(process: Process, port: int) -> ThreadingHTTPServer:
    """Answer ``/metrics`` and ``/healthz`` on this machine; port 0 takes one that is free."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/metrics":
                self._answer(200, "text/plain; version=0.0.4", prometheus(process))
            elif self.path == "/healthz":
                quiet = time.monotonic() - process.beat
                well = quiet < max(_STUCK, 10 * process.every)
                body = {"ok": well, "seconds_since_round": round(quiet, 3)}
                self._answer(200 if well else 503, "application/json", json.dumps(body) + "\n")
            else:
                self._answer(404, "text/plain", "there is /metrics and /healthz\n")

        def _answer(self, code: int, kind: str, body: str) -> None:
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Say nothing: the run's own log is enough."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
