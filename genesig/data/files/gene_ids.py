"""Gene ids of a matrix: rows of one id become one row; ids that differ by their version alone."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np

from genesig.data.files.delimited import Matrix
from genesig.errors import Problem
from genesig.words import is_missing, too

MOST_REPEATED = 0.5
"""Share of the rows from which on a first column that repeats itself is no column of gene ids."""
# Ensembl genes, transcripts and proteins, RefSeq; a clone's genes (AC004556.1) have no versions.
VERSIONED = re.compile(
    r"(ENS[A-Z]{0,6}[EGPT]\d{11}|[NXWY][MRP]_\d{6,9})(?P<version>\.\d+)?(?P<region>_PAR_Y)?"
    r"(?P<symbol>[_|][A-Za-z]\S*)?",  # as ENSG00000141510.18_TP53
    re.ASCII,
)


def with_single_ids(matrix: Matrix, where: str) -> tuple[Matrix, list[Problem]]:
    """Return a matrix of samples × genes in which every id stands once, and what was done.

    Of several columns of one id the median stands for it in each sample, as for several ids of one
    name in a gene table. It needs no other sample, so that new samples are treated alike.

    Parameters
    ----------
    matrix : Matrix
        Samples in rows.
    where : str
        Its file, for the message.
    """
    columns_of: dict[str, list[int]] = {}
    for column, gene in enumerate(matrix.columns):
        columns_of.setdefault(gene, []).append(column)
    several = {gene: columns for gene, columns in columns_of.items() if len(columns) > 1}
    if not several:
        return matrix, []
    gene, columns = next(iter(several.items()))
    places = [str(matrix.lines[k] if matrix.turned else k + 2) for k in columns[:3]]
    unit = f"{matrix.line_word}s" if matrix.turned else "columns"
    what = f"gene id '{gene}' occurs {len(columns)} times ({unit} {', '.join(places)})"
    what += too(len(several) - 1, "id")
    repeated = sum(len(columns) - 1 for columns in several.values())
    if repeated > MOST_REPEATED * len(matrix.columns):
        what += "; is the first column that of the gene ids? Name each gene by an id of its own"
        return matrix, [Problem(where, what, code="ids_repeated")]
    what += "; their median in each sample is taken"
    single = matrix.subset(range(len(matrix.rows)), [group[0] for group in columns_of.values()])
    texts = dict(single.texts)
    for place, group in enumerate(columns_of.values()):
        if len(group) == 1:
            continue
        values = matrix.cells[:, group]
        known = np.asarray(np.isfinite(values))
        blank = np.asarray(~known.any(axis=1))
        medians = np.nanmedian(
            np.where(known | blank[:, None], np.where(known, values, 0), np.nan), axis=1
        )
        single.cells[:, place] = np.where(blank, np.nan, medians)
        for row, k in np.argwhere(~known).tolist():
            text = matrix.text(row, group[k])
            if not is_missing(text):  # a fault, which the check of the cells names
                single.cells[row, place] = np.nan
                texts[(place, row) if single.turned else (row, place)] = text
    return replace(single, texts=texts), [Problem(where, what, "warning", code="ids_repeated")]


def without_version(gene: str) -> str:
    """Return an id of Ensembl or RefSeq without its version; any other id as it is."""
    parts = VERSIONED.fullmatch(gene)
    return f"{parts[1]}{parts['region'] or ''}{parts['symbol'] or ''}" if parts else gene


def other_versions(needed: Iterable[str], present: Iterable[str]) -> dict[str, str]:
    """Return the needed ids that are present in another version only, with that version."""
    here = set(present)
    of_bare = {without_version(gene): gene for gene in here if VERSIONED.fullmatch(gene)}
    absent = (gene for gene in needed if gene not in here and VERSIONED.fullmatch(gene))
    versions = {gene: of_bare.get(without_version(gene)) for gene in absent}
    return {gene: other for gene, other in versions.items() if other is not None}


def versions_hint(needed: Sequence[str], present: Collection[str]) -> str:
    """Return the end of a message that counts ids which differ by their version; '' for none."""
    versions = other_versions(needed, present)
    if not versions:
        return ""
    gene, other = next(iter(versions.items()))
    what = f"; {len(versions)} of them are here in another version, as '{other}' for '{gene}': "
    return f"{what}write the ids as the study has them, or all without the version"
