"""What the scores are good for: probabilities, their calibration, decisions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from genesig.arrays import Array
from genesig.report.page.measure import shrinkage_words, two
from genesig.report.page.record import rounded
from genesig.report.page.section import Limits, Section
from genesig.report.page.style import (
    CLASS_COLOURS,
    INK,
    MUTED,
    OWN,
    SMALL,
    note,
    sheet,
)
from genesig.report.page.svg import Columns, Picture, picture
from genesig.report.page.tables import columns_of
from genesig.report.page.verdict import Grade, here
from genesig.report.page.words import clean, decimal, percent, shorten
from genesig.report.prediction.collect import Prediction
from genesig.selection.assess.calibration import reliability


@dataclass(frozen=True)
class Told:
    """What was said of held-out samples, each as often as it was held out.

    Attributes
    ----------
    probability : (t,) float
        Of the positive class, where it has the share `share`.
    positive : (t,) bool
    repeats : int
        How often each sample stands there.
    share : float
    group_size : float
        Mean number of samples of a group; 1 if every sample is independent.
    """

    probability: Array
    positive: Array
    repeats: int
    share: float
    group_size: float = 1.0

    def groups(self) -> list[dict[str, float]]:
        """Return groups of similar probability: its mean, and the share that came with limits.

        Both are of classes in the shares that the probabilities are for: the odds of what came
        among these samples are multiplied by those of `share` over those of their own share.
        """
        # Samples of one group count as one: the page does not say which belong together.
        often = round(self.repeats * self.group_size)
        found = reliability(
            np.where(self.positive, 1.0, -1.0), 2 * self.probability - 1, times=often
        )
        times = _odds(self.share) / _odds(float(self.positive.mean()))
        moved = ("share", "low", "high")
        return [one | {key: _among(one[key], times) for key in moved} for one in found]

    def mean(self) -> float:
        """Return the mean probability, in classes of these shares."""
        sides = [float(self.probability[side].mean()) for side in (~self.positive, self.positive)]
        return (1 - self.share) * sides[0] + self.share * sides[1]

    def net_benefit(self, threshold: Array) -> Array:
        """Return the net benefit of treating whoever has at least such a probability."""
        return net_benefit(self.probability, self.positive, threshold, self.share)

    def of_everyone(self, threshold: Array) -> Array:
        """Return the net benefit of treating all."""
        return np.asarray(self.share - (1 - self.share) * threshold / (1 - threshold))


def told(data: Prediction) -> Told | None:
    """Return the probabilities of two classes, None where there are none."""
    classes, counts, tested = (
        two(data["study"]),
        data["study"]["counts"],
        data["held_out"]["samples"],
    )
    if not classes or not counts or not all("probabilities" in one for one in tested):
        return None
    asked = data["config"]["probabilities"]
    share = {"study": counts[1] / sum(counts), "equal": 0.5}
    return Told(
        np.array([p for one in tested for p in one["probabilities"]], dtype=float),
        np.array([one["label"] == classes[1] for one in tested for _ in one["probabilities"]]),
        max((one["tested"] for one in tested), default=1),
        share[asked] if isinstance(asked, str) else float(asked[1]),
        len(tested) / (data["study"]["groups"] or len(tested)),
    )  # fmt: skip


def net_benefit(probability: Array, positive: Array, threshold: Array, share: float) -> Array:
    """Return π TPR - (1 - π) FPR · t/(1 - t) at each threshold t, π the share of the positives.

    Vickers and Elkin 2006, MDM 26:565, with the shares apart from those of the samples.
    """
    treated = probability[None] >= threshold[:, None]
    hits, false = (treated[:, side].mean(axis=1) for side in (positive, ~positive))
    return np.asarray(share * hits - (1 - share) * false * threshold / (1 - threshold))


def _odds(share: float) -> float:
    return share / (1 - share)


def _among(share: float, times: float) -> float:
    """Return the share whose odds are so many times those of another."""
    return times * share / (1 + (times - 1) * share)


THRESHOLDS = np.arange(1, 100) / 100


def draw_calibration(told: Told, name: str) -> Figure:
    """Share of the positive class in groups of similar probabilities."""
    figure, ax = sheet(SMALL, 3.6)
    ax.plot([0, 1], [0, 1], color=MUTED, lw=0.9, dashes=(4, 3))
    for one in told.groups():
        ax.vlines(one["expected"], one["low"], one["high"], color=INK, lw=1.4)
        ax.scatter([one["expected"]], [one["share"]], s=46, color=OWN, zorder=3)
        note(ax, one["expected"], 1.04, str(one["samples"]), ha="center")
    for side, (mine, foot) in enumerate(((~told.positive, -0.1), (told.positive, -0.06))):
        ax.plot(told.probability[mine], np.full(int(mine.sum()), foot), "|",
                color=CLASS_COLOURS[side], ms=5)  # fmt: skip
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.14, 1.12)
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1])
    ax.set_xlabel(f"predicted probability of {shorten(name, 24)}")
    ax.set_ylabel(f"share of {shorten(name, 24)}")
    return figure


def draw_decisions(told: Told, name: str) -> Figure:
    """Net benefit of deciding by the model, beside treating all and none."""
    figure, ax = sheet(SMALL, 3.6)
    top = max(told.share, 0.05)
    ax.plot(THRESHOLDS, told.of_everyone(THRESHOLDS), color=MUTED, lw=1.2)
    ax.axhline(0, color=MUTED, lw=1.2, dashes=(4, 3))
    ax.plot(THRESHOLDS, told.net_benefit(THRESHOLDS), color=OWN, lw=2)
    ax.set_ylim(-0.25 * top, 1.15 * top)
    ax.set_xlim(0, 1)
    note(ax, 0.02, -0.02 * top, f"none treated as {shorten(name, 18)}", va="top")
    note(ax, 0.02, top * 1.03, f"all treated as {shorten(name, 18)}")
    ax.set_xlabel("threshold probability")
    ax.set_ylabel("net benefit")
    return figure


def benefits(told: Told) -> dict[str, list[float]]:
    """Return the net benefit of the model and of treating all, at each threshold."""
    return {"threshold": rounded(THRESHOLDS, 3),
            "model": rounded(told.net_benefit(THRESHOLDS), 5),
            "all": rounded(told.of_everyone(THRESHOLDS), 5)}  # fmt: skip


TITLE = "Calibration and decisions"
FEWEST = 5
"""Samples of a class below which probabilities say nothing."""
MIN_CALIBRATED = 100
"""Samples from which the curves are drawn; fewer make groups of a handful."""


def decisions(data: Prediction, limits: Limits) -> Section:
    """Show what held-out samples' probabilities are worth, where anything was found."""
    classes, it = two(data["study"]), told(data)
    if it is None or not classes:
        return Section("decisions", TITLE, part="prediction")
    words, items = [_words(data, it, classes[1])], []
    if min(it.positive.sum(), (~it.positive).sum()) < FEWEST * it.repeats:
        words = [f"A class has fewer than {FEWEST} samples: too few for probabilities."]
    elif here(data) is Grade.NONE:
        words = ["The scores distinguish the classes no better than chance: they are no basis for"
                 " a decision."]  # fmt: skip
    elif len(data["held_out"]["samples"]) < MIN_CALIBRATED:
        words.append(
            f"Calibration and decision curves are shown from {MIN_CALIBRATED} patients on."
        )
    else:
        items = [_calibration(data, it, classes[1]), _benefit(it, classes[1])]
    return Section("decisions", TITLE, words, items, part="prediction", folded=True)


def _words(data: Prediction, it: Told, name: str) -> str:
    """Say how a score becomes a probability, and for which shares of the classes."""
    ours = data["config"]["probabilities"] == "study"
    return (
        "Scores are converted to probabilities by logistic regression, fitted within each training"
        f" set. {shrinkage_words(data)}Probabilities hold if {percent(it.share)} of patients are"
        f" {clean(name)}, as {'in this study' if ours else 'set in the config'}."
    )


def _drawn(name: str, draw: Callable[..., Figure], *args: Any, data: Columns,
           **words: str) -> Picture:  # fmt: skip
    return picture(name, partial(draw, *args), data=data, **words)


def _calibration(data: Prediction, it: Told, name: str) -> Picture:
    tested = data["held_out"]["samples"]
    every = "each repeat" if it.repeats > 1 else "each sample"
    return _drawn(
        "calibration", draw_calibration, it, name,
        data={**columns_of(tested, "sample", "label", "mean"),
              "probability": rounded([np.mean(one["probabilities"]) for one in tested], 5)},
        title="Calibration of held-out probabilities",
        description=f"Observed share of {clean(name)} in groups of similar predicted"
        f" probability; on average {percent(it.mean())} are predicted, {percent(it.share)}"
        " observed.",
        caption="Dots: groups of similar predicted probability with 95% CI and the"
        f" number of samples above; dashed: perfect calibration. Ticks: {every}, by class.",
    )  # fmt: skip


def _benefit(it: Told, name: str) -> Picture:
    gain = float(it.net_benefit(np.array([it.share]))[0])
    repeats = ", averaged over repeats" * (it.repeats > 1)
    return _drawn(
        "decision_curve", draw_decisions, it, name,
        data=benefits(it),
        title="Decision curve",
        description=f"Net benefit over threshold probabilities; {decimal(gain)} at a threshold of"
        f" {percent(it.share)}.",
        caption=f"Net benefit per patient of treating those called {clean(name)} (Vickers and"
        f" Elkin 2006){repeats}, at a prevalence of {percent(it.share)}.",
    )  # fmt: skip
