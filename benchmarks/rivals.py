"""Other methods (rivals) for each kind of response; `answers_rivals` explains their arguments.

y is the response of the data set: ±1, numbers of classes, numbers, or times and events. Scores of
classes are log odds as if all classes were equally frequent; several classes have a column each,
against all others. Scores of times are log hazards. Scores of rivals in `NOT_ODDS` are no log odds
and only tell the class. Rivals that choose the length of a list halve it from step to step.
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

N_TREES = 101
N_BOOSTING_ROUNDS = 50
N_TAU = 20  # penalties of Cox's regression
BALANCED_SEARCH = {"scoring": "balanced_accuracy", "error_score": "raise"}


def as_numbers(y: Array) -> Array:
    """Return the response as numbers; times and events as martingale residuals without effects."""
    return martingale_residuals(y) if y.dtype.names else y


def one_vs_rest(rival: Rival) -> Rival:
    """Return a rival for several classes that runs a rival for two on each class against the rest.

    The rival's odds give both sides equal weight. If each of T classes has the weight 1/T, the odds
    of a class are 1/(T - 1) of these. Scores (n, T) are logarithms of class shares.
    """

    def several(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
        class_results = [
            rival(Z, np.where(y == c, 1.0, -1.0), Z_test, inner, seed) for c in np.unique(y)
        ]
        gene_lists = [genes for _, genes in class_results if genes is not None]
        genes = np.unique(np.concatenate(gene_lists))
        scores = np.column_stack([scores for scores, _ in class_results])
        return log_expit(scores - np.log(scores.shape[1] - 1)), genes.astype(np.int64)

    return several


def log_odds(rival: Rival) -> Rival:
    """Return a rival with log odds (n, T), from a rival with logarithms of class shares.

    A number that is added to all scores of a sample, such as its length for centroids, cancels. If
    all scores of a sample are equal, as without genes, the most frequent class wins.
    """

    def against_others(
        Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int
    ) -> ScoresAndGenes:
        f, genes = rival(Z, y, Z_test, inner, seed)
        class_sizes = np.unique(y, return_counts=True)[1]
        size_ranks = np.argsort(np.argsort(class_sizes, kind="stable"), kind="stable")
        f = f + 1e-9 * size_ranks  # decides between equal scores
        log_sum_of_others = [logsumexp(np.delete(f, c, axis=1), axis=1) for c in range(f.shape[1])]
        return f - np.column_stack(log_sum_of_others), genes

    return against_others


def elastic_net(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
    """Logistic regression, l1 ratio .5, by scikit-learn's saga; 6 penalties by balanced error.

    Fits end after 100 rounds, whether they have converged or not.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # A gene enters at C = 2 / gradient, as only half of the penalty is l1.
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


def squared_error_net(l1_share: float) -> Rival:
    """Return an elastic net with squared error; inner squared error chooses the penalty."""

    def fit(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = ElasticNetCV(l1_ratio=l1_share, alphas=30, eps=0.02, cv=inner).fit(Z, y)
        return model.predict(Z_test), np.flatnonzero(model.coef_)

    return fit


def cox_net(l1_share: float) -> Rival:
    """Return Cox's elastic net by genesig's solver; the left-out deviance chooses the penalty."""

    def fit(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
        # Training sets are columns: 0 has all rows, k all rows without the inner fold k - 1.
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
        tau = sets.training_sets.tau_max[:, None] * np.geomspace(1, 0.05, N_TAU)
        mu = tau / 2 / l1_share * (1 - l1_share)  # so that l1_share = tau / (tau + 2 mu)
        path = cox_path(sets, tau, mu, tolerance=1e-5)
        scores = np.zeros((len(inner), N_TAU, len(y)))
        for k, m in np.ndindex(scores.shape[:2]):
            genes, values = path.coef(k + 1, m)
            scores[k, m] = (Z[:, genes] - sets.training_sets.mean[k + 1, genes]) @ values
        left_out_rows = [left_out for _, left_out in inner]
        error, _ = left_out_deviance(y["time"], y["event"], left_out_rows, scores, DEFAULT_TIES)
        genes, values = path.coef(0, int(np.argmin(error)))
        return (Z_test[:, genes] - sets.training_sets.mean[0, genes]) @ values, genes

    return fit


def centroids_several(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
    """Shrunken centroids of several classes; see `shrunken_centroids` of answers_rivals.py."""
    max_deviation = float(np.abs(NearestCentroid().fit(Z, y).deviations_).max())
    grid = [*np.linspace(max_deviation, 0, 30, endpoint=False)[1:], None]
    search = GridSearchCV(
        NearestCentroid(), {"shrink_threshold": grid}, cv=inner, **BALANCED_SEARCH
    )
    model = search.fit(Z, y).best_estimator_
    is_selected = np.abs(model.deviations_).max(axis=0) > 0
    return model.decision_function(Z_test) / 2, np.flatnonzero(is_selected)


def f_test_lda(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
    """Linear discriminant analysis of the k genes of the largest F; see `t_test_lda`."""
    T = len(np.unique(y))
    analysis = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto", priors=[1 / T] * T)
    grid = {"selectkbest__k": [k for k in (5, 10, 20, 50, 100) if k <= Z.shape[1]]}
    search = GridSearchCV(
        make_pipeline(SelectKBest(f_classif), analysis), grid, cv=inner, **BALANCED_SEARCH
    )
    model = search.fit(Z, y).best_estimator_
    return model.decision_function(Z_test), model[0].get_support(indices=True)


def forest(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
    """Random forest with elimination of genes (Diaz-Uriarte and Alvarez de Andres 2006).

    101 trees, an odd number, so that votes on two classes do not tie. Importances of the first
    forest, with all genes, rank the genes. The list is the shortest whose out-of-bag error is at
    most one standard error above the smallest.
    """
    is_regression = y.dtype.names or _is_continuous(y)
    r = as_numbers(y)

    def grow_forest(columns: Array) -> tuple[Any, Array]:
        """Return a forest on some genes, and the out-of-bag loss (n,) of each sample."""
        options = {"oob_score": True, "random_state": seed, "n_jobs": 1}
        if is_regression:
            model = RandomForestRegressor(N_TREES, **options).fit(Z[:, columns], r)
            return model, np.square(r - model.oob_prediction_)
        model = RandomForestClassifier(N_TREES, class_weight="balanced", **options)
        model.fit(Z[:, columns], r)
        predicted = model.classes_[np.argmax(model.oob_decision_function_, axis=1)]
        classes, class_of_sample, sizes = np.unique(r, return_inverse=True, return_counts=True)
        # Weights give each class the same sum.
        return model, (predicted != r) * (len(r) / len(classes) / sizes[class_of_sample])

    order = np.arange(Z.shape[1])
    trials = []
    for length in _halve_genes(Z.shape[1], least=2):
        columns = order[:length]
        model, loss = grow_forest(columns)
        if not trials:
            order = np.argsort(-model.feature_importances_, kind="stable")
        trials.append((loss.mean(), loss.std() / np.sqrt(len(loss)), columns, model))
    smallest_loss, standard_error, _, _ = min(trials, key=lambda trial: trial[0])
    accepted = [trial for trial in trials if trial[0] <= smallest_loss + standard_error]
    _, _, columns, model = accepted[-1]
    return _scores_of_forest(model, Z_test[:, columns]), np.sort(columns)


def boosting(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
    """scikit-learn's histogram boosting, 50 rounds with rate .1, leaves of 5 samples or more."""
    options = {"max_iter": N_BOOSTING_ROUNDS, "min_samples_leaf": 5, "random_state": seed}
    if y.dtype.names or _is_continuous(y):
        return HistGradientBoostingRegressor(**options).fit(Z, as_numbers(y)).predict(Z_test), None
    model = HistGradientBoostingClassifier(class_weight="balanced", **options).fit(Z, y)
    return model.decision_function(Z_test), None


def svm_rfe(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
    """Linear SVM, C = 1, that repeatedly drops the half of the genes with the smallest weights.

    The inner folds, each with its own elimination, choose the number of genes; of equal losses the
    fewest. Guyon et al. 2002.
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
    score_genes = model.predict if _is_continuous(y) else model.decision_function
    return score_genes(Z_test[:, genes]), np.sort(genes)


def _eliminate_genes(Z: Array, y: Array) -> list[tuple[Array, Any]]:
    """Return genes and model of each step of `svm_rfe`, from all genes to the shortest list."""
    genes = np.arange(Z.shape[1])
    steps = []
    for length in _halve_genes(Z.shape[1], least=4):
        if steps:
            _, previous_model = steps[-1]
            weights = np.sum(np.square(previous_model.coef_), axis=0)
            genes = genes[np.argsort(-weights, kind="stable")[:length]]
        svm = (
            SVR(kernel="linear", C=1.0 * (np.std(y) or 1))
            if _is_continuous(y)
            else SVC(kernel="linear", C=1.0, class_weight="balanced")
        )
        steps.append((genes, svm.fit(Z[:, genes], y)))
    return steps


def _halve_genes(d: int, least: int) -> list[int]:
    """Return d, d // 2, d // 4 and so on, down to `least`; d alone if it is smaller."""
    return [d >> k for k in range(d.bit_length()) if d >> k >= min(least, d)]


def _is_continuous(y: Array) -> bool:
    """Return whether y has numbers: neither times, nor classes, which are ±1 or 0, 1, 2, …."""
    return not y.dtype.names and not np.isin(y, [-1, *range(20)]).all()


def _scores_of_forest(model: Any, Z: Array) -> Array:
    """Return a forest's scores: means of numbers, or log odds of the vote shares of two classes.

    Several classes have logarithms of vote shares (n, T). No share is 0 or 1.
    """
    if not hasattr(model, "predict_proba"):
        return np.asarray(model.predict(Z))
    share = np.clip(model.predict_proba(Z), 0.5 / N_TREES, 1 - 0.5 / N_TREES)
    return np.log(share[:, 1] / share[:, 0]) if share.shape[1] == 2 else np.log(share)


def fit_selected(select: Callable[[Array, Array, int], Array]) -> Rival:
    """Return a rival: a logistic, ridge or ridge Cox model of the genes that `select` returns.

    select: function of Z, the response as numbers and a seed. Without genes, the mean or the more
    frequent class is predicted.
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
                else np.zeros(len(A_test))
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


SELECTORS = {"stability selection": stability_selection, "Stabl": stabl, "knockoffs": knockoffs}
RIVALS_OF_ALL_KINDS: dict[str, Rival] = {"random forest, elimination": forest, "boosting": boosting}
SELECTOR_RIVALS = {name: fit_selected(select) for name, select in SELECTORS.items()}

RIVALS: dict[str, dict[str, Rival]] = {
    "classification": {
        "l1": l1_logistic,
        "elastic net": elastic_net,
        "shrunken centroids": shrunken_centroids,
        "t-test + LDA": t_test_lda,
        "SVM-RFE": svm_rfe,
        **RIVALS_OF_ALL_KINDS,
        **SELECTOR_RIVALS,
    },
    "several_classes": {
        "l1": one_vs_rest(l1_logistic),
        "elastic net": elastic_net,
        "shrunken centroids": centroids_several,
        "t-test + LDA": f_test_lda,
        "SVM-RFE": svm_rfe,
        **RIVALS_OF_ALL_KINDS,
    },
    "regression": {
        "l1": squared_error_net(1.0),
        "elastic net": squared_error_net(0.5),
        "SVM-RFE": svm_rfe,
        **RIVALS_OF_ALL_KINDS,
        **SELECTOR_RIVALS,
    },
    "survival": {
        "l1": cox_net(1.0),
        "elastic net": cox_net(0.5),
        **RIVALS_OF_ALL_KINDS,
        **SELECTOR_RIVALS,
    },
}
NOT_ODDS = ("SVM-RFE",)
for kind, rivals_of_kind in RIVALS.items():
    rivals_of_kind["l1 (glmnet)"] = by_glmnet(kind, 1.0)
    rivals_of_kind["elastic net (glmnet)"] = by_glmnet(kind, 0.5)
RIVALS["several_classes"] = {
    name: rival if name in NOT_ODDS else log_odds(rival)
    for name, rival in RIVALS["several_classes"].items()
}

GROUPS = {
    "genesig": ("genesig", "FDR-selected genes"),
    "penalties": ("l1", "elastic net", "shrunken centroids", "t-test + LDA", "SVM-RFE"),
    "trees": tuple(RIVALS_OF_ALL_KINDS),
    "selections": tuple(SELECTORS),
    "glmnet": ("l1 (glmnet)", "elastic net (glmnet)"),
}
"""Methods that one job runs, of about the same time."""
