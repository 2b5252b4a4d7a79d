"""How far a run is, as a bar in a terminal or in a notebook."""

from __future__ import annotations

import sys
from html import escape
from typing import Any

from splice.pipeline.progress import Advanced, Begun, Ended, Event, LearnedBatch


class ProgressBar:
    """Watches a run: ``fit(events, labels, watch=ProgressBar())``.

    In a notebook the bar is a piece of the page that is renewed; in a terminal a line on stderr. It is gone
    when the stage ends.
    """

    def __init__(self) -> None:
        self._shown: _Terminal | _Notebook | None = None
        self._steps: int | None = None
        """The steps of a pass over the input, once one has been made."""

    def __repr__(self) -> str:
        return "ProgressBar()"

    def __call__(self, event: Event) -> None:
        """Tell of an event."""
        match event:
            case Begun(stage, total):
                display = _display()
                steps = total or self._steps
                self._shown = (
                    _Notebook(stage.value, steps, display)
                    if display
                    else _Terminal(stage.value, steps)
                )
            case Advanced() if self._shown:
                rules = f"{event.rules} rules" if isinstance(event, LearnedBatch) else ""
                self._shown.advance(rules)
            case Ended(_, is_whole) if self._shown:
                if is_whole:
                    self._steps = self._shown.count
                self._shown.stop()
                self._shown = None
            case _:
                pass


class _Terminal:
    def __init__(self, what: str, total: int | None) -> None:
        from rich.console import Console  # noqa: PLC0415  (only who wants a bar pays for it)
        from rich.progress import Progress  # noqa: PLC0415

        self.count, self._what = 0, what
        self._progress = Progress(console=Console(stderr=True), transient=True)
        self._task = self._progress.add_task(what, total=total)
        self._progress.start()

    def advance(self, detail: str) -> None:
        self.count += 1
        description = f"{self._what}: {detail}" if detail else self._what
        self._progress.update(self._task, advance=1, description=description)

    def stop(self) -> None:
        self._progress.stop()


class _Notebook:
    def __init__(self, what: str, total: int | None, display: Any) -> None:
        self.count, self._what, self._total, self._detail = 0, what, total, ""
        self._handle = display({"text/html": self._bar()}, raw=True, display_id=True)

    def _bar(self) -> str:
        share = f' value="{self.count}" max="{self._total}"' if self._total else ""
        text = ", ".join(
            word for word in (self._what, f"{self.count:,} steps", self._detail) if word
        )
        return f"<progress{share}></progress> {escape(text)}"

    def advance(self, detail: str) -> None:
        self.count, self._detail = self.count + 1, detail
        if self._handle and (self.count % 10 == 0 or self.count == self._total):
            self._handle.update({"text/html": self._bar()}, raw=True)

    def stop(self) -> None:
        if self._handle:
            self._handle.update({"text/html": ""}, raw=True)


def _display() -> Any:
    """Return what shows things in the notebook that this runs in, or None."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    return sys.modules["IPython"].display.display
