"""Start the studio on this machine, and say its address."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from splice.errors import SpliceError
from splice.studio.app import make_app
from splice.studio.security import Guard
from splice.studio.state import Studio


def serve(studio: Studio, host: str, port: int, tell: Callable[[str], None]) -> None:
    """Serve until somebody interrupts; ``tell`` is given the address, token included.

    Port 0 is any that is free.
    """
    bound = _bound(host, port)
    port = bound.getsockname()[1]
    guard = Guard(make_app(studio), {host, "127.0.0.1", "localhost"}, port)
    configuration = uvicorn.Config(
        guard, log_level="warning", access_log=False, server_header=False, lifespan="off"
    )
    shown = "127.0.0.1" if host in ("0.0.0.0", "") else host
    tell(f"http://{shown}:{port}/?token={guard.token}")
    try:
        uvicorn.Server(configuration).run([bound])
    finally:
        bound.close()
        studio.close()


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
