"""Broad's GCT 1.2 and 1.3: a matrix that says its own size, with columns that describe genes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from genesig.data.files.delimited import Matrix, parse_matrix
from genesig.data.files.formats.interface import Format
from genesig.errors import refuse
from genesig.words import counted

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class _Parts:
    """The lines of a GCT file: names, sample descriptions, rows of genes (all split)."""

    names: list[str]
    described: int
    about_samples: list[list[str]]
    rows: list[list[str]]
    first: int


def matrix(text: str, where: str, part: str | None) -> Matrix:
    """Read genes × samples; the columns that describe genes are left out.

    Raises
    ------
    InvalidInput
        An unknown version, or a size that is not the one on the second line.
    """
    parts = _parts(text, where)
    start = parts.described + 1
    kept = [[row[0], *row[start:]] for row in [parts.names, *parts.rows]]
    joined = "\n".join("\t".join(row) for row in kept)
    return parse_matrix(joined, ".tsv", where, first=parts.first - 1)


def samples(text: str, where: str, part: str | None) -> pd.DataFrame:
    """Read what a GCT 1.3 says of its samples."""
    import pandas as pd

    parts = _parts(text, where)
    if not parts.about_samples:
        raise refuse(
            where,
            "says nothing of its samples (only GCT 1.3 can); name a sample table "
            "or a CLS file as 'samples'",
        )
    start = parts.described + 1
    columns = {row[0]: row[start:] for row in parts.about_samples}
    index = pd.Index(parts.names[start:], name="sample", dtype=object)
    table = pd.DataFrame(columns, index=index, dtype=object)
    table.attrs["lines"] = [3] * len(table)
    return table


def genes(text: str, where: str, part: str | None) -> pd.DataFrame:
    """Read the columns that describe genes, such as Description."""
    import pandas as pd

    parts = _parts(text, where)
    stop = parts.described + 1
    index = pd.Index([row[0] for row in parts.rows], name=parts.names[0], dtype=object)
    cells = [row[1:stop] for row in parts.rows]
    table = pd.DataFrame(cells, index=index, columns=parts.names[1:stop], dtype=object)
    table.attrs["lines"] = list(range(parts.first, parts.first + len(table)))
    return table


def _parts(text: str, where: str) -> _Parts:
    lines = text.rstrip("\n").split("\n")
    version = lines[0].strip()
    if version not in ("#1.2", "#1.3"):
        raise refuse(
            where,
            f"the first line is '{version[:20]}'; GCT files begin with #1.2 or "
            "#1.3, save it as one of them",
            line=1,
        )
    sizes = lines[1].split() if len(lines) > 1 else []
    if len(sizes) != (2 if version == "#1.2" else 4) or not all(map(str.isdigit, sizes)):
        raise refuse(
            where,
            "needs the size here: rows and columns, and in #1.3 the numbers of "
            "gene and sample descriptions",
            line=2,
        )
    n_rows, n_samples, about_genes, about_samples = [*map(int, sizes), 1, 0][:4]
    body = [[cell.strip() for cell in line.split("\t")] for line in lines[2:]]
    while body and not any(body[-1]):
        body.pop()
    if not body:
        raise refuse(where, "ends before the line of names; copy or download it again")
    width = 1 + about_genes + n_samples
    _check_size(body, where, n_rows, n_samples, about_genes, about_samples)
    body = [row[:width] for row in body]
    split = 1 + about_samples
    return _Parts(body[0], about_genes, body[1:split], body[split:], 3 + split)


def _check_size(
    body: list[list[str]],
    where: str,
    n_rows: int,
    n_samples: int,
    about_genes: int,
    about_samples: int,
) -> None:
    named = max(k for k, cell in enumerate([*body[0], ""], 1) if cell or k == 1) - 1 - about_genes
    if named != n_samples:
        raise refuse(
            where,
            f"the header has {counted(named, 'sample')} where line 2 says "
            f"{n_samples}; correct line 2 or export the file again",
            line=3,
        )
    rows = len(body) - 1 - about_samples
    if rows != n_rows:
        raise refuse(
            where,
            f"has {counted(max(rows, 0), 'row')} of genes where line 2 says "
            f"{n_rows}; is the file cut off? Correct that or export again",
        )
    for number, row in enumerate(body, 3):
        width = 1 + about_genes + n_samples
        if len(row) < width or any(row[width:]):
            raise refuse(
                where,
                f"{counted(len(row), 'field')} where {width} are needed; the line "
                "is cut off or holds a tab too many",
                number,
            )


GCT = Format("a GCT file", matrix, samples, genes, (".gct",), r"#1\.[0-9]+\s*\n")
