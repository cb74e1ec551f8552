"""Whether values are missing more often in a class, or at an end of a number, than by chance.

Nothing of it goes back into a fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.quality.false_discovery import q_values
from genesig.response.known import RESPONSES
from genesig.results import Design

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
ROUNDING = 1e-7
"""Probabilities of tables that differ by less, relatively, are equal."""
CREDIBLE = 0.05
"""Largest share of false ones among the genes that are named."""


@dataclass(frozen=True, eq=False)
class Missingness:
    """Missing values against the response.

    Attributes
    ----------
    genes : (m,) int
        Genes that some samples miss, and some have.
    p : (m,) float
        Fisher's exact test of missing against class, over T > 2 classes T times the least of each
        class against the rest; of a number the rank sum test of those who miss the gene.
    by_class : (T, m) float
        Share of each class that misses each of the genes; T = 0 where there are no classes.
    sample_p : float
        Of the samples' shares of missing values: Kruskal and Wallis' test of the classes,
        Spearman's of a number. NaN where all are equal.
    class_share : (T,) float
        Share of all values that each class misses.
    """

    genes: Array
    p: Array
    by_class: Array
    sample_p: float
    class_share: Array

    @property
    def named(self) -> Array:
        """Places in `genes` of those with a false discovery rate of at most 5 %, the least first.

        Benjamini and Hochberg, over the genes that are missing somewhere.
        """
        q = q_values(self.p)
        found = np.argsort(self.p, kind="stable")
        return np.asarray(found[q[found] <= CREDIBLE])


def missingness(missing: Array, obs: pd.DataFrame, design: Design) -> Missingness:
    """Test missing values (n, d) of the samples in obs against their response.

    Samples of one group and one label count as one, the first: what they miss goes together.
    """
    kind = RESPONSES[design.kind]
    number = kind.number(kind.read(obs, design))
    members = _members(number) if design.classes is not None else np.empty((0, len(obs)), bool)
    own = np.arange(len(obs))
    if design.group is not None:
        twice = obs.duplicated([design.group, design.label]).to_numpy()
        own = np.flatnonzero(~twice)
    some = missing[own].any(axis=0) & ~missing[own].all(axis=0)
    genes, M, share = np.flatnonzero(some), missing[own][:, some], missing[own].mean(axis=1)
    tested = members[:, own]
    classes = len(members) > 0
    return Missingness(
        genes,
        _fisher(M, tested) if classes else _rank_sums(M, number[own]),
        np.array([missing[m][:, genes].mean(axis=0) for m in members]).reshape(-1, len(genes)),
        _kruskal(share, tested) if classes else _spearman(share, number[own]),
        np.array([missing[m].mean() for m in members]),
    )


def _members(number: Array) -> Array:
    """Return which samples are of each class, (T, n)."""
    return np.asarray(number.T > 0 if number.ndim > 1 else np.stack([number < 0, number > 0]))


def _fisher(M: Array, members: Array) -> Array:
    """Return ``min(1, T min_c P(table at most as likely as that of class c))``, (m,).

    Of two classes both tables are one. Genes that equally many samples miss share their tables.
    """
    from scipy.stats import hypergeom

    n, total = len(M), M.sum(axis=0)
    several = len(members) > 2
    p = np.ones((len(members) if several else 1, M.shape[1]))
    for row, member in zip(p, members, strict=False):
        size, inside = int(member.sum()), M[member].sum(axis=0)
        for count in np.unique(total).tolist():
            chance = hypergeom.pmf(np.arange(size + 1), n, size, count)
            found, place = np.unique(inside[total == count], return_inverse=True)
            at_most = chance <= chance[found, None] * (1 + ROUNDING)
            row[total == count] = (at_most @ chance)[place]
    return np.asarray(np.minimum(p.min(axis=0) * (len(members) if several else 1), 1.0))


def _rank_sums(M: Array, number: Array) -> Array:
    """Return the two-sided p of each gene's rank sum, by the normal distribution, (m,)."""
    from scipy.special import ndtr
    from scipy.stats import rankdata

    n, ranks, count = len(M), rankdata(number), M.sum(axis=0)
    spread = ranks.var() * count * (n - count) / (n - 1)
    off = np.abs(ranks @ M - count * ranks.mean())
    return np.asarray(2 * ndtr(-off / np.sqrt(np.where(spread > 0, spread, np.inf))))


def _kruskal(share: Array, members: Array) -> float:
    from scipy.stats import kruskal

    parts = [share[member] for member in members if member.any()]
    return float(kruskal(*parts).pvalue) if len(parts) > 1 and np.ptp(share) > 0 else np.nan


def _spearman(share: Array, number: Array) -> float:
    from scipy.stats import spearmanr

    varies = np.ptp(share) > 0 and np.ptp(number) > 0
    return float(spearmanr(share, number).pvalue) if varies else np.nan
