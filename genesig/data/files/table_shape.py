"""Tables without a header, long tables, counts of one sample: recognised by their first lines.

Counters write one file for each sample, without a header or with several columns of one sample.
Laboratories send one row for each sample and protein.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from pathlib import Path, PurePath

import numpy as np

from genesig.data.files.cells import split_row
from genesig.data.files.delimited import Matrix, delimiters_of, lines_of, split_at_header
from genesig.data.files.formats.arrays import sample_name
from genesig.errors import InvalidInput, Problem
from genesig.words import is_missing, is_number

MAX_LINES = 20_000  # lines that are read; a long table of proteins has up to 5,000 for a sample
MIN_LINES = 20  # rows from which on the shape of a table can be told
COUNTER_COLUMNS = 4  # columns of a file of STAR: the id and three counts
N_WITH_SYMBOLS = 3  # columns of htseq-count with an additional attribute: id, name, count
MAX_VALUE_COLUMNS = 4
"""Numeric columns of a long table: the value, a limit of detection, a share of missing cells."""
MAX_REPLICATES = 4  # rows of a long table for one sample and gene, as of wells of a PCR
MIN_IDENTIFIED_SHARE = 0.95  # share of the rows of a long table that sample and gene identify
MAX_LONG_COLUMNS = 40  # columns of a long table; a table with more is a matrix
NUMERIC_SHARE = 0.9  # share of numbers among the cells of a numeric column
# Headers of a column of ids.
ID_HEADER = re.compile(
    r".*(gene|probe|protein|feature|transcript|symbol|target|accession|assay|name|sample|patient)"
    r".*|.*\bids?|_id|id_ref|index|row\.?names|ensembl|entrez|refseq|uniprot|rna|mirna|otu|cpg|x|#?",
    re.IGNORECASE,
)
SAMPLE_HEADER = re.compile(
    r".*(sample|patient|subject|donor|specimen|barcode|aliquot|case|participant|individual).*",
    re.IGNORECASE,
)
GENE_HEADER = re.compile(
    r".*(assay|gene|symbol|protein|feature|probe|target|analyte|marker|metabolite|compound|peptide"
    r"|uniprot|olinkid|transcript|mirna|antibody|variable).*",
    re.IGNORECASE,
)
VALUE_HEADER = re.compile(
    r"npx|value|.*(expression|count|tpm|fpkm|rpkm|intensity|abundance|signal|quantity|level"
    r"|concentration|rfu|ct|cq|score)s?",
    re.IGNORECASE,
)
# Files of one sample with several columns, letters and digits alone: the column that is read, and
# the others. Of the GDC (STAR), RSEM, Salmon, kallisto, StringTie and Cufflinks.
COUNT_COLUMNS = (
    (
        "unstranded",
        {"strandedfirst", "strandedsecond", "tpmunstranded", "fpkmunstranded", "fpkmuqunstranded"},
    ),
    ("expectedcount", {"transcriptids", "length", "effectivelength", "tpm", "fpkm", "isopct"}),
    ("numreads", {"length", "effectivelength", "tpm"}),
    ("estcounts", {"length", "efflength", "tpm"}),
    # StringTie and Cufflinks write no counts.
    ("tpm", {"genename", "reference", "strand", "start", "end", "coverage", "fpkm"}),
    (
        "fpkm",
        {
            *("classcode", "nearestrefid", "geneid", "geneshortname", "tssid", "locus", "length"),
            *("coverage", "fpkmconflo", "fpkmconfhi", "fpkmstatus"),
        },
    ),
)
ENSEMBL_TRANSCRIPT = re.compile(r"ENS[A-Z]{0,6}T\d{11}\b.*", re.ASCII)
TRANSCRIPT_ID = re.compile(rf"{ENSEMBL_TRANSCRIPT.pattern}|[NX][MR]_\d+(\.\d+)?", re.ASCII)
TRANSCRIPTS_ADVICE = (
    "sum them up to genes (R's tximport with a table of transcripts and genes), and name that table"
)
PROGRAM_OF_COLUMN = {"numreads": "Salmon", "estcounts": "kallisto"}
"""Program that writes a column of counts of transcripts."""
STAR_HEADER = ("unstranded", "stranded_first", "stranded_second")
# End of a counter's file name, behind the sample: S01.htseq.counts, S01ReadsPerGene.out.
COUNTER_SUFFIX = re.compile(
    r"([._-]?ReadsPerGene(\.out)?|[._-](htseq|feature)?[._-]?counts?|[._-]htseq|[._-]rna_seq"
    r"|[._-]augmented_star_gene|[._-]star_gene|\.(genes|isoforms)|[._-]gene_abund(ance)?)+$",
    re.IGNORECASE,
)

# Files that have one name in the folder of every sample.
SHARED_FILE_NAME = re.compile(
    r"(ReadsPerGene\.out\.tab|quant(\.genes)?\.sf|abundance\.tsv|genes\.fpkm_tracking"
    r"|gene_abund\.tab)(\.gz)?",
    re.IGNORECASE,
)
# Files of one sample that counters write into a folder for each sample.
COUNTER_FILE = re.compile(
    r"(.*ReadsPerGene\.out\.tab|quant(\.genes)?\.sf|abundance\.tsv|.*\.genes\.results"
    r"|genes\.fpkm_tracking|.*gene_abund\.tab"
    r"|.*(star_gene_counts|htseq[._-]counts?)(\.(tsv|txt|counts?))?|.*\.counts?)(\.gz)?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Opening:
    """The first lines of a table, split into cells."""

    header: list[str]
    rows: list[list[str]]  # those as wide as the header
    delimiter: str


def split_opening(content: bytes, suffix: str, file_name: str) -> Opening:
    """Return header and first rows of a table; of a possible long table all of `MAX_LINES`.

    suffix: ending of the file, a key of `delimited.DELIMITERS`.
    """
    delimiters = delimiters_of(suffix)
    blank = " " + delimiters
    numbered = enumerate(islice(lines_of(content), MAX_LINES), 1)
    filled_lines = ((number, line) for number, line in numbered if line.strip(blank))
    _, lines = split_at_header(filled_lines, delimiters, file_name)
    _, header_line = next(lines, (1, ""))
    delimiter = max(delimiters, key=header_line.count)
    header = [cell.strip() for cell in split_row(header_line, delimiter, file_name)]
    split_rows = (
        [cell.strip() for cell in split_row(line, delimiter, file_name)] for _, line in lines
    )
    full_rows = (row for row in split_rows if len(row) == len(header))
    rows = list(islice(full_rows, MIN_LINES))  # `full_rows` goes on behind these
    # A matrix of many samples needs no second look, and may have long lines. In a long table
    # numbers of samples or rows are numeric, too, beside the `MAX_VALUE_COLUMNS` values.
    n_numeric = sum(_is_numeric([row[k] for row in rows]) for k in range(len(header)))
    if len(header) <= MAX_LONG_COLUMNS and n_numeric <= 2 * MAX_VALUE_COLUMNS:
        rows += full_rows
    return Opening(header, rows, delimiter)


def lacks_header(opening: Opening, file_name: str) -> bool:
    """Tell whether the first line of a file of one sample is its first gene, not a header.

    No for any file with a header. Raises InvalidInput: a matrix of several samples without a
        header, so that nothing names its samples.
    """
    name, *cells = opening.header
    if _has_symbols(opening):
        return True
    if not cells or not opening.rows or not all(map(is_number, cells)):
        return False
    # Below a line of ages or batches stand the names of the samples, which are words.
    if is_number(name) or ID_HEADER.fullmatch(name) or any(map(_has_only_words, opening.rows[:5])):
        return False
    # One count, or the first line of STAR (N_unmapped) with its three counts.
    if len(cells) < COUNTER_COLUMNS and (len(cells) == 1 or name.startswith("N_")):
        return True
    if len(set(cells)) < len(cells) or any("." in cell for cell in cells):
        message = (
            f"has no header: its first line begins with '{name}' and has numbers where the names "
            "of the samples belong; write a line above it, one name for each column"
        )
        raise InvalidInput([Problem(file_name, message, code="no_header")])
    return False


def _has_symbols(opening: Opening) -> bool:
    """Tell whether all lines have an id, a count and mostly a name, as of htseq-count -i."""
    lines = [opening.header, *opening.rows]
    if len(lines) < MIN_LINES or len(opening.header) != N_WITH_SYMBOLS:
        return False
    if is_number(opening.header[0]) or ID_HEADER.fullmatch(opening.header[0]):
        return False
    words = [line[1] for line in lines if not is_missing(line[1])]
    are_words = words and not any(map(is_number, words)) and len(set(words)) > len(lines) / 2
    return bool(are_words) and all(is_number(line[2]) for line in lines)


def _has_only_words(row: Sequence[str]) -> bool:
    """Tell whether all cells of a row but its name are words."""
    return not any(is_number(cell) or is_missing(cell) for cell in row[1:])


def add_header(content: bytes, opening: Opening, file_name: str) -> bytes:
    """Return a file of one sample, one that `lacks_header`, below a header.

    The sample is named after the file; the counts of STAR are named by their kinds.
    """
    names = STAR_HEADER if len(opening.header) == COUNTER_COLUMNS else (name_of_sample(file_name),)
    if len(opening.header) == N_WITH_SYMBOLS and _has_symbols(opening):
        names = ("gene_name", *names)
    header = opening.delimiter.join(["gene", *names])
    return header.encode() + b"\n" + content.removeprefix(b"\xef\xbb\xbf")


def name_of_sample(file_name: str) -> str:
    """Return the name of a counter's file without endings: S01 for S01.htseq.counts.txt.

    A file that every sample has under one name, such as S01/quant.sf, is named after its folder.
    """
    path = PurePath(file_name)
    folder = path.parent.name
    if folder and SHARED_FILE_NAME.fullmatch(path.name):
        return folder
    name = sample_name(file_name)
    return COUNTER_SUFFIX.sub("", name) or name


def find_counter_files(folder: Path) -> list[Path]:
    """Return the files of counters in the subfolders of a folder, one subfolder for each sample."""
    subfolders = sorted(path for path in folder.iterdir() if path.is_dir())
    files_of_counters: list[Path] = []
    for subfolder in subfolders:
        files = sorted(path for path in subfolder.iterdir() if path.is_file())
        counter_files = [path for path in files if COUNTER_FILE.fullmatch(path.name)]
        # Salmon can write sums of genes (quant.genes.sf) beside its transcripts (quant.sf).
        gene_files = [path for path in counter_files if ".genes." in path.name]
        files_of_counters += gene_files or counter_files
    return files_of_counters


def find_count_column(names: Sequence[str]) -> int | None:
    """Return the index of the column of counts of a file of one sample; None for other files."""
    plain_names = [_plain_name(name) for name in names]
    for count_column, other_columns in COUNT_COLUMNS:
        if count_column in plain_names and set(plain_names) - {count_column} <= other_columns:
            return plain_names.index(count_column) if len(plain_names) > 1 else None
    return None


def counts_of_sample(matrix: Matrix, column: int, file_name: str) -> Matrix:
    """Return the column of counts as a matrix, named after the sample of the file.

    Raises InvalidInput: the rows are transcripts.
    """
    _refuse_transcripts(matrix, _plain_name(matrix.columns[column]), file_name)
    choice = f"the column '{matrix.columns[column]}' is taken, of {len(matrix.columns)}"
    counts = matrix.subset(range(len(matrix.rows)), [column]).with_doubt(f"{choice} of one sample")
    return replace(counts, columns=(name_of_sample(file_name),))


def _plain_name(column_name: str) -> str:
    """Return the letters and digits of a column name in lower case, as in `COUNT_COLUMNS`."""
    return re.sub(r"[\W_]+", "", column_name).lower()


def _refuse_transcripts(matrix: Matrix, counts: str, file_name: str) -> None:
    """Raise InvalidInput if most rows are transcripts, by their ids of Ensembl or RefSeq.

    counts: plain name of the column of counts, which tells the program that wrote it.
    """
    transcripts = [name for name in matrix.rows if TRANSCRIPT_ID.fullmatch(name)]
    if 2 * len(transcripts) <= len(matrix.rows):
        return
    program = PROGRAM_OF_COLUMN.get(counts, "a program")
    transcript = re.split(r"[|\s]", transcripts[0])[0]
    message = (
        f"has one row for each transcript ('{transcript}'), as {program} writes them; "
        f"{TRANSCRIPTS_ADVICE}"
    )
    raise InvalidInput([Problem(file_name, message, code="transcripts")])


def refuse_long_table(opening: Opening, file_name: str) -> None:
    """Raise InvalidInput for a long table, with its columns and how to spread them."""
    columns = find_long_table_columns(opening)
    if columns is None:
        return
    sample, gene, value = columns
    message = (
        f"is a long table: each row is a sample (column '{sample}') and a gene ('{gene}') with its "
        f"value ('{value}'); spread it, so that each gene is one row and each sample one column: "
        f"pandas' pivot_table(index='{gene}', columns='{sample}', values='{value}'), or "
        "pivot_wider of R's tidyr"
    )
    raise InvalidInput([Problem(file_name, message, code="long_table")])


def find_long_table_columns(opening: Opening) -> tuple[str, str, str] | None:
    """Return the columns of samples, genes and values of a long table; None for any other table.

    Sample and gene together identify a row, or a few replicates, and neither does alone; few other
    columns have numbers.
    """
    header = opening.header
    rows = opening.rows
    if not 3 <= len(header) <= MAX_LONG_COLUMNS or len(rows) < MIN_LINES:
        return None
    numeric_columns = [k for k in range(len(header)) if _is_numeric([row[k] for row in rows])]
    # Samples may be numbered; measured values have decimals.
    word_columns = [
        k
        for k in range(len(header))
        if k not in numeric_columns
        or (SAMPLE_HEADER.fullmatch(header[k]) and all(row[k].isdigit() for row in rows))
    ]
    value_columns = [
        k
        for k in numeric_columns
        if k not in word_columns and not _are_consecutive([row[k] for row in rows])
    ]
    if not value_columns or len(value_columns) > MAX_VALUE_COLUMNS:
        return None
    n_values_of_column = {k: len({row[k] for row in rows}) for k in word_columns}
    repeating_columns = [k for k in word_columns if n_values_of_column[k] <= len(rows) / 2]
    column_pairs = [
        (sample_column, gene_column)
        for sample_column, gene_column in product(repeating_columns, word_columns)
        if sample_column != gene_column
        and 1 < n_values_of_column[gene_column] < len(rows)
        and _identify_rows(opening, sample_column, gene_column)
    ]
    if not column_pairs:
        return None
    sample, gene = max(column_pairs, key=lambda columns: _header_match(header, columns))
    value_column = max(
        value_columns, key=lambda k: (VALUE_HEADER.fullmatch(header[k]) is not None, -k)
    )
    return header[sample], header[gene], header[value_column]


def _is_numeric(cells: Sequence[str]) -> bool:
    """Tell whether nearly all cells that are not missing are numbers."""
    filled_cells = [cell for cell in cells if not is_missing(cell)]
    n_numbers = sum(is_number(cell.replace(",", ".")) for cell in filled_cells)
    return bool(filled_cells) and n_numbers >= NUMERIC_SHARE * len(filled_cells)


def _are_consecutive(cells: Sequence[str]) -> bool:
    """Tell whether cells are whole numbers that rise by one."""
    if not all(cell.isdigit() and is_number(cell) for cell in cells):
        return False
    return bool((np.diff([int(cell) for cell in cells]) == 1).all())


def _identify_rows(opening: Opening, sample_column: int, gene_column: int) -> bool:
    """Tell whether two columns together identify nearly every row.

    If they are called as samples and genes are, up to `MAX_REPLICATES` rows may share both.
    """
    pairs = Counter((row[sample_column], row[gene_column]) for row in opening.rows)
    is_sample, is_gene, *_ = _header_match(opening.header, (sample_column, gene_column))
    n_replicates = min(max(pairs.values()), MAX_REPLICATES) if is_sample and is_gene else 1
    return len(pairs) * n_replicates >= MIN_IDENTIFIED_SHARE * len(opening.rows)


def _header_match(header: Sequence[str], columns: tuple[int, int]) -> tuple[bool, bool, bool, int]:
    """Return a sort key, larger the more two columns, by their headers, look like sample and gene.

    It tells whether the first is called as samples are, whether the second is called as genes are,
    whether that is a usual name of genes, and how far left the second stands.
    """
    sample, gene = columns
    is_sample = SAMPLE_HEADER.fullmatch(header[sample]) is not None
    is_gene = GENE_HEADER.fullmatch(header[gene]) is not None
    is_usual_gene = (
        re.fullmatch(r"assay|gene.*|symbol|protein.*", header[gene], re.IGNORECASE) is not None
    )
    return is_sample, is_gene, is_usual_gene, -gene
