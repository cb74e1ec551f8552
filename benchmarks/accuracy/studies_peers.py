"""Other methods that train on several studies, written from their papers.

A peer is a function of X (n, d), y (n,) class numbers from 0, study (n,) names, and the X (m, d) of
a left-out study. It returns scores (m, T) of the classes. Settings are chosen by leaving out
training studies, or by five stratified folds of a single training study. If there are two classes,
only the column of class 1 may have scores. n_kept: number of genes (or pairs) to keep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import NearestCentroid

from genesig.data.steps.combat import MIN_BATCH_SAMPLES, Combat, ReferenceBatch
from genesig.selection.meta_analysis import hedges, random_effects

Array = np.ndarray[Any, Any]
Peer = Callable[[Array, Array, Array, Array], Array]


def inner_folds(y: Array, study: Array) -> Iterator[tuple[Array, Array]]:
    """Yield training rows and left-out rows."""
    names = np.unique(study)
    if len(names) > 1:
        for name in names:
            yield np.flatnonzero(study != name), np.flatnonzero(study == name)
    else:
        yield from StratifiedKFold(5, shuffle=True, random_state=0).split(study, y)


def balanced_error(y: Array, scores: Array) -> float:
    """Return the balanced error of the classes with the largest scores."""
    wrong = np.argmax(scores, axis=1) != y
    return float(np.mean([wrong[y == k].mean() for k in np.unique(y)]))


def choose_setting(fit: Callable[..., Array], grid: list[Any]) -> Peer:
    """Return a peer: `fit` at the setting of smallest inner error, of equal errors the first."""

    def peer(X: Array, y: Array, study: Array, new: Array) -> Array:
        errors = np.zeros(len(grid))
        for train, test in inner_folds(y, study):
            for k, setting in enumerate(grid):
                test_scores = fit(X[train], y[train], study[train], X[test], setting)
                errors[k] += balanced_error(y[test], test_scores)
        return fit(X, y, study, new, grid[int(np.argmin(errors.round(9)))])

    return peer


def standardise(X: Array) -> Array:
    """Return the values of one study with mean 0 and variance 1 of each gene; constant genes: 0."""
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def standardise_studies(X: Array, study: Array) -> Array:
    """Return the values with each study standardised by itself."""
    Z = np.empty(X.shape)
    for name in np.unique(study):
        Z[study == name] = standardise(X[study == name])
    return Z


def rank_values(X: Array) -> Array:
    """Return the ranks of the genes within each sample, over their number."""
    return np.asarray(rankdata(X, axis=1) / X.shape[1])


def logistic(X: Array, y: Array, new: Array, C: float, ratio: float) -> Array:
    """Return the scores (m, T) of logistic elastic nets, each class against the rest, balanced."""
    scores = np.zeros((len(new), int(y.max()) + 1))
    classes = range(1, 2) if y.max() == 1 else range(int(y.max()) + 1)
    for k in classes:
        model = LogisticRegression(
            C=C,
            l1_ratio=ratio,
            solver="saga",
            class_weight="balanced",
            max_iter=100,
            tol=1e-3,
            random_state=0,
        )
        scores[:, k] = model.fit(X, y == k).decision_function(new)
    return scores


def l1_logistic(X: Array, y: Array, study: Array, new: Array, C: float) -> Array:
    """Return scores of l1 logistic regression on studies that are standardised by themselves."""
    return logistic(standardise_studies(X, study), y, standardise(new), C, 1.0)


def combat_net(X: Array, y: Array, study: Array, new: Array, C: float) -> Array:
    """Return scores of an elastic net on studies pooled by ComBat, with them as reference batch."""
    names = study.tolist()
    fitted = Combat.fit(X, batch=names, reference=None, covariates=None)
    pooled = fitted.transform(X, batch=names, covariates=None)
    # Fewer samples, as in inner folds of a study of 20, stay as they are.
    adjusted = ReferenceBatch.fit(pooled).transform(new) if len(new) >= MIN_BATCH_SAMPLES else new
    mean = pooled.mean(axis=0)
    spread = pooled.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    return logistic((pooled - mean) / spread, y, (adjusted - mean) / spread, C, 0.5)


def ensemble(X: Array, y: Array, study: Array, new: Array, C: float) -> Array:
    """Return mean scores of an l1 logistic model of each study (Patil and Parmigiani 2018)."""
    study_scores = [
        logistic(standardise(X[study == name]), y[study == name], standardise(new), C, 1.0)
        for name in np.unique(study)
    ]
    return np.mean(study_scores, axis=0)


def mint(X: Array, y: Array, study: Array, new: Array, n_kept: int) -> Array:
    """Return predicted class indicators of sparse PLS (MINT, Rohart et al. 2017).

    X and the class indicators Y are centred within studies. Each of T - 1 components is Xu, with u
    the first left singular vector of X'Y, soft-thresholded to `n_kept` entries; X is deflated by
    the component, Y by its regression on it.
    """
    Z = standardise_studies(X, study)
    N = standardise(new)
    T = int(y.max()) + 1
    Y = np.eye(T)[y]
    centre = Y.mean(axis=0)
    Y = Y - np.stack([Y[study == name].mean(axis=0) for name in study])
    fit = np.zeros((len(N), T))
    for _ in range(max(1, T - 1)):
        u = np.linalg.svd(Z.T @ Y, full_matrices=False)[0][:, 0]
        size = np.abs(u)
        threshold = np.sort(size)[-n_kept - 1] if n_kept < len(u) else 0.0
        u = np.sign(u) * np.maximum(size - threshold, 0)
        u /= np.linalg.norm(u)
        t = Z @ u
        s = N @ u
        p = Z.T @ t / (t @ t)
        q = Y.T @ t / (t @ t)
        fit += np.outer(s, q)
        Z = Z - np.outer(t, p)
        N = N - np.outer(s, p)
        Y = Y - np.outer(t, q)
    return fit + centre


def effects(X: Array, y: Array, study: Array, k: int) -> tuple[Array, Array]:
    """Return Hedges' g of class k against the rest in each study, and its variance, (K, d)."""
    study_effects = [
        hedges(X[study == name], np.where(y[study == name] == k, 1.0, -1.0))
        for name in np.unique(study)
    ]
    return np.stack([effect.value for effect in study_effects]), np.stack(
        [effect.variance for effect in study_effects]
    )


def meta_lda(X: Array, y: Array, study: Array, new: Array, n_kept: int) -> Array:
    """Return scores of LDA with shrinkage on the genes of largest random-effects |z| of a class."""
    genes: set[int] = set()
    for k in range(int(y.max()) + 1):
        pooled_effects = random_effects(*effects(X, y, study, k))
        z = np.nan_to_num(np.abs(pooled_effects.mean / pooled_effects.error))
        genes |= set(np.argsort(-z, kind="stable")[:n_kept].tolist())
    columns = sorted(genes)
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    model.fit(standardise_studies(X, study)[:, columns], y)
    scores = model.decision_function(standardise(new)[:, columns])
    return scores if scores.ndim > 1 else np.column_stack([np.zeros(len(new)), scores])


def votes(X: Array, y: Array, study: Array, new: Array, n_kept: int) -> Array:
    """Return scores of vote counting: mean signed values of the genes with most votes.

    A study votes for a gene if its |g| is more than twice the error of g.
    """
    N = standardise(new)
    scores = np.zeros((len(new), int(y.max()) + 1))
    for k in range(scores.shape[1]):
        value, variance = effects(X, y, study, k)
        z = np.nan_to_num(value / np.sqrt(variance))
        vote = np.sign(z) * (np.abs(z) > 2)
        z_sum = z.sum(axis=0)
        top = np.lexsort((-np.abs(z_sum), -np.abs(vote.sum(axis=0))))[:n_kept]
        scores[:, k] = N[:, top] @ np.sign(z_sum[top]) / n_kept
    return scores


def geometric(X: Array, y: Array, study: Array, new: Array, n_kept: int) -> Array:
    """Return mean values of risen less fallen genes of a meta-analysis (Sweeney et al. 2017).

    Of logarithms this is a difference of geometric means. The paper leaves the threshold to each
    study; here it is the mean over the left-out samples.
    """
    scores = np.zeros((len(new), int(y.max()) + 1))
    for k in range(scores.shape[1]):
        pooled_effects = random_effects(*effects(X, y, study, k))
        z = np.nan_to_num(pooled_effects.mean / pooled_effects.error)
        top = np.argsort(-np.abs(z), kind="stable")[:n_kept]
        up = top[z[top] > 0]
        down = top[z[top] < 0]
        score = np.zeros(len(new))
        score += new[:, up].mean(axis=1) if len(up) else 0.0
        score -= new[:, down].mean(axis=1) if len(down) else 0.0
        scores[:, k] = score - score.mean()
    return scores


def pairs(X: Array, y: Array, study: Array, new: Array, n_kept: int) -> Array:
    """Return scores of the top scoring disjoint pairs of genes (Tan et al. 2005).

    The score of a sample is the share of the `n_kept` pairs (i, j) with gene i below j, less 1/2.
    Pairs have the largest difference, between the class and the rest, of the share of samples with
    i below j, summed over studies, among the 200 genes of largest mean |g|.
    """
    scores = np.zeros((len(new), int(y.max()) + 1))
    for k in range(scores.shape[1]):
        value, _ = effects(X, y, study, k)
        top = np.argsort(-np.nan_to_num(np.abs(value.mean(axis=0))), kind="stable")[:200]
        gap = np.zeros((len(top), len(top)))  # difference of shares for each pair (i, j)
        for name in np.unique(study):
            for sign, in_class in ((1, y == k), (-1, y != k)):
                rows = X[np.ix_((study == name) & in_class, top)]
                gap += sign * (rows[:, :, None] < rows[:, None, :]).mean(axis=0)
        for _ in range(n_kept):
            i, j = np.unravel_index(int(np.argmax(gap)), gap.shape)
            scores[:, k] += (new[:, top[i]] < new[:, top[j]]) / n_kept
            gap[[i, j]] = gap[:, [i, j]] = -np.inf
        scores[:, k] -= 0.5
    return scores


def forest(X: Array, y: Array, study: Array, new: Array) -> Array:
    """Return class probabilities of a random forest on unaligned values."""
    model = RandomForestClassifier(500, class_weight="balanced", random_state=0)
    return np.asarray(model.fit(X, y).predict_proba(new))


def centroid(X: Array, y: Array, study: Array, new: Array) -> Array:
    """Return minus the distances to the class centroids of ranks within samples."""
    model = NearestCentroid().fit(rank_values(X), y)
    return -np.linalg.norm(rank_values(new)[:, None] - model.centroids_, axis=2)


C_GRID = [0.03, 0.1, 0.3, 1.0]
N_KEPT_GRID = [5, 10, 20, 50]

PEERS: dict[str, Peer] = {
    "l1 logistic, standardised within": choose_setting(l1_logistic, C_GRID),
    "ComBat, elastic net": choose_setting(combat_net, C_GRID),
    "l1 logistic of each study, averaged": choose_setting(ensemble, C_GRID),
    "MINT": choose_setting(mint, N_KEPT_GRID),
    "random effects, LDA": choose_setting(meta_lda, N_KEPT_GRID),
    "vote counting": choose_setting(votes, N_KEPT_GRID),
    "random effects, geometric means": choose_setting(geometric, N_KEPT_GRID),
    "k top scoring pairs": choose_setting(pairs, [1, 3, 5, 9]),
    "random forest, raw": forest,
    "nearest centroid, ranks": centroid,
}
