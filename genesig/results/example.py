"""The studies that come with genesig, laid out in a folder of the user."""

from __future__ import annotations

import filecmp
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from genesig.errors import refuse
from genesig.results.files import whole_file
from genesig.workflow import home


def lay_out(names: Iterable[str]) -> None:
    """Copy shipped files to the same places below the folder that the process is in.

    Parameters
    ----------
    names : iterable of str
        Files and folders as seen from `home`; what is not shipped is left out, what is there
        already and the same stays.

    Raises
    ------
    InvalidInput
        Another file is in a place; then nothing is copied.
    """
    files = [file for name in names for file in _files(name)]
    for file in files:
        if file.exists() and not filecmp.cmp(home() / file, file, shallow=False):
            what = "is not the example's, and is not written over; go to an empty folder"
            raise refuse(file, what)
    for file in files:
        if not file.exists():
            with whole_file(file) as part:
                shutil.copyfile(home() / file, part)


def _files(name: str) -> Iterator[Path]:
    """Yield a shipped file, or those of a shipped folder."""
    place = home() / name
    for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
        if file.is_file() and file.is_relative_to(home()):
            yield file.relative_to(home())
