"""Each room of the package imports only from the rooms before it (docs/explanation/design.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "splice"

LAYERS = (
    ("arrays", "display", "errors", "kernels", "threads"),
    ("labels", "limits", "options", "states", "stats"),
    ("logic",),
    ("stream",),
    ("patterns",),
    ("completion", "events"),
    ("learners",),
    ("evaluation",),
    ("io",),
    ("inputs",),
    ("engines",),
    ("pipeline",),
    ("active",),
    ("live",),
    ("report",),
    ("studio",),
    ("estimator",),
    ("lab",),
    ("cli",),
)
RANK = {room: rank for rank, rooms in enumerate(LAYERS) for room in rooms}

RENDERING = frozenset({"click", "jinja2", "matplotlib", "rich", "typer"})
MAY_RENDER = frozenset({"report", "lab", "cli"})


def modules_imported(tree: ast.AST, module: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the dotted name of everything that a module's source imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            parents = module.split(".")[: -node.level] if node.level else []
            base = ".".join([*parents, *filter(None, [node.module])])
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}"


def violations(source: str, module: str) -> list[str]:
    """Return what a module (``splice.io.lomrf.db``) imports although it may not.

    For a package give the name of its ``__init__`` (``splice.io.__init__``).
    """
    room = module.split(".")[1]
    if room == "__main__":
        room = "cli"
    if room not in RANK:
        return [f"{module}: '{room}' is no room of the design; give it a place in LAYERS"]
    found = []
    for line, name in modules_imported(ast.parse(source), module):
        top, _, rest = name.partition(".")
        if top in RENDERING and room not in MAY_RENDER:
            found.append(f"{module}:{line}: only report and cli may import {top}")
        if top != "splice":
            continue
        target = rest.partition(".")[0]
        if target == room:
            continue
        if target not in RANK:
            found.append(f"{module}:{line}: import {name} from its own module, not from the facade")
        elif RANK[target] >= RANK[room]:
            found.append(f"{module}:{line}: {room} may not import from {target}")
    return found


def runtime_imports(source: str) -> list[str]:
    """Return what a module imports of splice when it is loaded, type checking aside."""
    body = [
        node
        for node in ast.parse(source).body
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    ]
    names = modules_imported(ast.Module(body, []), "splice.__init__")
    return [name for _, name in names if name.partition(".")[0] == "splice"]


def test_every_room_imports_only_from_earlier_ones() -> None:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        if parts == ("splice", "__init__"):
            continue
        found += violations(path.read_text("utf-8"), ".".join(parts))
    assert not found, "\n".join(found)


def test_learners_are_known_by_name_alone() -> None:
    """Whoever needs one asks the registry."""
    found = [
        f"{path.name}:{line}: {name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if "learners" not in path.relative_to(PACKAGE).parts
        for line, name in modules_imported(ast.parse(path.read_text("utf-8")), "splice.x")
        if name.startswith(("splice.learners.oled", "splice.learners.osla"))
    ]
    assert not found, "\n".join(found)


def test_the_facade_loads_no_room() -> None:
    assert runtime_imports((PACKAGE / "__init__.py").read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("module", "source", "said"),
    [
        ("splice.logic.terms", "from splice.stream.table import AtomTable", "logic may not import"),
        ("splice.logic.terms", "import splice.stream.table", "logic may not import from stream"),
        ("splice.logic.terms", "from splice import stream", "logic may not import from stream"),
        ("splice.logic.terms", "from ..stream import table", "logic may not import from stream"),
        ("splice.io.__init__", "from .. import cli", "io may not import from cli"),
        ("splice.events.ec", "from splice.completion import graph", "events may not import"),
        ("splice.io.db", "def f():\n    from splice.cli import app", "io.db:2: io may not import"),
        ("splice.stream.table", "from splice import Atom", "not from the facade"),
        ("splice.stream.table", "from rich.table import Table", "only report and cli"),
        ("splice.helpers", "", "no room of the design"),
    ],
)
def test_the_check_can_fail(module: str, source: str, said: str) -> None:
    assert said in "\n".join(violations(source, module))


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("splice.stream.table", "from splice import labels\nfrom splice.logic.atoms import Atom"),
        ("splice.stream.table", "from .vocabulary import Kind\nfrom ..logic import atoms"),
        ("splice.cli.__init__", "import rich\nfrom .app import app\nfrom splice.report import x"),
        ("splice.__main__", "from splice.cli import main"),
    ],
)
def test_the_check_lets_pass_what_is_fine(module: str, source: str) -> None:
    assert violations(source, module) == []
