"""Fetching: whole files with the sums they had at first, or an error that says what to do."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import re
import socket
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.client import HTTPMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from urllib.request import Request

import pytest

from command import Command
from cvml import cvml, group, person
from splice.errors import InputError, OutputError, SpliceError, UnknownName
from splice.inputs.open import open_input
from splice.lab import archives
from splice.lab import fetch as fetching
from splice.lab.archives import FETCHED
from splice.lab.caviar import CLIPS, PUBLISHED
from splice.lab.download import SUMS, DownloadError, FewRedirects, download, read_sums
from splice.lab.fetch import fetch
from splice.stream.summary import summarise

Answer = Callable[[BaseHTTPRequestHandler], None]


class Web:
    """A server on this machine: pages by path, and what was asked for."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes | Answer] = {}
        self.asked: list[str] = []
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = unquote(self.path.partition("?")[0])
                web.asked.append(path)
                page = web.pages.get(path)
                if callable(page):
                    page(self)
                elif page is None:
                    self.send_error(404)
                else:
                    send(self, page, len(page))

            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.home = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()


def send(handler: BaseHTTPRequestHandler, body: bytes, length: int | None) -> None:
    """Send a page that announces some length."""
    handler.send_response(200)
    if length is not None:
        handler.send_header("Content-Length", str(length))
    handler.end_headers()
    handler.wfile.write(body)
    handler.close_connection = True


def redirect(to: str) -> Answer:
    """Send whoever asks elsewhere."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", to)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


@pytest.fixture
def web() -> Iterator[Web]:
    found = Web()
    yield found
    found.server.shutdown()
    found.server.server_close()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder; nothing between this machine and itself."""
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("SPLICE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def clip_text(clip: str) -> str:
    """Who is in a clip, for three frames; the first two of a published pair meet at the last."""
    pairs = [pair for pair in PUBLISHED if pair.clip == clip]
    ids = sorted({number for p in pairs for number in (p.first, p.second)}) or [0]
    persons = [person(frame, number) for frame in range(3) for number in ids]
    return cvml(persons, [group(2, 0, ids, situation="interacting")])


@pytest.fixture
def caviar(web: Web) -> Web:
    """The 30 files of CAVIAR, small, at another home."""
    for file, paths in FETCHED["caviar"].files.items():
        clip = next(clip for clip, name in CLIPS.items() if name == file)
        web.pages[f"/{paths[0]}"] = clip_text(clip).encode()
    return web


def everything(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, hidden ones too."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


# what is fetched


def test_every_clip_has_its_address() -> None:
    archive = FETCHED["caviar"]
    assert set(archive.files) == set(CLIPS.values())
    assert len(archive.files) == 30
    assert len(archive.needed) == 12
    addresses = archive.addresses()
    base = "https://homepages.inf.ed.ac.uk/rbf/CAVIARDATA1"
    assert addresses["wk1gt.xml"] == (f"{base}/Walk1/wk1gt.xml",)
    assert addresses["fomdgt2.xml"] == (f"{base}/Fight_OneManDown/fomdgt2.xml",)


def test_caviar_is_fetched_checked_and_made(caviar: Web, home: Path, splice: Command) -> None:
    code, out, err = splice("data", "fetch", "caviar", "--from", caviar.home, "--format", "json")
    assert code == 0, err
    assert "licence: Creative Commons BY-SA" in err
    report = json.loads(out)
    assert (report["downloaded"], report["kept"], report["left"]) == (30, 0, [])
    assert len(report["made"]) == 2
    assert len(caviar.asked) == 30
    xml = home / "caviar/xml"
    sums = read_sums(xml)
    assert {path.name for path in xml.iterdir()} == {*CLIPS.values(), SUMS}
    for name in CLIPS.values():
        assert sums[name] == hashlib.sha256((xml / name).read_bytes()).hexdigest()
    summary = summarise(open_input("caviar-meet"))
    assert summary.sequences == 19
    assert summary.as_json()["labels"] == {"true": 38, "false": 76, "unknown": 0}
    assert splice("data", "show", "caviar-move")[0] == 0
    assert not [name for name in everything(home) if "/." in name and "/.splice" not in name]


def test_what_is_there_is_not_fetched_again(caviar: Web, home: Path) -> None:
    fetch("caviar", home=caviar.home)
    before, caviar.asked = everything(home), []
    found = fetch("caviar", home=caviar.home)
    assert (found.downloaded, found.kept, found.made, len(found.left)) == (0, 30, (), 2)
    assert caviar.asked == []
    assert everything(home) == before


def test_a_file_that_changed_here_is_an_error_until_it_is_fetched_again(
    caviar: Web, home: Path
) -> None:
    fetch("caviar", home=caviar.home)
    whole = everything(home)
    path = home / "caviar/xml/wk1gt.xml"
    path.write_bytes(path.read_bytes() + b" ")
    before = everything(home)
    with pytest.raises(InputError, match=r"wk1gt\.xml: this is not the file that was downloaded"):
        fetch("caviar", home=caviar.home)
    assert everything(home) == before
    assert fetch("caviar", home=caviar.home, force=True).downloaded == 30
    assert everything(home) == whole


def test_a_file_that_changed_at_its_home_is_an_error(caviar: Web, home: Path) -> None:
    fetch("caviar", home=caviar.home)
    before = everything(home)
    caviar.pages["/Walk2/wk2gt.xml"] = cvml([person(0, 5)]).encode()
    with pytest.raises(SpliceError, match=r"Walk2/wk2gt\.xml' has changed.*\nhint: .*sums\.json"):
        fetch("caviar", home=caviar.home, force=True)
    assert everything(home) == before


def test_files_put_there_by_hand_are_taken_and_summed(caviar: Web, home: Path) -> None:
    xml = home / "caviar/xml"
    xml.mkdir(parents=True)
    for clip, file in CLIPS.items():
        (xml / file).write_text(clip_text(clip), encoding="utf-8")
    found = fetch("caviar", home="http://127.0.0.1:1")
    assert (found.downloaded, found.kept, len(found.made)) == (0, 30, 2)
    assert set(read_sums(xml)) == set(CLIPS.values())


def test_a_folder_that_was_not_made_here_is_never_replaced(caviar: Web, home: Path) -> None:
    own = home / "caviar/lomrf_db/meet/own.db"
    own.parent.mkdir(parents=True)
    own.write_text("Own(A)\n", encoding="utf-8")
    with pytest.raises(OutputError, match=r"did not write: 'own\.db'"):
        fetch("caviar", home=caviar.home, force=True)
    assert caviar.asked == []
    found = fetch("caviar", home=caviar.home)
    assert [path.name for path in found.left] == ["meet"]
    assert [path.name for path in found.made] == ["move"]
    assert own.read_text(encoding="utf-8") == "Own(A)\n"


def test_a_file_that_is_not_what_it_says_stops_the_making(caviar: Web, home: Path) -> None:
    caviar.pages["/Walk1/wk1gt.xml"] = b"<!DOCTYPE html><html>moved</html>"
    with pytest.raises(InputError, match=r"wk1gt\.xml:1:\d+: a DOCTYPE is not read"):
        fetch("caviar", home=caviar.home)
    assert not (home / "caviar/lomrf_db").exists()


def test_a_clip_may_stand_in_another_folder(caviar: Web) -> None:
    caviar.pages["/Meet_Split/spgt.xml"] = caviar.pages.pop("/Split/spgt.xml")
    assert fetch("caviar", home=caviar.home).downloaded == 30


# what goes wrong on the way


def broken(what: str) -> bytes | Answer | None:
    """A page that does not arrive as it should."""
    body = b"x" * 1000
    answers: dict[str, bytes | Answer | None] = {
        "missing": None,
        "truncated": lambda h: send(h, body, 5000),
        "announced too big": lambda h: send(h, body, 10**10),
        "too big": lambda h: send(h, b"x" * 4_000_000, None),
        "loop": redirect("/Walk3/wk3gt.xml"),
        "to a file": redirect("file:///etc/passwd"),
        "to ftp": redirect("ftp://127.0.0.1/x"),
        "error": lambda h: h.send_error(503),
        "nonsense": lambda h: h.wfile.write(b"\0\1\2 nonsense\r\n\r\n") and None,
        "chunks": _half_a_chunk,
    }
    return answers[what]


def _half_a_chunk(handler: BaseHTTPRequestHandler) -> None:
    handler.protocol_version = "HTTP/1.1"
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b"400\r\nhalf of it")
    handler.close_connection = True


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("missing", "the server says 404"),
        ("truncated", "it ended after 1,000 of 5,000 bytes"),
        ("announced too big", "10,000,000,000 bytes are more than 2,000,000"),
        ("too big", "it has more than 2,000,000 bytes"),
        ("loop", "it is redirected again and again"),
        ("to a file", "it is redirected to no address of the web"),
        ("to ftp", "only http:// and https:// addresses are read"),
        ("error", "the server says 503"),
        ("nonsense", "cannot download"),
        ("chunks", "it ended too early"),
    ],
)
def test_a_broken_download_leaves_nothing_under_its_name(
    caviar: Web, home: Path, monkeypatch: pytest.MonkeyPatch, what: str, said: str
) -> None:
    small = dataclasses.replace(FETCHED["caviar"], limit=2_000_000)
    monkeypatch.setitem(archives.FETCHED, "caviar", small)
    whole, page = caviar.pages["/Walk3/wk3gt.xml"], broken(what)
    caviar.pages.pop("/Walk3/wk3gt.xml")
    if page is not None:
        caviar.pages["/Walk3/wk3gt.xml"] = page
    with pytest.raises(SpliceError) as caught:
        fetch("caviar", home=caviar.home)
    message = str(caught.value)
    assert said in message
    assert "/Walk3/wk3gt.xml" in message
    assert "/Browse1/br1gt.xml" in message, "and what else is not here yet"
    assert f"download them into '{home / 'caviar/xml'}'" in message
    assert set(everything(home)) == {f"caviar/xml/{f}" for f in ("wk1gt.xml", "wk2gt.xml", SUMS)}
    caviar.pages["/Walk3/wk3gt.xml"] = whole
    found = fetch("caviar", home=caviar.home)
    assert (found.downloaded, found.kept) == (28, 2)


def test_redirects_that_lead_somewhere_are_followed(caviar: Web) -> None:
    caviar.pages["/there"] = caviar.pages["/Walk3/wk3gt.xml"]
    caviar.pages["/Walk3/wk3gt.xml"] = redirect("/there")
    assert fetch("caviar", home=caviar.home).downloaded == 30


def test_encryption_is_not_given_up_on_the_way() -> None:
    way = (io.BytesIO(), 302, "Found", HTTPMessage())
    secret = Request("https://127.0.0.1/a")
    with pytest.raises(DownloadError, match="redirected to where nothing is encrypted"):
        FewRedirects().redirect_request(secret, *way, "http://127.0.0.1/a")
    assert FewRedirects().redirect_request(secret, *way, "https://127.0.0.1/b") is not None


def test_without_a_network_the_command_says_what_to_download(home: Path, splice: Command) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        code, out, err = splice("data", "fetch", "caviar", "--from", address)
    assert (code, out) == (1, "")
    assert "connection refused" in err
    assert err.count(f"    {address}/") == 30
    assert "--data DIR" in err
    assert everything(home) == {} if home.exists() else True


def test_nobody_waits_for_ever(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/a"
        with pytest.raises(DownloadError, match="nobody answers in time"):
            list(download(address, tmp_path / "a", limit=10, timeout=0.05))
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_leaves_nothing_half_written(caviar: Web, home: Path) -> None:
    def interrupted(steps: Iterator[int], what: Callable[[], str]) -> Iterator[int]:
        for number, step in enumerate(steps):
            if number == 3:
                raise KeyboardInterrupt
            yield step

    with pytest.raises(KeyboardInterrupt):
        fetch("caviar", home=caviar.home, progress=interrupted)
    names = set(everything(home))
    assert names <= {f"caviar/xml/{name}" for name in (*CLIPS.values(), SUMS)}
    assert fetch("caviar", home=caviar.home).kept == len(names) - 1


def test_what_a_killed_process_left_is_swept_away(caviar: Web, home: Path) -> None:
    left = home / "caviar/xml/.wk1gt.xml.abcd1234"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")
    fetch("caviar", home=caviar.home)
    assert not left.exists()


@pytest.mark.parametrize(
    "address", ["file:///etc/passwd", "ftp://x/y", "nonsense", "http://", "//x"]
)
def test_only_addresses_of_the_web_are_read(address: str, home: Path) -> None:
    with pytest.raises(DownloadError, match="only http:// and https://"):
        fetch("caviar", home=address)
    assert not home.exists()


@pytest.mark.parametrize(
    "kept", ["", "{", "[]", '{"wk1gt.xml": 1}', '{"wk1gt.xml": "abc"}', "\udc80"]
)
def test_damaged_sums_are_an_error(caviar: Web, home: Path, kept: str) -> None:
    path = home / "caviar/xml" / SUMS
    path.parent.mkdir(parents=True)
    path.write_bytes(kept.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=r"sums\.json: not a table of SHA-256 sums"):
        fetch("caviar", home=caviar.home)
    assert caviar.asked == []


# local copies


def test_a_local_copy_is_read_wherever_its_files_stand(tmp_path: Path, home: Path) -> None:
    copy = tmp_path / "copy"
    for pair in PUBLISHED:
        file = copy / pair.clip / CLIPS[pair.clip]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(clip_text(pair.clip), encoding="utf-8")
    found = fetch("caviar", local=copy)
    assert (found.downloaded, found.kept) == (0, 12)
    assert not (home / "caviar/xml").exists()
    assert summarise(open_input("caviar-move")).sequences == 19
    (copy / "wk1gt.xml").write_text(clip_text("01-Walk1"), encoding="utf-8")
    with pytest.raises(InputError, match=r"'wk1gt\.xml' is there more than once"):
        fetch("caviar", local=copy, force=True)


def test_a_local_copy_that_is_not_whole(tmp_path: Path, home: Path) -> None:
    (tmp_path / "copy").mkdir()
    with pytest.raises(InputError, match=r"no fomdgt2\.xml, no lb1gt\.xml"):
        fetch("caviar", local=tmp_path / "copy")
    with pytest.raises(SpliceError, match="is not a folder"):
        fetch("caviar", local=tmp_path / "none")
    with pytest.raises(SpliceError, match="both given"):
        fetch("caviar", local=tmp_path, home="http://127.0.0.1:1")
    with pytest.raises(UnknownName, match="did you mean 'caviar'"):
        fetch("caviar-meet")
    assert not home.exists()


# brest

CSV = b"sourcemmsi,navigationalstatus,rateofturn,speedoverground,courseoverground,trueheading,lon,lat,t\n"


def packed(
    names: tuple[str, ...] = ("[P1] AIS Data/nari_dynamic.csv",), body: bytes = CSV
) -> bytes:
    """A zip archive with some files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README.txt", "hello")
        for name in names:
            archive.writestr(name, body)
    return buffer.getvalue()


def packed_strangely() -> bytes:
    """A zip archive whose files are compressed in a way that nobody knows."""
    found = bytearray(packed())
    for mark, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        for header in re.finditer(re.escape(mark), packed()):
            found[header.start() + place] = 99
    return bytes(found)


def test_brest_is_unpacked_and_its_licence_shown(web: Web, home: Path, splice: Command) -> None:
    web.pages["/[P1] AIS Data.zip"] = packed()
    code, _, err = splice("data", "fetch", "brest", "--from", web.home)
    assert code == 0, err
    assert "BY-NC-SA 4.0: not for commercial use" in err
    assert "Ray et al." in err
    assert (home / "brest/nari_dynamic.csv").read_bytes() == CSV
    assert set(read_sums(home / "brest/archive")) == {"[P1] AIS Data.zip"}
    (home / "brest/archive/[P1] AIS Data.zip").unlink()
    assert fetch("brest", home=web.home).downloaded == 0, "the positions are there"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"no archive", "not a whole zip archive"),
        (packed()[:-40], "not a whole zip archive"),
        (packed_strangely(), "compression"),
        (packed(("a.csv",)), "'nari_dynamic.csv' is in it 0 times"),
        (packed(("a/nari_dynamic.csv", "b/nari_dynamic.csv")), "is in it 2 times"),
        (packed(body=b"0" * 5000), "has more than 2,000 bytes"),
        (packed().replace(b"\x4b", b"\x4c", 9), "zip"),
    ],
)
def test_a_bad_archive_makes_nothing(
    web: Web, home: Path, monkeypatch: pytest.MonkeyPatch, body: bytes, said: str
) -> None:
    monkeypatch.setattr(fetching, "_AIS_LIMIT", 2_000)
    web.pages["/[P1] AIS Data.zip"] = body
    with pytest.raises(InputError, match=said):
        fetch("brest", home=web.home)
    assert [path.name for path in (home / "brest").iterdir()] == ["archive"]


@pytest.mark.parametrize("name", ["nari_dynamic.csv", "[P1] AIS Data.zip"])
def test_brest_from_a_local_copy(tmp_path: Path, home: Path, name: str) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / name).write_bytes(CSV if name.endswith("csv") else packed())
    found = fetch("brest", local=copy)
    assert found.made == (home / "brest/nari_dynamic.csv",)
    assert found.made[0].read_bytes() == CSV
