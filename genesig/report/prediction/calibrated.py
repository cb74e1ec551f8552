"""Probabilities that held-out samples got, and what they are worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.report.page.sides import two
from genesig.report.prediction.record import Prediction
from genesig.selection.assess.calibration import reliability

Array = np.ndarray[Any, Any]


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
    """

    probability: Array
    positive: Array
    repeats: int
    share: float

    def groups(self) -> list[dict[str, float]]:
        """Return groups of similar probability: its mean, and the share that came with limits.

        Both are of classes in the shares that the probabilities are for: the odds of what came
        among these samples are multiplied by those of `share` over those of their own share.
        """
        found = reliability(np.where(self.positive, 1.0, -1.0), 2 * self.probability - 1,
                            self.repeats)  # fmt: skip
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


def precision_recall(score: Array, positive: Array) -> tuple[Array, Array, float]:
    """Return recall and precision over falling thresholds, and the average precision.

    Average precision is Σ (recall_k - recall_{k-1}) precision_k; tied scores are one step.
    """
    order = np.argsort(-score, kind="stable")
    last = np.append(np.flatnonzero(np.diff(score[order])), len(order) - 1)
    hits = np.cumsum(positive[order])[last]
    precision, recall = hits / (last + 1), hits / max(positive.sum(), 1)
    area = float(np.sum(np.diff(np.concatenate([[0.0], recall])) * precision))
    return recall, precision, area
