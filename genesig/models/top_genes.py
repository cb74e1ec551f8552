"""Baselines that rank genes one by one, or shrink class means, as the field uses them.

t-test and discriminant analysis, nearest shrunken centroids, gradient boosting, and the compound
covariate. `genesig.models.baselines` describes their arguments and results; only boosting uses the
random state. Ranks, number of genes, threshold and number of trees come from the training rows and
their inner folds alone. Scores of classes are for equally frequent classes; those of boosting still
favour the larger ones, so its class is that of the nearest mean score of held-out rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.optim.classes import centres, margins
from genesig.optim.cox.risk_sets import DEFAULT_TIES, score_test

Folds = Sequence[Array]  # held-out rows of each inner fold, as numbers of training rows
ScorePath = Callable[[Array, Array, Array], Array]
"""(training rows, responses, rows to score) to their scores by each setting, (n_settings, n, ...).

For classes the last axis are the T classes.
"""

N_GENES = (5, 10, 20, 50, 100)  # numbers of top genes by a single-gene statistic
N_THRESHOLDS = 30  # thresholds of shrunken centroids, from none to equal class means
BOOSTED_GENES = 100  # genes that gradient boosting gets: all genes would take most of the time
N_ROUNDS = (10, 20, 50)  # numbers of boosted trees (of each class), one of which is chosen
BOOSTING_SETTINGS: dict[str, Any] = {
    "n_estimators": N_ROUNDS[-1],
    "max_depth": 2,
    "max_features": "sqrt",
}
"""Settings of scikit-learn's gradient boosting; others are its defaults."""


def t_test_lda(X: Array, y: Array, X_test: Array, folds: Folds, random_state: int) -> Array:
    """Return scores of linear discriminant analysis on the genes of the largest F.

    For two classes F is t². The covariance is shrunken as Ledoit and Wolf (2004) do; the number of
    genes is chosen by the class-balanced inner error, the smallest at ties.
    """
    return _class_scores(_discriminant_path, X, y, X_test, folds)


def shrunken_centroids(X: Array, y: Array, X_test: Array, folds: Folds, random_state: int) -> Array:
    """Return scores of nearest shrunken centroids (Tibshirani et al. 2002).

    The threshold is chosen by the class-balanced inner error, the largest at ties.
    """
    largest = np.abs(_Centroids.from_rows(X, y).deviations).max()
    thresholds = np.linspace(largest, 0, N_THRESHOLDS + 1)[1:]

    def path(X_train: Array, y_train: Array, X_scored: Array) -> Array:
        centroids = _Centroids.from_rows(X_train, y_train)
        return np.stack([centroids.scores(X_scored, threshold) for threshold in thresholds])

    return _class_scores(path, X, y, X_test, folds)


def boosting_classes(X: Array, y: Array, X_test: Array, folds: Folds, random_state: int) -> Array:
    """Return scores of gradient boosting on the 100 genes of the largest F.

    The number of trees is chosen by the class-balanced inner error, the smallest at ties.
    """
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.utils.class_weight import compute_sample_weight

    def path(X_train: Array, y_train: Array, X_scored: Array) -> Array:
        genes = largest_columns(class_f(X_train, y_train), BOOSTED_GENES)
        model = GradientBoostingClassifier(random_state=random_state, **BOOSTING_SETTINGS)
        weight = compute_sample_weight("balanced", y_train)
        model.fit(X_train[:, genes], y_train, sample_weight=weight)
        scores = list(model.staged_decision_function(X_scored[:, genes]))
        return np.stack([_class_columns(scores[rounds - 1]) for rounds in N_ROUNDS])

    return _class_scores(path, X, y, X_test, folds, by_nearest_mean=True)


def boosting_numbers(X: Array, y: Array, X_test: Array, folds: Folds, random_state: int) -> Array:
    """Return predictions of gradient boosting on the 100 genes of the largest correlation.

    The number of trees is chosen by the squared inner error.
    """
    from sklearn.ensemble import GradientBoostingRegressor

    def path(X_train: Array, y_train: Array, X_scored: Array) -> Array:
        genes = largest_columns(np.abs(_correlation(X_train, y_train)), BOOSTED_GENES)
        model = GradientBoostingRegressor(random_state=random_state, **BOOSTING_SETTINGS)
        model.fit(X_train[:, genes], y_train)
        scores = list(model.staged_predict(X_scored[:, genes]))
        return np.stack([scores[rounds - 1] for rounds in N_ROUNDS])

    held_out_scores = _held_out_scores(path, X, y, folds)
    errors = np.square(held_out_scores - y[np.concatenate(folds)]).sum(axis=1)
    return np.asarray(path(X, y, X_test)[int(np.argmin(errors))])


def compound_covariate_numbers(
    X: Array, y: Array, X_test: Array, folds: Folds, random_state: int
) -> Array:
    """Return predictions by the sum of the top genes, each weighted by its correlation with y.

    The number of genes, and the line from sums to numbers, are those of the smallest squared error
    of held-out rows.
    """
    path = _compound_path(_correlation)
    scores = _held_out_scores(path, X, y, folds)
    mean = scores.mean(axis=1, keepdims=True)
    deviation = scores - mean
    y_held_out = y[np.concatenate(folds)]
    response = y_held_out - y_held_out.mean()
    square = np.square(deviation).sum(axis=1)
    slope = np.divide(deviation @ response, square, out=np.zeros(len(square)), where=square > 0)
    slope = np.maximum(slope, 0.0)
    errors = np.square(response - slope[:, None] * deviation).sum(axis=1)
    best = int(np.argmin(errors))
    return np.asarray(y_held_out.mean() + slope[best] * (path(X, y, X_test) - mean)[best])


def compound_covariate_survival(
    X: Array, y: Array, X_test: Array, folds: Folds, random_state: int
) -> Array:
    """Return the sum of the top genes, each weighted by the z of its Cox score test.

    The number of genes is that whose held-out sums have the largest z in Cox's score test with the
    inner folds as strata. Source: Tukey 1993; Radmacher, McShane and Simon 2002.
    """
    path = _compound_path(_cox_z)
    usable_folds = [fold for fold in folds if np.delete(y["event"], fold).any()]
    best = 0
    if usable_folds:
        fold_number = np.repeat(np.arange(len(usable_folds)), [len(fold) for fold in usable_folds])
        scores = _held_out_scores(path, X, y, usable_folds).T
        z, _ = score_test(scores, y[np.concatenate(usable_folds)], fold_number, DEFAULT_TIES)
        best = int(np.argmax(np.nan_to_num(z)))
    return np.asarray(path(X, y, X_test)[best])


def largest_columns(statistic: Array, n: int) -> Array:
    """Return the n columns of the largest statistic, rising in it."""
    return np.argsort(statistic, kind="stable")[-n:]


def class_f(X: Array, y: Array) -> Array:
    """Return F of the analysis of variance up to a factor, (d,); -1 for constant columns."""
    overall = X.mean(axis=0)
    between = np.zeros(X.shape[1])
    within = np.zeros(X.shape[1])
    for label in np.unique(y):
        rows = X[y == label]
        mean = rows.mean(axis=0)
        between += len(rows) * np.square(mean - overall)
        within += np.square(rows - mean).sum(axis=0)
    smallest = np.finfo(float).tiny
    return np.where(np.ptp(X, axis=0) > 0, between / np.maximum(within, smallest), -1.0)


def _correlation(X: Array, y: Array) -> Array:
    """Return the correlation of each column with y, (d,); 0 for constant columns."""
    deviation = X - X.mean(axis=0)
    response = y - y.mean()
    scale = np.sqrt(np.square(deviation).sum(axis=0) * np.square(response).sum())
    varies = (np.ptp(X, axis=0) > 0) & (scale > 0)
    correlation: Array = np.zeros(X.shape[1])
    np.divide(response @ deviation, scale, out=correlation, where=varies)
    return correlation


def _cox_z(X: Array, y: Array) -> Array:
    """Return z of Cox's score test of each column, (d,); 0 for constant columns."""
    return np.nan_to_num(score_test(X, y, stratum=None, ties=DEFAULT_TIES)[0])


def _compound_path(gene_statistic: Callable[[Array, Array], Array]) -> ScorePath:
    """Return the function that scores rows by sums of standardised genes, (len(N_GENES), n).

    gene_statistic(X, y), (d,), ranks and weights the genes. Sums have variance 1 on training rows.
    """

    def path(X: Array, y: Array, X_scored: Array) -> Array:
        statistic = gene_statistic(X, y)
        scores = []
        for n_genes in N_GENES:
            genes = largest_columns(np.abs(statistic), n_genes)
            mean = X[:, genes].mean(axis=0)
            weight = statistic[genes] / np.maximum(X[:, genes].std(axis=0), np.finfo(float).tiny)
            weight = np.where(statistic[genes] == 0, 0.0, weight)
            scale = float(((X[:, genes] - mean) @ weight).std()) or 1.0
            # Not a matrix product: its rounding would depend on the number of rows.
            scores.append(((X_scored[:, genes] - mean) * weight).sum(axis=1) / scale)
        return np.stack(scores)

    return path


def _discriminant_path(X: Array, y: Array, X_scored: Array) -> Array:
    """Return scores of discriminant analysis on each number of top genes, (len(N_GENES), n, T)."""
    order = largest_columns(class_f(X, y), X.shape[1])
    scores = []
    for n_genes in N_GENES:
        genes = order[-n_genes:]
        coefs, intercept = _discriminant(X[:, genes], y)
        scores.append(X_scored[:, genes] @ coefs + intercept)
    return np.stack(scores)


def _discriminant(X: Array, y: Array) -> tuple[Array, Array]:
    """Return coefficients (d, T) and intercepts (T,) for classes that are equally frequent.

    As scikit-learn's LinearDiscriminantAnalysis (solver lsqr, shrinkage auto), which takes several
    times as long: the covariance is the mean over the classes, each of standardised genes.
    """
    labels = np.unique(y)
    means = np.stack([X[y == label].mean(axis=0) for label in labels])
    covariance = np.zeros((X.shape[1], X.shape[1]))
    ridge = np.zeros(X.shape[1])  # part of the diagonal that the shrinkage adds
    for label, mean in zip(labels, means, strict=True):
        deviation = X[y == label] - mean
        n, d = deviation.shape
        variance = np.square(deviation).mean(axis=0)
        varies = variance > np.square(n * np.finfo(float).eps * mean)
        scale = np.sqrt(np.where(varies, variance, 1.0))
        Z = deviation / scale
        shrinkage = _ledoit_wolf_shrinkage(Z)
        covariance += (1 - shrinkage) / n * (scale * (Z.T @ Z) * scale[:, None])
        ridge += shrinkage * np.square(Z).sum() / (n * d) * np.square(scale)
    covariance = (covariance + np.diag(ridge)) / len(labels)
    # Least squares decompose the matrix, so they are for the smallest classes.
    is_well_conditioned = ridge.min() > 1e-8 * np.trace(covariance)
    if is_well_conditioned:
        coefs = np.linalg.solve(covariance, means.T)
    else:
        coefs = np.linalg.lstsq(covariance, means.T)[0]
    return coefs, -(means.T * coefs).sum(axis=0) / 2


def _ledoit_wolf_shrinkage(Z: Array) -> float:
    """Return the weight of the mean variance in the covariance of centred rows Z (n, d)."""
    n, d = Z.shape
    square_norm = np.square(Z @ Z.T).sum() / n**2  # of the covariance, as of its Gram matrix
    trace = np.square(Z).sum() / n
    error = (np.square(np.square(Z).sum(axis=1)).sum() / n - square_norm) / n
    distance = square_norm - trace**2 / d
    return float(min(error, distance) / distance) if distance > 0 else 0.0


class _Centroids(NamedTuple):
    """Class means as deviations from the mean of all rows."""

    mean: Array  # (d,)
    scale: Array  # (d,) standard deviation within the classes, plus its median over the genes
    deviations: Array  # (T, d) class mean less the overall mean, over its standard error
    error_factors: Array  # (T, 1) ``√(1/n_c - 1/n)``: standard error over scale

    @classmethod
    def from_rows(cls, X: Array, y: Array) -> _Centroids:
        """Return the deviations of the classes y of the rows X."""
        labels, class_index, sizes = np.unique(y, return_inverse=True, return_counts=True)
        means = np.stack([X[y == label].mean(axis=0) for label in labels])
        within = np.square(X - means[class_index]).sum(axis=0) / max(len(X) - len(labels), 1)
        scale = np.sqrt(within) + np.median(np.sqrt(within))
        scale = np.where(scale > 0, scale, 1.0)
        error_factors = np.sqrt(1 / sizes - 1 / len(X))[:, None]
        deviations = (means - X.mean(axis=0)) / (error_factors * scale)
        return cls(X.mean(axis=0), scale, deviations, error_factors)

    def scores(self, X: Array, threshold: float) -> Array:
        """Return ``-Σ_j ((x_j - c_j)/scale_j)²/2`` of shrunken means c plus a constant, (n, T)."""
        size = np.maximum(np.abs(self.deviations) - threshold, 0.0)
        centroids = self.error_factors * np.sign(self.deviations) * size
        genes = np.flatnonzero(size.any(axis=0))
        Z = (X[:, genes] - self.mean[genes]) / self.scale[genes]
        return np.stack(
            [
                (Z * centroid[genes]).sum(axis=1) - np.square(centroid).sum() / 2
                for centroid in centroids
            ],
            axis=1,
        )


def _class_columns(scores: Array) -> Array:
    """Return a score for each class, (n, T), from (n, T) or, for two classes, (n,) or (n, 1)."""
    return np.column_stack([-scores, scores]) / 2 if scores.size == len(scores) else scores


def _class_scores(
    path: ScorePath,
    X: Array,
    y: Array,
    X_test: Array,
    folds: Folds,
    *,
    by_nearest_mean: bool = False,
) -> Array:
    """Return test scores of the setting with the smallest class-balanced inner error.

    At ties the first setting wins. A row is of the class of its largest score or, if
    `by_nearest_mean`, of the nearest mean of held-out scores. (n_test,) for two classes, else
    (n_test, T) with row means 0.
    """
    labels, class_index = np.unique(y, return_inverse=True)
    usable_folds = [fold for fold in folds if len(np.unique(np.delete(y, fold))) == len(labels)]
    best = 0
    means = None
    if usable_folds:
        true_class = class_index[np.concatenate(usable_folds)]
        held_out_scores = _held_out_scores(path, X, y, usable_folds)
        if by_nearest_mean:
            means = centres(true_class, held_out_scores, len(labels))
            held_out_scores = margins(held_out_scores, means)
        wrong = held_out_scores.argmax(axis=2) != true_class
        errors = [wrong[:, true_class == label].mean(axis=1) for label in np.unique(true_class)]
        best = int(np.argmin(np.mean(errors, axis=0).round(12)))  # so that ties are ties
    scores = path(X, y, X_test)[best]
    if means is not None:
        scores = margins(scores, means[best])
    if len(labels) == 2:
        return np.asarray(scores[:, 1] - scores[:, 0])
    return np.asarray(scores - scores.mean(axis=1, keepdims=True))


def _held_out_scores(path: ScorePath, X: Array, y: Array, folds: Folds) -> Array:
    """Return held-out scores of the rows of all folds, in their order, (n_settings, n, ...)."""
    fold_scores = []
    for fold in folds:
        train = np.setdiff1d(np.arange(len(y)), fold)
        fold_scores.append(path(X[train], y[train], X[fold]))
    return np.concatenate(fold_scores, axis=1)
