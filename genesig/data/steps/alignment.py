"""Alignment of several studies to one location and spread of each gene, and its choice.

`Normaliser` in `normalise.py` explains the class variables `kind` and `genes` of a step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.combat import MIN_BATCH_SAMPLES, Combat, ReferenceBatch

if TYPE_CHECKING:
    import pandas as pd

MIN_STUDY_SAMPLES = 10  # samples that a study, or new batch, needs for moments of its own


@dataclass(frozen=True, eq=False)
class AlignStudies:
    """Centre each gene by the mean m of its study, and divide by the deviation s if `spread`.

    m and s (ddof 0) are those of the sample's own study, over all its samples and no others: a
    study that is held out whole has no influence on training. Single held-out samples have one
    through their values, and none through their labels. If the mix of classes differs between
    studies, m removes part of the difference between the classes.
    """

    # Column of the sample table that names the studies. Samples without one are a study.
    column: str
    spread: bool  # Whether s is divided by. A gene that is constant in a study becomes 0 there.
    kind: ClassVar[Literal["study"]] = "study"
    genes: ClassVar[None] = None

    def transform(self, X: Array, obs: pd.DataFrame | None = None) -> Array:
        """Align the rows of each study; missing values stay missing and do not count in m and s."""
        aligned = np.empty(X.shape)
        for rows in _rows_by_study(self.column, len(X), obs).values():
            study = X[rows]
            n_values = np.maximum(np.isfinite(study).sum(axis=0), 1)
            aligned[rows] = study - np.nansum(study, axis=0) / n_values
            if self.spread:
                deviation = np.sqrt(np.nansum(aligned[rows] ** 2, axis=0) / n_values)
                is_constant = deviation <= np.finfo(float).eps * np.abs(study).max(
                    axis=0, initial=0.0
                )
                aligned[rows] *= np.where(
                    is_constant, 0.0, 1.0 / np.where(is_constant, 1.0, deviation)
                )
        return aligned


@dataclass(frozen=True, eq=False)
class FixStudies:
    r"""x less the location of its study, plus the mean location: adjustment for study in training.

    Locations :math:`l_k` are estimated by least squares on the training samples,
    :math:`x = l_k + b'r` with their response r, so that a larger share of cases does not shift the
    location of a study. A study without training samples stays as it is, as if it had the mean
    location.
    """

    column: str  # column of the sample table that names the studies
    batches: Sequence[str]  # names of the studies of the training samples
    shift: Array  # (K, n_genes) float: :math:`l_k` less their mean
    kind: ClassVar[Literal["studies"]] = "studies"
    genes: ClassVar[None] = None

    @classmethod
    def fit(cls, X: Array, obs: pd.DataFrame, *, column: str, response: Array) -> FixStudies:
        """Estimate the locations; `response` has a number for each row, or a column a class."""
        rows_of_study = _rows_by_study(column, len(X), obs)
        membership = np.zeros((len(X), len(rows_of_study)))
        for index, rows in enumerate(rows_of_study.values()):
            membership[rows, index] = 1.0
        averaging = membership.T / membership.sum(axis=0)[:, None]
        R = np.asarray(response, dtype=float)
        R = R.reshape(len(X), -1)
        # Least squares on R and a location of each study: slopes by deviations from study means.
        slopes = np.linalg.lstsq(R - membership @ (averaging @ R), X, rcond=None)[0]
        location = averaging @ (X - R @ slopes)
        return cls(column, list(rows_of_study), location - location.mean(axis=0))

    def transform(self, X: Array, obs: pd.DataFrame | None = None) -> Array:
        """Shift the rows of the training studies."""
        shifted = X.copy()
        shift = dict(zip(self.batches, np.asarray(self.shift), strict=True))
        for name, rows in _rows_by_study(self.column, len(X), obs).items():
            if name in shift:
                shifted[rows] -= shift[name]
        return shifted


@dataclass(frozen=True, eq=False)
class CombatStudies:
    """`Combat` over the training studies; any other study is brought to their common scale.

    Any other study is corrected by itself (`ReferenceBatch`) if it has at least `MIN_BATCH_SAMPLES`
    samples; otherwise it stays as it is. Labels have no influence.
    """

    column: str  # column of the sample table that names the studies
    # field of the fitted `Combat`, as all that follow; mean and scale are those of the reference of
    # other studies
    batches: Sequence[str]
    mean: Array
    scale: Array
    gamma: Array
    delta: Array
    kind: ClassVar[Literal["studies"]] = "studies"
    genes: ClassVar[None] = None

    @classmethod
    def fit(cls, X: Array, obs: pd.DataFrame, *, column: str) -> CombatStudies:
        """Estimate the shift and the variance of each study."""
        names = obs[column].astype(str).tolist()
        combat = Combat.fit(X, batch=names, reference=None, covariates=None)
        # One study has no batch effect to estimate: it is the reference as it is.
        target = combat if len(combat.batches) > 1 else ReferenceBatch.fit(X)
        return cls(column, combat.batches, target.mean, target.scale, combat.gamma, combat.delta)

    def transform(self, X: Array, obs: pd.DataFrame | None = None) -> Array:
        """Adjust the rows of each study."""
        mean, scale, gamma, delta = map(np.asarray, (self.mean, self.scale, self.gamma, self.delta))
        combat = Combat(tuple(self.batches), mean, scale, np.zeros((0, len(mean))), gamma, delta)
        adjusted = np.array(X)
        for name, rows in _rows_by_study(self.column, len(X), obs).items():
            if name in self.batches:
                adjusted[rows] = combat.transform(
                    X[rows], batch=[name] * len(rows), covariates=None
                )
            elif len(rows) >= MIN_BATCH_SAMPLES:
                adjusted[rows] = ReferenceBatch(mean, scale).transform(X[rows])
        return adjusted


def _rows_by_study(column: str, n: int, obs: pd.DataFrame | None) -> dict[str, Array]:
    """Return the rows of each study, by name; all n rows under "" if the studies are not known."""
    if obs is None or column not in obs:
        return {"": np.arange(n)}
    names = obs[column].astype(str).to_numpy(dtype=object)
    return {str(name): np.flatnonzero(names == name) for name in np.unique(names)}


STUDYWISE_ALIGNMENTS: dict[str, tuple[dict[str, Any], ...]] = {
    "none": (),
    "centre": ({"step": "align_studies", "spread": False},),
    "standardise": ({"step": "align_studies", "spread": True},),
    "rank": ({"step": "rank_samples"},),
}
"""Values of ``across.align`` that act on each study by itself, as steps after the row-wise ones."""

LEARNED_ALIGNMENTS = {"fixed": "fix_studies", "combat": "combat_studies"}
"""Values of ``across.align`` that learn from training studies, as the first learned step."""

AUTO = "auto"  # value of ``across.align``: each training set chooses, see `Alignments`

ALIGNERS: dict[str, Any] = {
    "align_studies": AlignStudies,
    "fix_studies": FixStudies,
    "combat_studies": CombatStudies,
}
"""Steps that no config may list: they follow from ``across.align``."""


ALIGNMENT_CANDIDATES = ("standardise", "centre", "none", "rank")
"""Names in `STUDYWISE_ALIGNMENTS`. The first wins ties, and is taken with one training study."""
RIDGE_PENALTIES = (0.1, 1.0, 10.0)  # in units of the mean eigenvalue of the training set
MIN_TRAINING_STUDIES = 2  # smallest number of training studies of which one can be left out
MAX_CACHE_BYTES = 2.5e8  # largest size of the cached predictors
ERROR_DIGITS = 9  # so that ties are ties on every processor


@dataclass(frozen=True, eq=False)
class Alignments:
    """Aligned copies of the studies, and the error of each when one study is left out.

    Every candidate aligns a study by that study alone and without its labels, so that one copy
    serves all training sets. The choice among the candidates uses the labels of the training
    samples only.
    """

    # function of the name of a candidate that returns the aligned matrix (n_samples, n_genes)
    align: Callable[[str], Array]
    studies: Array  # (n_samples,) str: study of each sample
    # caches: candidate -> aligned matrix, and inner products of its samples; bytes of the training
    # rows -> predictors
    _copies: dict[str, Array] = field(default_factory=dict)
    _products: dict[str, Array] = field(default_factory=dict)
    _cached_predictors: dict[bytes, Predictors] = field(default_factory=dict)

    def aligned_copy(self, name: str) -> Array:
        """Return the matrix aligned by a candidate, computed once."""
        if name not in self._copies:
            self._copies[name] = self.align(name)
        return self._copies[name]

    def errors(
        self, response: Array, rows: Array, exchange: Array | None = None
    ) -> dict[str, float]:
        r"""Return the error of each candidate.

        .. math:: \min_\lambda \sum_k \|R_k - \hat R_k\|^2 / n_k,

        :math:`\hat R_k` is the ridge prediction of study k by the other training studies, which
        have equal weight. Empty if there are fewer than `MIN_TRAINING_STUDIES` training studies.

        response (n,) or (n, T) float: of the training rows.
        rows (n,) int: training rows, rising.
        exchange (n_samples, n_samples) float or None: exchange of samples by a permutation:
            ``exchange @ X`` replaces each aligned copy X.
        """
        R = np.asarray(response, dtype=float).reshape(len(rows), -1)
        errors = {}
        for name, predictors in self._predictors(rows, exchange).items():
            squared_errors = np.zeros(len(RIDGE_PENALTIES))
            for test, train, hat_matrix in predictors:
                residual = R[test] - hat_matrix @ R[train]
                squared_errors += np.square(residual).sum(axis=(1, 2)) / len(test)
            errors[name] = float(squared_errors.min())
        return errors

    def choose_best(self, response: Array, rows: Array, exchange: Array | None = None) -> str:
        """Return the candidate of the smallest error (see `errors`)."""
        return best_alignment(self.errors(response, rows, exchange))

    def _predictors(self, rows: Array, exchange: Array | None) -> Predictors:
        """Return the predictors of the training rows; permuted labels share them."""
        rows_key = rows.tobytes()
        if exchange is None and rows_key in self._cached_predictors:
            return self._cached_predictors[rows_key]
        names = self.studies[rows]
        predictors: Predictors = {}
        if len(np.unique(names)) >= MIN_TRAINING_STUDIES:
            for name in ALIGNMENT_CANDIDATES:
                gram = self._product(name)
                gram = gram if exchange is None else exchange @ gram @ exchange.T
                predictors[name] = _leave_one_study_out(gram[np.ix_(rows, rows)], names)
        if exchange is None:
            # at most: no hat matrix has more than (n_train + n_test)² cells
            entry_bytes = len(ALIGNMENT_CANDIDATES) * len(RIDGE_PENALTIES) * 8 * len(rows) ** 2
            if len(self._cached_predictors) * entry_bytes > MAX_CACHE_BYTES:
                self._cached_predictors.clear()
            self._cached_predictors[rows_key] = predictors
        return predictors

    def _product(self, name: str) -> Array:
        """Return the inner products of the samples of an aligned copy, computed once."""
        if name not in self._products:
            X = self.aligned_copy(name)
            self._products[name] = X @ X.T
        return self._products[name]


def best_alignment(errors: Mapping[str, float]) -> str:
    """Return the candidate of the smallest error, the first of equals."""
    return min(ALIGNMENT_CANDIDATES, key=lambda name: round(errors.get(name, 0.0), ERROR_DIGITS))


Predictors = dict[str, list[tuple[Array, Array, Array]]]
"""Candidate -> (test rows, training rows, H (n_penalties, n_test, n_train)) of each study."""


def _leave_one_study_out(gram: Array, names: Array) -> list[tuple[Array, Array, Array]]:
    """Return (test rows, training rows, ridge hat matrices) with each study as the test set.

    gram (n, n) are inner products of the samples, names (n,) their studies, which have equal
    weight.
    """
    predictors = []
    for name in np.unique(names):
        test = np.flatnonzero(names == name)
        train = np.flatnonzero(names != name)
        _, study_of_sample, study_sizes = np.unique(
            names[train], return_inverse=True, return_counts=True
        )
        predictors.append(
            (
                test,
                train,
                _ridge_hat_matrices(
                    gram[np.ix_(train, train)],
                    gram[np.ix_(test, train)],
                    1.0 / (len(study_sizes) * study_sizes[study_of_sample]),
                ),
            )
        )
    return predictors


def _ridge_hat_matrices(train_kernel: Array, test_kernel: Array, weights: Array) -> Array:
    """Return H (n_penalties, n_test, n_train) of predictions H r with sample weights p (sum 1).

    train_kernel (n_train, n_train), test_kernel (n_test, n_train): inner products of the samples.

    Centred kernel ridge: with C = I - 1p', K~ = C K C', D = diag(p) and k~ the centred rows of the
    test samples, H = 1p' + k~ D^½ (D^½ K~ D^½ + λ I)^-1 D^½ C.
    """
    n = len(weights)
    root_weights = np.sqrt(weights)
    mean = train_kernel @ weights
    centred = train_kernel - mean[:, None] - mean + weights @ mean
    test_kernel = test_kernel - (test_kernel @ weights)[:, None] - mean + weights @ mean
    kernel = root_weights[:, None] * centred * root_weights
    penalty_unit = np.trace(kernel) / n
    penalty_unit = penalty_unit if penalty_unit > 0 else 1.0
    centring = np.eye(n) - weights
    inverse = [
        np.linalg.solve(
            kernel + penalty * penalty_unit * np.eye(n), root_weights[:, None] * centring
        )
        for penalty in RIDGE_PENALTIES
    ]
    return np.asarray(weights + (test_kernel * root_weights) @ np.stack(inverse))
