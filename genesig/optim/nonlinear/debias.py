"""Kernel ridge on the selected variables, which undoes the shrinkage of the penalty.

    c = (K_S + λ m I)⁻¹ (y - ȳ),  m = mean diag K_S,  f(x) = ȳ + Σ_j c_j k_S(x_j, x)

Samples that count w times make it c = √w (√w K_S √w' + λ m I)⁻¹ √w (y - ȳ), with means of w.

Source: Alg1^GR of Rosasco et al. (2010), section 5; Gregorova et al. (2018), section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.optim.kernels import Kernel, evaluate, tables

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Ridge:
    """Kernel ridge for several λ, from one decomposition.

    Attributes
    ----------
    kernel : Kernel
    X : (n, |S|)
        Training points, selected variables only; no variable gives the mean of y.
    mean : float
    dual : (L, n)
        One row for each λ.
    """

    kernel: Kernel
    X: Array
    mean: float
    dual: Array

    @classmethod
    def fit(
        cls, kernel: Kernel, X: Array, y: Array, lam: Array, counts: Array | None = None
    ) -> Ridge:
        """Fit for all `lam` (L,), relative to mean diag K; samples count `counts` (n,) times."""
        mean, lam = float(np.average(y, weights=counts)), np.asarray(lam, dtype=float)
        if X.shape[1] == 0:
            return cls(kernel, X, mean, np.zeros((len(lam), len(y))))
        K = tables(kernel, X, X).value
        shift = lam[:, None] * np.average(np.diag(K), weights=counts)
        root = np.ones(len(y)) if counts is None else np.sqrt(counts)
        eigenvalues, V = np.linalg.eigh(root[:, None] * K * root)
        along = (V.T @ (root * (y - mean))) / (np.maximum(eigenvalues, 0) + shift)
        return cls(kernel, X, mean, root * (along @ V.T))

    def predict(self, points: Array) -> Array:
        """Return f at new points (m, |S|), as (L, m)."""
        if self.X.shape[1] == 0:
            return np.full((len(self.dual), len(points)), self.mean)
        out: Array = self.mean + self.dual @ tables(self.kernel, points, self.X).value.T
        return out

    def gradient(self, points: Array, which: int = 0) -> Array:
        """Return the gradient at new points, (m, |S|), for one λ."""
        nothing = np.zeros(self.X.T.shape)
        return evaluate(self.kernel, points, self.X, self.dual[which], nothing)[1].T
