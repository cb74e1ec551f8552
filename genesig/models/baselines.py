"""Common methods, most of them from scikit-learn, with which a signature is compared.

Each takes training rows (normalised on these rows alone), their responses, test rows, the
validation rows of the inner folds (numbers of training rows) and a random state. Responses are ±1
for two classes, class numbers 0 to T - 1 for several, otherwise numbers or times with events. The
result is a score for each test row, (n_test,), positive for the class +1; for several classes
(n_test, T). A baseline with a parameter ``genes`` also gets the rows of the gene table that belong
to the columns.

All choices are made on the inner folds of the training rows. So is the threshold of two classes: a
score of 0 is the midpoint of the two class means of scores of held-out training rows, as in
genesig's own models. The thresholds of the original methods would favour the larger class.

Only `ridge_with_covariates` adjusts for covariates: the first q columns, without a penalty.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from genesig.arrays import Array
from genesig.models import top_genes
from genesig.models.lasso import (
    ELASTIC_NET_L1_SHARES,
    LASSO_L1_SHARES,
    cox_net,
    logistic_net,
    squares_net,
)
from genesig.optim.adjustment import adjustment
from genesig.optim.classes import centres, margins
from genesig.optim.components import Points, choose_components, component_regressions
from genesig.optim.cox.path import ridge
from genesig.optim.cox.risk_sets import DEFAULT_TIES, RiskSets, left_out_deviance
from genesig.optim.cox.training import separation_ridge
from genesig.plugins import Registry
from genesig.response.design import SEVERAL_CLASSES
from genesig.response.kinds import ByKind

Folds = Sequence[Array]  # held-out rows of each inner fold, as numbers of training rows
Baseline = Callable[..., Array]  # (X, y, X_test, folds, random_state) to scores of X_test
FitFunction = Callable[[float, Array, Array, Array], Array]  # the `fit` of `best_setting`

N_TREES = 201  # odd, so that the votes of fully grown trees do not tie
KERNEL_WIDTHS = (0.5, 1.0, 2.0)
"""Widths of Gaussian kernels, in multiples of the median distance between training rows."""


def one_against_rest(two_class_method: Baseline) -> Baseline:
    """Return a method for two classes as one for several: each class against all others.

    `two_class_method` returns scores less their midpoint; the T columns are its scores.
    """

    def several_classes(
        X: Array, y: Array, X_test: Array, folds: Folds, random_state: int
    ) -> Array:
        scores = [
            two_class_method(X, np.where(y == label, 1.0, -1.0), X_test, folds, random_state)
            for label in np.unique(y)
        ]
        return np.column_stack(scores)

    return several_classes


def by_regression(regression: Callable[..., tuple[Array, Array]]) -> dict[str, Baseline]:
    """Return a regression as a method for classes and for numbers; two classes are ±1.

    regression(X, y, X_test, folds) returns scores of the test rows and of held-out training rows.
    """

    def classes(X: Array, y: Array, X_test: Array, folds: Folds, random_state: int) -> Array:
        scores, held_out_scores = regression(X, y, X_test, folds)
        return scores - midpoint(y, held_out_scores)

    def numbers(X: Array, y: Array, X_test: Array, folds: Folds, random_state: int) -> Array:
        return regression(X, y, X_test, folds)[0]

    return {
        "classification": classes,
        SEVERAL_CLASSES: one_against_rest(classes),
        "regression": numbers,
    }


def penalised_regressions(l1_shares: Sequence[float]) -> dict[str, Baseline]:
    """Return logistic, linear and Cox regression with l1 and squared penalties, as glmnet's.

    The inner folds choose tau and one of the l1 shares.
    """

    def classes(X: Array, y: Array, X_test: Array, folds: Folds, random_state: int) -> Array:
        scores, held_out_scores = logistic_net(X, y, X_test, folds, l1_shares)
        scores = scores - midpoint(y, held_out_scores)
        # All scores are 0 if no feature is selected and the odds are even: the first row decides.
        return scores if scores.any() else 1e-9 * majority(X, y, X_test, folds, random_state)

    def numbers(X: Array, y: Array, X_test: Array, folds: Folds, random_state: int) -> Array:
        return squares_net(X, y, X_test, folds, l1_shares)

    def times(X: Array, y: Array, X_test: Array, folds: Folds, random_state: int) -> Array:
        return cox_net(X, y, X_test, folds, l1_shares)

    return {
        "classification": classes,
        SEVERAL_CLASSES: one_against_rest(classes),
        "regression": numbers,
        "survival": times,
    }


def majority_several(X: Array, y: Array, X_test: Array, folds: Folds, random_state: int) -> Array:
    """Return 1 for the most frequent class of the training rows, else 0.

    At a tie it is the class of the earliest row, so that names of classes do not matter.
    """
    scores = np.zeros((len(X_test), int(y.max()) + 1))
    class_index = y.astype(np.int64)
    scores[:, class_index[np.argmax(np.bincount(class_index)[class_index])]] = 1.0
    return scores


def nearest_centroids(X: Array, y: Array, X_test: Array, folds: Folds, random_state: int) -> Array:
    """Return -||x - c||² / n_features, c the mean of each class, less its mean over the classes."""
    means = np.stack([X[y == label].mean(axis=0) for label in np.unique(y)])
    return np.asarray(margins(X_test, means) * 2 / X.shape[1])


def forest_several(X: Array, y: Array, X_test: Array, folds: Folds, random_state: int) -> Array:
    """Return scores of a random forest: the class with the nearest mean share of votes.

    A training row is left out by the trees whose bootstrap sample lacks it.
    """
    held_out_shares, votes = forest_votes(X, y, X_test, random_state)
    return margins(votes, centres(y, held_out_shares, held_out_shares.shape[1]))


def forest_votes(X: Array, y: Array, X_test: Array, random_state: int) -> tuple[Array, Array]:
    """Return the share of a random forest's trees that vote for each class.

    First of training rows (n, T), by the trees whose bootstrap sample lacks the row, then of test
    rows (n_test, T). The forest is that of scikit-learn's RandomForestClassifier with its defaults
    and `N_TREES` trees. Its own loop takes half as long again: it checks the data for each tree,
    and passes training and test rows through each tree one after the other.
    """
    from sklearn.tree import DecisionTreeClassifier

    n = len(X)
    n_classes = len(np.unique(y))
    rows = np.ascontiguousarray(np.vstack([X, X_test]), dtype=np.float32)
    forest_state = np.random.RandomState(random_state)
    held_out_shares = np.zeros((n, n_classes))
    n_trees = np.zeros((n, 1))  # trees whose bootstrap sample lacks the row
    votes = np.zeros((len(X_test), n_classes))
    for _ in range(N_TREES):
        tree_state = forest_state.randint(np.iinfo(np.int32).max)
        drawn = np.random.RandomState(tree_state).randint(0, n, n)
        n_draws = np.bincount(drawn, minlength=n)
        tree = DecisionTreeClassifier(max_features="sqrt", random_state=tree_state)
        tree.fit(rows[:n], y, sample_weight=n_draws, check_input=False)
        shares = tree.predict_proba(rows, check_input=False)
        is_absent = n_draws == 0
        held_out_shares[is_absent] += shares[:n][is_absent]
        n_trees[is_absent] += 1
        votes += shares[n:]
    return held_out_shares / np.maximum(n_trees, 1), votes / N_TREES


def majority(X: Array, y: Array, X_test: Array, folds: Folds, random_state: int) -> Array:
    """Return the more frequent class of the training rows; at a tie, that of the first row."""
    return np.full(len(X_test), np.sign(y.sum()) or y[0])


def mean(X: Array, y: Array, X_test: Array, folds: Folds, random_state: int) -> Array:
    """Return the mean response of the training rows."""
    return np.full(len(X_test), y.mean())


def no_order(X: Array, y: Array, X_test: Array, folds: Folds, random_state: int) -> Array:
    """Return 0 for all samples: Kaplan-Meier of the training rows is the same for each."""
    return np.zeros(len(X_test))


def ridge_survival(X: Array, y: Array, X_test: Array, folds: Folds, random_state: int) -> Array:
    """Return scores of Cox's ridge regression, lam by the left-out partial likelihood.

    lam runs from 10 to 1e-4 times the largest eigenvalue of X'X over the number of rows.
    """
    X, X_test, scale = row_space(X, X_test)
    lam = scale / len(y) * np.geomspace(10, 1e-4, 6)
    return _cox_ridge(X, y, X_test, folds, lam, q=0)


def _ridge(X: Array, y: Array, X_test: Array, folds: Folds) -> tuple[Array, Array]:
    """Return test scores and held-out scores of least squares on all features with α ||b||².

    α, chosen by the squared inner error, runs from 1e-4 to 10 times the largest eigenvalue of X'X.
    """
    from sklearn.linear_model import Ridge

    def fit(alpha: float, X_train: Array, y_train: Array, X_heldout: Array) -> Array:
        return np.asarray(Ridge(alpha=alpha).fit(X_train, y_train).predict(X_heldout))

    X, X_test, scale = row_space(X, X_test)
    alpha, held_out_scores = best_setting(
        fit, scale * np.geomspace(10, 1e-4, 6), X, y, folds, mean_squared_error
    )
    return fit(alpha, X, y, X_test), held_out_scores


def nearest_centroid(X: Array, y: Array, X_test: Array, folds: Folds, random_state: int) -> Array:
    """Return (||x - c₋||² - ||x - c₊||²) / n_features, with c± the mean of each class."""
    # By hand: scikit-learn's NearestCentroid refuses features that are constant in both classes.
    negative_mean = X[y < 0].mean(axis=0)
    positive_mean = X[y > 0].mean(axis=0)
    midpoint_row = (negative_mean + positive_mean) / 2
    return np.asarray(2 * (X_test - midpoint_row) @ (positive_mean - negative_mean) / X.shape[1])


def svm_classes(X: Array, y: Array, X_test: Array, folds: Folds, random_state: int) -> Array:
    """Return scores of a linear support vector machine for two classes.

    C is chosen by the class-balanced inner error, the smallest at ties. It runs from .01
    to 100 over the mean squared length of a row.
    """
    from sklearn.svm import SVC

    def fit(C: float, X_train: Array, y_train: Array, X_heldout: Array) -> Array:
        if len(np.unique(y_train)) < 2:  # a fold without the other class
            return np.full(len(X_heldout), y_train[0])
        # Exchanged classes must give the scores with the other sign. SVC gives them only within its
        # tolerance, so the first row always counts as the class -1.
        sign = -y_train[0]
        return np.asarray(
            sign
            * SVC(kernel="linear", C=C).fit(X_train, sign * y_train).decision_function(X_heldout)
        )

    X, X_test, _ = row_space(X, X_test)
    penalties = np.geomspace(0.01, 100, 5) / _mean_squared_length(X)
    C, held_out_scores = best_setting(fit, penalties, X, y, folds, _balanced_error)
    return fit(C, X, y, X_test) - midpoint(y, held_out_scores)


def svm_numbers(X: Array, y: Array, X_test: Array, folds: Folds, random_state: int) -> Array:
    """Return predictions of linear support vector regression, C by the squared error.

    The response is standardised.
    """
    from sklearn.svm import SVR

    centre = y.mean()
    scale = y.std() or 1.0

    def fit(C: float, X_train: Array, y_train: Array, X_heldout: Array) -> Array:
        standardised = (y_train - centre) / scale
        first_value = standardised[np.argmax(np.abs(standardised) > 0)]
        sign = -1.0 if first_value < 0 else 1.0  # as in `svm_classes`
        fitted = SVR(kernel="linear", C=C).fit(X_train, sign * standardised)
        return np.asarray(centre + sign * scale * fitted.predict(X_heldout))

    X, X_test, _ = row_space(X, X_test)
    penalties = np.geomspace(0.01, 100, 5) / _mean_squared_length(X)
    C, _ = best_setting(fit, penalties, X, y, folds, mean_squared_error)
    return fit(C, X, y, X_test)


def forest_classes(X: Array, y: Array, X_test: Array, folds: Folds, random_state: int) -> Array:
    """Return a random forest's share of votes for +1 less that for -1; scikit-learn's defaults.

    A training row is left out by the trees whose bootstrap sample lacks it.
    """
    held_out_shares, votes = forest_votes(X, y, X_test, random_state)
    classes = np.unique(y)
    return np.asarray(votes @ classes - midpoint(y, held_out_shares @ classes))


def forest_numbers(X: Array, y: Array, X_test: Array, folds: Folds, random_state: int) -> Array:
    """Return predictions of a forest, a third of the features at each node (Breiman 2001)."""
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(N_TREES, max_features=1 / 3, random_state=random_state, n_jobs=1)
    return np.asarray(forest.fit(X, y).predict(X_test))


def _component_regression(
    X: Array, y: Array, X_test: Array, folds: Folds, widths: Sequence[float | None]
) -> tuple[Array, Array]:
    """Return test scores and held-out scores of least squares on kernel principal components.

    Number of components and width are chosen by the inner error. widths: of Gaussian kernels, see
    `KERNEL_WIDTHS`; the width None is the linear kernel.
    """
    points = Points.from_rows(np.vstack([X, X_test]), X.mean(axis=0))
    n = len(y)
    choice = choose_components(points, y, folds, widths)
    train = np.arange(n)
    test = np.arange(n, n + len(X_test))
    alpha, intercept = component_regressions(points.kernel(train, train, choice.width), y)
    n_components = min(choice.components, len(intercept) - 1)  # not above the numerical rank
    scores = (
        intercept[n_components] + points.kernel(test, train, choice.width) @ alpha[:, n_components]
    )
    return scores, choice.left_out


def row_space(X: Array, X_test: Array) -> tuple[Array, Array, float]:
    """Return X and X_test in coordinates of the row space of X, and the largest eigenvalue of X'X.

    Ridge and linear support vector machines depend on inner products only, so this only saves time:
    n_train features instead of thousands.
    """
    if len(X) > X.shape[1]:
        return X, X_test, float(np.linalg.norm(X, 2) ** 2) or 1.0
    eigenvalues, U = np.linalg.eigh(X @ X.T)
    is_nonzero = eigenvalues > len(X) * np.finfo(float).eps * eigenvalues[-1]
    length = np.sqrt(eigenvalues[is_nonzero])
    U = U[:, is_nonzero]
    return U * length, X_test @ X.T @ (U / length), float(eigenvalues[-1]) or 1.0


def _mean_squared_length(X: Array) -> float:
    """Return the mean of ||x||² over the rows; 1 if it is 0."""
    return float(np.mean(np.sum(np.square(X), axis=1))) or 1.0


def best_setting(
    fit: FitFunction,
    settings: Array,
    X: Array,
    y: Array,
    folds: Folds,
    error: Callable[[Array, Array], float],
) -> tuple[float, Array]:
    """Return the first setting with the smallest inner error, and its scores of held-out rows.

    fit(setting, X_train, y_train, X_heldout) returns scores; error(y, scores) their error. Held-out
    scores (n,) are NaN for rows that no fold holds out.
    """
    held_out_scores = np.full((len(settings), len(y)), np.nan)
    for scores, setting in zip(held_out_scores, map(float, settings), strict=True):
        for fold in folds:
            train = np.setdiff1d(np.arange(len(y)), fold)
            scores[fold] = fit(setting, X[train], y[train], X[fold])
    has_score = ~np.isnan(held_out_scores[0])
    best_index = int(
        np.argmin([error(y[has_score], scores[has_score]) for scores in held_out_scores])
    )
    return float(settings[best_index]), held_out_scores[best_index]


def mean_squared_error(y: Array, scores: Array) -> float:
    """Return the mean squared error of scores f."""
    return float(np.mean(np.square(y - scores)))


def _balanced_error(y: Array, scores: Array) -> float:
    """Return the mean of both classes' error shares, with the scores cut at their midpoint."""
    scores = scores - midpoint(y, scores)
    return float(
        np.mean([np.mean(y[y == label] * scores[y == label] <= 0) for label in np.unique(y)])
    )


def midpoint(y: Array, held_out_scores: Array) -> float:
    """Return the mean of the class means of held-out scores, 0 if a class has none."""
    scores_by_class = [
        held_out_scores[(y == label) & ~np.isnan(held_out_scores)] for label in np.unique(y)
    ]
    return (
        float(np.mean([scores.mean() for scores in scores_by_class]))
        if all(map(len, scores_by_class))
        else 0.0
    )


_BASELINES: dict[str, dict[str, Baseline]] = {
    "dummy": {
        "classification": majority,
        SEVERAL_CLASSES: majority_several,
        "regression": mean,
        "survival": no_order,
    },
    "ridge": by_regression(_ridge) | {"survival": ridge_survival},
    "lasso": penalised_regressions(LASSO_L1_SHARES),
    "elastic_net": penalised_regressions(ELASTIC_NET_L1_SHARES),
    "pcr": by_regression(partial(_component_regression, widths=(None,))),
    "kernel_pcr": by_regression(partial(_component_regression, widths=KERNEL_WIDTHS)),
    "nearest_centroid": {"classification": nearest_centroid, SEVERAL_CLASSES: nearest_centroids},
    "linear_svm": {
        "classification": svm_classes,
        SEVERAL_CLASSES: one_against_rest(svm_classes),
        "regression": svm_numbers,
    },
    "random_forest": {
        "classification": forest_classes,
        SEVERAL_CLASSES: forest_several,
        "regression": forest_numbers,
    },
    "t_test_lda": {"classification": top_genes.t_test_lda, SEVERAL_CLASSES: top_genes.t_test_lda},
    "shrunken_centroids": {
        "classification": top_genes.shrunken_centroids,
        SEVERAL_CLASSES: top_genes.shrunken_centroids,
    },
    "gradient_boosting": {
        "classification": top_genes.boosting_classes,
        SEVERAL_CLASSES: top_genes.boosting_classes,
        "regression": top_genes.boosting_numbers,
    },
    "compound_covariate": {
        "regression": top_genes.compound_covariate_numbers,
        "survival": top_genes.compound_covariate_survival,
    },
}


BASELINES: Registry[Mapping[str, Baseline]] = Registry("baselines", _BASELINES)


PENALTY_GRID = np.geomspace(100, 1e-4, 7)
"""Penalties, in multiples of the largest eigenvalue of Z'Z, Z the genes of the training rows."""


def ridge_with_covariates(q: int) -> Mapping[str, Baseline]:
    """Return ridge regression adjusted for q covariates, for each kind of response.

    ``min ||y - a - Cg - Zb||² + α ||b||²``, C (n, q) the first columns of the rows, Z the genes, α
    by the squared error of the inner folds. For times it is Cox's regression, with the penalty by
    the held-out partial likelihood.
    """

    def times(X: Array, y: Array, X_test: Array, folds: Folds, random_state: int) -> Array:
        X, X_test, scale = _rotate_genes(q, X, X_test)
        return _cox_ridge(X, y, X_test, folds, scale / len(y) * PENALTY_GRID, q=q)

    return ByKind({**by_regression(partial(_ridge_with_covariates, q)), "survival": times})


def _ridge_with_covariates(
    q: int, X: Array, y: Array, X_test: Array, folds: Folds
) -> tuple[Array, Array]:
    """Return test scores and held-out scores of ridge adjusted for the first q columns."""
    from sklearn.linear_model import Ridge

    def fit(alpha: float, X_train: Array, y_train: Array, X_heldout: Array) -> Array:
        # Regression of y and of each gene on the covariates, then ridge on their residuals.
        covariates, test_covariates = (
            np.column_stack([np.ones(len(rows)), rows[:, :q]]) for rows in (X_train, X_heldout)
        )
        y_and_genes = np.column_stack([y_train, X_train[:, q:]])
        on_covariates = np.linalg.lstsq(covariates, y_and_genes, rcond=None)[0]
        residual = y_and_genes - covariates @ on_covariates
        gene_coefs = (
            Ridge(alpha=alpha, fit_intercept=False).fit(residual[:, 1:], residual[:, 0]).coef_
        )
        return np.asarray(
            X_heldout[:, q:] @ gene_coefs
            + test_covariates @ (on_covariates[:, 0] - on_covariates[:, 1:] @ gene_coefs)
        )

    X, X_test, scale = _rotate_genes(q, X, X_test)
    alpha, held_out_scores = best_setting(
        fit, scale * PENALTY_GRID, X, y, folds, mean_squared_error
    )
    return fit(alpha, X, y, X_test), held_out_scores


def _cox_ridge(X: Array, y: Array, X_test: Array, folds: Folds, lam: Array, *, q: int) -> Array:
    """Return test scores of Cox ridge regression; the first q columns have no penalty.

    lam (L,): one is chosen by the left-out partial likelihood.
    """
    training_sets = [np.setdiff1d(np.arange(len(y)), fold) for fold in folds]
    fold_scores = np.stack(
        [_adjusted_cox_scores(X[rows], y[rows], lam, X, q=q) for rows in training_sets]
    )
    error, _ = left_out_deviance(y["time"], y["event"], folds, fold_scores, DEFAULT_TIES)
    best_lam = lam[[int(np.argmin(error))]]
    return np.asarray(_adjusted_cox_scores(X, y, best_lam, X_test, q=q)[0])


def _adjusted_cox_scores(X: Array, y: Array, lam: Array, X_test: Array, *, q: int) -> Array:
    """Return the scores of X_test at each lam, (L, n_test); the first q columns are covariates."""
    risk = RiskSets.from_times(y["time"], y["event"], DEFAULT_TIES)
    mean = X.mean(axis=0)[q:]
    all_rows = np.ones((len(X), 1), dtype=bool)  # one training set
    covariate_adjustment = adjustment(all_rows, covariates=X[None, :, :q])
    Z = (X[:, q:] - mean)[risk.order]
    C = covariate_adjustment.basis[0].T[risk.order]
    coefs = ridge(risk, Z, C, lam, column_ridge=separation_ridge(risk, C)).b
    covariate_scores = (
        X_test[:, :q] - covariate_adjustment.mean[0]
    ) @ covariate_adjustment.to_basis[0]
    return np.asarray(
        ((X_test[:, q:] - mean) @ coefs[: Z.shape[1]] + covariate_scores @ coefs[Z.shape[1] :]).T
    )


def _rotate_genes(q: int, X: Array, X_test: Array) -> tuple[Array, Array, float]:
    """Return X and X_test with the genes in coordinates of `row_space`, and its eigenvalue.

    The first q columns, the covariates, stay.
    """
    Z, Z_test, scale = row_space(X[:, q:], X_test[:, q:])
    return np.hstack([X[:, :q], Z]), np.hstack([X_test[:, :q], Z_test]), scale
