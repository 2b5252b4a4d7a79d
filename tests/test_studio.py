"""The studio through its own interface: answers that last, who may speak to it, rules, and why."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any, NoReturn

import httpx
import numpy as np
import pytest
from typer.testing import CliRunner

import splice
from splice.cli import app
from splice.completion.profile import PROFILES, SESSION_PROFILE, Profile
from splice.errors import SpliceError
from splice.evaluation.confusion import Confusion
from splice.inputs.open import InputOptions
from splice.lab.plaza import make_plaza
from splice.labels import LabelArray
from splice.learners.predict import predict
from splice.learners.protocol import StructureLearner
from splice.patterns.reading import Reading
from splice.stream.batch import TimePoints, batches
from splice.stream.source import MemorySource, collect
from splice.studio.columns import BELIEVED, EVENT, GIVEN, in_window
from splice.studio.journal import Journal
from splice.studio.serve import open_studio
from studios import Expert, Server, local, opened, running, write_square


@pytest.fixture(scope="module")
def square(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, MemorySource]:
    folder = tmp_path_factory.mktemp("studio") / "square"
    return folder, write_square(folder, sequences=3, people=3, frames=300, seed=5)


@pytest.fixture(scope="module")
def server(square: tuple[Path, MemorySource]) -> Iterator[Server]:
    with running(square[0], square[0].parent / "shared") as started:
        yield started


def settled(client: httpx.Client) -> dict[str, Any]:
    """Return where the studio stands once nothing is being learned."""
    end = time.monotonic() + 60
    while True:
        state: dict[str, Any] = client.get("/api/state").json()
        if not state["learning"]:
            return state
        assert time.monotonic() < end
        time.sleep(0.1)


# -- who may speak to it -------------------------------------------------------------------------


def test_without_the_token_nothing_is_told(server: Server) -> None:
    for path in ("/", "/assets/studio.js", "/api/state", "/api/columns?n=0"):
        assert httpx.get(server.origin + path).status_code == 403
    assert httpx.get(server.origin + "/?token=guess").status_code == 403
    assert httpx.get(server.origin + "/", cookies={"splice-studio": "guess"}).status_code == 403


def test_the_token_becomes_a_cookie_that_no_script_and_no_other_site_has(server: Server) -> None:
    answer = httpx.get(server.address)
    assert answer.status_code == 303
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "token" not in answer.headers["location"]
    token = server.address.partition("token=")[2]
    assert token not in cookie


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", ""])
def test_another_name_is_refused(server: Server, host: str) -> None:
    with server.client() as client:
        assert client.get("/api/state", headers={"Host": host}).status_code == 400


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": ""}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
    ],
)
def test_only_json_of_our_own_page_changes_something(
    server: Server, headers: dict[str, str], status: int
) -> None:
    with server.client() as client:
        before = client.get("/api/state").json()["answers"]
        usual = {"Content-Type": "application/json"}
        answer = client.post("/api/undo", content=b"{}", headers={**usual, **headers})
        assert answer.status_code == status
        assert client.get("/api/state").json()["answers"] == before
        assert client.get("/api/undo").status_code == 405


def test_another_page_may_not_read(server: Server) -> None:
    with server.client() as client:
        crossed = client.get("/api/state", headers={"Sec-Fetch-Site": "cross-site"})
        assert crossed.status_code == 403
        assert client.get("/api/state", headers={"Sec-Fetch-Site": "same-origin"}).is_success


def test_every_answer_has_a_policy_without_inline_code(server: Server) -> None:
    with server.client() as client:
        for path in ("/", "/assets/studio.css", "/api/state", "/nothing"):
            policy = client.get(path).headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
        page = client.get("/").text
    assert "<style" not in page
    assert " style=" not in page
    assert page.count("<script") == page.count('<script type="module" src="/assets/')


@pytest.mark.parametrize("name", ["../state.py", "..%2fstate.py", "%2e%2e/app.py", "x", ""])
def test_no_other_file_is_served(server: Server, name: str) -> None:
    with server.client() as client:
        assert client.get(f"/assets/{name}").status_code == 404


# -- answers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"sequence": 0, "parts": []},
        {"sequence": 99, "parts": [{"fluents": ["meet(ID1,ID2)"], "start": 0, "end": 5, "label": True}]},
        {"sequence": 0, "parts": [{"fluents": ["meet(ID1,ID9)"], "start": 0, "end": 5, "label": True}]},
        {"sequence": 0, "parts": [{"fluents": ["meet(ID1,ID2)"], "start": 9000, "end": 9009, "label": True}]},
        {"sequence": 0, "parts": [{"fluents": ["meet(ID1,ID2)"], "start": 0, "end": 5, "label": "yes"}]},
        {"sequence": 0, "parts": [{"fluents": ["meet(ID1,ID2)"], "start": "0", "end": 5, "label": True}]},
        {"sequence": 0, "parts": ["meet"]},
    ],
)  # fmt: skip
def test_a_label_outside_the_data_is_refused_in_words(server: Server, body: object) -> None:
    with server.client() as client:
        before = client.get("/api/state").json()
        answer = client.post("/api/answer", json=body)
        assert answer.status_code == 422
        assert answer.json()["error"]
        assert client.get("/api/state").json()["answers"] == before["answers"]


def test_killed_at_any_moment_nothing_is_lost(
    square: tuple[Path, MemorySource], tmp_path: Path
) -> None:
    folder, truth = square
    project = tmp_path / "project"
    with running(folder, project) as server, server.client() as client:
        Expert(truth, client).answer(5)
        client.post("/api/rules/change", json={"action": "pin", "text": RULE})
        before = client.get("/api/state").json()
        server.kill()
    with (project / "journal.ndjson").open("ab") as torn:
        torn.write(b'{"n": 7, "do": "ans')  # what was being written was never acknowledged
    with running(folder, project) as server, server.client() as client:
        after = client.get("/api/state").json()
        for name in ("answers", "labels", "believed", "unreached", "curve"):
            assert after[name] == before[name]
        states = [rule["state"] for rule in client.get("/api/rules").json()["rules"]]
        assert "pinned" in states
        client.post("/api/undo", json={})
        assert client.post("/api/undo", json={}).json()["answers"] == 4
    lines = (project / "journal.ndjson").read_text().splitlines()
    assert [json.loads(line)["n"] for line in lines] == list(range(1, 9))


def test_the_files_of_a_project_are_read_by_everything_else(
    square: tuple[Path, MemorySource], tmp_path: Path
) -> None:
    """The labels that the command line reads are those that the studio has."""
    folder, truth = square
    with local(folder, tmp_path / "project") as client:
        state = Expert(truth, client).answer(6)
        settled(client)
    files = [folder / "events.csv", tmp_path / "project/labels.csv"]
    options = InputOptions(domain=str(folder / "domain.toml"), open_world=True)
    table = collect(splice.open_input(files, options))
    given = table.truth[table.of_predicates((truth.domain.query.name,))]
    assert state["labels"] == {"true": int((given > 0).sum()), "false": int((given < 0).sum())}
    splice.load_theory(tmp_path / "project/theory.rules")


def test_an_answer_is_a_new_version_and_a_second_studio_does_not_start(
    square: tuple[Path, MemorySource], tmp_path: Path
) -> None:
    folder, truth = square
    with local(folder, tmp_path / "project") as client:
        before = client.get("/api/state").json()["version"]
        Expert(truth, client).answer(1)
        now = client.get("/api/state").json()
        assert now["answers"] == 1
        assert now["version"] > before
        with pytest.raises(SpliceError, match="another studio has"):
            opened(folder, tmp_path / "project")


def test_a_file_that_changes_underneath_stops_answers_and_loses_none(tmp_path: Path) -> None:
    truth = write_square(tmp_path / "square", sequences=1, people=2, frames=100, seed=2)
    with local(tmp_path / "square", tmp_path / "project") as client:
        expert = Expert(truth, client)
        expert.answer(1)
        (tmp_path / "project/labels.csv").write_text("fluent,start,end,label\n")
        with pytest.raises(AssertionError, match="was changed by another program"):
            expert.answer(1)
    with local(tmp_path / "square", tmp_path / "project") as client:
        assert client.get("/api/state").json()["answers"] == 1
        with (tmp_path / "square/events.csv").open("a") as more:
            more.write("plaza-001,99,walking,ID1,,\n")
        with pytest.raises(AssertionError, match="changed after the studio began"):
            Expert(truth, client).answer(1)


def test_a_project_inside_the_input_is_refused(square: tuple[Path, MemorySource]) -> None:
    with pytest.raises(SpliceError, match="lies inside the input"):
        open_studio(str(square[0]), InputOptions(open_world=True), square[0] / "project")


def test_a_journal_is_only_ever_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "journal.ndjson"
    journal = Journal(path)
    journal.append("answer", {"parts": [1]})
    first = path.read_bytes()
    journal.append("answer", {"parts": [2]})
    undone = journal.undo()
    assert undone is not None
    assert undone["parts"] == [2]
    assert path.read_bytes().startswith(first)
    assert [entry["parts"] for entry in journal.active()] == [[1]]
    assert journal.undo() is not None
    assert journal.undo() is None
    path.write_text("")
    with pytest.raises(SpliceError, match="changed by somebody else"):
        journal.append("answer", {})
    journal.close()
    path.write_text('{"n": 1, "at": "", "do": "undo", "of": 1}\nnonsense\n')
    with pytest.raises(SpliceError, match=r"journal\.ndjson:2:1"):
        Journal(path)
    path.write_text('{"n": 1, "at": "", "do": "rule", "action": "burn", "text": ""}\n')
    with pytest.raises(SpliceError, match="action is none of pin, forbid, release"):
        Journal(path)


# -- rules and why -------------------------------------------------------------------------------

RULE = "initiatedAt(meet(X,Y),T) :- close(X,Y,25,T), happensAt(active(X),T)."


def test_a_rule_is_checked_tried_pinned_and_forbidden(
    square: tuple[Path, MemorySource], tmp_path: Path
) -> None:
    folder, truth = square
    with local(folder, tmp_path / "project") as client:
        Expert(truth, client).answer(12)
        settled(client)
        bad = client.post(
            "/api/rules/check", json={"text": "initiatedAt(meet(X,Y),T) :- clse(X,T)."}
        )
        assert bad.status_code == 422
        problem = bad.json()["problems"][0]
        assert problem["line"] == 1
        assert "close" in problem["hint"]
        broken = client.post("/api/rules/check", json={"text": "initiatedAt(meet(X,Y),T) :- "})
        assert broken.json()["problems"][0]["column"] > 1
        effect = client.post("/api/rules/check", json={"text": RULE}).json()
        assert effect["before"].keys() == effect["after"].keys() == {"meet", "move"}
        client.post("/api/rules/change", json={"action": "pin", "text": RULE})
        assert effect["after"] == client.get("/api/rules").json()["scores"]
        Expert(truth, client).answer(2)
        settled(client)
        found = {r["text"]: r["state"] for r in client.get("/api/rules").json()["rules"]}
        assert "pinned" in found.values()
        assert RULE in (tmp_path / "project/theory.rules").read_text()
        client.post("/api/rules/change", json={"action": "forbid", "text": RULE})
        assert RULE not in (tmp_path / "project/theory.rules").read_text()
        refused = client.post("/api/rules/change", json={"action": "burn", "text": RULE})
        assert refused.status_code == 422


def test_rules_that_end_a_fluent_are_pinned_and_wait_for_one_that_begins_it(
    square: tuple[Path, MemorySource], tmp_path: Path
) -> None:
    folder, truth = square
    with local(folder, tmp_path / "project") as client:
        end = "terminatedAt(meet(X0,X1),T) :- happensAt(exit(X0),T)."

        def change(action: str, text: str) -> int:
            body = {"action": action, "text": text}
            return client.post("/api/rules/change", json=body).status_code

        assert change("pin", end) == 422  # as yet nothing begins it
        Expert(truth, client).answer(20)
        settled(client)
        rules = {r["text"] for r in client.get("/api/rules").json()["rules"]}
        begin = {text for text in rules if text.startswith("initiatedAt(meet")}
        assert begin
        assert [change("pin", text) for text in {end, *rules}] == [200] * len({end, *rules})
        assert end in (tmp_path / "project/theory.rules").read_text()
        assert client.post("/api/rules/check", json={"text": end}).is_success
        assert {change("forbid", text) for text in begin} == {200}
        assert client.get("/api/columns", params={"n": 0}).is_success
        assert "meet" not in (tmp_path / "project/theory.rules").read_text().partition("\n")[2]
        assert {change("release", text) for text in (*begin, end)} == {200}


def test_a_rule_shows_where_it_fires_and_whether_it_is_right(
    square: tuple[Path, MemorySource], tmp_path: Path
) -> None:
    folder, truth = square
    own = truth.table.take(truth.table.sequence == 1)
    known = {str(own.atom(i)).replace("'", "") for i in range(len(own)) if own.truth[i] > 0}
    people, end = [f"ID{i}" for i in (1, 2, 3)], int(own.time.max())
    expected = {
        (f"meet({a},{b})", time)
        for a in people
        for b in people
        for time in range(end)
        if f"close({a},{b},25,{time})" in known and f"happensAt(active({a}),{time})" in known
    }
    with local(folder, tmp_path / "project") as client:
        Expert(truth, client).answer(12)
        found = client.get("/api/rules/fires", params={"n": 1, "text": RULE}).json()
        told = {(name, t): right for name, a, b, right in found["intervals"] for t in range(a, b)}
        assert told.keys() == expected
        other = [
            client.get("/api/rules/fires", params={"n": n, "text": RULE}).json() for n in (0, 2)
        ]
        assert sum(told.values()) < found["right"] == other[0]["right"]
        assert found["places"] == other[1]["places"]
        end_rule = RULE.replace("initiatedAt", "terminatedAt")
        ends = client.get("/api/rules/fires", params={"n": 1, "text": end_rule}).json()
        assert (ends["right"], ends["wrong"]) == (found["wrong"], found["right"])
        both = client.get("/api/rules/fires", params={"n": 1, "text": f"{RULE}\n{end_rule}"})
        assert both.status_code == 422
    studio = opened(folder, tmp_path / "project")
    believed = studio.session.completion.labels
    starts = [(a["sequence"], a["fluent"]) for a in found["places"]]
    assert starts == [(a["sequence"], a["fluent"]) for a in other[0]["places"]]
    for place in found["places"]:
        row = studio.row(place["number"], place["fluent"], place["time"] + 1)
        assert believed[row] < 0
    for (name, point), right in told.items():
        assert right == (believed[studio.row(1, name, point + 1)] > 0)
    studio.close()


@pytest.mark.parametrize("name", ["default", "regression"])
def test_why_says_what_the_command_says(
    square: tuple[Path, MemorySource], tmp_path: Path, name: str
) -> None:
    """Neighbours and their average, or the literals by which a teacher decided."""
    (folder, truth), profile = square, PROFILES[name]
    with local(folder, tmp_path / "project", profile) as client:
        Expert(truth, client).answer(10)
        settled(client)
        where: dict[str, Any] = {"n": 1, "fluent": "meet(ID1,ID2)", "time": 120}
        said = client.get("/api/why/label", params=where).json()
        assert said["query"] == "holdsAt(meet('ID1','ID2'),120)"
        assert not said["given"]
        if name == "default":
            assert said["neighbours"]
            assert said["average"] == pytest.approx(said["value"], abs=1e-6)
        assert bool(said["decisive"]) == (name == "regression")
        labelled = shutil.copytree(folder, tmp_path / "labelled")
        shutil.copy(tmp_path / "project/labels.csv", labelled)
        words = f"--sequence plaza-002 --open-world --profile {name} --format json".split()
        said_by = ["explain", "label", str(labelled), where["fluent"], "120", *words]
        told = json.loads(CliRunner().invoke(app, said_by).stdout)
        assert {key: said[key] for key in told} == told
        disagreeing = client.get("/api/contradictions").json()
        assert all(each["positives"] and each["negatives"] for each in disagreeing)
        unknown = client.get("/api/why/label", params={**where, "fluent": "meet(ID1,ID9)"})
        assert unknown.status_code == 422
    studio = opened(folder, tmp_path / "project", profile)
    assert studio.session.completion.values[studio.row(1, "meet(ID1,ID2)", 120)] == said["value"]
    studio.close()


@pytest.mark.parametrize("words", [[], ["--connector", "knn:2"], ["--profile", "patterns"]])
def test_the_studio_completes_as_ask_does(
    square: tuple[Path, MemorySource], monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    taken: list[Profile] = []

    def stop(*given: object, profile: Profile | None = None, **_: object) -> NoReturn:
        taken.extend([profile] if profile else [one for one in given if isinstance(one, Profile)])
        raise SpliceError("enough")

    monkeypatch.setattr("splice.cli.ask.run", stop)
    monkeypatch.setattr("splice.studio.serve.open_studio", stop)
    for command in ("ask", "studio"):
        CliRunner().invoke(app, [command, str(square[0]), "--open-world", *words])
    asked, opened_by = taken
    assert asked == opened_by
    assert (asked == SESSION_PROFILE) == (not words)


def test_columns_hold_every_label_once(square: tuple[Path, MemorySource], tmp_path: Path) -> None:
    folder, _ = square
    options = InputOptions(domain=str(folder / "domain.toml"), open_world=True)
    studio = opened(folder, tmp_path / "project")
    part = {"fluents": ["meet(ID1,ID2)", "meet(ID2,ID1)"], "start": 10, "end": 30, "label": True}
    studio.answer(0, [part])
    lanes = studio.lanes(0)
    lane, layer, start, end, value = lanes.intervals.T
    given = lanes.intervals[layer == GIVEN]
    assert sorted(given[:, 2:].tolist()) == [[10, 30, 1000]] * 2
    assert {lanes.names[i]["name"] for i in given[:, 0]} == set(part["fluents"])
    # Bands are ordered and disjoint: bisection is allowed.
    same = (np.diff(lane) == 0) & (np.diff(layer) == 0)
    assert (start[1:][same] >= end[:-1][same]).all()
    assert (value[layer == BELIEVED] != 0).all()
    observed = collect(splice.open_input(folder / "events.csv", options))
    own = observed.take(observed.sequence == observed.sequence[0])
    events = own.of_predicates(("happensAt", "close", "orientationMove"))
    assert int((end - start)[layer == EVENT].sum()) == int(events.sum())
    window = in_window(lanes.intervals, 100, 120)
    assert ((window[:, 2] < 120) & (window[:, 3] > 100)).all()
    studio.close()


@pytest.mark.parametrize("seed", [11, pytest.param(12, marks=pytest.mark.exhaustive)])
def test_an_expert_gets_from_nothing_to_good_rules_in_forty_answers(
    tmp_path: Path, seed: int
) -> None:
    """Through the interface alone: within .03 of what all labels give, on squares never seen."""
    truth = write_square(tmp_path / "square", sequences=4, people=4, frames=400, seed=seed)
    with local(tmp_path / "square", tmp_path / "project") as client:
        assert Expert(truth, client).answer(40)["answers"] == 40
        settled(client)
    theory = splice.load_theory(tmp_path / "project/theory.rules")
    full = splice.learn(truth).theory
    unseen = list(batches(make_plaza(sequences=4, seed=99).source, TimePoints(10**9)))

    def f1(rules: splice.Theory) -> float:
        return Confusion.total(Confusion.of(b.labels, predict(rules, b)) for b in unseen).f1

    assert f1(theory) > f1(full) - 0.03


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_an_address_that_no_browser_can_name_is_refused(
    square: tuple[Path, MemorySource], host: str
) -> None:
    ran = CliRunner().invoke(app, ["studio", str(square[0]), "--open-world", "--host", host])
    assert isinstance(ran.exception, SpliceError)
    assert "is no address that a browser can name" in str(ran.exception)


def test_rules_are_those_of_the_newest_labels_though_answers_come_while_learning(
    square: tuple[Path, MemorySource], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = opened(square[0], tmp_path / "project")
    learn, seen, started, answered = studio.session.learn, [], Event(), Event()

    def slowly(labels: LabelArray, reading: Reading) -> StructureLearner:
        seen.append(labels)
        started.set()
        assert answered.wait(20)
        return learn(labels, reading)

    monkeypatch.setattr(studio.session, "learn", slowly)
    part = {"fluents": ["meet(ID1,ID2)"], "start": 10, "end": 30, "label": True}
    studio.answer(0, [part])
    assert started.wait(20)
    studio.answer(0, [{**part, "start": 100, "end": 120, "label": False}])
    answered.set()
    while studio.learning:
        time.sleep(0.01)
    studio.close()
    assert (seen[-1] == studio.session.completion.labels).all()
    assert len(seen) == 2


def test_learning_that_fails_is_told_and_answers_go_on(
    square: tuple[Path, MemorySource], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = opened(square[0], tmp_path / "project")
    monkeypatch.setattr(studio.session, "learn", lambda *_: 1 / 0)
    part = {"fluents": ["meet(ID1,ID2)"], "start": 10, "end": 30, "label": True}
    studio.answer(0, [part])
    while studio.learning:  # closing would call it off
        time.sleep(0.01)
    studio.close()
    assert studio.trouble.startswith("no rules could be learned")
    assert studio.answers == 1


def test_rules_of_the_last_time_stay_until_others_are_learned(
    square: tuple[Path, MemorySource], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opened and closed at once, a project has the rules that it had."""
    opened(square[0], tmp_path / "kept").close()
    theory = tmp_path / "kept/theory.rules"
    theory.write_text("% as it was\n", "utf-8")
    monkeypatch.setattr("splice.studio.state.Studio._learn", lambda *_: None)
    opened(square[0], tmp_path / "kept").close()
    assert theory.read_text("utf-8") == "% as it was\n"
