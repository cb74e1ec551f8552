"""The l1-l2 problem with the logistic loss: many training sets of one matrix along (tau, mu).

``h(η) = Σ_i v_i log(1 + exp(-y_i η_i))``. For ``u_i = -y_i v_i q_i``, q_i in [0, 1], its conjugate
is ``Σ_i v_i (q_i log q_i + (1 - q_i) log(1 - q_i))``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled
from genesig.errors import GenesigError
from genesig.optim.adjustment import adjustment
from genesig.optim.likelihood_newton import Loss
from genesig.optim.likelihood_path import (
    LossData,
    PathLevels,
    PathState,
    likelihood_path,
    set_kernels,
)
from genesig.optim.solution import Path
from genesig.optim.training import TrainingSets, training_sets


class Classes(NamedTuple):
    """Classes and weights of n samples, or (T, N) of T training sets."""

    y: Array  # (n,) -1 or 1
    v: Array  # (n,)


class LogisticLoss(NamedTuple):
    """h(η) and its derivatives at a point."""

    value: float
    u: Array  # (n,) gradient
    w: Array  # (n,) second derivatives


@compiled
def classes_of(response: Classes, set_number: int, n: int) -> Classes:
    """Return classes and weights of one training set with n samples."""
    return Classes(response.y[set_number, :n], response.v[set_number, :n])


@compiled
def evaluate(classes: Classes, eta: Array) -> LogisticLoss:
    """Return the loss at η (n,)."""
    value = 0.0
    u = np.empty(len(eta))
    w = np.empty(len(eta))
    for i in range(len(eta)):
        z = classes.y[i] * eta[i]
        e = np.exp(-abs(z))
        value += classes.v[i] * (max(-z, 0.0) + np.log1p(e))
        u[i] = -classes.y[i] * classes.v[i] * (e if z > 0 else 1.0) / (1.0 + e)
        w[i] = classes.v[i] * e / ((1.0 + e) * (1.0 + e))
    return LogisticLoss(value, u, w)


@compiled
def fill_hessian_products(
    classes: Classes, current: LogisticLoss, D: Array, coordinates: Array, HD: Array
) -> None:
    """See `Loss.fill_hessian_products`: H is diagonal."""
    for j in coordinates:
        for i in range(D.shape[1]):
            HD[j, i] = current.w[i] * D[j, i]


@compiled
def fill_hessian_root(
    classes: Classes, current: LogisticLoss, D: Array, coordinates: Array, E: Array
) -> None:
    """See `Loss.fill_hessian_root`."""
    root_curvature = np.sqrt(current.w)
    for j in coordinates:
        for i in range(D.shape[1]):
            E[j, i] = root_curvature[i] * D[j, i]


@compiled
def conjugate(
    classes: Classes, current: LogisticLoss, eta: Array, z: Array, u: Array, s: float
) -> float:
    """Return h*(s u); ∞ if a q is outside [0, 1]."""
    total = 0.0
    for i in range(len(u)):
        q = -s * classes.y[i] * u[i] / classes.v[i]
        if q < 0.0 or q > 1.0:
            return np.inf
        total += classes.v[i] * (
            (q * np.log(q) if q > 0.0 else 0.0) + ((1.0 - q) * np.log1p(-q) if q < 1.0 else 0.0)
        )
    return total


LOGISTIC = Loss(evaluate, fill_hessian_products, fill_hessian_root, conjugate)
solve_all, certify_all = set_kernels(LOGISTIC, classes_of)


@compiled
def solve_sets(
    data: LossData, state: PathState, set_numbers: Array, levels: PathLevels, steps: Array
) -> None:
    """Fit the training sets `set_numbers` on their working sets; add the Newton steps, (T,).

    The one compiled caller into which `solve_all` is copied, see `set_kernels`.
    """
    solve_all(data, state, set_numbers, levels, steps)


@compiled
def certify_sets(
    data: LossData,
    state: PathState,
    set_numbers: Array,
    levels: PathLevels,
    gap: Array,
    largest_gradient_outside: Array,
) -> None:
    """Fill gap (T,) and largest_gradient_outside (T,) for the training sets `set_numbers`.

    The one compiled caller into which `certify_all` is copied, see `set_kernels`.
    """
    certify_all(data, state, set_numbers, levels, gap, largest_gradient_outside)


START_SLACK = 1e-14  # decrease of the loss at which a fit without features ends


@dataclass(frozen=True)
class LogisticSets:
    """k training sets, each with two classes."""

    # The responses are half the residuals t - p of the fit without features, t the class as 0 or 1
    # and p its probability: so `tau_max` is that of the logistic loss. Sample weights are in the
    # responses, in the scales of features and in `norm`.
    training_sets: TrainingSets
    y: Array  # (k, N) classes -1 and 1
    v: Array  # (k, N) weights of sum 1, 0 on left-out rows
    start: PathState  # the fits without features
    deviance: Array  # (k,) their losses, which gaps are relative to

    # see `LossTrainingSets`
    solve = staticmethod(solve_sets)
    certify = staticmethod(certify_sets)

    @property
    def tau_max(self) -> Array:
        """``(1/n_k) max_j |z_j'V(t - p)|`` of each, (k,); see `TrainingSets.tau_max`."""
        return self.training_sets.tau_max

    @property
    def norm(self) -> Array:
        """``||Z'Z||/n`` of each, the unit of mu, (k,)."""
        return self.training_sets.norm

    def loss_data(self, chunk: slice) -> LossData:
        """Return a chunk of the training sets for compiled code."""
        mean, inverse = self.training_sets.moments(chunk)
        return _data_without_features(self.y[chunk], self.v[chunk])._replace(
            F=self.training_sets.matrix.F,
            mean=mean - self.training_sets.matrix.shift,
            inverse=inverse,
            weights=self.training_sets.weights,
        )


def logistic_sets(
    X: Array,
    Y: Array,
    rows: Array,
    *,
    unit_variance: bool,
    sample_weights: Array | None = None,
    balanced: bool = False,
) -> LogisticSets:
    """Return k training sets of X (n, d) with two classes, their features centred.

    Y (n, k) is -1 and 1 on the training rows (n, k) bool; values outside are ignored.
    sample_weights (n, k) are scaled to a mean of 1 on the training rows. `balanced` multiplies
    those of each class so that both have the same sum.

    Raises GenesigError: where `training_sets` raises one; for values other than -1 and 1; and for a
    training set in which a class has no sample of a weight above 0.
    """
    Y = np.asarray(Y, dtype=float)
    rows = np.asarray(rows, dtype=bool)
    v = _class_weights(Y, rows, sample_weights, balanced)
    y = np.ascontiguousarray(np.where(rows, Y, 1.0).T)
    shares = np.ascontiguousarray((v / v.sum(axis=0)).T)
    start = _without_features(y, shares)
    deviance = np.sum(shares * np.logaddexp(0, -y * start.a), axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        residuals = np.where(shares > 0, -start.u / shares / 2, 0.0).T
    sets = training_sets(
        X,
        residuals,
        rows,
        centre=True,
        unit_variance=unit_variance,
        adjustment=None if (v[rows] == 1).all() else adjustment(rows, weights=v),
    )
    return LogisticSets(sets, y, shares, start, deviance)


def _class_weights(Y: Array, rows: Array, sample_weights: Array | None, balanced: bool) -> Array:
    """Return weights of all samples (n, k), 0 outside, of mean 1; raise for unusable classes."""
    if Y.ndim != 2 or rows.shape != Y.shape:
        raise GenesigError(f"Y and rows must be (n, k) alike; found {Y.shape}, {rows.shape}")
    if not np.isin(Y[rows], (-1.0, 1.0)).all():
        raise GenesigError("the logistic loss needs classes -1 and 1 on all training rows")
    v = np.square(adjustment(rows, weights=sample_weights).root_weights)
    for sign, name in ((-1.0, "-1"), (1.0, "1")):
        member = np.equal(Y, sign)
        total = np.where(rows & member, v, 0.0).sum(axis=0)
        if not total.all():
            raise GenesigError(
                f"training set {int(np.flatnonzero(total == 0)[0])} has no sample of class {name}:"
                " the logistic loss needs both classes in each"
            )
        if balanced:
            v = np.where(member, v * (rows.sum(axis=0) / (2 * total)), v)
    return v


def _data_without_features(y: Array, v: Array) -> LossData:
    """Return training sets with a column of 1 only; samples with a weight come first."""
    rows = np.argsort(v <= 0, axis=1, kind="stable")
    no_features = y[:, :0]
    return LossData(
        F=np.zeros((0, y.shape[1])),
        mean=no_features,
        inverse=no_features,
        weights=np.zeros(0),
        rows=rows,
        n_samples=(v > 0).sum(axis=1),
        columns=np.ones((len(y), 1, y.shape[1])),
        column_ridge=np.zeros((len(y), 1)),
        response=Classes(*(np.take_along_axis(values, rows, axis=1) for values in (y, v))),
    )


def _without_features(y: Array, v: Array) -> PathState:
    """Return the fits of the intercept alone."""
    k, n = y.shape
    no_coef = np.zeros((k, 0))
    zeros = np.zeros(k)
    eta, z, u = np.zeros((3, k, n))
    state = PathState(b=no_coef, a=np.zeros((k, 1)), eta=eta, z=z, u=u, g=no_coef.copy())
    solve_sets(
        _data_without_features(y, v),
        state,
        np.arange(k),
        PathLevels(tau=zeros, mu=zeros, min_gradient=zeros, slack=zeros + START_SLACK),
        np.zeros(k, np.int64),
    )
    return state


def logistic_path(
    sets: LogisticSets, tau: Array | float, mu: Array | float, *, tolerance: float
) -> tuple[Path, Array]:
    """Minimise the penalised logistic loss for every training set.

    ``(1/n) Σ_i v_i log(1 + exp(-y_i (a + z_i'b))) + mu ||b||² + tau ||b||_1``, with the weights v
    of the sets.

    tau, mu, tolerance: see `likelihood_path`; gaps are relative to the loss without features.

    Returns path: coefficients on the standardised scale; intercept (k, m): of a sample with the
    mean of each feature.

    Raises GenesigError: for tau or mu that are negative, or tau = mu = 0.
    """
    path, column_coefs = likelihood_path(sets, tau, mu, tolerance=tolerance)
    return path, column_coefs[..., 0]


def logistic_coef(sets: LogisticSets, path: Path, intercept: Array) -> tuple[Array, Array]:
    """Return values (nnz,) and intercept (k, m) in the units of X.

    ``f(x) = intercept[k, m] + x[indices] @ values`` with the indices of the path is the logarithm
    of the odds of class 1. intercept (k, m): of `logistic_path`.
    """
    fit_number = np.repeat(np.arange(intercept.size), np.diff(path.indptr))
    set_number = fit_number // path.shape[1]
    values = path.values * sets.training_sets.inverse_scale[set_number, path.indices]
    offset = np.bincount(
        fit_number, values * sets.training_sets.mean[set_number, path.indices], intercept.size
    )
    return values, intercept - offset.reshape(intercept.shape)
