"""How alike the gene lists of different samples are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.splits.seeds import RESAMPLE, generator, spawn_key
from genesig.results import Fits, Splits
from genesig.selection.assess.intervals import Z
from genesig.selection.genes.frequency import selections

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Stability:
    """Stability of a collection of lists with the limits of a 95 % interval."""

    value: float
    low: float
    high: float


UNDEFINED = Stability(np.nan, np.nan, np.nan)
DRAWS = 2000


def stability(lists: csr_array) -> Stability:
    """Measure the agreement of M lists among d genes beyond what their sizes give by chance.

    Φ = 1 - [(1/d) Σ_f M/(M-1) p_f (1-p_f)] / [(k/d)(1-k/d)], with p_f the share of lists that hold
    gene f and k the mean size: 1 for identical lists, 0 on average for random ones, at least
    -1/(M-1). Interval Φ ± z √v, v = 4/M² Σ (Φ_i - Φ̄)², clipped to [-1, 1], with
    Φ_i = [(1/d) Σ_f z_if p_f - k_i k/d² + (Φ/2)(2 k_i k/d² - k_i/d - k/d + 1)] / [(k/d)(1-k/d)].

    Parameters
    ----------
    lists : (M, d) sparse array of 0 and 1

    Returns
    -------
    Stability
        All NaN for fewer than two lists, and where every list is empty or holds every gene: lists
        without a choice are neither stable nor unstable.

    References
    ----------
    Nogueira, Sechidis and Brown 2018, JMLR 18(174): definition 4, theorem 7, corollary 8.
    """
    m, d = lists.shape
    size = np.asarray(lists.sum(axis=1), dtype=float)
    share = size.mean() / d if m and d else 0.0
    if m < 2 or not 0 < share < 1:
        return UNDEFINED
    p = np.asarray(lists.sum(axis=0), dtype=float) / m
    chance = share * (1 - share)
    value = 1 - m / (m - 1) * float(np.mean(p * (1 - p))) / chance
    k = size / d
    each = (lists @ p) / d - k * share + value / 2 * (2 * k * share - k - share + 1)
    spread = Z * 2 / m * float(np.sqrt(np.sum(np.square((each - each.mean()) / chance))))
    return Stability(value, max(-1.0, value - spread), min(1.0, value + spread))


def pair_stability(lists: csr_array, seed: int) -> Stability:
    """Measure the agreement of lists from disjoint samples, as lists of other patients would agree.

    Φ = 1 - (1/2) mean |z_a - z_b| / (p (1-p)), the mean over the M pairs (a, b) and d genes, p the
    share of genes that a list holds on average: as in `stability`, but that lists are compared
    within their pair only. Halves of different pairs share half of their samples, so that their
    lists agree too well. Φ speaks of half as many samples as there are, which is pessimistic.

    The interval is the resampling error: percentiles over draws of M pairs with replacement, where
    Φ is defined. It holds what endless halving of these samples would give. It is none for other
    patients, which would vary more: one study has one set of patients to tell from.

    Parameters
    ----------
    lists : (2M, d) sparse array of 0 and 1
        Rows 2i and 2i + 1 are a pair.
    seed : int
        The study's; every call draws the same pairs.

    Returns
    -------
    Stability
        All NaN where every list is empty or holds every gene; without limits for one pair.

    References
    ----------
    The index: Nogueira, Sechidis and Brown 2018, JMLR 18(174). Complementary halves: Shah and
    Samworth 2013, J R Stat Soc B 75:55.
    """
    first, second = lists[0::2], lists[1::2]
    differ = np.asarray(abs(first - second).sum(axis=1), dtype=float)
    size = np.asarray(lists.sum(axis=1), dtype=float).reshape(-1, 2).mean(axis=1)
    m, d = first.shape
    once = float(_of_means(np.full((1, m), 1 / max(m, 1)), differ / d, size / d)[0])
    if m < 2 or np.isnan(once):
        return Stability(once, np.nan, np.nan)
    times = generator(seed, spawn_key(RESAMPLE)).multinomial(m, np.full(m, 1 / m), DRAWS)
    low, high = np.nanquantile(_of_means(times / m, differ / d, size / d), [0.025, 0.975])
    return Stability(once, float(low), float(high))


def _of_means(weight: Array, differ: Array, share: Array) -> Array:
    """Return Φ of each row of weights of the pairs; NaN where lists leave no choice."""
    p = weight @ share
    chance = p * (1 - p)
    defined = chance > 1e-12 * p
    return np.where(defined, 1 - weight @ differ / (2 * np.where(defined, chance, 1)), np.nan)


def stability_table(splits: Splits, observed: Fits, subsamples: Fits, n_genes: int) -> pd.DataFrame:
    """Return stability.tsv: each mu on pairs of half-subsamples, and on the outer splits.

    Training sets of outer splits overlap (by 3/4 at five folds, almost wholly at leave-one-out),
    so that their lists look more stable than those of other patients would, and the interval,
    which takes them as independent, is too short; the pairs of halves are the honest figure. The
    chosen lists have no mu; a mu at which a list was too long to be kept has no stability.
    """
    import pandas as pd

    halves = Fits.gather([subsamples], [half.name for half in splits.subsamples])
    rows = []
    for source, fits in (("half_subsamples", halves), ("outer_splits", observed)):
        for at, mu in enumerate(observed.mu):
            lists = selections(fits, n_genes)[at :: len(observed.mu)]
            found = pair_stability(lists, splits.seed) if fits is halves else stability(lists)
            size = lists.sum() / len(fits) if len(fits) else np.nan
            if not fits.whole[at]:
                found, size = UNDEFINED, np.nan
            rows.append((mu, source, found.value, found.low, found.high, len(fits), size))
    columns = ["mu", "source", "stability", "low", "high", "n_sets", "mean_size"]
    return pd.DataFrame(rows, columns=columns)
