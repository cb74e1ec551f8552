"""Intervals of held-out measures: those of cross-validation, and of other studies' samples.

Cross-validated ones are for the measure that models of the same procedure, trained on as many
samples as a training set has, reach on average: `expected` is its mean over fresh training sets,
exact for each model, whose score of Gaussian genes is Gaussian.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from certificate import Claim, Trial
from scipy.special import expit, ndtr

from genesig.response.design import SEVERAL
from genesig.selection.assess.assessment import assess
from genesig.selection.assess.kinds.known import ASSESSED
from genesig.selection.assess.kinds.record import HeldOut
from genesig.selection.assess.survival.concordance import harrell
from genesig.selection.assess.survival.log_rank import log_rank
from genesig.selection.model.external_scores import numbers, several_classes, two_classes

Array = np.ndarray[Any, Any]
FOLDS, REPEATS, GENES, CARRY, LISTED = 5, 4, 100, 10, 10
TRAININGS = 300
LOST = 0.5  # rate of censoring, of events at a score of 0 it is 1
PAIRS = np.random.default_rng(0).standard_normal((2, 2, 20000))


class Drawn(NamedTuple):
    """Samples: X (n, p), responses as `HeldOut` has them, and the group of each."""

    X: Array
    y: Array
    group: Array


class Kind(NamedTuple):
    """How a kind of response is drawn, learned and judged."""

    name: str
    drawn: Callable[[np.random.Generator, int, float], tuple[Array, Array]]
    learned: Callable[[Array, Array], tuple[Array, Array]]
    true: Callable[[Array, Array, float], float]
    measure: Callable[[Any], tuple[float, float]]  # of an Assessment to the limits


def listed(evidence: Array) -> Array:
    """Return the evidence of the genes of most of it, 0 for the others: what a list does."""
    size = np.abs(evidence) if evidence.ndim == 1 else np.square(evidence).sum(axis=1)
    kept = evidence.copy()
    kept[np.argsort(size)[:-LISTED]] = 0
    return kept


def two(rng: np.random.Generator, n: int, signal: float) -> tuple[Array, Array]:
    y = np.repeat([-1.0, 1.0], [n - n // 2, n // 2])
    X = rng.standard_normal((n, GENES))
    X[:, :CARRY] += signal * y[:, None]
    return X, y


def two_learned(X: Array, y: Array) -> tuple[Array, Array]:
    low, high = X[y < 0].mean(axis=0), X[y > 0].mean(axis=0)
    w = listed(high - low)
    return w, -(low + high) @ w / 2


def two_true(w: Array, a: Array, signal: float) -> float:
    return float(ndtr(np.sqrt(2) * signal * w[:CARRY].sum() / np.linalg.norm(w)))


def three(rng: np.random.Generator, n: int, signal: float) -> tuple[Array, Array]:
    y = np.arange(n) * 3 // n
    X = rng.standard_normal((n, GENES))
    X[np.arange(n)[:, None], 3 * y[:, None] + np.arange(3)] += signal
    return X, y.astype(float)


def three_learned(X: Array, y: Array) -> tuple[Array, Array]:
    centres = np.stack([X[y == c].mean(axis=0) for c in range(3)], axis=1)
    w = listed(centres - centres.mean(axis=1, keepdims=True))
    return w, -(w * (centres + centres.mean(axis=1, keepdims=True))).sum(axis=0) / 2


def three_true(w: Array, a: Array, signal: float) -> float:
    """The mean over classes of the AUC against the mixture of the other two."""
    mean = signal * np.stack([w[3 * c : 3 * c + 3].sum(axis=0) for c in range(3)])
    spread = np.sqrt(2) * np.linalg.norm(w, axis=0)
    gap = (np.diagonal(mean) - mean) / spread  # of class c's margin, over each class
    return float(ndtr(gap[~np.eye(3, dtype=bool)]).mean())


def number(rng: np.random.Generator, n: int, signal: float) -> tuple[Array, Array]:
    X = rng.standard_normal((n, GENES))
    y = signal * X[:, :CARRY].sum(axis=1) / np.sqrt(CARRY) + rng.standard_normal(n)
    return X, y


def number_learned(X: Array, y: Array) -> tuple[Array, Array]:
    Z, centred = X - X.mean(axis=0), y - y.mean()
    w = np.linalg.solve(Z @ Z.T + GENES * np.eye(len(y)), centred) @ Z
    return w, y.mean() - X.mean(axis=0) @ w


def number_true(w: Array, a: Array, signal: float) -> float:
    """1 - R², its variance that of the samples' response around their mean."""
    apart = w - signal / np.sqrt(CARRY) * (np.arange(GENES) < CARRY)
    return float((1 + apart @ apart + a**2) / (1 + signal**2))


def times(rng: np.random.Generator, risk: Array) -> Array:
    """Return exponential times, the hazard exp(risk), censored at the rate `LOST`."""
    event, lost = rng.exponential(np.exp(-risk)), rng.exponential(1 / LOST, len(risk))
    y = np.zeros(len(risk), dtype=[("time", float), ("event", bool)])
    y["time"], y["event"] = np.minimum(event, lost), event <= lost
    return y


def survival(rng: np.random.Generator, n: int, signal: float) -> tuple[Array, Array]:
    X = rng.standard_normal((n, GENES))
    return X, times(rng, signal * X[:, :CARRY].sum(axis=1) / np.sqrt(CARRY))


def survival_learned(X: Array, y: Array) -> tuple[Array, Array]:
    """Weigh genes by the score of Cox's likelihood at 0: their covariance with the residuals."""
    order = np.argsort(y["time"])
    hazard = np.cumsum(y["event"][order] / np.arange(len(y), 0, -1))
    residual = np.empty(len(y))
    residual[order] = y["event"][order] - hazard
    w = listed((X - X.mean(axis=0)).T @ residual)
    return w, -X.mean(axis=0) @ w


def survival_true(w: Array, a: Array, signal: float) -> float:
    """1 - C: who of two has the event first, and seen, is odds of their hazards and the loss."""
    if not signal:
        return 0.5
    share = w[:CARRY].sum() / np.sqrt(CARRY) / np.linalg.norm(w)
    own, other = PAIRS
    score = share * own + np.sqrt(1 - share**2) * other
    hazard = np.exp(signal * own)
    first = hazard[0] / (hazard.sum(axis=0) + 2 * LOST)
    return 1 - float(first @ (score[0] > score[1]) / first.sum())


KINDS = {
    kind.name: kind
    for kind in (
        Kind("classification", two, two_learned, two_true, lambda it: (it.auc_low, it.auc_high)),
        Kind(SEVERAL, three, three_learned, three_true,
             lambda it: (it.auc_low, it.auc_high)),
        Kind("regression", number, number_learned, number_true, lambda it: (it.low, it.high)),
        Kind("survival", survival, survival_learned, survival_true, lambda it: (it.low, it.high)),
    )
}  # fmt: skip
"""By the names of `ASSESSED`; a number is learned by ridge regression, the others by lists."""


def samples(rng: np.random.Generator, kind: Kind, n: int, signal: float, each: int) -> Drawn:
    """Draw n samples, `each` of one patient: four fifths of their variance is the patient's."""
    X, y = kind.drawn(rng, n // each, signal)
    if each == 1:
        return Drawn(X, y, np.arange(n))
    group = np.repeat(np.arange(n // each), each)
    own = rng.standard_normal((n, GENES))
    if not signal:
        return Drawn(np.sqrt(0.8) * X[group] + np.sqrt(0.2) * own, y[group], group)
    raise NotImplementedError("groups are drawn without signal")


def places(rng: np.random.Generator, drawn: Drawn) -> Array:
    """Deal the groups to the folds, class by class."""
    first = drawn.y[np.unique(drawn.group, return_index=True)[1]]
    side = np.zeros(len(first)) if first.dtype.names or len(set(first)) > 3 else first
    fold = np.empty(len(first), dtype=int)
    fold[np.lexsort((rng.random(len(first)), side))] = np.arange(len(first)) % FOLDS
    return fold[drawn.group]


def cross_validated(rng: np.random.Generator, kind: Kind, drawn: Drawn) -> HeldOut:
    rows, scores = [], []
    for _ in range(REPEATS):
        fold = places(rng, drawn)
        for k in range(FOLDS):
            w, a = kind.learned(drawn.X[fold != k], drawn.y[fold != k])
            rows.append(np.flatnonzero(fold == k))
            scores.append(a + drawn.X[fold == k] @ w)
    row, f = np.concatenate(rows), np.concatenate(scores)
    split = np.repeat(np.arange(len(rows)), [len(each) for each in rows])
    return HeldOut(
        drawn.y[row], row, split, split // FOLDS, 0 * row, f[:, None], 1 / (FOLDS - 1),
        drawn.group[row],
    )  # fmt: skip


@cache
def expected(name: str, n: int, signal: float, each: int = 1) -> float:
    """The mean of the true measure over training sets of a study of this size."""
    if not signal and name != "regression":
        return 0.5
    rng, kind = np.random.default_rng(2), KINDS[name]
    found = []
    for _ in range(TRAININGS):
        drawn = samples(rng, kind, n, signal, each)
        inside = places(rng, drawn) > 0
        found.append(kind.true(*kind.learned(drawn.X[inside], drawn.y[inside]), signal))
    return float(np.mean(found))


def covered(name: str, n: int, signal: float, each: int, seed: int) -> Mapping[str, float]:
    """Cross-validate a procedure on fresh samples: does the interval hold what is expected?"""
    rng, kind = np.random.default_rng((17, seed)), KINDS[name]
    found = cross_validated(rng, kind, samples(rng, kind, n, signal, each))
    (came,) = assess(found, ASSESSED[name].headline)
    low, high = kind.measure(came)
    holds = float(low <= expected(name, n, signal, each) <= high)
    return {"held": holds, "above": float(low > 0.5)}


HELD = "95 % interval of the {} in cross-validation"
MEASURED = {
    "classification": "AUC of two classes", SEVERAL: "AUC of several classes",
    "regression": "R²", "survival": "C of survival",
}  # fmt: skip
SIZES = (
    (40, 0, 1, "noise, 40 samples"),
    (100, 0, 1, "noise, 100 samples"),
    (60, 1, 1, "weak signal, 60 samples"),
    (200, 1, 1, "weak signal, 200 samples"),
    (60, 0, 3, "noise, 20 patients with 3 samples each"),
)
WEAK = {"classification": 0.25, SEVERAL: 0.5, "regression": 0.8, "survival": 1.0}
FEW = {"classification": 60}


def trial(name: str, n: int, signal: int, each: int, data: str) -> Trial:
    number = HELD.format(MEASURED[name])
    claims = [Claim("held", number, "holds what is expected in 93 to 98 %", 0.93, 0.98)]
    if name == "classification" and not signal:
        claims.append(Claim("above", number, "above .5 in at most 4 % in noise", 0.0, 0.04))
    return Trial(
        "intervals of cross-validation", f"{MEASURED[name]}: {data}",
        partial(covered, name, n, signal * WEAK[name], each), tuple(claims),
        few=FEW.get(name, 30),
    )  # fmt: skip
