"""SHA-256 of what a run read and wrote, and what was changed since."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from genesig.errors import Problem, refuse


def sha256(path: str | Path) -> str:
    """Return the SHA-256 of a file's bytes, as they lie on disk; of a folder, that of its files."""
    path = Path(path)
    if path.is_dir():
        inside = sorted(each for each in path.rglob("*") if each.is_file())
        each = "".join(f"{sha256(file)}  {file.relative_to(path).as_posix()}\n" for file in inside)
        return hashlib.sha256(each.encode()).hexdigest()
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def checksums(paths: Iterable[str | Path], home: Path) -> dict[str, str]:
    """Return the SHA-256 of files, and of all files of folders, by their names below `home`."""
    files: set[Path] = set()
    for path in map(Path, paths):
        files |= {file for file in path.rglob("*") if file.is_file()} if path.is_dir() else {path}
    names = {file.relative_to(home).as_posix(): file for file in files}
    return {name: sha256(names[name]) for name in sorted(names)}


def changed(record: Any, home: Path, source: str) -> Iterator[Problem]:
    """Yield a problem for each result and each input that is not what the run wrote and read.

    Inputs are looked for beside the folder of results, where a study is run; one that is not there
    is no fault, as results may be kept without them.

    Parameters
    ----------
    record : JSON value
        Content of run.json.
    home : Path
        The folder that it lies in.
    source : str
        Its name in messages.

    Raises
    ------
    InvalidInput
        It is no record of a run.
    """
    yield from _written(_recorded(record, "results", source), home)
    inputs = record.get("inputs")
    for name, digest in inputs.items() if isinstance(inputs, dict) else ():
        path = Path(os.path.normpath(home / os.pardir / name))
        if _inside(name) and path.exists() and sha256(path) != digest:
            yield Problem(str(path), "is another file than the run read")


def changed_fits(record: Any, home: Path, source: str) -> Iterator[Problem]:
    """Yield a problem for each fit that is not what the run wrote, and each it has not written.

    As in `changed`. A folder of them that is gone as a whole, as where space was needed, is one; a
    record of an earlier version holds none.
    """
    if not isinstance(record, dict) or "fits" not in record:
        return
    known = _recorded(record, "fits", source)
    folders = sorted({PurePosixPath(name).parts[0] for name in known if "/" in name})
    gone = [folder for folder in folders if not (home / folder).is_dir()]
    for folder in gone:
        yield Problem(str(home / folder), "is gone; the run wrote its fits there")
    there = {n: d for n, d in known.items() if PurePosixPath(n).parts[0] not in gone}
    yield from _written(there, home)
    for folder in folders:
        for path in sorted((home / folder).rglob("*")):
            if path.is_file() and path.relative_to(home).as_posix() not in known:
                yield Problem(str(path), "is new; the run wrote no such file")


def _written(known: Mapping[str, str], home: Path) -> Iterator[Problem]:
    for name, digest in known.items():
        path = home / name
        if not path.is_file():
            yield Problem(str(path), "is gone; the run wrote it")
        elif sha256(path) != digest:
            yield Problem(str(path), "was changed after the run")


def _recorded(record: Any, key: str, source: str) -> Mapping[str, str]:
    """Return names and digests, once they are known to be such."""
    found = record.get(key) if isinstance(record, dict) else None
    if not isinstance(found, dict) or not found:
        what = "has no checksums of results; run the study again with this version"
        raise refuse(source, what)
    for name, digest in found.items():
        if not _inside(name) or not isinstance(digest, str):
            raise refuse(source, f"'{name}' is no file below the results; the record was changed")
    return found


def _inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts
