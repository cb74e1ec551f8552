"""How far the values of another data set are from the training ones, gene by gene."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.words import SMALLEST

Array = np.ndarray[Any, Any]


def balanced_means(X: Array, y: Array, classes: bool, present: tuple[float, ...]) -> Array:
    """Return the mean of the means of the classes in `present`, (n_genes,); NaN are left out.

    A data set with more samples of one class is not shifted by that alone. For regression, the
    mean over all samples.
    """
    parts = [X[y == c] for c in present] if classes else [X]
    return np.asarray(np.mean([_mean(part) for part in parts], axis=0))


def shift(means: Array, training_means: Array, training_sds: Array) -> Array:
    """(m - m_train) / s_train, NaN for a gene that does not vary in the training samples."""
    scale = np.where(training_sds > SMALLEST, training_sds, np.nan)
    return np.asarray((means - training_means) / scale)


def expected_shift(training: tuple[int, ...], new: tuple[int, ...]) -> float:
    """Return the standard error of a shift between samples of one population.

    √(Σ 1/n_c / k² + the same of the new samples), for the sizes n_c of the k classes whose means
    are averaged. In units of the training standard deviation, which holds the difference of the
    classes, too, so that it is rather too large.
    """
    parts = [sum(1 / n for n in sizes) / len(sizes) ** 2 for sizes in (training, new)]
    return float(np.sqrt(sum(parts)))


def _mean(X: Array) -> Array:
    known = np.isfinite(X)
    counts = known.sum(axis=0)
    sums = np.where(known, X, 0.0).sum(axis=0)
    return np.asarray(np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0))
