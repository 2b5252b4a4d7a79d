"""A browser that a test drives: Chromium behind chromedriver, spoken to over plain HTTP.

The protocol is W3C WebDriver, which is JSON in and JSON out; nothing but the standard library is
needed. Names are resolved to nothing, so a page that asks for the network does not get it; this
machine alone can be reached.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
_PATIENCE = 20.0


class Browser:
    """One window."""

    def __init__(self, address: str) -> None:
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self._address = address
        self._session = ""
        options = {
            "args": [
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--window-size=1250,1300",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            ],
            "binary": shutil.which("chromium"),
        }
        wanted = {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        made = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._session = f"/session/{made['sessionId']}"

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(
            self._address + self._session + path, data, {"Content-Type": "application/json"}
        )
        asked.method = method
        try:
            with self._opener.open(asked, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            with error:
                raise AssertionError(error.read().decode()) from None

    def open(self, address: str) -> None:
        self._ask("POST", "/url", {"url": address})

    def run(self, script: str, *arguments: object) -> Any:
        """Run a piece of JavaScript in the page and return what it returns."""
        return self._ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script: str, *arguments: object, patience: float = _PATIENCE) -> Any:
        """Run a script until it returns something true."""
        end = time.monotonic() + patience
        while not (found := self.run(script, *arguments)):
            assert time.monotonic() < end, f"never true: {script}"
            time.sleep(0.05)
        return found

    def find(self, selector: str) -> list[Any]:
        return list(self._ask("POST", "/elements", {"using": "css selector", "value": selector}))

    def click(self, selector: str) -> None:
        (element,) = self.find(selector)
        self._ask("POST", f"/element/{element[_ELEMENT]}/click", {})

    def mouse(self, *moves: dict[str, Any]) -> None:
        """Move the mouse and press its button."""
        pointer = {
            "type": "pointer",
            "id": "mouse",
            "parameters": {"pointerType": "mouse"},
            "actions": list(moves),
        }
        self._ask("POST", "/actions", {"actions": [pointer]})

    def press(self, *keys: str) -> None:
        """Press keys, one after the other; ``Keys`` has the numbers of those without a character."""
        moves = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._ask(
            "POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": moves}]}
        )

    def resize(self, width: int, height: int) -> None:
        """Make the window so large."""
        self._ask("POST", "/window/rect", {"width": width, "height": height})

    def picture(self) -> bytes:
        """Return what the window shows, as PNG."""
        return base64.b64decode(self._ask("GET", "/screenshot"))

    def emulate(self, scheme: str) -> None:
        """Ask for light or dark."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        command = {"cmd": "Emulation.setEmulatedMedia", "params": {"features": [feature]}}
        self._ask("POST", "/goog/cdp/execute", command)

    def said(self) -> list[str]:
        """Return what the console has said since it was asked last."""
        return [entry["message"] for entry in self._ask("POST", "/se/log", {"type": "browser"})]

    def requests(self) -> list[str]:
        """Return the addresses that the page has asked for since it was asked last."""
        log = self._ask("POST", "/se/log", {"type": "performance"})
        events = [json.loads(entry["message"])["message"] for entry in log]
        return [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def close(self) -> None:
        self._ask("DELETE", "")


def at(x: float, y: float, milliseconds: int = 30) -> dict[str, Any]:
    """Return a move of the mouse to a place in the window."""
    place = {"x": round(x), "y": round(y)}
    return {"type": "pointerMove", "origin": "viewport", "duration": milliseconds, **place}


DOWN = {"type": "pointerDown", "button": 0}
UP = {"type": "pointerUp", "button": 0}


@contextmanager
def chromium() -> Iterator[Browser]:
    """Give a browser, or skip the test where there is none."""
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed, so no page can be driven")
    driver = subprocess.Popen(
        ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert driver.stdout is not None
    try:
        port = None
        while port is None:
            line = driver.stdout.readline()
            assert line, "chromedriver ended without saying its port"
            port = re.search(r"successfully on port (\d+)", line)
        browser = Browser(f"http://127.0.0.1:{port[1]}")
        try:
            yield browser
        finally:
            browser.close()
    finally:
        driver.terminate()
        driver.wait(timeout=20)
        driver.stdout.close()
