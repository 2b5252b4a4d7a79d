"""Open an input and a project as a studio; start an application on this machine, and say its address."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from splice.active.session import LabelSession
from splice.completion.profile import SESSION_PROFILE, Profile
from splice.errors import SpliceError
from splice.inputs.open import InputOptions, input_paths, input_title
from splice.pipeline.source import opener
from splice.studio.project import Project
from splice.studio.security import Guard
from splice.studio.state import Studio


def open_studio(
    data: str,
    options: InputOptions,
    folder: Path,
    profile: Profile = SESSION_PROFILE,
    length: int = 25,
) -> Studio:
    """Return a studio on an input; it goes on from what the project's folder holds.

    Parameters
    ----------
    data
        The name of the input.
    options
        What it means.
    folder
        The folder of the project, which must not lie in the input.
    profile
        How labels are completed.
    length
        Time-points in a stretch that is asked about.
    """
    target = folder.resolve()
    for path in input_paths(data):
        if path.is_dir() and target.is_relative_to(path.resolve()):
            raise SpliceError(
                f"the project '{folder}' lies inside the input", "choose another --project"
            )
    session = LabelSession(opener(data, options)(), profile, length)
    return Studio(session, Project(folder, data), input_title(data))


def serve(app: Starlette, host: str, port: int, tell: Callable[[str], None]) -> None:
    """Serve an application until somebody interrupts.

    Parameters
    ----------
    app
        The application.
    host
        The address to listen at.
    port
        The port; 0: any that is free.
    tell
        Called with the address to open, token included.
    """
    bound = _bound(host, port)
    port = bound.getsockname()[1]
    guard = Guard(app, {host, "127.0.0.1", "localhost"}, port)
    configuration = uvicorn.Config(
        guard, log_level="warning", access_log=False, server_header=False, lifespan="off"
    )
    shown = "127.0.0.1" if host in ("0.0.0.0", "") else host
    tell(f"http://{shown}:{port}/?token={guard.token}")
    try:
        uvicorn.Server(configuration).run([bound])
    finally:
        bound.close()


def _bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens, so that the address is true before it is told."""
    try:
        bound = socket.create_server((host, port))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SpliceError(
            f"cannot listen at {host}:{port}: {reason}", "choose another --port"
        ) from None
    return bound
