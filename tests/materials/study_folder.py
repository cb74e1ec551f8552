"""The shipped study in a folder of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

from places import ROOT

PARTS = ("Snakefile", "profiles", "workflow", "genesig", "config", "resources")


def lay_out(folder: Path) -> None:
    """Copy what the study needs, without results of earlier runs."""
    for part in PARTS:
        source = ROOT / part
        if source.is_dir() and not source.is_symlink():
            shutil.copytree(source, folder / part)
        else:
            shutil.copy(source, folder / part, follow_symlinks=False)
