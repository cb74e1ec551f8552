"""Where compiled code is kept: a folder of the user's cache for each content of the sources.

numba looks at the file of a function alone, and not at those of the functions that it calls.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import numba

PACKAGE = Path(__file__).parents[1]
ROOMS = ("compiled", "optim")
"""Where kernels are."""
VERSIONS = 8
"""Contents whose code is kept, the last ones that were compiled."""
SIZE = 2**20
"""Bytes of the code of an entry point, or more; a place without them is not used."""


def content() -> str:
    """Return the SHA-256 of all sources with a kernel, or with a record that it may be given."""
    whole = hashlib.sha256()
    for file in sorted(path for room in ROOMS for path in (PACKAGE / room).rglob("*.py")):
        text = file.read_bytes()
        if b"genesig.compiled" in text or b"NamedTuple" in text:
            whole.update(f"{file.relative_to(PACKAGE)} {len(text)}\n".encode() + text)
    return whole.hexdigest()


def folder() -> Path | None:
    """Return the folder of this content, or None where nothing can be kept.

    It is in the place that the user names for numba, or else in the user's cache.
    """
    named = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    home = named or os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    place = Path(home, "genesig", "compiled", content()[:20])
    try:
        if not place.is_dir():
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            forget(place.parent)
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(bytes(SIZE))  # numba would end a run that it finds no room for
    except OSError:
        return None
    return place


def forget(kept: Path) -> None:
    """Delete the code of all contents but the last ones."""
    with suppress(OSError):
        found = sorted(kept.iterdir(), key=lambda place: place.stat().st_mtime)
        for old in found[:-VERSIONS]:
            shutil.rmtree(old, ignore_errors=True)
