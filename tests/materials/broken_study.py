"""What a broken file is to the tests: a way to lay out a study, and the words of its one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml
from small_study import Study, write_files

# Lays a study with one broken file out in an empty folder, its config as config.yaml; the words
# that the one line about it holds.
Lay = Callable[[Path], None]
Broken = tuple[Lay, list[str]]
SMALL = {"folds": 2, "inner_folds": 2, "repeats": 1, "subsamples": 0}


def study(files: Mapping[str, bytes | str], config: Mapping[str, Any], words: list[str]) -> Broken:
    """Make a case of files, their config, and the words."""

    def lay(folder: Path) -> None:
        write_files(folder, {**files, "config.yaml": yaml.safe_dump({"splits": SMALL} | config)})

    return lay, words


def spoilt(change: Callable[[Study], object], words: list[str]) -> Broken:
    """Make a case of the small study, with one thing changed."""

    def lay(folder: Path) -> None:
        small = Study(folder)
        change(small)
        small.write()

    return lay, words
