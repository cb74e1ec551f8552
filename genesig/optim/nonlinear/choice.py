"""Choice of (tau, ν, width) and of the final kernel ridge by the error on held-out rows.

Kernel ridge on the selected variables S undoes the shrinkage of the penalty,

    c = (K_S + λ m I)⁻¹ (y - ȳ),  m = mean diag K_S,  f(x) = ȳ + Σ_j c_j k_S(x_j, x)

Samples that count w times make it c = √w (√w K_S √w' + λ m I)⁻¹ √w (y - ȳ), with means of w.

Source: Alg1^GR of Rosasco et al. (2010), section 5; Gregorova et al. (2018), section 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array
from genesig.errors import pick
from genesig.optim.kernels import KERNELS, Kernel, evaluate, median_distance, tables
from genesig.optim.nonlinear.instance import DerivativeCriterion
from genesig.optim.nonlinear.path import DerivativePath, derivative_path
from genesig.optim.nonlinear.penalties import PENALTIES
from genesig.optim.nonlinear.problem import (
    InvalidProblem,
    check_memory,
    check_settings,
    check_weights,
    number_groups,
)
from genesig.optim.nonlinear.solvers import SOLVERS


@dataclass(frozen=True)
class Ridge:
    """Kernel ridge for several λ, from one decomposition."""

    kernel: Kernel
    # (n, |S|): training points, selected variables only; without a variable f is the mean of y
    X: Array
    mean: float
    dual: Array  # (L, n): one row for each λ

    @classmethod
    def fit(
        cls, kernel: Kernel, X: Array, y: Array, lam: Array, counts: Array | None = None
    ) -> Ridge:
        """Fit for all `lam` (L,), relative to mean diag K; samples count `counts` (n,) times."""
        mean = float(np.average(y, weights=counts))
        lam = np.asarray(lam, dtype=float)
        if X.shape[1] == 0:
            return cls(kernel, X, mean, np.zeros((len(lam), len(y))))
        kernel_values = tables(kernel, X, X).value
        penalties = lam[:, None] * np.average(np.diag(kernel_values), weights=counts)
        root_counts = np.ones(len(y)) if counts is None else np.sqrt(counts)
        eigenvalues, eigenvectors = np.linalg.eigh(
            root_counts[:, None] * kernel_values * root_counts
        )
        coefs = (eigenvectors.T @ (root_counts * (y - mean))) / (
            np.maximum(eigenvalues, 0) + penalties
        )
        return cls(kernel, X, mean, root_counts * (coefs @ eigenvectors.T))

    def predict(self, points: Array) -> Array:
        """Return f at new points (m, |S|), as (L, m)."""
        if self.X.shape[1] == 0:
            return np.full((len(self.dual), len(points)), self.mean)
        return np.asarray(self.mean + self.dual @ tables(self.kernel, points, self.X).value.T)

    def gradient(self, points: Array) -> Array:
        """Return the gradient of f at new points (m, |S|), (m, |S|), for the first λ."""
        no_derivatives = np.zeros(self.X.T.shape)
        return evaluate(self.kernel, points, self.X, self.dual[0], no_derivatives)[1].T


@dataclass(frozen=True)
class SolverSettings:
    """Settings that are not chosen by validation; see `derivative_path` for others than these."""

    kernel: str  # name of the kernel: gaussian, polynomial or linear
    degree: int  # degree of the polynomial kernel
    offset: float  # offset of the polynomial kernel
    # penalty, mu, groups and weights of `DerivativeCriterion`
    penalty: str
    mu: float
    groups: Sequence[Sequence[int]] | None
    weights: Array | None
    # (L,) float: ridge weights relative to mean diag K of the selected variables, descending; empty
    # for the penalised function itself, without debiasing
    lam: Array
    standardise: bool  # whether features have unit variance on the training rows
    solver: str  # name of the solver in `SOLVERS`
    tolerance: float  # duality gap relative to ||y||²/n at which a fit is done
    max_iterations: int  # for one tau

    def make_kernel(self, width: float) -> Kernel:
        """Return the kernel of a width, in units of the standardised features."""
        kernel_function = pick("kernel", KERNELS, self.kernel)
        check_settings(nu=1.0, width=width, mu=self.mu, degree=self.degree)  # any valid ν
        return kernel_function(width=width, degree=self.degree, offset=self.offset)

    def check(self, n: int, d: int, grid: Sequence[tuple[float, float]]) -> None:
        """Raise, before any fit, if a setting is invalid with one of the (ν, width) of the grid."""
        pick("solver", SOLVERS, self.solver)
        pick("penalty", PENALTIES, self.penalty)
        for nu, width in grid:
            self.make_kernel(width)
            check_settings(nu=nu, width=width, mu=self.mu, degree=self.degree)
        group_of_feature = number_groups(self.groups, d, self.penalty)
        check_weights(self.weights, int(group_of_feature.max()) + 1)
        check_memory(n, d, self.solver)


@dataclass(frozen=True)
class PathFit:
    """A path on training rows, in standardised units."""

    X: Array  # (n, d') float: standardised training rows without constant features
    y: Array  # (n,) float: standardised response
    features: Array  # (d',) int: numbers of the features that are left
    centre: Array  # (d,) float: mean of each feature
    scale: Array  # (d,) float: divisor of each feature
    y_mean: float  # mean of the response
    y_scale: float  # standard deviation of the response
    width: float  # width of the kernel, as a multiple of the median distance
    path: DerivativePath  # the path of solutions
    kernel: Kernel  # the kernel of the path
    settings: SolverSettings  # the settings of the fit
    counts: Array | None  # (n,) float or None: how often each of these rows counts

    def standardised(self, points: Array) -> Array:
        """Return new rows in the path's units, (m, d')."""
        columns = self.features
        return np.asarray((points[:, columns] - self.centre[columns]) / self.scale[columns])

    def support(self, step: int) -> Array:
        """Return the features selected at one step of the path, as indices of `features`."""
        return self.path.solutions[step].support

    def ridge(self, step: int) -> Ridge:
        """Fit the final ridge on the variables of one step.

        Its kernel's width is the same multiple of the median distance on these variables.
        """
        X = self.X[:, self.support(step)]
        # 1 without variables or if most points coincide: no kernel has a width of 0
        typical_distance = (median_distance(X @ X.T, self.counts) if X.shape[1] else 0.0) or 1.0
        kernel = self.settings.make_kernel(self.width * typical_distance)
        return Ridge.fit(kernel, X, self.y, self.settings.lam, self.counts)

    def predict(self, step: int, points: Array) -> Array:
        """Return predictions (L, m) for rows in the caller's units, L = 1 without a ridge."""
        Z = self.standardised(points)
        if len(self.settings.lam):
            predictions = self.ridge(step).predict(Z[:, self.support(step)])
        else:
            fit = self.path.solutions[step]
            predictions = fit.evaluate(self.kernel, Z, self.X, self.path.nu)[0][None]
        return self.y_mean + self.y_scale * predictions


def fit_path(
    X: Array,
    y: Array,
    settings: SolverSettings,
    *,
    nu: float,
    width: float,
    tau: Sequence[float],
    counts: Array | None = None,
) -> PathFit:
    """Return the path on standardised rows, without features that are constant on these rows.

    X, y (n, d), (n,). nu: relative to mean(diag K)/n. width: multiple of the median distance
    between rows; positive. tau: fractions of tau_max, falling. counts (n,), optional: how often
    each row counts; those of 0 are left out.
    """
    if counts is not None:
        X = X[counts > 0]
        y = y[counts > 0]
        counts = counts[counts > 0]
    centre, deviation = _moments(X, counts)
    features = np.flatnonzero(deviation > 0)
    if len(features) == 0:
        raise InvalidProblem("every feature is constant on these samples")
    scale = np.where(deviation > 0, deviation, 1.0) if settings.standardise else np.ones(X.shape[1])
    Z = (X[:, features] - centre[features]) / scale[features]
    y_mean, y_scale = (float(moment) for moment in _moments(y, counts))
    y_scale = y_scale or 1.0
    response = (y - y_mean) / y_scale
    inner_products = Z @ Z.T
    check_settings(nu=nu, width=width, mu=settings.mu, degree=settings.degree)
    kernel = settings.make_kernel(width * (median_distance(inner_products, counts) or 1.0))
    groups, weights = _groups_of_features(settings, features, X.shape[1])
    path = derivative_path(
        Z,
        response,
        DerivativeCriterion(kernel, settings.penalty, nu, groups, weights, settings.mu),
        tau=tau,
        solver=settings.solver,
        tolerance=settings.tolerance,
        max_iterations=settings.max_iterations,
        inner=inner_products,
        counts=counts,
    )
    return PathFit(
        Z, response, features, centre, scale, y_mean, y_scale, width, path, kernel, settings, counts
    )


def _moments(values: Array, counts: Array | None) -> tuple[Array, Array]:
    """Return mean and standard deviation of each column, 0 where it is constant."""
    mean = np.average(values, axis=0, weights=counts)
    if counts is None:
        return mean, values.std(axis=0)
    variance = np.average((values - mean) ** 2, axis=0, weights=counts)
    return mean, np.where(np.ptp(values, axis=0) > 0, np.sqrt(variance), 0.0)


def _groups_of_features(
    settings: SolverSettings, features: Array, d: int
) -> tuple[Sequence[Sequence[int]] | None, Array | None]:
    """Return the nonempty groups, numbered among the given features, and their weights."""
    if settings.groups is None or len(features) == d:
        return settings.groups, settings.weights
    new_number = np.full(d, -1)
    new_number[features] = np.arange(len(features))
    kept_groups = [
        [int(new_number[feature]) for feature in group if new_number[feature] >= 0]
        for group in settings.groups
    ]
    weights = settings.weights
    if weights is not None:
        weights = np.array(
            [weight for weight, group in zip(weights, kept_groups, strict=True) if group]
        )
    return [group for group in kept_groups if group], weights


def validation_errors(
    X: Array,
    y: Array,
    settings: SolverSettings,
    folds: Sequence[tuple[Array, Array]],
    *,
    nu: float,
    width: float,
    tau: Sequence[float],
    counts: Array | None = None,
) -> Array:
    """Return the mean squared error on held-out rows for each (tau, lam), (T, max(L, 1)).

    Infinite where the path of a fold was cut (more than n variables).

    folds sequence of (training rows, held-out rows). counts (n,), optional: how often each row
    counts, in fits as in errors.
    """
    squared_errors = np.zeros((len(tau), max(len(settings.lam), 1)))
    row_counts = np.ones(len(y)) if counts is None else counts
    total_count = sum(row_counts[held_out].sum() for _, held_out in folds)
    for rows, held_out in folds:
        if len(np.unique(y[rows][row_counts[rows] > 0])) < 2:
            raise InvalidProblem(
                "the response is constant on the training rows of a fold; use fewer folds"
            )
        fit_counts = None if counts is None else counts[rows]
        fit = fit_path(X[rows], y[rows], settings, nu=nu, width=width, tau=tau, counts=fit_counts)
        for tau_index in range(len(tau)):
            if tau_index >= len(fit.path.solutions):
                squared_errors[tau_index:] = np.inf
                break
            residual = y[held_out] - fit.predict(tau_index, X[held_out])
            squared_errors[tau_index] += np.sum(row_counts[held_out] * np.square(residual), axis=1)
    return np.asarray(squared_errors / total_count)
