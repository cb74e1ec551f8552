"""The record of a file format: its functions that return a matrix, a sample table, a gene table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from genesig.data.files.delimited import Matrix, TextTable

ReadFile = Callable[[str | Path], bytes]  # reads a whole file and unpacks it
FileOfSample = Mapping[str, Path]  # sample -> file of its array


@dataclass(frozen=True)
class Format:
    """One file format.

    Its functions take (content, file_name, part): the content of a file, as text or, if `binary`,
    as bytes; its name for messages; and ``data.part`` of the config. Only `folder` sees the disk.
    """

    name: str  # as in "is a GEO series matrix"
    # returns the matrix: `delimited.parse_matrix` of lines, `text.number_matrix` of numbers
    matrix: Callable[[Any, str, str | None], Matrix]
    # returns the sample table in the file
    samples: Callable[[Any, str, str | None], TextTable] | None = None
    # returns the gene table in the file
    genes: Callable[[Any, str, str | None], TextTable] | None = None
    suffixes: tuple[str, ...] = ()  # endings of its files, lower case, in the order of messages
    # pattern of the first words of its texts, whatever their ending; '' if only endings tell
    opening: str = ""
    # noun for one of several matrices of a file, such as "sheet"; '' if there is only one
    parts: str = ""
    binary: bool = False  # whether its functions take bytes; else the content is decoded
    either_way: bool = False  # whether its matrices may be genes × samples or samples × genes
    # Takes (folder, load, files, part) and reads arrays that need another file beside them.
    # `folder` holds that file, such as the layout of their chip; `files` is sample -> array, or
    # None for all arrays of the folder; `load` is `readers.read_unpacked`.
    folder: Callable[[Path, ReadFile, FileOfSample | None, str | None], Matrix] | None = None
