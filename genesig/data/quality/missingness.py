"""Whether values are missing more often in a class, or at an end of a number, than by chance.

Nothing of it goes back into a fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.imputation import exceeds_missing_share, missing_when_low
from genesig.data.steps.normalise import LOW_VALUE_STEPS
from genesig.data.study.sheet_check import Sheet
from genesig.errors import Problem
from genesig.response.known import RESPONSES
from genesig.results import Design
from genesig.words import counted, listing

if TYPE_CHECKING:
    import pandas as pd


def q_values(p: Array) -> Array:
    """Return ``q_(i) = min_{j >= i} m p_(j) / j`` of m p-values, (m,) to (m,).

    The smallest false discovery rate at which a test counts as found: Benjamini and Hochberg 1995,
    theorem 1. Not taken from SciPy, whose statistics every small job would import for this line.
    """
    p = np.asarray(p, dtype=float)
    order = np.argsort(p)[::-1]
    q = np.empty(len(p))
    q[order] = np.minimum.accumulate(p[order] * (len(p) / np.arange(len(p), 0, -1)))
    return np.minimum(q, 1.0)


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
    genes = np.flatnonzero(some)
    M = missing[own][:, some]
    share = missing[own].mean(axis=1)
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

    n = len(M)
    total = M.sum(axis=0)
    several = len(members) > 2
    p = np.ones((len(members) if several else 1, M.shape[1]))
    for row, member in zip(p, members, strict=False):
        size = int(member.sum())
        inside = M[member].sum(axis=0)
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

    n = len(M)
    ranks = rankdata(number)
    count = M.sum(axis=0)
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


UNEQUAL = 0.01
"""Largest p at which the samples' shares of missing values are said to go with the label."""


def check_missing(
    X: Array,
    genes: Sequence[str],
    sheet: Sheet,
    folds: Sequence[Mapping[str, Any]],
    where: str,
    omics: Array | None = None,
) -> Iterator[Problem]:
    """Warn where missing values go with the label, and of genes that are left out for theirs.

    `omics` (n_genes,) is the omic of each gene, where there are several.
    """
    missing = np.isnan(X)
    if not missing.any():
        return
    found = missingness(missing, sheet.obs, sheet.design)
    first: Mapping[str, Any] = next(iter(folds), {"step": ""})
    words = [*_by_gene(found, genes, sheet), *_by_sample(found, sheet)]
    if words:
        how = f"{first['step']} {LOW}" if first["step"] in LOW_VALUE_STEPS else FROM_OTHERS
        how = _whole_omics(missing, omics) or how
        yield Problem(
            where, f"missing values go with the label: {'; '.join(words)}. {how}", "warning"
        )
    if first["step"] == "knn_impute" and missing_when_low(X):
        yield Problem(
            where,
            "values are missing where genes are low: too small to be "
            "measured rather than missing at random, which knn_impute takes them for; "
            "left_censored and half_minimum are for such values",
            "warning",
        )
    if "missing_most" in first:
        yield from _left_out(X, genes, sheet, first["missing_most"], where)


LOW = "takes a missing value for a low one: make sure that all were measured alike"
FROM_OTHERS = (
    "If a value is missing because it was too small to be measured, {step: left_censored} takes it"
    " for a low one; if some samples were measured otherwise, leave the genes or the samples out"
)


def _whole_omics(missing: Array, omics: Array | None) -> str:
    """Say which omics most missing values are whole ones of; '' where most are not."""
    if omics is None:
        return ""
    of = {name: missing[:, omics == name] for name in sorted(set(omics))}
    lost = {name: int(own.all(axis=1).sum()) * own.shape[1] for name, own in of.items()}
    if 2 * sum(lost.values()) <= missing.sum():
        return ""
    names = listing(name for name, values in lost.items() if values)
    return (
        f"Some samples lack {names} as a whole, which is no low value: find out why, and leave the "
        "omic or the samples out unless the reason has nothing to do with the label"
    )


def _by_gene(found: Missingness, genes: Sequence[str], sheet: Sheet) -> Iterator[str]:
    named = found.named
    classes = sheet.design.classes
    if not len(named):
        return
    words = f"{counted(len(named), 'gene')} of {len(found.genes)} with missing values (false "
    words += "discovery rate 5 %)"
    shares = found.by_class[:, named[0]]
    of = [f"{100 * s:.0f} % of '{c}'" for s, c in zip(shares, classes or (), strict=False)]
    first = f"'{genes[int(found.genes[named[0]])]}'"
    yield f"{words}, such as {first}" + (f", which {_some(of)} lack" if of else "")


def _by_sample(found: Missingness, sheet: Sheet) -> Iterator[str]:
    if not found.sample_p <= UNEQUAL:
        return
    shares = zip(found.class_share, sheet.design.classes or (), strict=False)
    of = [f"{100 * share:.2g} % of the values of '{name}'" for share, name in shares]
    told = f"{_some(of)} are missing" if of else "samples miss more at one end of the label"
    yield f"{told} (p {found.sample_p:.2g})"


def _some(words: Sequence[str]) -> str:
    return " and ".join(words[:3]) + ", ..." * (len(words) > 3)


def _left_out(
    X: Array, genes: Sequence[str], sheet: Sheet, most: float, where: str
) -> Iterator[Problem]:
    design = sheet.design
    y = None if design.classes is None else RESPONSES[design.kind].read(sheet.obs, design)
    names = [genes[k] for k in np.flatnonzero(exceeds_missing_share(X, most, y)).tolist()]
    if names:
        whom = "the samples" if y is None else "a class"
        what = "left out by knn_impute, in each training set anew: "
        what += f"{counted(len(names), 'gene')} that more than {100 * most:g} % of {whom} lack, "
        what += listing(names)
        yield Problem(where, what, "warning")
