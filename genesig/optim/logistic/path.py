"""The logistic elastic net along a path of (tau, mu), and what its fits say of samples."""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array
from genesig.optim.likelihood.path import likelihood_path
from genesig.optim.logistic.training import LogisticSets
from genesig.optim.solution import Path


def logistic_path(
    sets: LogisticSets, tau: Array | float, mu: Array | float, *, tolerance: float,
    longest: int | None = None,
) -> tuple[Path, Array, Array]:  # fmt: skip
    """Minimise the penalised logistic loss for every training set.

    ``(1/n) Σ_i v_i log(1 + exp(-y_i (a + c_i'g + z_i'b))) + mu ||b||² + tau Σ_j w_j |b_j|``, with
    the weights v, w and covariates c of the sets.

    Parameters
    ----------
    sets : LogisticSets
    tau, mu, tolerance, longest
        See `likelihood_path`; gaps are relative to the loss without features.

    Returns
    -------
    path : Path
        Coefficients on the standardised scale.
    intercept : (k, m) array
        Of a sample with the mean of each feature and covariate; NaN where the row had ended.
    gamma : (k, m, q) array
        Coefficients on ``sets.columns[:, 1:]``, which are centred, orthogonal and of mean square 1.

    Raises
    ------
    GenesigError
        For tau or mu that are negative, or tau = mu = 0.
    """
    path, held = likelihood_path(sets, tau, mu, tolerance=tolerance, longest=longest)
    return path, held[..., 0], held[..., 1:]


def logistic_coef(sets: LogisticSets, path: Path, intercept: Array) -> tuple[Array, Array]:
    """Return (values, intercept) in the units of X.

    ``f(x) = intercept[k, m] + x[indices] @ values`` with the indices of the path is the logarithm
    of the odds of class 1, for samples with the mean of each covariate.

    Parameters
    ----------
    sets : LogisticSets
    path : Path
    intercept : (k, m) array
        Of `logistic_path`.

    Returns
    -------
    values : (nnz,) array
        Aligned with `path.indices`.
    intercept : (k, m) array
    """
    fit = np.repeat(np.arange(intercept.size), np.diff(path.indptr))
    of_set = fit // path.shape[1]
    values = path.values * sets.sets.inverse_scale[of_set, path.indices]
    taken = np.bincount(fit, values * sets.sets.mean[of_set, path.indices], intercept.size)
    return values, intercept - taken.reshape(intercept.shape)
