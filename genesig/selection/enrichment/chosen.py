"""Which sets the chosen lists of all splits hold more of than those of permuted labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.results import Fits
from genesig.results.gene_sets import GeneSets
from genesig.selection.enrichment.family import ROUNDING, family_p
from genesig.selection.enrichment.named import Named
from genesig.selection.enrichment.over import rows_of
from genesig.selection.genes.frequency import selection_counts

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]

LEAST = 0.1
"""Added to the variance: without it one selected gene of a set of one or two, of which hardly any
is expected, would be the largest statistic of every permutation (s0 of Tusher and others 2001)."""


def selection_table(
    named: Named, sets: GeneSets, observed: Fits, permuted: Fits
) -> pd.DataFrame:  # fmt: skip
    """Return rows of enrichment.tsv: the chosen lists of all splits, against permuted labels.

    Genes of a set that go together are selected together, which a draw of single genes does not
    know. ``shared`` is the mean number of a set's genes in the chosen lists of the splits and
    ``size`` their mean length; ``expected`` is the mean of the former over the permutations, per
    gene of their lists, times ``size``. p is that of `excess` against the same set in the
    permutations, ``family_p`` that against the largest of all sets, see `family.family_p`.
    """
    shared, size = _shared(named, observed)
    null, sizes = _shared(named, permuted)
    z, chance = (excess(*each, named) for each in ((shared, size), (null, sizes)))
    p = (1 + (chance >= z - ROUNDING).sum(axis=0)) / (1 + len(null))
    expected = (null / np.maximum(sizes, 1e-300)[:, None]).mean(axis=0) * size
    table = rows_of(sets, shared[0], expected, p, family_p(z[0], chance))
    return table.assign(
        list="chosen lists", reference="permuted labels", genes=named.sizes()[table.index],
        size=size[0], names="",
    )  # fmt: skip


def excess(shared: Array, size: Array, named: Named) -> Array:
    """Return ``(s - m K/N) / sqrt(v + .1)`` of each permutation and set, (B, n_sets).

    v = m K/N (1 - K/N) (N - m)/(N - 1) is the variance of s genes of a set of K among m genes drawn
    of N: each permutation is held against the length of its own lists, and sets of all sizes
    against one another. 0 where a permutation selects nothing, or a set has all genes.

    Parameters
    ----------
    shared, size : (B, n_sets), (B,) float
        s and m, which are means over splits.
    """
    n = len(named)
    share = named.sizes() / n
    drawn = size[:, None]
    variance = drawn * share * (1 - share) * np.maximum(n - drawn, 0) / max(n - 1, 1)
    return np.asarray((shared - drawn * share) / np.sqrt(variance + LEAST))


def _shared(named: Named, fits: Fits) -> tuple[Array, Array]:
    """Return for each permutation how many genes of each set a list has, and how many in all.

    (n_permutations, n_sets) and (n_permutations,), means over the splits.
    """
    n_mu, numbers = len(fits.mu), np.unique(fits.permutation)
    counts = selection_counts(fits, len(named.number))[n_mu - 1 :: n_mu]
    splits = len(fits) / max(1, len(numbers))
    often = np.zeros((len(numbers), len(named)))
    np.add.at(often.T, named.number, counts.toarray().T / splits)
    return (named.members @ often.T).T, often.sum(axis=1)
