"""Every example runs as it stands and prints what its comments say; the docs show all of them."""

from __future__ import annotations

import io
import re
import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def shown(text: str) -> list[str]:
    """Return the lines that an example says it prints."""
    return [line[4:].rstrip() for line in text.splitlines() if line.startswith("# > ")]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_it_says(path: Path) -> None:
    said = io.StringIO()
    with redirect_stdout(said):
        runpy.run_path(str(path), run_name="__main__")
    printed = [line.rstrip() for line in said.getvalue().splitlines()]
    assert printed == shown(path.read_text("utf-8"))
    assert printed


def test_the_examples_are_numbered_and_in_the_docs() -> None:
    assert [path.name[:3] for path in EXAMPLES] == [f"{n:02}_" for n in range(1, len(EXAMPLES) + 1)]
    page = (ROOT / "docs/how-to/examples.md").read_text("utf-8")
    listed = re.findall(r'--8<-- "examples/(\S+)"', page)
    assert listed == [path.name for path in EXAMPLES]


def test_examples_import_nothing_that_the_extras_lack() -> None:
    known = {"splice", "pandas", "polars", "duckdb", *sys.stdlib_module_names}
    for path in EXAMPLES:
        names = re.findall(r"^(?:import|from) (\w+)", path.read_text("utf-8"), re.MULTILINE)
        assert set(names) <= known


# the page for notebooks

PAGE = ROOT / "docs/tutorial/notebook.md"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_the_page_for_notebooks_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cell by cell, in an empty folder: every cell prints what the page shows below it."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    cells, said = 0, io.StringIO()
    for language, text in _BLOCK.findall(PAGE.read_text("utf-8")):
        if language == "python":
            said, cells = io.StringIO(), cells + 1
            with redirect_stdout(said):
                exec(compile(text, f"{PAGE.name}, cell {cells}", "exec"), names)
        elif language == "text":
            assert said.getvalue().rstrip() == text.rstrip(), f"cell {cells}"
    assert cells > 9
    assert "</svg>" in (tmp_path / "monday.svg").read_text("utf-8")
