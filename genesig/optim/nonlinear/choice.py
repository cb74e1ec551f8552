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
    """Kernel ridge for several λ, from one decomposition.

    Attributes
    ----------
    kernel : Kernel
    X : (n, |S|)
        Training points, selected variables only; no variable gives the mean of y.
    mean : float
    dual : (L, n)
        One row for each λ.
    """

    kernel: Kernel
    X: Array
    mean: float
    dual: Array

    @classmethod
    def fit(
        cls, kernel: Kernel, X: Array, y: Array, lam: Array, counts: Array | None = None
    ) -> Ridge:
        """Fit for all `lam` (L,), relative to mean diag K; samples count `counts` (n,) times."""
        mean = float(np.average(y, weights=counts))
        lam = np.asarray(lam, dtype=float)
        if X.shape[1] == 0:
            return cls(kernel, X, mean, np.zeros((len(lam), len(y))))
        K = tables(kernel, X, X).value
        shift = lam[:, None] * np.average(np.diag(K), weights=counts)
        root = np.ones(len(y)) if counts is None else np.sqrt(counts)
        eigenvalues, V = np.linalg.eigh(root[:, None] * K * root)
        along = (V.T @ (root * (y - mean))) / (np.maximum(eigenvalues, 0) + shift)
        return cls(kernel, X, mean, root * (along @ V.T))

    def predict(self, points: Array) -> Array:
        """Return f at new points (m, |S|), as (L, m)."""
        if self.X.shape[1] == 0:
            return np.full((len(self.dual), len(points)), self.mean)
        out: Array = self.mean + self.dual @ tables(self.kernel, points, self.X).value.T
        return out

    def gradient(self, points: Array, which: int = 0) -> Array:
        """Return the gradient at new points, (m, |S|), for one λ."""
        nothing = np.zeros(self.X.T.shape)
        return evaluate(self.kernel, points, self.X, self.dual[which], nothing)[1].T


@dataclass(frozen=True)
class Settings:
    """What is not chosen by validation; as in `derivative_path` unless said here.

    Attributes
    ----------
    kernel : {"gaussian", "polynomial", "linear"}
    degree, offset : int, float
        Of the polynomial kernel.
    lam : (L,)
        Ridge weights relative to mean diag K of the selected variables, falling; empty for the
        penalised function itself, without debiasing.
    standardise : bool
        Unit variance of the features on the training rows.
    """

    kernel: str
    degree: int
    offset: float
    penalty: str
    mu: float
    groups: Sequence[Sequence[int]] | None
    weights: Array | None
    lam: Array
    standardise: bool
    solver: str
    tolerance: float
    max_iterations: int

    def make_kernel(self, width: float) -> Kernel:
        """Return the kernel of a width, in units of the standardised features."""
        make = pick("kernel", KERNELS, self.kernel)
        check_settings(nu=1.0, width=width, mu=self.mu, degree=self.degree)
        return make(width=width, degree=self.degree, offset=self.offset)

    def check(self, n: int, d: int, grid: Sequence[tuple[float, float]]) -> None:
        """Refuse what any of the (ν, width) to be tried would be refused for, before any fit."""
        pick("solver", SOLVERS, self.solver)
        pick("penalty", PENALTIES, self.penalty)
        for nu, width in grid:
            self.make_kernel(width)
            check_settings(nu=nu, width=width, mu=self.mu, degree=self.degree)
        block = number_groups(self.groups, d, self.penalty)
        check_weights(self.weights, int(block.max()) + 1)
        check_memory(n, d, self.solver)


@dataclass(frozen=True)
class Fit:
    """A path on training rows, in standardised units.

    Attributes
    ----------
    X : (n, d')
        Standardised training rows without constant features.
    features : (d',)
        Numbers of the features that are left.
    centre, scale : (d,)
    y_mean, y_scale : float
    width : float
        Multiple of the median distance.
    path : DerivativePath
    kernel : Kernel
    counts : (n,) or None
        How often each of these rows counts.
    """

    X: Array
    y: Array
    features: Array
    centre: Array
    scale: Array
    y_mean: float
    y_scale: float
    width: float
    path: DerivativePath
    kernel: Kernel
    settings: Settings
    counts: Array | None

    def standardised(self, points: Array) -> Array:
        """Return new rows in the path's units, (m, d')."""
        kept = self.features
        out: Array = (points[:, kept] - self.centre[kept]) / self.scale[kept]
        return out

    def support(self, step: int) -> Array:
        """Return what is selected at one step of the path (numbers among `features`)."""
        return self.path.solutions[step].support

    def ridge(self, step: int) -> Ridge:
        """Fit the final ridge on the variables of one step.

        Its kernel's width is the same multiple of the median distance on these variables.
        """
        X = self.X[:, self.support(step)]
        spread = (median_distance(X @ X.T, self.counts) if X.shape[1] else 0.0) or 1.0
        kernel = self.settings.make_kernel(self.width * spread)
        return Ridge.fit(kernel, X, self.y, self.settings.lam, self.counts)

    def predict(self, step: int, points: Array) -> Array:
        """Return predictions (L, m) for rows in the caller's units, L = 1 without a ridge."""
        Z = self.standardised(points)
        if len(self.settings.lam):
            f = self.ridge(step).predict(Z[:, self.support(step)])
        else:
            fit = self.path.solutions[step]
            f = fit.evaluate(self.kernel, Z, self.X, self.path.nu)[0][None]
        return self.y_mean + self.y_scale * f


def fit_path(
    X: Array,
    y: Array,
    settings: Settings,
    *,
    nu: float,
    width: float,
    tau: Sequence[float],
    counts: Array | None = None,
) -> Fit:
    """Standardise, leave out features that are constant on these rows, and follow the path.

    Parameters
    ----------
    X, y : (n, d), (n,)
    nu : float
        Relative to mean(diag K)/n.
    width : float
        Multiple of the median distance between rows; positive.
    tau : sequence of float
        Fractions of tau_max, falling.
    counts : (n,), optional
        How often each row counts; those of 0 are left out.
    """
    if counts is not None:
        X = X[counts > 0]
        y = y[counts > 0]
        counts = counts[counts > 0]
    centre, spread = _moments(X, counts)
    features = np.flatnonzero(spread > 0)
    if len(features) == 0:
        raise InvalidProblem("every feature is constant on these samples")
    scale = np.where(spread > 0, spread, 1.0) if settings.standardise else np.ones(X.shape[1])
    Z = (X[:, features] - centre[features]) / scale[features]
    y_mean, y_scale = (float(each) for each in _moments(y, counts))
    y_scale = y_scale or 1.0
    response = (y - y_mean) / y_scale
    inner = Z @ Z.T
    check_settings(nu=nu, width=width, mu=settings.mu, degree=settings.degree)
    kernel = settings.make_kernel(width * (median_distance(inner, counts) or 1.0))
    groups, weights = _without_constant(settings, features, X.shape[1])
    path = derivative_path(
        Z,
        response,
        kernel=kernel,
        penalty=settings.penalty,
        nu=nu,
        tau=tau,
        solver=settings.solver,
        tolerance=settings.tolerance,
        max_iterations=settings.max_iterations,
        groups=groups,
        weights=weights,
        mu=settings.mu,
        inner=inner,
        counts=counts,
    )
    return Fit(
        Z,
        response,
        features,
        centre,
        scale,
        y_mean,
        y_scale,
        width,
        path,
        kernel,
        settings,
        counts,
    )


def _moments(values: Array, counts: Array | None) -> tuple[Array, Array]:
    """Return mean and standard deviation of each column, 0 where it is constant."""
    mean = np.average(values, axis=0, weights=counts)
    if counts is None:
        return mean, values.std(axis=0)
    square = np.average((values - mean) ** 2, axis=0, weights=counts)
    return mean, np.where(np.ptp(values, axis=0) > 0, np.sqrt(square), 0.0)


def _without_constant(
    settings: Settings, features: Array, d: int
) -> tuple[Sequence[Sequence[int]] | None, Array | None]:
    """Renumber groups after constant features were left out; a group may vanish."""
    if settings.groups is None or len(features) == d:
        return settings.groups, settings.weights
    number = np.full(d, -1)
    number[features] = np.arange(len(features))
    kept = [[int(number[a]) for a in group if number[a] >= 0] for group in settings.groups]
    weights = settings.weights
    if weights is not None:
        weights = np.array([w for w, group in zip(weights, kept, strict=True) if group])
    return [group for group in kept if group], weights


def validation_errors(
    X: Array,
    y: Array,
    settings: Settings,
    folds: Sequence[tuple[Array, Array]],
    *,
    nu: float,
    width: float,
    tau: Sequence[float],
    counts: Array | None = None,
) -> Array:
    """Return the mean squared error on held-out rows for each (tau, lam), (T, max(L, 1)).

    Infinite where the path of a fold was cut (more than n variables).

    Parameters
    ----------
    folds : sequence of (training rows, held-out rows)
    counts : (n,), optional
        How often each row counts, in fits as in errors.
    """
    total = np.zeros((len(tau), max(len(settings.lam), 1)))
    often = np.ones(len(y)) if counts is None else counts
    count = sum(often[held_out].sum() for _, held_out in folds)
    for rows, held_out in folds:
        if len(np.unique(y[rows][often[rows] > 0])) < 2:
            raise InvalidProblem(
                "the response is constant on the training rows of a fold; use fewer folds"
            )
        own = None if counts is None else counts[rows]
        fit = fit_path(X[rows], y[rows], settings, nu=nu, width=width, tau=tau, counts=own)
        for step in range(len(tau)):
            if step >= len(fit.path.solutions):
                total[step:] = np.inf
                break
            residual = y[held_out] - fit.predict(step, X[held_out])
            total[step] += np.sum(often[held_out] * np.square(residual), axis=1)
    return np.asarray(total / count)
