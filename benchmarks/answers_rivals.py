"""Other methods for two classes (rivals), from scikit-learn, with their choices on inner folds.

A rival is a function of the standardised training rows Z (n, d; without genes that are constant
there), y = ±1, the standardised test rows, the (training, left-out) rows of each inner fold and a
seed. It returns the scores of the test rows, positive for the class +1, and the columns of Z that
it selects (None: no selection). Of equal inner errors the smallest model wins. Both classes have
the same weight in every fit and in every choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, RidgeClassifierCV
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from genesig.data.splits.folds import random_state
from genesig.results import Dataset, Split

Array = np.ndarray[Any, Any]
Folds = Sequence[tuple[Array, Array]]
ScoresAndGenes = tuple[Array, Array | None]
Rival = Callable[[Array, Array, Array, Folds, int], ScoresAndGenes]

# liblinear stops at a share of its first gradient; at its default of 1e-4 weak penalties kept 275
# genes of 81 samples, where the lasso cannot keep more than samples.
EXACT = {"solver": "liblinear", "l1_ratio": 1.0, "tol": 1e-7, "max_iter": 2000}
# liblinear penalises the intercept as if it were a gene of this value.
BALANCED_L1 = {"class_weight": "balanced", "intercept_scaling": 10.0}


def balanced_mean(y: Array, loss: Array) -> float:
    """Return the mean over the classes of their mean loss; loss (n,): of each sample."""
    return float(np.mean([loss[y == c].mean() for c in np.unique(y)]))


def balanced_accuracy(model: Any, Z: Array, y: Array) -> float:
    """Return the balanced accuracy of the signs of the scores; larger is better."""
    return balanced_mean(y, y * model.decision_function(Z) > 0)


def negative_log_loss(model: Any, Z: Array, y: Array) -> float:
    """Return minus the class-balanced log loss; larger is better."""
    return -balanced_mean(y, np.logaddexp(0, -y * model.decision_function(Z)))


def smallest_C(Z: Array, y: Array) -> float:
    """Return the C below which the class-balanced l1 logistic regression selects nothing.

    2 / max_j |Σ w_i y_i z_ij| with w_i = n/(2 n_c): at b = 0 the balanced intercept is 0.
    """
    weight = np.where(y > 0, 1 / np.sum(y > 0), 1 / np.sum(y < 0)) * len(y) / 2
    return float(2 / np.abs((weight * y) @ Z).max())


def even_odds(y: Array, n: int) -> Array:
    """Return the n scores of a model without genes: tiny, with the sign of the more frequent class.

    A score of 0 would count as wrong for both classes.
    """
    return np.full(n, 1e-9 * (np.sign(y.sum()) or -1.0))


def l1_logistic(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
    """Lasso-penalised logistic regression as in glmnet: path to .01 lambda_max, by log loss."""
    solver_options = {name: value for name, value in EXACT.items() if name != "l1_ratio"}
    model = LogisticRegressionCV(
        Cs=smallest_C(Z, y) * np.geomspace(1, 100, 20),
        l1_ratios=(1.0,),
        cv=inner,
        scoring=negative_log_loss,
        random_state=seed,
        use_legacy_attributes=False,
        **solver_options,
        **BALANCED_L1,
    ).fit(Z, y)
    return _l1_result(model, y, Z_test)


def l1_logistic_as_is(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
    """Lasso-penalised logistic regression with scikit-learn's tolerance; 10 C by balanced error.

    It is common use. It stops long before it converges, so that its lists are longer.
    """
    model = LogisticRegressionCV(
        l1_ratios=(1.0,),
        solver="liblinear",
        class_weight="balanced",
        cv=inner,
        scoring=balanced_accuracy,
        random_state=seed,
        use_legacy_attributes=False,
    ).fit(Z, y)
    return _l1_result(model, y, Z_test)


def _l1_result(model: LogisticRegressionCV, y: Array, Z_test: Array) -> ScoresAndGenes:
    """Return the scores of the test rows and the selected genes of a fitted model."""
    genes = np.flatnonzero(model.coef_)
    scores = model.decision_function(Z_test) if len(genes) else even_odds(y, len(Z_test))
    return scores, genes


def linear_svm(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
    """Linear SVM; C from .01 to 100 over the mean squared length of a row, by balanced error."""
    grid = np.geomspace(0.01, 100, 9) / np.mean(np.sum(np.square(Z), axis=1))
    machine = SVC(kernel="linear", class_weight="balanced")
    model = GridSearchCV(
        machine, {"C": grid}, scoring=balanced_accuracy, cv=inner, error_score="raise"
    )
    return model.fit(Z, y).decision_function(Z_test), None


def ridge(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
    """Ridge; penalty from 1e-4 to 10 times the largest eigenvalue of Z'Z, by leave-one-out error.

    Leave-one-out errors have a closed form; inner folds would estimate the same less well.
    """
    return _ridge(Z, y).decision_function(Z_test), None


def _ridge(Z: Array, y: Array) -> RidgeClassifierCV:
    """Return the fitted classifier of `ridge`."""
    largest = float(np.linalg.norm(Z, 2) ** 2)
    alphas = largest * np.geomspace(10, 1e-4, 11)
    return RidgeClassifierCV(alphas, class_weight="balanced").fit(Z, y)


def random_forest(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
    """Random forest of 501 trees (odd, so that votes do not tie) without any choice."""
    forest = RandomForestClassifier(501, class_weight="balanced", random_state=seed, n_jobs=1)
    return forest.fit(Z, y).predict_proba(Z_test)[:, 1] - 0.5, None


def shrunken_centroids(
    Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int
) -> ScoresAndGenes:
    """Tibshirani et al. 2002: 30 thresholds from none to the largest deviation, uniform priors.

    scikit-learn's score is their discriminant, twice the log odds.
    """
    max_deviation = float(np.abs(NearestCentroid().fit(Z, y).deviations_).max())
    grid = [*np.linspace(max_deviation, 0, 30, endpoint=False)[1:], None]
    model = GridSearchCV(
        NearestCentroid(),
        {"shrink_threshold": grid},
        scoring=balanced_accuracy,
        cv=inner,
        error_score="raise",
    ).fit(Z, y)
    is_selected = np.abs(model.best_estimator_.deviations_).max(axis=0) > 0
    return model.decision_function(Z_test) / 2, np.flatnonzero(is_selected)


def stability_selection(
    Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int
) -> ScoresAndGenes:
    """Meinshausen and Buhlmann 2010: genes in 75 % of 50 lasso lists of half samples; then ridge.

    A list has the weakest penalty (down to .01 lambda_max) with at most q genes, so that their
    bound q²/((2 · .75 - 1) d) on the number of false genes is 1. Without genes the more frequent
    class is predicted.
    """
    max_genes = int(np.sqrt((2 * 0.75 - 1) * Z.shape[1]))
    halves = StratifiedShuffleSplit(50, train_size=0.5, random_state=seed)
    counts = np.zeros(Z.shape[1])
    for rows, _ in halves.split(Z, y):
        counts[_select_at_most(Z[rows], y[rows], max_genes, seed)] += 1
    selected = np.flatnonzero(counts >= 0.75 * 50)
    if len(selected) == 0:
        return np.full(len(Z_test), np.sign(y.sum()) or -1.0), selected
    return _ridge(Z[:, selected], y).decision_function(Z_test[:, selected]), selected


def _select_at_most(Z: Array, y: Array, max_genes: int, seed: int) -> Array:
    """Return the genes by the weakest of ten lasso penalties that selects at most `max_genes`."""
    for C in smallest_C(Z, y) * np.geomspace(100, 1, 10):  # at the last C no gene is selected
        model = LogisticRegression(C=C, random_state=seed, **EXACT, **BALANCED_L1).fit(Z, y)
        if np.count_nonzero(model.coef_) <= max_genes:
            break
    return np.flatnonzero(model.coef_)


def t_test_lda(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
    """Linear discriminant analysis of the k genes of the largest |t|; k by inner folds.

    Equal priors, covariance shrunk as by Ledoit and Wolf. Each inner fold has its own t-tests.
    """
    analysis = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto", priors=[0.5, 0.5])
    grid = {"selectkbest__k": [k for k in (5, 10, 20, 50, 100) if k <= Z.shape[1]]}
    model = GridSearchCV(
        make_pipeline(SelectKBest(f_classif), analysis),
        grid,
        scoring=balanced_accuracy,
        cv=inner,
        error_score="raise",
    ).fit(Z, y)
    return model.decision_function(Z_test), model.best_estimator_[0].get_support(indices=True)


RIVALS: dict[str, Rival] = {
    "l1 logistic": l1_logistic,
    "l1 logistic, as is": l1_logistic_as_is,
    "linear SVM": linear_svm,
    "ridge": ridge,
    "random forest": random_forest,
    "shrunken centroids": shrunken_centroids,
    "stability selection": stability_selection,
    "t-test + LDA": t_test_lda,
}


def run_on_split(
    rival: Rival, dataset: Dataset, split: Split, seed: int
) -> tuple[Array, list[int] | None]:
    """Return the scores of the test samples, and the selected genes as columns of the data set.

    If a split has no test samples, as a half has none, the training samples are scored. Genes: None
    for a rival that selects none.
    """
    train = dataset.rows(split.train)
    test = dataset.rows(split.test)
    varying_genes = np.flatnonzero(np.ptp(dataset.X[train], axis=0) > 0)
    scale = StandardScaler().fit(dataset.X[np.ix_(train, varying_genes)])
    scored = test if len(test) else train  # scikit-learn refuses an empty matrix
    Z, Z_test = (
        scale.transform(dataset.X[np.ix_(rows, varying_genes)]) for rows in (train, scored)
    )
    row_of_Z = {row: number for number, row in enumerate(train.tolist())}
    folds = []
    for fold in split.inner:
        left_out = np.sort([row_of_Z[row] for row in dataset.rows(fold).tolist()])
        folds.append((np.setdiff1d(np.arange(len(train)), left_out), left_out))
    y = dataset.response()[train]
    scores, genes = rival(Z, y, Z_test, folds, random_state(seed, split.seed))
    return scores, None if genes is None else varying_genes[genes].tolist()
