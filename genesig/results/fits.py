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
    """Stage I and stage II of several (permutation, split) fits.

    Attributes
    ----------
    split : (m,) str
        Name of the split of each fit.
    permutation : (m,) int
        0 for the observed labels, else the number of the permutation.
    tau, lam, mu : (n_tau,), (n_lam,), (n_mu,) float
        tau as a fraction of `tau_max`; lam and mu in units of ``norm``.
    tau_max, norm : (m,) float
        (2/n) max_j |x_j'y| and ||X'X||/n of the training rows of each fit.
    searched : (n_searched,) float
        mu at which the inner folds were searched.
    cv_error, cv_se : (m, n_searched, n_tau, n_lam) float
        Mean validation error over the inner folds and its standard error; NaN where lists were
        longer than can be chosen.
    cv_size, cv_agreement : (m, n_searched, n_tau) float
        Mean number of selected genes over the inner folds, NaN as above; how alike their lists
        are, where that was asked for.
    choice : (m, 3) int
        Chosen indices into `tau`, `lam` and `mu`: the list that is the answer.
    threshold : (m,) float
        Where the scores of a fit are cut: above it, the positive class. NaN where it was not set.
    indptr, indices, values : (m * n_mu + 1,), (nnz,), (nnz,)
        Coefficients of fit i at mu j, ``slice(indptr[i*n_mu+j], indptr[i*n_mu+j+1])``: gene
        number and weight per unit of the normalised (not yet gene-scaled) expression.
        With several classes (nnz, T): a weight for each class.
    intercept : (m, n_mu) or (m, n_mu, T) float
    gap : (m, n_mu) float
        Duality gap of each stage II selection, relative to ||y||²/n; NaN where lists were too long
        to be kept, so that there is none.
    test_indptr, test_rows, scores : (m + 1,), (t,), (t, n_mu) or (t, n_mu, T)
        Row numbers of the test samples of each fit and the score f(x) of each.
    gamma, covariate_mean : (m, n_mu, q), (m, q) float, or None
        Weight of each covariate, in its own units, (m, n_mu, q, T) with several classes; and
        its mean over the training samples; None where the study has none.
    knots : (m, r, K) float, or None
        Of the splines of each fit's covariates, see `genesig.response.covariates.splined`.
    answer_indptr, answer_indices, answer_values : (2 m + 1,), (nnz,), (nnz,) or (nnz, T)
        The two answers of each fit, in the order of `ANSWERS`, as coefficients above. None, as
        all that follows, where the chosen list is the only answer.
    answer_intercept, answer_scores : (m, 2) or (m, 2, T), (t, 2) or (t, 2, T)
        Less the threshold: above 0 the positive class.
    answer_gamma : (m, 2, q) or (m, 2, q, T), or None
    line, answer_line : (m, T + 1), (m, 2, T + 1), or None
        Of classes, the line of the probabilities (see `class_line`) of the chosen list and of the
        answers, from scores less the threshold; NaN where nothing tells it.
    shrinkage, answer_shrinkage : (m,), (m, 2), or None
        Slope of each line over the slope that the left-out samples gave, 0 to 1.
    controlled : (m,) bool
        Whether the list of the predictive model is that of the selection frequencies.
    rival_indptr, rival_indices : (m + 1,), (nnz,) int, or None
        Genes of a list of the lasso, as long as the one that predicts; of halves of the samples.
    factors : (m, n_omics) float, or None
        What each fit chose to multiply the l1 terms of each omic by; None where that was given.
    """

    split: Array
    permutation: Array
    tau: Array
    lam: Array
    mu: Array
    searched: Array
    tau_max: Array
    norm: Array
    cv_error: Array
    cv_se: Array
    cv_size: Array
    cv_agreement: Array
    choice: Array
    threshold: Array
    indptr: Array
    indices: Array
    values: Array
    intercept: Array
    gap: Array
    test_indptr: Array
    test_rows: Array
    scores: Array
    gamma: Array | None = None
    covariate_mean: Array | None = None
    knots: Array | None = None
    answer_indptr: Array | None = None
    answer_indices: Array | None = None
    answer_values: Array | None = None
    answer_intercept: Array | None = None
    answer_scores: Array | None = None
    answer_gamma: Array | None = None
    controlled: Array | None = None
    line: Array | None = None
    answer_line: Array | None = None
    shrinkage: Array | None = None
    answer_shrinkage: Array | None = None
    rival_indptr: Array | None = None
    rival_indices: Array | None = None
    factors: Array | None = None

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
