"""Folders and lists of files of one array each, read as one matrix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from genesig.data.files.delimited import Matrix
from genesig.data.files.formats import arrays
from genesig.data.files.formats.interface import Files, Load
from genesig.data.files.formats.sample_name import suffix_of
from genesig.data.files.formats.table import TABLES
from genesig.data.files.known import FORMATS
from genesig.errors import refuse
from genesig.words import listing

if TYPE_CHECKING:
    import pandas as pd

Read = Callable[[Path], Matrix]


def read_folder(folder: Path, part: str | None, files: Files | None, alone: Path | None,
                load: Load, read: Read) -> Matrix:  # fmt: skip
    """Read a folder with a file for each array; files of other endings are not looked at.

    Parameters
    ----------
    folder : Path
    part : str or None
        ``data.part`` of the config.
    files : dict or None
        Sample -> file, as ``data.files`` of the config says; None takes all of the folder, each
        sample called as its file.
    alone : Path or None
        The one file of the folder that could be a matrix, if there is just one.
    load : function (path) -> bytes
    read : function (path) -> Matrix
        Readers of a whole file: its content, and what it holds.
    """
    inside = sorted(path for path in folder.iterdir() if path.is_file())
    given = inside if files is None else files.values()
    endings = {suffix_of(path) for path in given}
    for kind in FORMATS:
        if kind.folder is None or endings.isdisjoint(kind.suffixes):
            continue
        if part is not None and not kind.parts:
            name = kind.suffixes[0][1:].upper()
            raise refuse(folder, f"holds {name} files, which have no parts; take data.part "
                         f"'{part}' away")  # fmt: skip
        return kind.folder(folder, load, files, part)
    tables = [path for path in inside if suffix_of(path) in TABLES]
    if files is None and not tables:
        _refuse_other(folder, alone)
    listed = {path.name: path for path in tables} if files is None else files
    found = {name: (path, read(path)) for name, path in listed.items()}
    for path, matrix in found.values():
        if len(matrix.columns) > 1:
            _refuse_several(path, folder, alone)
    if files is not None:
        found = {name: (path, replace(each, columns=(name,)))
                 for name, (path, each) in found.items()}  # fmt: skip
    return arrays.join([(str(path), each) for path, each in found.values()], str(folder))


def files_of(column: pd.Series[str], folder: str, where: str) -> dict[str, Path]:
    """Return sample -> file, as a column of the sample table has it; a blank cell names none.

    Parameters
    ----------
    column : Series of strings, by sample
        Names of files, seen from the folder.
    folder, where : str
        The folder of the arrays; the file of the sample table.

    Raises
    ------
    InvalidInput
        No file in the column, or one file for two samples.
    """
    cells = {str(name): str(cell) for name, cell in column.items() if cell}
    at = f"{where}, column '{column.name}'"
    if not cells:
        raise refuse(at, "names no file; give each sample the file of its array")
    twice = [cell for cell, times in Counter(cells.values()).items() if times > 1]
    if twice:
        names = listing(name for name, cell in cells.items() if cell == twice[0])
        raise refuse(at, f"'{twice[0]}' is the file of {names}; each sample needs its own")
    return {name: Path(folder) / cell for name, cell in cells.items()}


def _refuse_other(folder: Path, alone: Path | None) -> NoReturn:
    if alone:
        raise refuse(folder, f"is a folder; name the file in it: {alone}")
    raise refuse(folder, "is a folder without files of arrays (.txt, .CEL, .idat); name a file, or "
                 "the folder of the scanner's files")  # fmt: skip


def _refuse_several(path: Path, folder: Path, alone: Path | None) -> NoReturn:
    if alone:
        raise refuse(folder, f"is a folder; name the file in it: {path}")
    raise refuse(path, "holds more than one array, and files that are read together hold one "
                 "each; name this file alone, or move it elsewhere")  # fmt: skip
