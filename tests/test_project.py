"""The project keeps its word: facade, version, pins, documentation, nothing of a machine."""

from __future__ import annotations

import doctest
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import splice

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
MKDOCS = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))

MACHINE_PATH = re.compile(r"/(work|farm|root|tmp)/[a-z.]")


def python(*args: str) -> str:
    """Run a fresh interpreter at the root of the project and return what it prints."""
    here = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(
        [sys.executable, *args], cwd=ROOT, env=here, check=True, capture_output=True, text=True
    ).stdout


# the facade


def test_every_name_of_the_facade_can_be_imported() -> None:
    for name in splice.__all__:
        assert getattr(splice, name) is not None
    assert set(splice.__all__) <= set(dir(splice))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Teory"):
        splice.Teory  # noqa: B018  (the access is the test)


def test_importing_splice_loads_nothing_heavy() -> None:
    heavy = {"numpy", "polars", "rich", "typer"}
    loaded = python("-c", f"import sys, splice; print(*({heavy} & set(sys.modules)))")
    assert loaded.split() == []


# what the facade says of itself


def public_names() -> dict[str, object]:
    """Return what the two pages of the reference list: the facade, and what is further in."""
    pages = (ROOT / f"docs/reference/{page}.md" for page in ("api", "modules"))
    names = [
        name
        for page in pages
        for name in re.findall(r"^::: (\S+)$", page.read_text("utf-8"), re.MULTILINE)
    ]
    return {name: pkgutil.resolve_name(name) for name in names}


def public_callables() -> list[str]:
    """Return the public names that can be called: all but enumerations and protocols."""
    found = []
    for name, value in public_names().items():
        if isinstance(value, type) and (
            issubclass(value, Enum) or getattr(value, "_is_protocol", False)
        ):
            continue
        found.append(name)
    return found


def documented(docstring: str) -> list[str]:
    """Return the parameters that a numpy-style docstring has a section for."""
    _, _, section = inspect.cleandoc(docstring).partition("\nParameters\n----------\n")
    section = re.split(r"\n\n\w+\n-+\n", section)[0]
    names = [line for line in section.splitlines() if line and not line.startswith(" ")]
    return [name.lstrip("*") for line in names for name in line.split(", ")]


@pytest.mark.parametrize("name", public_callables())
def test_every_parameter_of_a_public_name_is_documented(name: str) -> None:
    value: Any = pkgutil.resolve_name(name)
    assert documented(value.__doc__ or "") == list(inspect.signature(value).parameters)


@pytest.mark.parametrize("name", public_callables())
def test_a_public_function_says_what_it_gives(name: str) -> None:
    value = pkgutil.resolve_name(name)
    if inspect.isfunction(value) and inspect.signature(value).return_annotation != "None":
        assert re.search(r"\b([Rr]eturn|[Yy]ield)s?\b", value.__doc__ or "")


# versions and pins


def test_the_version_is_the_same_everywhere() -> None:
    version = PYPROJECT["project"]["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert splice.__version__ == version
    assert str(citation["version"]) == version
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert "## [Unreleased]" in changes
    assert f"## [{version}] - " in changes


def test_every_requirement_is_pinned_and_the_pin_satisfies_it() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = dict(
        re.fullmatch(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.+!]+)", line).groups()  # type: ignore[union-attr]
        for line in lines
        if line and not line.startswith("#")
    )
    pinned = {canonicalize_name(name): version for name, version in pins.items()}
    extras = PYPROJECT["project"]["optional-dependencies"].values()
    for text in (*PYPROJECT["project"]["dependencies"], *(t for extra in extras for t in extra)):
        requirement = Requirement(text)
        assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)]), text


def test_what_the_docs_and_hints_install_exists() -> None:
    """``pip install 'splice-cer[x]'``, wherever it is said: the name of the package, and one of its extras."""
    extras = PYPROJECT["project"]["optional-dependencies"]
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]
    said = {
        (name, extra)
        for page in pages
        for name, extra in re.findall(
            r"pip install [^\n]*?'([\w-]+)\[(\w+)\]", page.read_text("utf-8")
        )
    }
    assert {name for name, _ in said} == {PYPROJECT["project"]["name"]}
    assert len(said) > 5
    assert {extra for _, extra in said} <= set(extras)


def test_the_wheel_holds_every_file_of_the_package(tmp_path: Path) -> None:
    python("-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path))
    (wheel,) = tmp_path.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    files = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src/splice").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert "splice/py.typed" in files
    assert any(name.startswith("splice/inputs/domains/") for name in files)
    assert files <= inside


# nothing of a machine


def files_of_the_project() -> list[Path]:
    """Return the files that are tracked or about to be, or all files where git is not there."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        made = {"site", "dist", "build", "__pycache__"}
        paths = [p.relative_to(ROOT) for p in ROOT.rglob("*") if p.is_file()]
        return [p for p in paths if not any(s in made or s.startswith(".") for s in p.parts)]
    return [Path(name) for name in listed.split("\0") if name and (ROOT / name).is_file()]


def test_no_path_of_a_machine_stands_in_the_repository() -> None:
    found = []
    for path in files_of_the_project():
        if path.parts[0] == "tests" or path.name == ".gitignore" or path.suffix == ".lock":
            continue
        content = (ROOT / path).read_bytes()
        if b"\0" in content:
            continue
        for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
            if MACHINE_PATH.search(line):
                found.append(f"{path}:{number}: {line.strip()}")
    assert not found, "\n".join(found)


# documentation


def pages(nav: Any) -> Iterator[str]:
    """Yield the files that a navigation tree names."""
    if isinstance(nav, str):
        yield nav
        return
    for entry in nav if isinstance(nav, list) else nav.values():
        yield from pages(entry)


def test_the_navigation_names_every_page_and_nothing_else() -> None:
    written = {p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md")}
    assert set(pages(MKDOCS["nav"])) == written


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "benchmarks/README.md"])
def test_links_to_files_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    links = re.findall(r"\]\(([^)#\s]+)|(?:src|srcset)=\"([^\"]+)\"", text)
    for link in (a or b for a, b in links):
        if "://" not in link:
            assert ((ROOT / page).parent / link).exists(), link


def pages_with_examples() -> list[str]:
    """Return the pages that show an interpreter session."""
    folder = ROOT / "docs"
    found = [p for p in folder.rglob("*.md") if "```pycon" in p.read_text("utf-8")]
    return sorted(p.relative_to(folder).as_posix() for p in found)


@pytest.mark.parametrize("page", pages_with_examples())
def test_examples_in_the_documentation_run(page: str) -> None:
    text = (ROOT / "docs" / page).read_text("utf-8")
    said: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    for block in re.finditer(r"```pycon\n(.*?)```", text, re.DOTALL):
        line = text.count("\n", 0, block.start()) + 1
        example = doctest.DocTestParser().get_doctest(block[1], {}, page, page, line)
        runner.run(example, out=said.append)
    assert not runner.summarize(verbose=False).failed, "".join(said)


def commands(group: Any, path: tuple[str, ...] = ("splice",)) -> Iterator[str]:
    """Yield every command that can be typed, subcommands with their group."""
    for name, command in group.commands.items():
        if command.hidden:
            continue
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name))


def test_every_command_is_documented() -> None:
    import typer.main

    from splice.cli import app

    text = (ROOT / "docs/reference/cli.md").read_text("utf-8")
    known = list(commands(typer.main.get_command(app)))
    assert {"splice data list", "splice mask", "splice demo"} <= set(known)
    missing = [name for name in known if not re.search(rf"`{re.escape(name)}\b", text)]
    assert not missing, missing


def names_in_the_glossary() -> list[str]:
    """Return the dotted names in the last column of the glossary's tables."""
    text = (ROOT / "docs/reference/glossary.md").read_text("utf-8")
    cells = [line.rstrip(" |").rpartition("|")[2] for line in text.splitlines() if line[:1] == "|"]
    return re.findall(r"`(splice\.[A-Za-z0-9_.]+)`", "\n".join(cells))


@pytest.mark.parametrize("name", names_in_the_glossary())
def test_every_name_in_the_glossary_exists(name: str) -> None:
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[cut:]:
            fields = getattr(value, "__dataclass_fields__", {})
            value = fields[attribute] if attribute in fields else getattr(value, attribute)
        return


def test_the_glossary_is_not_empty() -> None:
    assert len(names_in_the_glossary()) >= 20
