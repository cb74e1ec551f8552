"""Folder of compiled code in the user's cache: one for each content of the kernel sources.

numba compares only the file of a kernel, and not the files of the functions that it calls.
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
RECORD_FILES = ("optim/cox/risk_sets.py",)
"""Files without a kernel that define a record which a kernel takes.

The code of that kernel depends on the record's fields and on their order.
"""
MAX_KEPT_CACHES = 8  # number of source contents whose compiled code is kept: the most recent ones
MIN_FREE_BYTES = 2**20  # free space that the folder must have: the size of a large compiled kernel


def kernel_sources() -> list[Path]:
    """Return the files on which compiled code depends, sorted.

    All files of ``compiled``, the files of ``optim`` that import from it, and `RECORD_FILES`.
    """
    compiled_files = (PACKAGE / "compiled").rglob("*.py")
    importing_files = [
        path
        for path in (PACKAGE / "optim").rglob("*.py")
        if b"\nfrom genesig.compiled" in path.read_bytes()
    ]
    record_files = [PACKAGE / name for name in RECORD_FILES]
    return sorted({*compiled_files, *importing_files, *record_files})


def source_digest() -> str:
    """Return the SHA-256 of all `kernel_sources`."""
    digest = hashlib.sha256()
    for source in kernel_sources():
        text = source.read_bytes()
        digest.update(f"{source.relative_to(PACKAGE)} {len(text)}\n".encode() + text)
    return digest.hexdigest()


def cache_folder() -> Path | None:
    """Return the cache folder of the current sources; None if it cannot be written.

    It is in numba's configured cache folder, or else in the user's cache.
    """
    configured = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    try:
        cache_home = configured or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        cache_path = Path(cache_home, "genesig", "compiled", source_digest()[:20])
        if not cache_path.is_dir():
            cache_path.mkdir(mode=0o700, parents=True, exist_ok=True)
            delete_old_caches(cache_path.parent)
        with tempfile.TemporaryFile(dir=cache_path) as file:
            file.write(bytes(MIN_FREE_BYTES))  # numba would end a run that it finds no room for
    except (OSError, RuntimeError):  # a RuntimeError if the user has no home
        return None
    return cache_path


def delete_old_caches(parent: Path) -> None:
    """Delete the code of all source contents but the most recent ones."""
    with suppress(OSError):
        by_age = sorted(parent.iterdir(), key=lambda cache_path: cache_path.stat().st_mtime)
        for old_cache in by_age[:-MAX_KEPT_CACHES]:
            shutil.rmtree(old_cache, ignore_errors=True)
