"""Choice of (nu, width, tau, lam) on the inner folds of one training set.

A path that would select more variables than samples ends there: whoever asks for a smaller tau
gets its last fit. This holds for the inner folds as for the fit that follows, so that what is
chosen among is what will be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.optim.nonlinear.choice import Fit
from genesig.selection.nonlinear.ground import Ground, NonlinearProtocol

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Choice:
    """What the inner folds chose.

    Attributes
    ----------
    nu, width, lam : float
        lam is NaN without debiasing.
    step : int
        Place of tau in the grid.
    cut : int
        Inner paths that ended before the end of the grid.
    threshold : float
        Midpoint of the class means of the held-out scores; 0 for a response of numbers.
    """

    nu: float
    width: float
    step: int
    lam: float
    cut: int
    threshold: float


def choose(
    grounds: Sequence[Ground],
    held: Sequence[tuple[Array, Array]],
    protocol: NonlinearProtocol,
    classes: bool,
) -> Choice:
    """Return the setting of the least squared error over all held-out rows.

    At ties the larger tau, then the larger lam, then the setting named first.

    Parameters
    ----------
    grounds : sequence of Ground
        The training set of each inner fold.
    held : sequence of (X, y)
        The held-out rows of each, all columns of the matrix.
    protocol : NonlinearProtocol
    classes : bool
        Whether y is ±1 for two classes.
    """
    grid, tau = protocol.settings_grid(), protocol.tau_fractions()
    tables = np.zeros((len(grid), len(tau), max(1, len(protocol.lam) * protocol.debias)))
    sums = np.zeros((2, *tables.shape))
    cut = 0
    for ground, (X, y) in zip(grounds, held, strict=True):
        for number, (nu, width) in enumerate(grid):
            scores, ended = scores_along(ground, X, nu, width, tau)
            tables[number] += np.sum(np.square(y - scores), axis=2)
            sums[:, number] += by_class(scores, y)
            cut += ended
    number, step, shrink = best = _least(tables)
    lam = protocol.ridge_grid()[shrink] if protocol.debias else np.nan
    threshold = midpoint(sums[:, *best], held) if classes else 0.0
    return Choice(*grid[number], step, float(lam), cut, threshold)


def by_class(scores: Array, y: Array) -> Array:
    """Return the sums of the scores (..., m) of each class, (2, ...)."""
    return np.stack([scores[..., y == sign].sum(axis=-1) for sign in (-1.0, 1.0)])


def midpoint(sums: Array, held: Sequence[tuple[Array, Array]]) -> float:
    """Return the mean of the two class means of held-out scores; see `least_squares.midpoint`."""
    low, high = (sum(np.sum(y == sign) for _, y in held) for sign in (-1.0, 1.0))
    return float(sums[0] / low + sums[1] / high) / 2 if low and high else 0.0


def scores_along(
    ground: Ground, X: Array, nu: float, width: float, tau: Array
) -> tuple[Array, bool]:
    """Return the scores of rows X at each (tau, lam), (T, L, m), and whether the path was cut."""
    shrunk = ground.settings.lam
    scores = np.full((len(tau), max(1, len(shrunk)), len(X)), ground.y.mean())
    if not ground.fits:
        return scores, False
    fit = ground.path(nu, width, tau, shrunk)
    points = X[:, ground.genes]
    for step in range(len(fit.path.solutions)):
        scores[step:] = fit.predict(step, points)
    return scores, len(fit.path.solutions) < len(tau)


def final_fit(ground: Ground, choice: Choice, protocol: NonlinearProtocol) -> Fit | None:
    """Follow the path to the chosen tau; None where there is nothing to fit.

    The last solution of the path is the model; a path cut at once has none.
    """
    if not ground.fits:
        return None
    tau = protocol.tau_fractions()[: choice.step + 1]
    lam = np.array([choice.lam]) if protocol.debias else np.zeros(0)
    return ground.path(choice.nu, choice.width, tau, lam)


def _least(tables: Array) -> tuple[int, int, int]:
    """Return (setting, tau, lam) of the smallest error, the first among equals up to rounding."""
    by_tau = np.moveaxis(tables, 0, -1)
    best = by_tau.min()
    first = np.flatnonzero(by_tau.ravel() <= best * (1 + 1e-9) + 1e-300)[0]
    step, shrink, number = np.unravel_index(first, by_tau.shape)
    return int(number), int(step), int(shrink)
