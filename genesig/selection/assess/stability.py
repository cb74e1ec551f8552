"""Stability: the agreement of gene lists from separate halves of the samples."""

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

HALVING_CORRELATION = 0.1
"""Correlation of the differences of two halvings of the same samples.

Simulations of genes in blocks and alone gave 0 to 0.06, in noise and for the difference of two
kinds of lists. Stability itself has 0.2 to 0.6 if there is a signal; an interval of it would not
hold for other patients.
"""

MIN_PAIRS = 3  # pairs of lists from which on two kinds of lists are compared

CLEAR_ERRORS = 2.0  # standard errors from which on lists agree clearly more or less

AGREEMENT_COLUMNS = ["stability", "than_chance", "lasso", "than_lasso"]
SIZE_COLUMNS = ["n_sets", "mean_size", "shared", "shared_by_chance"]
STABILITY_COLUMNS = ["mu", "source", *AGREEMENT_COLUMNS, *SIZE_COLUMNS]


class PairAgreement(NamedTuple):
    r"""Agreement Φ = 1 - D / Σ_b [h_b (1 - h'_b) + h'_b (1 - h_b)] of each of M pairs of lists.

    Genes are in groups b of s_b genes, or each is a group of its own. D is the number of groups
    that only one of the two lists hits. A random list of k of d genes hits group b with probability
    :math:`h_b = 1 - (1 - k/d)^{s_b}`; h' is that of the second list. Φ is 1 if both lists hit the
    same groups, and 0 on average for random lists. For single genes and lists of equal length it is
    Kuncheva's index. Lists are compared only within their pair, whose samples are disjoint: the
    expected mean over pairs is the agreement of two lists from other patients, half as many as
    here. A ratio of means would be larger if some lists are short.

    Source: Of genes: Kuncheva 2007, IASTED AIA 390; Nogueira, Sechidis and Brown 2018, JMLR
    18(174). Complementary halves: Shah and Samworth 2013, J R Stat Soc B 75:55.
    """

    phi: Array  # (M,) float, NaN if both lists are empty or hold all genes

    @classmethod
    def from_lists(cls, lists: csr_array, group_of_gene: Array | None = None) -> PairAgreement:
        """Return the agreement of lists (2M, d) of 0 and 1; rows 2i and 2i + 1 are a pair.

        `group_of_gene` (d,) numbers the group of each gene; without it each gene is a group.
        """
        d = lists.shape[1]
        hits = lists
        sizes = np.ones(d, dtype=np.int64)
        if group_of_gene is not None:
            hits = _group_hits(lists, group_of_gene)
            sizes = np.bincount(group_of_gene)
        differ = np.asarray(abs(hits[0::2] - hits[1::2]).sum(axis=1), dtype=float)
        size, count = np.unique(sizes, return_counts=True)
        # 1 - h of each list (row) for groups of each size (column)
        missed = (1 - np.asarray(lists.sum(axis=1), dtype=float)[:, None] / d) ** size
        first_missed = missed[0::2]
        second_missed = missed[1::2]
        chance = (
            (first_missed * (1 - second_missed) + second_missed * (1 - first_missed)) * count
        ).sum(axis=1)
        is_defined = chance > 1e-9
        return cls(np.where(is_defined, 1 - differ / np.where(is_defined, chance, 1), np.nan))

    def stability(self) -> float:
        """Return the mean Φ of the pairs for which it is defined; NaN if there is none."""
        defined = self.phi[~np.isnan(self.phi)]
        return float(defined.mean()) if len(defined) else np.nan


def _group_hits(lists: csr_array, group_of_gene: Array) -> csr_array:
    """Return whether each list contains a gene of each group, (2M, B), as 0 and 1."""
    from scipy.sparse import csr_array

    membership = csr_array(
        (np.ones(len(group_of_gene)), (np.arange(len(group_of_gene)), group_of_gene))
    )
    return csr_array((lists @ membership > 0).astype(float))


def shared_genes(lists: csr_array) -> dict[str, float]:
    """Return the mean number of genes that the lists of a pair share, observed and by chance.

    Lists (2M, d) are 0 and 1; 2i and 2i + 1 are a pair. Two random lists of k and k' of d genes
    share k k' / d on average. NaN without pairs.
    """
    n_pairs = lists.shape[0] // 2
    n_genes = lists.shape[1]
    if n_pairs == 0:
        return {"shared": np.nan, "shared_by_chance": np.nan}
    shared = lists[0::2].multiply(lists[1::2]).sum(axis=1)
    sizes = np.asarray(lists.sum(axis=1), dtype=float)
    by_chance = sizes[0::2] * sizes[1::2] / n_genes
    return {"shared": float(np.mean(shared)), "shared_by_chance": float(np.mean(by_chance))}


def compare_agreement(lists: PairAgreement, reference: PairAgreement | None = None) -> str:
    """Return whether lists agree clearly ``more`` or ``less`` than a reference, or are ``alike``.

    The reference are other lists of the same halves, or random lists (Φ = 0). The mean of the
    differences δ of M pairs has the variance (1/M + ρ) s², with s² the variance of δ and ρ
    `HALVING_CORRELATION`. Empty for fewer than `MIN_PAIRS` pairs.

    Source: Nadeau and Bengio 2003, Machine Learning 52:239, whose share, of overlapping test sets,
    is larger.
    """
    delta = lists.phi if reference is None else lists.phi - reference.phi
    delta = delta[~np.isnan(delta)]
    if len(delta) < MIN_PAIRS:
        return ""
    clear_difference = CLEAR_ERRORS * np.sqrt(
        (1 / len(delta) + HALVING_CORRELATION) * delta.var(ddof=1)
    )
    if abs(delta.mean()) <= clear_difference:
        return "alike"
    return "more" if delta.mean() > 0 else "less"


def stability_table(
    dataset: Dataset, splits: Splits, observed: Fits, subsamples: Fits
) -> pd.DataFrame:
    """Return stability.tsv: each mu on pairs of half-subsamples, and on the outer splits.

    Training sets of outer splits overlap (by 3/4 at five folds, almost wholly at leave-one-out),
    so that their lists look more stable than those of other patients would; the pairs of halves
    are the honest figure. The chosen lists have no mu; a mu at which a list was too long to be
    kept has no stability.

    Of the chosen half-sample lists also: ``than_chance``, whether they agree more than lists at
    random (see `compare_agreement`); ``lasso``, the stability of lists of the lasso, as long, of
    the same halves, and ``than_lasso``, whether they agree more than these; and all of it once more
    for ``half_blocks``, the blocks of correlated genes that the lists hit (see
    `block_of_every_gene`).

    ``shared`` is the mean number of genes that both lists of a pair contain, ``shared_by_chance``
    the number expected of lists as long drawn at random (see `shared_genes`).

    observed, subsamples: of `Fits.with_chosen`, with the same mu.
    """
    import pandas as pd

    half_fits = Fits.gather([subsamples], [half.name for half in splits.subsamples])
    n_genes = len(dataset.genes)
    rows = []
    for source, fits in (("half_subsamples", half_fits), ("outer_splits", observed)):
        for column, mu in enumerate(observed.mu):
            lists = selection_matrix(fits, n_genes)[column :: len(observed.mu)]
            row = {"mu": mu, "source": source, "n_sets": len(fits)}
            if not fits.whole[column]:
                rows.append(row)
                continue
            row["mean_size"] = lists.sum() / len(fits) if len(fits) else np.nan
            if fits is observed:
                rows.append({**row, "stability": list_agreement(lists)})
            elif np.isnan(mu):
                genes, groups = _rows_of_chosen_lists(dataset, lists, fits)
                rows += [{**row, **genes, **shared_genes(lists)}, {**row, **groups}]
            else:
                rows.append({**row, "stability": PairAgreement.from_lists(lists).stability()})
    return pd.DataFrame(rows, columns=STABILITY_COLUMNS)


def list_agreement(lists: csr_array) -> float:
    """Return the `agreement` of M lists among d genes, (M, d) of 0 and 1."""
    return agreement(np.split(lists.indices, lists.indptr[1:-1]), lists.shape[1])


def _rows_of_chosen_lists(
    dataset: Dataset, lists: csr_array, half_fits: Fits
) -> list[dict[str, Any]]:
    """Return the columns of stability.tsv for the chosen half-sample lists: genes, then blocks.

    lists (2M, d): 0 and 1. half_fits: fits of the halves, with the lists of the lasso if any.
    """
    lasso_lists = _lasso_lists(half_fits, lists.shape[1])
    n_selections = np.asarray(
        lists.sum(axis=0) + (0 if lasso_lists is None else lasso_lists.sum(axis=0))
    )
    rows = []
    for source, group_of_gene in (
        ("half_subsamples", None),
        ("half_blocks", block_of_every_gene(dataset.X, n_selections)),
    ):
        chosen_agreement = PairAgreement.from_lists(lists, group_of_gene)
        row = {
            "source": source,
            "stability": chosen_agreement.stability(),
            "than_chance": compare_agreement(chosen_agreement),
        }
        if lasso_lists is not None:
            lasso_agreement = PairAgreement.from_lists(lasso_lists, group_of_gene)
            row |= {
                "lasso": lasso_agreement.stability(),
                "than_lasso": compare_agreement(chosen_agreement, lasso_agreement),
            }
        rows.append(row)
    return rows


def _lasso_lists(half_fits: Fits, n_genes: int) -> csr_array | None:
    """Return the lists of the lasso as 0 and 1, (2M, d); None if none were fitted."""
    lists = half_fits.lasso_lists
    if lists is None:
        return None
    from scipy.sparse import csr_array

    ones = np.ones(len(lists.indices))
    return csr_array((ones, lists.indices, lists.indptr), shape=(len(half_fits), n_genes))
