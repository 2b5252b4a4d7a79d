"""Reports: what they show is what was there, pages need nothing but themselves, pictures agree."""

from __future__ import annotations

import csv
import json
import math
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splice.completion.profile import profile
from splice.completion.source import CompletedSource
from splice.errors import InputError, SpliceError
from splice.lab.experiments.tables import published
from splice.lab.figures.pictures import draw, pictures
from splice.lab.figures.results import Results, read_results, results_report
from splice.lab.plaza import make_plaza
from splice.labels import UNKNOWN
from splice.learners.oled.learner import Oled
from splice.learners.oled.options import OledOptions
from splice.report.document import (
    Curve,
    Figure,
    Influence,
    Lane,
    Note,
    Panel,
    Reason,
    Reasons,
    Report,
    Role,
    RuleEntry,
    Rules,
    Span,
    Tab,
    Table,
    Timeline,
)
from splice.report.figures import timeline_spec
from splice.report.html import report_page
from splice.report.lanes import Labelling, timeline
from splice.report.observer import ObservedCompletion
from splice.report.run import run_report
from splice.stream.batch import TimePoints, batches, query_rows
from splice.stream.mask import KeepBatches, MaskedSource
from splice.stream.source import MemorySource, collect
from splice.stream.table import AtomTable

ROOT = Path(__file__).resolve().parent.parent
CUT = TimePoints(20)
EVIL = (
    "</script><script>alert('1')</script><img src=\"http://a.example/x.png\" onerror=a> $x_1$ &amp;"
)


class Run:
    """A small stream, masked, completed while somebody looks on, and learned from."""

    def __init__(self) -> None:
        self.source = make_plaza(sequences=2, people=3, frames=200, seed=3).source
        masked = MaskedSource(self.source, KeepBatches(30), 1, CUT)
        self.given = MemorySource(collect(masked), self.source.domain)
        self.watched = ObservedCompletion(self.given, profile("default"), CUT)
        self.completed = MemorySource(collect(self.watched), self.source.domain)
        self.learner = Oled(OledOptions()).fit(batches(self.completed, CUT))
        self.report = run_report(
            "A run",
            [Note("Some words.")],
            self.learner.rules(),
            self.watched.watcher,
            learner=self.learner,
            truth=self.source.table,
        )

    def section(self, kind: type) -> Any:
        found = [s for tab in self.report.tabs for s in tab.sections if isinstance(s, kind)]
        return found[0]


@pytest.fixture(scope="module")
def run() -> Run:
    return Run()


@pytest.fixture(scope="module")
def results() -> Report:
    return results_report(read_results(ROOT / "experiments" / "results"))


def evil_report() -> Report:
    """Return a report with every kind of section, in which every text would like to be markup."""
    table = Table(EVIL, (EVIL, "n"), ((EVIL, 1), (None, 0.5)), EVIL)
    curve = Curve(EVIL, (5.0, 10.0), (0.5, 0.75), (0.1, 0.0), notes=(EVIL, EVIL))
    dots = Curve(EVIL, (0.5,), (0.0,), (0.1,))
    figure = Figure(
        "evil",
        EVIL,
        (
            Panel(EVIL, EVIL, EVIL, (curve,), (5.0, 10.0), log_x=True),
            Panel(EVIL, EVIL, EVIL, (dots,), names=(EVIL,)),
        ),
        note=EVIL,
    )
    lane = Lane(EVIL, Role.COMPLETED, (Span(0, 5, 0.4, 5, EVIL), Span(5, 9, -0.4, 4)))
    event = Lane(EVIL, Role.EVENT, (Span(0, 1, 1.0, 1),))
    rule = RuleEntry(1, EVIL, EVIL, EVIL, 1, 2, 3, 0.5, 4, 0.25, EVIL, table)
    part = Influence(EVIL, 1.0, 2.0, 0.5, (EVIL,))
    reason = Reason(EVIL, EVIL, 0.01, True, False, (EVIL,), (part,))
    sections = (
        Note(EVIL, EVIL),
        table,
        replace(table, folded=True),
        figure,
        Timeline("line", EVIL, 0, 9, (lane, event), EVIL),
        Rules(EVIL, (rule,), EVIL),
        Reasons(EVIL, (reason,), EVIL),
    )
    return Report(EVIL, (Tab(EVIL, sections), Tab(EVIL, ())), EVIL)


class Seen(HTMLParser):
    """What a browser sees in a page: tags, texts, and the content of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.words: list[str] = []
        self._inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside = tag
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.scripts[-1] += data
        else:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.words)


# the page


@pytest.mark.parametrize("which", ["run", "results", "evil"])
def test_a_page_loads_nothing(which: str, run: Run, results: Report) -> None:
    report = {"run": run.report, "results": results, "evil": evil_report()}[which]
    text = report_page(report)
    seen = Seen(text)
    for tag, attributes in seen.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "audio", "video")
        loads = {"src", "href", "srcset", "action", "data", "background", "poster"} & set(
            attributes
        )
        assert not loads, (tag, loads)
        assert not [name for name in attributes if name.startswith("on")]
    said = [a["content"] for t, a in seen.tags if t == "meta" and "http-equiv" in a]
    assert len(said) == 1
    assert "default-src 'none'" in str(said[0])
    assert "http" not in str(said[0])
    style = next(script for script in seen.scripts if script)
    assert "url(" not in style
    assert "@import" not in style
    assert text.count("* plotly.js (basic - minified) v") == 1


def test_what_comes_from_data_is_never_markup() -> None:
    report = evil_report()
    text = report_page(report)
    seen = Seen(text)
    assert [t for t, _ in seen.tags].count("img") == 0
    scripts = [a.get("type") for t, a in seen.tags if t == "script"]
    assert scripts == ["application/json"] * 2 + [None] * 2  # two figures, plotly and our own
    plain = report_page(replace(report, tabs=(Tab(EVIL, (Note(EVIL, EVIL),)),)))
    assert EVIL in Seen(plain).text
    for tag, attributes in seen.tags:
        if attributes.get("type") == "application/json":
            assert tag == "script"
    blocks = [s for s in seen.scripts if s.startswith("{")]
    assert len(blocks) == 2
    assert not any("<" in block for block in blocks)
    for block in blocks:  # plotly reads markup in texts: ours is escaped before it gets there
        assert "<img" not in json.dumps(json.loads(block))


@given(st.text(max_size=60), st.text(max_size=60))
def test_every_text_can_be_read_from_the_page(title: str, cell: str) -> None:
    report = Report(title, (Tab(title, (Table("t", (cell,), ((cell,),)), Note(cell))),))
    seen = Seen(report_page(report))
    normal = cell.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    for part in filter(None, normal.split("\n\n")):
        assert part in seen.text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    assert [t for t, _ in seen.tags].count("script") == 1


def test_the_numbers_of_the_tables_are_on_the_page(run: Run, results: Report) -> None:
    text = Seen(report_page(run.report)).text
    rules = run.learner.rules()
    assert rules
    for rule in rules:
        assert f"{rule.tp:,}" in text
        assert f"{rule.score:.3f}" in text
        assert str(rule.rule.head) in text
    shown = Seen(report_page(results)).text
    with (ROOT / "experiments/results/completion.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            assert f"{float(row['f1']):.3f}" in shown
            assert f"{float(row['published']):.3f}" in shown


def test_every_tab_has_its_button() -> None:
    seen = Seen(report_page(evil_report()))
    buttons = [a for _, a in seen.tags if a.get("role") == "tab"]
    panels = [a["id"] for _, a in seen.tags if a.get("role") == "tabpanel"]
    assert [button["aria-controls"] for button in buttons] == panels
    ids = [a["id"] for _, a in seen.tags if "id" in a]
    assert len(ids) == len(set(ids))


def test_values_that_do_not_fit_are_refused() -> None:
    with pytest.raises(SpliceError):
        Table("t", ("a",), ((1, 2),))
    with pytest.raises(SpliceError):
        Curve("c", (1.0,), (1.0, 2.0))
    with pytest.raises(SpliceError):
        Panel("p", "x", "y", (Curve("c", (0.0,), (1.0,)),), log_x=True)
    with pytest.raises(SpliceError):
        Panel("p", "x", "y", (Curve("c", (0.0,), (3.0,)),), names=("one",))


# timelines


def expanded(lane: Lane, times: list[int]) -> list[float]:
    """Return the value of a lane at each time-point, 0 where it says nothing: the slow way."""
    found = []
    for time in times:
        over = [span for span in lane.spans if span.start <= time < span.end]
        assert len(over) <= 1
        found.append(over[0].value if over else 0.0)
    return found


def fluent(table: AtomTable, name: str) -> np.ndarray:
    """Return the rows of the query atoms of a fluent, as its lane names it."""
    text = re.split(r", (?=meet|move)", name)[0]
    return np.array(
        [str(atom.args[0]).replace("'", "") == text for atom in table.atoms()], dtype=bool
    )


def test_lanes_say_what_the_labels_say(run: Run) -> None:
    drawn: Timeline = run.section(Timeline)
    name = drawn.title.removeprefix("Sequence ")
    code = run.source.vocabulary.sequences.find(name)
    lanes = {(lane.name, lane.role): lane for lane in drawn.lanes}
    said = {Role.GIVEN: run.given, Role.TRUTH: run.source, Role.COMPLETED: run.completed}
    checked = 0
    for role, source in said.items():
        table = source.table.take(query_rows(source.table, source.domain))
        table = table.take(table.sequence == code)
        for (text, kind), lane in lanes.items():
            if kind is not role:
                continue
            rows = table.take(fluent(table, text))
            values = expanded(lane, rows.time.tolist())
            assert np.sign(values).astype(int).tolist() == rows.truth.tolist()
            checked += 1
    assert checked == 3 * sum(role is Role.GIVEN for _, role in lanes) > 0


def test_events_are_those_of_the_evidence(run: Run) -> None:
    drawn: Timeline = run.section(Timeline)
    events = [lane for lane in drawn.lanes if lane.role is Role.EVENT]
    code = run.source.vocabulary.sequences.find(drawn.title.removeprefix("Sequence "))
    table = run.source.table.take(run.source.table.sequence == code)
    happened = [str(a).replace("'", "") for a in table.atoms() if a.predicate == "happensAt"]
    for lane in events:
        points = {t for span in lane.spans for t in range(span.start, span.end)}
        own = {text for text in happened if text.startswith(f"happensAt({lane.name},")}
        assert {f"happensAt({lane.name},{t})" for t in points} == own
    assert sum(span.points for lane in events for span in lane.spans) == len(happened)


@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=40), st.integers(1, 5))
@settings(max_examples=30)
def test_stretches_of_labels_expand_to_the_labels(labels: list[int], step: int) -> None:
    source = make_plaza(sequences=1, people=2, frames=max(len(labels), 2), seed=0).source
    domain = replace(source.domain, fluents=("meet",))
    table = replace(source.table, time=source.table.time * step)
    (batch,) = batches(MemorySource(table, domain), TimePoints(1000))
    given = np.resize(np.array(labels, np.int8), len(batch.queries))
    batch = batch.with_labels(given)
    found = timeline(Labelling(batch, given.astype(float), given, given != UNKNOWN))
    for lane in found.lanes:
        assert [span.start for span in lane.spans] == sorted(span.start for span in lane.spans)
        assert all(found.start <= s.start < s.end <= found.end for s in lane.spans)
    for lane in (lane for lane in found.lanes if lane.role is Role.GIVEN):
        own = batch.queries.take(fluent(batch.queries, lane.name))
        assert expanded(lane, own.time.tolist()) == own.truth.tolist()


def test_a_long_timeline_is_bounded_and_says_so() -> None:
    source = make_plaza(sequences=1, people=8, frames=3000, seed=0).source
    (batch,) = batches(source, TimePoints(10**6))
    flicker = np.where(batch.queries.time % 2, 1, -1).astype(np.int8)
    every = np.ones(len(flicker), bool)
    batch = batch.with_labels(np.zeros(len(flicker), np.int8))
    values = flicker * np.random.default_rng(0).random(len(flicker))
    found = timeline(Labelling(batch, values, flicker, every, truth=flicker, cut=True))
    assert len(found.lanes) <= 4 * 4 + 24
    assert max(len(lane.spans) for lane in found.lanes) <= 300
    for words in ("others are not", "events are left out", "at most 300", "the rest is left out"):
        assert words in found.note
    assert len(json.dumps(timeline_spec(found))) < 3_000_000


def test_an_empty_stream_has_a_report() -> None:
    empty = make_plaza(sequences=1, people=2, frames=2, seed=0).source
    none = MemorySource(AtomTable.empty(empty.vocabulary), empty.domain)
    watched = ObservedCompletion(none, profile("default"), CUT)
    collect(watched)
    report = run_report("nothing", [], [], watched.watcher)
    assert [tab.title for tab in report.tabs] == ["Overview", "Rules"]
    assert "No rule was good enough" in Seen(report_page(report)).text


# what the watcher keeps


def test_looking_on_changes_nothing(run: Run) -> None:
    alone = collect(CompletedSource(run.given, profile("default"), CUT))
    assert (alone.truth == run.completed.table.truth).all()
    again = collect(run.watched)
    assert (again.truth == alone.truth).all()


def test_doubts_are_the_labels_nearest_to_zero(run: Run) -> None:
    values = [
        np.abs(done.values[~done.given & done.reached])
        for _, done in CompletedSource(run.given, profile("default"), CUT).completions()
    ]
    doubts = run.watched.watcher.doubts()
    distances = [abs(doubt.why.value) for doubt in doubts]
    assert distances == sorted(distances)
    assert 0 < len(doubts) <= 8
    assert distances[0] == min(np.concatenate(values))
    for doubt in doubts:
        assert doubt.why.average() == pytest.approx(doubt.why.value, abs=1e-6)
    shown: Reasons = run.section(Reasons)
    for reason in shown.reasons:
        total = sum(part.weight for part in reason.parts)
        mean = sum(part.weight * part.value for part in reason.parts) / total
        assert mean == pytest.approx(reason.value, abs=1e-6)
        assert reason.truth is not None


def test_contradictions_are_those_of_the_cache(run: Run) -> None:
    completer = run.watched.watcher.completer
    assert completer is not None
    found = completer.contradictions()
    assert len(found) == completer.cache.contradictions()
    labelled = completer.cache.labelled()
    kept = list(zip(labelled.classes.tolist(), (labelled.labels > 0).tolist(), strict=True))
    both = {cls: sides for cls, sides in completer.cache.counts().items() if min(sides) > 0}
    assert sorted((c.negatives, c.positives) for c in found) == sorted(both.values())
    stays = [(c.keeps_negative, c.keeps_positive) for c in found]
    assert sum(map(sum, stays)) == sum(cls in both for cls, _ in kept)
    for c in found:
        assert c.bound is not None
        decided = c.gap > c.bound
        assert decided == (not (c.keeps_negative and c.keeps_positive))
        if decided:
            assert c.keeps_positive == (c.positives > c.negatives)


# results


def test_curves_are_the_rows_and_the_published_numbers(results: Report) -> None:
    figure = next(f for f in results.figures() if f.name == "completion-f1")
    with (ROOT / "experiments/results/completion.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(figure.panels) == len({(r["dataset"], r["scope"], r["unit"]) for r in rows})
    panel = figure.panels[0]
    own = [r for r in rows if (r["dataset"], r["scope"]) == ("caviar-meet", "batches")]
    assert panel.title == "caviar-meet, some batches labelled"
    ours = next(c for c in panel.curves if c.name == "default")
    mine = [r for r in own if r["method"] == "default"]
    assert list(ours.x) == [float(r["level"]) for r in mine]
    assert list(ours.y) == [float(r["f1"]) for r in mine]
    assert list(ours.spread) == pytest.approx([float(r["f1_se"]) for r in mine], abs=1e-4)
    theirs = next(c for c in panel.curves if c.published)
    assert theirs.name == "published k=2"
    numbers = [published("meet", "batches", "k=2", level) for level in theirs.x]
    assert list(theirs.y) == [number.value for number in numbers if number]


def test_the_papers_figures_have_four_panels_and_seconds(results: Report) -> None:
    for ce in ("meet", "move"):
        figure = next(f for f in results.figures() if f.name == f"paper-{ce}")
        titles = [panel.title for panel in figure.panels]
        assert titles == [
            "completion, F1",
            "completion, runtime",
            "structure learning, F1",
            "structure learning, runtime",
        ]
        learning = figure.panels[3]
        known = next(c for c in learning.curves if c.name == "published SPLICE-OLED")
        number = published(ce, "batches", "SPLICE-OLED", 5, "runtime", "learning")
        assert number is not None
        assert number.unit == "minutes"
        assert known.y[0] == pytest.approx(number.value * 60)
        ours = next(c for c in learning.curves if c.name == "ours, SPLICE-OLED")
        assert ours.colour == known.colour


def test_sweeps_are_lines_over_k(results: Report) -> None:
    sweep = next(f for f in results.figures() if "k swept" in f.title)
    for panel in sweep.panels:
        assert panel.x == "k"
        names = [curve.name for curve in panel.curves if not curve.published]
        assert names == ["5 %", "10 %", "20 %", "40 %", "80 %"]
        assert all(curve.x == (1.0, 2.0, 3.0, 4.0, 5.0) for curve in panel.curves)


def test_a_colour_means_the_same_in_all_panels(results: Report) -> None:
    for figure in results.figures():
        colours: dict[str, int] = {}
        for curve in (c for panel in figure.panels for c in panel.curves):
            assert colours.setdefault(curve.name, curve.colour) == curve.colour


GROWING = "dataset,method,size,n,seconds,processor,events,memory"
HEADER = "dataset,scope,unit,batch_size,method,level,n,f1,f1_sd,f1_se,series,published"


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("", "1:1", "no column 'dataset'"),
        ("a,b\n1,2\n", "1:1", "no column"),
        (f"{HEADER}\nd,batches,atom,25,m,5,3,x,,,,\n", "2:25", "'f1' is not a number"),
        (f"{HEADER}\nd,batches,atom,25,m,5,3,nan,,,,\n", "2:25", "'f1' is not a number"),
        (f"{HEADER}\nd,batches,atom,25,m,5,3\n", "2:1", "7 cells"),
        (f"{HEADER}\nd,batches,atom,25,m,,3,.5,,,,\n", "2:1", "'level' is empty"),
        (f"{HEADER}\nd,batches,atom,25,m,0,3,.5,,,,\n", "2:1", "not above zero"),
        (f"{HEADER}\nd,batches,atom,25,m,5,3,.5,,,k=2,\n", "2:1", "'published' is empty"),
        ("level," + HEADER.replace(",level", "") + "\n", "1:1", "does not follow"),
        (f'{HEADER}\n"d,batches\n', "2:1", "not CSV"),
        (f"{GROWING}\nd,m,0,1,2,2,5,1\n", "2:1", "'size' is not above zero"),
        (f"{GROWING}\nd,m,3,1,2,2,,1\n", "2:1", "'events' is empty"),
        (f"{GROWING[:-7]}\n", "1:1", "no column 'memory'"),
    ],
)
def test_a_bad_table_is_a_located_error(text: str, where: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=what) as error:
        read_results(path)
    assert f"t.csv:{where}:" in str(error.value)


def test_few_columns_and_rows_are_enough() -> None:
    row = {"dataset": "d", "scope": "atoms", "batch_size": 25, "method": "m", "level": 5, "n": 1}
    row |= {"f1": 0.5, "f1_sd": None, "seconds": 0.0}
    report = results_report([Results("one", [row]), Results("one", []), Results("two", [row] * 2)])
    titles = [tab.title for tab in report.tabs]
    assert titles == ["Overview", "one", "one (2)", "two"]
    assert "0.500" in Seen(report_page(report)).text


def test_growing_data_is_drawn_beside_proportional_time() -> None:
    both = {"dataset": "d", "method": "m", "n": 1, "processor": 9.0, "memory": 0.5}
    rows = [
        both | {"size": n, "seconds": s, "events": e} for n, s, e in ((1, 4.0, 50), (4, 12.0, 200))
    ]
    report = results_report([Results("growing", rows)])
    drawn = next(report.figures())
    ours, even = drawn.panels[0].curves
    assert (ours.y, even.y, even.published) == ((4.0, 12.0), (4.0, 16.0), True)
    assert "0.750" in Seen(report_page(report)).text


# pictures


def test_pictures_are_whole_and_always_the_same() -> None:
    report = evil_report()
    (figure,) = report.figures()
    svg = draw(figure, "svg")
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert svg == draw(figure, "svg")
    assert draw(figure, "png").startswith(b"\x89PNG\r\n")
    twice = replace(report, tabs=report.tabs[:1] * 2)
    assert list(pictures(twice, "svg")) == [("evil.svg", svg), ("evil-again.svg", svg)]


def test_a_picture_has_the_curves(results: Report) -> None:
    figure = next(results.figures())
    shown = draw(figure, "svg").decode()
    for curve in (c for panel in figure.panels for c in panel.curves):
        assert curve.name in shown
        assert all(math.isfinite(y) for y in curve.y)


def test_pictures_without_matplotlib_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SpliceError, match="not installed") as caught:
        draw(Figure("empty", "Empty", ()), "png")
    assert "splice-cer[pictures]" in str(caught.value.hint)
