"""The l1-l2 problem with the logistic loss: many training sets of one matrix along (tau, mu).

``h(η) = Σ_i v_i log(1 + exp(-y_i η_i))``. For ``u_i = -y_i v_i q_i``, q_i in [0, 1], its conjugate
is ``Σ_i v_i (q_i log q_i + (1 - q_i) log(1 - q_i))``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled
from genesig.errors import GenesigError
from genesig.optim.adjustment import Adjustment, adjustment
from genesig.optim.likelihood.newton import Loss
from genesig.optim.likelihood.path import (
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

    y: Array
    """(n,) -1 or 1."""
    v: Array
    """(n,)"""


class LogisticLoss(NamedTuple):
    """h(η) and its derivatives at a point."""

    value: float
    u: Array
    """(n,) gradient."""
    w: Array
    """(n,) second derivatives."""


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
    """Fit some training sets on their working sets, see `set_kernels`."""
    solve_all(data, state, set_numbers, levels, steps)


@compiled
def certify_sets(
    data: LossData,
    state: PathState,
    set_numbers: Array,
    levels: PathLevels,
    gap: Array,
    largest_outside: Array,
) -> None:
    """Compute gaps of some training sets, see `set_kernels`."""
    certify_all(data, state, set_numbers, levels, gap, largest_outside)


MIN_CLASS_INFORMATION = 1e-6
"""Information about a covariate, per sample, below which there is none."""
MAX_LOG_ODDS_RATIO = 30.0
"""Logarithm of an odds ratio between two samples above which a fit is not finite."""
NULL_FIT_SLACK = 1e-14
"""Decrease of the loss at which a fit of the covariates alone ends."""


@dataclass(frozen=True)
class LogisticSets:
    """k training sets, each with two classes."""

    sets: TrainingSets
    """Its Y are half the residuals t - p of the fit without features, so that its `tau_max` is
    that of the logistic loss. Weights of samples are in them, in the scales of features and in its
    `norm`.
    """
    y: Array
    """(k, N) classes -1 and 1."""
    v: Array
    """(k, N) weights of sum 1, 0 on left-out rows."""
    columns: Array
    """(k, 1 + q, N) 1, and spanning columns of the covariates, of mean square 1."""
    column_ridge: Array
    """(k, 1 + q) ridge of the columns if covariates separate the classes, else 0."""
    start: PathState
    """The fits without features."""
    deviance: Array
    """(k,) their losses, which gaps are relative to."""
    fixed: Adjustment | None
    """Weights and covariates, as they were given."""
    balanced: bool
    """Whether both classes have the same weight."""

    @property
    def tau_max(self) -> Array:
        """``(1/n_k) max_j |z_j'V(t - p)| / w_j`` of each, (k,); see `TrainingSets.tau_max`."""
        return self.sets.tau_max

    @property
    def norm(self) -> Array:
        """``||Z'Z||/n`` of each, the unit of mu, (k,)."""
        return self.sets.norm

    @property
    def solve(self) -> Callable[..., None]:
        """See `LossTrainingSets.solve`."""
        return solve_sets

    @property
    def certify(self) -> Callable[..., None]:
        """See `LossTrainingSets.certify`."""
        return certify_sets

    def loss_data(self, columns: slice) -> LossData:
        """Return some training sets for compiled code."""
        shared_sets = self.sets
        mean, inverse = shared_sets.moments(columns)
        data = _data_without_features(
            self.y[columns], self.v[columns], self.columns[columns], self.column_ridge[columns]
        )
        return data._replace(
            F=shared_sets.matrix.F,
            mean=mean - shared_sets.matrix.shift if shared_sets.centre else mean,
            inverse=inverse,
            weights=shared_sets.weights,
        )


def logistic_sets(
    X: Array,
    Y: Array,
    rows: Array,
    *,
    centre: bool,
    unit_variance: bool,
    weights: Array | None = None,
    fixed: Adjustment | None = None,
    balanced: bool = False,
    share_copy_with: LogisticSets | None = None,
) -> LogisticSets:
    """Describe k training sets of one matrix.

    Parameters
    ----------
    X : (n, d) array
    Y : (n, k) array
        -1 and 1 on the training rows; values outside are ignored.
    rows : (n, k) bool array
    centre, unit_variance : bool
        As in `training.training_sets`; with the free intercept centring changes no fit, only
        rounding.
    weights : (d,) array, optional
        Of each feature's l1 term, 1 unless given; 0 has the term of mu only.
    fixed : Adjustment, optional
        Weights of the samples, and covariates without a penalty, of the same training rows. Where
        these separate the classes there is no finite fit: they have a ridge then, ``ρ ||a||²``,
        ρ = 1/n, of coefficients a on columns of mean square 1, as in `cox.separation`.
    balanced : bool
        Multiply the weights of each class so that both have the same sum.
    share_copy_with : LogisticSets, optional
        Others of the same X: their copy of it and their weights serve both.

    Raises GenesigError: where `training_sets` raises one; for values other than -1 and 1; and for a
    training set in which a class has no sample of a weight above 0.
    """
    Y = np.asarray(Y, dtype=float)
    rows = np.asarray(rows, dtype=bool)
    v = _class_weights(Y, rows, fixed, balanced)
    y = np.ascontiguousarray(np.where(rows, Y, 1.0).T)
    shares = np.ascontiguousarray((v / v.sum(axis=0)).T)
    columns = _unpenalised_columns(rows, fixed, shares)
    start, column_ridge = _without_features(y, shares, columns, rows.sum(axis=0))
    eta = np.einsum("kc,kcn->kn", start.a, columns)
    deviance = np.sum(shares * np.logaddexp(0, -y * eta), axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        residuals = np.where(shares > 0, -start.u / shares / 2, 0.0).T
    is_unweighted = np.isin(v, (0.0, 1.0))[rows].all() and (v[rows] == 1).all()
    sets = training_sets(
        X,
        residuals,
        rows,
        centre=centre,
        unit_variance=unit_variance,
        weights=weights,
        share_copy_with=None if share_copy_with is None else share_copy_with.sets,
        adjustment=None if is_unweighted else adjustment(rows, weights=v),
    )
    return LogisticSets(sets, y, shares, columns, column_ridge, start, deviance, fixed, balanced)


def _class_weights(Y: Array, rows: Array, fixed: Adjustment | None, balanced: bool) -> Array:
    """Return the weights of all samples (n, k), 0 outside, of mean 1.

    Raise for unusable classes.
    """
    if Y.ndim != 2 or rows.shape != Y.shape or (fixed and fixed.root.shape != rows.shape):
        raise GenesigError(f"Y and rows must be (n, k) alike; found {Y.shape}, {rows.shape}")
    if not np.isin(Y[rows], (-1.0, 1.0)).all():
        raise GenesigError("the logistic loss needs classes -1 and 1 on all training rows")
    v = rows.astype(float) if fixed is None else np.square(fixed.root)
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


def _unpenalised_columns(rows: Array, fixed: Adjustment | None, share: Array) -> Array:
    """Return 1 and the spanning columns of the covariates, (k, 1 + q, N)."""
    q = 0 if fixed is None else fixed.basis.shape[1]
    columns = np.zeros((len(share), 1 + q, share.shape[1]))
    columns[:, 0] = 1.0
    if fixed is not None:
        columns[:, 1:] = fixed.basis * np.sqrt(rows.sum(axis=0))[:, None, None]
    return columns


def _data_without_features(y: Array, v: Array, columns: Array, column_ridge: Array) -> LossData:
    """Return training sets with their columns only; samples with a weight come first."""
    rows = np.argsort(v <= 0, axis=1, kind="stable")
    n_samples = (v > 0).sum(axis=1)
    no_features = y[:, :0]
    classes = Classes(*(np.take_along_axis(values, rows, axis=1) for values in (y, v)))
    column_values = np.take_along_axis(columns, rows[:, None], axis=2)
    return LossData(
        F=np.zeros((0, y.shape[1])),
        mean=no_features,
        inverse=no_features,
        weights=np.zeros(0),
        rows=rows,
        n_samples=n_samples,
        columns=column_values,
        column_ridge=column_ridge,
        response=classes,
    )


def _without_features(y: Array, v: Array, columns: Array, sizes: Array) -> tuple[PathState, Array]:
    """Return the fits of the columns alone, and the ridge (k, 1 + q) that they need.

    The ridge is 0 unless covariates separate the classes. Then it is 2/n for each column of the
    covariates: its term in the problem is ``ridge a²/2``, so ``ρ a²`` with ρ = 1/n.

    sizes (k,) int: number n of training rows.
    """
    column_ridge = np.zeros(columns.shape[:2])
    state = _fit(y, v, columns, column_ridge, np.arange(len(y)))
    if columns.shape[1] == 1:
        return state, column_ridge
    for k, (all_columns, column_coef, in_training) in enumerate(
        zip(columns, state.a, v > 0, strict=True)
    ):
        C = all_columns[:, in_training]
        eta = column_coef @ C
        D = all_columns[np.square(C).any(axis=1)][:, in_training]
        p = np.exp(-np.logaddexp(0, -eta))
        smallest_information = np.linalg.eigvalsh((D * (v[k, in_training] * p * (1 - p))) @ D.T)[0]
        if smallest_information < MIN_CLASS_INFORMATION or np.ptp(eta) > MAX_LOG_ODDS_RATIO:
            column_ridge[k, 1:] = 2 / sizes[k]
    separated = np.flatnonzero(column_ridge.any(axis=1))
    if len(separated):
        for old, new in zip(state, _fit(y, v, columns, column_ridge, separated), strict=True):
            old[separated] = new[separated]
    return state, column_ridge


def _fit(y: Array, v: Array, columns: Array, column_ridge: Array, set_numbers: Array) -> PathState:
    """Return the state without features of the training sets `set_numbers`."""
    (k, c, N) = columns.shape
    no_coef = np.zeros((len(y), 0))
    zeros = np.zeros(len(y))
    eta, z, u = np.zeros((3, k, N))
    state = PathState(no_coef, np.zeros((k, c)), eta, z, u, no_coef.copy())
    data = _data_without_features(y, v, columns, column_ridge)
    solve_sets(
        data,
        state,
        set_numbers,
        PathLevels(zeros, zeros, zeros, zeros + NULL_FIT_SLACK),
        np.zeros(k, np.int64),
    )
    return state


def logistic_path(
    sets: LogisticSets,
    tau: Array | float,
    mu: Array | float,
    *,
    tolerance: float,
    longest: int | None = None,
) -> tuple[Path, Array, Array]:
    """Minimise the penalised logistic loss for every training set.

    ``(1/n) Σ_i v_i log(1 + exp(-y_i (a + c_i'g + z_i'b))) + mu ||b||² + tau Σ_j w_j |b_j|``, with
    the weights v, w and covariates c of the sets.

    tau, mu, tolerance, longest: see `likelihood_path`; gaps are relative to the loss without
    features.

    Returns
    -------
    path : Path
        Coefficients on the standardised scale.
    intercept : (k, m) array
        Of a sample with the mean of each feature and covariate; NaN where the row had ended.
    gamma : (k, m, q) array
        Coefficients on ``sets.columns[:, 1:]``, which are centred, orthogonal and of mean square 1.

    Raises GenesigError: for tau or mu that are negative, or tau = mu = 0.
    """
    path, column_coefs = likelihood_path(sets, tau, mu, tolerance=tolerance, longest=longest)
    return path, column_coefs[..., 0], column_coefs[..., 1:]


def logistic_coef(sets: LogisticSets, path: Path, intercept: Array) -> tuple[Array, Array]:
    """Return (values, intercept) in the units of X.

    ``f(x) = intercept[k, m] + x[indices] @ values`` with the indices of the path is the logarithm
    of the odds of class 1, for samples with the mean of each covariate.

    intercept (k, m): of `logistic_path`.

    Returns
    -------
    values : (nnz,) array
        Aligned with `path.indices`.
    intercept : (k, m) array
    """
    fit_number = np.repeat(np.arange(intercept.size), np.diff(path.indptr))
    of_set = fit_number // path.shape[1]
    values = path.values * sets.sets.inverse_scale[of_set, path.indices]
    offset = np.bincount(fit_number, values * sets.sets.mean[of_set, path.indices], intercept.size)
    return values, intercept - offset.reshape(intercept.shape)
