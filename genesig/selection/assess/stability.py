"""How alike the gene lists of different samples are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from genesig.results import Fits
from genesig.selection.assess.intervals import Z
from genesig.selection.genes.frequency import selections

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Stability:
    """Stability of a collection of lists with the limits of its 95 % interval."""

    value: float
    low: float
    high: float


UNDEFINED = Stability(np.nan, np.nan, np.nan)


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


def stability_table(observed: Fits, subsamples: Fits, n_genes: int) -> pd.DataFrame:
    """Return stability.tsv: each mu on half-subsamples and on the outer splits.

    Training sets of outer splits overlap (by 3/4 at five folds, almost wholly at leave-one-out),
    so lists look more stable there than samples of other patients would make them; the halves
    are the honest figure.
    """
    import pandas as pd

    rows = []
    for source, fits in (("half_subsamples", subsamples), ("outer_splits", observed)):
        for at, mu in enumerate(observed.mu):
            lists = selections(fits, n_genes)[at :: len(observed.mu)]
            found = stability(lists)
            size = lists.sum() / len(fits) if len(fits) else np.nan
            rows.append((mu, source, found.value, found.low, found.high, len(fits), size))
    columns = ["mu", "source", "stability", "low", "high", "n_sets", "mean_size"]
    return pd.DataFrame(rows, columns=columns)
