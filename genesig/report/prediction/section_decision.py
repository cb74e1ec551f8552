"""The section about what the scores are good for: calibration and decisions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from genesig.report.page.record import HeldOutSample
from genesig.report.page.rounding import rounded
from genesig.report.page.rows import columns_of
from genesig.report.page.section import Item, Limits, Section
from genesig.report.page.sides import two
from genesig.report.page.svg import Columns, Picture, picture
from genesig.report.page.words import clean, decimal, percent
from genesig.report.prediction import figures_decision
from genesig.report.prediction.calibrated import (
    FOLDS,
    cross_fitted,
    net_benefit,
    precision_recall,
)
from genesig.report.prediction.record import Prediction

TITLE = "Calibration and decisions"
FEWEST = 5
"""Samples of a class below which probabilities of a fold say nothing."""
Array = np.ndarray[Any, Any]
Draw = Callable[[Sequence[HeldOutSample], Sequence[str]], Figure]


def decisions(data: Prediction, limits: Limits) -> Section:
    """Show what held-out scores of two classes are worth as probabilities."""
    classes, counts = two(data["study"]), data["study"]["counts"]
    tested = data["held_out"]["samples"]
    if not classes or not counts or not tested:
        return Section("decisions", TITLE, part="evidence")
    if min(counts) < FEWEST:
        words = [f"A class has fewer than {FEWEST} samples: too few for probabilities."]
        return Section("decisions", TITLE, words, part="evidence")
    words = [
        "Scores are no probabilities. For these figures each sample's mean held-out score became"
        f" one by a logistic line fitted to the other samples ({FOLDS} folds). model.json holds no"
        " such line: fit it in a cohort like that in which the model is to be used."
    ]
    items: list[Item] = [_calibration(tested, classes), _benefit(tested, classes)]
    return Section("decisions", TITLE, words, items, part="evidence")


def _drawn(name: str, draw: Draw, tested: Sequence[HeldOutSample], classes: Sequence[str],
           data: Columns, **words: str) -> Picture:  # fmt: skip
    return picture(name, partial(draw, tested, classes), data=data, **words)


def _arrays(tested: Sequence[HeldOutSample], classes: Sequence[str]) -> tuple[Array, Array]:
    score = np.array([one["mean"] for one in tested], dtype=float)
    return score, np.array([one["label"] == classes[1] for one in tested])


def precision(tested: Sequence[HeldOutSample], classes: Sequence[str]) -> Picture:
    """Show precision against recall."""
    score, positive = _arrays(tested, classes)
    recall, value, area = precision_recall(score, positive)
    share = percent(float(positive.mean()))
    return _drawn(
        "precision_recall", figures_decision.precision, tested, classes,
        data={"recall": rounded(recall, 5), "precision": rounded(value, 5)},
        title="Precision and recall",
        description=f"Positive predictive value against sensitivity; average precision"
        f" {decimal(area)}, without skill {share}.",
        caption=f"Of the samples called {clean(classes[1])} at each threshold, the share that are."
        f" Dashed: their share among all samples ({share}), which is that of this study and not"
        " of a clinic. From each sample's mean held-out score.",
    )  # fmt: skip


def _calibration(tested: Sequence[HeldOutSample], classes: Sequence[str]) -> Picture:
    score, positive = _arrays(tested, classes)
    probability = cross_fitted(score, positive)
    mean = float(probability.mean())
    return _drawn(
        "calibration", figures_decision.calibration, tested, classes,
        data={**columns_of(tested, "sample", "label", "mean"),
              "probability": rounded(probability, 5)},
        title="Calibration of cross-fitted probabilities",
        description=f"Observed share of {clean(classes[1])} in groups of similar predicted"
        f" probability; on average {percent(mean)} are predicted, {percent(positive.mean())}"
        " observed.",
        caption="Dots: groups of similar predicted probability with 95\u00a0% CI and the"
        " number of samples above; dashed: perfect calibration. Ticks: samples of each class.",
    )  # fmt: skip


def _benefit(tested: Sequence[HeldOutSample], classes: Sequence[str]) -> Picture:
    score, positive = _arrays(tested, classes)
    share = np.array([float(positive.mean())])
    if not 0 < share[0] < 1:
        share = np.array([0.5])
    gain = float(net_benefit(cross_fitted(score, positive), positive, share)[0])
    return _drawn(
        "decision_curve", figures_decision.decisions, tested, classes,
        data=figures_decision.benefits(score, positive),
        title="Decision curve",
        description=f"Net benefit over threshold probabilities; {decimal(gain)} at a threshold of"
        f" {percent(share[0])}.",
        caption=f"Net benefit of treating those called {clean(classes[1])}: true positives less"
        " false positives weighed by the odds of the threshold, per sample (Vickers and Elkin"
        f" 2006). At the prevalence of this study ({percent(float(positive.mean()))}).",
    )  # fmt: skip
