"""Who may speak to the studio: a browser on this machine that was given the token.

The address that is printed holds a random token, which is exchanged for an HttpOnly, SameSite=Strict
cookie. A request needs the cookie and one of our own names as Host (so no other name can be made to
point here), and one that changes something must be JSON that our own page sends: its Origin is ours and,
where the browser says it, so is Sec-Fetch-Site.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qs

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
_MOST: Final = 1_000_000
"""No request that is meant has a longer body."""


class Guard:
    """An ASGI application around another that refuses whoever may not speak to it.

    Parameters
    ----------
    app
        The application inside.
    hosts
        The names that this machine is called by.
    port
        Where it listens; cookies do not tell ports apart, so it is part of the cookie's name.
    """

    def __init__(self, app: App, hosts: Iterable[str], port: int) -> None:
        self._app = app
        self.token = secrets.token_urlsafe(24)
        self._secret = secrets.token_urlsafe(24)
        self._cookie = f"splice-studio-{port}"
        self._hosts = frozenset(f"{host}:{port}" for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it; every answer has our headers."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): v.decode("latin-1") for name, v in scope["headers"]}
        trouble = self._trouble(scope, headers)
        if trouble:
            await _refuse(send, *trouble)
        elif self._brings_token(scope):
            cookie = f"{self._cookie}={self._secret}; HttpOnly; SameSite=Strict; Path=/"
            await _answer(send, 303, b"", {"location": "/", "set-cookie": cookie})
        else:
            await self._app(scope, receive, _with_headers(send))

    def _trouble(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        """Return why a request is refused, or None."""
        if headers.get("host", "") not in self._hosts:
            return 400, "this is not the name of the studio"
        if not self._brings_token(scope) and not self._has_cookie(headers):
            return 403, "open the address that `splice studio` printed: it holds the token"
        site = headers.get("sec-fetch-site", "same-origin")
        if scope["method"] in ("GET", "HEAD"):
            inside = site in ("same-origin", "none") or scope["path"] == "/"
            return None if inside else (403, "another page may not read this")
        origin = headers.get("origin", "").removeprefix("http://")
        if origin not in self._hosts or not headers["origin"].startswith("http://"):
            return 403, "only the studio's own page may change something"
        if site != "same-origin":
            return 403, "only the studio's own page may change something"
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return 415, "what changes something is JSON"
        length = headers.get("content-length", "")
        if not length.isdigit() or int(length) > _MOST:
            return 413, "a request says its length, which is at most a million bytes"
        return None

    def _brings_token(self, scope: Scope) -> bool:
        if scope["method"] != "GET" or scope["path"] != "/":
            return False
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        return secrets.compare_digest(given.encode(), self.token.encode())

    def _has_cookie(self, headers: dict[str, str]) -> bool:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return False
        return cookie is not None and secrets.compare_digest(
            cookie.value.encode(), self._secret.encode()
        )


def _with_headers(send: Send) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            ours = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message["headers"] = [*message.get("headers", ()), *ours]
        await send(message)

    return sending


async def _refuse(send: Send, status: int, why: str) -> None:
    await _answer(send, status, why.encode(), {"content-type": "text/plain; charset=utf-8"})


async def _answer(send: Send, status: int, body: bytes, headers: dict[str, str]) -> None:
    pairs = [(n.encode(), v.encode()) for n, v in {**headers, **HEADERS}.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
