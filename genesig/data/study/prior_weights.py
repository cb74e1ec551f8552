"""Prior weights of genes: a column of the gene table, the larger the harder a gene is to select."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.study.sheet_check import check_column
from genesig.errors import Problem
from genesig.words import counted, is_number

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]

LEAST, MOST = 0.01, 100.0
"""Beyond these a gene is as good as never, or always, penalised."""


def weights_of(table: pd.DataFrame, column: str, where: str, genes: Sequence[str],
               problems: list[Problem]) -> Array | None:  # fmt: skip
    """Return the weight of each gene, (n_genes,), or None with what is wrong.

    Parameters
    ----------
    table : DataFrame of strings
        Gene table, index = gene ids.
    column : str
    where : str
        Its file, for messages.
    genes : sequence of str
        Of the matrix; the probes of a set (``1007_s_at#2``) have the weight of the set.
    problems : list
        Takes what is wrong, one line.
    """
    names = list(table.columns)
    check_column(column, "data.prior_weights", names, str(table.index.name), where, problems)
    if names.count(column) != 1:
        return None
    cells = dict(zip(map(str, table.index[::-1]), map(str, table[column][::-1]), strict=True))
    found = {gene: cells.get(gene, cells.get(gene.rpartition("#")[0], "")) for gene in genes}
    bad = [gene for gene, cell in found.items() if not _is_weight(cell)]
    if bad:
        cell = f"is '{found[bad[0]]}'" if found[bad[0]].strip() else "is blank"
        what = f"{column} of {counted(len(bad), 'gene')} is no weight ('{bad[0]}' {cell}); "
        what += f"data.prior_weights needs a number from {LEAST:g} to {MOST:g} for every gene"
        problems.append(Problem(where, what))
        return None
    return np.array([float(cell) for cell in found.values()])


def _is_weight(cell: str) -> bool:
    return is_number(cell) and LEAST <= float(cell) <= MOST
