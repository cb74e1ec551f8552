"""How often lists hold each gene, how alike they are, how often by chance, and which can be named.

With F_g the number of lists that hold gene g, of T, and F_g^b that under permutation b = 1 ... B:

    E(t) = (1 + Σ_b #{g : F_g^b >= t}) / (B + 1),   R(t) = #{g : F_g >= t},
    q_g = min over t <= F_g of min(1, E(t) / R(t)).

E sums the null of every gene, so that genes which are listed easily (of large variance, with heavy
tails, in large blocks) do not mislead it. The 1 keeps q above 0, as Phipson and Smyth 2010 ask of
p.

Source: the plug-in estimate of the false discovery rate of Storey and Tibshirani 2003, PNAS
100:9440, and of SAM, Tusher et al. 2001, PNAS 98:5116, with half-sample lists in the place of t.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError
from genesig.results import Dataset, Fits

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

DIGITS = 9
"""Of the largest value: copies of a gene, fitted together, differ by less."""


def rounded(values: Array) -> Array:
    """Return sizes (n,) as shares of the largest one, rounded, so that those of copies are equal.

    Sorted by them, copies stand in the order of their names, whatever the scale of the data.
    """
    largest = np.abs(values).max(initial=0.0)
    return np.round(values / largest, DIGITS) if largest > 0 else values


MU = 1e-2
"""Weight of the squared l2 term of their lists, in units of ||X'X||/n: correlated genes enter
together."""

LONGEST = 100
SHARE = 0.1
"""Most genes of a list, and most of all."""

NESTED = (0.5, 1.0)
"""Shares of the genes of a half, by weight, that make its lists: one of the first genes counts
twice, one of the last once."""

LOOSE = 2.0
"""Rate of error of the genes that may predict, in units of that of named ones."""

FEWEST = 19
"""Permutations below which nothing is claimed: no p would reach .05."""

LEVEL = 0.05
"""Share of noise studies that may name a gene, whatever the rate among those named."""


def tails(times: Array, most: int) -> Array:
    """Return how many of d genes at least t halves list: (k, most + 1) of times (k, d)."""
    counts = np.zeros((len(times), most + 1), dtype=np.int64)
    row = np.repeat(np.arange(len(times)), times.shape[1])
    np.add.at(counts, (row, times.ravel()), 1)
    return np.asarray(counts[:, ::-1].cumsum(axis=1)[:, ::-1])


def expected(null: Array) -> Array:
    """Return E(t), (T + 1,), of the tails (B, T + 1) under permuted labels."""
    return np.asarray((1 + null.sum(axis=0)) / (len(null) + 1))


def q_values(times: Array, chance: Array, among: Array | None = None) -> Array:
    """Return q of each gene (d,), from its number of lists and E(t); 1 where no list holds it.

    R counts the genes themselves, or `among` others.
    """
    found = tails((times if among is None else among)[None], len(chance) - 1)[0]
    return np.asarray(_q(found, chance)[times])


def _q(found: Array, chance: Array) -> Array:
    """Return q of a gene that t lists hold, (..., T + 1); NaN beyond the most frequent one."""
    ratio = np.divide(chance, found, out=np.full(found.shape, np.nan), where=found > 0)
    ratio[..., 0] = 1.0
    return np.asarray(np.fmin.accumulate(np.minimum(1.0, ratio), axis=-1))


def _called(found: Array, chance: Array, fdr: float) -> Array:
    """Return how many genes have q <= fdr, (...,), of tails (..., T + 1)."""
    passing = (_q(found, chance) <= fdr) & (found > 0)
    first = np.argmax(passing, axis=-1)
    number = np.take_along_axis(found, first[..., None], axis=-1)[..., 0]
    return np.where(passing.any(axis=-1), number, 0)


def gate(found: Array, null: Array, fdr: float) -> float:
    """Return p of the number of genes called: whether there is anything to be named at all.

    The best of many t passes too often in noise. So each permutation is called by the E of the
    others: p = (1 + #{b : called_b >= called}) / (B + 1).

    Parameters
    ----------
    found : (T + 1,) int
        Tails under the observed labels.
    null : (B, T + 1) int
    fdr : float

    Returns
    -------
    float
        1 where no gene is called, and with fewer than two permutations.
    """
    own = int(_called(found, expected(null), fdr)) if len(null) > 1 else 0
    if not own:
        return 1.0
    others = (1 + null.sum(axis=0) - null) / len(null)
    return float((1 + np.sum(_called(null, others, fdr) >= own)) / (len(null) + 1))


def p_values(times: Array, null: Array) -> Array:
    """Return (1 + #{b : F_g^b >= F_g}) / (B + 1) of each gene, (d,), of null (B, d)."""
    return np.asarray((1 + np.sum(null >= times, axis=0)) / (len(null) + 1))


def ranked(times: Array, strength: Array) -> Array:
    """Return the genes that any list holds, the most frequent first, then the strongest."""
    order = np.lexsort((np.arange(len(times)), -rounded(strength), -times))
    return np.asarray(order[: np.count_nonzero(times)])


def agreement(lists: Sequence[Array], d: int) -> float:
    """Φ = 1 - M/(M-1) Σ_f p_f (1-p_f) / [d (k/d)(1-k/d)] of M lists among d genes.

    p_f is the share of lists that hold gene f, k the mean size: 1 for identical lists, 0 on average
    for random ones.

    Parameters
    ----------
    lists : sequence of M arrays of int
        Numbers of the genes, each once.
    d : int

    Returns
    -------
    float
        NaN for fewer than two lists, and where all are empty or hold every gene.

    References
    ----------
    Nogueira, Sechidis and Brown 2018, JMLR 18(174): definition 4.
    """
    m = len(lists)
    held = np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *lists]))
    share = len(held) / (m * d) if m else 0.0
    if m < 2 or not 0 < share < 1:
        return float("nan")
    last = np.append(np.flatnonzero(held[1:] != held[:-1]), len(held) - 1)
    p = np.diff(last, prepend=-1) / m  # a third of the time of np.unique, asked for at every tau
    return float(1 - m / (m - 1) * np.sum(p * (1 - p)) / (d * share * (1 - share)))


def selections(fits: Fits, n_genes: int) -> csr_array:
    """Return the supports as 0 and 1, (n_fits * n_mu, n_genes); row fit * n_mu + mu."""
    return _sparse(fits, np.ones(len(fits.indices)), n_genes)


def selection_counts(fits: Fits, n_genes: int) -> csr_array:
    """Return how many fits of each permutation select each gene.

    Returns
    -------
    (n_permutations * n_mu, n_genes) sparse array
        Row permutation * n_mu + mu, the permutations in rising order of their numbers.
    """
    _, group = np.unique(fits.permutation, return_inverse=True)
    return _sum_over_fits(fits, group, selections(fits, n_genes))


def of_list(table: pd.DataFrame, mu: float) -> pd.DataFrame:
    """Return the rows of the list of one mu; NaN is the chosen list."""
    return table[table["mu"].isna() if np.isnan(mu) else table["mu"] == mu]


def mu_number(grid: Array, mu: float | None) -> int:
    """Return the place of `mu` in the grid; None is the first, the minimal list."""
    if mu is None:
        return 0
    near = np.flatnonzero(np.isclose(grid, mu, rtol=1e-9, atol=0))
    if len(near) == 0:
        known = ", ".join(f"{value:g}" for value in grid)
        raise GenesigError(f"signature.mu: {mu:g} is not one of linear.mu ({known})")
    return int(near[0])


def nested_lists(dataset: Dataset, observed: Fits, *, cv_frequency: float) -> pd.DataFrame:
    """Return nested_lists.tsv: the genes that any split selects, at each mu.

    Per gene and mu, over the outer splits: ``cv_frequency``, the share that select it;
    ``mean_weight``, its mean weight over those that do, per unit of the normalised expression (with
    several classes the length of its weights, which has no sign);
    ``sign_consistency``, the share of those whose weight has the majority sign; ``in_list``,
    whether the frequency reaches the threshold.

    Rows fall by frequency within each mu, then by |mean_weight| times the gene's standard deviation
    (the size of its contribution to the score), then by name. The chosen lists
    have no mu; a mu at which a split's list was too long to be kept has no rows.
    """
    import pandas as pd

    n = len(observed)
    n_genes = len(dataset.genes)
    count, total, up, down = _over_splits(observed, n_genes)
    spread = dataset.X.std(axis=0)
    parts = []
    for at in np.flatnonzero(observed.whole):
        mu = observed.mu[at]
        genes = np.flatnonzero(count[at])
        times = count[at, genes]
        mean = total[at, genes] / times
        order = np.lexsort((genes, -rounded(np.abs(mean) * spread[genes]), -times))
        table = pd.DataFrame(
            {
                "mu": mu,
                "gene": dataset.var.index[genes].astype(str),
                "symbol": dataset.var["symbol"].to_numpy()[genes],
                "cv_frequency": times / n,
                "mean_weight": mean,
                "sign_consistency": np.maximum(up[at, genes], down[at, genes]) / times,
                "in_list": times >= least_count(cv_frequency, n),
            }
        )
        parts.append(table.iloc[order])
    return pd.concat(parts, ignore_index=True)


def list_sizes(observed: Fits, nested: pd.DataFrame) -> pd.DataFrame:
    """Return lists.tsv: size and nesting of the lists along mu.

    Per mu: ``in_list``, genes that reach the threshold; ``mean_size``, ``smallest`` and
    ``largest``, the sizes over the outer splits; ``nested``, % of this merged list (of the
    shorter of the two) that the next mu's list contains; ``nested_in_split``, the same between
    the lists of one and the same split, mean over the splits. Empty where a list is empty, at the
    last mu and for the chosen list; the first four, where a list was too long to be kept.
    """
    import pandas as pd

    n_mu = len(observed.mu)
    size = observed.sizes()
    core = nested[nested["in_list"]]
    merged = [set(of_list(core, mu)["gene"]) for mu in observed.mu]
    within = [
        [
            overlap(set(_genes(observed, fit, at)), set(_genes(observed, fit, at + 1)))
            for fit in range(len(observed))
        ]
        for at in range(n_mu - 1)
    ]
    table = pd.DataFrame(
        {
            "mu": observed.mu,
            "in_list": np.where(observed.whole, [len(genes) for genes in merged], np.nan),
            "mean_size": size.mean(axis=0),
            "smallest": size.min(axis=0),
            "largest": size.max(axis=0),
            "nested": [*map(overlap, merged[:-1], merged[1:]), np.nan],
            "nested_in_split": [*map(_mean_of_known, within), np.nan],
        }
    )
    alone = table["mu"].shift(-1).isna()
    table.loc[alone, ["nested", "nested_in_split"]] = np.nan
    return table.astype(dict.fromkeys(("in_list", "smallest", "largest"), "Int64"))


def overlap(one: set[Any], other: set[Any]) -> float:
    """100 |A ∩ B| / min(|A|, |B|): % of the shorter list contained in the longer; NaN if empty."""
    shorter = min(len(one), len(other))
    return 100.0 * len(one & other) / shorter if shorter else np.nan


def frequency_curve(counts: csr_array, n_splits: int) -> Array:
    """Count the genes selected in at least k of the lists, k = 1 .. n_splits.

    Parameters
    ----------
    counts : (r, n_genes) sparse array
        How often each gene is selected, one row per collection of lists.

    Returns
    -------
    (r, n_splits) int array
    """
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    value = np.rint(counts.data).astype(np.int64)
    width = n_splits + 1
    exactly = np.bincount(row * width + value, minlength=counts.shape[0] * width)
    exactly = exactly.reshape(-1, width)[:, 1:]
    return np.asarray(np.cumsum(exactly[:, ::-1], axis=1)[:, ::-1])


def least_count(cv_frequency: float, n: int) -> int:
    """Return the smallest count k with k/n >= cv_frequency, whatever the rounding of .55 * 100."""
    return max(1, int(np.ceil(cv_frequency * n - 1e-9)))


def _over_splits(fits: Fits, n_genes: int) -> list[Array]:
    """Return count, sum of weights, positive and negative ones of each gene, (n_mu, n_genes)."""
    once = np.zeros(len(fits), dtype=np.int64)
    weights = fits.strength()
    kinds = (np.ones(len(weights)), weights, weights > 0, weights < 0)
    return [_sum_over_fits(fits, once, _sparse(fits, kind, n_genes)).toarray() for kind in kinds]


def _sparse(fits: Fits, data: Array, n_genes: int) -> csr_array:
    shape = (len(fits) * len(fits.mu), n_genes)
    from scipy.sparse import csr_array

    return csr_array((data.astype(float), fits.indices, fits.indptr), shape=shape)


def _sum_over_fits(fits: Fits, group: Array, rows: csr_array) -> csr_array:
    """Sum the rows (fit, mu) over the fits of each group, to rows (group, mu)."""
    n_mu = len(fits.mu)
    n = rows.shape[0]
    target = (group[:, None] * n_mu + np.arange(n_mu)).ravel()
    n_groups = int(group.max()) + 1 if len(group) else 0
    from scipy.sparse import csr_array

    into = csr_array((np.ones(n), (target, np.arange(n))), shape=(n_groups * n_mu, n))
    return csr_array(into @ rows)


def _genes(fits: Fits, fit: int, mu: int) -> list[int]:
    return list(map(int, fits.coef(fit, mu)[0]))


def _mean_of_known(values: list[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else np.nan
