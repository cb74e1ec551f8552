"""Downloads: a file gets its name when it is complete, and a broken download is resumed."""

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

from genesig.errors import InvalidInput, Problem, input_error
from genesig.results.files import save_text

T = TypeVar("T")

TIMEOUT_SECONDS = 60.0
# Seconds before the second, third and fourth try.
RETRY_WAITS = (1.0, 2.0, 4.0)
CHUNK_BYTES = 1 << 16


def read_page(url: str) -> str:
    """Read a small page, such as the listing of a folder.

    Raises InvalidInput: the page does not exist, or there is no network.
    """

    def read_once() -> str:
        with urlopen(url, timeout=TIMEOUT_SECONDS) as response:
            return str(response.read().decode("utf-8", errors="replace"))

    return _try_repeatedly(url, read_once)


class AbsentFile(InvalidInput):
    """The server has no such file."""


class _IncompleteDownload(HTTPException):
    """A download that ended too early."""


def _try_repeatedly(url: str, action: Callable[[], T], attempt: int = 1) -> T:
    """Return the result of an action, repeated after `RETRY_WAITS` if an error may be temporary.

    `attempt` counts from 1.

    Raises InvalidInput: with the error of the last attempt.
    """
    try:
        return action()
    except (OSError, HTTPException, ValueError) as error:
        if isinstance(error, HTTPError):
            error.close()
        if attempt > len(RETRY_WAITS) or not _is_temporary(error):
            raise _network_error(url, error) from None
    sleep(RETRY_WAITS[attempt - 1])
    return _try_repeatedly(url, action, attempt + 1)


def _is_temporary(error: Exception) -> bool:
    """Tell whether a download that failed may succeed later."""
    if isinstance(error, HTTPError):
        return error.code >= 500 or error.code in (408, 429)
    return isinstance(error, URLError | TimeoutError | ConnectionError | HTTPException)


def download(url: str, path: Path) -> str:
    """Download to ``path.part`` and return that file's SHA-256.

    A part from an earlier call or attempt is continued, if the server supports this.

    Raises InvalidInput: the file does not exist, or the download broke off; its part is kept.
    """
    part_path = part_path_of(path)
    try:
        part_path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"is no folder that can be written to: {error.strerror}; name another one"
        raise input_error(path.parent, message) from None
    _try_repeatedly(url, partial(_resume, url, part_path))
    with part_path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _resume(url: str, part_path: Path) -> None:
    """Append the missing bytes of a file to its part, or write all if the server sends all."""
    n_present = part_path.stat().st_size if part_path.exists() else 0
    headers = {"Range": f"bytes={n_present}-"} if n_present else {}
    try:
        response = urlopen(Request(url, headers=headers), timeout=TIMEOUT_SECONDS)
    except HTTPError as error:
        if error.code != 416 or not n_present:
            raise
        error.close()
        part_path.unlink()  # the part is longer than the file, so it is of another version
        return _resume(url, part_path)
    with response, part_path.open("ab" if response.status == 206 else "wb") as stream:
        n_present = n_present if response.status == 206 else 0
        expected = n_present + int(response.headers.get("Content-Length") or 0)
        while block := response.read(CHUNK_BYTES):
            stream.write(block)
    if (n_bytes := part_path.stat().st_size) < expected:
        raise _IncompleteDownload(
            f"broke off after {n_bytes} of {expected} bytes; run again, it goes on from there"
        )


def part_path_of(path: Path) -> Path:
    """Return the path of the unfinished download."""
    return path.with_name(path.name + ".part")


def download_gzip(url: str, path: Path) -> None:
    """Download a gzip file under its own name, with its SHA-256 beside it.

    Raises AbsentFile: the server has no such file, or returns a page of text.
    Raises InvalidInput: the download broke off (its part is kept), or is not a valid gzip file.
    """
    digest = download(url, path)
    if not _is_gzip(path):
        message = "came whole but is no sound gzip file; it was thrown away, run again"
        error_type = AbsentFile if _is_page(path) else InvalidInput
        part_path_of(path).unlink()
        raise error_type([Problem(url, message)])
    part_path_of(path).replace(path)
    # as ``sha256sum`` writes it
    save_text(path.with_name(path.name + ".sha256"), f"{digest}  {path.name}\n")


def _is_page(path: Path) -> bool:
    """Tell whether the download is a page of text, such as "not found" in HTML."""
    with part_path_of(path).open("rb") as stream:
        return stream.read(64).lstrip().startswith(b"<")


def _is_gzip(path: Path) -> bool:
    """Tell whether the whole download can be unpacked."""
    try:
        with gzip.open(part_path_of(path)) as stream:
            while stream.read(CHUNK_BYTES):
                pass
    except (OSError, EOFError, zlib.error):
        return False
    return True


def check_download_digest(path: Path) -> None:
    """Raise if a file differs from the SHA-256 beside it; a file without one is the user's own.

    Raises InvalidInput: the file is not the one that was downloaded.
    """
    digest_path = path.with_name(path.name + ".sha256")
    digest_words = digest_path.read_text(errors="replace").split() if digest_path.is_file() else []
    if not digest_words or not re.fullmatch("[0-9a-f]{64}", digest_words[0]):
        return
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest_words[0] != digest:
        message = (
            f"is not the file that was downloaded: its SHA-256 is not that in {digest_path.name}; "
        )
        raise input_error(
            path, message + "remove both and fetch it again, or the latter to keep yours"
        )


def _network_error(url: str, error: Exception) -> InvalidInput:
    """Return the error for the user after a failed download: `AbsentFile` at 404 and 410."""
    if isinstance(error, _IncompleteDownload):
        message = str(error)
    elif isinstance(error, HTTPError):
        message = f"the server answers {error.code} ({error.reason})"
        message += "; is the accession right, and public?" if error.code == 404 else "; try later"
    elif isinstance(error, ValueError):
        message = "is no address; it begins with https://"
    else:
        reason = error.reason if isinstance(error, URLError) else str(error) or type(error).__name__
        message = f"cannot be reached ({reason}); try later, or download the file in a browser"
    is_absent = isinstance(error, HTTPError) and error.code in (404, 410)
    return AbsentFile([Problem(url, message)]) if is_absent else input_error(url, message)
