"""What the page of promises says is held by tests that exist; and some promises that need no run."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/explanation/promises.md"

NETWORK = frozenset(
    {
        "socket",
        "urllib",
        "http",
        "ssl",
        "asyncio",
        "distributed",
        "dask",
        "uvicorn",
        "starlette",
        "websockets",
        "requests",
    }
)
MAY_REACH = ("lab/download", "engines/", "live/", "studio/", "feeds/", "io/storage", "io/remote")
"""Rooms for what is asked for by name: downloads, schedulers, feeds and the local studio."""


def functions_of(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_promise_names_a_test_that_exists() -> None:
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    promises = [row for row in rows if not row.startswith(("| promise", "|---"))]
    assert len(promises) >= 15
    for row in promises:
        named = re.findall(r"`(tests/\w+\.py)::(\w+)`", row)
        assert named, row
        for file, name in named:
            assert name in functions_of(ROOT / file), f"{file}::{name}"


def test_nothing_but_fetch_and_what_is_asked_for_imports_the_network() -> None:
    package = ROOT / "src/splice"
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        if name.startswith(MAY_REACH):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                roots = {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                roots = (
                    {node.module} if node.module == "urllib.parse" else {node.module.split(".")[0]}
                )
            else:
                continue
            assert not roots & NETWORK, f"{name} imports {roots & NETWORK}"


def test_nothing_is_evaluated_or_unpickled() -> None:
    """No file is ever turned into code: no eval, exec, pickle, marshal or shelve anywhere in the package."""
    for path in sorted((ROOT / "src/splice").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id
            own = path.name == "options.py" and path.parent.name == "cli"  # its own annotations
            assert own or called not in ("eval", "exec", "compile"), path
            if isinstance(node, ast.Import) and path.parent.name != "engines":  # its own processes
                assert not {a.name for a in node.names} & {"pickle", "marshal", "shelve"}, path
