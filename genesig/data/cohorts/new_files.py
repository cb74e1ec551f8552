"""New samples on the command line: one matrix, one array, or a list of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from genesig.data.files.delimited import Matrix
from genesig.data.files.formats.sample_name import sample_name, suffix_of
from genesig.data.files.known import FORMATS
from genesig.data.files.readers import read_matrix
from genesig.errors import refuse
from genesig.words import listing


def read_new(paths: Sequence[str], part: str | None, layout: str | None) -> Matrix:
    """Read the expression of new samples.

    Parameters
    ----------
    paths : sequence of str
        One file or folder of any format that is read, or files of one array each (CEL, IDAT,
        Agilent); a sample is then called as its file.
    part : str or None
        Which matrix of a file that holds several.
    layout : str or None
        Folder with what describes their chip; None is the folder of the first of them.

    Raises
    ------
    InvalidInput
        What `read_matrix` says; a folder in a list, or two files of one sample.
    """
    if layout is not None and not Path(layout).is_dir():
        raise refuse(
            "--layout", f"'{layout}' is no folder; name the one with what describes the chip"
        )
    first = Path(paths[0])
    arrays_of = {suffix for kind in FORMATS if kind.folder for suffix in kind.suffixes}
    if len(paths) == 1 and first.is_dir() and layout is not None:
        inside = sorted(str(path) for path in first.iterdir() if suffix_of(path) in arrays_of)
        if inside:
            return read_new(inside, part, layout)
    if len(paths) == 1 and (first.is_dir() or suffix_of(first) not in arrays_of):
        return read_matrix(first, part)
    for path in map(Path, paths):
        if path.is_dir():
            raise refuse(path, "is a folder; name it alone, or its files one by one")
        if not path.is_file():
            read_matrix(path, part)  # which says so, and what is near
    names = [sample_name(path) for path in paths]
    # Of two colours an array has one file each.
    files = [path.name.lower().removesuffix(".gz") for path in map(Path, paths)]
    twice = [name for name, file in zip(names, files, strict=True) if files.count(file) > 1]
    if twice:
        raise refuse(
            str(first.parent),
            f"two files of sample {listing(dict.fromkeys(twice))}; keep one of them",
        )
    arrays = dict(zip(names, map(Path, paths), strict=True))
    return read_matrix(first.parent if layout is None else layout, part, arrays)
