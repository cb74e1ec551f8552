"""Lists of features as a path has them, and their ridge fit by NumPy's singular values."""

from __future__ import annotations

import numpy as np

from genesig.optim.solution import Path


def supports(*columns, sets=1):
    """Return a path with these lists, the same of every training set."""
    coefs = [(np.sort(np.array(a, dtype=np.int64)), np.ones(len(a))) for a in columns] * sets
    shape = (sets, len(columns))
    return Path.of(shape, coefs, np.zeros(shape), np.zeros(shape, np.int64), 1e-9)


def minimum_norm_ridge(Z, y, ridge):
    U, s, Vt = np.linalg.svd(Z, full_matrices=False)
    keep = s > 1e-12 * s.max(initial=0)
    return Vt[keep].T @ (s[keep] / (s[keep] ** 2 + ridge) * (U[:, keep].T @ y))
