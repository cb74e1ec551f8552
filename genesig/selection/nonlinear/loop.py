"""Selection by derivative penalties inside the outer splits and on all samples, and its control.

Its own prediction is a weak vote, so it selects only. The order in which genes come in gives
nested lists; how many of them are used, and the weight of the ridge, is chosen on the inner folds.

What differs from the lasso: a variable that is not selected still constrains f, whose derivative
by it is held at zero at every training point, so the screen is not a saving of time alone: it
changes the problem, and belongs to the training rows like everything that is learned. And zeros
are those of the derivatives of f; the expansion's coefficients are not sparse.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.normalise import Reference, learned_steps, moment_settings
from genesig.data.study.gene_columns import read_groups
from genesig.errors import GenesigError
from genesig.optim.feature_vectors import select_feature_vectors
from genesig.optim.kernels import median_distance
from genesig.optim.nonlinear.choice import Fit, Ridge
from genesig.results import Dataset, Splits
from genesig.results.model_fits import ModelFits
from genesig.selection.linear.kinds.known import FITTED
from genesig.selection.linear.tasks import Task, batch_of, shared_matrices, tasks
from genesig.selection.nonlinear.ground import (
    Choice,
    Given,
    Ground,
    NonlinearProtocol,
    by_class,
    choose,
    final_fit,
    midpoint,
    prepare,
)

if TYPE_CHECKING:
    import pandas as pd


def fvm_scores(
    outer: Ground,
    grounds: Sequence[Ground],
    held: Sequence[tuple[Array, Array]],
    X_test: Array,
    protocol: NonlinearProtocol,
    classes: bool,
) -> tuple[Array, int]:
    """Return the score of each test row, cut as `choose` does, and the number of its genes.

    Parameters
    ----------
    outer : Ground
        The training rows of the split.
    grounds, held, protocol, classes
        As `choose` takes them.
    X_test : (m, n_genes)
    """
    errors = np.zeros((len(protocol.fvm_genes), len(protocol.lam)))
    sums = np.zeros((2, *errors.shape))
    for ground, (X, y) in zip(grounds, held, strict=True):
        scores = _scores(ground, X, protocol)[0]
        errors += np.sum(np.square(y - scores), axis=2)
        sums += by_class(scores, y)
    few, shrink = np.unravel_index(np.argmin(errors), errors.shape)
    threshold = midpoint(sums[:, few, shrink], held) if classes else 0.0
    scores, sizes = _scores(outer, X_test, protocol)
    return scores[few, shrink] - threshold, sizes[few]


def _scores(ground: Ground, X: Array, protocol: NonlinearProtocol) -> tuple[Array, list[int]]:
    """Return the scores of rows for each (number of genes, lam), (k, L, m), and the sizes."""
    sizes = sorted(protocol.fvm_genes)
    lam = protocol.ridge_grid()
    scores = np.full((len(sizes), len(lam), len(X)), ground.y.mean())
    if not ground.fits:
        return scores, [0 for _ in sizes]
    order = _order(ground, sizes[-1], protocol.fvm_bins)
    centre = ground.X.mean(axis=0)
    scale = ground.X.std(axis=0)
    Z = (ground.X - centre) / scale
    points = (X[:, ground.genes] - centre) / scale
    for place, size in enumerate(sizes):
        if chosen := order[:size]:
            scores[place] = _ridge(Z[:, chosen], ground, lam, protocol).predict(points[:, chosen])
    return scores, [min(size, len(order)) for size in sizes]


def _order(ground: Ground, most: int, bins: int) -> list[int]:
    """Return the genes in the order in which they come in, at most so many.

    With few samples the information has few values: where more genes than asked for share the
    largest, none comes in, and they stand in the order of the matrix.
    """
    made = select_feature_vectors(ground.X, ground.y, n_features=most, bins=bins)
    order = made.found.order
    best = np.argsort(-made.information, kind="stable")[:most]
    return [int(gene) for gene in (order if len(order) else best)]


def _ridge(Z: Array, ground: Ground, lam: Array, protocol: NonlinearProtocol) -> Ridge:
    spread = median_distance(Z @ Z.T) or 1.0
    kernel = ground.settings.make_kernel(protocol.width[0] * spread)
    return Ridge.fit(kernel, Z, ground.y, lam)


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
    symbols = dataset.var["symbol"].to_numpy()
    parts = []
    score = _score(fit, last)
    for place in chosen[np.argsort(-norms[chosen], kind="stable")]:
        column = int(fit.features[place])
        gene = int(reference.genes[ground.genes[column]])
        z, effect = dependence_on(score, fit.X, place)
        head = {
            "gene": dataset.genes[gene],
            "symbol": symbols[gene],
            "norm": norms[place],
            "straight": straightness(z, effect, fit.X[:, place]),
        }
        value = fit.centre[column] + fit.scale[column] * z
        near = np.rint((fit.X[:, place] - z[0]) / (z[-1] - z[0]) * (POINTS - 1)).astype(np.int64)
        count = np.bincount(near, minlength=POINTS)
        parts.append(pd.DataFrame({**head, "value": value, "effect": effect, "samples": count}))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)


def dependence_on(score: Score, Z: Array, column: int) -> tuple[Array, Array]:
    """Return values of one column and the mean score with all rows at each of them, (POINTS,)."""
    value = np.linspace(Z[:, column].min(), Z[:, column].max(), POINTS)
    effect = np.empty(POINTS)
    points = Z.copy()
    for at, one in enumerate(value):
        points[:, column] = one
        effect[at] = score(points).mean()
    return value, effect


def _score(fit: Fit, step: int) -> Score:
    """Return the function that predicts, from standardised rows; the ridge is fitted once."""
    if len(fit.settings.lam):
        ridge = fit.ridge(step)
        chosen = fit.support(step)
        return lambda Z: np.asarray(fit.y_mean + fit.y_scale * ridge.predict(Z[:, chosen])[0])
    solution = fit.path.solutions[step]
    nu = fit.path.nu
    return lambda Z: np.asarray(
        fit.y_mean + fit.y_scale * solution.evaluate(fit.kernel, Z, fit.X, nu)[0]
    )


def straightness(value: Array, effect: Array, samples: Array) -> float:
    """Return r² between the curve at the samples' values and these values; NaN if it is flat."""
    curve = np.interp(samples, value, effect)
    if np.ptp(curve) <= 1e-12 * max(1.0, float(np.abs(curve).max())) or np.ptp(samples) == 0:
        return np.nan
    return float(np.corrcoef(curve, samples)[0, 1] ** 2)


Steps = Sequence[Mapping[str, Any]]


log = logging.getLogger(__name__)


def nonlinear_loop(
    dataset: Dataset, splits: Splits, *, batch: str, folds: Steps, **nonlinear: Any
) -> ModelFits:
    """Fit a batch of the outer splits, with the observed labels.

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps.
    splits : Splits
        Their inner folds choose tau, nu, the kernel's width and the final ridge.
    batch : str
        ``2of3``: every third split, from the second on.
    folds : list of dict
        Steps learned on training rows: ``normalise.folds`` of the config.
    **nonlinear
        The config section of this name, see `NonlinearProtocol`.

    Notes
    -----
    Screen, groups, centring, scaling and the kernel's width are learned anew on the training rows
    of each outer split and of each inner fold.
    """
    protocol = NonlinearProtocol(**nonlinear)
    todo = tasks(dataset, splits, batch_of(splits.outer, batch), [0])
    rows = []
    start = time.monotonic()
    for X, reference, task, given in _matrices(dataset, todo, folds, protocol):
        rows.append(_assessed(X, reference, task, given))
        log.info("%d of %d splits, %.0f s", len(rows), len(todo), time.monotonic() - start)
    return ModelFits.of(rows)


def nonlinear_final(
    dataset: Dataset, splits: Splits, *, folds: Steps, **nonlinear: Any
) -> tuple[ModelFits, pd.DataFrame]:
    """Fit all samples; also return nonlinear_curves.tsv, the partial dependence of this model."""
    protocol = NonlinearProtocol(**nonlinear)
    todo = tasks(dataset, splits, [splits.final], [0])
    X, reference, task, given = next(_matrices(dataset, todo, folds, protocol))
    outer, grounds, held = _grounds(X, task, given)
    choice = choose(grounds, held, protocol, FITTED[task.kind].signs)
    fit = _fitted(outer, choice, task, protocol)
    row = _row(reference, task, outer, choice, fit, protocol)
    row |= {"scores": [], "fvm_genes": 0, "fvm_scores": []}
    return ModelFits.of([row]), curves(dataset, reference, outer, fit)


def _matrices(dataset: Dataset, todo: list[Task], folds: Steps, protocol: NonlinearProtocol) -> Any:
    """Give each task with its matrix, normalised by what its training rows taught."""
    steps = learned_steps(folds, dataset)
    scaled = moment_settings(folds)["unit_variance"]
    named = None if protocol.groups is None else read_groups(protocol.groups, dataset.genes)
    for X, reference, some in shared_matrices(dataset, todo, steps, 1):
        given = Given(protocol, [dataset.genes[g] for g in reference.genes], scaled, named)
        for task in some:
            yield X, reference, task, given


def _assessed(X: Array, reference: Reference, task: Task, given: Given) -> dict[str, Any]:
    protocol = given.protocol
    outer, grounds, held = _grounds(X, task, given)
    choice = choose(grounds, held, protocol, FITTED[task.kind].signs)
    fit = _fitted(outer, choice, task, protocol)
    row = _row(reference, task, outer, choice, fit, protocol)
    row["scores"] = _test_scores(outer, fit, X[task.test]) - choice.threshold
    row["fvm_scores"] = np.full(len(task.test), np.nan)
    row["fvm_genes"] = 0
    if protocol.fvm_genes:
        row["fvm_scores"], row["fvm_genes"] = fvm_scores(
            outer, grounds, held, X[task.test], protocol, FITTED[task.kind].signs
        )
    return row


def _grounds(
    X: Array, task: Task, given: Given
) -> tuple[Ground, list[Ground], list[tuple[Array, Array]]]:
    """Prepare the training set of the split and those of its inner folds, with what they hold."""
    inside = [np.setdiff1d(task.train, fold) for fold in task.inner]
    grounds = [prepare(X, task.y, rows, given) for rows in inside]
    held = [(X[fold], task.y[fold]) for fold in task.inner]
    return prepare(X, task.y, task.train, given), grounds, held


def _fitted(ground: Ground, choice: Choice, task: Task, protocol: NonlinearProtocol) -> Fit | None:
    try:
        return final_fit(ground, choice, protocol)
    except GenesigError as error:
        raise GenesigError(f"nonlinear selection, split {task.split}: {error}") from error


def _test_scores(ground: Ground, fit: Fit | None, X: Array) -> Array:
    if fit is None or not fit.path.solutions:
        return np.full(len(X), ground.y.mean())
    last = len(fit.path.solutions) - 1
    return np.asarray(fit.predict(last, X[:, ground.genes])[0])


def _row(
    reference: Reference,
    task: Task,
    ground: Ground,
    choice: Choice,
    fit: Fit | None,
    protocol: NonlinearProtocol,
) -> dict[str, Any]:
    """Return what `ModelFits.of` takes, without the scores."""
    row: dict[str, Any] = {
        "split": task.split,
        "permutation": task.permutation,
        "screened": len(ground.genes),
        "nu": choice.nu,
        "width": choice.width,
        "lam": choice.lam,
        "cut": choice.cut,
        "test_rows": task.positions,
        "paths": len(task.inner) * len(protocol.settings_grid()),
        "tau": 1.0,
        "gap": np.nan,
        "explained_by_none": np.nan,
        "indices": [],
        "sizes": [],
        "message": "too few samples, or no gene that varies",
    }
    if fit is None:
        return row
    row |= {"explained_by_none": fit.path.explained_by_none, "message": fit.path.message}
    if fit.path.solutions:
        last = len(fit.path.solutions) - 1
        solution = fit.path.solutions[last]
        chosen = fit.support(last)
        columns = ground.genes[fit.features[chosen]]
        row |= {
            "tau": protocol.tau_fractions()[last],
            "gap": solution.gap,
            "indices": reference.genes[columns],
            "sizes": solution.norms[chosen] * fit.y_scale,
        }
    return row
