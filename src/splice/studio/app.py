"""The addresses of the studio: JSON, columns and the files of the page.

No path of a file ever comes from the page: assets are known by name, the input and the project by
the command that started the studio.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from string import Template
from typing import Any, Final, TypeVar

import numpy as np
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from splice.errors import InputError, SpliceError
from splice.labels import UNKNOWN
from splice.studio import why
from splice.studio.columns import in_window
from splice.studio.live import LiveView
from splice.studio.state import Studio

Shown = TypeVar("Shown")
"""What a page is about: a studio, or a live run."""

_TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


def make_app(studio: Studio) -> Starlette:
    """Return the application around a studio."""
    reads: dict[str, Callable[[Studio, Mapping[str, str]], Any]] = {
        "state": lambda studio, _: state(studio),
        "sequence": _sequence,
        "columns": _columns,
        "questions": lambda studio, q: studio.questions(
            _whole(q, "count", 5), q.get("strategy", "")
        ),
        "uncertain": _uncertain,
        "why/label": lambda studio, q: why.why_label(studio, *_point(q)),
        "why/interval": lambda studio, q: why.why_interval(studio, *_point(q)),
        "rules/fires": lambda studio, q: why.fires(studio, _whole(q, "n"), q.get("text", "")),
        "rules": lambda studio, _: {"rules": why.rules(studio), "scores": why.scores(studio)},
        "contradictions": lambda studio, _: why.contradictions(studio),
    }
    changes: dict[str, Callable[[Studio, dict[str, Any]], Any]] = {
        "answer": _answer,
        "undo": lambda studio, _: {"undone": studio.undo(), **state(studio)},
        "rules/check": lambda studio, body: why.effect(
            studio, _text(body, "text"), _text(body, "instead_of") if body.get("instead_of") else ""
        ),
        "rules/change": _change_rule,
    }
    return Starlette(
        routes=[
            Route("/", _page("studio")),
            Route("/assets/{name}", _asset),
            *(Route(f"/api/{path}", _reader(studio, read)) for path, read in reads.items()),
            *(
                Route(f"/api/{path}", _changer(studio, change), methods=["POST"])
                for path, change in changes.items()
            ),
        ]
    )


def make_live_app(view: LiveView) -> Starlette:
    """Return the application around a live run: nothing can be changed there."""
    reads: dict[str, Callable[[LiveView, Mapping[str, str]], Any]] = {
        "live": lambda view, _: view.state(),
        "sequence": _live_sequence,
        "columns": _columns,
    }
    return Starlette(
        routes=[
            Route("/", _page("live")),
            Route("/assets/{name}", _asset),
            *(Route(f"/api/{path}", _reader(view, read)) for path, read in reads.items()),
        ]
    )


def _live_sequence(view: LiveView, query: Mapping[str, str]) -> dict[str, Any]:
    lanes = view.lanes(_whole(query, "n"))
    return {
        "lanes": lanes.names,
        "first": lanes.first,
        "last": lanes.last,
        "wall": view.wall(lanes),
    }


def state(studio: Studio) -> dict[str, Any]:
    """Return where the studio stands."""
    with studio.lock:
        session, journal = studio.session, studio.project.journal
        labels, done = session.labels, session.completion
        entries = journal.active()
        return {
            "title": studio.title,
            "version": studio.version,
            "learning": studio.learning,
            "sequences": studio.sequence_names(),
            "labels": {"true": int((labels > 0).sum()), "false": int((labels < 0).sum())},
            "points": len(labels),
            "unreached": int((~done.reached & (labels == UNKNOWN)).sum()),
            "believed": int((done.labels > 0).sum()),
            "answers": studio.answers,
            "changed": studio.changed,
            "rules": len(studio.theory),
            "stamps": session.vocabulary.times.stamps,
            "trouble": studio.trouble,
            "project": studio.project.folder.name,
            "last": entries[-1] if entries else None,
            "curve": [
                {"right": e["right"], "asked": e["asked"]} for e in entries if e["do"] == "answer"
            ],
        }


def _sequence(studio: Studio, query: Mapping[str, str]) -> dict[str, Any]:
    lanes = studio.lanes(_whole(query, "n"))
    times = studio.session.vocabulary.times
    clock = [times.wall_clock(lanes.first + i) for i in range(2)] if times.stamps else None
    return {
        "lanes": lanes.names,
        "first": lanes.first,
        "last": lanes.last,
        "version": studio.version,
        "wall": clock and [clock[0], clock[1] - clock[0]],
    }


def _columns(studio: Studio | LiveView, query: Mapping[str, str]) -> Response:
    lanes = studio.lanes(_whole(query, "n"))
    intervals = lanes.intervals
    if "start" in query:
        start, end = _whole(query, "start") - lanes.first, _whole(query, "end") - lanes.first
        intervals = in_window(intervals, start, end)
    return Response(
        np.ascontiguousarray(intervals.T).astype("<f8").tobytes(),
        media_type="application/octet-stream",
    )


def _uncertain(studio: Studio, query: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the next stretch of doubt after a time, in this sequence or a later one."""
    with studio.lock:
        pool, stretches = studio.session.pool(), studio.session.stretches
        doubt = pool.total(pool.doubt)
        first = studio.session.queries.take(stretches.first)
        names = studio.sequence_names()
        codes = [studio.session.vocabulary.sequences.known_code(name) for name in names]
        # Codes of sequences are those of the vocabulary; the page counts sequences as they stand in the input.
        place = np.argsort(codes)[np.searchsorted(np.sort(codes), first.sequence)]
        # What is half as doubtful as the worst is worth a look: going on, one comes by all of these.
        good = np.flatnonzero(pool.askable & (doubt >= doubt[pool.askable].max(initial=0) / 2))
        if not len(good):
            return None
        order = good[np.lexsort((stretches.start[good], place[good]))]
        number, time = _whole(query, "n"), _whole(query, "time")
        later = order[
            (place[order] > number) | ((place[order] == number) & (stretches.start[order] > time))
        ]
        chosen = int(later[0] if len(later) else order[0])
        return {
            "number": int(place[chosen]),
            "fluents": studio.session.fluents(studio.session.atoms(chosen)),
            "from": int(stretches.start[chosen]),
            "to": int(stretches.end[chosen]),
        }


def _answer(studio: Studio, body: dict[str, Any]) -> dict[str, Any]:
    parts = body.get("parts")
    if not isinstance(parts, list) or not parts or not all(map(_is_part, parts)):
        raise SpliceError("an answer has parts: fluents, start, end and label", "reload the page")
    if not isinstance(body.get("sequence"), int):
        raise SpliceError("an answer says the number of its sequence", "reload the page")
    entry = studio.answer(body["sequence"], parts)
    return {"entry": entry, **state(studio)}


def _is_part(part: object) -> bool:
    return (
        isinstance(part, dict)
        and part.keys() == {"fluents", "start", "end", "label"}
        and isinstance(part["fluents"], list)
        and bool(part["fluents"])
        and all(isinstance(name, str) for name in part["fluents"])
        and all(type(part[key]) is int for key in ("start", "end"))
    )


def _change_rule(studio: Studio, body: dict[str, Any]) -> dict[str, Any]:
    if body.get("instead_of"):
        studio.change_rule("forbid", _text(body, "instead_of"))
    studio.change_rule(_text(body, "action"), _text(body, "text"))
    return state(studio)


def _reader(shown: Shown, read: Callable[[Shown, Mapping[str, str]], Any]) -> Any:
    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(_answered, lambda: read(shown, request.query_params))

    return endpoint


def _changer(studio: Studio, change: Callable[[Studio, dict[str, Any]], Any]) -> Any:
    async def endpoint(request: Request) -> Response:
        try:
            body = await request.json()
        except ValueError:
            return JSONResponse({"error": "that is no JSON"}, 400)
        if not isinstance(body, dict):
            return JSONResponse({"error": "that is no JSON object"}, 400)
        return await run_in_threadpool(_answered, lambda: change(studio, body))

    return endpoint


def _answered(work: Callable[[], Any]) -> Response:
    """Return what some work gives, or what is wrong in words."""
    try:
        result = work()
    except SpliceError as error:
        problems = error.problems if isinstance(error, InputError) else ()
        body = {"error": error.message, "hint": error.hint}
        return JSONResponse({**body, "problems": [p.as_json() for p in problems]}, 422)
    return result if isinstance(result, Response) else JSONResponse(result)


def _whole(query: Mapping[str, str], name: str, usual: int | None = None) -> int:
    try:
        return int(query[name]) if usual is None else int(query.get(name, usual))
    except (KeyError, ValueError):
        raise SpliceError(f"'{name}' is a whole number", "reload the page") from None


def _point(query: Mapping[str, str]) -> tuple[int, str, int]:
    return _whole(query, "n"), query.get("fluent", ""), _whole(query, "time")


def _text(body: dict[str, Any], name: str) -> str:
    text = body.get(name)
    if not isinstance(text, str) or not text.strip():
        raise SpliceError(f"'{name}' is missing", "reload the page")
    return text


def _page(name: str) -> Any:
    """Return the page that a script of this name fills."""

    async def endpoint(_: Request) -> Response:
        page = Template(_assets()["page.html"].decode()).substitute(name=name)
        return Response(page, media_type=_TYPES["html"])

    return endpoint


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _assets():
        return Response("there is no such file", 404, media_type="text/plain")
    return Response(_assets()[name], media_type=_TYPES[name.rpartition(".")[2]])


@cache
def _assets() -> dict[str, bytes]:
    """Return the files of the page, which are read once."""
    folder = resources.files("splice.studio") / "assets"
    return {
        file.name: file.read_bytes()
        for file in folder.iterdir()
        if file.name.rpartition(".")[2] in _TYPES
    }
