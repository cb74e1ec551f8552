"""Names of files in a config: a home folder written out, a series of GEO as the file it becomes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeGuard
from urllib.parse import unquote

from genesig.data.files.geo_counts import fetch_counts
from genesig.errors import refuse
from genesig.results.download import check_download_digest, download_gzip, read_page
from genesig.words import listing

Config = dict[str, Any]

KEYS = (
    ("expression",),
    ("samples",),
    ("data", "annotation"),
    ("splits", "file"),
    ("nonlinear", "groups"),
    ("structured", "sets"),
    ("enrichment", "sets"),
    ("controls", "signatures"),
)
COHORT_KEYS = ("expression", "samples", "annotation", "renamed")
COHORTS = ("external", "studies")
SERIES = re.compile(r"(GSE\d+)(-GPL\d+)?", re.IGNORECASE)
ENDING = "_series_matrix.txt.gz"
# Where the rule `fetch` puts what it downloads.
FOLDER = "data/geo"
POOLED = "studies"
"""What stands in the place of a file's name where several studies are read."""


def series_file(series: str) -> str:
    """Return the file of a series: ``data/geo/GSE55235_series_matrix.txt.gz``."""
    return f"{FOLDER}/{series.upper()}{ENDING}"


def with_file_names(config: Config) -> Config:
    """Write out every name of a file in a config, in place.

    ``geo: GSE55235`` becomes the matrix, and the sample table where none is named; an accession in
    place of a file becomes the file of that series; ``~/`` becomes the home folder, as a shell
    would: no one else does it here.
    """
    geo = config.get("geo")
    if is_series(geo):
        config["expression"] = config.get("expression") or series_file(geo)
        config["samples"] = config.get("samples") or series_file(geo)
    if config.get("studies"):
        _name_studies(config)
    for section, key, _ in _places(config):
        section[key] = _file(section[key])
    return config


def _name_studies(config: Config) -> None:
    """Let several studies stand for matrix and sample table; a series of GEO names its own."""
    config.setdefault("expression", POOLED)
    config.setdefault("samples", POOLED)
    for item in config["studies"] if isinstance(config["studies"], list) else ():
        if isinstance(item, dict) and is_series(item.get("geo")):
            item["name"] = item.get("name") or item["geo"]
            item["expression"] = item.get("expression") or series_file(item["geo"])


def with_absolute_names(config: Config) -> Config:
    """Write every name of a file from the root, in place, so that it is good in any folder.

    The file of a series of GEO stays as it is: each study fetches its own.
    """
    for section, key, _ in _places(with_file_names(config)):
        if not is_fetched(section[key]):
            section[key] = str(Path(section[key]).absolute())
    return config


def is_series(name: Any) -> TypeGuard[str]:
    """Tell whether a value is an accession of GEO, with or without its platform."""
    return isinstance(name, str) and SERIES.fullmatch(name) is not None


def is_fetched(name: str) -> bool:
    """Tell whether the workflow downloads a file of this name where it is not there."""
    start = f"{FOLDER}/"
    end = ENDING
    return name.startswith(start) and name.endswith(end) and is_series(name[len(start) : -len(end)])


def named_files(config: Config) -> Iterator[tuple[str, str]]:
    """Yield the place of each name of a file in a config, as messages have it, and the name."""
    for section, key, place in _places(config):
        yield place, section[key]


def _places(config: Config) -> Iterator[tuple[Config, str, str]]:
    for *section, key in KEYS:
        place = config.get(section[0]) if section else config
        if isinstance(place, dict) and isinstance(place.get(key), str) and place[key] != POOLED:
            yield place, key, ".".join([*section, key])
    for of in COHORTS:
        cohorts = config.get(of)
        for number, cohort in enumerate(cohorts if isinstance(cohorts, list) else (), 1):
            for key in COHORT_KEYS:
                if isinstance(cohort, dict) and isinstance(cohort.get(key), str):
                    yield cohort, key, f"{of}, item {number}, {key}"


def _file(name: str) -> str:
    if is_series(name):
        return series_file(name)
    # Path.expanduser raises for a user without a home, as in some containers.
    return os.path.expanduser(name) if name.startswith("~/") else name  # noqa: PTH111


BASE = "https://ftp.ncbi.nlm.nih.gov/geo"
VARIABLE = "GENESIG_GEO_BASE"


def fetch(series: str, folder: str | Path) -> Path:
    """Download ``{folder}/{series}_series_matrix.txt.gz`` and return its path.

    Where it has no values, as in RNA-seq, NCBI's counts are downloaded beside it if there are any.

    Parameters
    ----------
    series : str
        ``GSE55235``; ``GSE781-GPL96`` where the series has several platforms.
    folder : path
        The SHA-256 of each file is written beside it; a file that is there already is held against
        it, and left alone.

    Raises
    ------
    InvalidInput
        No such series, several platforms to choose from, a download that is not whole, or an
        earlier one that is no longer what it was.
    """
    accession = SERIES.fullmatch(series)
    if not accession:
        raise refuse(
            series, "is no series of GEO; write GSE and a number, such as GSE55235 or GSE781-GPL96"
        )
    series = series.upper()
    path = Path(folder) / f"{series}{ENDING}"
    address = series_address(accession[1].upper())
    if path.exists():
        check_download_digest(path)
    else:
        download_gzip(address + _choose(_names(read_page(address)), series, address), path)
    fetch_counts(path, os.environ.get(VARIABLE), address.removesuffix("matrix/"))
    return path


def series_address(accession: str) -> str:
    """Return ``{base}/series/GSE55nnn/GSE55235/matrix/``; the base is an environment variable's."""
    base = (os.environ.get(VARIABLE) or BASE).rstrip("/")
    number = accession.removeprefix("GSE")
    return f"{base}/series/GSE{number[:-3]}nnn/{accession}/matrix/"


def _names(page: str) -> list[str]:
    links = [unquote(link) for link in re.findall(r'href="([^"]+)"', page, re.IGNORECASE)]
    return sorted({link.rsplit("/", 1)[-1] for link in links if link.endswith(ENDING)})


def _choose(names: list[str], series: str, address: str) -> str:
    if f"{series}{ENDING}" in names:
        return f"{series}{ENDING}"
    if not names:
        what = "holds no series matrix; the series has none, look at its supplementary files"
        raise refuse(address, what)
    if len(names) == 1 and "-" not in series:
        return names[0]
    plain = [name.removesuffix(ENDING) for name in names]
    what = f"has no file of {series}, but {listing(plain, 6)}; name one of them: one platform each"
    raise refuse(address, what)
