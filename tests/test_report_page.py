"""The command `splice report`, and a page of it in a browser: tabs, hover, zoom, no network."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser import DOWN, UP, Browser, at, chromium
from command import exit_code

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "experiments" / "results"
PLOT = "document.querySelector('#panel-timeline .plot')"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a small demo."""
    page = tmp_path_factory.mktemp("demo") / "a" / "page.html"
    assert exit_code("demo", "--quiet", "--sequences", 1, "--seed", 2, "--report", page) == 0
    return page


# the command


def test_the_demo_writes_its_page_unless_told_not_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "splice-demo.html").write_text("an older one")
    small = ("demo", "--sequences", 1, "--seed", 2)
    assert exit_code(*small) == 0
    shown = capsys.readouterr()
    assert "wrote splice-demo.html" in shown.err
    rows = [line for line in shown.out.splitlines() if line.startswith((" labels com", " learned"))]
    numbers = [word for line in rows for word in line.split() if "." in word]
    assert len(numbers) == 2 * 5
    text = (tmp_path / "splice-demo.html").read_text("utf-8")
    assert all(number in text for number in numbers)
    assert "initiatedAt(" in text
    assert "Why this label" in text
    (tmp_path / "splice-demo.html").unlink()
    assert exit_code(*small, "--no-report", "--quiet") == 0
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("more", [(), ("--no-complete",), ("--learner", "osla")])
def test_learning_writes_a_page(more: tuple[str, ...], tmp_path: Path) -> None:
    data, hidden, out = tmp_path / "data", tmp_path / "hidden", tmp_path / "page.html"
    make = ("data", "make", "plaza", "--sequences", 1, "--people", 2, "--frames", 150)
    assert exit_code(*make, "--seed", 1, "--out", data, "--quiet") == 0
    mask = ("--level", 40, "--scope", "batches", "--batch-size", 10, "--seed", 1)
    assert exit_code("mask", data, *mask, "--out", hidden, "--quiet") == 0
    rules = tmp_path / "all.rules"
    learn = ("learn", hidden, "--batch-size", 10, "--quiet", "--out", rules, *more)
    assert exit_code(*learn, "--report", hidden / "page.html") == 1  # not into the input
    assert exit_code(*learn, "--report", tmp_path / "page") == 1  # it would be no page by its name
    assert not rules.exists()
    assert exit_code(*learn, "--report", out) == 0
    text = out.read_text("utf-8")
    assert "Learned from hidden" in text
    assert str(tmp_path) not in text
    for line in rules.read_text("utf-8").splitlines():
        if "tedAt(" in line and ":-" in line:
            assert line.strip().removesuffix(".") in html.unescape(text)
    assert ("Why this label" in text) == ("--no-complete" not in more)


def test_tables_and_runs_of_experiments_become_pages(tmp_path: Path) -> None:
    out, table, svg = tmp_path / "r.html", RESULTS / "completion-plaza.csv", tmp_path / "svg"
    assert exit_code("report", table, RESULTS / "oled.csv", "-o", out, "--svg", svg) == 0
    assert "completion-plaza-f1.svg" in {path.name for path in svg.iterdir()}
    text = out.read_text("utf-8")
    assert 'id="tab-completion-plaza"' in text
    assert 'id="tab-oled"' in text
    small = tmp_path / "small.toml"
    small.write_text(
        'kind = "completion"\n[grid]\n'
        'datasets = [{name = "plaza", fluent = "meet", sequences = 1, people = 2, frames = 60}]\n'
        'masks = [{scope = "batches"}]\nlevels = [20, 80]\nsamples = 2\n[[methods]]\nname = "closed"\nbaseline = "closed-world"\n'
    )
    folder = tmp_path / "run"
    assert exit_code("experiment", "run", small, "--out", folder, "--jobs", 1, "--quiet") == 0
    assert exit_code("report", folder, "-o", out, "--force") == 0
    text = out.read_text("utf-8")
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    for told in (manifest["sha256"], manifest["code"], manifest["versions"]["numpy"], "seeds"):
        assert told in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere.csv",), "cannot read"),
        (("empty",), "holds no results"),
        (("bad.csv",), "bad.csv:1:1: no column 'dataset'"),
        (("good.csv", "-o", "there.html"), "say --force"),
        (("good.csv", "-o", "page.pdf"), "end it in .html"),
        (("good.csv", "-o", "new.html", "--png", "full"), "not empty"),
        (("good.csv", "-o", "new.html", "--png", "p", "--svg", "p"), "name two folders"),
        (("good.csv", "-o", "good.csv"), "end it in .html"),
        (("empty", "-o", "empty/new.html"), "overlap"),
    ],
)
def test_what_cannot_be_reported_is_told_and_nothing_is_written(
    arguments: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("empty", "full"):
        (tmp_path / folder).mkdir()
    (tmp_path / "full" / "mine").write_text("dear")
    (tmp_path / "bad.csv").write_text("a,b\n")
    (tmp_path / "there.html").write_text("dear")
    (tmp_path / "good.csv").write_text((RESULTS / "oled.csv").read_text("utf-8"))
    before = sorted(tmp_path.rglob("*"))
    assert exit_code("report", *arguments) == 1
    assert said in " ".join(capsys.readouterr().err.split())
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "there.html").read_text() == "dear"


# the page in a browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def opened(browser: Browser, demo: Path) -> Browser:
    """A browser that looks at the page of the demo."""
    browser.said()
    browser.requests()
    browser.open(demo.as_uri())
    return browser


def settled(browser: Browser) -> None:
    """See that the page was all that was asked for, and that nothing went wrong in it."""
    assert browser.said() == []
    asked = browser.requests()
    assert len(asked) == 1
    assert asked[0].startswith("file://")
    assert asked[0].endswith("page.html")


def span(browser: Browser) -> list[float]:
    return [float(end) for end in browser.run(f"return {PLOT}.layout.xaxis.range")]


def box(browser: Browser, element: str) -> tuple[float, float, float, float]:
    script = f"const r = {element}.getBoundingClientRect(); return [r.x, r.y, r.width, r.height];"
    x, y, width, height = browser.run(script)
    return x, y, width, height


def to_timeline(browser: Browser) -> None:
    browser.click("#tab-timeline")
    browser.wait(f"return {PLOT}.querySelector('.bars path') !== null")


def test_tabs_show_one_panel_at_a_time(opened: Browser) -> None:
    names = opened.run("return Array.from(document.querySelectorAll('[role=tab]')).map(t => t.id)")
    assert names == ["tab-overview", "tab-timeline", "tab-rules", "tab-labels"]
    shown = "return Array.from(document.querySelectorAll('.tab')).map(p => p.offsetHeight > 0)"
    for number, name in enumerate(names):
        opened.click(f"#{name}")
        assert opened.run(shown) == [i == number for i in range(len(names))]
        drawn = "return Array.from(arguments[0].querySelectorAll('.plot svg.main-svg')).length"
        (panel,) = opened.find(f"#{name.replace('tab-', 'panel-')}")
        plots = opened.run("return arguments[0].querySelectorAll('.plot').length", panel)
        assert not plots or opened.wait(drawn, panel) >= plots
    assert opened.run("return location.hash") == "#labels"
    settled(opened)


def test_the_lanes_tell_what_they_are_when_hovered(opened: Browser) -> None:
    to_timeline(opened)
    lane = f"Array.from({PLOT}.data).findIndex(t => t.name.endsWith(' truth'))"
    bar = f"{PLOT}.querySelectorAll('.bars')[{lane}].querySelector('path')"
    x, y, width, height = box(opened, bar)
    opened.mouse(at(3, 3), at(x + width / 2, y + height / 2), at(x + width / 2 + 2, y + height / 2))
    text = opened.wait(
        "return Array.from(document.querySelectorAll('.hoverlayer .hovertext'))"
        ".map(e => e.textContent).join(' ')"
    )
    assert "truth: " in text
    assert "time-point" in text
    settled(opened)


def test_the_timeline_zooms_and_moves(opened: Browser) -> None:
    to_timeline(opened)
    start, end = span(opened)
    whole = end - start
    opened.click("[data-move=in]")
    near = span(opened)
    assert near == pytest.approx([start + whole / 4, end - whole / 4])
    opened.click("[data-move=right]")
    assert span(opened) == pytest.approx([start + whole / 2, end])
    opened.click("[data-move=right]")
    assert span(opened)[1] == pytest.approx(end)  # not beyond the end
    opened.click("[data-move=out]")
    assert span(opened) == pytest.approx([start, end])
    x, y, width, _ = box(opened, f"{PLOT}.querySelector('.nsewdrag')")
    opened.mouse(
        at(x + width / 4, y + 40), DOWN, at(x + width / 3, y + 45), at(x + width / 2, y + 45), UP
    )
    changed = f"const r = {PLOT}.layout.xaxis.range; return Number(r[0]) > 0 && r"
    dragged = [float(edge) for edge in opened.wait(changed)]
    wanted = [start + whole / 4, start + whole / 2]
    assert dragged == pytest.approx(wanted, abs=whole * 0.02)
    for _ in range(5):  # on a busy machine two clicks may come too late to be a double one
        opened.mouse(at(x + width / 3, y + 40), DOWN, UP, DOWN, UP)
        try:
            opened.wait(f"return Number({PLOT}.layout.xaxis.range[1]) === {end}", patience=2)
            break
        except AssertionError:
            continue
    assert span(opened) == pytest.approx([start, end])
    settled(opened)


def test_dark_and_light_change_the_ink(opened: Browser) -> None:
    to_timeline(opened)
    ink = f"return {PLOT}.layout.font.color"
    light = opened.run(ink)
    opened.emulate("dark")
    dark = opened.wait(f"const now = {PLOT}.layout.font.color; return now !== '{light}' && now")
    assert light != dark
    opened.emulate("light")
    assert opened.wait(f"return {PLOT}.layout.font.color === '{light}'")
    settled(opened)


def test_plotly_knows_every_word_of_the_figures(opened: Browser, tmp_path: Path) -> None:
    """The library that draws the figures finds no unknown name and no wrong value in them.

    What it calls unused is a style that another attribute leaves without effect, as that of the
    lines between dots.
    """
    from splice.lab.figures.results import read_results, results_report
    from splice.report.html import report_page
    from test_report import evil_report

    problems = """
        const specs = Array.from(document.querySelectorAll('script[type="application/json"]'))
            .map(script => JSON.parse(script.textContent));
        const found = specs.flatMap(spec => Plotly.validate(spec.data, spec.layout) || []);
        const wrong = found.filter(problem => problem.code !== "unused");
        return [specs.length, wrong.map(problem => problem.msg)];
    """
    assert opened.run(problems) == [2, []]
    for number, report in enumerate((results_report(read_results(RESULTS)), evil_report())):
        page = tmp_path / f"{number}.html"
        page.write_text(report_page(report), "utf-8")
        opened.open(page.as_uri())
        count, found = opened.run(problems)
        assert count >= 2
        assert found == []


def test_what_data_says_is_never_run(browser: Browser, tmp_path: Path) -> None:
    from splice.report.html import report_page
    from test_report import evil_report

    out = tmp_path / "page.html"
    out.write_text(report_page(evil_report()), "utf-8")
    browser.said()
    browser.requests()
    browser.open(out.as_uri())
    browser.wait("return document.querySelectorAll('.plot svg.main-svg').length >= 2")
    counts: Any = browser.run(
        "return [document.images.length, document.querySelectorAll('svg image, svg a').length]"
    )
    assert counts == [0, 0]
    settled(browser)
