"""What left-out samples say of fits: the partial likelihood that they add."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from genesig.optim.cox.risk_sets import WIDEST, RiskSets

Array = np.ndarray[Any, Any]


def left_out_deviance(
    time: Array, event: Array, folds: Sequence[Array], scores: Array, ties: str
) -> tuple[Array, Array]:  # fmt: skip
    """Return the deviance of left-out samples for each event, and its standard error, (m,).

    D_k = -2 (l(η_k) - l_k(η_k)), η_k the scores of the fit without fold k, l over all samples and
    l_k over those of the fit: a fold alone has few events and small risk sets. E = Σ D_k / d, d the
    events; with the share s_k of the samples and E_k = D_k/(d s_k), SE² = Σ s_k (E_k - E)²/(K - 1).
    η of a sample left out is bounded to what can be told from those of the fit, see `bounded`; an
    infinite E is the worst there is and has no SE: 0.

    Parameters
    ----------
    time, event : (n,) arrays
    folds : list of K int arrays
        The samples left out of each fit, of these n.
    scores : (K, m, n) array
        Of all samples.
    ties : str
        A name in `risk_sets.TIES`.

    Source: van Houwelingen, Bruinsma, Hart, van 't Veer and Wessels 2006; ``cv.glmnet`` with
    ``grouped = TRUE``.
    """
    n, whole = len(time), RiskSets.of(time, event, ties)
    D, shares = np.empty((len(folds), scores.shape[1])), np.empty(len(folds))
    for k, fold in enumerate(folds):
        rest = np.setdiff1d(np.arange(n), fold)
        own = RiskSets.of(time[rest], event[rest], ties)
        eta = bounded(scores[k].T, rest)
        gained = whole.log_likelihood(eta[whole.order])
        with np.errstate(invalid="ignore"):  # too wide for both
            D[k] = -2 * (gained - own.log_likelihood(eta[rest][own.order]))
        shares[k] = len(fold) / n
    D, d = np.where(np.isnan(D), np.inf, D), float(np.sum(event))
    error = D.sum(axis=0) / d
    with np.errstate(invalid="ignore"):
        spread = np.square(D / (d * shares[:, None]) - error)
    spread = np.where(np.isinf(error), 0.0, shares @ spread)
    return error, np.sqrt(spread / max(1, len(folds) - 1))


def bounded(eta: Array, fitted: Array) -> Array:
    """Return η with those of samples left out of the fit in its reach, (n, m).

    One outlying cell of expression can take η so far from all others that no likelihood is defined
    any more: beyond `WIDEST` hazards differ by a factor that has no floating point number.

    Parameters
    ----------
    eta : (n, m) array
    fitted : int array
        Rows of the samples of the fit; theirs stay as they are.
    """
    low, high = eta[fitted].min(axis=0), eta[fitted].max(axis=0)
    middle, reach = (low + high) / 2, np.maximum(0.99 * WIDEST, high - low) / 2
    return np.asarray(np.clip(eta, middle - reach, middle + reach))
