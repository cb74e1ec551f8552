"""Whether the files that a config names are there."""

from __future__ import annotations

from pathlib import Path

from genesig.data.files.content import absent
from genesig.data.files.names import is_fetched, named_files
from genesig.data.study.labels.record import Config
from genesig.errors import InvalidInput, Problem


def check_files(config: Config) -> None:
    """Refuse names of files that are not there, but for a series that the study downloads.

    Snakemake leaves out a rule whose inputs are missing where its outputs are still there: after a
    wrong name, an earlier study's results were reported as this one's.

    Raises
    ------
    InvalidInput
    """
    names = dict.fromkeys(name for _, name in named_files(config))
    gone = [Path(name) for name in names if not Path(name).exists() and not is_fetched(name)]
    if gone:
        raise InvalidInput([Problem(str(path), absent(path)) for path in gone])
