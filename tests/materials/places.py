"""Paths of the checkout, a copy of the shipped study, and genesig as a wheel installs it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

# Where things are, as seen from the tests.

ROOT = Path(__file__).parents[2]
SHARED = ROOT / ".." / "shared" / "data"
TESTS = ROOT / "tests"
SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"


# The shipped study in a folder of its own.

PROJECT_PARTS = ("Snakefile", "profiles", "workflow", "genesig", "config", "resources")


def lay_out(folder: Path) -> None:
    """Link what the study needs, without results of earlier runs."""
    for part in PROJECT_PARTS:
        (folder / part).symlink_to(ROOT / part)


# genesig as a wheel installs it: the package with the workflow inside, far from any clone.

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WHEEL = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]


def place(file: str) -> str:
    """Return where the wheel holds a file of the clone, by the table of pyproject.toml."""
    top, *subfolders = file.split("/")
    return "/".join([WHEEL["sources"].get(top, top), *subfolders])


def lay_out_installed(site: Path) -> Path:
    """Copy what a wheel holds to where it holds it."""
    for part in WHEEL["only-include"]:
        shutil.copytree(
            ROOT / part, site / place(part), ignore=shutil.ignore_patterns("__pycache__")
        )
    return site


def genesig(site: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Call the installed genesig in a folder."""
    environment_kept = {
        k: v for k, v in os.environ.items() if not k.startswith(("SNAKEMAKE", "COV_"))
    }
    return subprocess.run(
        [sys.executable, "-P", "-m", "genesig.cli", *arguments],
        cwd=cwd,
        env={**environment_kept, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )
