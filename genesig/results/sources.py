"""The files of the package that a script imports, and their digest."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from pathlib import Path

PAGE_SUFFIXES = {".css", ".j2", ".js"}
"""Suffixes of files of the report, which count as part of the modules in their folder."""

# Imports are found in the text: syntax trees of the whole package would take a second. The groups
# are package and names of ``from genesig.a import b, c``, or module of ``import genesig.a``.
IMPORT = re.compile(
    r"^ *(?:from (genesig[\w.]*) import (\([^)]*\)|[^\n]*)|import (genesig[\w.]*))", re.M
)
IMPORTED_NAME = re.compile(r"(?:^|,)[\s(]*(\w+)")  # each name of ``(b as x, c)``: b and c


@cache
def sources(script: Path, root: Path) -> tuple[Path, ...]:
    """Return every file of genesig that a script imports, at its top or anywhere inside.

    root: the folder that holds the package.
    """
    files: set[Path] = set()
    pending = list(_imported_files(script, root))
    while pending:
        module = pending.pop()
        if module not in files:
            files.add(module)
            pending += _imported_files(module, root)
    return tuple(
        sorted(files.union(*(_page_files(folder) for folder in {f.parent for f in files})))
    )


def sources_digest(script: Path, root: Path) -> str:
    """Return the SHA-256 of a script's modules, to be compared with that of an earlier run.

    Snakemake notices an edited script but no edited module, so the rules take this as a parameter.
    Only names below `root` and contents count: a copy of the same version has the same digest.

    root: the folder that holds the package.
    """
    lines = [f"{_digest(file)} {file.relative_to(root)}\n" for file in sources(script, root)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@cache
def _digest(file: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


@cache
def _imported_files(file: Path, root: Path) -> tuple[Path, ...]:
    """Return the modules that one file imports, with the packages they are in."""
    # genesig.data.files is in the packages genesig, genesig/data and genesig/data/files.
    names = {
        package
        for name in _imported_names(file)
        for package in accumulate(name.split("."), "{}/{}".format)
    }
    modules = _file_of_module(root)
    return tuple(modules[name] for name in names & modules.keys())


@cache
def _file_of_module(root: Path) -> dict[str, Path]:
    """Return the file of each module and package by its path without suffix, ``genesig/data``."""
    files = {
        str(file.relative_to(root).with_suffix("")): file
        for file in (root / "genesig").rglob("*.py")
    }
    return {name.removesuffix("/__init__"): file for name, file in files.items()}


@cache
def _page_files(folder: Path) -> set[Path]:
    """Return the style sheets, templates and scripts of the page in a folder; mostly none."""
    return {file for file in folder.iterdir() if file.suffix in PAGE_SUFFIXES}


def _imported_names(file: Path) -> Iterator[str]:
    """Yield names that may be modules of genesig; b of `from a import b` may be one, too."""
    for source, names, imported_module in IMPORT.findall(file.read_text(encoding="utf-8")):
        yield from (
            [imported_module]
            if imported_module
            else (f"{source}.{name}" for name in IMPORTED_NAME.findall(names))
        )
