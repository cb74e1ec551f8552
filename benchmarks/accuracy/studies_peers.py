"""Other ways to train on several studies, in a few lines each, from their papers.

Each takes X (n, d), y (n,) class numbers, study (n,) names, and the X of a study that is left out,
and returns a score of each of its samples for each class, (m, T). Settings are chosen by leaving
out training studies, by five stratified folds where there is one.
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


def inner(y: Array, study: Array) -> Iterator[tuple[Array, Array]]:
    """Give the rows that train and those that are left out."""
    if len(names := np.unique(study)) > 1:
        for name in names:
            yield np.flatnonzero(study != name), np.flatnonzero(study == name)
    else:
        yield from StratifiedKFold(5, shuffle=True, random_state=0).split(study, y)


def balanced_error(y: Array, scores: Array) -> float:
    """Return the mean over the classes of the share that is called otherwise."""
    wrong = np.argmax(scores, axis=1) != y
    return float(np.mean([wrong[y == k].mean() for k in np.unique(y)]))


def choose_setting(fit: Callable[..., Array], grid: list[Any]) -> Peer:
    """Return the method at the setting of smallest inner error, the first of equals."""

    def peer(X: Array, y: Array, study: Array, new: Array) -> Array:
        errors = np.zeros(len(grid))
        for train, test in inner(y, study):
            for at, setting in enumerate(grid):
                test_scores = fit(X[train], y[train], study[train], X[test], setting)
                errors[at] += balanced_error(y[test], test_scores)
        return fit(X, y, study, new, grid[int(np.argmin(errors.round(9)))])

    return peer


def standardise(X: Array) -> Array:
    """Bring each gene of one study to mean 0 and variance 1."""
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def within_study(X: Array, study: Array) -> Array:
    """Standardise each study by itself."""
    out = np.empty(X.shape)
    for name in np.unique(study):
        out[study == name] = standardise(X[study == name])
    return out


def rank_values(X: Array) -> Array:
    """Replace each sample by the ranks of its genes."""
    return np.asarray(rankdata(X, axis=1) / X.shape[1])


def logistic(X: Array, y: Array, new: Array, C: float, ratio: float) -> Array:
    """Return the scores of an elastic net for each class; balanced, one against the rest."""
    out = np.zeros((len(new), int(y.max()) + 1))
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
        out[:, k] = model.fit(X, y == k).decision_function(new)
    return out


def l1_logistic(X: Array, y: Array, study: Array, new: Array, C: float) -> Array:
    """l1 logistic regression on studies that were standardised each by itself."""
    return logistic(within_study(X, study), y, standardise(new), C, 1.0)


def combat_net(X: Array, y: Array, study: Array, new: Array, C: float) -> Array:
    """Elastic net on studies that ComBat pooled, the new one brought to them as a reference."""
    names = study.tolist()
    fitted = Combat.fit(X, batch=names, reference=None, covariates=None)
    pooled = fitted.transform(X, batch=names, covariates=None)
    # Of fewer nothing can be said: inner folds of one study of 20 samples stay as they are.
    adjusted = ReferenceBatch.fit(pooled).transform(new) if len(new) >= MIN_BATCH_SAMPLES else new
    mean = pooled.mean(axis=0)
    spread = pooled.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    return logistic((pooled - mean) / spread, y, (adjusted - mean) / spread, C, 0.5)


def ensemble(X: Array, y: Array, study: Array, new: Array, C: float) -> Array:
    """Mean score of an l1 logistic model of each study (Patil and Parmigiani 2018)."""
    study_scores = [
        logistic(standardise(X[study == name]), y[study == name], standardise(new), C, 1.0)
        for name in np.unique(study)
    ]
    return np.mean(study_scores, axis=0)


def mint(X: Array, y: Array, study: Array, new: Array, n_kept: int) -> Array:
    """Sparse PLS on X and Y centred within studies (Rohart et al. 2017), T - 1 components.

    Each component is u'X with u the largest `n_kept` entries, soft-thresholded, of the first left
    singular vector of X'Y; X is deflated by it, Y by its regression on it, and the class of the
    largest predicted indicator wins.
    """
    Z = within_study(X, study)
    N = standardise(new)
    T = int(y.max()) + 1
    Y = np.eye(T)[y]
    centre = Y.mean(axis=0)
    Y = Y - np.stack([Y[study == name].mean(axis=0) for name in study])
    fit = np.zeros((len(N), T))
    for _ in range(max(1, T - 1)):
        u = np.linalg.svd(Z.T @ Y, full_matrices=False)[0][:, 0]
        size = np.abs(u)
        bar = np.sort(size)[-n_kept - 1] if n_kept < len(u) else 0.0
        u = np.sign(u) * np.maximum(size - bar, 0)
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
    """LDA with shrinkage on the genes of largest |z| of random effects, of each class."""
    genes: set[int] = set()
    for k in range(int(y.max()) + 1):
        pooled_effects = random_effects(*effects(X, y, study, k))
        z = np.nan_to_num(np.abs(pooled_effects.mean / pooled_effects.error))
        genes |= set(np.argsort(-z, kind="stable")[:n_kept].tolist())
    columns = sorted(genes)
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    model.fit(within_study(X, study)[:, columns], y)
    scores = model.decision_function(standardise(new)[:, columns])
    return scores if scores.ndim > 1 else np.column_stack([np.zeros(len(new)), scores])


def votes(X: Array, y: Array, study: Array, new: Array, n_kept: int) -> Array:
    """Signs of the genes that most studies find (|g| over its error above 2), standardised."""
    N = standardise(new)
    out = np.zeros((len(new), int(y.max()) + 1))
    for k in range(out.shape[1]):
        value, variance = effects(X, y, study, k)
        z = np.nan_to_num(value / np.sqrt(variance))
        vote = np.sign(z) * (np.abs(z) > 2)
        order = np.lexsort((-np.abs(z.sum(axis=0)), -np.abs(vote.sum(axis=0))))[:n_kept]
        out[:, k] = N[:, order] @ np.sign(z.sum(axis=0)[order]) / n_kept
    return out


def geometric(X: Array, y: Array, study: Array, new: Array, n_kept: int) -> Array:
    """Mean of the risen less that of the fallen genes of a meta-analysis (Sweeney et al. 2017).

    On logarithms it is the difference of geometric means; it is cut at the mean over the left-out
    samples, as the paper leaves the cut to each study.
    """
    out = np.zeros((len(new), int(y.max()) + 1))
    for k in range(out.shape[1]):
        pooled_effects = random_effects(*effects(X, y, study, k))
        z = np.nan_to_num(pooled_effects.mean / pooled_effects.error)
        order = np.argsort(-np.abs(z), kind="stable")[:n_kept]
        up = order[z[order] > 0]
        down = order[z[order] < 0]
        score = np.zeros(len(new))
        score += new[:, up].mean(axis=1) if len(up) else 0.0
        score -= new[:, down].mean(axis=1) if len(down) else 0.0
        out[:, k] = score - score.mean()
    return out


def pairs(X: Array, y: Array, study: Array, new: Array, n_kept: int) -> Array:
    """k disjoint pairs of genes whose order tells a class from the rest (Tan et al. 2005).

    The share of samples in which gene i lies below j, of each class and study alike, among the 200
    genes of largest mean |g|.
    """
    out = np.zeros((len(new), int(y.max()) + 1))
    for k in range(out.shape[1]):
        value, _ = effects(X, y, study, k)
        top = np.argsort(-np.nan_to_num(np.abs(value.mean(axis=0))), kind="stable")[:200]
        gap = np.zeros((len(top), len(top)))
        for name in np.unique(study):
            for sign, in_class in ((1, y == k), (-1, y != k)):
                rows = X[np.ix_((study == name) & in_class, top)]
                gap += sign * (rows[:, :, None] < rows[:, None, :]).mean(axis=0)
        for _ in range(n_kept):
            i, j = np.unravel_index(int(np.argmax(gap)), gap.shape)
            out[:, k] += (new[:, top[i]] < new[:, top[j]]) / n_kept
            gap[[i, j]] = gap[:, [i, j]] = -np.inf
        out[:, k] -= 0.5
    return out


def forest(X: Array, y: Array, study: Array, new: Array) -> Array:
    """A random forest on the values as they are."""
    model = RandomForestClassifier(500, class_weight="balanced", random_state=0)
    return np.asarray(model.fit(X, y).predict_proba(new))


def centroid(X: Array, y: Array, study: Array, new: Array) -> Array:
    """Nearest centroid on the ranks of each sample."""
    model = NearestCentroid().fit(rank_values(X), y)
    return -np.linalg.norm(rank_values(new)[:, None] - model.centroids_, axis=2)


C = [0.03, 0.1, 0.3, 1.0]
GENES = [5, 10, 20, 50]

PEERS: dict[str, Peer] = {
    "l1 logistic, standardised within": choose_setting(l1_logistic, C),
    "ComBat, elastic net": choose_setting(combat_net, C),
    "l1 logistic of each study, averaged": choose_setting(ensemble, C),
    "MINT": choose_setting(mint, GENES),
    "random effects, LDA": choose_setting(meta_lda, GENES),
    "vote counting": choose_setting(votes, GENES),
    "random effects, geometric means": choose_setting(geometric, GENES),
    "k top scoring pairs": choose_setting(pairs, [1, 3, 5, 9]),
    "random forest, raw": forest,
    "nearest centroid, ranks": centroid,
}
