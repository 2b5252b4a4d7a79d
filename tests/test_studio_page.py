"""The studio's page in a browser: start, label by keyboard, ask why, edit a rule, reload, kill, go on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser import DOWN, UP, Browser, at, chromium
from hostile_names import FIRED
from studios import Server, running, write_square

ENTER, RIGHT, SHIFT = "\ue007", "\ue014", "\ue008"
ANSWERS = (
    "return !document.body.dataset.busy"
    " && document.getElementById('status').textContent.startsWith(arguments[0] + ' answers')"
)
RULE = "initiatedAt(meet(X,Y),T) :- close(X,Y,25,T), happensAt(active(X),T)."


@pytest.fixture(scope="module")
def page() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def square(tmp_path: Path) -> Path:
    write_square(tmp_path / "square", sequences=2, people=3, frames=200, seed=5)
    return tmp_path / "square"


def shown(page: Browser, server: Server) -> None:
    page.open(server.address)
    page.wait("return document.body.dataset.ready === 'yes'", patience=60)


def journal(project: Path) -> list[dict[str, Any]]:
    lines = (project / "journal.ndjson").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def write_draft(page: Browser, text: str) -> None:
    page.run("document.getElementById('draft').value = arguments[0]", text)


def test_five_answers_a_rule_and_a_kill(page: Browser, square: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    with running(square, project) as server:
        shown(page, server)
        assert "token" not in page.run("return location.href")
        for number, keys in enumerate(("n", "y", "n", "n"), 1):
            page.press(keys)
            page.wait(ANSWERS, str(number))
        page.press("p")
        page.wait("return document.getElementById('confirm')")
        page.press(RIGHT, ENTER)
        page.wait(ANSWERS, "5")
        last = journal(project)[-1]["parts"]
        assert [part["label"] for part in last] == [False, True, False]
        assert [a["end"] for a in last[:-1]] == [b["start"] for b in last[1:]]
        page.click("[data-view=rules]")
        page.wait("return document.getElementById('write')")
        page.click("#write")
        write_draft(page, RULE.replace("close", "clse"))
        page.click("#save")
        told = page.wait("return document.querySelector('#view .bad')?.textContent")
        assert "line 1" in told
        assert "close" in told
        write_draft(page, RULE)
        page.click("#check")
        page.wait(
            "return [...document.querySelectorAll('#view th')].some(th => th.textContent === 'after')"
        )
        page.click("#save")
        page.wait("return document.querySelector('#view .rule.pinned code')")
        page.click("#view .rule.pinned [id^=fires]")
        told = page.wait("return document.getElementById('fired')?.textContent")
        assert told.startswith("fires ")
        page.open(server.origin + "/")
        page.wait("return document.body.dataset.ready === 'yes'", patience=60)
        assert page.run(ANSWERS, "5")
        server.kill()
        page.press("n")
        page.wait("return !document.getElementById('toast').hidden")
    assert [entry["do"] for entry in journal(project)] == ["answer"] * 5 + ["rule"]
    with running(square, project) as server:
        shown(page, server)
        assert page.run(ANSWERS, "5")
        page.press("u")
        page.wait(ANSWERS, "5")
        page.press("u")
        page.wait(ANSWERS, "4")
        outside = [a for a in page.requests() if not a.startswith(("http://127.0.0.1:", "chrome"))]
        assert not [a for a in outside if a.startswith("http")]
    assert not [line for line in page.said() if "Content Security" in line]


def test_the_timeline_answers_to_mouse_keys_and_search(
    page: Browser, square: Path, tmp_path: Path
) -> None:
    with running(square, tmp_path / "project") as server:
        shown(page, server)
        page.press("y")
        page.wait(ANSWERS, "1")
        asked = page.wait("return document.getElementById('fluent')?.textContent.replace(' ?', '')")
        inside = _pixels(page)
        page.press("0")
        page.press("+", "+")
        box = page.run("const b = document.getElementById('timeline').getBoundingClientRect();"
                       "return [b.left, b.top, b.width, b.height]")  # fmt: skip
        x, y = box[0] + 0.6 * box[2], box[1] + 36
        page.mouse(at(x, y), DOWN, at(x - 200, y), UP)
        assert _pixels(page) != inside
        page.mouse(at(x, y), DOWN, UP)
        page.wait("return document.querySelector('#view h2')")
        said = page.wait("return document.getElementById('said')?.textContent")
        assert "is " in said
        assert asked.partition("(")[0] in page.run(
            "return document.querySelector('#view h2').textContent"
        )
        page.run("const s = document.getElementById('search'); s.value = 'walking ID1';"
                 "s.dispatchEvent(new Event('input'))")  # fmt: skip
        page.press("j")
        page.wait("return document.querySelector('[data-view=why]').ariaSelected === 'true'")
        page.press("y")  # answers no question that is out of sight
        page.click("[data-view=progress]")
        page.wait("return document.querySelector('#view #curve')")
        assert page.run(ANSWERS, "1")
        page.click("[data-view=contradictions]")
        page.wait("return document.querySelector('#view').textContent.length > 5")


def test_why_shows_what_decides_and_runs_no_name(page: Browser, tmp_path: Path) -> None:
    hostile = f"<img src=x onerror=window.{FIRED}=1>"
    events = [f"{t},{hostile if t < 3 else 'wait'},a" for t in range(6)]
    labels = [f"busy(a),{t},{str(t < 3).lower() if t % 3 else ''}" for t in range(6)]
    (tmp_path / "events.csv").write_text("\n".join(["time,event,arg1", *events]))
    (tmp_path / "labels.csv").write_text("\n".join(["fluent,time,label", *labels]))
    files = [f"{tmp_path}/events.csv", f"{tmp_path}/labels.csv"]
    with Server.studio(*files, "--project", str(tmp_path / "project")) as server:
        shown(page, server)
        page.open(server.origin + "/?measure=1")
        page.wait("return document.body.dataset.ready === 'yes'", patience=60)
        seen = {}
        for time in (0, 3):
            page.run(
                "studio.show('why'); studio.views.why.pick(0, ['busy(a)'], 2, arguments[0])", time
            )
            page.wait(
                "return document.getElementById('said')?.textContent.includes(`,${arguments[0]})`)",
                time,
            )
            seen[time] = page.run(
                "return [...document.querySelectorAll('#decisive tr')].slice(1)"
                ".map(tr => [...tr.cells].map(td => td.textContent))"
            )
        ((literal, weight),) = seen[0]
        assert hostile in literal
        assert float(weight) > 0
        ((literal, weight),) = seen[3]
        assert "wait" in literal
        assert float(weight) < 0
        assert not page.run(f"return window.{FIRED} || document.querySelector('#view img')")


def _pixels(page: Browser) -> str:
    picture: str = page.run("return document.getElementById('timeline').toDataURL()")
    return picture
