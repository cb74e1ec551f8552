"""Which files of the package a script needs."""

from __future__ import annotations

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

    Snakemake sees an edited script but not an edited module; as inputs of its rule, the modules
    rerun just what depends on them.

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
    beside = {file for each in found for file in each.parent.iterdir() if file.suffix in BESIDE}
    return tuple(sorted(found | beside))


@cache
def _imported(file: Path, root: Path) -> tuple[Path, ...]:
    """Return the modules that one file imports, with the packages they are in."""
    names = {part for name in _names(file) for part in accumulate(name.split("."), "{}/{}".format)}
    places = [root / f"{name}{end}" for name in names for end in (".py", "/__init__.py")]
    return tuple(place for place in places if place.is_file())


def _names(file: Path) -> Iterator[str]:
    """Give what may be a module of genesig; `from a import b` may mean a module b or a name."""
    for source, names, whole in IMPORT.findall(file.read_text(encoding="utf-8")):
        yield from [whole] if whole else (f"{source}.{name}" for name in NAME.findall(names))
