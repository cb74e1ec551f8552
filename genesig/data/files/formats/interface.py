"""The record of a file format: its functions that return a matrix, a sample table, a gene table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from genesig.data.files.delimited import Matrix, TextTable

ReadFile = Callable[[str | Path], bytes]
FileOfSample = Mapping[str, Path]


@dataclass(frozen=True)
class Format:
    """One file format.

    Its functions take (content, file_name, part): the content of a file, as text or, if `binary`,
    as bytes; its name for messages; and ``data.part`` of the config. Only `folder` sees the disk.
    """

    name: str
    """As in "is a GEO series matrix"."""
    matrix: Callable[[Any, str, str | None], Matrix]
    """Returns the matrix: `delimited.parse_matrix` of lines, `text.number_matrix` of numbers."""
    samples: Callable[[Any, str, str | None], TextTable] | None = None
    """Returns the sample table in the file."""
    genes: Callable[[Any, str, str | None], TextTable] | None = None
    """Returns the gene table in the file."""
    suffixes: tuple[str, ...] = ()
    """Endings of its files, lower case, in the order of messages."""
    opening: str = ""
    """Pattern of the first words of its texts, whatever their ending; '' if only endings tell."""
    parts: str = ""
    """Noun for one of several matrices of a file, such as "sheet"; '' if there is only one."""
    binary: bool = False
    """Whether its functions take bytes; else the content is decoded."""
    either_way: bool = False
    """Whether its matrices may be genes × samples or samples × genes."""
    folder: Callable[[Path, ReadFile, FileOfSample | None, str | None], Matrix] | None = None
    """Takes (folder, load, files, part) and reads arrays that need another file beside them.

    `folder` holds that file, such as the layout of their chip; `files` is sample -> array, or None
    for all arrays of the folder; `load` is `readers.read_unpacked`.
    """
