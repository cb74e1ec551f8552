"""Stage I and stage II of many splits, in a few arrays, and the fits of all jobs as one record.

Stage I searches tau, lambda and mu by the errors of the inner folds. Stage II fits gene lists that
grow with mu to the whole training set, each with a ridge refit. A fit is both, for one split under
one permutation of the labels. Its chosen list is the gene list at the tau, lambda and mu that
stage I chose. Lists of different lengths lie one after the other in ``indices``; ``indptr`` says
where each begins. Shapes: m fits, nnz genes of all lists, t test samples of all fits, T classes;
only arrays of several classes have that axis in weights and scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from genesig.arrays import Array, row_entries
from genesig.errors import GenesigError
from genesig.response.covariates import spline_columns
from genesig.results.dataset import Dataset
from genesig.results.files import load_arrays, save_arrays
from genesig.results.splits import Splits


@dataclass(frozen=True)
class GridSearch:
    """Stage I of m fits: the grid of settings and their validation errors over the inner folds."""

    tau: Array  # (n_tau,) float: fractions of `tau_max`
    lam: Array  # (n_lam,) float: in units of `norm`
    # (n_searched,) float: mu at which the inner folds were searched, in units of `norm`
    searched: Array
    tau_max: Array  # (m,) float: (2/n) max_j |x_j'y| of the training samples of each fit
    norm: Array  # (m,) float: ||X'X||/n of the training samples of each fit
    # (m, n_searched, n_tau, n_lam) float: mean validation error over the inner folds; NaN if a list
    # is longer than can be chosen
    error: Array
    # (m, n_searched, n_tau, n_lam) float: standard error of `error`; NaN as there
    standard_error: Array
    # (m, n_searched, n_tau) float: mean number of selected genes over the inner folds; NaN as in
    # `error`
    n_genes: Array
    # (m, n_searched, n_tau) float: similarity of the gene lists of the inner folds, if the settings
    # ask for it
    agreement: Array
    # (m, n_omics) float: chosen factors of the l1 terms of each omic; None if they were set
    factors: Array | None = None


@dataclass(frozen=True)
class CovariateWeights:
    """Stage II weights of the covariates in m fits, for r columns that splines make q columns."""

    # (m, n_mu, q) float, with several classes (m, n_mu, q, T): weights in units of each column
    gamma: Array
    mean: Array  # (m, q) float: mean of each column over the training samples
    # (m, r, K) float: knots of the splines, see `genesig.response.covariates.spline_columns`
    knots: Array


@dataclass(frozen=True)
class Answers:
    """The two final models of each of m fits, in the order of `ANSWERS`."""

    indptr: Array  # (2 m + 1,) int: index in `indices` at which each model begins
    indices: Array  # (nnz,) int: numbers of the genes with a weight
    values: Array  # (nnz,) or (nnz, T) float: weights per unit of the normalised expression
    intercept: Array  # (m, 2) or (m, 2, T) float: less the threshold
    # (t, 2) or (t, 2, T) float: of the test samples, less the threshold: above 0 is the positive
    # class
    scores: Array
    # (m,) bool: whether the predictive model has the genes of the selection frequencies
    controlled: Array
    # (m, 2, q) or (m, 2, q, T) float: weights of the covariates; None without covariates
    gamma: Array | None = None
    line: Array | None = None  # (m, 2, T + 1) float: see `Fits.line`
    shrinkage: Array | None = None  # (m, 2) float: see `Fits.shrinkage`
    crossfitted: Array | None = None  # (m, 2, n) float: see `Fits.crossfitted`


@dataclass(frozen=True)
class LassoLists:
    """A gene list of the lasso for each of m fits, as long as the list of the predictive model."""

    indptr: Array  # (m + 1,) int: index in `indices` at which the list of each fit begins
    indices: Array  # (nnz,) int: numbers of the genes


@dataclass(frozen=True)
class Fits:
    """Stage I and stage II of m (permutation, split) fits."""

    split: Array  # (m,) str: name of the split
    permutation: Array  # (m,) int: 0 for the observed labels, else the number of the permutation
    grid: GridSearch  # stage I
    # (n_mu,) float: of the lists of stage II, in units of `grid.norm`; NaN for a chosen list
    mu: Array
    choice: Array  # (m, 3) int: chosen indices into `grid.tau`, `grid.lam` and `mu`
    # (m,) float: a score above it means the positive class; NaN without a threshold
    threshold: Array
    # (m n_mu + 1,) int: index in `indices` at which the list of fit i at mu j, number `i * n_mu +
    # j`, begins
    indptr: Array
    indices: Array  # (nnz,) int: numbers of the selected genes
    # (nnz,) or, with several classes, (nnz, T) float: weight of each gene per unit of the
    # normalised (not yet gene-scaled) expression
    values: Array
    intercept: Array  # (m, n_mu) or (m, n_mu, T) float
    # (m, n_mu) float: duality gap of each selection, relative to ||y||²/n; NaN without a list,
    # because the list was too long to be kept
    gap: Array
    test_indptr: Array  # (m + 1,) int: index in `test_rows` at which each fit begins
    test_rows: Array  # (t,) int: row numbers of the test samples
    scores: Array  # (t, n_mu) or (t, n_mu, T) float: scores f(x) of the test samples
    covariates: CovariateWeights | None = None  # None without covariates
    answers: Answers | None = None  # None if the chosen list is the only answer
    # (m, T + 1) float: with classes, the line of probabilities (see `optim.classes`) of the chosen
    # list, from scores less the threshold; NaN if the line cannot be estimated
    line: Array | None = None
    # (m,) float: slope of `line` over the slope that the held-out samples gave, 0 to 1
    shrinkage: Array | None = None
    # (m, n) float: score of each training sample by models that left it out, less the threshold,
    # for the chosen list; NaN for other samples. None without a rule in the section `decision`
    crossfitted: Array | None = None
    lasso_lists: LassoLists | None = None  # only of half-samples

    def __len__(self) -> int:
        """Return the number of fits."""
        return len(self.split)

    def coef(self, fit: int, mu: int) -> tuple[Array, Array]:
        """Return (indices, values) of the non-zero coefficients of one fit at one mu.

        mu: index in `mu`.
        """
        entries = row_entries(self.indptr, fit * len(self.mu) + mu)
        return self.indices[entries], self.values[entries]

    def chosen_coef(self, fit: int) -> tuple[Array, Array]:
        """Return (indices, values) of the chosen list of one fit.

        Only for records from `with_chosen` or `answer`, whose last list it is.
        """
        if not np.isnan(self.mu[-1]):
            raise GenesigError("these fits have no chosen list: take that of with_chosen()")
        return self.coef(fit, len(self.mu) - 1)

    def covariate_scores(self, fit: int, C: Array) -> Array | float:
        """Return the part of covariates C (n, r) in the scores of a fit, (n, n_mu) or (n, n_mu, T).

        0 without covariates. NaN counts as the mean of the training samples.
        """
        if self.covariates is None:
            return 0.0
        weights = self.covariates
        return covariate_part(
            spline_columns(C, weights.knots[fit]), weights.mean[fit], weights.gamma[fit]
        )

    def strength(self) -> Array:
        """Return the weights, or for several classes the norm of each gene's weights, (nnz,)."""
        weights: Array = self.values
        return weights if weights.ndim == 1 else np.sqrt(np.square(weights).sum(axis=1))

    def test_scores(self, fit: int) -> tuple[Array, Array]:
        """Return (rows, scores) of the test samples of one fit; scores (n_test, n_mu)."""
        entries = row_entries(self.test_indptr, fit)
        return self.test_rows[entries], self.scores[entries]

    def sizes(self) -> Array:
        """Return the number of genes of each list, (m, n_mu); NaN if the list was too long."""
        list_sizes = np.diff(self.indptr).reshape(len(self), len(self.mu))
        return np.where(np.isnan(self.gap), np.nan, list_sizes)

    @property
    def chosen_lists(self) -> Array:
        """Index in `mu` of the chosen list of each fit, (m,)."""
        return np.asarray(self.choice[:, 2])

    @property
    def whole(self) -> Array:
        """Mask (n_mu,) of the mu at which every fit has a list."""
        return np.asarray(~np.isnan(self.gap).any(axis=0))

    def with_chosen(self) -> Fits:
        """Return the fits with the chosen list of each fit appended as a last list, with mu NaN.

        All that is measured for each mu is then also measured for the chosen list, whose mu differs
        between fits. With `answers`, the predictive model takes its place, and the threshold is
        subtracted from all scores.
        """
        if self.answers is not None:
            return self._append_answer(self.answer("predictive"))
        m = len(self)
        n_mu = len(self.mu)
        mu = self.chosen_lists
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
            covariates=(
                None
                if self.covariates is None
                else replace(
                    self.covariates,
                    gamma=self.covariates.gamma[np.arange(m)[:, None], list_indices],
                )
            ),
        )

    def answer(self, name: str) -> Fits:
        """Return the fits with one of the `ANSWERS` as their only list, with mu NaN.

        The threshold is subtracted from its scores, and is 0 in the result.
        """
        if self.answers is None:
            raise GenesigError("these fits have no answers: the chosen list is the only model")
        answers = self.answers
        answer_number = ANSWERS.index(name)
        m = len(self)
        indptr, entries = _take_ragged(answers.indptr, 2 * np.arange(m) + answer_number)
        column = np.array([answer_number])  # an array keeps the axis of the lists, of length 1
        return replace(
            self,
            mu=np.array([np.nan]),
            indptr=indptr,
            indices=answers.indices[entries],
            values=answers.values[entries],
            intercept=answers.intercept[:, column],
            scores=answers.scores[:, column],
            threshold=np.zeros(m),
            covariates=(
                None
                if answers.gamma is None or self.covariates is None
                else replace(self.covariates, gamma=answers.gamma[:, column])
            ),
            gap=np.zeros((m, 1)),  # not NaN, which would say that there is no list
            line=None if answers.line is None else answers.line[:, answer_number],
            shrinkage=None if answers.shrinkage is None else answers.shrinkage[:, answer_number],
            crossfitted=(
                None if answers.crossfitted is None else answers.crossfitted[:, answer_number]
            ),
            choice=self.choice * [1, 1, 0],  # the only list has index 0
            answers=None,
        )

    def _append_answer(self, answer: Fits) -> Fits:
        """Return the fits with the single list of `answer` appended; scores less the threshold."""
        m = len(self)
        n_mu = len(self.mu)
        n_test = np.diff(self.test_indptr)
        further_axes = [1] * (self.scores.ndim - 1)  # of the lists, and of several classes
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
                [self.intercept - self.threshold.reshape(-1, *further_axes), answer.intercept],
                axis=1,
            ),
            scores=np.concatenate(
                [
                    self.scores - np.repeat(self.threshold, n_test).reshape(-1, *further_axes),
                    answer.scores,
                ],
                axis=1,
            ),
            covariates=(
                None
                if self.covariates is None or answer.covariates is None
                else replace(
                    self.covariates,
                    gamma=np.concatenate([self.covariates.gamma, answer.covariates.gamma], axis=1),
                )
            ),
            gap=np.concatenate([self.gap, answer.gap], axis=1),
            threshold=answer.threshold,
            line=answer.line,
            shrinkage=answer.shrinkage,
            crossfitted=answer.crossfitted,
            choice=np.column_stack([self.choice[:, :2], np.full(m, n_mu)]),
            answers=None,
        )

    def arrays(self) -> dict[str, Array]:
        """Return the arrays that are not None, of the records too, by their keys in the file."""
        arrays: dict[str, Array] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in RECORDS and value is not None:
                _, keys = RECORDS[field.name]
                arrays |= {key: getattr(value, name) for name, key in keys.items()}
            elif field.name not in RECORDS:
                arrays[field.name] = value
        return {key: array for key, array in arrays.items() if array is not None}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Fits:
        """Return the fits of the arrays that `arrays` returns; a record without arrays is None."""
        values: dict[str, Any] = {
            field.name: arrays[field.name] for field in fields(cls) if field.name in arrays
        }
        for field_name, (record, keys) in RECORDS.items():
            record_arrays = {name: arrays[key] for name, key in keys.items() if key in arrays}
            values[field_name] = record(**record_arrays) if record_arrays else None
        return cls(**values)

    def save(self, path: str | Path) -> None:
        """Write an ``.npz`` file."""
        save_arrays(path, self.arrays())

    @classmethod
    def load(cls, path: str | Path) -> Fits:
        """Read what `save` wrote."""
        return cls.from_arrays(load_arrays(path))

    @classmethod
    def none(
        cls, tau: Array, lam: Array, mu: Array, searched: Array, tail: tuple[int, ...] = ()
    ) -> Fits:
        """Return the record without fits, the result of a batch without splits.

        `tail` are the further axes of weights and scores: (T,) for several classes.
        """
        grid_shape = (0, len(searched), len(tau))
        n_mu = len(mu)
        empty_indptr = np.zeros(1, dtype=np.int64)
        integers = np.zeros(0, dtype=np.int64)
        return cls(
            split=np.zeros(0, dtype=str),
            permutation=integers,
            grid=GridSearch(
                tau=tau,
                lam=lam,
                searched=searched,
                tau_max=np.zeros(0),
                norm=np.zeros(0),
                error=np.zeros((*grid_shape, len(lam))),
                standard_error=np.zeros((*grid_shape, len(lam))),
                n_genes=np.zeros(grid_shape),
                agreement=np.zeros(grid_shape),
            ),
            mu=mu,
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
        # A record without fits has empty arrays of other shapes; the grid of one is still needed.
        parts = [part for part in parts if len(part)] or parts[:1]
        arrays_of_parts = [part.arrays() for part in parts]
        first_arrays = arrays_of_parts[0]
        joined: dict[str, Array] = {name: first_arrays[name] for name in SHARED_ARRAYS}
        for name in ("indptr", "test_indptr", "answer_indptr", "rival_indptr"):
            if name in first_arrays:
                counts = np.concatenate([np.diff(arrays[name]) for arrays in arrays_of_parts])
                joined[name] = np.concatenate([[0], np.cumsum(counts)])
        for name in first_arrays:
            if name not in joined:
                joined[name] = np.concatenate([arrays[name] for arrays in arrays_of_parts])
        return cls.from_arrays(joined)

    @classmethod
    def gather(cls, batches: Sequence[Fits], splits: Sequence[str]) -> Fits:
        """Join batches and sort by permutation, then by the order of the named splits.

        Sums over the fits then do not depend on how the splits were batched.
        """
        all_fits = cls.concatenate(batches)
        split_order = {name: number for number, name in enumerate(splits)}
        split_numbers = np.array([split_order[str(name)] for name in all_fits.split])
        return all_fits.take(np.lexsort((split_numbers, all_fits.permutation)))

    def take(self, order: Array) -> Fits:
        """Return the fits with the given numbers, in that order."""
        arrays = self.arrays()
        taken: dict[str, Array] = {name: arrays[name] for name in SHARED_ARRAYS}
        n_mu = len(self.mu)
        list_numbers = (np.asarray(order, dtype=np.int64)[:, None] * n_mu + np.arange(n_mu)).ravel()
        # The answers of a fit are two rows, `len(ANSWERS)`, of their ragged array.
        answer_numbers = (np.asarray(order, dtype=np.int64)[:, None] * 2 + np.arange(2)).ravel()
        for name, ragged_arrays, rows in (
            ("indptr", ("indices", "values"), list_numbers),
            ("test_indptr", ("test_rows", "scores", "answer_scores"), order),
            ("answer_indptr", ("answer_indices", "answer_values"), answer_numbers),
            ("rival_indptr", ("rival_indices",), order),
        ):
            if name in arrays:
                taken[name], entries = _take_ragged(arrays[name], rows)
                taken |= {key: arrays[key][entries] for key in ragged_arrays if key in arrays}
        taken |= {name: array[order] for name, array in arrays.items() if name not in taken}
        return Fits.from_arrays(taken)


@dataclass(frozen=True)
class CrossValidation:
    """A study and its nested cross-validation with the observed labels."""

    dataset: Dataset  # after the row-wise steps
    splits: Splits
    fits: Fits  # of each outer split exactly once, in the order of the splits

    @classmethod
    def load(cls, files: Any) -> CrossValidation:
        """Read the inputs `dataset`, `splits` and `observed` (a list of batches) of a rule.

        Raises GenesigError: see `refuse_gaps`.
        """
        batches = [Fits.load(path) for path in files.observed]
        return cls.from_batches(Dataset.load(files.dataset), Splits.load(files.splits), batches)

    @classmethod
    def from_batches(
        cls, dataset: Dataset, splits: Splits, batches: Sequence[Fits]
    ) -> CrossValidation:
        """Return the record of the batches, in any order; see `join_batches`."""
        return cls(dataset, splits, join_batches(batches, splits))


def covariate_part(C: Array, mean: Array, gamma: Array) -> Array:
    """Return the part of scores from covariates C (n, q), gamma (n_mu, q) or (n_mu, q, T).

    NaN in C counts as `mean` (q,). The part has the shape (n, n_mu) or (n, n_mu, T).
    """
    filled = np.where(np.isnan(C), mean, C)
    return np.asarray(filled @ gamma.T if gamma.ndim == 2 else np.tensordot(filled, gamma, (1, 1)))


ANSWERS = ("predictive", "fdr_selected")
"""The two final models of a fit: the predictive model, and the model of the FDR-selected genes."""

RECORDS: dict[str, tuple[type, dict[str, str]]] = {
    "grid": (
        GridSearch,
        {
            "tau": "tau",
            "lam": "lam",
            "searched": "searched",
            "tau_max": "tau_max",
            "norm": "norm",
            "error": "cv_error",
            "standard_error": "cv_se",
            "n_genes": "cv_size",
            "agreement": "cv_agreement",
            "factors": "factors",
        },
    ),
    "covariates": (
        CovariateWeights,
        {"gamma": "gamma", "mean": "covariate_mean", "knots": "knots"},
    ),
    "answers": (
        Answers,
        {
            "indptr": "answer_indptr",
            "indices": "answer_indices",
            "values": "answer_values",
            "intercept": "answer_intercept",
            "scores": "answer_scores",
            "controlled": "controlled",
            "gamma": "answer_gamma",
            "line": "answer_line",
            "shrinkage": "answer_shrinkage",
            "crossfitted": "answer_crossfitted",
        },
    ),
    "lasso_lists": (LassoLists, {"indptr": "rival_indptr", "indices": "rival_indices"}),
}
"""Records of `Fits`: their type, and the key in the file of each of their arrays."""

SHARED_ARRAYS = ("tau", "lam", "mu", "searched")  # keys of arrays that all fits share


def _take_ragged(indptr: Array, rows: Array) -> tuple[Array, Array]:
    """Return the indptr of some rows of a ragged array, and the indices of their entries.

    rows: numbers of the rows, in any order, also repeated.
    """
    counts = np.diff(indptr)[rows]
    new_indptr = np.concatenate([[0], np.cumsum(counts)])
    shifts = indptr[:-1][rows] - new_indptr[:-1]  # from the new place of each row to the old one
    return new_indptr, np.arange(new_indptr[-1]) + np.repeat(shifts, counts)


def join_batches(parts: Sequence[Fits], splits: Splits) -> Fits:
    """Return the fits of all batches, sorted by permutation and split, each exactly once.

    Raises GenesigError: see `refuse_gaps`.
    """
    names = [split.name for split in splits.outer]
    fits = Fits.gather(parts, names)
    refuse_gaps(list(zip(map(int, fits.permutation), map(str, fits.split), strict=True)), names)
    return fits


def refuse_gaps(pairs: Sequence[tuple[int, str]], names: Sequence[str]) -> None:
    """Raise unless sorted (permutation, split) pairs hold each split once for each permutation.

    Raises GenesigError: with the first missing or repeated pairs: a mean over fewer splits would
        look like a result.
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
