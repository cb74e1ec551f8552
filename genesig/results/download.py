"""A file from the network: under its own name only when it is whole, resumed where it broke off."""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from collections.abc import Callable
from functools import partial
from http.client import HTTPException
from pathlib import Path
from time import sleep
from typing import TypeVar
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from genesig.errors import InvalidInput, Problem, refuse
from genesig.results.files import save_text

T = TypeVar("T")

TIMEOUT = 60.0
# Seconds before the second, third and fourth try.
WAITS = (1.0, 2.0, 4.0)
CHUNK = 1 << 16


def read_page(url: str) -> str:
    """Read a small page, such as the listing of a folder.

    Raises
    ------
    InvalidInput
        It is not there, or there is no network.
    """

    def once() -> str:
        with urlopen(url, timeout=TIMEOUT) as answer:  # the address is the user's own setting
            return str(answer.read().decode("utf-8", errors="replace"))

    return _tried(url, once)


class AbsentFile(InvalidInput):
    """The server answers, and has no such file."""


class _BrokenOff(HTTPException):
    """A download that ended too early."""


def _tried(url: str, once: Callable[[], T], tries: int = 1) -> T:
    """Try again, after `WAITS`, where the reason may pass; `tries` counts from 1.

    Raises
    ------
    InvalidInput
        With what the last try met.
    """
    try:
        return once()
    except (OSError, HTTPException, ValueError) as error:
        if isinstance(error, HTTPError):
            error.close()
        if tries > len(WAITS) or not _may_pass(error):
            raise _refuse(url, error) from None
    sleep(WAITS[tries - 1])
    return _tried(url, once, tries + 1)


def _may_pass(error: Exception) -> bool:
    if isinstance(error, HTTPError):
        return error.code >= 500 or error.code in (408, 429)
    return isinstance(error, URLError | TimeoutError | ConnectionError | HTTPException)


def download(url: str, path: Path) -> str:
    """Download to ``path.part`` and return that file's SHA-256.

    A part that an earlier call, or an earlier try of this one, left is gone on with, where the
    server can.

    Raises
    ------
    InvalidInput
        It is not there, or broke off; what came so far is kept.
    """
    part = part_of(path)
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"is no folder that can be written to: {error.strerror}; name another one"
        raise refuse(path.parent, what) from None
    _tried(url, partial(_go_on, url, part))
    with part.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _go_on(url: str, part: Path) -> None:
    have = part.stat().st_size if part.exists() else 0
    headers = {"Range": f"bytes={have}-"} if have else {}
    try:
        answer = urlopen(Request(url, headers=headers), timeout=TIMEOUT)
    except HTTPError as error:
        if error.code != 416 or not have:
            raise
        error.close()
        part.unlink()  # more is there than the server has: of another version
        return _go_on(url, part)
    with answer, part.open("ab" if answer.status == 206 else "wb") as stream:
        have = have if answer.status == 206 else 0
        expected = have + int(answer.headers.get("Content-Length") or 0)
        while block := answer.read(CHUNK):
            stream.write(block)
    if (size := part.stat().st_size) < expected:
        raise _BrokenOff(
            f"broke off after {size} of {expected} bytes; run again, it goes on from there"
        )


def part_of(path: Path) -> Path:
    """Return where the unfinished file lies."""
    return path.with_name(path.name + ".part")


def download_gzip(url: str, path: Path) -> None:
    """Download a gzip file under its own name, with its SHA-256 beside it.

    Raises
    ------
    AbsentFile
        The server has no such file, or answers with a page of text.
    InvalidInput
        It broke off, in which case a part is kept; or it is no sound gzip file.
    """
    digest = download(url, path)
    if not _is_gzip(path):
        message = "came whole but is no sound gzip file; it was thrown away, run again"
        error_type = AbsentFile if _is_page(path) else InvalidInput
        part_of(path).unlink()
        raise error_type([Problem(url, message)])
    _keep(path, digest)


def _is_page(path: Path) -> bool:
    """Tell whether the download is a page of text, such as "not found" in HTML."""
    with part_of(path).open("rb") as stream:
        return stream.read(64).lstrip().startswith(b"<")


def _is_gzip(path: Path) -> bool:
    """Tell whether the whole download can be unpacked."""
    try:
        with gzip.open(part_of(path)) as stream:
            while stream.read(CHUNK):
                pass
    except (OSError, EOFError, zlib.error):
        return False
    return True


def _keep(path: Path, digest: str) -> None:
    """Give a whole download its name, and write its SHA-256 beside it as ``sha256sum`` does."""
    part_of(path).replace(path)
    save_text(path.with_name(path.name + ".sha256"), f"{digest}  {path.name}\n")


def check_kept(path: Path) -> None:
    """Check a download against the SHA-256 that lies beside it; a file without one is the user's.

    Raises
    ------
    InvalidInput
        The file is not the one that was downloaded.
    """
    beside = path.with_name(path.name + ".sha256")
    noted = beside.read_text(errors="replace").split() if beside.is_file() else []
    if not noted or not re.fullmatch("[0-9a-f]{64}", noted[0]):
        return
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if noted[0] != digest:
        what = f"is not the file that was downloaded: its SHA-256 is not that in {beside.name}; "
        raise refuse(path, what + "remove both and fetch it again, or the latter to keep yours")


def _refuse(url: str, error: Exception) -> InvalidInput:
    if isinstance(error, _BrokenOff):
        what = str(error)
    elif isinstance(error, HTTPError):
        what = f"the server answers {error.code} ({error.reason})"
        what += "; is the accession right, and public?" if error.code == 404 else "; try later"
    elif isinstance(error, ValueError):
        what = "is no address; it begins with https://"
    else:
        why = error.reason if isinstance(error, URLError) else str(error) or type(error).__name__
        what = f"cannot be reached ({why}); try later, or download the file in a browser"
    is_absent = isinstance(error, HTTPError) and error.code in (404, 410)
    return AbsentFile([Problem(url, what)]) if is_absent else refuse(url, what)
