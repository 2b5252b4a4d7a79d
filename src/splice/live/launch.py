"""A live run put together from names: a project, addresses and options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from splice.errors import SpliceError
from splice.events.theory_check import other_convention
from splice.io.outputs import new_file
from splice.live.engine import LiveEngine
from splice.live.feeds import open_feed, open_sink
from splice.live.feeds.files import FileFeed
from splice.live.generations import Generations
from splice.live.output import Channel
from splice.live.process import Log, Process, ignore
from splice.live.project import LEARNED, Project
from splice.live.settings import LiveSettings
from splice.logic.domain import Domain, Holds
from splice.logic.theory import Theory


@dataclass(frozen=True)
class Addresses:
    """Where rows come from and go to.

    Parameters
    ----------
    events
        The feed of events; labels may be among them.
    out
        Where intervals, changes of rules and drift go.
    labels
        A feed of labels.
    late
        Where rows go that came too late (default: ``late.ndjson`` beside the checkpoints).
    dead
        Where rows go that could not be taken (default: ``dead.ndjson`` beside the checkpoints).
    completed
        Where completed labels go, if anywhere.
    """

    events: str
    out: str
    labels: str | None = None
    late: str | None = None
    dead: str | None = None
    completed: str | None = None

    def sinks(self, state: Path) -> dict[Channel, str]:
        """Return the address of each channel."""
        by_channel = {
            Channel.OUT: self.out,
            Channel.LATE: self.late or str(state / "late.ndjson"),
            Channel.DEAD: self.dead or str(state / "dead.ndjson"),
        }
        return {**by_channel, Channel.COMPLETED: self.completed} if self.completed else by_channel


def launch(
    project: Project,
    addresses: Addresses,
    settings: LiveSettings,
    *,
    every: float = 1.0,
    once: bool = False,
    log: Log = ignore,
) -> Process:
    """Return a live run, ready to run; nothing is read yet.

    Parameters
    ----------
    project
        Rules, the domain, and where checkpoints are.
    addresses
        Where rows come from and go to.
    settings
        What is asked for.
    every
        Seconds between two checkpoints.
    once
        Stop when all that is there was read.
    log
        Told what happens.
    """
    theory = project.theory()
    if not len(theory) and settings.learn is None:
        raise SpliceError("there are no rules, and none are to be learned", "say --learn")
    unit = settings.time_unit or project.described.layout.time_unit
    settings = replace(settings, time_unit=unit, completed=addresses.completed is not None)
    domain = project.described.domain
    if warning := other_convention(theory, domain):
        log("other convention", {"problem": warning})
    domain = domain.holding(theory.holds)
    engine = LiveEngine(theory, domain, settings)
    feeds = {"events": open_feed(addresses.events)}
    if addresses.labels:
        feeds["labels"] = open_feed(addresses.labels)
    for feed in feeds.values():
        if isinstance(feed, FileFeed) and not feed.path.exists():
            if once:
                raise SpliceError(f"'{feed.name}' is not there", "without --once it is waited for")
            log("waiting", {"for": feed.name})
    names = addresses.sinks(project.state)
    repeated = {name for name in names.values() if list(names.values()).count(name) > 1}
    if repeated - {"-"}:
        raise SpliceError(f"'{min(repeated)}' is named as two outputs", "name each of them once")
    lasting = all(feed.lasting for feed in feeds.values())
    identity = _identity(settings, {name: feed.name for name, feed in feeds.items()}, domain)
    return Process(
        engine,
        feeds,
        {channel: open_sink(name) for channel, name in names.items()},
        Generations(project.state, identity) if lasting else None,
        every=every,
        once=once,
        rules=project.theory if project.rules else None,
        log=_with_rules_file(project, engine, log),
    )


def _identity(settings: LiveSettings, feeds: Mapping[str, str], domain: Domain) -> dict[str, str]:
    """Return what makes two runs the same: where rows come from, and what is remembered of them."""
    learn = settings.learn
    return {
        **{f"feed of {name}": feed for name, feed in feeds.items()},
        "lateness": str(settings.lateness),
        "ahead": str(settings.ahead_limit),
        "learner": "none" if learn is None else str(learn.learner),
        "profile": "none" if learn is None or learn.profile is None else learn.profile.name,
        "patience": "none" if learn is None else str(learn.patience),
        "revise": "none" if learn is None else str(learn.revise),
        "drift": settings.drift or "none",
        "batch-size": "none" if learn is None else str(learn.batch_size),
        # Left out where it is ``after``: checkpoints from before there was a choice go on.
        **({"holds": "from"} if domain.clock.holds is Holds.FROM else {}),
    }


def _with_rules_file(project: Project, engine: LiveEngine, log: Log) -> Log:
    """Return a log that also keeps the file of learned rules true."""
    if engine.settings.learn is None:
        return log

    def announce(event: str, fields: Mapping[str, object]) -> None:
        if event in ("theory", "stopped"):
            write_rules(project.state / LEARNED, engine.theory)
        log(event, fields)

    return announce


def write_rules(path: Path, theory: Theory) -> None:
    """Write rules, whole or not at all."""
    with new_file(path) as partial:
        head = f"% holds {theory.holds.value}\n" if theory.holds else ""
        partial.write_text(f"{head}{theory}\n", encoding="utf-8")
