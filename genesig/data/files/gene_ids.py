"""Gene ids of a matrix: repeated ones, other versions, ids that a spreadsheet has converted."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np

from genesig.data.files.delimited import Matrix
from genesig.errors import Problem
from genesig.words import further_text, is_missing

MAX_REPEATED_SHARE = 0.5  # share of repeated ids above which they cannot be gene ids
# Ids whose .number is a version: Ensembl genes, transcripts and proteins (ENSG00000141510.18),
# RefSeq (NM_000546.6). Ids of genes on a clone (AC004556.1) also end so, but .1 is no version.
VERSIONED_ID = re.compile(
    r"(ENS[A-Z]{0,6}[EGPT]\d{11}|[NXWY][MRP]_\d{6,9})(?P<version>\.\d+)?(?P<region>_PAR_Y)?"
    r"(?P<symbol>[_|][A-Za-z]\S*)?",  # as ENSG00000141510.18_TP53
    re.ASCII,
)

# Ids of genes and probes, which are never names of samples: of Ensembl and RefSeq, Affymetrix,
# Illumina, Agilent, methylated sites, micro-RNA.
GENE_ID = re.compile(
    rf"{VERSIONED_ID.pattern}|\w+_at|ILMN_\d+|A_\d\d_P\d+|cg\d{{8}}|[a-z]{{3}}-(miR|let)-\S+",
    re.ASCII,
)


def with_single_ids(matrix: Matrix, file_name: str) -> tuple[Matrix, list[Problem]]:
    """Return a matrix of samples × genes with each gene id once, and a warning of merged columns.

    Of several columns of one id the median stands for it in each sample, as for several ids of one
    name in a gene table. It needs no other sample, so that new samples are treated alike. Most ids
    repeated are an error, and the matrix is unchanged.
    """
    columns_of_gene: dict[str, list[int]] = {}
    for column, gene in enumerate(matrix.columns):
        columns_of_gene.setdefault(gene, []).append(column)
    repeated_columns = {
        gene: columns for gene, columns in columns_of_gene.items() if len(columns) > 1
    }
    if not repeated_columns:
        return matrix, []
    gene, columns = next(iter(repeated_columns.items()))
    # Transposed, a gene is a line of the file; else a column, of which the names have number 1.
    examples = [str(matrix.lines[k] if matrix.transposed else k + 2) for k in columns[:3]]
    unit = f"{matrix.line_word}s" if matrix.transposed else "columns"
    message = f"gene id '{gene}' occurs {len(columns)} times ({unit} {', '.join(examples)})"
    message += further_text(len(repeated_columns) - 1, "id")
    repeated = sum(len(columns) - 1 for columns in repeated_columns.values())
    if repeated > MAX_REPEATED_SHARE * len(matrix.columns):
        message += "; is the first column that of the gene ids? Name each gene by an id of its own"
        return matrix, [Problem(file_name, message, code="ids_repeated")]
    message += "; their median in each sample is taken"
    single_matrix = matrix.subset(
        range(len(matrix.rows)), [gene_columns[0] for gene_columns in columns_of_gene.values()]
    )
    texts = dict(single_matrix.texts)
    for position, gene_columns in enumerate(columns_of_gene.values()):
        if len(gene_columns) == 1:
            continue
        values = matrix.cells[:, gene_columns]
        is_number = np.asarray(np.isfinite(values))
        has_number = is_number.any(axis=1)
        medians = np.full(len(values), np.nan)
        numbers = np.where(is_number, values, np.nan)[has_number]
        medians[has_number] = np.nanmedian(numbers, axis=1)
        single_matrix.cells[:, position] = medians  # `subset` has copied the cells
        for row, k in np.argwhere(~is_number).tolist():
            text = matrix.text(row, gene_columns[k])
            if not is_missing(text):  # a fault: it is kept, so that the check of the cells names it
                single_matrix.cells[row, position] = np.nan
                # Places of texts are those in the file, cells are samples × genes.
                texts[(position, row) if single_matrix.transposed else (row, position)] = text
    return replace(single_matrix, texts=texts), [
        Problem(file_name, message, "warning", code="ids_repeated")
    ]


def without_version(gene: str) -> str:
    """Return an id of Ensembl or RefSeq without its version; any other id as it is."""
    parts = VERSIONED_ID.fullmatch(gene)
    return f"{parts[1]}{parts['region'] or ''}{parts['symbol'] or ''}" if parts else gene


def other_versions(needed: Iterable[str], present: Iterable[str]) -> dict[str, str]:
    """Return needed id -> present id for the needed genes whose id is present in another version.

    ``ENSG00000000003.14`` is ``ENSG00000000003.15`` in another version. The dict has the order of
    `needed`; of several versions the last one in `present` counts.
    """
    present_ids = dict.fromkeys(present)  # fast look-up that keeps the order, unlike a set
    present_by_bare_id = {
        without_version(gene): gene for gene in present_ids if VERSIONED_ID.fullmatch(gene)
    }
    absent = (gene for gene in needed if gene not in present_ids and VERSIONED_ID.fullmatch(gene))
    versions = {gene: present_by_bare_id.get(without_version(gene)) for gene in absent}
    return {
        gene: other_version for gene, other_version in versions.items() if other_version is not None
    }


def other_spelling_hint(needed: Sequence[str], present: Collection[str]) -> str:
    """Return the end of a message about ids in another version or form; '' if there are none."""
    versions = other_versions(needed, present)
    if not versions:
        return _other_case_hint(needed, present)
    gene, other_version = next(iter(versions.items()))
    return (
        f"; {len(versions)} of them are here in another version, as '{other_version}' for "
        f"'{gene}': write the ids as the study has them, or all without the version"
    )


def _other_case_hint(needed: Iterable[str], present: Collection[str]) -> str:
    """Return the end of a message about ids in another case, or with .0 of a float; '' if none."""
    present_ids = set(present)
    id_of_key = {_id_key(gene): gene for gene in sorted(present_ids)}
    pairs = [
        (gene, id_of_key[_id_key(gene)])
        for gene in needed
        if gene not in present_ids and _id_key(gene) in id_of_key
    ]
    if not pairs:
        return ""
    gene, other_gene = pairs[0]
    message = f"; {len(pairs)} of them are here in another form, as '{other_gene}' for '{gene}'"
    if all(gene == other_gene.upper() for gene, other_gene in pairs):
        return f"{message}: write the symbols in upper case, if they are of the same species"
    return f"{message}: write the ids alike"


def _id_key(gene: str) -> str:
    """Return a key that ids of one gene share: lower case, a number without the .0 of floats."""
    number = re.fullmatch(r"(\d+)([.]0)?", gene)
    return number[1] if number else gene.lower()


MONTH = (
    r"(?:jan|feb|mar|mär|apr|mai|may|jun|jul|aug|ago|sep|sept|oct|okt|nov|dec|dez|déc|mrz|mars|avr"
    r"|january|february|march|april|june|july|august|september|october|november|december)\.?"
)
YEAR = r"(?:19|20)\d\d"
# SEPT2, MARCH1 and DEC1 as a spreadsheet shows or exports them: 2-Sep, Mar-01, 01. Mrz, 2021-03-01,
# 01.03.2021, 3/1/21; RIKEN's 2310009E13 as 2.31E+19.
DATE_OR_NUMBER = re.compile(
    rf"\d{{1,2}}[-. /]+{MONTH}(?:[-. /]+\d{{2,4}})?|{MONTH}[-. /]\d{{1,4}}"
    rf"|{YEAR}(?P<a>[-/.])\d{{1,2}}(?P=a)\d{{1,2}}(?:[ T]00:00(?::00)?)?"
    rf"|\d{{1,2}}(?P<b>[-/.])\d{{1,2}}(?P=b)(?:{YEAR}|\d\d)"
    r"|\d(?:[.,]\d+)?E\+\d+",
    re.IGNORECASE,
)
# The day numbers of 1982 to 2064, as a spreadsheet counts: MARCH1 as 44256.
DAY_NUMBER = re.compile("[345]\\d{4}")
MAX_DAY_NUMBER_SHARE = 0.02  # share of the names; if more are such numbers, they are ids of genes


def converted_names(names: Sequence[str]) -> list[str]:
    """Return the names, of genes or samples, that a spreadsheet has made dates or numbers."""
    day_numbers = [name for name in names if DAY_NUMBER.fullmatch(name)]
    max_day_numbers = max(2, MAX_DAY_NUMBER_SHARE * len(names))
    n_numbers = sum(map(str.isdigit, names))
    # If they are many, or fewer than the other whole numbers, they are ids, no days.
    if len(day_numbers) > max_day_numbers or n_numbers > 2 * len(day_numbers):
        day_numbers = []
    return [name for name in names if DATE_OR_NUMBER.fullmatch(name)] + day_numbers
