"""The genes of several studies: one column for each symbol, then those that all studies have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from genesig.data.files.names import POOLED
from genesig.data.files.readers import read_genes
from genesig.data.steps.normalise import fit_steps
from genesig.data.study.pool.record import Member
from genesig.data.study.sheet_check import check_column
from genesig.errors import Problem, attempt
from genesig.words import counted, is_missing, listing

Array = np.ndarray[Any, Any]
Problems = list[Problem]

SEVERAL = "///"
"""Between the symbols of a probe that measures several genes, in Affymetrix' tables: the first one
names it, as it does for most others who use such tables."""
FEW = 0.5
"""Share of a study's genes below which it is said how many of them are common."""


def by_symbol(X: Array, probes: Sequence[str], annotation: str | None, symbol: str | None,
              rule: str, problems: Problems) -> tuple[Array, tuple[str, ...]] | None:  # fmt: skip
    """Return one column for each gene, and the genes; None where the gene table is at fault.

    No label is looked at: of the probes of a gene the one with the largest mean (or interquartile
    range) over the samples stands for it, or their median in each sample.

    Parameters
    ----------
    X : (n_samples, n_probes) float
    annotation, symbol : str or None
        Gene table and its column of symbols; without it each probe is a gene.
    rule : str
        A name in `collapse.RULES`.
    """
    if annotation is None:
        return X, tuple(probes)
    symbols = _symbols(annotation, symbol, problems)
    if symbols is None:
        return None
    known = [k for k, probe in enumerate(probes) if probe in symbols]
    if not known:
        what = f"no gene of the matrix is in its first column: the matrix has {listing(probes)}, "
        what += f"the column has {listing(symbols)}; name the gene table of this matrix"
        problems.append(Problem(annotation, what))
        return None
    names = [symbols[probes[k]] for k in known]
    collapse = fit_steps(X[:, known], [{"step": "collapse", "by": names, "rule": rule}])
    return collapse.transform(X[:, known]), tuple(names[k] for k in collapse.genes)


def _symbols(annotation: str, symbol: str | None, problems: Problems) -> dict[str, str] | None:
    table = attempt(lambda: read_genes(annotation, None), problems)
    if table is None:
        return None
    columns = list(map(str, table.columns))
    check_column(symbol, "symbol", columns, str(table.index.name), annotation, problems)
    column = symbol if symbol is not None else next(iter(columns), None)
    if column is None:
        problems.append(Problem(annotation, "needs two columns: gene id and symbol"))
    if column not in columns or columns.count(column) > 1:
        return None
    first = table[~table.index.duplicated()][column]
    named = {str(probe): str(text).split(SEVERAL)[0].strip() for probe, text in first.items()}
    return {probe: name for probe, name in named.items() if not is_missing(name)}


def common_genes(members: Sequence[Member], problems: Problems) -> list[str]:
    """Return the genes that all studies have, in the order of their names."""
    common = set(members[0].genes).intersection(*(member.genes for member in members[1:]))
    if not common:
        found = "; ".join(f"{member.name} has {listing(member.genes)}" for member in members[:3])
        what = f"no gene is in all of them: {found}; name the table that gives each its symbol in "
        problems.append(Problem(POOLED, what + "'annotation'"))
        return []
    for member in members:
        if len(common) < FEW * len(member.genes):
            what = f"{len(common)} of the {counted(len(member.genes), 'gene')} of '{member.name}' "
            what += "are in every study; the others are left out"
            problems.append(Problem(member.where, what, "warning"))
    return sorted(common)


def lost_to(members: Sequence[Member]) -> list[dict[str, Any]]:
    """Count for each study its samples and genes, and those that other studies lack.

    Returns
    -------
    list of dict
        name, samples, measured, genes; lost: genes of it that are not common; lacking: name of
        another study -> how many of its genes that one lacks.
    """
    own = {member.name: set(member.genes) for member in members}
    common = set.intersection(*own.values())
    return [
        {"name": member.name, "samples": len(member.table), "measured": member.measured,
         "genes": len(member.genes), "lost": len(own[member.name] - common),
         "lacking": {other: len(own[member.name] - genes)
                     for other, genes in own.items() if other != member.name}}
        for member in members
    ]  # fmt: skip
