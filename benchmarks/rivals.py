"""The rivals of each kind of response, as whole procedures: `answers_rivals` has their arguments.

y is the response of the data set: ±1, numbers of classes, numbers, or times and events. Scores of
classes are log odds as if all classes were equally frequent; of more than two classes there is a
column for each, against all others. Scores of times are log hazards. The scores of rivals in
`NOT_ODDS` only decide. Rivals that choose the length of a list halve it from step to step.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from answers_rivals import (
    Array,
    Folds,
    Rival,
    ScoresAndGenes,
    even_odds,
    l1_logistic,
    shrunken_centroids,
    t_test_lda,
)
from by_glmnet import by_glmnet
from scipy.special import log_expit, logsumexp
from selections import knockoffs, stability_selection, stabl
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import (
    ElasticNetCV,
    LogisticRegression,
    LogisticRegressionCV,
    RidgeCV,
)
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR

from genesig.models.baselines import ridge_survival
from genesig.optim.cox.path import cox_path
from genesig.optim.cox.risk_sets import DEFAULT_TIES, left_out_deviance
from genesig.optim.cox.training import FollowUp, cox_sets
from genesig.response.kinds import martingale_residuals

TREES = 101
BOOSTS = 50
TWO = "classification"
SEVERAL = "several_classes"
NUMBERS = "regression"
TIMES = "survival"
BALANCED = {"scoring": "balanced_accuracy", "error_score": "raise"}


def as_numbers(y: Array) -> Array:
    """Return the response as numbers; times and events as martingale residuals without effects."""
    return martingale_residuals(y) if y.dtype.names else y


def one_vs_rest(rival: Rival) -> Rival:
    """Return a rival for several classes of one for two: each class against all others.

    The rival's odds give both sides equal weight. If each of T classes has the weight 1/T, the odds
    of a class are 1/(T - 1) of these. Scores are the logarithms of the shares.
    """

    def several(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
        class_results = [
            rival(Z, np.where(y == c, 1.0, -1.0), Z_test, inner, seed) for c in np.unique(y)
        ]
        genes = np.unique(
            np.concatenate(
                [class_genes for _, class_genes in class_results if class_genes is not None]
            )
        )
        scores = np.column_stack([scores for scores, _ in class_results])
        return log_expit(scores - np.log(scores.shape[1] - 1)), genes.astype(np.int64)

    return several


def log_odds(rival: Rival) -> Rival:
    """Return a rival whose columns are log odds, of one whose scores are logarithms of shares.

    A number that a sample adds to all its columns, as its length does for centroids, then cancels
    and orders no samples. Of equal scores, as without genes, that of the most frequent class wins.
    """

    def against_others(
        Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int
    ) -> ScoresAndGenes:
        f, genes = rival(Z, y, Z_test, inner, seed)
        size = np.unique(y, return_counts=True)[1]
        f = f + 1e-9 * np.argsort(np.argsort(size, kind="stable"), kind="stable")
        log_sum_of_others = [logsumexp(np.delete(f, c, axis=1), axis=1) for c in range(f.shape[1])]
        return f - np.column_stack(log_sum_of_others), genes

    return against_others


def elastic_net(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
    """Logistic regression, l1 ratio .5, by scikit-learn's saga, 6 penalties; by balanced error.

    Fits end after 100 rounds, whether they have converged or not.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # Twice the C below which no gene enters (`first_gene`): half of the penalty is l1.
        gradient = np.abs(Z.T @ np.column_stack([y == c for c in np.unique(y)])).max()
        model = LogisticRegressionCV(
            Cs=2 / gradient * np.geomspace(2, 100, 6),
            l1_ratios=(0.5,),
            solver="saga",
            cv=inner,
            max_iter=100,
            tol=1e-3,
            class_weight="balanced",
            scoring="balanced_accuracy",
            random_state=seed,
            use_legacy_attributes=False,
        ).fit(Z, y)
    return model.decision_function(Z_test), np.flatnonzero(np.abs(model.coef_).max(axis=0))


def net_of_numbers(ratio: float) -> Rival:
    """Return least squares with l1 share `ratio` of the penalty, chosen by inner squared error."""

    def fit(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = ElasticNetCV(l1_ratio=ratio, alphas=30, eps=0.02, cv=inner).fit(Z, y)
        return model.predict(Z_test), np.flatnonzero(model.coef_)

    return fit


def cox_net(ratio: float) -> Rival:
    """Return Cox's regression with l1 share `ratio` of the penalty, by genesig's solver.

    The penalty is chosen by the deviance of the samples that inner folds leave out.
    """

    def fit(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
        # Training sets are columns: 0 has all rows, k those without the inner fold k - 1.
        rows = np.ones((len(y), 1 + len(inner)), dtype=bool)
        for k, (_, left_out) in enumerate(inner, 1):
            rows[left_out, k] = False
        sets = cox_sets(
            Z,
            FollowUp(y["time"], y["event"]),
            rows,
            centre=True,
            unit_variance=False,
            ties=DEFAULT_TIES,
            norm=np.ones(rows.shape[1]),
        )
        tau = sets.training_sets.tau_max[:, None] * np.geomspace(1, 0.05, 20)
        path = cox_path(sets, tau, tau / 2 / ratio * (1 - ratio), tolerance=1e-5)
        fits = np.zeros((len(inner), 20, len(y)))
        for k, m in np.ndindex(fits.shape[:2]):
            genes, values = path.coef(k + 1, m)
            fits[k, m] = (Z[:, genes] - sets.training_sets.mean[k + 1, genes]) @ values
        error, _ = left_out_deviance(
            y["time"], y["event"], [left_out for _, left_out in inner], fits, DEFAULT_TIES
        )
        genes, values = path.coef(0, int(np.argmin(error)))
        return (Z_test[:, genes] - sets.training_sets.mean[0, genes]) @ values, genes

    return fit


def centroids_several(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
    """Shrunken centroids of several classes, as `shrunken_centroids`."""
    max_deviation = float(np.abs(NearestCentroid().fit(Z, y).deviations_).max())
    grid = [*np.linspace(max_deviation, 0, 30, endpoint=False)[1:], None]
    search = GridSearchCV(NearestCentroid(), {"shrink_threshold": grid}, cv=inner, **BALANCED)
    model = search.fit(Z, y).best_estimator_
    is_selected = np.abs(model.deviations_).max(axis=0) > 0
    return model.decision_function(Z_test) / 2, np.flatnonzero(is_selected)


def f_test_lda(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
    """Take the k genes of the largest F, then linear discriminant analysis, as `t_test_lda`."""
    T = len(np.unique(y))
    analysis = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto", priors=[1 / T] * T)
    grid = {"selectkbest__k": [k for k in (5, 10, 20, 50, 100) if k <= Z.shape[1]]}
    search = GridSearchCV(
        make_pipeline(SelectKBest(f_classif), analysis), grid, cv=inner, **BALANCED
    )
    model = search.fit(Z, y).best_estimator_
    return model.decision_function(Z_test), model[0].get_support(indices=True)


def forest(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
    """Random forest with elimination (Diaz-Uriarte and Alvarez de Andres 2006).

    101 trees, an odd number, so that votes on two classes do not tie. Importances are those of the
    first forest. The list is the shortest whose out-of-bag error is at most one standard error
    above the smallest.
    """
    is_regression = y.dtype.names or _is_continuous(y)
    r = as_numbers(y)

    def grow_forest(columns: Array) -> tuple[Any, Array]:
        """Return a forest on some genes, and the out-of-bag loss of each sample."""
        options = {"oob_score": True, "random_state": seed, "n_jobs": 1}
        if is_regression:
            model = RandomForestRegressor(TREES, **options).fit(Z[:, columns], r)
            return model, np.square(r - model.oob_prediction_)
        model = RandomForestClassifier(TREES, class_weight="balanced", **options)
        model.fit(Z[:, columns], r)
        called = model.classes_[np.argmax(model.oob_decision_function_, axis=1)]
        classes, class_of_sample, sizes = np.unique(r, return_inverse=True, return_counts=True)
        # Weights give each class the same sum.
        return model, (called != r) * (len(r) / len(classes) / sizes[class_of_sample])

    order = np.arange(Z.shape[1])
    tried = []
    for length in _halve_genes(Z.shape[1], least=2):
        model, loss = grow_forest(order[:length])
        if not tried:  # the first forest has all genes
            order = np.argsort(-model.feature_importances_, kind="stable")
        tried.append((length, loss.mean(), loss.std() / np.sqrt(len(loss)), model))
    best = min(tried, key=lambda trial: trial[1])
    length, _, _, model = [trial for trial in tried if trial[1] <= best[1] + best[2]][-1]
    # The first forest has its columns in the order of the data.
    columns = np.arange(length) if length == Z.shape[1] else order[:length]
    return _forest_scores(model, Z_test[:, columns]), np.sort(columns)


def boosting(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
    """scikit-learn's histogram boosting, 50 rounds of .1, leaves of 5 samples or more."""
    keys: dict[str, Any] = {"max_iter": BOOSTS, "min_samples_leaf": 5, "random_state": seed}
    if y.dtype.names or _is_continuous(y):
        return HistGradientBoostingRegressor(**keys).fit(Z, as_numbers(y)).predict(Z_test), None
    model = HistGradientBoostingClassifier(class_weight="balanced", **keys).fit(Z, y)
    return model.decision_function(Z_test), None


def svm_rfe(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
    """Linear SVM, C = 1, that drops the half of the genes with the least weights, again and again.

    The number of genes that stay is chosen by the inner folds, each of which eliminates by itself;
    of equal losses the fewest. Guyon et al. 2002.
    """
    loss = np.zeros(len(_halve_genes(Z.shape[1], least=4)))
    for train, left_out in inner:
        for step, (genes, model) in enumerate(_eliminate_genes(Z[train], y[train])):
            predicted = model.predict(Z[np.ix_(left_out, genes)])
            loss[step] += (
                np.mean(np.square(predicted - y[left_out]))
                if _is_continuous(y)
                else 1 - balanced_accuracy_score(y[left_out], predicted)
            )
    best = len(loss) - 1 - int(np.argmin(loss[::-1]))
    genes, model = list(_eliminate_genes(Z, y))[best]
    score = model.predict if _is_continuous(y) else model.decision_function
    return score(Z_test[:, genes]), np.sort(genes)


def _eliminate_genes(Z: Array, y: Array) -> list[tuple[Array, Any]]:
    """Return genes and model of each step, from all genes to the shortest list."""
    genes = np.arange(Z.shape[1])
    steps = []
    for length in _halve_genes(Z.shape[1], least=4):
        if steps:
            weight = np.sum(np.square(steps[-1][1].coef_), axis=0)
            genes = genes[np.argsort(-weight, kind="stable")[:length]]
        machine = (
            SVR(kernel="linear", C=1.0 * (np.std(y) or 1))
            if _is_continuous(y)
            else SVC(kernel="linear", C=1.0, class_weight="balanced")
        )
        steps.append((genes, machine.fit(Z[:, genes], y)))
    return steps


def _halve_genes(d: int, least: int) -> list[int]:
    """Return d, d // 2, d // 4 and so on, down to `least`; d alone if it is smaller."""
    return [d >> k for k in range(d.bit_length()) if d >> k >= min(least, d)]


def _is_continuous(y: Array) -> bool:
    """Tell whether y has numbers: neither times, nor classes, which are ±1 or numbered from 0."""
    return not y.dtype.names and not np.isin(y, [-1, *range(20)]).all()


def _forest_scores(model: Any, Z: Array) -> Array:
    """Return a forest's scores: means of numbers; for classes log odds, or logs, of vote shares.

    No share is 0 or 1. Two classes have log odds, more have the logarithm for each class.
    """
    if not hasattr(model, "predict_proba"):
        return np.asarray(model.predict(Z))
    share = np.clip(model.predict_proba(Z), 0.5 / TREES, 1 - 0.5 / TREES)
    return np.log(share[:, 1] / share[:, 0]) if share.shape[1] == 2 else np.log(share)


def fit_selected(select: Callable[[Array, Array, int], Array]) -> Rival:
    """Return a rival: a logistic, ridge or Cox model of the genes that `select` returns.

    select: takes Z, the response as numbers and a seed. A model without genes predicts the mean.
    """

    def fit(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
        selected_genes = select(Z, as_numbers(y), seed)
        A = Z[:, selected_genes]
        A_test = Z_test[:, selected_genes]
        if y.dtype.names:
            folds = [left_out for _, left_out in inner]
            test_scores = (
                ridge_survival(A, y, A_test, folds, seed)
                if len(selected_genes)
                else A_test.sum(axis=1)
            )
        elif _is_continuous(y):
            test_scores = (
                RidgeCV().fit(A, y).predict(A_test)
                if len(selected_genes)
                else np.full(len(A_test), y.mean())
            )
        elif len(selected_genes):
            model = LogisticRegression(class_weight="balanced").fit(A, y)
            test_scores = model.decision_function(A_test)
        else:
            test_scores = even_odds(y, len(A_test))
        return np.asarray(test_scores), selected_genes

    return fit


OF_GENES = {"stability selection": stability_selection, "Stabl": stabl, "knockoffs": knockoffs}
ALL_KINDS: dict[str, Rival] = {"random forest, elimination": forest, "boosting": boosting}
SELECTED: dict[str, Rival] = {name: fit_selected(select) for name, select in OF_GENES.items()}

RIVALS: dict[str, dict[str, Rival]] = {
    TWO: {
        "l1": l1_logistic,
        "elastic net": elastic_net,
        "shrunken centroids": shrunken_centroids,
        "t-test + LDA": t_test_lda,
        "SVM-RFE": svm_rfe,
        **ALL_KINDS,
        **SELECTED,
    },
    SEVERAL: {
        "l1": one_vs_rest(l1_logistic),
        "elastic net": elastic_net,
        "shrunken centroids": centroids_several,
        "t-test + LDA": f_test_lda,
        "SVM-RFE": svm_rfe,
        **ALL_KINDS,
    },
    NUMBERS: {
        "l1": net_of_numbers(1.0),
        "elastic net": net_of_numbers(0.5),
        "SVM-RFE": svm_rfe,
        **ALL_KINDS,
        **SELECTED,
    },
    TIMES: {"l1": cox_net(1.0), "elastic net": cox_net(0.5), **ALL_KINDS, **SELECTED},
}
NOT_ODDS = ("SVM-RFE",)
for kind, known in RIVALS.items():
    known |= {"l1 (glmnet)": by_glmnet(kind, 1.0), "elastic net (glmnet)": by_glmnet(kind, 0.5)}
RIVALS[SEVERAL] = {
    name: rival if name in NOT_ODDS else log_odds(rival) for name, rival in RIVALS[SEVERAL].items()
}

GROUPS = {
    "genesig": ("genesig", "FDR-selected genes"),
    "penalties": ("l1", "elastic net", "shrunken centroids", "t-test + LDA", "SVM-RFE"),
    "trees": tuple(ALL_KINDS),
    "selections": tuple(OF_GENES),
    "glmnet": ("l1 (glmnet)", "elastic net (glmnet)"),
}
"""Methods that one job runs, as they take about the same time."""
