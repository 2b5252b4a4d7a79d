"""The events of a run, as the command tells them: bars and notes on stderr."""

from __future__ import annotations

from splice.cli.console import Bar, note, print_reading, settings
from splice.errors import plural
from splice.pipeline.progress import Advanced, Begun, Ended, Event, LearnedBatch, Read, Remark


class RunProgress:
    """Watches a run: give it as ``watch``."""

    def __init__(self) -> None:
        self._bar: Bar | None = None
        self._steps: int | None = None
        """The steps of a pass over the input, once one has been made."""

    def __call__(self, event: Event) -> None:
        """Tell of an event."""
        match event:
            case Begun(stage, total):
                printed = self._bar.printed if self._bar else None
                self._bar = Bar(stage.value, total or self._steps, printed)
            case LearnedBatch():
                self._print_batch(event)
            case Advanced() if self._bar:
                self._bar.advance()
            case Ended(_, is_whole) if self._bar:
                self._bar.stop()
                if is_whole:
                    self._steps = self._bar.count
            case Read(report):
                print_reading(report)
            case Remark():
                note(str(event))

    def _print_batch(self, event: LearnedBatch) -> None:
        if settings.verbose:
            note(f"batch {event.learned.step}: {_spell(event)}", detail=True)
        if self._bar:
            self._bar.advance(lambda: _spell(event))


def _spell(event: LearnedBatch) -> str:
    words = [f"{event.rules} {plural('rule', event.rules)}"]
    f1 = event.f1()
    if f1 is not None:
        words.append(f"F1 {f1:.3f}")
    if event.learned.seconds:
        words.append(f"{event.learned.speed:,.0f} examples/s")
    return f"learning: {', '.join(words)}"
