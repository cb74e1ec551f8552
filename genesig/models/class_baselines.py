"""The common predictors for several classes: a score for each class and test row.

Each takes what those of two classes take (see `genesig.models.baselines`), with the numbers 0 to
T - 1 of the classes as y, all of them in it, and returns (n_test, T) scores; the largest is the
prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from genesig.optim.classes import centres, margins

Array = np.ndarray[Any, Any]
Folds = Sequence[Array]
Baseline = Callable[[Array, Array, Array, Folds, int], Array]

TREES = 201


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

    trees = RandomForestClassifier(
        TREES, random_state=random_state, n_jobs=1, oob_score=True
    ).fit(X, y)  # fmt: skip
    means = centres(y, trees.oob_decision_function_, len(trees.classes_))
    return margins(trees.predict_proba(X_test), means)
