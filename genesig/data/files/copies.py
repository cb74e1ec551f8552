"""Copies of the user's files, for jobs on machines that do not see the files themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copyfile, copytree
from typing import Any

from genesig.data.files.content import missing_file_message
from genesig.data.files.formats.geo_series import SERIES_FILE
from genesig.data.files.geo_counts import paths_read
from genesig.data.files.names import COHORT_FILE_KEYS, FILE_KEY_PATHS
from genesig.errors import input_error
from genesig.results.download import check_download_digest

FILE_KEYS = {*COHORT_FILE_KEYS, *(key for *_, key in FILE_KEY_PATHS)}
"""Keys of a config, or of a section of it, whose value is the name of a file."""


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
