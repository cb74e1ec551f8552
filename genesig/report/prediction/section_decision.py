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
from genesig.report.page.section import Limits, Section
from genesig.report.page.sides import two
from genesig.report.page.svg import Columns, Picture, picture
from genesig.report.page.verdict import Grade, here
from genesig.report.page.words import clean, decimal, percent
from genesig.report.prediction import figures_decision
from genesig.report.prediction.calibrated import Told, precision_recall, told
from genesig.report.prediction.record import Prediction

TITLE = "Calibration and decisions"
FEWEST = 5
"""Samples of a class below which probabilities say nothing."""
Array = np.ndarray[Any, Any]


def decisions(data: Prediction, limits: Limits) -> Section:
    """Show what held-out samples' probabilities are worth, where anything was found."""
    classes, it = two(data["study"]), told(data)
    if it is None or not classes:
        return Section("decisions", TITLE, part="evidence")
    words, items = [_words(data, it, classes[1])], []
    if min(it.positive.sum(), (~it.positive).sum()) < FEWEST * it.repeats:
        words = [f"A class has fewer than {FEWEST} samples: too few for probabilities."]
    elif here(data) is Grade.NONE:
        words = ["The scores tell the classes apart no better than chance: they are no ground for"
                 " a decision."]  # fmt: skip
    else:
        items = [_calibration(data, it, classes[1]), _benefit(it, classes[1])]
    return Section("decisions", TITLE, words, items, part="evidence", folded=True)


def _words(data: Prediction, it: Told, name: str) -> str:
    """Say how a score becomes a probability, and for which shares of the classes."""
    ours = data["config"]["probabilities"] == "study"
    return (
        "A logistic line makes a probability of a score. Each split's line was fitted to samples of"
        " its training set, scored by models that had not seen them; that of model.json is fitted"
        f" in the same way to all samples. Probabilities hold where {percent(it.share)} are"
        f" {clean(name)}, as {'in this study' if ours else 'asked for'}."
    )


def _drawn(name: str, draw: Callable[..., Figure], *args: Any, data: Columns,
           **words: str) -> Picture:  # fmt: skip
    return picture(name, partial(draw, *args), data=data, **words)


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


def _calibration(data: Prediction, it: Told, name: str) -> Picture:
    tested = data["held_out"]["samples"]
    every = "each repeat" if it.repeats > 1 else "each sample"
    return _drawn(
        "calibration", figures_decision.calibration, it, name,
        data={**columns_of(tested, "sample", "label", "mean"),
              "probability": rounded([np.mean(one["probabilities"]) for one in tested], 5)},
        title="Calibration of held-out probabilities",
        description=f"Observed share of {clean(name)} in groups of similar predicted"
        f" probability; on average {percent(it.mean())} are predicted, {percent(it.share)}"
        " observed.",
        caption="Dots: groups of similar predicted probability with 95\u00a0% CI and the"
        f" number of samples above; dashed: perfect calibration. Ticks: {every}, by class.",
    )  # fmt: skip


def _benefit(it: Told, name: str) -> Picture:
    gain = float(it.net_benefit(np.array([it.share]))[0])
    repeats = ", the mean of the repeats" * (it.repeats > 1)
    return _drawn(
        "decision_curve", figures_decision.decisions, it, name,
        data=figures_decision.benefits(it),
        title="Decision curve",
        description=f"Net benefit over threshold probabilities; {decimal(gain)} at a threshold of"
        f" {percent(it.share)}.",
        caption=f"Net benefit of treating those called {clean(name)}: true positives less"
        " false positives weighed by the odds of the threshold, per sample (Vickers and Elkin"
        f" 2006){repeats}. At a prevalence of {percent(it.share)}.",
    )  # fmt: skip
