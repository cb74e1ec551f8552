"""What a file format can give: a matrix always, often a table of its samples or its genes, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from genesig.data.files.delimited import Matrix

PARTIAL_ATTRIBUTE = "partial"
"""Under this, a table's attributes name the samples that lack a part of its file."""

DOUBTS_ATTRIBUTE = "doubts"
"""Under this, a table's attributes hold the sentences that warn of how its file was read."""

ReadFile = Callable[[str | Path], bytes]
FileOfSample = Mapping[str, Path]


@dataclass(frozen=True)
class Format:
    """One file format; its functions see the content of a file, and the disk by its folder alone.

    Attributes
    ----------
    name : str
        As in "is a GEO series matrix".
    matrix : function (content, where, part) -> Matrix
        `content` is text, or bytes where `binary`; `where` is the file's name in messages;
        `part` is ``data.part`` of the config. ``delimited.parse_matrix`` makes it of lines with a
        header, and tells what is no number by its line; ``text.number_matrix`` of numbers.
    samples, genes : function (content, where, part) -> DataFrame of strings, or None
        Tables that the same file holds: index = sample names or gene ids.
    suffixes : tuple of str
        Endings that promise it, lower case, in the order in which messages list them.
    opening : str
        Pattern of the words that a text of this format begins with, whatever its ending; '' for
        one that only its ending tells.
    parts : str
        What a part is, where a file may hold several; '' where it never does.
    binary : bool
        Its functions take bytes; a text is decoded for the others.
    either_way : bool
        Its matrices may be genes × samples or samples × genes.
    folder : function (folder, load, files, part) -> Matrix, or None
        Reads arrays that need another file beside them, such as the layout of their chip:
        `folder` holds it, `files` is sample -> array or None, which takes all arrays of the
        folder; `load` reads a whole file and unpacks it, as ``readers.content_of``.
    """

    name: str
    matrix: Callable[[Any, str, str | None], Matrix]
    samples: Callable[[Any, str, str | None], pd.DataFrame] | None = None
    genes: Callable[[Any, str, str | None], pd.DataFrame] | None = None
    suffixes: tuple[str, ...] = ()
    opening: str = ""
    parts: str = ""
    binary: bool = False
    either_way: bool = False
    folder: Callable[[Path, ReadFile, FileOfSample | None, str | None], Matrix] | None = None
