"""All genes by their t: how far sets are from where chance would put them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.splits.permute import permutation
from genesig.results import Dataset, Splits
from genesig.results.gene_sets import GeneSets
from genesig.selection.enrichment.representation import ROUNDING, Named, family_p
from genesig.selection.genes.univariate import statistics

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]

SHUFFLINGS = 1000


def ranking_table(
    dataset: Dataset, splits: Splits, named: Named, sets: GeneSets, shufflings: int = SHUFFLINGS
) -> pd.DataFrame:
    """Return enrichment_ranking.tsv: every set, the furthest from chance first.

    ``score`` is `larger_mean` of the t of `univariate_table`, positive where the set is higher in
    the positive class; of several probes of a gene the one of largest |t| counts. The labels are
    shuffled as the permutations of the study do it, and all is done again: genes of a set that go
    together stay so. ``normalised`` is how many standard deviations the size of the score is above
    its mean, under all labels, the observed ones among them, so that large and small, correlated
    and other sets are alike. ``p_value`` is that of the set by itself, ``family_p`` that against
    the largest of all sets, see `family_p`. ``leading`` names the set's genes on the side
    of its score, by falling |t|.
    """
    import pandas as pd

    observed = by_gene(statistics(dataset), named)
    score = larger_mean(observed, named)
    null = shuffled_scores(dataset, splits, named, shufflings)
    size = np.abs(np.vstack([score, null]))
    z = normalised(size)
    table = pd.DataFrame(
        {
            "set": sets.names,
            "about": sets.about,
            "genes": named.sizes(),
            "score": score,
            "normalised": z[0],
            "p_value": (1 + (size[1:] >= size[0] - ROUNDING).sum(axis=0)) / len(size),
            "family_p": family_p(z[0], z[1:]),
            "leading": leading(observed, named, score),
        }
    )
    return table.sort_values("normalised", ascending=False, kind="stable", ignore_index=True)


def larger_mean(t: Array, named: Named) -> Array:
    """Return of each set the mean of its rises, or less that of its falls if larger, (n_sets,).

    Rises are max(t, 0), falls max(-t, 0), each less its mean over all genes and divided by its
    standard deviation: a set stands out among genes, where most of them differ, too; 0 where it is
    above all genes on neither side. Rises do not make up for falls, as in a mean of all t. Unlike
    the running sum of Subramanian and others, which cannot exceed 1, it grows with the effect, and
    a set whose genes go together can stand out.

    Source: maxmean, restandardised, of Efron and Tibshirani 2007.
    """
    up, down = ((named.members @ _among_all(np.maximum(each, 0))) / named.sizes()
                for each in (t, -t))  # fmt: skip
    return np.asarray(np.where(up >= down, 1, -1) * np.maximum(np.maximum(up, down), 0))


def _among_all(sizes: Array) -> Array:
    spread = sizes.std()
    return np.asarray((sizes - sizes.mean()) / spread if spread > ROUNDING else 0 * sizes)


def normalised(size: Array) -> Array:
    """Return each size less the mean of its set, over their standard deviation, (B, n_sets).

    0 where all are alike.
    """
    above, spread = size - size.mean(axis=0), size.std(axis=0)
    z: Array = np.divide(above, spread, out=np.zeros_like(size), where=spread > ROUNDING)
    return z


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
        null[number - 1] = larger_mean(statistic, named)
    return null


def leading(t: Array, named: Named, score: Array) -> list[str]:
    """Return the genes of each set whose t has the sign of its score, by falling |t|."""
    out = []
    for k, side in enumerate(np.sign(score)):
        genes = named.members.indices[slice(*named.members.indptr[k:][:2])]
        genes = genes[t[genes] * side > 0]
        genes = genes[np.argsort(-np.abs(t[genes]), kind="stable")]
        out.append(", ".join(map(str, named.symbols[genes])))
    return out
