"""Common predictors, most of them from scikit-learn, to hold a signature against.

Each takes training rows (normalised on these rows alone), their responses (±1 or numbers), test
rows, the validation rows of the inner folds (numbers of training rows) and a random state, and
returns a score for each test row, positive for the class +1. One with a parameter ``genes`` is told
the rows of the gene table that belong to the columns. Whatever a baseline must choose, it
chooses on the inner folds of the training rows. So is its score of classes cut: 0 is the midpoint
of the two class means of the scores of training rows that were left out, as in genesig's own
models; cut where their makers do, they would lean to the larger class.

Beside covariates, rows have these in their first q columns, without a penalty.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from genesig.arrays import Array
from genesig.models.lasso import cox_lasso, logistic_lasso, squares_lasso
from genesig.optim.adjustment import adjustment
from genesig.optim.classes import centres, margins
from genesig.optim.cox.path import ridge
from genesig.optim.cox.risk_sets import USUAL, RiskSets, left_out_deviance
from genesig.optim.cox.training import ease
from genesig.optim.principal_components import Points, choose_components, component_regressions
from genesig.plugins import Registry
from genesig.response.design import SEVERAL
from genesig.response.known import ByKind

Folds = Sequence[Array]
Baseline = Callable[..., Array]
Score = Callable[[float, Array, Array, Array], Array]

TREES = 201
"""Odd, so that the votes of fully grown trees do not tie."""
WIDTHS = (0.5, 1.0, 2.0)
"""Of Gaussian kernels, in multiples of the median distance between training rows."""


def one_against_rest(two: Baseline) -> Baseline:
    """Return a predictor of two classes as one of several: each class against all others.

    The scores are those of the T predictors, each less its own midpoint.
    """

    def several(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
        scores = [
            two(X, np.where(y == c, 1.0, -1.0), X_test, inner, random_state) for c in np.unique(y)
        ]
        return np.column_stack(scores)

    several.__name__ = two.__name__
    return several


def majority_several(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
    """Return 1 for the most frequent class of the training rows, else 0.

    At a tie it is the one that comes first among the rows, whatever the classes are called.
    """
    scores = np.zeros((len(X_test), int(y.max()) + 1))
    number = y.astype(np.int64)
    scores[:, number[np.argmax(np.bincount(number)[number])]] = 1.0
    return scores


def nearest_centroids(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
    """Return -||x - c||² / n_features, c the mean of each class, less its mean over the classes."""
    means = np.stack([X[y == c].mean(axis=0) for c in np.unique(y)])
    return np.asarray(margins(X_test, means) * 2 / X.shape[1])


def forest_several(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
    """Random forest; the class whose mean share of votes, of rows left out, is nearest.

    A training row is left out by the trees whose bootstrap sample lacks it.
    """
    from sklearn.ensemble import RandomForestClassifier

    trees = RandomForestClassifier(TREES, random_state=random_state, n_jobs=1, oob_score=True).fit(
        X, y
    )
    means = centres(y, trees.oob_decision_function_, len(trees.classes_))
    return margins(trees.predict_proba(X_test), means)


def majority(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
    """Return the more frequent class of the training rows; at a tie, that of the first row."""
    return np.full(len(X_test), np.sign(y.sum()) or y[0])


def mean(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
    """Return the mean response of the training rows."""
    from sklearn.dummy import DummyRegressor

    return np.asarray(DummyRegressor().fit(X, y).predict(X_test))


def ridge_classes(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
    """Ridge of the classes as ±1, as scikit-learn's RidgeClassifier, α by the squared error."""
    f, left_out = _ridge(X, y, X_test, inner)
    return f - midpoint(y, left_out)


def ridge_numbers(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
    """Ridge, α by the squared inner error."""
    return _ridge(X, y, X_test, inner)[0]


def no_order(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
    """Return 0 for all: Kaplan-Meier of the training rows knows no differences."""
    return np.zeros(len(X_test))


def ridge_survival(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
    """Cox's regression on all features with a penalty, chosen by the left-out partial likelihood.

    lam runs from 10 to 1e-4 times the largest eigenvalue of X'X over the number of rows.
    """
    X, X_test, scale = row_space(X, X_test)
    lam = scale / len(y) * np.geomspace(10, 1e-4, 6)
    rest = [np.setdiff1d(np.arange(len(y)), fold) for fold in inner]
    fits = np.stack([_cox(X[rows], y[rows], lam, X) for rows in rest])
    error, _ = left_out_deviance(y["time"], y["event"], inner, fits, USUAL)
    return np.asarray(_cox(X, y, lam[[int(np.argmin(error))]], X_test)[0])


def lasso_classes(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
    """Logistic regression with an l1 penalty, as glmnet's, tau by the inner log loss.

    Where it has no feature and the odds are even, the score of `majority`, next to 0.
    """
    f, left_out = logistic_lasso(X, y, X_test, inner)
    f = f - midpoint(y, left_out)
    return f if f.any() else 1e-9 * majority(X, y, X_test, inner, random_state)


def lasso_numbers(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
    """Least squares with an l1 penalty, tau by the squared inner error."""
    return squares_lasso(X, y, X_test, inner)


def lasso_survival(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
    """Cox's regression with an l1 penalty, tau by the left-out partial likelihood."""
    return cox_lasso(X, y, X_test, inner)


def _cox(X: Array, y: Array, lam: Array, X_test: Array) -> Array:
    """Return the scores of X_test at each lam, (L, n_test)."""
    risk = RiskSets.of(y["time"], y["event"], USUAL)
    mean = X.mean(axis=0)
    Z = (X - mean)[risk.order]
    return np.asarray(((X_test - mean) @ ridge(risk, Z, Z[:, :0], lam).b).T)


def _ridge(X: Array, y: Array, X_test: Array, inner: Folds) -> tuple[Array, Array]:
    """Least squares on all features with penalty α ||b||²; also scores of the rows left out.

    α runs from 1e-4 to 10 times the largest eigenvalue of X'X.
    """
    from sklearn.linear_model import Ridge

    def fit(alpha: float, A: Array, b: Array, A_test: Array) -> Array:
        return np.asarray(Ridge(alpha=alpha).fit(A, b).predict(A_test))

    X, X_test, scale = row_space(X, X_test)
    alpha, left_out = best_setting(fit, scale * np.geomspace(10, 1e-4, 6), X, y, inner, squared)
    return fit(alpha, X, y, X_test), left_out


def nearest_centroid(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
    """(||x - c₋||² - ||x - c₊||²) / n_features, with c± the mean of each class."""
    # By hand: scikit-learn's NearestCentroid refuses features that are constant in both classes.
    low = X[y < 0].mean(axis=0)
    high = X[y > 0].mean(axis=0)
    middle = (low + high) / 2
    return np.asarray(2 * (X_test - middle) @ (high - low) / X.shape[1])


def svm_classes(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
    """Linear support vector machine, C by the class-balanced inner error, smallest C at ties.

    C runs from .01 to 100 over the mean squared length of a row.
    """
    from sklearn.svm import SVC

    def fit(C: float, A: Array, b: Array, A_test: Array) -> Array:
        if len(np.unique(b)) < 2:
            return np.full(len(A_test), b[0])
        # Within its tolerance SVC says something else of -y: it sorts the rows by class.
        side = -b[0]
        return np.asarray(
            side * SVC(kernel="linear", C=C).fit(A, side * b).decision_function(A_test)
        )

    X, X_test, _ = row_space(X, X_test)
    penalties = np.geomspace(0.01, 100, 5) / _mean_square(X)
    C, left_out = best_setting(fit, penalties, X, y, inner, _balanced)
    return fit(C, X, y, X_test) - midpoint(y, left_out)


def svm_numbers(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
    """Linear support vector regression of the standardised response, C by the squared error."""
    from sklearn.svm import SVR

    centre = y.mean()
    scale = y.std() or 1.0

    def fit(C: float, A: Array, b: Array, A_test: Array) -> Array:
        z = (b - centre) / scale
        side = -1.0 if z[np.argmax(np.abs(z) > 0)] < 0 else 1.0  # as in `svm_classes`
        fitted = SVR(kernel="linear", C=C).fit(A, side * z)
        return np.asarray(centre + side * scale * fitted.predict(A_test))

    X, X_test, _ = row_space(X, X_test)
    penalties = np.geomspace(0.01, 100, 5) / _mean_square(X)
    C, _ = best_setting(fit, penalties, X, y, inner, squared)
    return fit(C, X, y, X_test)


def forest_classes(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
    """Random forest, share of votes for +1 minus share for -1; scikit-learn's defaults.

    A training row is left out by the trees whose bootstrap sample lacks it.
    """
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(TREES, random_state=random_state, n_jobs=1, oob_score=True).fit(
        X, y
    )
    left_out = forest.oob_decision_function_ @ forest.classes_
    return np.asarray(forest.predict_proba(X_test) @ forest.classes_ - midpoint(y, left_out))


def forest_numbers(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
    """Random forest, a third of the features at each node (Breiman 2001)."""
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(TREES, max_features=1 / 3, random_state=random_state, n_jobs=1)
    return np.asarray(forest.fit(X, y).predict(X_test))


def pcr_classes(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
    """Least squares on the first principal components, how many by the squared inner error."""
    f, left_out = _components(X, y, X_test, inner, (None,))
    return f - midpoint(y, left_out)


def pcr_numbers(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
    """Least squares on the first principal components, how many by the squared inner error."""
    return _components(X, y, X_test, inner, (None,))[0]


def kernel_pcr_classes(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
    """Least squares on kernel principal components, m and width by the squared inner error."""
    f, left_out = _components(X, y, X_test, inner, WIDTHS)
    return f - midpoint(y, left_out)


def kernel_pcr_numbers(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
    """Least squares on kernel principal components, m and width by the squared inner error."""
    return _components(X, y, X_test, inner, WIDTHS)[0]


def _components(
    X: Array, y: Array, X_test: Array, inner: Folds, widths: Sequence[float | None]
) -> tuple[Array, Array]:
    points = Points.of(np.vstack([X, X_test]), X.mean(axis=0))
    n = len(y)
    chosen = choose_components(points, y, inner, widths)
    train = np.arange(n)
    test = np.arange(n, n + len(X_test))
    alpha, intercept = component_regressions(points.kernel(train, train, chosen.width), y)
    m = min(chosen.components, len(intercept) - 1)
    f = intercept[m] + points.kernel(test, train, chosen.width) @ alpha[:, m]
    return f, chosen.left_out


def row_space(X: Array, X_test: Array) -> tuple[Array, Array, float]:
    """Rotate to the coordinates of the row space of X; also return the largest eigenvalue of X'X.

    Scores of ridge and of the linear machines depend on inner products only, so this changes
    nothing but the time: n_train features instead of thousands.
    """
    if len(X) > X.shape[1]:
        return X, X_test, float(np.linalg.norm(X, 2) ** 2) or 1.0
    values, U = np.linalg.eigh(X @ X.T)
    kept = values > len(X) * np.finfo(float).eps * values[-1]
    length = np.sqrt(values[kept])
    U = U[:, kept]
    return U * length, X_test @ X.T @ (U / length), float(values[-1]) or 1.0


def _mean_square(X: Array) -> float:
    return float(np.mean(np.sum(np.square(X), axis=1))) or 1.0


def best_setting(
    fit: Score,
    settings: Array,
    X: Array,
    y: Array,
    inner: Folds,
    error: Callable[[Array, Array], float],
) -> tuple[float, Array]:
    """Return the first setting with the smallest inner error, and its scores of rows left out."""
    tried = np.full((len(settings), len(y)), np.nan)
    for f, setting in zip(tried, map(float, settings), strict=True):
        for fold in inner:
            rest = np.setdiff1d(np.arange(len(y)), fold)
            f[fold] = fit(setting, X[rest], y[rest], X[fold])
    known = ~np.isnan(tried[0])
    best = int(np.argmin([error(y[known], f[known]) for f in tried]))
    return float(settings[best]), tried[best]


def squared(y: Array, f: Array) -> float:
    """Return the mean squared error of scores f."""
    return float(np.mean(np.square(y - f)))


def _balanced(y: Array, f: Array) -> float:
    f = f - midpoint(y, f)
    return float(np.mean([np.mean(y[y == c] * f[y == c] <= 0) for c in np.unique(y)]))


def midpoint(y: Array, left_out: Array) -> float:
    """Return the mean of the class means of scores of rows left out, 0 where a class has none."""
    means = [left_out[(y == c) & ~np.isnan(left_out)] for c in np.unique(y)]
    return float(np.mean([f.mean() for f in means])) if all(map(len, means)) else 0.0


_OWN: dict[str, dict[str, Baseline]] = {
    "dummy": {
        "classification": majority,
        SEVERAL: majority_several,
        "regression": mean,
        "survival": no_order,
    },
    "ridge": {
        "classification": ridge_classes,
        SEVERAL: one_against_rest(ridge_classes),
        "regression": ridge_numbers,
        "survival": ridge_survival,
    },
    "lasso": {
        "classification": lasso_classes,
        SEVERAL: one_against_rest(lasso_classes),
        "regression": lasso_numbers,
        "survival": lasso_survival,
    },
    "pcr": {
        "classification": pcr_classes,
        SEVERAL: one_against_rest(pcr_classes),
        "regression": pcr_numbers,
    },
    "kernel_pcr": {
        "classification": kernel_pcr_classes,
        SEVERAL: one_against_rest(kernel_pcr_classes),
        "regression": kernel_pcr_numbers,
    },
    "nearest_centroid": {"classification": nearest_centroid, SEVERAL: nearest_centroids},
    "linear_svm": {
        "classification": svm_classes,
        SEVERAL: one_against_rest(svm_classes),
        "regression": svm_numbers,
    },
    "random_forest": {
        "classification": forest_classes,
        SEVERAL: forest_several,
        "regression": forest_numbers,
    },
}


BASELINES: Registry[Mapping[str, Baseline]] = Registry("baselines", _OWN)


GRID = np.geomspace(100, 1e-4, 7)
"""Penalties, in multiples of the largest eigenvalue of Z'Z, Z the genes of the training rows."""


def ridge_beside(q: int) -> Mapping[str, Baseline]:
    """Return ``min ||y - a - Cg - Zb||² + α ||b||²`` of each kind of response.

    C (n, q) are the first columns of the rows, Z the genes. α by the squared error of the inner
    folds; of times Cox's regression, its penalty by the left-out partial likelihood.
    """

    def numbers(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
        return _least_squares(q, X, y, X_test, inner)[0]

    def classes(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
        f, left_out = _least_squares(q, X, y, X_test, inner)
        return f - midpoint(y, left_out)

    def times(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
        return _cox_beside(q, X, y, X_test, inner)

    return ByKind(
        {
            "classification": classes,
            SEVERAL: one_against_rest(classes),
            "regression": numbers,
            "survival": times,
        }
    )


def _least_squares(q: int, X: Array, y: Array, X_test: Array, inner: Folds) -> tuple[Array, Array]:
    from sklearn.linear_model import Ridge

    def fit(alpha: float, A: Array, b: Array, A_test: Array) -> Array:
        held, seen = (np.column_stack([np.ones(len(each)), each[:, :q]]) for each in (A, A_test))
        known = np.linalg.lstsq(held, np.column_stack([b, A[:, q:]]), rcond=None)[0]
        rest = np.column_stack([b, A[:, q:]]) - held @ known
        of_genes = Ridge(alpha=alpha, fit_intercept=False).fit(rest[:, 1:], rest[:, 0]).coef_
        return np.asarray(A_test[:, q:] @ of_genes + seen @ (known[:, 0] - known[:, 1:] @ of_genes))

    X, X_test, scale = _turned(q, X, X_test)
    alpha, left_out = best_setting(fit, scale * GRID, X, y, inner, squared)
    return fit(alpha, X, y, X_test), left_out


def _cox_beside(q: int, X: Array, y: Array, X_test: Array, inner: Folds) -> Array:
    X, X_test, scale = _turned(q, X, X_test)
    lam = scale / len(y) * GRID
    rest = [np.setdiff1d(np.arange(len(y)), fold) for fold in inner]
    fits = np.stack([_ridge_cox(q, X[rows], y[rows], lam, X) for rows in rest])
    error, _ = left_out_deviance(y["time"], y["event"], inner, fits, USUAL)
    return np.asarray(_ridge_cox(q, X, y, lam[[int(np.argmin(error))]], X_test)[0])


def _ridge_cox(q: int, X: Array, y: Array, lam: Array, X_test: Array) -> Array:
    """Return the scores of X_test at each lam, (L, n_test)."""
    risk = RiskSets.of(y["time"], y["event"], USUAL)
    mean = X.mean(axis=0)[q:]
    fixed = adjustment(np.ones((len(X), 1), dtype=bool), X[None, :, :q])
    Z = (X[:, q:] - mean)[risk.order]
    C = fixed.basis[0].T[risk.order]
    b = ridge(risk, Z, C, lam, ease=ease(risk, C)).b
    held = (X_test[:, :q] - fixed.mean[0]) @ fixed.turn[0]
    return np.asarray(((X_test[:, q:] - mean) @ b[: Z.shape[1]] + held @ b[Z.shape[1] :]).T)


def _turned(q: int, X: Array, X_test: Array) -> tuple[Array, Array, float]:
    """Return both with the genes in the coordinates of the row space of those that train."""
    Z, Z_test, scale = row_space(X[:, q:], X_test[:, q:])
    return np.hstack([X[:, :q], Z]), np.hstack([X_test[:, :q], Z_test]), scale
