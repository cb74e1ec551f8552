"""Find the workflow in a clone or in a wheel, and write the command that runs it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from genesig.errors import GenesigError
from genesig.machine import check_writable

PACKAGE_FOLDER = Path(__file__).parent
# folder of workflow, config and resources in a wheel (pyproject.toml)
SHIPPED_FOLDER = PACKAGE_FOLDER / "shipped"

# options of Snakemake that decide how many cores are used
CORE_OPTIONS = (
    "--cores",
    "-c",
    "--jobs",
    "-j",
    "--executor",
    "-e",
    "--profile",
    "--workflow-profile",
)

# --cores=0, -j0 or "--cores=0=NEXT WORD" (two words joined): Snakemake would wait for ever
ZERO_CORES = re.compile(r"(--cores|-c|--jobs|-j)=?0+(=.*)?")

# options of Snakemake that would run another study than the validated one, with the reason
REFUSED_OPTIONS = {
    **dict.fromkeys(("--configfile", "--configfiles"), "configs are named first"),
    **dict.fromkeys(("--snakefile", "-s"), "the workflow is genesig's own"),
    **dict.fromkeys(("--directory", "-d"), "go into the study's folder first (cd)"),
}


def shipped_folder() -> Path:
    """Return the folder of workflow, config and resources."""
    return SHIPPED_FOLDER if SHIPPED_FOLDER.is_dir() else PACKAGE_FOLDER.parent


def run_command(configs: Sequence[str], options: Sequence[str] = ()) -> list[str]:
    """Return the command that runs a study in the current folder.

    `configs` are in the order of their precedence: each overrides those before it. `options` are
    Snakemake's; unless they limit cores or jobs, every core is used. Raises GenesigError for an
    option that would run another study, and if the folder cannot be written to.
    """
    for option in options:
        if reason := REFUSED_OPTIONS.get(option.partition("=")[0]):
            raise GenesigError(f"{option}: genesig run takes no such option: {reason}")
    # Each word with the next one, as "--cores=0" and ["--cores", "0"] are the same option.
    words_and_next = map("=".join, pairwise([*options, ""]))
    zero_cores = next(filter(ZERO_CORES.fullmatch, words_and_next), None)
    if zero_cores is not None:
        raise GenesigError(f"{zero_cores.rstrip('=')}: a run needs a core; give 1 or more, or all")
    options = _write_all_cores(options)
    check_writable(str(Path.cwd()), "results", "logs")
    options = [_shipped_profile(word, next_word) for word, next_word in pairwise([*options, ""])]
    has_cores = any(option.startswith(CORE_OPTIONS) for option in options)
    # The configs come last but one: Snakemake's --configfile takes all words up to an option.
    command_line = [
        sys.executable,
        "-m",
        "snakemake",
        "--snakefile",
        str(shipped_folder() / "workflow" / "Snakefile"),
    ]
    return [
        *command_line,
        "--configfile",
        *configs,
        *(() if has_cores else ("--cores", "all")),
        *options,
    ]


def _write_all_cores(options: Sequence[str]) -> list[str]:
    """Return the words with "all" for -1, which other programs take for all cores."""
    words = ["--cores=all" if word == "--cores=-1" else word for word in options]
    return [
        "all" if word == "-1" and previous in ("--cores", "-c") else word
        for previous, word in pairwise(["", *words])
    ]


def _shipped_profile(option: str, next_word: str) -> str:
    """Return the option, with --workflow-profile for --profile if the profile is genesig's.

    A profile of the user with the same name stays: Snakemake looks for a ``--profile`` in the
    user's folders only. next_word: word behind the option, which may be its value; "" at the end.
    """
    word, _, name = option.partition("=")
    name = name or next_word
    if (
        word != "--profile"
        or not name
        or not (shipped_folder() / "workflow" / "profiles" / name).is_dir()
    ):
        return option
    folders = ("", "/etc/xdg/snakemake", f"{os.environ.get('HOME', '')}/.config/snakemake")
    is_own_profile = any(Path(folder, name).exists() for folder in folders)
    return option if is_own_profile else option.replace("--", "--workflow-", 1)


def run_environment() -> dict[str, str]:
    """Return this environment, safe from files of the study that are named like a module."""
    return {**os.environ, "PYTHONSAFEPATH": "1"}
