"""Calibration of the scores of two classes, and the rejection region without errors.

The score of two classes is the ridge prediction of y = ±1. In the mix of classes that the model was
trained on, a calibrated score is the mean of y: slope 1 and intercept 0 of y on the score, and
(1 + score)/2 the share of positive samples. It is no probability: it may lie outside [-1, 1].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.selection.assess.clusters import line_spreads, share_interval
from genesig.selection.assess.intervals import (
    NO_INTERVAL,
    Interval,
    bin_by_score,
    t_quantile,
    wilson,
    wrong,
)
from genesig.selection.genes.frequency import rows_of_list

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class CalibrationLine:
    """Intercept and slope of the responses on the scores, each with its 95 % interval."""

    intercept: float
    intercept_interval: Interval
    slope: float
    slope_interval: Interval


def calibration_line(y: Array, f: Array, group: Array | None = None) -> CalibrationLine:
    """Return the line y = a + b f by least squares, with intervals ± t √V on n - 2 df.

    V = (X'X)⁻¹ X' diag(e²/(1-h)²) X (X'X)⁻¹ with leverages h: the HC3 variance, as the errors of
    two classes cannot have one variance (MacKinnon and White 1985; Long and Ervin 2000 for small
    samples). A slope below 1 means scores that are too far apart, an intercept off 0 a shift. NaN
    for fewer than four samples, one class or equal scores; no interval where a single sample
    decides the line.

    Coverage where the scores are calibrated, 20 to 100 samples, three shapes of scores: intercept
    95-97 %, slope 90-95 % (tests/references/test_calibration.py).

    y, f (n,) float: responses and scores. group (n,) int, optional: number of each sample's group,
    if samples come in groups: see `clusters.line_spreads`.
    """
    if len(y) < 4 or np.ptp(y) == 0 or np.ptp(f) <= 1e-12 * np.abs(f).max():
        return CalibrationLine(np.nan, NO_INTERVAL, np.nan, NO_INTERVAL)
    X = np.column_stack([np.ones_like(f), f])
    inverse = np.linalg.inv(X.T @ X)
    line = inverse @ (X.T @ y)
    if group is not None:
        intercept_interval, slope_interval = (
            spread.around(value)
            for spread, value in zip(line_spreads(X, y - X @ line, group), line, strict=True)
        )
        return CalibrationLine(float(line[0]), intercept_interval, float(line[1]), slope_interval)
    leverage = np.einsum("ij,jk,ik->i", X, inverse, X)
    if leverage.max() > 1 - 1e-9:  # a single sample decides the line
        return CalibrationLine(float(line[0]), NO_INTERVAL, float(line[1]), NO_INTERVAL)
    weighted = X * ((y - X @ line) / (1 - leverage))[:, None]
    standard_errors = np.sqrt(np.diag(inverse @ (weighted.T @ weighted) @ inverse))
    half_widths = t_quantile(len(y) - 2) * standard_errors
    intercept, slope = line.tolist()
    intercept_half_width, slope_half_width = half_widths.tolist()
    return CalibrationLine(
        intercept,
        (intercept - intercept_half_width, intercept + intercept_half_width),
        slope,
        (slope - slope_half_width, slope + slope_half_width),
    )


def reliability(
    y: Array, f: Array, n_repeats: int = 1, group: Array | None = None
) -> Iterator[dict[str, float]]:
    """Yield the share of positive samples in bins of similar scores, with Wilson's interval.

    Bins are those of `bin_by_score`. ``expected`` is the mean of (1 + f)/2, its mean score's share
    if the score were calibrated.

    y, f (n,) float: ±1 and scores. n_repeats: number of scores of each sample, such as one per
    repeat. The intervals count samples. group (n,) int, optional: number of each sample's group,
    such as its patient.
    """
    bin_of_score = bin_by_score(f, len(y) // n_repeats)
    for bin_number in np.unique(bin_of_score):
        in_bin = bin_of_score == bin_number
        positive = (y[in_bin] > 0).astype(float)
        positive_share = float(np.mean(positive))
        n_samples = round(in_bin.sum() / n_repeats)
        if group is None:
            low, high = wilson(positive_share, n_samples)
        else:
            low, high = share_interval(positive, group[in_bin])
        mean_score = float(f[in_bin].mean())
        yield {
            "score": mean_score,
            "samples": n_samples,
            "share": positive_share,
            "low": low,
            "high": high,
            "expected": (1 + mean_score) / 2,
        }


@dataclass(frozen=True)
class Rejection:
    """Number of samples predicted as one class that have to be rejected to leave no error."""

    predicted: int  # number of samples predicted as the class
    wrong: int  # number of these that are misclassified
    rejected: int  # number of these that are rejected
    threshold: float  # largest |f| of a rejected sample; NaN if none is misclassified

    @property
    def share(self) -> float:
        """Rejected share of the predicted class; NaN if no sample is predicted as it."""
        return self.rejected / self.predicted if self.predicted else np.nan


def rejection(y: Array, f: Array, class_sign: float) -> Rejection:
    """Return the rejection region of one predicted class, on held-out scores.

    The threshold is the largest |f| among the misclassified samples predicted as the class
    `class_sign` (-1 or +1: sign f); every sample so predicted with |f| <= threshold is rejected. A
    score of 0 is predicted as neither class.

    The threshold is set on the labels of the test samples: it describes this study and is
    optimistic for the next one.

    Source: Mosci 2009, table 7.2, column C.
    """
    is_predicted = np.sign(f) == class_sign
    errors_of_class = is_predicted & wrong(y, f)
    n_predicted = int(is_predicted.sum())
    n_wrong = int(errors_of_class.sum())
    if not n_wrong:
        return Rejection(n_predicted, wrong=0, rejected=0, threshold=np.nan)
    threshold = float(np.abs(f[errors_of_class]).max())
    is_rejected = is_predicted & (np.abs(f) <= threshold)
    return Rejection(n_predicted, n_wrong, int(is_rejected.sum()), threshold)


def rejection_table(predictions: pd.DataFrame, classes: tuple[str, ...] | None) -> pd.DataFrame:
    """Return rejection.tsv from predictions.tsv: both predicted classes at each mu.

    The score of a sample is its mean over the repeats. Empty for regression and for several
    classes; no row where lists were too long to be kept, so that samples have no score.
    """
    import pandas as pd

    columns = ["mu", "predicted_class", "predicted", "wrong", "threshold", "rejected", "share"]
    rows = []
    # Several classes have a column of scores each, and none of this name.
    has_two_classes = classes is not None and "score" in predictions
    for mu in predictions["mu"].unique() if has_two_classes else []:
        at_mu = rows_of_list(predictions, mu)
        if at_mu["score"].isna().any():
            continue
        mean = at_mu.groupby("sample", sort=False).agg({"score": "mean", "label": "first"})
        negative, positive = classes or ("", "")
        y = np.where(mean["label"] == positive, 1.0, -1.0)
        for class_sign, name in ((-1.0, negative), (1.0, positive)):
            region = rejection(y, mean["score"].to_numpy(), class_sign)
            rows.append({"mu": mu, "predicted_class": name, **vars(region), "share": region.share})
    return pd.DataFrame(rows, columns=columns)
