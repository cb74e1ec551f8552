"""Stage I and stage II of many splits, in a few arrays, and the fits of all jobs as one record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError
from genesig.response.covariates import splined
from genesig.results.files import load_arrays, save_arrays
from genesig.results.splits import Splits


@dataclass(frozen=True)
class Fits:
    """Inner searches (stage I) and nested gene lists (stage II) of m fits.

    A fit is one split under one permutation; q is the number of covariates.
    """

    split: Array
    """(m,) str: name of the split of each fit."""
    permutation: Array
    """(m,) int: 0 for the observed labels, else the number of the permutation."""
    tau: Array
    """(n_tau,) float: grid of the l1 weight, as fractions of `tau_max`."""
    lam: Array
    """(n_lam,) float: grid of the ridge weight of the refit, in units of `norm`."""
    mu: Array
    """(n_mu,) float: grid of the ridge weight of the selection, in units of `norm`; `with_chosen`
    appends NaN, for the chosen list."""
    searched: Array
    """(n_searched,) float: values of mu at which the inner folds were searched."""
    tau_max: Array
    """(m,) float: (2/n) max_j |x_j'y| of the training rows of each fit."""
    norm: Array
    """(m,) float: ||X'X||/n of the training rows of each fit."""
    cv_error: Array
    """(m, n_searched, n_tau, n_lam) float: mean validation error over the inner folds; NaN for
    lists that are too long to be chosen."""
    cv_se: Array
    """Standard error of `cv_error`, of the same shape."""
    cv_size: Array
    """(m, n_searched, n_tau) float: mean number of selected genes over the inner folds; NaN as in
    `cv_error`."""
    cv_agreement: Array
    """(m, n_searched, n_tau) float: agreement of the gene lists of the inner folds; only if it was
    requested."""
    choice: Array
    """(m, 3) int: indices of the chosen tau, lam and mu."""
    threshold: Array
    """(m,) float: score above which a sample is predicted as the positive class; NaN if none was
    set."""
    indptr: Array
    """(m * n_mu + 1,) int: the coefficients of fit i at mu j are at ``slice(indptr[i*n_mu+j],
    indptr[i*n_mu+j+1])`` of `indices` and `values`."""
    indices: Array
    """(nnz,) int: gene numbers."""
    values: Array
    """(nnz,) float, or (nnz, T) with several classes: weights per unit of the normalised (not yet
    gene-scaled) expression."""
    intercept: Array
    """(m, n_mu) or (m, n_mu, T) float."""
    gap: Array
    """(m, n_mu) float: duality gap of each selection, relative to ||y||²/n; NaN for lists that are
    too long to be stored."""
    test_indptr: Array
    """(m + 1,) int: index in `test_rows` and `scores` at which each fit begins."""
    test_rows: Array
    """(t,) int: row numbers of the test samples of each fit."""
    scores: Array
    """(t, n_mu) or (t, n_mu, T) float: score f(x) of each test sample."""
    gamma: Array | None = None
    """(m, n_mu, q) or (m, n_mu, q, T) float: weight of each covariate, in its own units; None
    without covariates."""
    covariate_mean: Array | None = None
    """(m, q) float: mean of each covariate over the training samples; None without covariates."""
    knots: Array | None = None
    """(m, r, K) float: knots of the covariates' splines, see `genesig.response.covariates.splined`;
    None without splines."""
    answer_indptr: Array | None = None
    """(2 m + 1,) int: coefficients of the two answers of each fit, in the order of `ANSWERS`, as
    `indptr` for `values`. None, as all fields ``answer_``, if the chosen list is the only
    answer."""
    answer_indices: Array | None = None
    """(nnz,) int: gene numbers of the answers."""
    answer_values: Array | None = None
    """(nnz,) or (nnz, T) float: weights of the answers."""
    answer_intercept: Array | None = None
    """(m, 2) or (m, 2, T) float, less the threshold: above 0 is the positive class."""
    answer_scores: Array | None = None
    """(t, 2) or (t, 2, T) float: scores of the test samples, less the threshold."""
    answer_gamma: Array | None = None
    """(m, 2, q) or (m, 2, q, T) float: weights of the covariates; None without covariates."""
    controlled: Array | None = None
    """(m,) bool: whether the list of the predictive model is that of the selection frequencies."""
    line: Array | None = None
    """(m, T + 1) float: line from the scores of the chosen list, less the threshold, to
    probabilities of classes (see `class_line`); NaN if it cannot be estimated, None without
    classes."""
    answer_line: Array | None = None
    """(m, 2, T + 1) float: the same for the answers."""
    shrinkage: Array | None = None
    """(m,) float: slope of the line over the slope that the left-out samples gave, 0 to 1; None
    without a line."""
    answer_shrinkage: Array | None = None
    """(m, 2) float: the same for the answers."""
    rival_indptr: Array | None = None
    """(m + 1,) int: index in `rival_indices` at which each fit begins; None without halves of the
    samples."""
    rival_indices: Array | None = None
    """(nnz,) int: genes of a list of the lasso, as long as the predictive list; of halves of the
    samples."""
    factors: Array | None = None
    """(m, n_omics) float: chosen factor of the l1 terms of each omic; None if the config gives
    them."""

    def __len__(self) -> int:
        """Return the number of fits."""
        return len(self.split)

    def coef(self, fit: int, mu: int) -> tuple[Array, Array]:
        """Return (indices, values) of the non-zero coefficients of one fit at one mu."""
        entries = slice(*self.indptr[fit * len(self.mu) + mu :][:2])
        return self.indices[entries], self.values[entries]

    def chosen_coef(self, fit: int) -> tuple[Array, Array]:
        """Return (indices, values) of the chosen list of one fit.

        Only for records from `with_chosen` or `answer`, whose last list it is.
        """
        if not np.isnan(self.mu[-1]):
            raise GenesigError("these fits have no chosen list: take that of with_chosen()")
        return self.coef(fit, len(self.mu) - 1)

    def of_covariates(self, fit: int, C: Array) -> Array | float:
        """Return the part of covariates C (n, r) in the scores of a fit, (n, n_mu) or (n, n_mu, T).

        0 without covariates. NaN counts as the mean of the training samples.
        """
        if self.gamma is None or self.covariate_mean is None or self.knots is None:
            return 0.0
        return covariate_part(
            splined(C, self.knots[fit]), self.covariate_mean[fit], self.gamma[fit]
        )

    def strength(self) -> Array:
        """Return the weights, or for several classes the norm of each gene's weights, (nnz,)."""
        weights: Array = self.values
        return weights if weights.ndim == 1 else np.sqrt(np.square(weights).sum(axis=1))

    def test(self, fit: int) -> tuple[Array, Array]:
        """Return (rows, scores) of the test samples of one fit; scores (n_test, n_mu)."""
        entries = slice(*self.test_indptr[fit:][:2])
        return self.test_rows[entries], self.scores[entries]

    def sizes(self) -> Array:
        """Return the number of genes of each list, (m, n_mu); NaN if the list was too long."""
        list_sizes = np.diff(self.indptr).reshape(len(self), len(self.mu))
        return np.where(np.isnan(self.gap), np.nan, list_sizes)

    @property
    def whole(self) -> Array:
        """Mask (n_mu,) of the mu at which every fit has a list."""
        return np.asarray(~np.isnan(self.gap).any(axis=0))

    def with_chosen(self) -> Fits:
        """Return the fits with the chosen list of each fit appended as a last list, with mu NaN.

        Its mu differs between fits. With it, all that is measured for each mu is also measured for
        the chosen list.
        """
        if self.answer_indptr is not None:
            return self._append_answer(self.answer("predictive"))
        m = len(self)
        n_mu = len(self.mu)
        mu = self.choice[:, 2]
        list_indices = np.column_stack([np.tile(np.arange(n_mu), (m, 1)), mu])
        indptr, entries = _take_ragged(
            self.indptr, (np.arange(m)[:, None] * n_mu + list_indices).ravel()
        )
        chosen_mu = np.repeat(mu, np.diff(self.test_indptr))
        return replace(
            self,
            mu=np.append(self.mu, np.nan),
            indptr=indptr,
            indices=self.indices[entries],
            values=self.values[entries],
            intercept=self.intercept[np.arange(m)[:, None], list_indices],
            gap=np.take_along_axis(self.gap, list_indices, axis=1),
            scores=np.concatenate(
                [self.scores, self.scores[np.arange(len(chosen_mu)), chosen_mu][:, None]], axis=1
            ),
            gamma=None if self.gamma is None else self.gamma[np.arange(m)[:, None], list_indices],
        )

    def answer(self, name: str) -> Fits:
        """Return the fits with one of the `ANSWERS` as their only list, with mu NaN.

        The threshold is subtracted from its scores, and is 0 in the result.
        """
        answer_number = ANSWERS.index(name)
        m = len(self)
        answer_arrays = {key: getattr(self, f"answer_{key}") for key in _ANSWER_FIELDS}
        indptr, entries = _take_ragged(answer_arrays["indptr"], 2 * np.arange(m) + answer_number)
        column = np.array([answer_number])
        gamma = answer_arrays["gamma"]
        line = answer_arrays["line"]
        shrinkage = answer_arrays["shrinkage"]
        return replace(
            self,
            mu=np.array([np.nan]),
            indptr=indptr,
            indices=answer_arrays["indices"][entries],
            values=answer_arrays["values"][entries],
            intercept=answer_arrays["intercept"][:, column],
            scores=answer_arrays["scores"][:, column],
            threshold=np.zeros(m),
            gamma=None if gamma is None else gamma[:, column],
            gap=np.zeros((m, 1)),
            line=None if line is None else line[:, answer_number],
            shrinkage=None if shrinkage is None else shrinkage[:, answer_number],
            choice=self.choice * [1, 1, 0],
            **_WITHOUT_ANSWERS,
        )

    def _append_answer(self, answer: Fits) -> Fits:
        """Return the fits with the single list of `answer` appended; scores less the threshold."""
        m = len(self)
        n_mu = len(self.mu)
        n_test = np.diff(self.test_indptr)
        class_axes = [1] * (self.scores.ndim - 1)
        joint_indptr = np.concatenate([self.indptr, self.indptr[-1] + answer.indptr[1:]])
        list_indices = np.column_stack(
            [np.arange(m * n_mu).reshape(m, n_mu), m * n_mu + np.arange(m)]
        )
        indptr, entries = _take_ragged(joint_indptr, list_indices.ravel())
        return replace(
            self,
            mu=np.append(self.mu, np.nan),
            indptr=indptr,
            indices=np.concatenate([self.indices, answer.indices])[entries],
            values=np.concatenate([self.values, answer.values])[entries],
            intercept=np.concatenate(
                [self.intercept - self.threshold.reshape(-1, *class_axes), answer.intercept], axis=1
            ),
            scores=np.concatenate(
                [
                    self.scores - np.repeat(self.threshold, n_test).reshape(-1, *class_axes),
                    answer.scores,
                ],
                axis=1,
            ),
            gamma=None
            if self.gamma is None
            else np.concatenate([self.gamma, answer.gamma], axis=1),
            gap=np.concatenate([self.gap, answer.gap], axis=1),
            threshold=answer.threshold,
            line=answer.line,
            shrinkage=answer.shrinkage,
            choice=np.column_stack([self.choice[:, :2], np.full(m, n_mu)]),
            **_WITHOUT_ANSWERS,
        )

    def save(self, path: str | Path) -> None:
        """Write an ``.npz`` file."""
        arrays = {f.name: getattr(self, f.name) for f in fields(self)}
        save_arrays(path, {name: array for name, array in arrays.items() if array is not None})

    @classmethod
    def load(cls, path: str | Path) -> Fits:
        """Read what `save` wrote."""
        return cls(**load_arrays(path))

    @classmethod
    def none(
        cls, tau: Array, lam: Array, mu: Array, searched: Array, tail: tuple[int, ...] = ()
    ) -> Fits:
        """Return the record without fits, the result of a batch without splits.

        `tail` are the further axes of weights and scores: (T,) for several classes.
        """
        grid = (0, len(searched), len(tau))
        n_mu = len(mu)
        empty_indptr = np.zeros(1, dtype=np.int64)
        integers = np.zeros(0, dtype=np.int64)
        return cls(
            split=np.zeros(0, dtype=str),
            permutation=integers,
            tau=tau,
            lam=lam,
            mu=mu,
            searched=searched,
            tau_max=np.zeros(0),
            norm=np.zeros(0),
            cv_error=np.zeros((*grid, len(lam))),
            cv_se=np.zeros((*grid, len(lam))),
            cv_size=np.zeros(grid),
            cv_agreement=np.zeros(grid),
            threshold=np.zeros(0),
            choice=np.zeros((0, 3), dtype=np.int64),
            indptr=empty_indptr,
            indices=integers,
            values=np.zeros((0, *tail)),
            intercept=np.zeros((0, n_mu, *tail)),
            gap=np.zeros((0, n_mu)),
            test_indptr=empty_indptr,
            test_rows=integers,
            scores=np.zeros((0, n_mu, *tail)),
        )

    @classmethod
    def concatenate(cls, parts: Sequence[Fits]) -> Fits:
        """Join records that share tau, lam and mu, in the order given."""
        parts = [part for part in parts if len(part)] or parts[:1]
        joined: dict[str, Array] = {name: getattr(parts[0], name) for name in SHARED_FIELDS}
        for name in ("indptr", "test_indptr", "answer_indptr", "rival_indptr"):
            if getattr(parts[0], name) is None:
                continue
            counts = np.concatenate([np.diff(getattr(part, name)) for part in parts])
            joined[name] = np.concatenate([[0], np.cumsum(counts)])
        for field in fields(cls):
            if field.name not in joined and getattr(parts[0], field.name) is not None:
                joined[field.name] = np.concatenate([getattr(part, field.name) for part in parts])
        return cls(**joined)

    @classmethod
    def gather(cls, batches: Sequence[Fits], splits: Sequence[str]) -> Fits:
        """Join batches and sort by permutation, then by the order of the named splits.

        Sums over the fits then do not depend on how the splits were batched.
        """
        all_fits = cls.concatenate(batches)
        split_order = {name: number for number, name in enumerate(splits)}
        keys = np.array([split_order[str(name)] for name in all_fits.split])
        return all_fits.take(np.lexsort((keys, all_fits.permutation)))

    def take(self, order: Array) -> Fits:
        """Return the fits with the given numbers, in that order."""
        arrays: dict[str, Array] = {name: getattr(self, name) for name in SHARED_FIELDS}
        n_mu = len(self.mu)
        list_numbers = (np.asarray(order, dtype=np.int64)[:, None] * n_mu + np.arange(n_mu)).ravel()
        answer_numbers = (np.asarray(order, dtype=np.int64)[:, None] * 2 + np.arange(2)).ravel()
        for name, ragged_fields, rows in (
            ("indptr", ("indices", "values"), list_numbers),
            ("test_indptr", ("test_rows", "scores", "answer_scores"), order),
            ("answer_indptr", ("answer_indices", "answer_values"), answer_numbers),
            ("rival_indptr", ("rival_indices",), order),
        ):
            if getattr(self, name) is None:
                continue
            arrays[name], entries = _take_ragged(getattr(self, name), rows)
            values_of = {key: getattr(self, key) for key in ragged_fields}
            arrays |= {
                key: values[entries] for key, values in values_of.items() if values is not None
            }
        for field in fields(self):
            if field.name not in arrays and getattr(self, field.name) is not None:
                arrays[field.name] = getattr(self, field.name)[order]
        return Fits(**arrays)


def covariate_part(C: Array, mean: Array, gamma: Array) -> Array:
    """Return the part of covariates C (n, q) with weights (n_mu, q) or (n_mu, q, T) in scores."""
    filled = np.where(np.isnan(C), mean, C)
    return np.asarray(filled @ gamma.T if gamma.ndim == 2 else np.tensordot(filled, gamma, (1, 1)))


ANSWERS = ("predictive", "fdr_selected")
"""The two final models of a fit: the predictive model, and the model of the FDR-selected genes."""
_ANSWER_FIELDS = (
    "indptr",
    "indices",
    "values",
    "intercept",
    "scores",
    "gamma",
    "line",
    "shrinkage",
)
_WITHOUT_ANSWERS: dict[str, Any] = dict.fromkeys(f"answer_{key}" for key in _ANSWER_FIELDS)

SHARED_FIELDS = ("tau", "lam", "mu", "searched")


def _take_ragged(indptr: Array, rows: Array) -> tuple[Array, Array]:
    """Return the indptr of the given rows of a ragged array, and the indices of their entries."""
    counts = np.diff(indptr)[rows]
    new_indptr = np.concatenate([[0], np.cumsum(counts)])
    return new_indptr, np.arange(new_indptr[-1]) + np.repeat(
        indptr[:-1][rows] - new_indptr[:-1], counts
    )


def joined(parts: Sequence[Fits], splits: Splits) -> Fits:
    """Return the fits of all batches, sorted by permutation and split, each exactly once.

    Raises
    ------
    GenesigError
        See `refuse_gaps`.
    """
    names = [split.name for split in splits.outer]
    fits = Fits.gather(parts, names)
    refuse_gaps(list(zip(map(int, fits.permutation), map(str, fits.split), strict=True)), names)
    return fits


def refuse_gaps(pairs: Sequence[tuple[int, str]], names: Sequence[str]) -> None:
    """Raise unless sorted (permutation, split) pairs hold each split once for each permutation.

    Raises
    ------
    GenesigError
        With the first missing or repeated pairs: a mean over fewer splits would look like a result.
    """
    expected_pairs = [
        (permutation, name)
        for permutation in sorted({permutation for permutation, _ in pairs})
        for name in names
    ]
    if pairs != expected_pairs:
        wrong_pairs = [pair for pair in expected_pairs if pairs.count(pair) != 1]
        examples = ", ".join(
            f"split {name} of permutation {permutation}"
            for permutation, name in islice(wrong_pairs, 5)
        )
        raise GenesigError(f"fits: {len(wrong_pairs)} are missing or there twice: {examples}")
