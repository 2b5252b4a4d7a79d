"""Inputs at addresses: what is read there is what is read from a folder."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from splice.cli import main
from splice.errors import InputError, SpliceError
from splice.inputs.open import InputOptions, open_input
from splice.inputs.write import write_source
from splice.io.remote import as_path
from splice.lab.plaza import make_plaza
from splice.pipeline.shards import located_shards, open_shard
from splice.pipeline.source import opener
from splice.stream.mask import KeepBatches, MaskedSource
from splice.stream.source import collect

pytest.importorskip("fsspec")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some labels of a square, as CSV and as Parquet."""
    place = tmp_path_factory.mktemp("square")
    square = make_plaza(sequences=4, people=2, frames=100, seed=1).source
    for style in ("csv", "parquet"):
        write_source(MaskedSource(square, KeepBatches(40), 1), place / style, style)
    return place


def put_in_memory(folder: Path) -> str:
    """Copy a folder to a file system that lives in this process; return its address."""
    import fsspec

    system = fsspec.filesystem("memory")
    for path in folder.iterdir():
        system.pipe_file(f"/{folder.name}/{path.name}", path.read_bytes())
    return f"memory://{folder.name}"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """An S3-compatible server on the loopback; its address."""
    pytest.importorskip("obstore")
    program = shutil.which("moto_server")
    if program is None:
        pytest.skip(
            "no S3-compatible server: moto_server is not on the PATH (pip install 'moto[server]')"
        )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [program, "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    for _ in range(600):
        try:
            urllib.request.urlopen(address, timeout=5).close()
            break
        except OSError:
            time.sleep(0.1)
    yield address
    process.terminate()
    process.wait()


@pytest.fixture
def bucket(server: str, folders: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both folders in a bucket; keys and endpoint as variables say them."""
    settings = {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": server,
        "AWS_ALLOW_HTTP": "true",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    put(f"{server}/squares", b"")
    for path in folders.glob("*/*"):
        put(f"{server}/squares/data/{path.parent.name}/{path.name}", path.read_bytes())
    return "s3://squares/data"


def put(address: str, content: bytes) -> None:
    request = urllib.request.Request(address, content, method="PUT")
    request.add_header(
        "Authorization", "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request"
    )
    request.add_header("Content-Type", "application/octet-stream")  # a form would have no body
    urllib.request.urlopen(request, timeout=30).close()


def atoms(name: str) -> list[str]:
    table = collect(open_input(name))
    return [f"{table.atom(row)} {table.truth[row]}" for row in range(len(table))]


@pytest.mark.parametrize("style", ["csv", "parquet"])
def test_an_address_is_read_as_the_folder_is(folders: Path, style: str) -> None:
    address = put_in_memory(folders / style)
    assert atoms(address) == atoms(str(folders / style))
    assert str(as_path(address) / "x.csv") == f"{address}/x.csv"


@pytest.mark.parametrize("style", ["csv", "parquet"])
def test_a_part_of_an_address_reads_its_own_rows(folders: Path, style: str) -> None:
    opened = opener(put_in_memory(folders / style), InputOptions())
    parts = [open_shard(opened, shard) for shard in located_shards(3, opened())]
    assert sum(len(collect(part.inner)) for part in parts) == len(collect(opened()))


@pytest.mark.parametrize("style", ["csv", "parquet"])
def test_object_storage_gives_the_same_answers(
    bucket: str, folders: Path, style: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rules learned in parts by two processes, one of which reads nothing but its own."""
    assert atoms(f"{bucket}/{style}") == atoms(str(folders / style))
    found = []
    for name, jobs in ((f"{bucket}/{style}", "2"), (str(folders / style), "1")):
        out = tmp_path / "t.rules"
        words = ["learn", name, "--profile", "default", "--shards", "2", "--jobs", jobs]
        words += ["--out", str(out), "--force"]
        with pytest.raises(SystemExit) as ended:
            main([*words, "--format", "json"])
        assert ended.value.code == 0
        told = json.loads(capsys.readouterr().out)
        found.append((told["examples"], told["rules"], out.read_text().replace(name, "")))
    assert found[0] == found[1]
    assert found[0][0] > 0


def test_what_is_not_there_is_told_with_its_address(bucket: str) -> None:
    with pytest.raises(SpliceError, match="s3://squares/data/none"):
        open_input(f"{bucket}/none")
    with pytest.raises(InputError, match=r"s3://nobody/x.*cannot be read|s3://nobody/x"):
        open_input("s3://nobody/x")


def test_an_address_that_nothing_reads_is_refused() -> None:
    pytest.importorskip("obstore")
    with pytest.raises(SpliceError, match="nothing here reads carrier-pigeon://"):
        open_input("carrier-pigeon://coop/events.csv")
