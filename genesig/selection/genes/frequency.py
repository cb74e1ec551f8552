"""Selection frequency of genes: in half-sample lists, with its null, and in splits.

With F_g the number of lists that hold gene g, of T, and F_g^b that under permutation b = 1 ... B:

    E(t) = (1 + Σ_b #{g : F_g^b >= t}) / (B + 1),   R(t) = #{g : F_g >= t},
    q_g = min over t <= F_g of min(1, E(t) / R(t)).

In code E is `null_expectation`, R `observed_tails`, and row b of `null_tails` is R under
permutation b; the last axis of each is t = 0 ... T.

E sums the null of every gene, so that genes which are selected easily (of large variance, with
heavy tails, in large blocks) do not mislead it. The 1 keeps q above 0, as Phipson and Smyth 2010
ask of p.

Source: the plug-in estimate of the false discovery rate of Storey and Tibshirani 2003, PNAS
100:9440, and of SAM, Tusher et al. 2001, PNAS 98:5116, with half-sample lists instead of t.
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

SIZE_DIGITS = 9  # digits of a size over the largest: copies of a gene differ by less


def round_sizes(values: Array) -> Array:
    """Return sizes (n,) as shares of the largest one, rounded, so that copies of a gene are equal.

    A stable sort by them leaves copies in the order of the columns, whatever the scale of the data.
    """
    largest = np.abs(values).max(initial=0.0)
    return np.round(values / largest, SIZE_DIGITS) if largest > 0 else values


HALF_SAMPLE_MU = 1e-2
"""Weight of the squared l2 term of half-sample lists, in units of ||X'X||/n: correlated genes enter
together."""

MAX_LIST_GENES = 100  # largest number of genes of a half-sample list
MAX_LIST_SHARE = 0.1  # largest share of all genes in a half-sample list

LIST_SHARES = (0.5, 1.0)
"""Shares of the genes of a half, by weight, that make its lists: one of the first genes counts
twice, one of the last once."""

PREDICTIVE_FDR_FACTOR = 2.0
"""FDR of the longer list that the predictive model may use, in units of ``signature.fdr``."""

MIN_PERMUTATIONS = 19  # permutations below which no gene is FDR-selected: no p would reach 0.05

MAX_GATE_P = 0.05  # of the number of FDR-selected genes: share of noise studies with any of them


def count_tails(list_counts: Array, max_count: int) -> Array:
    """Return the number of genes in at least t lists, t = 0 ... T, (k, T + 1).

    list_counts (k, d) int: number of lists with each gene, such as one row per permutation.
    """
    counts = np.zeros((len(list_counts), max_count + 1), dtype=np.int64)
    row_number = np.repeat(np.arange(len(list_counts)), list_counts.shape[1])
    np.add.at(counts, (row_number, list_counts.ravel()), 1)
    return np.asarray(counts[:, ::-1].cumsum(axis=1)[:, ::-1])


def expected_tails(null_tails: Array) -> Array:
    """Return E(t), (T + 1,), of the tails (B, T + 1) under permuted labels."""
    return np.asarray((1 + null_tails.sum(axis=0)) / (len(null_tails) + 1))


def selection_q(
    counts: Array, null_expectation: Array, reference_counts: Array | None = None
) -> Array:
    """Return q of each gene (d,) from its number of lists and E(t); 1 if no list holds it.

    reference_counts (n_blocks,) int: lists that hit each block of genes; E(t) then counts blocks.
    """
    if reference_counts is None:
        reference_counts = counts
    observed_tails = count_tails(reference_counts[None], len(null_expectation) - 1)[0]
    return np.asarray(_q_of_counts(observed_tails, null_expectation)[counts])


def _q_of_counts(observed_tails: Array, null_expectation: Array) -> Array:
    """Return q of a gene in t lists, (..., T + 1); where R(t) is 0, q at the last t before it."""
    ratio = np.divide(
        null_expectation,
        observed_tails,
        out=np.full(observed_tails.shape, np.nan),
        where=observed_tails > 0,
    )
    ratio[..., 0] = 1.0
    return np.asarray(np.fmin.accumulate(np.minimum(1.0, ratio), axis=-1))


def _count_called(observed_tails: Array, null_expectation: Array, fdr: float) -> Array:
    """Return the number of genes with q <= fdr, (...,), of tails (..., T + 1)."""
    # q falls with t: all genes in at least the first passing t lists are called.
    passing = (_q_of_counts(observed_tails, null_expectation) <= fdr) & (observed_tails > 0)
    first_passing = np.argmax(passing, axis=-1)
    n_called = np.take_along_axis(observed_tails, first_passing[..., None], axis=-1)[..., 0]
    return np.where(passing.any(axis=-1), n_called, 0)


def gate_p(observed_tails: Array, null_tails: Array, fdr: float) -> float:
    """Return p of the number of genes with q <= fdr: whether there is anything to select at all.

    The best of many t passes too often in noise. So each permutation is judged by the E of the
    others: p = (1 + #{b : called_b >= called}) / (B + 1).

    observed_tails (T + 1,) int: under the observed labels. null_tails (B, T + 1) int: tails under
    permuted labels.

    p is 1 if no gene is called, or with fewer than two permutations.
    """
    if len(null_tails) < 2:
        return 1.0
    n_called = int(_count_called(observed_tails, expected_tails(null_tails), fdr))
    if not n_called:
        return 1.0
    leave_one_out_expectation = (1 + null_tails.sum(axis=0) - null_tails) / len(null_tails)
    return float(
        (1 + np.sum(_count_called(null_tails, leave_one_out_expectation, fdr) >= n_called))
        / (len(null_tails) + 1)
    )


def selection_p(counts: Array, null_counts: Array) -> Array:
    """Return (1 + #{b : F_g^b >= F_g}) / (B + 1) of each gene, (d,).

    counts (d,), null_counts (B, d): lists with each gene, under observed and permuted labels.
    """
    return np.asarray((1 + np.sum(null_counts >= counts, axis=0)) / (len(null_counts) + 1))


def rank_genes(counts: Array, weight_sums: Array) -> Array:
    """Return the genes in any list by falling count, then falling weight, then number."""
    order = np.lexsort((np.arange(len(counts)), -round_sizes(weight_sums), -counts))
    # Genes in no list are last.
    return np.asarray(order[: np.count_nonzero(counts)])


def agreement(lists: Sequence[Array], n_genes: int) -> float:
    """Return the agreement Φ of M lists of d genes: 1 if equal, 0 on average if random.

    Φ = 1 - M/(M-1) Σ_f p_f (1-p_f) / [d (k/d)(1-k/d)], with p_f the share of the lists that hold
    gene f and k their mean size.

    lists: numbers of the genes, each once.

    Φ is NaN for fewer than two lists, and if all are empty or hold every gene.

    Source: Nogueira, Sechidis and Brown 2018, JMLR 18(174): definition 4.
    """
    n_lists = len(lists)
    genes = np.concatenate([np.zeros(0, dtype=np.int64), *lists])
    share = len(genes) / (n_lists * n_genes) if n_lists else 0.0
    if n_lists < 2 or not 0 < share < 1:
        return float("nan")
    counts = np.bincount(genes)
    variance_sum = (n_lists * len(genes) - counts @ counts) / n_lists**2  # Σ_f p_f (1-p_f)
    return float(1 - n_lists / (n_lists - 1) * variance_sum / (n_genes * share * (1 - share)))


def selection_matrix(fits: Fits, n_genes: int) -> csr_array:
    """Return the supports as 0 and 1, (n_fits * n_mu, n_genes); row fit * n_mu + mu."""
    return _coefficient_matrix(fits, np.ones(len(fits.indices)), n_genes)


def selection_counts(fits: Fits, n_genes: int) -> csr_array:
    """Return the number of fits of each permutation that select each gene.

    (n_permutations * n_mu, n_genes) sparse array: row permutation * n_mu + mu, the permutations in
    rising order of their numbers.
    """
    _, group = np.unique(fits.permutation, return_inverse=True)
    return _sum_over_fits(fits, group, selection_matrix(fits, n_genes))


def rows_of_list(table: pd.DataFrame, mu: float) -> pd.DataFrame:
    """Return the rows of the list of one mu; NaN is the chosen list."""
    return table[table["mu"].isna() if np.isnan(mu) else table["mu"] == mu]


def mu_index_of(grid: Array, mu: float | None) -> int:
    """Return the index of `mu` in the grid; None is the first, the minimal list."""
    if mu is None:
        return 0
    equal_indices = np.flatnonzero(np.isclose(grid, mu, rtol=1e-9, atol=0))
    if len(equal_indices) == 0:
        grid_text = ", ".join(f"{value:g}" for value in grid)
        raise GenesigError(f"signature.mu: {mu:g} is not one of linear.mu ({grid_text})")
    return int(equal_indices[0])


def nested_lists(dataset: Dataset, observed: Fits, *, cv_frequency: float) -> pd.DataFrame:
    """Return nested_lists.tsv: the genes that any split selects, at each mu.

    Per gene and mu, over the outer splits: ``cv_frequency``, the share that select it;
    ``mean_weight``, its mean weight over these, per unit of the normalised expression (with several
    classes the norm of its weights, which has no sign); ``sign_consistency``, the share of these
    whose weight has the majority sign; ``in_list``, whether the frequency reaches the threshold.

    Rows fall by frequency within each mu, then by |mean_weight| times the gene's standard deviation
    (the size of its contribution to the score), then by name. A mu at which the list of a split was
    too long to be kept has no rows. observed: of `Fits.with_chosen`; the chosen lists have mu NaN.
    """
    import pandas as pd

    n_fits = len(observed)
    n_genes = len(dataset.genes)
    count, total, n_positive, n_negative = _sums_over_splits(observed, n_genes)
    gene_sd = dataset.X.std(axis=0)
    tables = []
    for mu_index in np.flatnonzero(observed.whole):
        mu = observed.mu[mu_index]
        genes = np.flatnonzero(count[mu_index])
        n_selecting = count[mu_index, genes]
        mean = total[mu_index, genes] / n_selecting
        order = np.lexsort((genes, -round_sizes(np.abs(mean) * gene_sd[genes]), -n_selecting))
        table = pd.DataFrame(
            {
                "mu": mu,
                "gene": dataset.var.index[genes].astype(str),
                "symbol": dataset.var["symbol"].to_numpy()[genes],
                "cv_frequency": n_selecting / n_fits,
                "mean_weight": mean,
                "sign_consistency": np.maximum(
                    n_positive[mu_index, genes], n_negative[mu_index, genes]
                )
                / n_selecting,
                "in_list": n_selecting >= smallest_count(cv_frequency, n_fits),
            }
        )
        tables.append(table.iloc[order])
    return pd.concat(tables, ignore_index=True)


def list_sizes(observed: Fits, nested: pd.DataFrame) -> pd.DataFrame:
    """Return lists.tsv: size and nesting of the lists along mu.

    Per mu: ``in_list``, size of the merged list, of genes that reach the threshold; ``mean_size``,
    ``smallest`` and ``largest``, the sizes over the outer splits; ``nested``, % of the merged list
    (of the shorter of the two) that the next mu's contains; ``nested_in_split``, the same between
    the lists of one split, mean over the splits. The last two are empty if a list is empty, at the
    last mu and for the chosen list; the first four if a list was too long to be kept.
    """
    import pandas as pd

    n_mu = len(observed.mu)
    sizes = observed.sizes()
    listed = nested[nested["in_list"]]
    merged_lists = [set(rows_of_list(listed, mu)["gene"]) for mu in observed.mu]
    within_split = [
        [
            overlap(
                set(_genes_of_list(observed, fit, mu_index)),
                set(_genes_of_list(observed, fit, mu_index + 1)),
            )
            for fit in range(len(observed))
        ]
        for mu_index in range(n_mu - 1)
    ]
    table = pd.DataFrame(
        {
            "mu": observed.mu,
            "in_list": np.where(observed.whole, [len(genes) for genes in merged_lists], np.nan),
            "mean_size": sizes.mean(axis=0),
            "smallest": sizes.min(axis=0),
            "largest": sizes.max(axis=0),
            "nested": [*map(overlap, merged_lists[:-1], merged_lists[1:]), np.nan],
            "nested_in_split": [*map(_mean_without_nan, within_split), np.nan],
        }
    )
    without_next = table["mu"].shift(-1).isna()
    table.loc[without_next, ["nested", "nested_in_split"]] = np.nan
    return table.astype(dict.fromkeys(("in_list", "smallest", "largest"), "Int64"))


def overlap(first_list: set[Any], second_list: set[Any]) -> float:
    """Return 100 |A ∩ B| / min(|A|, |B|): % of the shorter list in the longer, or NaN."""
    shorter = min(len(first_list), len(second_list))
    return 100.0 * len(first_list & second_list) / shorter if shorter else np.nan


def frequency_curve(counts: csr_array, n_splits: int) -> Array:
    """Return the number of genes in at least k of the lists, k = 1 .. n_splits.

    counts (r, n_genes) sparse: number of lists with each gene, one row per collection of lists.

    Returns (r, n_splits) int.
    """
    row_number = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    value = np.rint(counts.data).astype(np.int64)
    width = n_splits + 1
    n_exactly = np.bincount(row_number * width + value, minlength=counts.shape[0] * width)
    n_exactly = n_exactly.reshape(-1, width)[:, 1:]
    return np.asarray(np.cumsum(n_exactly[:, ::-1], axis=1)[:, ::-1])


def smallest_count(cv_frequency: float, n: int) -> int:
    """Return the smallest count k >= 1 with k/n >= cv_frequency, whatever 0.55 * 100 rounds to."""
    return max(1, int(np.ceil(cv_frequency * n - 1e-9)))


def _sums_over_splits(fits: Fits, n_genes: int) -> list[Array]:
    """Return count, weight sum, positive and negative weights, (n_mu, n_genes) each."""
    same_group = np.zeros(len(fits), dtype=np.int64)
    weights = fits.strength()
    entry_values = (np.ones(len(weights)), weights, weights > 0, weights < 0)
    return [
        _sum_over_fits(fits, same_group, _coefficient_matrix(fits, values, n_genes)).toarray()
        for values in entry_values
    ]


def _coefficient_matrix(fits: Fits, values: Array, n_genes: int) -> csr_array:
    """Return an entry for each coefficient, in rows (fit, mu), (n_fits * n_mu, n_genes)."""
    shape = (len(fits) * len(fits.mu), n_genes)
    from scipy.sparse import csr_array

    return csr_array((values.astype(float), fits.indices, fits.indptr), shape=shape)


def _sum_over_fits(fits: Fits, group: Array, rows: csr_array) -> csr_array:
    """Return the sums of rows (fit, mu) over the fits of each group, in rows (group, mu)."""
    n_mu = len(fits.mu)
    n = rows.shape[0]
    target = (group[:, None] * n_mu + np.arange(n_mu)).ravel()
    n_groups = int(group.max()) + 1 if len(group) else 0
    from scipy.sparse import csr_array

    summing_matrix = csr_array((np.ones(n), (target, np.arange(n))), shape=(n_groups * n_mu, n))
    return csr_array(summing_matrix @ rows)


def _genes_of_list(fits: Fits, fit: int, mu_index: int) -> list[int]:
    """Return the genes of the list of one fit at one mu."""
    return list(map(int, fits.coef(fit, mu_index)[0]))


def _mean_without_nan(values: list[float]) -> float:
    """Return the mean of the values that are not NaN; NaN without any."""
    numbers = [value for value in values if not np.isnan(value)]
    return float(np.mean(numbers)) if numbers else np.nan
