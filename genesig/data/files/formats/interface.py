"""What a file format can give: a matrix always, often a table of its samples or its genes, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from genesig.data.files.delimited import Matrix


@dataclass(frozen=True)
class Format:
    """One file format; its functions see the content of a file and never the disk.

    Attributes
    ----------
    name : str
        As in "is a GEO series matrix".
    matrix : function (content, where, part) -> Matrix
        `content` is text, or bytes where `binary`; `where` is the file's name in messages;
        `part` is ``data.part`` of the config.
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
