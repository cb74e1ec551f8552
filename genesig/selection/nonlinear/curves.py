"""How the score of the final model changes with one gene: partial dependence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.steps.normalise import Reference
from genesig.optim.nonlinear.choice import Fit
from genesig.results import Dataset
from genesig.selection.nonlinear.ground import Ground

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
Score = Callable[[Array], Array]

POINTS = 41
"""Of a curve."""
COLUMNS = ["gene", "symbol", "norm", "straight", "value", "effect", "samples"]


def curves(dataset: Dataset, reference: Reference, ground: Ground, fit: Fit | None) -> pd.DataFrame:
    """Return nonlinear_curves.tsv: (1/n) Σ_i f(x_i with gene a at v) along v, for each gene a.

    Genes by falling derivative ``norm``; ``value`` runs from the smallest to the largest value of
    the gene among the samples, in normalised expression; ``effect`` is a mean score; ``samples``
    counts those whose value is nearest. ``straight`` is the squared correlation of the curve with
    a line, over the values that the samples have. An average over the samples does not show how
    genes act together. Source: Friedman (2001).
    """
    import pandas as pd

    if fit is None or not fit.path.solutions:
        return pd.DataFrame(columns=COLUMNS)
    last = len(fit.path.solutions) - 1
    norms = fit.path.solutions[last].norms * fit.y_scale
    chosen = fit.support(last)
    symbols, parts, score = dataset.var["symbol"].to_numpy(), [], _score(fit, last)
    for place in chosen[np.argsort(-norms[chosen], kind="stable")]:
        column = int(fit.features[place])
        gene = int(reference.genes[ground.genes[column]])
        z, effect = dependence_on(score, fit.X, place)
        head = {"gene": dataset.genes[gene], "symbol": symbols[gene], "norm": norms[place],
                "straight": straightness(z, effect, fit.X[:, place])}  # fmt: skip
        value = fit.centre[column] + fit.scale[column] * z
        near = np.rint((fit.X[:, place] - z[0]) / (z[-1] - z[0]) * (POINTS - 1)).astype(np.int64)
        count = np.bincount(near, minlength=POINTS)
        parts.append(pd.DataFrame({**head, "value": value, "effect": effect, "samples": count}))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)


def dependence_on(score: Score, Z: Array, column: int) -> tuple[Array, Array]:
    """Return values of one column and the mean score with all rows at each of them, (POINTS,)."""
    value = np.linspace(Z[:, column].min(), Z[:, column].max(), POINTS)
    effect, points = np.empty(POINTS), Z.copy()
    for at, one in enumerate(value):
        points[:, column] = one
        effect[at] = score(points).mean()
    return value, effect


def _score(fit: Fit, step: int) -> Score:
    """Return the function that predicts, from standardised rows; the ridge is fitted once."""
    if len(fit.settings.lam):
        ridge, chosen = fit.ridge(step), fit.support(step)
        return lambda Z: np.asarray(fit.y_mean + fit.y_scale * ridge.predict(Z[:, chosen])[0])
    solution, nu = fit.path.solutions[step], fit.path.nu
    return lambda Z: np.asarray(
        fit.y_mean + fit.y_scale * solution.evaluate(fit.kernel, Z, fit.X, nu)[0]
    )


def straightness(value: Array, effect: Array, samples: Array) -> float:
    """Return r² between the curve at the samples' values and these values; NaN if it is flat."""
    curve = np.interp(samples, value, effect)
    if np.ptp(curve) <= 1e-12 * max(1.0, float(np.abs(curve).max())) or np.ptp(samples) == 0:
        return np.nan
    return float(np.corrcoef(curve, samples)[0, 1] ** 2)
