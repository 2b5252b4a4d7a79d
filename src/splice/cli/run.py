"""``splice run``: recognise and learn while the events arrive."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from splice.cli.console import note, settings
from splice.cli.formats import one_of
from splice.cli.options import DomainOption
from splice.completion.profile import PROFILES
from splice.learners.registry import LEARNERS
from splice.live.drift.policies import POLICIES
from splice.live.launch import Addresses, launch
from splice.live.learner import REMEMBERED, LearnSettings
from splice.live.process import Process
from splice.live.project import Project
from splice.live.settings import LiveSettings


class LogFormat(StrEnum):
    """How a run tells what happens."""

    TEXT = "text"
    JSON = "json"


def run(
    target: Annotated[
        str,
        typer.Argument(
            metavar="RULES|PROJECT",
            help="A file of rules, a theory that ships, or a folder with a domain.toml.",
        ),
    ],
    source: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="URL",
            help="Where events come from: -, a file or folder that grows, kafka://, redis://, nats://, mqtt://.",
        ),
    ],
    out: Annotated[
        str,
        typer.Option("--to", metavar="URL", help="Where intervals and changes of rules go."),
    ] = "-",
    labels: Annotated[
        str | None, typer.Option("--labels", metavar="URL", help="Where labels come from.")
    ] = None,
    learn: Annotated[
        bool,
        typer.Option("--learn/--no-learn", help="Learn rules from the labels, and use them."),
    ] = False,
    lateness: Annotated[
        int,
        typer.Option(
            "--lateness", metavar="N", min=0, help="How late an event may come, in its own time."
        ),
    ] = 0,
    ahead: Annotated[
        int | None,
        typer.Option(
            "--ahead",
            metavar="N",
            min=1,
            help="How far ahead a time is doubted (default: 1000 times the lateness, at least 100000).",
        ),
    ] = None,
    step: Annotated[
        int | None,
        typer.Option(
            "--step",
            metavar="N",
            min=1,
            help="How often to recognise, in the events' time (default: the lateness).",
        ),
    ] = None,
    provisional: Annotated[
        bool,
        typer.Option("--provisional", help="Say intervals when they begin, and what changes."),
    ] = False,
    sequences: Annotated[
        int, typer.Option("--sequences", metavar="N", min=1, help="How many are open at once.")
    ] = 1000,
    patience: Annotated[
        int,
        typer.Option(
            "--patience", metavar="N", min=0, help="How long to wait for labels before learning."
        ),
    ] = 0,
    batch_size: Annotated[
        int, typer.Option("--batch-size", metavar="N", min=1, help="Time-points in a batch.")
    ] = 25,
    rules_every: Annotated[
        int,
        typer.Option(
            "--rules-every", metavar="N", min=1, help="Renew the rules after so many batches."
        ),
    ] = 20,
    memory: Annotated[
        int,
        typer.Option(
            "--memory", metavar="N", min=1, help="How many transitions to choose the rules by."
        ),
    ] = REMEMBERED,
    profile: Annotated[
        str, typer.Option("--profile", help="How labels are completed.", **one_of(lambda: PROFILES))
    ] = "default",
    revise: Annotated[
        int,
        typer.Option(
            "--revise",
            metavar="N",
            min=0,
            help="Complete the last N time-points of a sequence again when labels come; learn after that.",
        ),
    ] = 0,
    drift: Annotated[
        str | None,
        typer.Option(
            "--drift", help="Watch for new habits, and what to do then.", **one_of(lambda: POLICIES)
        ),
    ] = None,
    late: Annotated[
        str | None,
        typer.Option("--late", metavar="URL", help="Where late rows go (default: in the state)."),
    ] = None,
    dead: Annotated[
        str | None,
        typer.Option("--dead", metavar="URL", help="Where bad rows go (default: in the state)."),
    ] = None,
    completed: Annotated[
        str | None,
        typer.Option("--completed", metavar="URL", help="Where completed labels go, if wanted."),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            "--state",
            metavar="DIR",
            help="Where checkpoints are (default: PROJECT/live, RULES.live).",
        ),
    ] = None,
    every: Annotated[
        float,
        typer.Option("--every", metavar="SECONDS", min=0.0, help="How often to write one."),
    ] = 1.0,
    once: Annotated[
        bool, typer.Option("--once", help="Stop when all that is there was read.")
    ] = False,
    metrics: Annotated[
        int | None,
        typer.Option("--metrics", metavar="PORT", min=0, help="Answer /metrics and /healthz here."),
    ] = None,
    log: Annotated[
        LogFormat, typer.Option("--log", help="How to tell what happens.", case_sensitive=False)
    ] = LogFormat.TEXT,
    domain: DomainOption = None,
    time_unit: Annotated[
        str | None,
        typer.Option("--time-unit", help="The unit of timestamps: d, h, min, s, ms, us."),
    ] = None,
) -> None:
    """Recognise and learn while the events arrive, until told to stop.

    SIGTERM and Ctrl-C stop it after the portion it works on; SIGHUP reads the rules anew. Killed at
    any moment and started again, it goes on where it was, and nothing counts twice.
    """
    process = launch(
        Project.find(target, domain, state),
        Addresses(source, out, labels, late, dead, completed),
        LiveSettings(
            lateness=lateness,
            ahead=ahead,
            step=step,
            sequences=sequences,
            provisional=provisional,
            time_unit=time_unit,
            drift=drift,
            learn=LearnSettings(
                patience,
                batch_size,
                rules_every,
                PROFILES[profile],
                LEARNERS.choose(memory=memory),
                revise,
            )
            if learn
            else None,
        ),
        every=every,
        once=once,
        log=_print_json if log is LogFormat.JSON else _print_text,
    )
    if process.generations is None:
        note("standard input has no places: no checkpoint is kept")
    if metrics is not None:
        from splice.live.metrics import serve

        port = serve(process, metrics).server_address[1]
        note(f"http://127.0.0.1:{port}/metrics and /healthz")
    with _signals(process):
        process.run()


@contextmanager
def _signals(process: Process) -> Iterator[None]:
    """Let signals stop the run, or make it read its rules anew."""
    meant = {
        "SIGTERM": process.stopping, "SIGINT": process.stopping, "SIGHUP": process.reloading,
    }  # fmt: skip
    before = {}
    for name, event in meant.items():
        if number := getattr(signal, name, None):
            before[number] = signal.signal(number, lambda *_, event=event: event.set())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _print_json(event: str, fields: Mapping[str, Any]) -> None:
    """Tell what happens as a line of JSON."""
    if not settings.quiet:
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        text = json.dumps({"time": at, "event": event, **fields}, ensure_ascii=False)
        print(text, file=sys.stderr, flush=True)


def _print_text(event: str, fields: Mapping[str, Any]) -> None:
    """Tell what happens in words."""
    words = ", ".join(f"{name} {value}" for name, value in fields.items() if value not in (0, None))
    note(f"{event}: {words}" if words else event)
