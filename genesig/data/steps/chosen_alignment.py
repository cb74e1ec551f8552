"""Which alignment of studies to train with: the one by which ridge does best in an unseen study."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

CANDIDATES = ("standardise", "centre", "none", "rank")
"""Names in `alignment.ALIGNED`; the first of equals is taken, and where one study trains."""
PENALTIES = (0.1, 1.0, 10.0)
"""Of ridge, in units of the mean eigenvalue of the training set."""
FEWEST = 2
"""Training studies of which one can be left out."""
ROOM = 2.5e8
"""Bytes that predictors may hold that were made before."""
DIGITS = 9


@dataclass(frozen=True, eq=False)
class Alignments:
    """Aligned copies of studies, and how well each carries over from studies to another.

    Every candidate aligns a study by that study alone and without its labels, so that one copy
    serves all training sets. Which of them is taken depends on labels: those of the training
    samples, and of no others.

    Attributes
    ----------
    align : callable
        The name of a candidate to the aligned matrix of all samples, (n_samples, n_genes).
    studies : (n_samples,) str
        Study of each sample.
    """

    align: Callable[[str], Array]
    studies: Array
    _copies: dict[str, Array] = field(default_factory=dict)
    _products: dict[str, Array] = field(default_factory=dict)
    _known: dict[bytes, Predictors] = field(default_factory=dict)

    def copy(self, name: str) -> Array:
        """Return the aligned matrix."""
        if name not in self._copies:
            self._copies[name] = self.align(name)
        return self._copies[name]

    def errors(
        self, response: Array, rows: Array, moved: Array | None = None
    ) -> dict[str, float]:  # fmt: skip
        r"""Return the error of each candidate.

        .. math:: \min_\lambda \sum_k \|R_k - \hat R_k\|^2 / n_k,

        :math:`\hat R_k` is what ridge says of study k by the other training studies, each of which
        counts alike. Empty where fewer than `FEWEST` studies train.

        Parameters
        ----------
        response : (n,) or (n, T) float
            Of the training rows.
        rows : (n,) int
            Training rows, rising.
        moved : (n_samples, n_samples) float or None
            What samples exchange beforehand: ``moved @ X`` stands in the place of each copy.
        """
        R = np.asarray(response, dtype=float).reshape(len(rows), -1)
        found = {}
        for name, each in self._predictors(rows, moved).items():
            lost = np.zeros(len(PENALTIES))
            for test, train, hats in each:
                gap = R[test] - hats @ R[train]
                lost += np.square(gap).sum(axis=(1, 2)) / len(test)
            found[name] = float(lost.min())
        return found

    def best(self, response: Array, rows: Array, moved: Array | None = None) -> str:
        """Return the candidate of the smallest error (see `errors`)."""
        return chosen(self.errors(response, rows, moved))

    def _predictors(self, rows: Array, moved: Array | None) -> Predictors:
        """Return those of some training rows; they hang on no label, so serve permuted ones too."""
        key = rows.tobytes()
        if moved is None and key in self._known:
            return self._known[key]
        names = self.studies[rows]
        made: Predictors = {}
        if len(np.unique(names)) >= FEWEST:
            for name in CANDIDATES:
                G = self._product(name)
                G = G if moved is None else moved @ G @ moved.T
                made[name] = _left_out(G[np.ix_(rows, rows)], names)
        if moved is None:
            if len(self._known) * len(CANDIDATES) * len(PENALTIES) * 8 * len(rows) ** 2 > ROOM:
                self._known.clear()
            self._known[key] = made
        return made

    def _product(self, name: str) -> Array:
        if name not in self._products:
            X = self.copy(name)
            self._products[name] = X @ X.T
        return self._products[name]


def chosen(errors: Mapping[str, float]) -> str:
    """Return the candidate of the smallest error, the first of equals."""
    return min(CANDIDATES, key=lambda name: round(errors.get(name, 0.0), DIGITS))


Predictors = dict[str, list[tuple[Array, Array, Array]]]
"""Candidate to (test rows, training rows, H (n_penalties, n_test, n_train)) of each study."""


def _left_out(G: Array, names: Array) -> list[tuple[Array, Array, Array]]:
    """Return the rows of each study, those of the others, and what ridge makes of these."""
    out = []
    for name in np.unique(names):
        test, train = np.flatnonzero(names == name), np.flatnonzero(names != name)
        _, of, size = np.unique(names[train], return_inverse=True, return_counts=True)
        out.append((test, train, _ridge(G[np.ix_(train, train)], G[np.ix_(test, train)],
                                        1.0 / (len(size) * size[of]))))  # fmt: skip
    return out


def _ridge(K: Array, across: Array, p: Array) -> Array:
    """Return H of predictions H r, (n_penalties, n_test, n_train), samples weighing p (sum 1).

    Centred kernel ridge: with C = I - 1p', K~ = C K C', D = diag(p) and k~ the centred rows of the
    test samples, H = 1p' + k~ D^½ (D^½ K~ D^½ + λ I)^-1 D^½ C.
    """
    n, half = len(p), np.sqrt(p)
    mean = K @ p
    centred = K - mean[:, None] - mean + p @ mean
    across = across - (across @ p)[:, None] - mean + p @ mean
    A = half[:, None] * centred * half
    unit = np.trace(A) / n
    unit = unit if unit > 0 else 1.0
    C = np.eye(n) - p
    inverse = [np.linalg.solve(A + each * unit * np.eye(n), half[:, None] * C)
               for each in PENALTIES]  # fmt: skip
    return np.asarray(p + (across * half) @ np.stack(inverse))
