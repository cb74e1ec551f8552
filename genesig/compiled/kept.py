"""Compiled code is kept in the user's cache, by the content of its sources.

The next clone of the same version, or its next environment, compiles nothing anew.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
import numba.core.caching

HERE = Path(__file__).parent
VERSIONS = 8
"""Contents whose code is kept, the last ones that were compiled."""
IndexDataCacheFile: Any = numba.core.caching.IndexDataCacheFile


def content() -> str:
    """Return the SHA-256 of all files of this folder: what any entry point is made from."""
    whole = hashlib.sha256()
    for file in sorted(HERE.glob("*.py")):
        text = file.read_bytes()
        whole.update(f"{file.name} {len(text)}\n".encode() + text)
    return whole.hexdigest()


def home() -> Path:
    """Return the folder of compiled code: numba's own where the user names one."""
    named = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    cache = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    return Path(named or cache, "genesig", "compiled")


class Kept(IndexDataCacheFile):  # type: ignore[misc]
    """The file of one entry point; what cannot be written or read is compiled again."""

    def save(self, key: Any, data: Any) -> None:
        """Save the code, unless the place is full or read-only."""
        with suppress(OSError):
            folder = Path(self._cache_path)
            if not folder.is_dir():
                folder.mkdir(mode=0o700, parents=True)
                forget(folder.parent)
            super().save(key, data)

    def load(self, key: Any) -> Any:
        """Return the code, or None where there is none or the file is damaged."""
        with suppress(Exception):
            return super().load(key)
        return None


def forget(folder: Path) -> None:
    """Delete the code of all contents but the last ones."""
    with suppress(OSError):
        found = sorted(folder.iterdir(), key=lambda place: place.stat().st_mtime)
        for old in found[:-VERSIONS]:
            shutil.rmtree(old, ignore_errors=True)


def keep(made: Any, digest: str) -> None:
    """Give a compiled function, made with a cache, its place in the user's."""
    name = made._cache._impl.filename_base
    made._cache._cache_path = str(home() / digest[:20])
    made._cache._cache_file = Kept(made._cache._cache_path, name, digest)
