"""The path of l1 and elastic-net logistic regression by Newton methods, in NumPy.

It serves the baselines of two classes alone. `genesig.optim.logistic` solves the same problem, with
sample weights and certificates, but a first run would have to compile it, which takes longer than
a small study; no study needs it for anything else.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from genesig.arrays import Array
from genesig.errors import GenesigError

MAX_VIOLATION = 1e-10  # share of tau by which the gradient of an unselected feature may exceed it
MAX_GRADIENT = 1e-12  # share of tau_max up to which a gradient of selected features counts as 0
MAX_CHANGES = 10_000  # largest number of changes of the selected features at one tau
MAX_NEWTON_STEPS = 200  # at one tau, or with the same selected features
MAX_ODDS_ERROR = 1e-10  # between the log odds of probabilities and of coefficients
MIN_CURVATURE = 1e-13
"""Share of the trace that is added to the Hessian: selected features may depend on each other."""


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
    positive = (y > 0).astype(float)
    positive_share = positive.mean()
    tau_max = float(np.abs(Z.T @ (positive - positive_share)).max() / len(y))
    fit = LogisticLassoFit(
        float(np.log(positive_share / (1 - positive_share))),
        np.zeros(0, dtype=np.int64),
        np.zeros(0),
    )
    probabilities = np.full(len(y), positive_share)
    path = []
    for tau in tau_max * tau_shares:
        # tau is 0 if all features are constant: the fit without features stays.
        if tau > 0 and l1_share == 1:
            fit = _minimise(Z, positive, float(tau), MAX_GRADIENT * tau_max, fit)
        elif tau > 0:
            ridge = tau * (1 / l1_share - 1)
            fit, probabilities = _minimise_dual(Z, positive, float(tau), ridge, probabilities)
        path.append(fit)
    return path


def _minimise_dual(
    Z: Array, positive: Array, tau: float, ridge: float, probabilities: Array
) -> tuple[LogisticLassoFit, Array]:
    """Return the elastic net at one tau and its probabilities, from those at a larger tau.

    With a squared penalty the coefficients follow from the probabilities p,
    ``b = S(Z'(positive - p)/n, tau) / ridge``, S the soft threshold. So Newton's method minimises
    ``(1/n) Σ p log p + (1 - p) log(1 - p) + (ridge/2) ||b||²``, the dual, over the n
    probabilities, whose mean is the share of the class. Source: Li, Sun and Toh 2018.
    """
    n = len(positive)
    p = probabilities
    features = np.ascontiguousarray(Z.T)  # their rows are taken out faster than columns
    gradient = features @ (positive - p) / n

    def dual(p: Array, gradient: Array) -> float:
        """Return the dual objective; gradient is Z'(positive - p)/n."""
        entropy = np.mean(p * np.log(p) + (1 - p) * np.log1p(-p))
        excess = np.maximum(np.abs(gradient) - tau, 0.0)
        return float(entropy + excess @ excess / (2 * ridge))

    value = dual(p, gradient)
    for _ in range(MAX_NEWTON_STEPS):
        genes = np.flatnonzero(np.abs(gradient) > tau)
        values = _soft_threshold(gradient[genes], tau) / ridge
        selected = features[genes]
        # At the minimum the log odds are Z b plus an intercept, so that this is constant.
        difference = np.log(p / (1 - p)) - values @ selected
        weight = np.sqrt(p * (1 - p))
        scaled = selected * weight
        hessian = np.eye(n) + scaled.T @ scaled / (ridge * n)
        solved = np.linalg.solve(
            hessian, weight[:, None] * np.column_stack([difference, np.ones(n)])
        )
        newton_step, newton_ones = (weight[:, None] * solved).T
        # The mean of p is fixed, so that steps have the sum 0; the intercept is its multiplier.
        intercept = newton_step.sum() / newton_ones.sum()
        if np.abs(difference - intercept).max() <= MAX_ODDS_ERROR:
            return LogisticLassoFit(float(intercept), genes, values), p
        step = intercept * newton_ones - newton_step
        gradient_step = features @ step / -n
        slope = (difference - intercept) @ step / n
        to_boundary = np.where(step > 0, 1 - p, p) / np.maximum(np.abs(step), 1e-300)
        step_share = min(1.0, 0.99 * to_boundary.min())  # p stays above 0 and below 1
        while True:
            next_p = p + step_share * step
            next_gradient = gradient + step_share * gradient_step
            next_value = dual(next_p, next_gradient)
            if next_value <= value + 1e-4 * step_share * slope:  # Armijo
                break
            if abs(step_share * slope) <= 1e-15 * abs(value):
                break  # below the rounding of the dual
            step_share /= 2
        p = next_p
        gradient = next_gradient
        value = next_value
    raise GenesigError("the elastic-net logistic regression did not converge")


def _soft_threshold(values: Array, tau: float) -> Array:
    """Return ``sign(v) max(|v| - tau, 0)``."""
    return np.asarray(np.sign(values) * np.maximum(np.abs(values) - tau, 0.0))


def _minimise(
    Z: Array, positive: Array, tau: float, max_gradient: float, start: LogisticLassoFit
) -> LogisticLassoFit:
    """Return the l1 minimiser at one tau: violators join the selected features until none is left.

    max_gradient: up to which the gradient of the selected features counts as 0.
    """
    fit = start
    signs = np.sign(start.values)
    any_dropped = False
    for _ in range(MAX_CHANGES):
        fit, signs, has_dropped = _minimise_selected(
            Z[:, fit.genes], positive, tau, max_gradient, fit, signs
        )
        any_dropped |= has_dropped
        residual = positive - expit(fit.intercept + Z[:, fit.genes] @ fit.values)
        gradient = Z.T @ residual / len(residual)
        gradient_size = np.abs(gradient)
        gradient_size[fit.genes] = 0.0
        violators = np.flatnonzero(gradient_size > tau * (1 + MAX_VIOLATION))
        if not len(violators):
            order = np.argsort(fit.genes)
            return fit._replace(genes=fit.genes[order], values=fit.values[order])
        # Features that join together may leave at once: then they join one at a time.
        n_joining = 1 if any_dropped else 1 + len(fit.genes) // 4
        joining = violators[np.argsort(-gradient_size[violators], kind="stable")[:n_joining]]
        signs = np.append(signs, np.sign(gradient[joining]))
        fit = fit._replace(
            genes=np.append(fit.genes, joining),
            values=np.append(fit.values, np.zeros(len(joining))),
        )
    raise GenesigError("the l1 logistic regression did not converge")


def _minimise_selected(
    Z: Array, positive: Array, tau: float, max_gradient: float, fit: LogisticLassoFit, signs: Array
) -> tuple[LogisticLassoFit, Array, bool]:
    """Return the fit of the selected features Z (n, s), their signs, and whether any has left.

    At fixed signs (s,) the objective is smooth. A step ends where the first coefficient becomes 0,
    and its feature leaves. If `MAX_NEWTON_STEPS` do not suffice, the last step is returned.
    """
    n = len(positive)
    kept_features = np.arange(len(fit.genes))
    design = np.column_stack([np.ones(n), Z])
    coef = np.append(fit.intercept, fit.values)
    penalty_gradient = np.append(0.0, tau * signs)

    def objective(coef: Array) -> float:
        log_odds = design @ coef
        loss = np.mean(np.logaddexp(0.0, log_odds) - positive * log_odds)
        return float(loss + penalty_gradient @ coef)

    for _ in range(MAX_NEWTON_STEPS + len(coef)):
        probabilities = expit(design @ coef)
        gradient = design.T @ (probabilities - positive) / n + penalty_gradient
        if np.abs(gradient).max() <= max_gradient:
            break
        hessian = (design.T * (probabilities * (1 - probabilities) / n)) @ design
        hessian[np.diag_indices(len(coef))] += MIN_CURVATURE * np.trace(hessian)
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
            if abs(step_share * slope_along_step) < 1e-15 * abs(value):
                break  # the decrease is below the rounding of the objective
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
