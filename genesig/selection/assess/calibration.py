"""Whether scores are as large as they should be, and how many to refuse for no error.

The score of two classes is the ridge prediction of y = ±1. In the mix of classes that the model was
trained on, a calibrated score is the mean of y: slope 1 and intercept 0 of y on the score, and
(1 + score)/2 the share of positive samples. It is no probability: nothing keeps it inside [-1, 1].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.selection.assess.clusters import line_spreads, share_interval
from genesig.selection.assess.intervals import NOTHING, Interval, t_quantile, wilson
from genesig.selection.assess.scores import bin_by_score, wrong
from genesig.selection.genes.frequency import rows_of_list

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Line:
    """Intercept and slope of the responses on the scores, each with its 95 % interval."""

    intercept: float
    intercept_interval: Interval
    slope: float
    slope_interval: Interval


def calibration_line(y: Array, f: Array, group: Array | None = None) -> Line:
    """Return a and b of y = a + b f by least squares, ± t √V on n - 2 df.

    V = (X'X)⁻¹ X' diag(e²/(1-h)²) X (X'X)⁻¹ with leverages h: the HC3 variance, as the errors of
    two classes cannot have one variance (MacKinnon and White 1985; Long and Ervin 2000 for small
    samples). A slope below 1 means scores that are too far apart, an intercept off 0 a shift. NaN
    for fewer than four samples, one class or equal scores; no interval where a single sample
    decides the line.

    Coverage where the scores are calibrated, 20 to 100 samples, three shapes of scores: intercept
    95-97 %, slope 90-95 % (tests/references/test_calibration.py).

    Parameters
    ----------
    y, f : (n,) float
        Responses and scores.
    group : (n,) int, optional
        Number of each sample's group, if samples come in groups: see `clusters.line_spreads`.
    """
    if len(y) < 4 or np.ptp(y) == 0 or np.ptp(f) <= 1e-12 * np.abs(f).max():
        return Line(np.nan, NOTHING, np.nan, NOTHING)
    X = np.column_stack([np.ones_like(f), f])
    inverse = np.linalg.inv(X.T @ X)
    line = inverse @ (X.T @ y)
    if group is not None:
        first, second = (
            spread.around(value)
            for spread, value in zip(line_spreads(X, y - X @ line, group), line, strict=True)
        )
        return Line(float(line[0]), first, float(line[1]), second)
    leverage = np.einsum("ij,jk,ik->i", X, inverse, X)
    if leverage.max() > 1 - 1e-9:
        return Line(float(line[0]), NOTHING, float(line[1]), NOTHING)
    weighted = X * ((y - X @ line) / (1 - leverage))[:, None]
    spread = np.sqrt(np.diag(inverse @ (weighted.T @ weighted) @ inverse))
    half = t_quantile(len(y) - 2) * spread
    (a, b), (u, v) = line.tolist(), half.tolist()
    return Line(a, (a - u, a + u), b, (b - v, b + v))


def reliability(
    y: Array, f: Array, times: int = 1, group: Array | None = None
) -> Iterator[dict[str, float]]:
    """Yield the share of positive samples in bins of similar scores, with Wilson's interval.

    Bins are those of `bin_by_score`. ``expected`` is the mean of (1 + f)/2, its mean score's share
    if the score were calibrated.

    Parameters
    ----------
    y, f : (n,) float
        ±1 and scores.
    times : int
        How often each sample stands there, with a score of its own: more of them are no more
        samples, and the intervals no narrower.
    group : (n,) int, optional
        Number of each sample's group, such as its patient.
    """
    number = bin_by_score(f, len(y) // times)
    for place in np.unique(number):
        inside = number == place
        positive = (y[inside] > 0).astype(float)
        share, size = float(np.mean(positive)), round(inside.sum() / times)
        if group is None:
            low, high = wilson(share, size)
        else:
            low, high = share_interval(positive, group[inside])
        mean = float(f[inside].mean())
        yield {"score": mean, "samples": size, "share": share, "low": low, "high": high,
               "expected": (1 + mean) / 2}  # fmt: skip


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
        of_mu = rows_of_list(predictions, mu)
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
