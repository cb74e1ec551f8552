"""File names in a config, downloads of GEO series, and copies of files for other machines."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copyfile, copytree
from typing import Any, TypeGuard
from urllib.parse import unquote

from genesig.data.files.content import missing_file_message
from genesig.data.files.formats.geo_series import SERIES_FILE
from genesig.data.files.geo_counts import fetch_counts, paths_read
from genesig.errors import input_error
from genesig.results.download import check_download_digest, download_gzip, read_page
from genesig.words import listing

Config = dict[str, Any]

# Keys of a config whose value is the name of a file, each with its section.
FILE_KEY_PATHS = (
    ("expression",),
    ("samples",),
    ("data", "annotation"),
    ("splits", "file"),
    ("nonlinear", "groups"),
    ("structured", "sets"),
    ("enrichment", "sets"),
    ("controls", "signatures"),
)
COHORT_SECTIONS = ("external", "studies")  # sections that are lists of data sets
# Keys of files in the items of these sections.
COHORT_FILE_KEYS = ("expression", "samples", "annotation", "renamed")
SERIES_ACCESSION = re.compile(r"(GSE\d+)(-GPL\d+)?", re.IGNORECASE)
SERIES_SUFFIX = "_series_matrix.txt.gz"
DOWNLOAD_FOLDER = "data/geo"  # in which the rule `fetch` stores its files
POOLED_STUDIES = "studies"  # stands for `expression` and `samples` in a config with several studies
NCBI_ADDRESS = "https://ftp.ncbi.nlm.nih.gov/geo"
ADDRESS_VARIABLE = "GENESIG_GEO_BASE"  # environment variable with the address of a mirror

FILE_KEYS = {*COHORT_FILE_KEYS, *(key for *_, key in FILE_KEY_PATHS)}
"""Keys of a config, or of a section of it, whose value is the name of a file."""


def series_file(series: str) -> str:
    """Return the path of a downloaded series: ``data/geo/GSE55235_series_matrix.txt.gz``."""
    return f"{DOWNLOAD_FOLDER}/{series.upper()}{SERIES_SUFFIX}"


def with_file_names(config: Config) -> Config:
    """Return the config with every file name written out, changed in place.

    ``geo: GSE55235`` becomes the matrix, and the sample table if none is named; an accession
    instead of a file becomes the file of that series; ``~/`` becomes the home folder, as in a
    shell.
    """
    geo = config.get("geo")
    if is_series(geo):
        config["expression"] = config.get("expression") or series_file(geo)
        config["samples"] = config.get("samples") or series_file(geo)
    if config.get("studies"):
        _name_studies(config)
    for section, key, _ in _find_file_names(config):
        section[key] = _file_of_name(section[key])
    return config


def _name_studies(config: Config) -> None:
    """Fill in what a config with several studies leaves out, in place.

    Matrix and sample table of the whole become the word `POOLED_STUDIES`. A study given by a GEO
    accession gets the accession as its name and the series file as its matrix, unless it has them.
    """
    config.setdefault("expression", POOLED_STUDIES)
    config.setdefault("samples", POOLED_STUDIES)
    for item in config["studies"] if isinstance(config["studies"], list) else ():
        if isinstance(item, dict) and is_series(item.get("geo")):
            item["name"] = item.get("name") or item["geo"]
            item["expression"] = item.get("expression") or series_file(item["geo"])


def with_absolute_names(config: Config) -> Config:
    """Return the config with absolute file names, valid in any folder, changed in place.

    The file of a series of GEO stays relative: each study fetches its own.
    """
    for section, key, _ in _find_file_names(with_file_names(config)):
        if not is_fetched(section[key]):
            section[key] = str(Path(section[key]).absolute())
    return config


def is_series(name: Any) -> TypeGuard[str]:
    """Tell whether a value is an accession of GEO, with or without its platform."""
    return isinstance(name, str) and SERIES_ACCESSION.fullmatch(name) is not None


def is_fetched(name: str) -> bool:
    """Tell whether the workflow downloads a file of this name if it is missing."""
    start = f"{DOWNLOAD_FOLDER}/"
    end = SERIES_SUFFIX
    return name.startswith(start) and name.endswith(end) and is_series(name[len(start) : -len(end)])


def named_files(config: Config) -> Iterator[tuple[str, str]]:
    """Yield (place, file name) of each file in a config; places are as messages write them."""
    for section, key, place in _find_file_names(config):
        yield place, section[key]


def _find_file_names(config: Config) -> Iterator[tuple[Config, str, str]]:
    """Yield (container, key, place) of each file name in a config: it is ``container[key]``.

    place: section and key, for messages.
    """
    for *section, key in FILE_KEY_PATHS:
        container = config.get(section[0]) if section else config
        if (
            isinstance(container, dict)
            and isinstance(container.get(key), str)
            and container[key] != POOLED_STUDIES
        ):
            yield container, key, ".".join([*section, key])
    for section_name in COHORT_SECTIONS:
        cohorts = config.get(section_name)
        for number, cohort in enumerate(cohorts if isinstance(cohorts, list) else (), 1):
            for key in COHORT_FILE_KEYS:
                if isinstance(cohort, dict) and isinstance(cohort.get(key), str):
                    yield cohort, key, f"{section_name}, item {number}, {key}"


def _file_of_name(name: str) -> str:
    """Return the file of a name in a config: of a GEO series, or in the home folder."""
    if is_series(name):
        return series_file(name)
    # Path.expanduser raises for a user without a home, as in some containers.
    return os.path.expanduser(name) if name.startswith("~/") else name  # noqa: PTH111


def fetch(series: str, folder: str | Path) -> Path:
    """Download ``{folder}/{series}_series_matrix.txt.gz`` and return its path.

    If it has no values, as in RNA-seq, NCBI's counts are downloaded to the same folder, if any.

    series: ``GSE55235``; ``GSE781-GPL96`` if the series has several platforms.
    folder: each file gets a second one with its SHA-256. A file that exists is compared with that,
        and kept.

    Raises InvalidInput: no such series, several platforms to choose from, an incomplete download,
        or an earlier one that has changed.
    """
    accession = SERIES_ACCESSION.fullmatch(series)
    if not accession:
        raise input_error(
            series, "is no series of GEO; write GSE and a number, such as GSE55235 or GSE781-GPL96"
        )
    series = series.upper()
    path = Path(folder) / f"{series}{SERIES_SUFFIX}"
    address = series_address(accession[1].upper())
    if path.exists():
        check_download_digest(path)
    else:
        download_gzip(
            address + _choose_file(_series_files(read_page(address)), series, address), path
        )
    series_folder = address.removesuffix("matrix/")
    fetch_counts(path, server=os.environ.get(ADDRESS_VARIABLE), series_folder=series_folder)
    return path


def series_address(accession: str) -> str:
    """Return ``{base}/series/GSE55nnn/GSE55235/matrix/``, with NCBI or a mirror as base."""
    base = (os.environ.get(ADDRESS_VARIABLE) or NCBI_ADDRESS).rstrip("/")
    number = accession.removeprefix("GSE")
    return f"{base}/series/GSE{number[:-3]}nnn/{accession}/matrix/"


def _series_files(page: str) -> list[str]:
    """Return the names of the series matrices that a page links to."""
    links = [unquote(link) for link in re.findall(r'href="([^"]+)"', page, re.IGNORECASE)]
    return sorted({link.rsplit("/", 1)[-1] for link in links if link.endswith(SERIES_SUFFIX)})


def _choose_file(file_names: list[str], series: str, address: str) -> str:
    """Return the file of a series among those of its page, if there is one platform.

    Raises InvalidInput: the page has no file of the series, or one for each of several platforms.
    """
    if f"{series}{SERIES_SUFFIX}" in file_names:
        return f"{series}{SERIES_SUFFIX}"
    if not file_names:
        message = "holds no series matrix; the series has none, look at its supplementary files"
        raise input_error(address, message)
    if len(file_names) == 1 and "-" not in series:
        return file_names[0]
    series_names = [name.removesuffix(SERIES_SUFFIX) for name in file_names]
    message = f"has no file of {series}, but {listing(series_names, 6)}"
    raise input_error(address, f"{message}; name one of them: one platform each")


@dataclass(frozen=True)
class FileCopies:
    """Paths of the copies; the report and all messages keep the file names of the config."""

    # path of each copy by the file's name in the config; empty if the job sees the files
    path_of_name: Mapping[str, str] = field(default_factory=dict)

    def with_paths(self, settings: Any) -> Any:
        """Return settings that name the copies instead of the user's files."""
        if isinstance(settings, Mapping):
            return {key: self._value_with_paths(key, value) for key, value in settings.items()}
        if isinstance(settings, list):
            return [self.with_paths(item) for item in settings]
        return settings

    def _value_with_paths(self, key: str, value: Any) -> Any:
        """Return the value of a key of the settings, in which copies replace the user's files."""
        if isinstance(value, str):
            return self.path_of_name.get(value, value) if key in FILE_KEYS else value
        return self.with_paths(value)

    def with_names(self, value: Any) -> Any:
        """Return a text, or a JSON value with its texts, that names the user's files again."""
        if isinstance(value, str):
            for name, path in self.path_of_name.items():
                value = name if value == path else value.replace(path, name.rstrip("/"))
                if is_copied_as_folder(name):  # the copies of its counts are beside that of `name`
                    value = value.replace(str(Path(path).parent), str(Path(name).parent))
            return value
        if isinstance(value, Mapping):
            return {self.with_names(key): self.with_names(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.with_names(item) for item in value]
        return value


def is_copied_as_folder(name: str) -> bool:
    """Tell whether a file is copied into a folder: a series of GEO, whose counts lie beside it."""
    return SERIES_FILE.fullmatch(Path(name).name) is not None


def path_in_copy(name: str, copy: str) -> str:
    """Return the path of the file `name` in `copy`, the path of its copy, which may be a folder."""
    return f"{copy}/{Path(name).name}" if is_copied_as_folder(name) else copy


def copy_input(source: Path, target: Path) -> None:
    """Copy a file, a folder with all files in it, or a series of GEO with its counts beside it.

    Raises InvalidInput: there is no such file, or it is not the file that was downloaded.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        copytree(source, target, dirs_exist_ok=True)
    elif source.is_file() and is_copied_as_folder(str(source)):
        target.mkdir(exist_ok=True)
        for file in map(Path, paths_read(source)):
            check_download_digest(file)
            copyfile(file, target / file.name)
    elif source.is_file():
        check_download_digest(source)
        copyfile(source, target)
    else:
        raise input_error(source, missing_file_message(source))
