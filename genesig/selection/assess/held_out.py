"""Scores of samples that the model had not seen, pooled over the splits of each repeat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.results import Dataset, Fits, Splits
from genesig.selection.assess.scores import (
    auc,
    balanced_error,
    misclassification,
    squared_error,
    wrong,
)

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class HeldOut:
    """Every held-out score of a study, one row per (permutation, split, test sample).

    Attributes
    ----------
    y : (t,) float
        Response in the place of the test sample: ±1, or a number.
    row : (t,) int
        Row of the data set whose label and place the test sample has.
    split, repeat, permutation : (t,) int
        Numbers from 0: place of the split in ``splits.outer``, of its repeat among the repeats,
        of the permutation among those present.
    scores : (t, m) float
        f(x) less the threshold of its fit, one column per mu: above 0 the positive class.
    ratio : float
        Mean of n_test/n_train over the splits.
    grouped : bool
        Whether samples come in groups, or are tested in batches, so that they are not independent.
    """

    y: Array
    row: Array
    split: Array
    repeat: Array
    permutation: Array
    scores: Array
    ratio: float
    grouped: bool = False


def held_out(dataset: Dataset, splits: Splits, fits: Fits) -> HeldOut:
    """Look up the response, split, repeat and permutation of every test score."""
    place = {split.name: number for number, split in enumerate(splits.outer)}
    number = np.array([place[str(name)] for name in fits.split], dtype=np.int64)
    _, permutation = np.unique(fits.permutation, return_inverse=True)
    times = np.diff(fits.test_indptr)
    return arrange(
        dataset, splits, fits.test_rows, np.repeat(number, times),
        fits.scores - np.repeat(fits.threshold, times)[:, None], np.repeat(permutation, times),
    )  # fmt: skip


def arrange(
    dataset: Dataset, splits: Splits, row: Array, split: Array, scores: Array, permutation: Array
) -> HeldOut:
    """Complete the record from the row and the split number of every score."""
    _, repeat = np.unique([each.repeat for each in splits.outer], return_inverse=True)
    return HeldOut(
        y=dataset.response()[row],
        row=row,
        split=split,
        repeat=repeat[split],
        permutation=permutation,
        scores=scores,
        ratio=float(np.mean([len(each.test) / len(each.train) for each in splits.outer])),
        grouped=dataset.design.group is not None or splits.scheme == "leave_one_batch_out",
    )


def scores_table(dataset: Dataset, splits: Splits, observed: Fits) -> pd.DataFrame:
    """Return scores.tsv: the errors of each split at each mu; that of the chosen list has none.

    Misclassification, balanced error and AUC are empty for regression, and the latter two where a
    test fold lacks a class; errors and n_genes where a list was too long to be kept. tau is the
    chosen fraction of tau_max, lam in units of ||X'X||/n.
    """
    import pandas as pd

    y = dataset.response()
    size = observed.sizes()
    outer = {split.name: split for split in splits.outer}
    rows = []
    for fit, name in enumerate(map(str, observed.split)):
        test, scores = observed.test(fit)
        tau, lam, _ = observed.choice[fit]
        split = outer[name]
        for at, mu in enumerate(observed.mu):
            margin = scores[:, at] - observed.threshold[fit]
            errors = split_errors(y[test], margin, dataset.design.classes is not None)
            rows.append(
                (name, split.repeat, mu, len(split.train), len(split.test), size[fit, at],
                 observed.tau[tau], observed.lam[lam], *errors)
            )  # fmt: skip
    columns = [
        "split", "repeat", "mu", "n_train", "n_test", "n_genes", "tau", "lam",
        "misclassification", "balanced_error", "squared_error", "auc",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns).astype({"n_genes": "Int64"})


def split_errors(y: Array, f: Array, classes: bool) -> tuple[float, float, float, float]:
    """Return misclassification, balanced error, squared error, AUC; NaN where not defined."""
    if not classes:
        return np.nan, np.nan, squared_error(y, f), np.nan
    return misclassification(y, f), balanced_error(y, f), squared_error(y, f), auc(y, f)


def predictions_table(dataset: Dataset, splits: Splits, observed: Fits) -> pd.DataFrame:
    """Return predictions.tsv: the score of every test sample of every split at each mu.

    ``score`` is f less the threshold of the split's fit, and ``predicted`` the class of its sign
    (empty at 0, which counts as wrong); for regression it is the score, and ``wrong`` is empty.
    All three are empty where a list was too long to be kept. Rows of the chosen list have no mu.
    """
    import pandas as pd

    found = held_out(dataset, splits, observed)
    names = np.array([split.name for split in splits.outer], dtype=object)
    repeats = np.array([split.repeat for split in splits.outer])
    label = dataset.obs[dataset.design.label].astype(str).to_numpy(dtype=object)
    tables = [
        pd.DataFrame(
            {
                "sample": np.array(dataset.samples, dtype=object)[found.row],
                "label": label[found.row],
                "repeat": repeats[found.split],
                "split": names[found.split],
                "mu": mu,
                **decisions(dataset, found.y, found.scores[:, at]),
            }
        )
        for at, mu in enumerate(observed.mu)
    ]
    return pd.concat(tables, ignore_index=True)


def decisions(dataset: Dataset, y: Array, f: Array) -> dict[str, Array]:
    """Return the columns score, predicted and wrong of held-out samples."""
    if dataset.design.classes is None:
        return {"score": f, "predicted": f, "wrong": np.full(len(f), None, dtype=object)}
    negative, positive = dataset.design.classes
    predicted = np.select([f > 0, f < 0], [positive, negative], default="").astype(object)
    said, unknown = wrong(y, f), np.isnan(f)
    if unknown.any():
        said = said.astype(object)
        said[unknown] = None
    return {"score": f, "predicted": predicted, "wrong": said}
