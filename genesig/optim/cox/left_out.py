"""What left-out samples say of fits: the partial likelihood that they add."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from genesig.optim.cox.risk_sets import WIDEST, RiskSets

Array = np.ndarray[Any, Any]


def left_out_deviance(
    time: Array, event: Array, folds: Sequence[Array], scores: Array, ties: str,
    weights: Array | None = None,
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
    weights : (n,) array, optional
        Of the samples: they are summed where otherwise samples are counted.

    Source: van Houwelingen, Bruinsma, Hart, van 't Veer and Wessels 2006; ``cv.glmnet`` with
    ``grouped = TRUE``.
    """
    v = np.ones(len(time)) if weights is None else weights
    D, shares = np.empty((len(folds), scores.shape[1])), np.empty(len(folds))
    whole, known = _Likelihood(time, event, ties, v, v > 0), np.ones(len(time), dtype=bool)
    for k, fold in enumerate(folds):
        known[:], known[fold] = v > 0, False
        eta = bounded(scores[k].T, np.flatnonzero(known))
        with np.errstate(invalid="ignore"):  # too wide for both
            D[k] = -2 * (whole(eta) - _Likelihood(time, event, ties, v, known)(eta))
        shares[k] = v[fold].sum() / v.sum()
    D, d = np.where(np.isnan(D), np.inf, D), float(v @ (np.asarray(event) > 0))
    error = D.sum(axis=0) / d
    with np.errstate(invalid="ignore"):
        spread = np.square(D / (d * shares[:, None]) - error)
    spread = np.where(np.isinf(error), 0.0, shares @ spread)
    return error, np.sqrt(spread / max(1, len(folds) - 1))


class _Likelihood:
    """``l(η)`` of some rows, whose weights v are not scaled as those of risk sets are.

    With u = v / v̄, ``l_v(η) = v̄ (l_u(η) - log v̄ Σ ω_u)``.
    """

    def __init__(self, time: Array, event: Array, ties: str, v: Array, rows: Array) -> None:
        self.risk, self.mean = RiskSets.of(time[rows], event[rows], ties, v[rows]), v[rows].mean()
        self.order = np.flatnonzero(rows)[self.risk.order]

    def __call__(self, eta: Array) -> Array:
        constant = np.log(self.mean) * self.risk.omega.sum()
        return np.asarray(self.mean * (self.risk.log_likelihood(eta[self.order]) - constant))


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
