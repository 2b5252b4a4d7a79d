"""Files from elsewhere: downloaded whole or not at all, unpacked with bounds, and summed.

A file is written under a temporary name and takes its own when it is complete and has the
right sum. Only http and https are spoken, through few redirects, with a limit on what is read.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Final, NoReturn
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from splice.errors import InputError, OutputError, Place, Problem, SpliceError
from splice.io.outputs import new_file, sweep, write_text

SUMS: Final = "sums.json"
"""The file beside downloads that keeps the sum which each had at first."""

_BLOCK: Final = 2**20
_REDIRECTS: Final = 5
_TIMEOUT: Final = 30.0

Steps = Generator[int, None, str]
"""Gives the size of each block that was handled and returns the SHA-256 sum of all of them."""


class DownloadError(SpliceError):
    """A file that could not be had: nobody answers, it is not there, or it came broken.

    ``missing`` tells that somebody answered and does not have it.
    """

    def __init__(self, address: str, reason: str, *, missing: bool = False) -> None:
        super().__init__(f"cannot download '{address}': {reason}")
        self.missing = missing


class FewRedirects(HTTPRedirectHandler):
    """Follows a few redirects, to addresses of the web, and none out of encryption."""

    max_redirections = _REDIRECTS
    max_repeats = 2

    def redirect_request(
        self,
        req: Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> Request | None:
        try:
            check_address(newurl)
            if req.type == "https" and urlsplit(newurl).scheme != "https":
                raise DownloadError(req.full_url, "it is redirected to where nothing is encrypted")
        except DownloadError:
            fp.close()
            raise
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def check_address(address: str) -> None:
    """Refuse an address that is not one of the web."""
    try:
        parts = urlsplit(address)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        fine = False
    if not fine:
        raise DownloadError(address, "only http:// and https:// addresses are read")


def download(
    address: str, path: Path, *, limit: int, expected: str | None = None, timeout: float = _TIMEOUT
) -> Steps:
    """Download a file; give the sizes of its blocks and return its sum.

    More than ``limit`` bytes, fewer than were announced, or another sum than ``expected`` are
    errors, and then nothing appears at ``path``.
    """
    check_address(address)

    def check(checksum: str) -> None:
        if expected is not None and checksum != expected:
            raise SpliceError(
                f"'{address}' has changed: it is not the file that was downloaded at first",
                f"what is here stays; remove '{path.name}' from {path.parent / SUMS} to take the new one",
            )

    return _write(_blocks(address, limit, timeout), path, check)


def _write(
    blocks: Iterable[bytes], path: Path, check: Callable[[str], None] = lambda _: None
) -> Steps:
    """Write blocks as a file, which appears if its sum passes a check."""
    sweep(path)
    with new_file(path) as partial:
        total = hashlib.sha256()
        with partial.open("wb") as out:
            for block in blocks:
                total.update(block)
                out.write(block)
                yield len(block)
        check(total.hexdigest())
    return total.hexdigest()


def _blocks(address: str, limit: int, timeout: float) -> Generator[bytes]:
    try:
        with _opener().open(Request(address), timeout=timeout) as answer:
            announced = answer.length
            if announced is not None and announced > limit:
                raise DownloadError(address, f"{announced:,} bytes are more than {limit:,}")
            done = 0
            while block := answer.read(_BLOCK):
                done += len(block)
                if done > limit:
                    raise DownloadError(address, f"it has more than {limit:,} bytes")
                yield block
            if announced is not None and done < announced:
                raise DownloadError(address, f"it ended after {done:,} of {announced:,} bytes")
    except HTTPError as error:
        error.close()
        reason = f"the server says {error.code} {error.reason}".strip()
        if error.code < 400:
            endless = "infinite loop" in str(error.reason)
            reason = (
                f"it is redirected {'again and again' if endless else 'to no address of the web'}"
            )
        raise DownloadError(address, reason, missing=error.code in (404, 410)) from None
    except URLError as error:
        raise DownloadError(address, _reason(error.reason)) from None
    except DownloadError:  # a ValueError, too
        raise
    except (http.client.HTTPException, OSError, ValueError) as error:
        raise DownloadError(address, _reason(error)) from None


def _reason(error: object) -> str:
    if isinstance(error, http.client.IncompleteRead):
        return "it ended too early"
    if isinstance(error, TimeoutError):
        return "nobody answers in time"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error) or type(error).__name__


def _opener() -> OpenerDirector:
    """Return what speaks http and https, and nothing else (no files, no ftp)."""
    opener = OpenerDirector()
    for handler in (
        ProxyHandler(),
        HTTPHandler(),
        HTTPSHandler(),
        FewRedirects(),
        HTTPDefaultErrorHandler(),
        HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    opener.addheaders = [("User-Agent", "splice-cer"), ("Accept-Encoding", "identity")]
    return opener


@contextmanager
def _opened(archive: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive; what is wrong with it is told as an error of its file."""
    try:
        with zipfile.ZipFile(archive) as packed:
            yield packed
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        _damaged(archive, f"not a whole zip archive: {error}", "download it again")
    except OSError as error:
        _damaged(archive, f"cannot read: {_reason(error)}", "check the path")


def unpack(archive: Path, member: str, path: Path, *, limit: int) -> Steps:
    """Unpack the one file of a zip archive that has a name, wherever it stands in it."""
    with _opened(archive) as packed:
        entries = [i for i in packed.infolist() if PurePosixPath(i.filename).name == member]
        if len(entries) != 1:
            names = ", ".join(packed.namelist()[:5])
            _damaged(archive, f"'{member}' is in it {len(entries)} times", f"it has: {names}")
        if entries[0].file_size > limit:
            _damaged(archive, f"'{member}' has more than {limit:,} bytes")
        with packed.open(entries[0]) as stream:
            return (yield from _write(_limited(stream, path, limit), path))


def members(archive: Path, pattern: re.Pattern[str], *, limit: int) -> dict[str, bytes]:
    """Return the files of a zip archive whose paths match, at most so many bytes of them in all."""
    with _opened(archive) as packed:
        entries = [info for info in packed.infolist() if pattern.fullmatch(info.filename)]
        if not entries:
            names = ", ".join(packed.namelist()[:5])
            _damaged(archive, "nothing in it is what is looked for", f"it has: {names}")
        if sum(info.file_size for info in entries) > limit:
            _damaged(archive, f"unpacked it has more than {limit:,} bytes")
        # A size that the archive states wrongly ends the reading: zipfile reads no more than that.
        return {info.filename: packed.read(info) for info in entries}


def copy_file(source: Path, path: Path, *, limit: int) -> Steps:
    """Copy a file that is here already."""
    try:
        with source.open("rb") as stream:
            return (yield from _write(_limited(stream, path, limit), path))
    except OSError as error:
        _damaged(source, f"cannot read: {_reason(error)}", "check the path")


def _limited(stream: IO[bytes], path: Path, limit: int) -> Iterator[bytes]:
    """Yield the blocks of a file; more than so many bytes are an error."""
    done = 0
    while block := stream.read(_BLOCK):
        done += len(block)
        if done > limit:
            raise OutputError(f"'{path.name}' has more than {limit:,} bytes")
        yield block


def _damaged(archive: Path, message: str, hint: str = "") -> NoReturn:
    raise InputError(Problem(Place(str(archive)), message, hint=hint)) from None


def file_sum(path: Path) -> str:
    """Return the SHA-256 sum of a file."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        message = f"cannot read: {_reason(error)}"
        raise InputError(Problem(Place(str(path)), message, hint="check the path")) from None


def read_sums(folder: Path) -> dict[str, str]:
    """Return the sums that were kept in a folder: none where nothing was downloaded yet."""
    path = folder / SUMS
    if not path.exists():
        return {}
    try:
        sums = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        sums = None
    if not isinstance(sums, dict) or not all(
        isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) for value in sums.values()
    ):
        raise InputError(
            Problem(
                Place(str(path)),
                "not a table of SHA-256 sums",
                hint="remove it to trust the files as they are now",
            )
        )
    return sums


def write_sums(folder: Path, sums: dict[str, str]) -> None:
    """Keep the sums of the files in a folder."""
    write_text(folder / SUMS, json.dumps(sums, indent=1, sort_keys=True) + "\n")
