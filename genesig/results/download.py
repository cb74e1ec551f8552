"""A file from the network: under its own name only when it is whole, resumed where it broke off."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from genesig.errors import InvalidInput, refuse
from genesig.results.files import save_text

TIMEOUT = 60.0
CHUNK = 1 << 16


def read_page(url: str) -> str:
    """Read a small page, such as the listing of a folder.

    Raises
    ------
    InvalidInput
        It is not there, or there is no network.
    """
    try:
        with urlopen(url, timeout=TIMEOUT) as answer:  # the address is the user's own setting
            return str(answer.read().decode("utf-8", errors="replace"))
    except (OSError, HTTPException, ValueError) as error:
        raise _refuse(url, error) from None


def download(url: str, path: Path) -> str:
    """Download to ``path.part`` and return that file's SHA-256; `keep` gives it its name.

    A part that an earlier call left is gone on with, where the server can.

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
    have = part.stat().st_size if part.exists() else 0
    headers = {"Range": f"bytes={have}-"} if have else {}
    try:
        with urlopen(Request(url, headers=headers), timeout=TIMEOUT) as answer:
            have = have if answer.status == 206 else 0
            expected = have + int(answer.headers.get("Content-Length") or 0)
            with part.open("ab" if have else "wb") as stream:
                while block := answer.read(CHUNK):
                    stream.write(block)
    except HTTPError as error:
        if error.code == 416:  # more is there than the server has: of another version
            part.unlink()
            return download(url, path)
        raise _refuse(url, error) from None
    except (OSError, HTTPException) as error:
        raise _refuse(url, error) from None
    size = part.stat().st_size
    if size < expected:
        what = f"broke off after {size} of {expected} bytes; run again, it goes on from there"
        raise refuse(url, what)
    return hashlib.sha256(part.read_bytes()).hexdigest()


def part_of(path: Path) -> Path:
    """Return where the unfinished file lies."""
    return path.with_name(path.name + ".part")


def is_gzip(path: Path) -> bool:
    """Tell whether the whole download can be unpacked."""
    try:
        with gzip.open(part_of(path)) as stream:
            while stream.read(CHUNK):
                pass
    except (OSError, EOFError, zlib.error):
        return False
    return True


def keep(path: Path, digest: str) -> None:
    """Give a whole download its name, and write its SHA-256 beside it as ``sha256sum`` does."""
    part_of(path).replace(path)
    save_text(path.with_name(path.name + ".sha256"), f"{digest}  {path.name}\n")


def discard(path: Path) -> None:
    """Throw away what came so far."""
    part_of(path).unlink(missing_ok=True)


def _refuse(url: str, error: Exception) -> InvalidInput:
    if isinstance(error, HTTPError):
        what = f"the server answers {error.code} ({error.reason})"
        what += "; is the accession right, and public?" if error.code == 404 else "; try later"
    elif isinstance(error, ValueError):
        what = "is no address; it begins with https://"
    else:
        why = error.reason if isinstance(error, URLError) else str(error) or type(error).__name__
        what = f"cannot be reached ({why}); try later, or download the file in a browser"
    return refuse(url, what)
