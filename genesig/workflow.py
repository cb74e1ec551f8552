"""Where the workflow is, in a clone and in a wheel, and how it is started."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from genesig.errors import GenesigError
from genesig.machine import check_writable

PACKAGE = Path(__file__).parent
SHIPPED = PACKAGE / "shipped"
"""Where a wheel holds workflow, config and resources (pyproject.toml)."""

ALLOTTED = ("--cores", "-c", "--jobs", "-j", "--executor", "-e", "--profile", "--workflow-profile")
"""Options of Snakemake after which it is not for genesig to say how many cores are used."""

NO_CORES = re.compile(r"(--cores|-c|--jobs|-j)=?0+(=.*)?")
"""With none of them Snakemake waits for ever."""

EVERY = re.compile(r"(--cores)=-1")

OWN = {
    **dict.fromkeys(("--configfile", "--configfiles"), "configs are named first"),
    **dict.fromkeys(("--snakefile", "-s"), "the workflow is genesig's own"),
    **dict.fromkeys(("--directory", "-d"), "go into the study's folder first (cd)"),
}
"""Options of Snakemake that would run something else than what was validated."""


def home() -> Path:
    """Return the folder of workflow, config and resources."""
    return SHIPPED if SHIPPED.is_dir() else PACKAGE.parent


def command(configs: Sequence[str], options: Sequence[str] = ()) -> list[str]:
    """Return the command that runs a study in the folder it is called in.

    Parameters
    ----------
    configs : sequence of str
        Each stands on top of those before it.
    options : sequence of str
        Of Snakemake. Where none of them says how much may run at a time, every core is used.

    Raises
    ------
    GenesigError
        An option would run something else; what is written has no place here.
    """
    for option in options:
        if why := OWN.get(option.partition("=")[0]):
            raise GenesigError(f"{option}: genesig run takes no such option: {why}")
    if nothing := next(filter(NO_CORES.fullmatch, map("=".join, pairwise([*options, ""]))), None):
        raise GenesigError(f"{nothing.rstrip('=')}: a run needs a core; give 1 or more, or all")
    options = _every_core(options)
    check_writable(str(Path.cwd()), "results", "logs")
    options = [_of_workflow(word, follower) for word, follower in pairwise([*options, ""])]
    said = any(option.startswith(ALLOTTED) for option in options)
    # The configs come last but one: Snakemake's --configfile takes all words up to an option.
    line = [
        sys.executable,
        "-m",
        "snakemake",
        "--snakefile",
        str(home() / "workflow" / "Snakefile"),
    ]
    return [*line, "--configfile", *configs, *(() if said else ("--cores", "all")), *options]


def _every_core(options: Sequence[str]) -> list[str]:
    """Write -1, which other programs take for all cores, as Snakemake does."""
    words = [EVERY.sub(r"\1=all", word) for word in options]
    return [
        "all" if word == "-1" and before in ("--cores", "-c") else word
        for before, word in pairwise(["", *words])
    ]


def _of_workflow(option: str, follower: str) -> str:
    """Name a profile that comes with genesig as Snakemake does, where the user has none like it.

    Those of ``--profile`` it seeks in the user's folders alone.
    """
    word, _, name = option.partition("=")
    name = name or follower
    if word != "--profile" or not name or not (home() / "workflow" / "profiles" / name).is_dir():
        return option
    folders = ("", "/etc/xdg/snakemake", f"{os.environ.get('HOME', '')}/.config/snakemake")
    own = any(Path(folder, name).exists() for folder in folders)
    return option if own else option.replace("--", "--workflow-", 1)


def environment() -> dict[str, str]:
    """Return this environment, made safe from a file of the study that is named like a module."""
    return {**os.environ, "PYTHONSAFEPATH": "1"}
