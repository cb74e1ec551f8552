"""Selection by derivative penalties in the outer splits and on all samples, and its control.

The control is the Feature Vector Machine (FVM). Its own prediction is a weak vote, so it only
selects: the order in which genes enter gives nested lists, and a kernel ridge predicts. The number
of genes and the weight lam of the ridge are chosen on the inner folds.

Unlike in the lasso, a variable that is not selected still constrains f: its derivative is zero at
every training point. So the screen does not only save time but changes the problem, and is done on
the training rows alone. Zeros are those of the derivatives of f; the coefficients of its expansion
are not sparse.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.normalise import moment_settings
from genesig.data.study.gene_columns import read_groups
from genesig.errors import GenesigError
from genesig.optim.feature_vectors import select_feature_vectors
from genesig.optim.kernels import median_distance
from genesig.optim.nonlinear.path import PathFit, Ridge
from genesig.results.model_fits import ModelFits
from genesig.selection.linear.kinds import FITTINGS
from genesig.selection.linear.training_sets import (
    NormalisedMatrix,
    PreparedStudy,
    TrainingSet,
    batch_of,
)
from genesig.selection.nonlinear.training_sets import (
    InnerChoice,
    KernelData,
    NonlinearProtocol,
    SharedSettings,
    by_class,
    choose,
    final_fit,
    midpoint,
    prepare_training_set,
)

if TYPE_CHECKING:
    import pandas as pd


def fvm_scores(
    outer_set: KernelData,
    training_sets: Sequence[KernelData],
    held_out_rows: Sequence[tuple[Array, Array]],
    X_test: Array,
    protocol: NonlinearProtocol,
    two_classes: bool,
) -> tuple[Array, int]:
    """Return the FVM's score of each test row, and the number of genes that it uses.

    A threshold is subtracted, of two classes the midpoint as in `choose`. Ties of the error go to
    fewer genes, then to the larger lam.

    outer_set: the training rows of the split. training_sets, held_out_rows, protocol, two_classes:
    see `choose`. X_test (m, d): all columns of the matrix.
    """
    errors = np.zeros((len(protocol.fvm_genes), len(protocol.lam)))
    class_sums = np.zeros((2, *errors.shape))
    for training_set, (X, y) in zip(training_sets, held_out_rows, strict=True):
        scores = _fvm_scores_on_grid(training_set, X, protocol)[0]
        errors += np.sum(np.square(y - scores), axis=2)
        class_sums += by_class(scores, y)
    size_index, lam_index = np.unravel_index(np.argmin(errors), errors.shape)
    threshold = (
        midpoint(class_sums[:, size_index, lam_index], held_out_rows) if two_classes else 0.0
    )
    scores, sizes = _fvm_scores_on_grid(outer_set, X_test, protocol)
    return scores[size_index, lam_index] - threshold, sizes[size_index]


def _fvm_scores_on_grid(
    kernel_data: KernelData, X: Array, protocol: NonlinearProtocol
) -> tuple[Array, list[int]]:
    """Return the scores of rows for each (number of genes, lam), (k, L, m), and k list lengths.

    Without a fit the scores are the mean response, and all lists are empty.
    """
    sizes = sorted(protocol.fvm_genes)
    lam_grid = protocol.ridge_grid()
    scores = np.full((len(sizes), len(lam_grid), len(X)), kernel_data.y.mean())
    if not kernel_data.can_be_fitted:
        return scores, [0 for _ in sizes]
    order = _entry_order(kernel_data, sizes[-1], protocol.fvm_bins)
    centre = kernel_data.X.mean(axis=0)
    scale = kernel_data.X.std(axis=0)
    Z = (kernel_data.X - centre) / scale
    points = (X[:, kernel_data.genes] - centre) / scale
    for size_index, size in enumerate(sizes):
        if selected_genes := order[:size]:
            scores[size_index] = _fit_ridge(
                Z[:, selected_genes], kernel_data, lam_grid, protocol
            ).predict(points[:, selected_genes])
    return scores, [min(size, len(order)) for size in sizes]


def _entry_order(kernel_data: KernelData, max_genes: int, bins: int) -> list[int]:
    """Return up to `max_genes` genes (columns of the kernel data) in the order in which they enter.

    With few samples the information has few distinct values. If more genes than `max_genes` share
    the largest value none enters, and the order is that of the information, then of the columns.
    """
    selection = select_feature_vectors(
        kernel_data.X, kernel_data.y, n_features=max_genes, bins=bins
    )
    order = selection.fit.order
    most_informative = np.argsort(-selection.information, kind="stable")[:max_genes]
    return [int(gene) for gene in (order if len(order) else most_informative)]


def _fit_ridge(Z: Array, kernel_data: KernelData, lam: Array, protocol: NonlinearProtocol) -> Ridge:
    """Return the kernel ridge on selected genes for each lam; the first width of the config."""
    typical_distance = median_distance(Z @ Z.T) or 1.0
    kernel = kernel_data.settings.make_kernel(protocol.width[0] * typical_distance)
    return Ridge.fit(kernel, Z, kernel_data.y, lam)


ScoreFunction = Callable[[Array], Array]  # rows (m, d') -> score of each, (m,)


N_CURVE_POINTS = 41  # number of points of a curve

CURVE_COLUMNS = ["gene", "symbol", "norm", "straight", "value", "effect", "samples"]


def curves(matrix: NormalisedMatrix, kernel_data: KernelData, fit: PathFit | None) -> pd.DataFrame:
    """Return nonlinear_curves.tsv: (1/n) Σ_i f(x_i with gene a at v) along v, for each gene a.

    Genes by falling derivative ``norm``; ``value`` runs from the smallest to the largest value of
    the gene among the samples, in normalised expression; ``effect`` is a mean score; ``samples``
    counts those whose value is nearest. ``straight`` is the squared correlation of the curve with
    a line, over the values that the samples have. An average over the samples does not show how
    genes act together. Without a gene the table is empty. Source: Friedman (2001).
    """
    import pandas as pd

    if fit is None or not fit.path.solutions:
        return pd.DataFrame(columns=CURVE_COLUMNS)
    last_step = len(fit.path.solutions) - 1
    norms = fit.path.solutions[last_step].norms * fit.y_scale
    selected = fit.support(last_step)
    dataset = matrix.study.dataset
    symbols = dataset.var["symbol"].to_numpy()
    gene_tables = []
    score = _score_function(fit, last_step)
    for variable in selected[np.argsort(-norms[selected], kind="stable")]:
        column = int(fit.features[variable])
        gene = int(matrix.genes[kernel_data.genes[column]])
        z, effect = dependence_on(score, fit.X, variable)
        gene_columns = {
            "gene": dataset.genes[gene],
            "symbol": symbols[gene],
            "norm": norms[variable],
            "straight": straightness(z, effect, fit.X[:, variable]),
        }
        value = fit.centre[column] + fit.scale[column] * z
        nearest_point = np.rint(  # points z are equidistant
            (fit.X[:, variable] - z[0]) / (z[-1] - z[0]) * (N_CURVE_POINTS - 1)
        ).astype(np.int64)
        count = np.bincount(nearest_point, minlength=N_CURVE_POINTS)
        gene_tables.append(
            pd.DataFrame({**gene_columns, "value": value, "effect": effect, "samples": count})
        )
    return (
        pd.concat(gene_tables, ignore_index=True)
        if gene_tables
        else pd.DataFrame(columns=CURVE_COLUMNS)
    )


def dependence_on(score: ScoreFunction, Z: Array, column: int) -> tuple[Array, Array]:
    """Return equidistant values of a column, and the mean score of all rows with each of them.

    Both (N_CURVE_POINTS,), from the smallest to the largest value of the rows Z.
    """
    values = np.linspace(Z[:, column].min(), Z[:, column].max(), N_CURVE_POINTS)
    mean_scores = np.empty(N_CURVE_POINTS)
    rows = Z.copy()
    for index, point in enumerate(values):
        rows[:, column] = point
        mean_scores[index] = score(rows).mean()
    return values, mean_scores


def _score_function(fit: PathFit, step: int) -> ScoreFunction:
    """Return the function from standardised rows to scores; the ridge is fitted once."""
    if len(fit.settings.lam):
        ridge = fit.ridge(step)
        selected = fit.support(step)
        return lambda Z: np.asarray(fit.y_mean + fit.y_scale * ridge.predict(Z[:, selected])[0])
    solution = fit.path.solutions[step]
    nu = fit.path.nu
    return lambda Z: np.asarray(
        fit.y_mean + fit.y_scale * solution.evaluate(fit.kernel, Z, fit.X, nu)[0]
    )


def straightness(value: Array, effect: Array, samples: Array) -> float:
    """Return r² between the curve at the samples' values and these values; NaN if it is flat.

    value, effect: points of the curve. samples (n,): values of the samples.
    """
    curve = np.interp(samples, value, effect)
    if np.ptp(curve) <= 1e-12 * max(1.0, float(np.abs(curve).max())) or np.ptp(samples) == 0:
        return np.nan
    return float(np.corrcoef(curve, samples)[0, 1] ** 2)


log = logging.getLogger(__name__)


def nonlinear_loop(study: PreparedStudy, protocol: NonlinearProtocol, *, batch: str) -> ModelFits:
    """Return the fits of a batch of the outer splits, with the observed labels.

    The inner folds choose tau, nu, the kernel's width and the final ridge. batch: ``2of3``: every
    third split, from the second on.

    Screen, groups, centring, scaling and the kernel's width are learned on the training rows of
    each outer split and of each inner fold.
    """
    training_sets = study.make_training_sets(batch_of(study.splits.outer, batch))
    rows = []
    start = time.monotonic()
    for matrix, shared in _matrices(study, training_sets, protocol):
        rows.append(_assess_split(matrix, shared))
        log.info("%d of %d splits, %.0f s", len(rows), len(training_sets), time.monotonic() - start)
    return ModelFits.from_rows(rows)


def nonlinear_final(
    study: PreparedStudy, protocol: NonlinearProtocol
) -> tuple[ModelFits, pd.DataFrame]:
    """Return the fit of all samples, and nonlinear_curves.tsv: its partial dependence on genes."""
    all_samples = study.make_training_sets([study.splits.final])
    ((matrix, shared),) = _matrices(study, all_samples, protocol)
    (training_set,) = matrix.training_sets
    outer_set, inner_sets, held_out_rows = _prepare_split(matrix.X, training_set, shared)
    choice = choose(inner_sets, held_out_rows, protocol, FITTINGS[training_set.kind].signed_classes)
    fit = _fit_final(outer_set, choice, training_set, protocol)
    row = _fit_fields(matrix, training_set, outer_set, choice, fit, protocol)
    row |= {
        "scores": [],
        "fvm_genes": 0,
        "fvm_scores": [],
    }  # no test samples; the FVM is not fitted
    return ModelFits.from_rows([row]), curves(matrix, outer_set, fit)


def _matrices(
    study: PreparedStudy, training_sets: list[TrainingSet], protocol: NonlinearProtocol
) -> Iterator[tuple[NormalisedMatrix, SharedSettings]]:
    """Yield the matrix of each training set, with its shared settings."""
    dataset = study.dataset
    unit_variance = moment_settings(study.fold_steps)["unit_variance"]
    group_of_gene = None if protocol.groups is None else read_groups(protocol.groups, dataset.genes)
    for matrix in study.group_by_matrix(training_sets, max_training_sets=1):
        names = [dataset.genes[gene] for gene in matrix.genes]
        yield matrix, SharedSettings(protocol, names, unit_variance, group_of_gene)


def _assess_split(matrix: NormalisedMatrix, shared: SharedSettings) -> dict[str, Any]:
    """Return the row of one outer split for `ModelFits`, with the scores of its test samples."""
    X = matrix.X
    (training_set,) = matrix.training_sets
    protocol = shared.protocol
    outer_set, inner_sets, held_out_rows = _prepare_split(X, training_set, shared)
    choice = choose(inner_sets, held_out_rows, protocol, FITTINGS[training_set.kind].signed_classes)
    fit = _fit_final(outer_set, choice, training_set, protocol)
    row = _fit_fields(matrix, training_set, outer_set, choice, fit, protocol)
    row["scores"] = _test_scores(outer_set, fit, X[training_set.test]) - choice.threshold
    row["fvm_scores"] = np.full(len(training_set.test), np.nan)
    row["fvm_genes"] = 0
    if protocol.fvm_genes:
        row["fvm_scores"], row["fvm_genes"] = fvm_scores(
            outer_set,
            inner_sets,
            held_out_rows,
            X[training_set.test],
            protocol,
            FITTINGS[training_set.kind].signed_classes,
        )
    return row


def _prepare_split(
    X: Array, training_set: TrainingSet, shared: SharedSettings
) -> tuple[KernelData, list[KernelData], list[tuple[Array, Array]]]:
    """Return the training sets of a split and of its inner folds, and the folds' rows (X, y)."""
    training_rows = [np.setdiff1d(training_set.train, fold) for fold in training_set.inner_folds]
    inner_sets = [prepare_training_set(X, training_set.y, rows, shared) for rows in training_rows]
    held_out_rows = [(X[fold], training_set.y[fold]) for fold in training_set.inner_folds]
    return (
        prepare_training_set(X, training_set.y, training_set.train, shared),
        inner_sets,
        held_out_rows,
    )


def _fit_final(
    kernel_data: KernelData,
    choice: InnerChoice,
    training_set: TrainingSet,
    protocol: NonlinearProtocol,
) -> PathFit | None:
    """Return the fit with the chosen settings; an error names the split."""
    try:
        return final_fit(kernel_data, choice, protocol)
    except GenesigError as error:
        raise GenesigError(f"nonlinear selection, split {training_set.split}: {error}") from error


def _test_scores(kernel_data: KernelData, fit: PathFit | None, X: Array) -> Array:
    """Return the scores of test rows; the training mean without a model.

    The path of the final fit ends at the chosen tau: its last solution is the model.
    """
    if fit is None or not fit.path.solutions:
        return np.full(len(X), kernel_data.y.mean())
    last_step = len(fit.path.solutions) - 1
    by_ridge = fit.predict(last_step, X[:, kernel_data.genes])  # (1, n_test): at most one ridge
    return np.asarray(by_ridge[0])


def _fit_fields(
    matrix: NormalisedMatrix,
    training_set: TrainingSet,
    kernel_data: KernelData,
    choice: InnerChoice,
    fit: PathFit | None,
    protocol: NonlinearProtocol,
) -> dict[str, Any]:
    """Return the row of a fit for `ModelFits.from_rows`, without the scores."""
    row: dict[str, Any] = {
        "split": training_set.split,
        "permutation": training_set.permutation,
        "screened": len(kernel_data.genes),
        "nu": choice.nu,
        "width": choice.width,
        "lam": choice.lam,
        "cut": choice.cut,
        "test_rows": training_set.label_rows,
        "paths": len(training_set.inner_folds) * len(protocol.settings_grid()),
        "tau": 1.0,  # at tau_max nothing is selected
        "gap": np.nan,
        "explained_by_none": np.nan,
        "indices": [],
        "sizes": [],
        "ended_early": False,
        "message": "too few samples, or no gene that varies",
    }
    if fit is None:
        return row
    row |= {
        "explained_by_none": fit.path.explained_by_none,
        "ended_early": fit.path.ended_early,
        "message": fit.path.message,
    }
    if fit.path.solutions:
        last_step = len(fit.path.solutions) - 1
        solution = fit.path.solutions[last_step]
        selected = fit.support(last_step)
        columns = kernel_data.genes[fit.features[selected]]
        row |= {
            "tau": protocol.tau_fractions()[last_step],
            "gap": solution.gap,
            "indices": matrix.genes[columns],
            "sizes": solution.norms[selected] * fit.y_scale,
        }
    return row
