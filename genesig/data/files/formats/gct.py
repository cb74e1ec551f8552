"""Broad's GCT 1.2 and 1.3: a matrix with its size and columns that describe genes.

Source: GenePattern, file formats guide.
"""

from __future__ import annotations

from dataclasses import dataclass

from genesig.data.files.delimited import Matrix, TextTable, parse_matrix
from genesig.data.files.formats.interface import Format
from genesig.errors import input_error
from genesig.words import counted, is_size

HEADER_LINE = 3  # line of the file with the names of the columns, after the version and the size


@dataclass(frozen=True)
class _GctLines:
    """The lines of a GCT file, split into cells."""

    header: list[str]
    n_gene_descriptions: int  # columns between the ids and the samples
    sample_descriptions: list[list[str]]  # rows between the header and the genes
    rows: list[list[str]]  # genes
    first_line: int  # line of the file of the first gene


def matrix(text: str, file_name: str, part: str | None) -> Matrix:
    """Return genes × samples; the columns that describe genes are left out.

    Raises InvalidInput: an unknown version, or a size that is not the one on the second line.
    """
    gct_lines = _split_text(text, file_name)
    start = gct_lines.n_gene_descriptions + 1
    rows = [[row[0], *row[start:]] for row in [gct_lines.header, *gct_lines.rows]]
    joined = "\n".join("\t".join(row) for row in rows)
    return parse_matrix(joined, ".tsv", file_name, first_line=gct_lines.first_line - 1)


def samples(text: str, file_name: str, part: str | None) -> TextTable:
    """Return the rows of a GCT 1.3 that describe samples, as the sample table."""
    import pandas as pd

    gct_lines = _split_text(text, file_name)
    if not gct_lines.sample_descriptions:
        raise input_error(
            file_name,
            "says nothing of its samples (only GCT 1.3 can); name a sample table or a CLS file as "
            "'samples'",
        )
    start = gct_lines.n_gene_descriptions + 1
    columns = [row[0] for row in gct_lines.sample_descriptions]  # names may repeat
    rows = list(zip(*(row[start:] for row in gct_lines.sample_descriptions), strict=True))
    index = pd.Index(gct_lines.header[start:], name="sample", dtype=object)
    cells = pd.DataFrame(rows, index=index, columns=columns, dtype=object)
    return TextTable(cells, lines=[HEADER_LINE] * len(index))


def genes(text: str, file_name: str, part: str | None) -> TextTable:
    """Return the columns that describe genes, such as Description, as the gene table."""
    import pandas as pd

    gct_lines = _split_text(text, file_name)
    stop = gct_lines.n_gene_descriptions + 1
    index = pd.Index([row[0] for row in gct_lines.rows], name=gct_lines.header[0], dtype=object)
    cells = [row[1:stop] for row in gct_lines.rows]
    columns = gct_lines.header[1:stop]
    return TextTable(pd.DataFrame(cells, index=index, columns=columns, dtype=object))


def _split_text(text: str, file_name: str) -> _GctLines:
    """Return the header, sample descriptions and genes of a GCT file whose size is correct."""
    lines = text.rstrip("\n").split("\n")
    version = lines[0].strip()
    if version not in ("#1.2", "#1.3"):
        raise input_error(
            file_name,
            f"the first line is '{version[:20]}'; GCT files begin with #1.2 or #1.3, save it as "
            "one of them",
            line=1,
        )
    sizes = lines[1].split() if len(lines) > 1 else []
    if len(sizes) != (2 if version == "#1.2" else 4) or not all(map(is_size, sizes)):
        raise input_error(
            file_name,
            "needs the size here: rows and columns, and in #1.3 the numbers of gene and sample "
            "descriptions",
            line=2,
        )
    # GCT 1.2 always has one gene description and no sample descriptions.
    n_rows, n_samples, n_gene_descriptions, n_sample_descriptions = [*map(int, sizes), 1, 0][:4]
    body = [[cell.strip() for cell in line.split("\t")] for line in lines[2:]]
    while body and not any(body[-1]):
        body.pop()
    if not body:
        raise input_error(file_name, "ends before the line of names; copy or download it again")
    numbers = [row[0] for row in body[1:]]
    if body[0][:3] == ["id", "Name", "Description"] and numbers == [*map(str, range(n_rows))]:
        body = [row[1:] for row in body]  # GTEx numbers the rows
    width = 1 + n_gene_descriptions + n_samples
    _check_size(body, file_name, n_rows, n_samples, n_gene_descriptions, n_sample_descriptions)
    body = [row[:width] for row in body]
    end_of_descriptions = 1 + n_sample_descriptions
    return _GctLines(
        body[0],
        n_gene_descriptions,
        body[1:end_of_descriptions],
        body[end_of_descriptions:],
        HEADER_LINE + end_of_descriptions,
    )


def _check_size(
    body: list[list[str]],
    file_name: str,
    n_rows: int,
    n_samples: int,
    n_gene_descriptions: int,
    n_sample_descriptions: int,
) -> None:
    """Raise InvalidInput for lines without the numbers of rows and columns that line 2 states.

    body: cells of the header and of all rows below it.
    """
    # Blank cells at the end of the header do not count; its first cell is that of the ids.
    last_filled = max((k for k, cell in enumerate(body[0]) if cell), default=0)
    n_names = last_filled - n_gene_descriptions
    if n_names != n_samples:
        raise input_error(
            file_name,
            f"the header has {counted(n_names, 'sample')} where line 2 says {n_samples}; correct "
            "line 2 or export the file again",
            line=HEADER_LINE,
        )
    n_gene_rows = len(body) - 1 - n_sample_descriptions
    if n_gene_rows != n_rows:
        raise input_error(
            file_name,
            f"has {counted(max(n_gene_rows, 0), 'row')} of genes where line 2 says {n_rows}; is "
            "the file cut off? Correct that or export again",
        )
    for number, row in enumerate(body, HEADER_LINE):
        width = 1 + n_gene_descriptions + n_samples
        if len(row) < width or any(row[width:]):
            raise input_error(
                file_name,
                f"{counted(len(row), 'field')} where {width} are needed; the line is cut off or "
                "holds a tab too many",
                number,
            )


GCT = Format("a GCT file", matrix, samples, genes, suffixes=(".gct",), opening=r"#1\.[0-9]+\s*\n")
