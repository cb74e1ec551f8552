"""Several omics in one matrix: which omic each gene is of, and the factors of their l1 terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.study.prior_weights import LEAST
from genesig.data.study.sheet_check import check_column
from genesig.errors import Problem, did_you_mean
from genesig.words import counted, listing

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
Factors = Mapping[str, float] | str | None

MARK = ":"
"""What stands between an omic and the gene's own name."""
LEARNED = "learned"
MOST = 20
"""Omics of a study: each is left out once, and an omic is no set of genes."""
MOST_LEARNED = 3
"""Omics whose factors are learned: ratios of 1, 2 and 4 make 5 choices of two, 19 of three."""
MIXING = ("standardise_samples", "rank_samples", "log_cpm", "rma_background", "quantile",
          "size_factors", "vst")  # fmt: skip
"""Steps that hold the values of a sample against each other."""


def omics_of(table: pd.DataFrame | None, column: str | None, where: str,
             genes: Sequence[str] | None, factors: Factors,
             problems: list[Problem]) -> Array | None:  # fmt: skip
    """Return the omic of each gene, (n_genes,) words, or None: one matrix, or what is wrong.

    Parameters
    ----------
    table : DataFrame of strings or None
        Gene table, index = gene ids.
    column : str or None
        Its column; None is what stands before the first colon of a gene's id.
    where : str
        The file of the table, or of the matrix, for messages.
    genes : sequence of str or None
        Of the matrix; None where it cannot be used.
    factors : mapping, str or None
        ``data.omics``: omic to factor, or ``learned``; None for one matrix.
    problems : list
        Takes what is wrong, a line each.
    """
    if factors is None or genes is None:
        return None
    if column is None:
        found = {gene: gene.partition(MARK)[0].strip() if MARK in gene else "" for gene in genes}
        told, how = "before a colon", f"name all as omic{MARK}gene, or set data.omic"
    elif table is not None:
        names = list(table.columns)
        check_column(column, "data.omic", names, str(table.index.name), where, problems)
        if names.count(column) != 1:
            return None
        cells = dict(zip(map(str, table.index[::-1]), map(str, table[column][::-1]), strict=True))
        found = {gene: cells.get(gene, cells.get(gene.rpartition("#")[0], "")).strip()
                 for gene in genes}  # fmt: skip
        told, how = f"in column '{column}'", "fill it in"
    else:
        return None
    blank = [gene for gene, omic in found.items() if not omic]
    if blank:
        what = f"no omic {told} of {counted(len(blank), 'gene')}: {listing(blank)}; {how}"
        problems.append(Problem(where, what))
        return None
    faults = list(_faults(Counter(found.values()), factors))
    problems += [Problem(where, what) for what in faults]
    return None if faults else np.array(list(found.values()), dtype=object)


def _faults(sizes: Counter[str], factors: Factors) -> Iterator[str]:
    """Yield how the omics of the matrix do not go with what the config says of them."""
    names = sorted(sizes)
    if not 2 <= len(names) <= MOST:
        shown = listing(names)
        yield f"has {counted(len(names), 'omic')}, {shown}; data.omics is for 2 to {MOST}"
        return
    if not isinstance(factors, Mapping):
        if len(names) > MOST_LEARNED:
            what = f"has {counted(len(names), 'omic')}, {listing(names)}; their factors are learned"
            yield f"{what} of at most {MOST_LEARNED}: give those of all in data.omics"
        return
    given = list(map(str, factors))
    if lacking := [name for name in names if name not in given]:
        yield f"data.omics has no factor for {listing(lacking)}; add it"
    for name in given:
        if name not in sizes:
            near = did_you_mean(name, names) or f" (omics: {listing(names)})"
            yield f"data.omics names '{name}', which no gene is of{near}"


def with_factors(weights: Array | None, omics: Array | None, factors: Factors) -> Array | None:
    """Return the prior weights (n_genes,) times the given factors; learned ones are none here."""
    if omics is None or not isinstance(factors, Mapping):
        return weights
    of = {str(name): float(factor) for name, factor in factors.items()}
    own = np.array([of[omic] for omic in omics])
    return own if weights is None else weights * own


def omic_settings(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield which settings do not go with several omics: key, what."""
    data, linear = config["data"], config.get("linear", {})  # one job is not told of these
    if data["omics"] is None:
        if data["omic"] is not None:
            yield "data.omic", "is of use with data.omics; set it to learned, or give factors"
        return
    for name, factor in data["omics"].items() if isinstance(data["omics"], Mapping) else ():
        if factor == 0:
            yield "data.omics", (f"factor 0 leaves '{name}' without a penalty, as covariates are: "
                                 "put its columns into the sample table, and name them in "
                                 "data.covariates")  # fmt: skip
        elif factor < LEAST:
            yield "data.omics", f"factor {factor:g} of '{name}' is below {LEAST:g}; raise it"
    if linear.get("penalty") == "fused":
        yield "data.omics", "weighs genes; linear.penalty: fused has no such weights, take l1"
    for place, steps in config["normalise"].items():
        for number, step in enumerate(steps, 1):
            if step["step"] in MIXING:
                what = f"'{step['step']}' holds all values of a sample against each other, and "
                what += "omics have scales of their own; normalise each before they are joined"
                yield f"normalise.{place}, item {number}", what
