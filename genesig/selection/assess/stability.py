"""How alike the gene lists of different samples are, and whether other lists agree better."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.results import Dataset, Fits, Splits
from genesig.selection.genes.blocks import block_of_every_gene
from genesig.selection.genes.frequency import agreement, selection_matrix

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

SHARED = 0.1
"""What the halvings of one set of samples have in common, as a share of the variance between them:
in noise, and in the difference of two kinds of lists, 0 to .06 in simulations of genes in blocks
and alone. Stability itself has .2 to .6 where there is a signal, so that no interval would hold for
other patients."""
LEAST, CLEAR = 3, 2.0
"""Pairs, and standard errors, from which lists agree clearly more or less than others do."""
COLUMNS = [
    "mu",
    "source",
    "stability",
    "than_chance",
    "lasso",
    "than_lasso",
    "n_sets",
    "mean_size",
    "shared",
    "shared_by_chance",
]


class Pairs(NamedTuple):
    r"""How M pairs of lists agree: of each, Φ = 1 - D / Σ_b [h_b (1 - h'_b) + h'_b (1 - h_b)].

    D is the number of parts that one of the two lists alone hits. A list of k of d genes at random
    hits a part of s_b genes with :math:`h_b = 1 - (1 - k/d)^{s_b}`; h' is that of the other list.
    1: both hit the same; 0: no more than at random; of genes and lists of one length it is
    Kuncheva's index. Lists are compared within their pair only, whose samples are disjoint: the
    mean over pairs is, in expectation, that of two lists of other patients, of half as many
    samples as there are. A ratio of means would be larger where some studies' lists are short.

    Attributes
    ----------
    each : (M,) float
        Φ; NaN where both lists are empty or hold all.

    References
    ----------
    Of genes: Kuncheva 2007, IASTED AIA 390; Nogueira, Sechidis and Brown 2018, JMLR 18(174).
    Complementary halves: Shah and Samworth 2013, J R Stat Soc B 75:55.
    """

    each: Array

    @classmethod
    def of(cls, lists: csr_array, part: Array | None = None) -> Pairs:
        """Take lists (2M, d) of 0 and 1, of which 2i and 2i + 1 are a pair, and each gene's part.

        Without `part` each gene is one.
        """
        d = lists.shape[1]
        hits, sizes = lists, np.ones(d, dtype=np.int64)
        if part is not None:
            hits, sizes = _hits(lists, part), np.bincount(part)
        differ = np.asarray(abs(hits[0::2] - hits[1::2]).sum(axis=1), dtype=float)
        size, count = np.unique(sizes, return_counts=True)
        missed = (1 - np.asarray(lists.sum(axis=1), dtype=float)[:, None] / d) ** size
        one, other = missed[0::2], missed[1::2]
        chance = ((one * (1 - other) + other * (1 - one)) * count).sum(axis=1)
        defined = chance > 1e-9
        return cls(np.where(defined, 1 - differ / np.where(defined, chance, 1), np.nan))

    def stability(self) -> float:
        """Return the mean of those that are defined; NaN where none is."""
        known = self.each[~np.isnan(self.each)]
        return float(known.mean()) if len(known) else np.nan


def _hits(lists: csr_array, part: Array) -> csr_array:
    """Return whether each list hits each part, (2M, B), as 0 and 1."""
    from scipy.sparse import csr_array as sparse

    into = sparse((np.ones(len(part)), (np.arange(len(part)), part)))
    return sparse((lists @ into > 0).astype(float))


def shared_genes(lists: csr_array) -> dict[str, float]:
    """Return the mean number of genes that both lists of a pair contain, and that by chance.

    Lists (2M, d) are 0 and 1; 2i and 2i + 1 are a pair. Two random lists of k and k' of d genes
    share k k' / d on average. NaN without pairs.
    """
    n_pairs, n_genes = lists.shape[0] // 2, lists.shape[1]
    if n_pairs == 0:
        return {"shared": np.nan, "shared_by_chance": np.nan}
    shared = lists[0::2].multiply(lists[1::2]).sum(axis=1)
    sizes = np.asarray(lists.sum(axis=1), dtype=float)
    by_chance = sizes[0::2] * sizes[1::2] / n_genes
    return {"shared": float(np.mean(shared)), "shared_by_chance": float(np.mean(by_chance))}


def compared(own: Pairs, other: Pairs | None = None) -> str:
    """Say whether lists agree clearly ``more`` than others do, or ``less``, or are ``alike``.

    The others are lists at random, or those of the same halves. Of the differences δ of M pairs,
    with variance s², the mean has the variance (1/M + ρ) s², ρ being what halvings of one set of
    samples share. Empty for fewer than three pairs.

    References
    ----------
    Nadeau and Bengio 2003, Machine Learning 52:239, whose share, of overlapping test sets, is
    larger.
    """
    delta = own.each if other is None else own.each - other.each
    delta = delta[~np.isnan(delta)]
    if len(delta) < LEAST:
        return ""
    clear = CLEAR * np.sqrt((1 / len(delta) + SHARED) * delta.var(ddof=1))
    return "more" if delta.mean() > clear else "less" if delta.mean() < -clear else "alike"


def stability_table(
    dataset: Dataset, splits: Splits, observed: Fits, subsamples: Fits
) -> pd.DataFrame:  # fmt: skip
    """Return stability.tsv: each mu on pairs of half-subsamples, and on the outer splits.

    Training sets of outer splits overlap (by 3/4 at five folds, almost wholly at leave-one-out),
    so that their lists look more stable than those of other patients would; the pairs of halves
    are the honest figure. The chosen lists have no mu; a mu at which a list was too long to be
    kept has no stability.

    Of the chosen half-sample lists also: ``than_chance``, whether they agree more than lists at
    random (see `compared`); ``lasso``, the stability of lists of the lasso, as long, of the same
    halves, and ``than_lasso``, whether they agree more than these; and all of it once more for
    ``half_blocks``, the blocks of correlated genes that the lists hit (see `whole_blocks`).

    ``shared`` is the mean number of genes that both lists of a pair contain, ``shared_by_chance``
    the number expected of lists as long drawn at random (see `shared_genes`).
    """
    import pandas as pd

    halves, d = Fits.gather([subsamples], [h.name for h in splits.subsamples]), len(dataset.genes)
    rows = []
    for source, fits in (("half_subsamples", halves), ("outer_splits", observed)):
        for at, mu in enumerate(observed.mu):
            lists = selection_matrix(fits, d)[at :: len(observed.mu)]
            about = {"mu": mu, "source": source, "n_sets": len(fits)}
            if not fits.whole[at]:
                rows.append(about)
                continue
            about["mean_size"] = lists.sum() / len(fits) if len(fits) else np.nan
            if fits is observed:
                rows.append({**about, "stability": of_lists(lists)})
            elif np.isnan(mu):
                genes, groups = _of_chosen(dataset, lists, fits)
                rows += [{**about, **genes, **shared_genes(lists)}, {**about, **groups}]
            else:
                rows.append({**about, "stability": Pairs.of(lists).stability()})
    return pd.DataFrame(rows, columns=COLUMNS)


def of_lists(lists: csr_array) -> float:
    """Return the `agreement` of M lists among d genes, (M, d) of 0 and 1."""
    return agreement(np.split(lists.indices, lists.indptr[1:-1]), lists.shape[1])


def _of_chosen(dataset: Dataset, lists: csr_array, halves: Fits) -> list[dict[str, Any]]:
    """Return what is said of the chosen half-sample lists: of their genes, then of their blocks."""
    rival = _rivals(halves, lists.shape[1])
    times = np.asarray(lists.sum(axis=0) + (0 if rival is None else rival.sum(axis=0)))
    found = []
    for source, part in (
        ("half_subsamples", None), ("half_blocks", block_of_every_gene(dataset.X, times))
    ):  # fmt: skip
        own = Pairs.of(lists, part)
        row = {"source": source, "stability": own.stability(), "than_chance": compared(own)}
        if rival is not None:
            other = Pairs.of(rival, part)
            row |= {"lasso": other.stability(), "than_lasso": compared(own, other)}
        found.append(row)
    return found


def _rivals(halves: Fits, d: int) -> csr_array | None:
    """Return the lists of the lasso as 0 and 1, (2M, d)."""
    if halves.rival_indptr is None or halves.rival_indices is None:
        return None
    from scipy.sparse import csr_array as sparse

    ones = np.ones(len(halves.rival_indices))
    return sparse((ones, halves.rival_indices, halves.rival_indptr), shape=(len(halves), d))
