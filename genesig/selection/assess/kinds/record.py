"""What is measured on held-out samples, for each kind of response."""

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
    """Every held-out score of a study, one row per (permutation, split, test sample).

    Attributes
    ----------
    y : (t,) array
        Response in the place of the test sample.
    row : (t,) int
        Row of the data set whose label and place the test sample has.
    split, repeat, permutation : (t,) int
        Numbers from 0: place of the split in ``splits.outer``, of its repeat among the repeats,
        of the permutation among those present.
    scores : (t, m) float
        f(x) less the threshold of its fit, one column per mu: above 0 the positive class. With
        several classes (t, m, T), the largest of which decides.
    ratio : float
        Mean of n_test/n_train over the splits.
    group : (t,) int, optional
        Number of the group whose samples stay together; each sample is its own without it.
    """

    y: Array
    row: Array
    split: Array
    repeat: Array
    permutation: Array
    scores: Array
    ratio: float
    group: Array | None = None

    @property
    def groups(self) -> Array:
        """The group of each row, (t,): what is independent of each other."""
        return self.row if self.group is None else self.group

    def by_group(self, values: Array) -> Array:
        """Return the sum of values (t,) over each group, (G,)."""
        _, number = np.unique(self.groups, return_inverse=True)
        return np.bincount(number, weights=values)

    def taken(self, order: Array) -> HeldOut:
        """Return some of the rows, in the order given."""
        rows = ("y", "row", "split", "repeat", "permutation", "scores")
        group = None if self.group is None else self.group[order]
        return replace(self, **{name: getattr(self, name)[order] for name in rows}, group=group)

    def column(self, at: int) -> HeldOut:
        """Return the record of one column of scores."""
        return replace(self, scores=self.scores[:, [at]])

    def per_sample(self, values: Array) -> tuple[Array, Array]:
        """Return the response and the mean of the values of each sample that was tested.

        Values (t,), or (t, T) with several classes.
        """
        _, first, number = np.unique(self.row, return_index=True, return_inverse=True)
        if values.ndim > 1:
            columns = [self.per_sample(column)[1] for column in values.T]
            return self.y[first], np.stack(columns, axis=1)
        return self.y[first], np.bincount(number, weights=values) / np.bincount(number)


@dataclass(frozen=True)
class Headline:
    """The error that is reported, as a weighted sum of a loss over the samples of a pool.

    Attributes
    ----------
    name : str
    loss : callable
        What was held out to the loss of each sample at each column of scores, (t, m).
    weights : callable
        What was held out and pool numbers (t,) to weights (t,): those of a pool, times the losses,
        add up to its error. NaN where a pool does not define it.
    of_splits : callable
        Held-out samples and their loss (t,) to the error of each split, (J,).
    limits : callable
        Held-out samples, their loss (t,) and the error to its 95 % interval.
    area : callable
        Held-out samples and their scores, (t,) or (t, T), to the AUC and its 95 % interval.
    """

    name: str
    loss: Callable[[HeldOut], Array]
    weights: Callable[[HeldOut, Array], Array]
    of_splits: Callable[[HeldOut, Array], Array]
    limits: Callable[[HeldOut, Array, float], Interval]
    area: Callable[[HeldOut, Array], tuple[float, float, float]]


@dataclass(frozen=True)
class Assessed:
    """One kind of response, as it is assessed.

    Attributes
    ----------
    headline : Headline
    errors : tuple of str
        Columns of scores.tsv.
    of_split : callable
        y and scores (less the threshold) of a test set to the values of these columns, NaN where
        they are not defined.
    decided : callable
        y, scores and the names of classes to the columns ``predicted`` and ``wrong``.
    alone : callable
        What k training sets hold fixed, y, their rows (n, k), and the rows that each but the first
        leaves out of the first, to the score of every sample by the covariates alone, (n,).
    columns : callable
        Scores and the names of classes to the columns that hold scores.
    scores : callable
        Such a table and the names of classes back to the scores.
    told : callable
        Scores (t,) or (t, T) of one list, the lines of their probabilities (t, T + 1), see
        `class_line`, and the names of classes to further columns of predictions.tsv.
    """

    headline: Headline
    errors: tuple[str, ...]
    of_split: Callable[[Array, Array], tuple[float, ...]]
    decided: Callable[[Array, Array, Classes], dict[str, Array]]
    alone: Callable[[Adjustment, Array, Array, Sequence[Array]], Array]
    columns: Callable[[Array, Classes], dict[str, Array]] = lambda f, classes: {"score": f}
    scores: Callable[[Any, Classes], Array] = lambda table, classes: table["score"].to_numpy(float)
    told: Callable[[Array, Array, Classes], dict[str, Array]] = lambda f, lines, classes: {}
