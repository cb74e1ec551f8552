"""The order of all genes by their t: where sets stand in it, and where chance would put them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.quality.false_discovery import q_values
from genesig.data.splits.permute import permutation
from genesig.results import Dataset, Splits
from genesig.results.gene_sets import GeneSets
from genesig.selection.enrichment.named import Named
from genesig.selection.enrichment.running_sum import Peaks, peaks
from genesig.selection.genes.univariate import statistics

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

Array = np.ndarray[Any, Any]

SHUFFLINGS = 1000


def ranking_table(
    dataset: Dataset, splits: Splits, named: Named, sets: GeneSets, shufflings: int = SHUFFLINGS
) -> pd.DataFrame:
    """Return enrichment_ranking.tsv: every set, smallest p first.

    Genes are ordered by the t of `univariate_table`; of several probes of a gene the one of largest
    |t| counts. ``score`` is the running sum of `peaks`, positive where the set is higher in the
    positive class; ``leading`` names the genes up to its peak. The labels are shuffled as the
    permutations of the study do it, and all is done again: genes of a set that go together stay
    so. Of the scores under shuffled labels those of the same sign tell ``normalised``, the score
    over the mean of their sizes, and p = (1 + those as large)/(1 + all of them).
    """
    import pandas as pd

    observed = by_gene(statistics(dataset), named)
    found = peaks(observed, named.members)
    null = shuffled_scores(dataset, splits, named, shufflings)
    same = np.sign(null) == np.sign(found.score)
    larger = same & (np.abs(null) >= np.abs(found.score) - 1e-12)
    count = same.sum(axis=0)
    p = (1 + larger.sum(axis=0)) / (1 + count)
    mean = np.divide((np.abs(null) * same).sum(axis=0), count, out=np.full(len(count), np.nan),
                     where=count > 0)  # fmt: skip
    table = pd.DataFrame(
        {
            "set": sets.names,
            "about": sets.about,
            "genes": named.sizes(),
            "score": found.score,
            "normalised": found.score / mean,
            "p_value": p,
            "q_value": q_values(p),
            "leading": leading(observed, named, found),
        }
    )
    order = np.lexsort((np.arange(len(p)), -np.nan_to_num(np.abs(found.score / mean)), p))
    return table.iloc[order].reset_index(drop=True)


def by_gene(statistic: Array, named: Named) -> Array:
    """Return the statistic of largest size among the columns of each gene, (n_genes,)."""
    order = np.lexsort((np.abs(statistic), named.number))
    last = np.append(np.diff(named.number[order]) > 0, True)
    return np.asarray(statistic[order[last]])


def shuffled_scores(dataset: Dataset, splits: Splits, named: Named, count: int) -> Array:
    """Return the scores of all sets under shuffled labels, (count, n_sets)."""
    null = np.empty((count, len(named.sizes())))
    for number in range(1, count + 1):
        X = dataset.X[permutation(dataset, splits, number)]
        statistic = by_gene(statistics(replace(dataset, X=X)), named)
        null[number - 1] = peaks(statistic, named.members).score
    return null


def leading(statistic: Array, named: Named, found: Peaks) -> list[str]:
    """Return the genes of each set up to the peak of its sum, by falling |t|."""
    place = np.empty(len(statistic), dtype=np.int64)
    place[np.argsort(-statistic, kind="stable")] = np.arange(len(statistic))
    out = []
    for k, (score, peak) in enumerate(zip(*found, strict=True)):
        genes = _members(named.members, k)
        early = place[genes] <= peak if score > 0 else place[genes] >= peak
        genes = genes[early]
        genes = genes[np.argsort(-np.abs(statistic[genes]), kind="stable")]
        out.append(", ".join(map(str, named.symbols[genes])))
    return out


def _members(members: csr_array, k: int) -> Array:
    found: Array = members.indices[slice(*members.indptr[k:][:2])]
    return found
