"""Which files of the package a script needs, and whether they are still the same."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from pathlib import Path

BESIDE = {".css", ".j2", ".js"}
"""Files of a page; they belong to the modules beside them."""

# Of the text and not of its syntax tree, which takes a second for the whole package.
IMPORT = re.compile(
    r"^ *(?:from (genesig[\w.]*) import (\([^)]*\)|[^\n]*)|import (genesig[\w.]*))", re.M
)
NAME = re.compile(r"(?:^|,)[\s(]*(\w+)")


@cache
def sources(script: Path, root: Path) -> tuple[Path, ...]:
    """Return every file of genesig that a script imports, at its top or anywhere inside.

    Parameters
    ----------
    script : Path
    root : Path
        The folder that holds the package.
    """
    found: set[Path] = set()
    waiting = list(_imported(script, root))
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += _imported(module, root)
    return tuple(sorted(found.union(*(_beside(folder) for folder in {f.parent for f in found}))))


def sources_digest(script: Path, root: Path) -> str:
    """Return the SHA-256 of a script's modules, to be compared with that of an earlier run.

    Snakemake notices an edited script but no edited module, so the rules take this as a parameter.
    Only names below `root` and contents count: a copy of the same version has the same digest.

    Parameters
    ----------
    script : Path
    root : Path
        The folder that holds the package.
    """
    lines = [f"{_digest(file)} {file.relative_to(root)}\n" for file in sources(script, root)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@cache
def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@cache
def _imported(file: Path, root: Path) -> tuple[Path, ...]:
    """Return the modules that one file imports, with the packages they are in."""
    names = {part for name in _names(file) for part in accumulate(name.split("."), "{}/{}".format)}
    modules = _modules(root)
    return tuple(modules[name] for name in names & modules.keys())


@cache
def _modules(root: Path) -> dict[str, Path]:
    """Return the file of each module and package by its place: to ask the disk for each is slow."""
    files = {str(f.relative_to(root).with_suffix("")): f for f in (root / "genesig").rglob("*.py")}
    return {name.removesuffix("/__init__"): file for name, file in files.items()}


@cache
def _beside(folder: Path) -> set[Path]:
    return {file for file in folder.iterdir() if file.suffix in BESIDE}


def _names(file: Path) -> Iterator[str]:
    """Give what may be a module of genesig; `from a import b` may mean a module b or a name."""
    for source, names, whole in IMPORT.findall(file.read_text(encoding="utf-8")):
        yield from [whole] if whole else (f"{source}.{name}" for name in NAME.findall(names))
