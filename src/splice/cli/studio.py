"""``splice studio``: see, label, ask why and edit rules in a browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated, Final

import typer

from splice.cli.console import note
from splice.cli.method_options import with_session_options
from splice.cli.options import InputArgument, with_input_options
from splice.completion.profile import Profile
from splice.errors import SpliceError
from splice.inputs.open import InputOptions, input_title

_LOCAL: Final = ("127.0.0.1", "localhost")
_EVERYWHERE: Final = ("0.0.0.0", "::", "")


@with_input_options
@with_session_options
def studio(
    data: InputArgument,
    options: InputOptions,
    chosen: Profile,
    project: Annotated[
        Path | None,
        typer.Option("--project", metavar="DIR", help="Where labels, rules and the journal go."),
    ] = None,
    live: Annotated[
        bool,
        typer.Option(
            "--live", help="INPUT is what `splice run` was started with: look at that run."
        ),
    ] = False,
    state: Annotated[
        Path | None,
        typer.Option("--state", metavar="DIR", help="Where the checkpoints of the live run are."),
    ] = None,
    length: Annotated[
        int,
        typer.Option("--length", metavar="N", min=1, help="Time-points in a question, at most."),
    ] = 25,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="The port; 0: any that is free.")
    ] = 0,
    host: Annotated[
        str,
        typer.Option("--host", help="The address to listen at; others than this machine's see it."),
    ] = "127.0.0.1",
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
) -> None:
    """See what happened and what is believed, answer questions and edit rules, in a browser.

    Answers are on disk before the next question: journal.ndjson, labels.csv and theory.rules in the
    project's folder, which the next start goes on from. With --live nothing is asked or changed: the page shows
    what a live run says, how it stands and what it tells of rules and habits, while it runs. It ends when interrupted.
    """
    if host in _EVERYWHERE:
        raise SpliceError(
            f"'{host}' is no address that a browser can name", "give the one that others would use"
        )
    try:
        from splice.studio.app import make_app, make_live_app
        from splice.studio.serve import open_studio, serve
    except ModuleNotFoundError as error:
        raise SpliceError(
            f"the studio needs '{error.name}'", "pip install 'splice-cer[studio]'"
        ) from None
    if host not in _LOCAL:
        note(
            f"warning: everybody who reaches {host} and has the token can read and label this data"
        )

    def tell(address: str) -> None:
        print(f"studio: {address}", flush=True)
        if browser:
            webbrowser.open(address)

    if live:
        from splice.live.project import Project
        from splice.studio.live import LiveView

        view = LiveView(Project.find(data, state=state), input_title(data))
        serve(make_live_app(view), host, port, tell)
        return
    folder = project or Path(f"studio-{input_title(data).replace(', ', '-')}")
    opened = open_studio(data, options, folder, chosen, length)
    if opened.trouble:
        note(f"warning: {opened.trouble}")
    note(f"answers are kept in {folder}; end it with Ctrl-C")
    try:
        serve(make_app(opened), host, port, tell)
    finally:
        opened.close()
