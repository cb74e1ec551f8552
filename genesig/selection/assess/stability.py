"""How alike the gene lists of different samples are, and whether other lists agree better."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genesig.results import Dataset, Fits, Splits
from genesig.selection.assess.agreement import agreement
from genesig.selection.genes.block_evidence import whole_blocks
from genesig.selection.genes.frequency import selections

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

Array = np.ndarray[Any, Any]

SHARED = 0.1
"""What the halvings of one set of samples have in common, as a share of the variance between them:
in noise, and in the difference of two kinds of lists, 0 to .05 in simulations of genes in blocks
and alone. Stability itself has up to .3 where the signal is strong, so that no interval would hold
for other patients."""
CLEAR = 2.0
"""Standard errors from which lists agree clearly more or less than others do."""
COLUMNS = (
    ["mu", "source", "stability", "than_chance", "lasso", "than_lasso", "n_sets", "mean_size"]
)  # fmt: skip


class Pairs(NamedTuple):
    """How M pairs of lists differ, and what chance makes of it.

    Attributes
    ----------
    differ, share : (M,) float
        Parts that one list of a pair hits and the other does not; genes of d that a list holds on
        average.
    sizes : (B,) int
        Genes of each part: 1 for genes, more for blocks.
    """

    differ: Array
    share: Array
    sizes: Array

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
        held = np.asarray(lists.sum(axis=1), dtype=float)
        return cls(differ, held.reshape(-1, 2).mean(axis=1) / d, sizes)

    def stability(self) -> float:
        r"""Φ = 1 - mean D / Σ_b 2 h_b (1 - h_b), D the parts that one of two lists alone hits.

        With p the share of genes that a list holds on average, a list at random hits a part of s_b
        genes with :math:`h_b = 1 - (1 - p)^{s_b}`. 1: both halves always hit the same; 0: no more
        than at random. Lists are compared within their pair only, whose samples are disjoint, so
        that they agree as the lists of other patients would; it speaks of half as many samples as
        there are. NaN where every list is empty or holds all.

        References
        ----------
        Of genes: Nogueira, Sechidis and Brown 2018, JMLR 18(174), definition 4. Complementary
        halves: Shah and Samworth 2013, J R Stat Soc B 75:55.
        """
        return float(self._of(np.full((1, len(self.share)), 1 / max(1, len(self.share))))[0])

    def without_one(self) -> Array:
        """Return Φ without each of the pairs in turn, (M,)."""
        m = len(self.share)
        return self._of((1 - np.eye(m)) / (m - 1))

    def _of(self, weight: Array) -> Array:
        size, count = np.unique(self.sizes, return_counts=True)
        p = weight @ self.share
        missed = (1 - p[:, None]) ** size
        chance = (2 * count * missed * (1 - missed)).sum(axis=1)
        defined = chance > 1e-12 * p
        return np.where(defined, 1 - weight @ self.differ / np.where(defined, chance, 1), np.nan)


def _hits(lists: csr_array, part: Array) -> csr_array:
    """Return whether each list hits each part, (2M, B), as 0 and 1."""
    from scipy.sparse import csr_array as sparse

    into = sparse((np.ones(len(part)), (np.arange(len(part)), part)))
    return sparse((lists @ into > 0).astype(float))


def compared(own: Pairs, other: Pairs | None = None) -> str:
    """Say whether lists agree clearly ``more`` than others do, or ``less``, or are ``alike``.

    The others are lists at random, or those of the same halves. The standard error of the
    difference δ is that of a jackknife over the M pairs, and what halvings of one set of samples
    share:

    v = (1 + M/10) (M - 1)/M Σ_i (δ_(i) - δ̄_(.))².

    Empty where it is not defined, and for fewer than three pairs.

    References
    ----------
    Nadeau and Bengio 2003, Machine Learning 52:239, whose share, of overlapping test sets, is
    larger.
    """
    m = len(own.share)
    if m < 3:
        return ""
    delta = own.stability() - (0.0 if other is None else other.stability())
    each = own.without_one() - (0.0 if other is None else other.without_one())
    error = np.sqrt((1 + SHARED * m) * (m - 1) / m * np.sum(np.square(each - each.mean())))
    if np.isnan(error) or np.isnan(delta):
        return ""
    return "more" if delta > CLEAR * error else "less" if delta < -CLEAR * error else "alike"


def stability_table(
    dataset: Dataset, splits: Splits, observed: Fits, subsamples: Fits
) -> pd.DataFrame:  # fmt: skip
    """Return stability.tsv: each mu on pairs of half-subsamples, and on the outer splits.

    Training sets of outer splits overlap (by 3/4 at five folds, almost wholly at leave-one-out),
    so that their lists look more stable than those of other patients would; the pairs of halves
    are the honest figure. The chosen lists have no mu; a mu at which a list was too long to be
    kept has no stability.

    Of the chosen lists of halves also: ``than_chance``, whether they agree more than lists at
    random (see `compared`); ``lasso``, the stability of lists of the lasso, as long, of the same
    halves, and ``than_lasso``, whether they agree more than these; and all of it once more for
    ``half_blocks``, the blocks of correlated genes that the lists hit (see `whole_blocks`).
    """
    import pandas as pd

    halves, d = Fits.gather([subsamples], [h.name for h in splits.subsamples]), len(dataset.genes)
    rows = []
    for source, fits in (("half_subsamples", halves), ("outer_splits", observed)):
        for at, mu in enumerate(observed.mu):
            lists = selections(fits, d)[at :: len(observed.mu)]
            about = {"mu": mu, "source": source, "n_sets": len(fits)}
            if not fits.whole[at]:
                rows.append(about)
                continue
            about["mean_size"] = lists.sum() / len(fits) if len(fits) else np.nan
            if fits is observed:
                rows.append({**about, "stability": of_lists(lists)})
            elif np.isnan(mu):
                rows += [{**about, **each} for each in _of_chosen(dataset, lists, fits)]
            else:
                rows.append({**about, "stability": Pairs.of(lists).stability()})
    return pd.DataFrame(rows, columns=COLUMNS)


def of_lists(lists: csr_array) -> float:
    """Return the `agreement` of M lists among d genes, (M, d) of 0 and 1."""
    return agreement(np.split(lists.indices, lists.indptr[1:-1]), lists.shape[1])


def _of_chosen(dataset: Dataset, lists: csr_array, halves: Fits) -> list[dict[str, Any]]:
    """Return what is said of the chosen lists of halves: of their genes, then of their blocks."""
    rival = _rivals(halves, lists.shape[1])
    times = np.asarray(lists.sum(axis=0) + (0 if rival is None else rival.sum(axis=0)))
    found = []
    for source, part in (
        ("half_subsamples", None), ("half_blocks", whole_blocks(dataset.X, times))
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
