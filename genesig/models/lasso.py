"""Lasso and elastic net as baselines, linear and logistic: paths of tau, chosen by the inner folds.

The solvers are genesig's own; tests compare them with scikit-learn's and scikit-survival's. The
penalty is glmnet's, ``lambda (share ||b||_1 + (1 - share) ||b||²/2)`` with the l1 share 1 for the
lasso; the coefficients are not fitted again. At ties the first l1 share and the largest tau win.

The logistic path, by Newton methods in NumPy, serves the baselines of two classes alone.
`genesig.optim.logistic` solves the same problem, with sample weights and certificates, but a first
run would have to compile it, which takes longer than a small study.

X (n, d) are training rows, X_test (n_test, d) test rows; y (n,) are numbers, ±1 for two classes,
or for survival a structured array of time and event.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dposv
from scipy.special import expit

from genesig.arrays import Array
from genesig.errors import GenesigError
from genesig.optim import solvers
from genesig.optim.cox.path import cox_path
from genesig.optim.cox.risk_sets import DEFAULT_TIES, left_out_deviance
from genesig.optim.cox.training import FollowUp, cox_sets
from genesig.optim.solution import Path
from genesig.optim.training import TrainingSets, training_sets

Folds = Sequence[Array]  # held-out rows of each inner fold, as numbers of training rows

TAU_FRACTIONS = np.geomspace(1, 0.05, 20)  # in units of the smallest tau that selects nothing
LASSO_L1_SHARES = (1.0,)
ELASTIC_NET_L1_SHARES = (0.5, 0.1)  # L1 shares of the elastic net, one of which is chosen
GAP_TOLERANCE = 1e-7  # largest relative duality gap of a fit that counts as converged

# of the logistic path
MAX_VIOLATION = 1e-10  # share of tau by which the gradient of an unselected feature may exceed it
MAX_GRADIENT = 1e-12  # share of tau_max up to which a gradient of selected features counts as 0
# The same as a share of tau, while features join. It saves half of the Newton steps of a study of
# 168 samples, a quarter with 38.
LOOSE_GRADIENT_SHARE = 1e-2
MAX_CHANGES = 10_000  # largest number of changes of the selected features at one tau
MAX_NEWTON_STEPS = 200  # at one tau, or with the same selected features
MAX_ODDS_ERROR = 1e-10  # between the log odds of probabilities and of coefficients
# Share of the last change of the error probabilities by which the next start goes further. It saves
# 29 % of the Newton steps of elastic nets on studies with 38 and 168 samples.
EXTRAPOLATED_SHARE = 0.8
MIN_DECREASE = 1e-15  # share of the objective below which its decrease is rounding
# Smallest squared penalty whose dual is minimised, if features have mean squares of up to 1.
# Newton's method on the dual fails at 1e-6, which unscaled intensities have.
MIN_DUAL_RIDGE = 1e-4
MIN_CURVATURE = 1e-13
"""Share by which the diagonal of the Hessian grows: selected features may depend on each other."""


def logistic_net(
    X: Array, y: Array, X_test: Array, folds: Folds, l1_shares: Sequence[float]
) -> tuple[Array, Array]:
    """Return scores of test rows and of held-out training rows by penalised logistic regression.

    L1 share and tau are those with the smallest logistic loss of held-out rows.

    Scores are the logarithms of odds, (n_test,) and (n,); NaN for a training row that no fold holds
    out.
    """
    held_out_odds = np.full((len(l1_shares) * len(TAU_FRACTIONS), len(y)), np.nan)
    for fold in folds:
        train = np.setdiff1d(np.arange(len(y)), fold)
        if len(np.unique(y[train])) > 1:
            held_out_odds[:, fold] = _log_odds(X[train], y[train], X[fold], l1_shares)
    has_score = ~np.isnan(held_out_odds[0])
    loss = np.logaddexp(0, -y[has_score] * held_out_odds[:, has_score]).sum(axis=1)
    best_fit = int(np.argmin(loss))
    return _log_odds(X, y, X_test, l1_shares)[best_fit], held_out_odds[best_fit]


def _log_odds(X: Array, y: Array, X_test: Array, l1_shares: Sequence[float]) -> Array:
    """Return the log odds of test rows at each l1 share and tau, (n_fits, n_test)."""
    mean = X.mean(axis=0)
    return np.stack(
        [
            fit.intercept + _linear_scores(X_test, mean, fit.genes, fit.values)
            for l1_share in l1_shares
            for fit in logistic_lasso_path(X, y, TAU_FRACTIONS, l1_share)
        ]
    )


def squares_net(
    X: Array, y: Array, X_test: Array, folds: Folds, l1_shares: Sequence[float]
) -> Array:
    """Return scores of test rows, (n_test,), by penalised least squares.

    L1 share and tau are those with the smallest squared error of held-out rows.
    """
    rows = _training_rows(len(y), folds)
    Y = np.tile(y[:, None], rows.shape[1])
    # Ones stand for ||Z'Z||/n, the unit of mu: it is slow to compute, and mu is absolute here.
    sets = training_sets(X, Y, rows, centre=True, unit_variance=False, norm=np.ones(len(rows.T)))

    def fit(tau: Array, mu: Array) -> Path:
        return solvers.path(sets, tau, mu, solver="landweber-newton", tolerance=GAP_TOLERANCE)

    scores = sets.y_mean[:, None, None] + _scores_along_paths(
        fit, sets, np.vstack([X, X_test]), l1_shares
    )
    loss = np.zeros(scores.shape[1])
    for training_set, fold in enumerate(folds, 1):
        loss += np.square(y[fold] - scores[training_set][:, fold]).sum(axis=1)
    return np.asarray(scores[0, int(np.argmin(loss)), len(y) :])  # set 0 has all training rows


def cox_net(X: Array, y: Array, X_test: Array, folds: Folds, l1_shares: Sequence[float]) -> Array:
    """Return scores of test rows, (n_test,), by penalised Cox regression.

    L1 share and tau are those with the largest likelihood of left-out rows. y has the fields time
    and event; a fold counts only if its training rows have an event; without a fold scores are 0.

    Source: Simon, Friedman, Hastie and Tibshirani 2011.
    """
    usable_folds = [fold for fold in folds if np.delete(y["event"], fold).any()]
    rows = _training_rows(len(y), usable_folds)
    sets = cox_sets(
        X,
        FollowUp(y["time"], y["event"]),
        rows,
        centre=True,
        unit_variance=False,
        ties=DEFAULT_TIES,
        norm=np.ones(len(rows.T)),  # as in `squares_net`
    )

    def fit(tau: Array, mu: Array) -> Path:
        return cox_path(sets, tau, mu, tolerance=GAP_TOLERANCE)

    scores = _scores_along_paths(fit, sets.training_sets, np.vstack([X, X_test]), l1_shares)
    best_fit = 0
    if len(usable_folds):
        error, _ = left_out_deviance(
            y["time"], y["event"], usable_folds, scores[1:, :, : len(y)], DEFAULT_TIES
        )
        best_fit = int(np.argmin(error))
    return np.asarray(scores[0, best_fit, len(y) :])


def _training_rows(n: int, folds: Folds) -> Array:
    """Return the rows (n, 1 + K) bool of training sets: all rows, then all except each fold's."""
    rows = np.ones((n, 1 + len(folds)), dtype=bool)
    for training_set, fold in enumerate(folds, 1):
        rows[fold, training_set] = False
    return rows


def _scores_along_paths(
    fit: Callable[[Array, Array], Path], sets: TrainingSets, X: Array, l1_shares: Sequence[float]
) -> Array:
    """Return ``(x - mean)'b`` of rows by each training set, l1 share and tau, (k, n_fits, n)."""
    tau = sets.tau_max[:, None] * TAU_FRACTIONS
    # With tau = lambda share, glmnet's squared term lambda (1 - share) ||b||²/2 is mu ||b||².
    paths = [fit(tau, tau * (1 / l1_share - 1) / 2) for l1_share in l1_shares]
    return np.stack(
        [
            [
                _linear_scores(X, mean, *path.coef(training_set, tau_index))
                for path in paths
                for tau_index in range(path.shape[1])
            ]
            for training_set, mean in enumerate(sets.mean)
        ]
    )


def _linear_scores(X: Array, mean: Array, genes: Array, values: Array) -> Array:
    """Return ``(x - mean)'b`` of rows, (n,); b has the values of the given genes."""
    # Not a matrix product: its rounding would depend on the number of rows.
    return np.asarray(((X[:, genes] - mean[genes]) * values).sum(axis=1))


class LogisticLassoFit(NamedTuple):
    """A fit; the log odds of x are ``intercept + (x - mean)[genes] @ values``."""

    intercept: float
    genes: Array  # (s,) int, the selected features
    values: Array  # (s,) their coefficients


def logistic_lasso_path(
    X: Array, y: Array, tau_shares: Array, l1_share: float = 1.0
) -> list[LogisticLassoFit]:
    """Return the minimisers of the logistic loss with an l1 and a squared penalty along tau.

    ``(1/n) Σ_i log(1 + exp(-y_i f(x_i))) + tau ||b||_1 + tau (1/l1_share - 1) ||b||²/2``, which is
    glmnet's elastic net with lambda = tau/l1_share.

    X (n, d). y (n,): ±1, of both classes. tau_shares (m,): falling tau, as shares of the smallest
    one that selects nothing. l1_share: glmnet's alpha, scikit-learn's l1_ratio, above 0; 1 is the
    lasso.
    """
    Z = X - X.mean(axis=0)
    # In a common unit, so that the tolerances and the choice of a method suit unscaled features.
    unit = float(np.sqrt(np.square(Z).mean(axis=0).max())) or 1.0
    Z /= unit
    positive = (y > 0).astype(float)
    positive_share = positive.mean()
    tau_max = float(np.abs(Z.T @ (positive - positive_share)).max() / len(y))
    fit = LogisticLassoFit(
        float(np.log(positive_share / (1 - positive_share))),
        np.zeros(0, dtype=np.int64),
        np.zeros(0),
    )
    squared_weight = (1 / l1_share - 1) / unit
    is_dual = tau_max * np.min(tau_shares, initial=1.0) * squared_weight > MIN_DUAL_RIDGE
    signs = np.where(y > 0, 1.0, -1.0)
    error_probabilities = np.where(y > 0, 1 - positive_share, positive_share)
    change = np.zeros(len(y))  # of the error probabilities, between the last two tau
    features = np.ascontiguousarray(Z.T)  # rows of features are taken out faster than columns
    path = []
    for tau in tau_max * tau_shares:
        # tau is 0 if all features are constant: the fit without features stays.
        ridge = float(tau * squared_weight)
        if tau > 0 and not is_dual:
            fit = _minimise(Z, positive, float(tau), ridge, MAX_GRADIENT * tau_max, fit)
        elif tau > 0:
            previous_errors = error_probabilities
            step = EXTRAPOLATED_SHARE * change
            start = previous_errors + _share_inside(previous_errors, step, margin=0.5) * step
            fit, error_probabilities = _minimise_dual(features, signs, float(tau), ridge, start)
            change = error_probabilities - previous_errors
        path.append(fit._replace(values=fit.values / unit))
    return path


def _minimise_dual(
    features: Array, signs: Array, tau: float, ridge: float, error_probabilities: Array
) -> tuple[LogisticLassoFit, Array]:
    """Return the elastic net at one tau and its error probabilities, from those of another fit.

    The error probability e of a row is the probability of the wrong class. With a squared penalty
    the coefficients follow from e, ``b = S(Z'(signs e)/n, tau) / ridge``, S the soft threshold. So
    Newton's method minimises ``(1/n) Σ e log e + (1 - e) log(1 - e) + (ridge/2) ||b||²``, the
    dual, over e with ``Σ signs e = 0``, which error_probabilities must fulfil. Near 1, the
    probability of a class would lose the digits of a small error.

    features (d, n) are Z', signs (n,) are ±1.

    Source: Li, Sun and Toh 2018.
    """
    n = len(signs)
    e = error_probabilities
    gradient = features @ (signs * e) / n

    def dual(e: Array, gradient: Array) -> float:
        """Return the dual objective; gradient is Z'(signs e)/n."""
        entropy = np.mean(e * np.log(e) + (1 - e) * np.log1p(-e))
        excess = np.maximum(np.abs(gradient) - tau, 0.0)
        return float(entropy + excess @ excess / (2 * ridge))

    value = dual(e, gradient)
    for _ in range(MAX_NEWTON_STEPS):
        genes = np.flatnonzero(np.abs(gradient) > tau)
        values = _soft_threshold(gradient[genes], tau) / ridge
        selected = features[genes]
        # At the minimum the log odds are Z b plus an intercept, so that this is constant.
        difference = -signs * np.log(e / (1 - e)) - values @ selected
        if np.ptp(difference) <= 2 * MAX_ODDS_ERROR:
            return LogisticLassoFit(float(difference.mean()), genes, values), e
        weight = np.sqrt(e * (1 - e))
        right_sides = weight[:, None] * np.column_stack([difference, np.ones(n)])
        solved = _solve_ridge(selected * weight, ridge * n, right_sides)
        newton_step, newton_ones = (weight[:, None] * solved).T
        # The sum of signs e is fixed: steps have the sum 0, and the intercept is its multiplier.
        intercept = newton_step.sum() / newton_ones.sum()
        signed_step = newton_step - intercept * newton_ones
        gradient_step = features @ signed_step / n
        slope = (intercept - difference) @ signed_step / n
        step = signs * signed_step
        step_share = _share_inside(e, step, margin=0.01)
        while True:
            next_e = e + step_share * step
            next_gradient = gradient + step_share * gradient_step
            next_value = dual(next_e, next_gradient)
            if next_value <= value + 1e-4 * step_share * slope:  # Armijo
                break
            if abs(step_share * slope) <= MIN_DECREASE * abs(value):
                break
            step_share /= 2
        e = next_e
        gradient = next_gradient
        value = next_value
    raise GenesigError("the elastic-net logistic regression did not converge")


def _share_inside(p: Array, step: Array, margin: float) -> float:
    """Return the share of a step, at most 1, that leaves a margin of p's way to 0 or 1."""
    to_boundary = np.where(step > 0, 1 - p, p) / np.maximum(np.abs(step), 1e-300)
    return min(1.0, float((1 - margin) * to_boundary.min()))


def _solve_ridge(A: Array, ridge: float, B: Array) -> Array:
    """Return ``(I + A'A / ridge)^-1 B``, A (m, n), B (n, b), by the smaller of its two matrices."""
    m, n = A.shape
    if m == 0:
        return B
    if 3 * m < n:  # Woodbury
        return np.asarray(B - A.T @ _solve_shifted(A @ A.T, ridge, A @ B))
    return _solve_shifted(A.T @ A, ridge, ridge * B)


def _solve_shifted(gram: Array, ridge: float, B: Array) -> Array:
    """Return ``(gram + ridge I)^-1 B``, by Cholesky's factor; gram is overwritten."""
    gram.flat[:: len(gram) + 1] += ridge
    _, solution, status = dposv(gram, B, lower=True)
    if status != 0:  # the matrix is not finite
        raise GenesigError("the elastic-net logistic regression did not converge")
    return np.asarray(solution)


def _soft_threshold(values: Array, tau: float) -> Array:
    """Return ``sign(v) max(|v| - tau, 0)``."""
    return np.asarray(np.sign(values) * np.maximum(np.abs(values) - tau, 0.0))


def _minimise(
    Z: Array,
    positive: Array,
    tau: float,
    ridge: float,
    max_gradient: float,
    start: LogisticLassoFit,
) -> LogisticLassoFit:
    """Return the minimiser at one tau: violators join the selected features until none is left.

    max_gradient: up to which the gradient of the selected features counts as 0.
    """
    fit = start
    signs = np.sign(start.values)
    any_dropped = False
    accepted_gradient = LOOSE_GRADIENT_SHARE * tau
    for _ in range(MAX_CHANGES):
        fit, signs, has_dropped = _minimise_selected(
            Z[:, fit.genes], positive, tau, ridge, accepted_gradient, fit, signs
        )
        any_dropped |= has_dropped
        residual = positive - expit(fit.intercept + Z[:, fit.genes] @ fit.values)
        gradient = Z.T @ residual / len(residual)
        gradient_size = np.abs(gradient)
        gradient_size[fit.genes] = 0.0
        violators = np.flatnonzero(gradient_size > tau * (1 + MAX_VIOLATION))
        is_exact = accepted_gradient <= max_gradient
        if not len(violators) and is_exact:
            order = np.argsort(fit.genes)
            return fit._replace(genes=fit.genes[order], values=fit.values[order])
        # Without violators only exactness is missing. A feature that leaves a loose fit could join
        # it again for ever.
        if any_dropped or not len(violators):
            accepted_gradient = max_gradient
        # Features that join together may leave at once: then they join one at a time.
        n_joining = 1 if any_dropped else 1 + len(fit.genes) // 4
        joining = violators[np.argsort(-gradient_size[violators], kind="stable")[:n_joining]]
        signs = np.append(signs, np.sign(gradient[joining]))
        fit = fit._replace(
            genes=np.append(fit.genes, joining),
            values=np.append(fit.values, np.zeros(len(joining))),
        )
    raise GenesigError("the penalised logistic regression did not converge")


def _minimise_selected(
    Z: Array,
    positive: Array,
    tau: float,
    ridge: float,
    max_gradient: float,
    fit: LogisticLassoFit,
    signs: Array,
) -> tuple[LogisticLassoFit, Array, bool]:
    """Return the fit of the selected features Z (n, s), their signs, and whether any has left.

    At fixed signs (s,) the objective is smooth. A step ends where the first coefficient becomes 0,
    and its feature leaves. If `MAX_NEWTON_STEPS` do not suffice, the last step is returned.
    """
    n = len(positive)
    kept_features = np.arange(len(fit.genes))
    design = np.column_stack([np.ones(n), Z])
    coef = np.append(fit.intercept, fit.values)
    penalty_gradient = np.append(0.0, tau * signs)  # of the l1 penalty

    def objective(coef: Array) -> float:
        log_odds = design @ coef
        loss = np.mean(np.logaddexp(0.0, log_odds) - positive * log_odds)
        return float(loss + penalty_gradient @ coef + ridge * (coef[1:] @ coef[1:]) / 2)

    for _ in range(MAX_NEWTON_STEPS + len(coef)):
        probabilities = expit(design @ coef)
        gradient = design.T @ (probabilities - positive) / n + penalty_gradient
        gradient[1:] += ridge * coef[1:]
        if np.abs(gradient).max() <= max_gradient:
            break
        hessian = (design.T * (probabilities * (1 - probabilities) / n)) @ design
        hessian.flat[:: len(coef) + 1] *= 1 + MIN_CURVATURE
        hessian.flat[len(coef) + 1 :: len(coef) + 1] += ridge
        step = -np.linalg.solve(hessian, gradient)
        crossing = np.flatnonzero(penalty_gradient * (coef + step) < 0)  # would change their sign
        crossing_shares = -coef[crossing] / step[crossing]
        longest_share = min(1.0, crossing_shares.min(initial=1.0))
        step_share = longest_share
        value = objective(coef)
        slope_along_step = gradient @ step
        while (
            step_share > 1e-10
            and objective(coef + step_share * step) > value + 1e-4 * step_share * slope_along_step
        ):
            step_share /= 2
            if abs(step_share * slope_along_step) < MIN_DECREASE * abs(value):
                break
        coef = coef + step_share * step
        if step_share == longest_share and len(crossing) and longest_share == crossing_shares.min():
            is_nonzero = np.ones(len(coef), dtype=bool)
            is_nonzero[crossing[crossing_shares == longest_share]] = False
            coef = coef[is_nonzero]
            penalty_gradient = penalty_gradient[is_nonzero]
            design = design[:, is_nonzero]
            kept_features = kept_features[is_nonzero[1:]]
    has_dropped = len(kept_features) < len(fit.genes)
    return (
        LogisticLassoFit(float(coef[0]), fit.genes[kept_features], coef[1:]),
        signs[kept_features],
        has_dropped,
    )
