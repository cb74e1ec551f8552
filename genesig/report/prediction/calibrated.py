"""Held-out scores as probabilities, each from the other samples, and what they are worth."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

FOLDS = 10
STEPS = 100


def logistic_line(score: Array, positive: Array) -> tuple[float, float]:
    """Return a and b of P(positive) = 1/(1 + exp(-(a + b score))), by Newton's method.

    The targets are (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2) in place of 1 and 0, so that classes which
    the score separates have a finite line (Platt 1999, Advances in Large Margin Classifiers).

    Parameters
    ----------
    score : (n,) float
    positive : (n,) bool
    """
    from scipy.special import expit

    up, down = int(positive.sum()), int((~positive).sum())
    target = np.where(positive, (up + 1) / (up + 2), 1 / (down + 2))
    unit = float(score.std()) or 1.0
    X = np.column_stack([np.ones_like(score), score / unit])
    line = np.array([np.log((up + 1) / (down + 1)), 0.0])
    for _ in range(STEPS):
        p = expit(X @ line)
        slope = X.T @ (target - p)
        bend = (X.T * (p * (1 - p))) @ X + 1e-10 * np.eye(2)
        step = np.linalg.solve(bend, slope)
        # The likelihood is concave; a step of at most two units keeps far starts from leaping.
        line = line + step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
        if np.abs(step).max() < 1e-10:
            break
    return float(line[0]), float(line[1]) / unit


def cross_fitted(score: Array, positive: Array) -> Array:
    """Return (n,) probabilities: those of each fold by the line of all other folds.

    Folds take the samples of each class in turn, in the order of their scores, so that the same
    scores give the same folds.

    Parameters
    ----------
    score : (n,) float
        Mean score of each sample while it was held out.
    positive : (n,) bool
    """
    from scipy.special import expit

    fold = np.empty(len(score), dtype=int)
    for side in (positive, ~positive):
        mine = np.flatnonzero(side)
        fold[mine[np.argsort(score[mine], kind="stable")]] = np.arange(len(mine)) % FOLDS
    found = np.empty(len(score))
    for k in np.unique(fold):
        a, b = logistic_line(score[fold != k], positive[fold != k])
        found[fold == k] = expit(a + b * score[fold == k])
    return found


def net_benefit(probability: Array, positive: Array, threshold: Array) -> Array:
    """Return TP/n - FP/n · t/(1 - t) at each threshold t (Vickers and Elkin 2006, MDM 26:565)."""
    treated = probability[None] >= threshold[:, None]
    hits, false = ((treated & side).mean(axis=1) for side in (positive, ~positive))
    return np.asarray(hits - false * threshold / (1 - threshold))


def precision_recall(score: Array, positive: Array) -> tuple[Array, Array, float]:
    """Return recall and precision over falling thresholds, and the average precision.

    Average precision is Σ (recall_k - recall_{k-1}) precision_k; tied scores are one step.
    """
    order = np.argsort(-score, kind="stable")
    last = np.append(np.flatnonzero(np.diff(score[order])), len(order) - 1)
    hits = np.cumsum(positive[order])[last]
    precision, recall = hits / (last + 1), hits / max(positive.sum(), 1)
    area = float(np.sum(np.diff(np.concatenate([[0.0], recall])) * precision))
    return recall, precision, area
