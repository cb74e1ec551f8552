"""Nonlinear selection along a falling tau, ridge on its variables, and errors of held-out rows.

Kernel ridge on the selected variables S undoes the shrinkage of the penalty,

    c = (K_S + λ m I)⁻¹ (y - ȳ),  m = mean diag K_S,  f(x) = ȳ + Σ_j c_j k_S(x_j, x)

Samples that count w times make it c = √w (√w K_S √w' + λ m I)⁻¹ √w (y - ȳ), with means of w.

Source: Alg1^GR of Rosasco et al. (2010), section 5; Gregorova et al. (2018), section 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array, row_squares
from genesig.errors import pick
from genesig.optim.kernels import KERNELS, Kernel, evaluate, median_distance, tables
from genesig.optim.nonlinear.instance import (
    DerivativeCriterion,
    Instance,
    Minimum,
    Multipliers,
    make_instance,
)
from genesig.optim.nonlinear.problem import (
    PENALTIES,
    InvalidProblem,
    Penalty,
    check_data,
    check_memory,
    check_settings,
    check_tau,
    check_weights,
    number_groups,
)
from genesig.optim.nonlinear.solvers import SOLVERS
from genesig.optim.solution import convergence_message

SOLVER_TOLERANCE_SHARE = 0.1  # gap at which the solver stops, as a share of the tolerance
MIN_SOLVER_TOLERANCE = 1e-9  # smallest gap at which the solver stops


@dataclass(frozen=True)
class Solution:
    """The minimiser for one tau, to within its gap."""

    tau: float  # absolute tau of the fit
    # (d,): ||∂_a f||/√n over the training points, exactly zero where a is not selected
    norms: Array
    f: Array  # (n,): values at the training points, without the mean of y
    alpha: Array  # (n,): weights of the kernel at the training points
    multipliers: Multipliers  # q; β = -q `root`/2ν are the weights of its derivatives; not sparse
    gap: float  # duality gap over all features, relative to ||y||²/n
    objective: float
    iterations: int
    root: Array | float  # (n,) or 1.0: √v of the samples' weights v, as in `Instance`

    @property
    def support(self) -> Array:
        """Return the selected variables: those whose norm is not 0."""
        return np.flatnonzero(self.norms)

    def evaluate(self, kernel: Kernel, points: Array, X: Array, nu: float) -> tuple[Array, Array]:
        """Return f (m,) and its gradient (d, m) at new points, from the training points X.

        `nu` is absolute.
        """
        return evaluate(
            kernel, points, X, self.alpha, self.multipliers.dense(X) / (-2 * nu / self.root)
        )


def certified_solution(
    instance: Instance, tau: float, penalty: Penalty, minimum: Minimum, tolerance: float
) -> Solution:
    """Return the solution of a solver's minimum, with its gap and its selected variables.

    φ_a is the step of the dual's prox over its length: zero unless ||q_g + t φ_g|| exceeds r_g. It
    is also zero if a block's part of the penalty, r_g ||φ_g||, is less than the tolerance of the
    gap: if M is singular, multipliers can lie on their bound without a gradient.
    """
    q, certificate, iterations = minimum
    norms = np.zeros(instance.X.shape[1])
    if len(q.active):
        step_length = 1 / float(instance.metric.weight.max())
        active = penalty.take(q.active)
        shifted = q.values + step_length * certificate.phi
        phi = (shifted - active.prox_conjugate(shifted, step_length)) / step_length
        block_parts = active.radius * active.norms(row_squares(phi))
        phi *= active.spread(block_parts > max(tolerance * instance.scale, certificate.gap))
        norms[q.active] = np.sqrt(row_squares(phi) / instance.problem.n)
    return Solution(
        tau=tau,
        norms=norms,
        f=certificate.expansion.f / instance.root,
        alpha=certificate.expansion.alpha * instance.root,
        multipliers=q,
        gap=certificate.gap / instance.scale,
        objective=certificate.objective,
        iterations=iterations,
        root=instance.root,
    )


@dataclass(frozen=True)
class DerivativePath:
    """Fits for falling tau."""

    # smallest tau at which nothing is selected. There f is the ridge fit among the functions whose
    # gradient vanishes at every training point, which is not zero.
    tau_max: float
    nu: float  # absolute ν
    # share of ||y||² that f fits at tau_max, with no variable at all. Near 1 it says that ν is too
    # small for this many features: bumps with zero gradient fit y.
    explained_by_none: float
    solutions: tuple[Solution, ...]
    # whether it ends before the last tau, where more variables than samples are selected
    ended_early: bool
    message: str  # empty, or sentences about a path cut short and fits that did not converge


def derivative_path(
    X: Array,
    y: Array,
    criterion: DerivativeCriterion,
    *,
    tau: Sequence[float],
    solver: str,
    tolerance: float,
    max_iterations: int,
    inner: Array | None = None,
    counts: Array | None = None,
) -> DerivativePath:
    """Minimise (1/n)||y - f||² + Ω(∂f) + ν||f||² along falling tau.

    X (n, d): centred, so that digits are not lost in inner products.
    y (n,): centred here.
    tau: fractions of tau_max, falling.
    solver {"auto", "compressed", "fista", "admm", "projection"}.
    tolerance: duality gap relative to ||y||²/n at which a fit is done.
    max_iterations: for one tau.
    inner (n, n), optional: X X', where it is known.
    counts (n,), optional: how often each sample counts, above 0: in the mean of y, in (1/n) ||y -
        f||², in the norms of derivatives, and as the n of ν.

    DerivativePath: cut before the first fit with more than n variables, because beyond that the
    model says nothing.

    Raises InvalidProblem: fewer than 3 samples, constant or not finite columns, ν ≤ 0, groups that
    do not partition the features, more memory than the machine has.
    """
    X = np.asarray(X, dtype=float)
    y = np.asarray(y, dtype=float)
    pick("solver", SOLVERS, solver)
    pick("penalty", PENALTIES, criterion.penalty)
    check_data(X, y)
    check_settings(nu=criterion.nu, width=1.0, mu=criterion.mu, degree=1)  # the kernel is made
    check_tau(tau)
    check_memory(X.shape[0], X.shape[1], solver)
    instance = make_instance(X, y, criterion, inner=inner, counts=counts)
    return follow_path(instance, tau, solver, tolerance, max_iterations)


def follow_path(
    instance: Instance, tau: Sequence[float], solver: str, tolerance: float, max_iterations: int
) -> DerivativePath:
    """Return the fits along fractions of tau_max until more than n variables are selected.

    q is nearly linear in tau, so each fit starts on the line through the last two. Fits are solved
    to a smaller gap than the tolerance: the selection treats parts of the penalty below the
    tolerance as zero, and is then the selection of the minimum, not of the iterate.
    """
    solver_tolerance = min(tolerance, max(SOLVER_TOLERANCE_SHARE * tolerance, MIN_SOLVER_TOLERANCE))
    q = instance.start
    solutions = []
    message = ""
    ended_early = False
    previous_q = q
    fraction_of_q = 1.0
    fraction_of_previous = 1.0
    for fraction in tau:
        absolute = fraction * instance.tau_max
        penalty = instance.penalty(absolute)
        fraction_step = fraction_of_previous - fraction_of_q  # 0 until a fit is below tau_max
        start = (
            q.extrapolate(instance.X, previous_q, (fraction_of_q - fraction) / fraction_step)
            if fraction_step
            else q
        )
        previous_q = q
        fraction_of_previous = fraction_of_q
        fraction_of_q = fraction
        minimum = SOLVERS[solver](instance, penalty, start, solver_tolerance, max_iterations)
        q = minimum.multipliers
        solution = certified_solution(instance, absolute, penalty, minimum, tolerance)
        if len(solution.support) > instance.problem.n:
            ended_early = True
            message = (
                f"the path ends before tau = {fraction:.3g} tau_max, where {len(solution.support)}"
                f" variables are selected from {instance.problem.n} samples; "
            )
            break
        solutions.append(solution)
    start_product = instance.start.product(instance.X, instance.inner)
    y = instance.problem.y
    f = instance.problem.expand(start_product).f
    gaps = np.array([solution.gap for solution in solutions])
    return DerivativePath(
        tau_max=instance.tau_max,
        nu=instance.problem.nu,
        explained_by_none=1 - float((y - f) @ (y - f) / (y @ y)),
        solutions=tuple(solutions),
        ended_early=ended_early,
        message=(message + convergence_message(gaps, tolerance)).rstrip("; "),
    )


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
