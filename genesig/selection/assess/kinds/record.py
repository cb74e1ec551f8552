"""Held-out scores of a study, and the functions that assess them for one kind of response."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.optim.adjustment import Adjustment
from genesig.selection.assess.intervals import Interval

Classes = tuple[str, ...] | None


@dataclass(frozen=True)
class HeldOut:
    """Every held-out score of a study, one row per (permutation, split, test sample)."""

    # (t,) response of the test sample; under a permutation that of its place, see `row`
    y: Array
    # (t,) int, row of the data set whose label and place in the splits the test sample has
    row: Array
    # (t,) int, number of the split in ``splits.outer``, of its repeat, and of the permutation
    split: Array
    repeat: Array
    permutation: Array
    # (t, m) float, f(x) less the threshold of its fit, a column per mu: above 0 the positive class;
    # of several classes (t, m, T), the largest of which is the prediction
    scores: Array
    # mean of n_test/n_train over the splits
    ratio: float
    # (t,) int, number of the sample's group, such as its patient; None if each is its own group
    group: Array | None = None

    @property
    def groups(self) -> Array:
        """The independent unit of each row, (t,): its group, or its sample without groups."""
        return self.row if self.group is None else self.group

    def sum_by_group(self, values: Array) -> Array:
        """Return the sum of values (t,) over each group, (G,)."""
        _, group_number = np.unique(self.groups, return_inverse=True)
        return np.bincount(group_number, weights=values)

    def take_rows(self, order: Array) -> HeldOut:
        """Return the record of these rows, in this order."""
        rows = ("y", "row", "split", "repeat", "permutation", "scores")
        group = None if self.group is None else self.group[order]
        return replace(self, **{name: getattr(self, name)[order] for name in rows}, group=group)

    def column(self, index: int) -> HeldOut:
        """Return the record of one column of scores."""
        return replace(self, scores=self.scores[:, [index]])

    def sample_means(self, values: Array) -> tuple[Array, Array]:
        """Return the response and the mean of the values of each sample that was tested.

        Values (t,), or (t, T) with several classes.
        """
        _, first_index, sample = np.unique(self.row, return_index=True, return_inverse=True)
        if values.ndim > 1:
            columns = [self.sample_means(column)[1] for column in values.T]
            return self.y[first_index], np.stack(columns, axis=1)
        return self.y[first_index], np.bincount(sample, weights=values) / np.bincount(sample)


@dataclass(frozen=True)
class Headline:
    """The reported error of a study: a weighted sum of a loss over the samples of a pool."""

    name: str
    # held-out scores -> loss of each sample at each column of scores, (t, m)
    loss: Callable[[HeldOut], Array]
    # held-out scores, pool numbers (t,) -> weights (t,), whose product with the losses adds up to
    # the error of each pool; NaN if a pool does not define it
    weights: Callable[[HeldOut, Array], Array]
    # held-out scores, losses (t,) of one column -> error of each split, (J,)
    split_errors: Callable[[HeldOut, Array], Array]
    # held-out scores, losses (t,) of one column, the error -> its 95 % interval
    limits: Callable[[HeldOut, Array, float], Interval]
    # held-out scores, scores (t,) or (t, T) of one column -> AUC and its 95 % interval
    area: Callable[[HeldOut, Array], tuple[float, float, float]]


@dataclass(frozen=True)
class Assessed:
    """The assessment of one kind of response; `Classes` are the names of the classes."""

    headline: Headline
    # columns of scores.tsv that hold errors
    errors: tuple[str, ...]
    # y, scores (less the threshold) of a test set -> values of `errors`, NaN if undefined
    measure_split: Callable[[Array, Array], tuple[float, ...]]
    # y, scores, classes -> columns ``predicted`` and ``wrong``
    decision_columns: Callable[[Array, Array, Classes], dict[str, Array]]
    # adjustment of k training sets, y, their rows (n, k), and the rows that each set but the first
    # leaves out of the first (the inner folds) -> score (n,) of every sample by the covariates
    # alone
    score_covariates: Callable[[Adjustment, Array, Array, Sequence[Array]], Array]
    # scores, classes -> columns that hold scores
    score_columns: Callable[[Array, Classes], dict[str, Array]] = lambda f, classes: {"score": f}
    # table with these columns, classes -> scores
    read_scores: Callable[[Any, Classes], Array] = lambda table, classes: table["score"].to_numpy(
        float
    )
    # scores (t,) or (t, T) of one list, lines of their probabilities (t, T + 1) (see `class_line`),
    # classes -> further columns of predictions.tsv
    probability_columns: Callable[[Array, Array, Classes], dict[str, Array]] = (
        lambda f, lines, classes: {}
    )
