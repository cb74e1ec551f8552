"""How many samples would have to be refused for the rest to be classified without an error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.selection.assess.scores import wrong
from genesig.selection.genes.frequency import of_list

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Rejection:
    """Refusals among the samples predicted as one class.

    Attributes
    ----------
    predicted, wrong, rejected : int
        Samples predicted as the class, misclassified ones, refused ones.
    threshold : float
        |f| up to which they are refused; NaN when none is misclassified.
    """

    predicted: int
    wrong: int
    rejected: int
    threshold: float

    @property
    def share(self) -> float:
        """Refused share of the predicted class; NaN when nothing is predicted as it."""
        return self.rejected / self.predicted if self.predicted else np.nan


def rejection(y: Array, f: Array, side: float) -> Rejection:
    """Return the rejection region of one predicted class, on held-out scores.

    The threshold is the largest |f| among the misclassified samples predicted as the class `side`
    (-1 or +1: sign f); every sample so predicted with |f| <= threshold is refused. A score of 0
    is predicted as neither class.

    The threshold is set on the labels of the test samples: it describes this study and is
    optimistic for the next one.

    References
    ----------
    Mosci 2009, table 7.2, column C.
    """
    predicted = np.sign(f) == side
    errors = predicted & wrong(y, f)
    if not errors.any():
        return Rejection(int(predicted.sum()), 0, 0, np.nan)
    threshold = float(np.abs(f[errors]).max())
    refused = predicted & (np.abs(f) <= threshold)
    return Rejection(int(predicted.sum()), int(errors.sum()), int(refused.sum()), threshold)


def rejection_table(predictions: pd.DataFrame, classes: tuple[str, ...] | None) -> pd.DataFrame:
    """Return rejection.tsv from predictions.tsv: both predicted classes at each mu.

    The score of a sample is its mean over the repeats. Empty for regression and for several
    classes; no row where lists were too long to be kept, so that samples have no score.
    """
    import pandas as pd

    columns = ["mu", "predicted_class", "predicted", "wrong", "threshold", "rejected", "share"]
    rows = []
    two = classes is not None and "score" in predictions  # several classes have a score of each
    for mu in predictions["mu"].unique() if two else []:
        of_mu = of_list(predictions, mu)
        if of_mu["score"].isna().any():
            continue
        mean = of_mu.groupby("sample", sort=False).agg({"score": "mean", "label": "first"})
        y = np.where(mean["label"] == (classes or ("", ""))[1], 1.0, -1.0)
        for side, name in zip((-1.0, 1.0), classes or (), strict=True):
            found = rejection(y, mean["score"].to_numpy(), side)
            rows.append(
                (mu, name, found.predicted, found.wrong, found.threshold, found.rejected,
                 found.share)
            )  # fmt: skip
    return pd.DataFrame(rows, columns=columns)
