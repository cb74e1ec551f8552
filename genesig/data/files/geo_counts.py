"""Counts of RNA-seq that NCBI makes for a series of GEO whose series matrix has no values.

NCBI aligns the reads of human and mouse samples and counts them by gene. A series has one table of
counts (Entrez ids × samples), a genome has one table of its genes. File names and addresses are
those of the scripts that GEO2R writes.

Source: Clough et al., NCBI GEO: archive for gene expression and epigenomics data sets: 23-year
update, Nucleic Acids Res. 52, D138 (2024).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from pathlib import Path

from genesig.data.files.content import leading_lines
from genesig.data.files.delimited import Matrix, TextTable, parse_matrix
from genesig.data.files.formats.geo_series import (
    SERIES_FILE,
    TABLE_BEGIN,
    TABLE_END,
    supplementary_files,
    tagged_cells,
)
from genesig.data.files.formats.interface import ReadFile
from genesig.data.files.formats.text import as_text
from genesig.errors import input_error
from genesig.results.download import AbsentFile, check_download_digest, download_gzip
from genesig.words import counted, is_missing, listing

# Organism, as !Sample_organism_ch1 writes it -> genome and name in NCBI's files.
GENOMES = {"homo sapiens": ("GRCh38.p13", "Human"), "mus musculus": ("GRCm39", "Mouse")}
NCBI_SERVER = "https://www.ncbi.nlm.nih.gov/geo"
MAX_HEAD_LINES = 10_000  # a series matrix has a line for each tag of its samples, some hundred


@dataclass(frozen=True)
class CountFiles:
    """The two files that lie beside a series matrix without values."""

    accession: str  # of the series, without a platform
    counts: Path  # Entrez ids × samples
    genes: Path  # GeneID, Symbol and more of each gene of the genome


def fetch_counts(series_matrix: Path, server: str | None, series_folder: str) -> None:
    """Download NCBI's counts and gene table for a series matrix without values, beside it.

    A file that exists is compared with its stored SHA-256 and kept. Nothing is downloaded for a
    series matrix with values, for other organisms, and if NCBI has no counts.

    server: address that replaces NCBI's; None is NCBI.
    series_folder: address of the folder of the series, where a mirror of plain files has `suppl/`.

    Raises InvalidInput: a download broke off, or a downloaded file has changed.
    """
    files = count_files(series_matrix)
    if files is None:
        return
    query = f"{(server or NCBI_SERVER).rstrip('/')}/download/?type=rnaseq_counts"
    series_query = f"&acc={files.accession}"
    for path, selection in ((files.counts, series_query), (files.genes, "")):
        query_address = f"{query}{selection}&format=file&file={path.name}"
        if not _fetch_file(path, (query_address, f"{series_folder}suppl/{path.name}")):
            return


def _fetch_file(path: Path, addresses: Iterable[str]) -> bool:
    """Download a file from the first address that has it; return whether the file is there then."""
    if path.exists():
        check_download_digest(path)
        return True
    for address in addresses:
        try:
            download_gzip(address, path)
        except AbsentFile:
            continue
        return True
    return False


def count_files(series_matrix: str | Path) -> CountFiles | None:
    """Return the paths of the files with a series' counts, whether they exist or not.

    None for a series matrix with values, of another organism than human and mouse, or whose name
    does not say which series it is.
    """
    path = Path(series_matrix)
    series = SERIES_FILE.fullmatch(path.name)
    head = _head_without_values(path) if series else None
    genome = None if head is None else _genome(head)
    if series is None or genome is None:
        return None
    accession = series[1].upper()
    build, species = genome
    counts = path.with_name(f"{accession}_raw_counts_{build}_NCBI.tsv.gz")
    return CountFiles(accession, counts, path.with_name(f"{species}.{build}.annot.tsv.gz"))


def present_counts(series_matrix: str | Path) -> CountFiles | None:
    """Return the files of a series' counts if they exist and its series matrix has no values."""
    files = count_files(series_matrix)
    return files if files is not None and files.counts.is_file() else None


def paths_read(expression: str | Path) -> list[str]:
    """Return the files that are read for an expression file: itself, and counts beside it."""
    files = present_counts(expression)
    counts_and_genes = [] if files is None else [files.counts, files.genes]
    return [str(expression), *(str(path) for path in counts_and_genes if path.is_file())]


def lack_of_values(series_matrix: Path) -> str:
    """Return why a downloaded series cannot be studied; '' if it has values or counts."""
    head = _head_without_values(series_matrix)
    if head is None or present_counts(series_matrix) is not None:
        return ""
    return (
        "the series matrix has no values, and NCBI has no counts of this series; download a "
        f"supplementary file{supplementary_files(head)}, name it as 'expression' and this one as "
        "'samples'"
    )


def _head_without_values(series_matrix: Path) -> list[str] | None:
    """Return the lines above the table of a series matrix if that table has no row; else None.

    None, too, for a file that cannot be read: the reader of the matrix refuses it.
    """
    lines = leading_lines(series_matrix, MAX_HEAD_LINES)
    head = list(takewhile(lambda line: line.strip().lower() != TABLE_BEGIN, lines))
    header_and_row = islice((line.strip().lower() for line in lines if line.strip()), 2)
    return head if TABLE_END in header_and_row else None


def _genome(head: Sequence[str]) -> tuple[str, str] | None:
    """Return genome and species of most samples, as NCBI's file names write them.

    Human if no organism is named; None for another organism than those of `GENOMES`.
    """
    organisms = Counter(
        cell.lower()
        for _, cells in tagged_cells(head, "!sample_organism")
        for cell in cells
        if cell.strip()
    )
    organism = organisms.most_common(1)[0][0] if organisms else "homo sapiens"
    return GENOMES.get(organism)


def read_counts(files: CountFiles, samples: Collection[str], load: ReadFile) -> Matrix:
    """Return the counts of the samples of a series matrix, with the symbols of the genes, if any.

    samples: of the series matrix; those that NCBI did not process are named in `Matrix.doubt`.
    load: returns the unpacked bytes of a file.

    Raises InvalidInput: a file cannot be read, or none of the samples has counts.
    """
    all_counts = parse_matrix(load(files.counts), ".tsv", str(files.counts))
    described = set(samples)
    columns = [k for k, name in enumerate(all_counts.columns) if name in described]
    if not columns:
        message = f"has no counts of this series' samples ({listing(samples)}); "
        raise input_error(files.counts, message + "remove it and fetch the series again")
    names = tuple(all_counts.columns[k] for k in columns)
    matrix = replace(
        all_counts.select(range(len(all_counts.rows)), columns, names), has_counts=True
    )
    absent = sorted(described - set(names))
    if absent:
        message = f"NCBI has counts of {len(names)} of {counted(len(samples), 'sample')}; "
        matrix = matrix.with_doubt(f"{message}left out: {listing(absent)}")
    if not files.genes.is_file():
        return matrix
    text = as_text(load(files.genes), str(files.genes))
    symbol_of_gene = dict(_symbols(text, files.genes))
    measured_symbols = {
        gene: symbol_of_gene[gene] for gene in matrix.rows if gene in symbol_of_gene
    }
    return replace(matrix, symbols=measured_symbols)


def _symbols(text: str, genes: Path) -> Iterator[tuple[str, str]]:
    """Yield Entrez id and symbol of each gene; quotation marks are letters in this table."""
    header, *rows = text.split("\n")
    columns = header.split("\t")
    if not {"GeneID", "Symbol"} <= set(columns):
        raise input_error(genes, "has no columns GeneID and Symbol; remove it and fetch it again")
    gene_column = columns.index("GeneID")
    symbol_column = columns.index("Symbol")
    for row in rows:
        cells = row.split("\t")
        if len(cells) > max(gene_column, symbol_column) and not is_missing(cells[symbol_column]):
            yield cells[gene_column], cells[symbol_column]


def with_counts_only(
    table: TextTable, series_matrix: str | Path, matrix_names: Collection[str]
) -> TextTable:
    """Return the sample table of a series without the samples that NCBI did not process.

    It is unchanged if `matrix_names`, the columns of the matrix, are not those of the counts.
    """
    files = present_counts(series_matrix)
    names = table.cells.index
    samples_with_counts = set() if files is None else _counted_samples(files.counts) & set(names)
    if not samples_with_counts or samples_with_counts != set(names) & set(matrix_names):
        return table
    return table.select([name in samples_with_counts for name in names])


def _counted_samples(counts: Path) -> set[str]:
    """Return the sample names in the header of a table of counts."""
    return {name for line in leading_lines(counts, 1) for name in line.split("\t")[1:]}
