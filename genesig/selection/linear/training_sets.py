"""Training sets of the nested cross-validation, the settings of a fit, and the matrices they share.

A permutation moves rows of X against all that stays with a sample: label, covariates, weight,
group, side of the split, inner fold and halves. So the permuted study has the splits of the
observed one. With covariates the matrix itself is permuted, see
`assess.covariates.exchange_residuals`, and every row stays.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import groupby
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.data.splits.draw import draw_permutation
from genesig.data.splits.folds import PERMUTATION, HalfCounts, Samples
from genesig.data.steps.alignment import Alignments
from genesig.data.steps.normalise import (
    MOMENT_STEPS,
    Steps,
    alignments_to_choose,
    fit_reference_steps,
    learned_steps,
    steps_by_training_set,
    with_response,
)
from genesig.errors import GenesigError
from genesig.response.covariates import spline_columns
from genesig.response.design import decision_rules_in
from genesig.results import Dataset, Split, Splits
from genesig.selection.assess.clusters import group_numbers
from genesig.selection.assess.covariates import Covariates, exchange_residuals
from genesig.words import counted

log = logging.getLogger(__name__)

NO_HALVES = HalfCounts()

MAX_MOMENTS = 5e6  # means and scales, of each gene and training set or half, in one call


@dataclass(frozen=True)
class TrainingSet:
    """One outer split under one permutation of the labels; rows are those of X."""

    split: str  # name of the split
    permutation: int  # number of the permutation, 0 for the observed labels
    y: Array  # (n,) response of each row of X under this permutation
    train: Array  # rows of the training samples, ascending
    test: Array  # rows of the test samples
    inner_folds: tuple[Array, ...]  # validation rows of each inner fold, ascending
    label_rows: Array
    """(n_test,) int: sample (row of the sample table) whose label each test row has; `test` itself
    if no row moves."""
    kind: str  # kind of the response, a key of `kinds.FITTINGS`
    ties: str | None = None  # treatment of ties in survival times; None for other responses
    covariates: Covariates | None = None
    """Covariates and weights of each row of X under this permutation; None without both."""
    halves: Array = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    """(n, 2 P) bool: halves of the training rows, see `Samples.draw_halves`; P may be 0."""
    inner_halves: Array = field(default_factory=lambda: np.zeros((0, 0, 0), dtype=bool))
    """(n_folds, n, 2 p) bool: halves of the rows that train each inner fold; n_folds may be 0."""
    group: Array | None = None
    """(n,) int: number of the group of the sample at each row of X; None without groups."""
    matrix_permutation: Array | None = None
    """(n,) int: `row_of_sample` of `exchange_residuals`, which permutes X; None if rows move."""

    def training_mask(self) -> Array:
        """Return the (n, 1) mask of training rows."""
        return _row_mask(len(self.y), self.train)[:, None]

    def inner_training_masks(self) -> Array:
        """Return the (n, n_folds) mask of the rows that train each inner fold."""
        return np.asarray(self.training_mask() & ~self.validation_masks())

    def validation_masks(self) -> Array:
        """Return the (n, n_folds) mask of the validation rows of each inner fold."""
        return np.stack([_row_mask(len(self.y), fold) for fold in self.inner_folds], axis=1)

    def knots(self) -> Array:
        """Return the K knots of each of r covariates, (r, K), from the training rows."""
        assert self.covariates is not None
        return self.covariates.training_knots(self.training_mask()[:, 0])

    def test_covariates(self) -> Array:
        """Return the covariates of the test rows as the model has them, (n_test, q)."""
        assert self.covariates is not None
        return spline_columns(self.covariates.values[self.test], self.knots())


def _row_mask(length: int, rows: Array) -> Array:
    """Return the mask (length,) that is true at some rows."""
    mask = np.zeros(length, dtype=bool)
    mask[rows] = True
    return mask


def permutation_numbers(labels: str) -> list[int]:
    """Return [0] for ``observed`` and [3, 4, 5] for ``permuted-003-005``."""
    if labels == "observed":
        return [0]
    match = re.fullmatch(r"permuted-(\d+)-(\d+)", labels)
    if not match:
        raise GenesigError(f"labels '{labels}': expected observed or permuted-FIRST-LAST")
    first, last = map(int, match.groups())
    return list(range(first, last + 1))


def batch_of(splits: tuple[Split, ...], batch: str) -> tuple[Split, ...]:
    """Return the splits of batch ``2of3``: every third split, from the second on."""
    number, count = map(int, batch.split("of"))
    return splits[number - 1 :: count]


@dataclass(frozen=True)
class NormalisedMatrix:
    """A matrix after the steps learned on training rows, and the training sets that share it."""

    study: PreparedStudy
    X: Array  # (n, d) float: not yet centred and scaled, which the solvers do for each training set
    genes: Array  # (d,) int: number in the data set of the gene of each column, ascending
    training_sets: list[TrainingSet]

    def subset(self, numbers: Iterable[Any]) -> NormalisedMatrix:
        """Return the matrix with some of its training sets, by their positions."""
        return replace(self, training_sets=[self.training_sets[number] for number in numbers])


@dataclass(frozen=True)
class PreparedStudy:
    """A study as it enters the loops, which take their training sets and matrices from it.

    All that training sets share, such as covariates and bound steps, is computed once.
    """

    dataset: Dataset  # after the row-wise steps
    splits: Splits
    fold_steps: Steps  # steps learned on training rows: ``normalise.folds`` of the config

    @classmethod
    def load(cls, files: Any, fold_steps: Steps) -> PreparedStudy:
        """Read the inputs `dataset` and `splits` of a rule."""
        return cls(Dataset.load(files.dataset), Splits.load(files.splits), fold_steps)

    @cached_property
    def samples(self) -> Samples:
        """The samples, by which halves are drawn."""
        return Samples.from_dataset(self.dataset)

    @cached_property
    def covariates(self) -> Covariates | None:
        """Covariates and weights of the samples; None without both."""
        return Covariates.from_dataset(self.dataset)

    @cached_property
    def bound_steps(self) -> Steps:
        """`fold_steps` after the alignment of studies, bound to the tables of the data set."""
        return learned_steps(self.fold_steps, self.dataset)

    @cached_property
    def alignments(self) -> Alignments | None:
        """Ways to align the studies of a pool, if each training set chooses one; otherwise None."""
        return alignments_to_choose(self.dataset)

    def make_training_sets(
        self,
        splits: Iterable[Split],
        permutations: Iterable[int] = (0,),
        *,
        half_counts: HalfCounts = NO_HALVES,
        stage: int = PERMUTATION,
    ) -> list[TrainingSet]:
        """Return the training set of each split under each permutation, permutations outermost.

        Permutation 0 has the observed labels. `stage` separates the random numbers of permutations
        that serve different tests.
        """
        dataset = self.dataset
        y = dataset.response()
        covariates = self.covariates
        group = group_numbers(dataset.groups())
        # Halves stay with the samples, so that all permutations share them.
        halves_by_split = [
            (split, *self.samples.draw_halves_of_split(split, half_counts, self.splits.seed))
            for split in splits
        ]
        training_sets = []
        for permutation in permutations:
            # row_of_sample[i] is the row of X that sample i takes
            row_of_sample = draw_permutation(dataset, self.splits, permutation, stage)
            matrix_permutation = None
            if permutation and dataset.design.covariates:  # X is permuted, and the rows stay
                matrix_permutation = row_of_sample
                row_of_sample = np.arange(len(matrix_permutation))
            sample_of_row = np.argsort(row_of_sample)
            make_training_set = partial(
                TrainingSet,
                permutation=permutation,
                y=y[sample_of_row],
                kind=dataset.design.kind,
                ties=dataset.design.ties,
                covariates=None if covariates is None else covariates.permute(row_of_sample),
                group=None if group is None else group[sample_of_row],
                matrix_permutation=matrix_permutation,
            )
            for split, halves, inner_halves in halves_by_split:
                label_rows = dataset.rows(split.test)
                training_sets.append(
                    make_training_set(
                        split=split.name,
                        train=np.sort(row_of_sample[dataset.rows(split.train)]),
                        test=row_of_sample[label_rows],  # not sorted: in the order of label_rows
                        inner_folds=tuple(
                            np.sort(row_of_sample[dataset.rows(fold)]) for fold in split.inner
                        ),
                        label_rows=label_rows,
                        halves=halves[sample_of_row],
                        inner_halves=inner_halves[:, sample_of_row],
                    )
                )
        return training_sets

    def group_by_matrix(
        self, training_sets: list[TrainingSet], max_training_sets: int
    ) -> Iterator[NormalisedMatrix]:
        """Yield each normalised matrix with the training sets that share it, in their order.

        Without steps that learn from training rows (quantile, filters) all training sets share X;
        batches then have about `max_training_sets` sets, inner folds included. Otherwise each set
        has a matrix. With covariates each permutation has a matrix. If each training set chooses
        how the studies of a pool are aligned (see `Alignments`), consecutive ones with the same
        choice share a matrix.

        training_sets: permutations outermost, as `make_training_sets` returns them; only
            consecutive ones can share a matrix.
        """

        def permutation_of_matrix(training_set: TrainingSet) -> int:
            return 0 if training_set.matrix_permutation is None else training_set.permutation

        for _, members in groupby(training_sets, permutation_of_matrix):
            subset = list(members)
            matrix_permutation = subset[0].matrix_permutation
            for X, aligned_subset in self._align_studies(subset, matrix_permutation):
                exchanged = X
                if matrix_permutation is not None:
                    exchanged = exchange_residuals(replace(self.dataset, X=X), matrix_permutation)
                yield from self._normalise(exchanged, aligned_subset, max_training_sets)

    def _align_studies(
        self, training_sets: list[TrainingSet], matrix_permutation: Array | None
    ) -> Iterator[tuple[Array, list[TrainingSet]]]:
        """Yield X with its studies aligned in one way, and the training sets that choose this way.

        Training samples choose the way with the smallest error. Without a choice the X of the data
        set and all training sets are yielded at once.
        """
        if self.alignments is None:
            yield self.dataset.X, training_sets
            return
        exchange_matrix = None
        if matrix_permutation is not None:  # it is linear in X, so that a matrix (n, n) can do it
            identity = replace(self.dataset, X=np.eye(len(matrix_permutation)))
            exchange_matrix = exchange_residuals(identity, matrix_permutation)
        alignment_names = [
            self.alignments.choose_best(
                self.dataset.response_kind.numeric_response(training_set.y[training_set.train]),
                training_set.train,
                exchange_matrix,
            )
            for training_set in training_sets
        ]
        named_sets = zip(alignment_names, training_sets, strict=True)
        for name, pairs in groupby(named_sets, lambda pair: pair[0]):
            yield self.alignments.aligned_copy(name), [member for _, member in pairs]

    def _normalise(
        self, X: Array, training_sets: list[TrainingSet], max_training_sets: int
    ) -> Iterator[NormalisedMatrix]:
        """Yield each matrix that the learned steps make of X, with its training sets.

        Rows of the sample table stay beside the rows of X, so that each row keeps its batch. The
        response is that of ``training_set.y``, which a permutation changes.
        """
        obs = self.dataset.obs
        if all(step["step"] in MOMENT_STEPS for step in self.bound_steps):
            # Only centring and scaling is learned. The solver does it, so that sets share X.
            genes = fit_reference_steps(X, self.bound_steps).genes
            n_folds = max(len(training_set.inner_folds) for training_set in training_sets)
            batch_size = max(1, max_training_sets // (1 + n_folds))
            for start in range(0, len(training_sets), batch_size):
                yield NormalisedMatrix(self, X, genes, training_sets[start : start + batch_size])
            return
        # Computations that training sets share are done once, and kept in the settings of steps.
        steps_of_set = steps_by_training_set(
            X, self.bound_steps, [training_set.train for training_set in training_sets]
        )
        for training_set, steps in zip(training_sets, steps_of_set, strict=True):
            train = training_set.train
            steps_with_response = with_response(steps, self.dataset, training_set.y[train])
            try:
                reference = fit_reference_steps(X[train], steps_with_response, obs.iloc[train])
            except GenesigError as error:
                raise GenesigError(f"split {training_set.split}: {error}") from error
            n_uncorrected = reference.uncorrected(obs).sum()
            if training_set.permutation == 0 and n_uncorrected:
                log.warning(
                    "split %s: combat leaves %s as measured, because %s batch has fewer than 2 "
                    "training samples",
                    training_set.split,
                    counted(n_uncorrected, "sample"),
                    "its" if n_uncorrected == 1 else "their",
                )
            normalised = reference.transform(X, obs)
            yield NormalisedMatrix(self, normalised, reference.genes, [training_set])


LIST_LENGTHS = (5, 10, 20, 35, 50, 70, 100)  # from which inner folds choose for an ensemble

LEARNED_FACTORS = "learned"  # value of ``data.omics`` if the inner folds choose the penalty factors

MAX_DEFAULT_MU = 1e-2  # in units of ||X'X||/n, searched by default: beyond it, lists are long


@dataclass(frozen=True, kw_only=True)
class TauGrid:
    """Grid of tau as falling fractions of tau_max."""

    tau_min: float  # smallest fraction
    tau_count: int  # number of fractions

    def tau_fractions(self) -> Array:
        """Return the fractions, (tau_count,), falling; tau_max itself selects nothing."""
        return np.geomspace(1.0, self.tau_min, self.tau_count + 1)[1:]


@dataclass(frozen=True, kw_only=True)
class AnswerSettings:
    """Keys of the section ``signature`` that decide which genes the final models have."""

    most: float
    """Largest number of genes of a list that the inner folds may choose: a whole number in the
    config, a mean length in `GridChoice.choose_again`."""
    list_mu: float | None
    """Key ``mu``: mu of the list of the rule ``minimal``; None is the first of the grid."""
    fdr: float  # false discovery rate of the FDR-selected genes
    least: int  # smallest number of genes of a list by selection frequency, whatever their FDR
    size: int | None  # number of genes of a list by selection frequency; None if the FDR decides it


@dataclass(frozen=True, kw_only=True)
class LinearSettings(TauGrid, AnswerSettings):
    """Settings of a linear fit: keys of the section ``linear``, and what other sections add.

    mu and lambda count in units of ||X'X||/n, tau in fractions of tau_max.
    """

    list: str  # rule by which the predictive list is chosen, a key of `grid.CHOICE_RULES`
    model: str  # ``two_stage`` predicts by one list, ``ensemble`` by the mean of three models
    penalty: str  # ``l1``, or ``fused`` for step functions along chromosomes
    jump: float  # cost of each end of a stretch in the penalty ``fused``, in genes
    lam: Sequence[float]  # lambdas of the ridge refit, from which the inner folds choose
    mu: Sequence[float]  # mu of the nested lists of stage II, rising
    mu_choice: Sequence[float] | None
    """mu from which the inner folds choose; None for those of `mu` up to `MAX_DEFAULT_MU`."""
    longest: int | None  # most genes of a nested list; the path ends before a longer one
    criterion: str  # validation error of the inner folds, of `kinds.CRITERIA`; survival has its own
    one_standard_error: bool
    """Whether the rule ``minimal`` takes the sparsest list within one standard error."""
    threshold: str  # ``midpoint`` of the class means of out-of-fold scores, or ``zero``
    solver: str  # solver of the squared error, a name in `optim.solvers.SOLVERS`
    tolerance: float  # relative duality gap at which a solver ends
    learn_omics: bool  # whether ``data.omics`` is ``learned``: inner folds choose the factors
    crossfitted: bool  # whether cross-fitted scores are stored, for the section ``decision``

    def searched_mu(self) -> Array:
        """Return the mu that the inner folds search for the stable list, (n_searched,)."""
        default_mu = [value for value in self.mu if value <= MAX_DEFAULT_MU] or self.mu[:1]
        return np.asarray(default_mu if self.mu_choice is None else self.mu_choice, dtype=float)

    def lam_grid(self) -> Array:
        """Return lambda in rising order, (n_lam,), whatever the order in the config."""
        return np.sort(np.asarray(self.lam, dtype=float))


def linear_keywords(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords of `LinearSettings` from a resolved config."""
    signature = config["signature"]
    signature_settings = {key: signature[key] for key in ("most", "fdr", "least", "size")}
    return {
        **config["linear"],
        **signature_settings,
        "list_mu": signature["mu"],
        "learn_omics": config["data"]["omics"] == LEARNED_FACTORS,
        "crossfitted": bool(decision_rules_in(config["decision"])),
    }
