"""The Cox elastic net along a path of (tau, mu)."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.cox.training import CoxSets
from genesig.optim.likelihood.path import largest_ratio, likelihood_path, without_features
from genesig.optim.solution import Path

Array = np.ndarray[Any, Any]


def cox_path(
    sets: CoxSets, tau: Array | float, mu: Array | float, *, tolerance: float,
    longest: int | None = None, groups: Array | None = None,
) -> Path:  # fmt: skip
    """Minimise ``-(2/n) l(Zb) + mu Σ_{w_j > 0} b_j² + tau Σ_j w_j |b_j|`` for every training set.

    l is the logarithm of the partial likelihood (see `risk_sets`), w are the weights of the sets.

    Parameters
    ----------
    sets : CoxSets
    tau, mu, tolerance, longest, groups
        See `likelihood_path`; gaps are relative to ``2 (l_saturated - l(0)) / n``.

    Returns
    -------
    Path
        Where the unpenalised features order all events there is no finite minimum: their
        coefficients run off, until the gap is within the tolerance or the fit ends unconverged.

    Raises
    ------
    GenesigError
        For tau or mu that are negative, or tau = mu = 0.
    """
    path, held = likelihood_path(
        sets, tau, mu, tolerance=tolerance, longest=longest, groups=groups
    )  # fmt: skip
    return path if not len(sets.free) else _with_free(sets, path, held, tolerance).ended(longest)


def _with_free(sets: CoxSets, path: Path, held: Array, tolerance: float) -> Path:
    """Return the path with the features that have no penalty."""
    coefs = []
    for k, m in np.ndindex(path.shape):
        _, back = sets.beside(k)
        free = back[: len(sets.free)] @ held[k, m, : back.shape[1]]
        indices, values = path.coef(k, m)
        indices = np.concatenate([indices, sets.free])
        values = np.concatenate([values, np.nan_to_num(free)])  # NaN where the row had ended
        order = np.argsort(indices)
        order = order[values[order] != 0]
        coefs.append((indices[order], values[order]))
    return Path.of(path.shape, coefs, path.gap, path.iterations, tolerance)


def tau_max(sets: CoxSets) -> Array:
    """Return the smallest tau of each training set, (k,), at which no penalised one is selected."""
    if not len(sets.free) and sets.fixed is None:
        return sets.sets.tau_max
    each = [without_features(sets, slice(k, k + 1)) for k in range(len(sets.risk))]
    return np.array([largest_ratio(state, ground.weights)[0] for ground, state in each])


def strength(sets: CoxSets, part: slice) -> Array:
    """Return ``|z_j'∇l|`` of each feature where none is selected, in some training sets, (k, d)."""
    if not len(sets.free) and sets.fixed is None:
        return sets.sets.strength(part)
    return np.abs(without_features(sets, part)[1].g)
