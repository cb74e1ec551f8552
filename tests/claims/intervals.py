"""Trials of intervals of held-out measures, in cross-validation and in external cohorts.

Cross-validated ones are for the measure that models of the same procedure, trained on as many
samples as a training set has, reach on average: `expected` is its mean over fresh training sets,
exact for each model, whose score of Gaussian genes is Gaussian.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from certificate import Claim, Trial
from linear_loops import nested_cross_validation
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import ndtr
from settings import LINEAR, MOMENTS, SPLITS
from threadpoolctl import threadpool_limits

from genesig.data.splits.draw import draw_splits
from genesig.response.design import SEVERAL_CLASSES
from genesig.results import Dataset, Design
from genesig.selection.assess.assessment import assess
from genesig.selection.assess.held_out import collect_held_out
from genesig.selection.assess.kinds import ASSESSMENT_KINDS, HeldOutScores
from genesig.selection.assess.survival import harrell, log_rank
from genesig.selection.model.external_scores import (
    measure_numbers,
    measure_several_classes,
    measure_two_classes,
)

Array = np.ndarray[Any, Any]
FOLDS = 5
REPEATS = 4
N_GENES = 100
N_SIGNAL_GENES = 10
LISTED = 10
WEAK_SIGNAL = {"classification": 0.25, SEVERAL_CLASSES: 0.5, "regression": 0.8, "survival": 1.0}
TRAININGS = 200
N_STUDY_SAMPLES = 200
EXPECTED_WHOLE = 0.7835
"""Samples of whole studies; the mean AUC of their models, as the trial measures it."""
CENSORING_RATE = 0.5  # rate of censoring, of events at a score of 0 it is 1
RISKS, WEIGHTS = hermegauss(40)


class Drawn(NamedTuple):
    """Samples: X (n, p), responses as `HeldOutScores` has them, and the group of each."""

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
    evidence_left = evidence.copy()
    evidence_left[np.argsort(size)[:-LISTED]] = 0
    return evidence_left


def two(rng: np.random.Generator, n: int, signal: float) -> tuple[Array, Array]:
    y = np.repeat([-1.0, 1.0], [n - n // 2, n // 2])
    X = rng.standard_normal((n, N_GENES))
    X[:, :N_SIGNAL_GENES] += signal * y[:, None]
    return X, y


def two_learned(X: Array, y: Array) -> tuple[Array, Array]:
    low = X[y < 0].mean(axis=0)
    high = X[y > 0].mean(axis=0)
    w = listed(high - low)
    return w, -(low + high) @ w / 2


def two_true(w: Array, a: Array, signal: float) -> float:
    return float(ndtr(np.sqrt(2) * signal * w[:N_SIGNAL_GENES].sum() / np.linalg.norm(w)))


def three(rng: np.random.Generator, n: int, signal: float) -> tuple[Array, Array]:
    y = np.arange(n) * 3 // n
    X = rng.standard_normal((n, N_GENES))
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
    X = rng.standard_normal((n, N_GENES))
    y = signal * X[:, :N_SIGNAL_GENES].sum(axis=1) / np.sqrt(N_SIGNAL_GENES) + rng.standard_normal(
        n
    )
    return X, y


def number_learned(X: Array, y: Array) -> tuple[Array, Array]:
    Z = X - X.mean(axis=0)
    centred = y - y.mean()
    w = np.linalg.solve(Z @ Z.T + N_GENES * np.eye(len(y)), centred) @ Z
    return w, y.mean() - X.mean(axis=0) @ w


def number_true(w: Array, a: Array, signal: float) -> float:
    """1 - R², its variance that of the samples' response around their mean."""
    orthogonal_weights = w - signal / np.sqrt(N_SIGNAL_GENES) * (
        np.arange(N_GENES) < N_SIGNAL_GENES
    )
    return float((1 + orthogonal_weights @ orthogonal_weights + a**2) / (1 + signal**2))


def times(rng: np.random.Generator, risk: Array) -> Array:
    """Return exponential times, the hazard exp(risk), censored at the rate `CENSORING_RATE`."""
    event = rng.exponential(np.exp(-risk))
    lost = rng.exponential(1 / CENSORING_RATE, len(risk))
    y = np.zeros(len(risk), dtype=[("time", float), ("event", bool)])
    y["time"] = np.minimum(event, lost)
    y["event"] = event <= lost
    return y


def survival(rng: np.random.Generator, n: int, signal: float) -> tuple[Array, Array]:
    X = rng.standard_normal((n, N_GENES))
    return X, times(rng, signal * X[:, :N_SIGNAL_GENES].sum(axis=1) / np.sqrt(N_SIGNAL_GENES))


def survival_learned(X: Array, y: Array) -> tuple[Array, Array]:
    """Weigh genes by the score of Cox's likelihood at 0: their covariance with the residuals."""
    order = np.argsort(y["time"])
    hazard = np.cumsum(y["event"][order] / np.arange(len(y), 0, -1))
    residual = np.empty(len(y))
    residual[order] = y["event"][order] - hazard
    w = listed((X - X.mean(axis=0)).T @ residual)
    return w, -X.mean(axis=0) @ w


def survival_true(w: Array, a: Array, signal: float) -> float:
    """1 - C of a score whose correlation with the risk follows from its weights."""
    return 1 - ordered(
        w[:N_SIGNAL_GENES].sum() / np.sqrt(N_SIGNAL_GENES) / np.linalg.norm(w), signal
    )


def ordered(share: float, signal: float) -> float:
    """C of a score of this correlation with the risk, whose standard deviation is `signal`.

    Of two samples of risks r and s, the one of risk r has the event first, and seen, with
    probability e^r/(e^r + e^s + 2 LOST).
    """
    hazard = np.exp(signal * RISKS)
    gap = share * (RISKS[:, None] - RISKS)
    first_terms = (
        WEIGHTS[:, None]
        * WEIGHTS
        * hazard[:, None]
        / (hazard[:, None] + hazard + 2 * CENSORING_RATE)
    )
    probability_above = ndtr(gap / np.sqrt(2 * (1 - share**2)))
    return float((first_terms * probability_above).sum() / first_terms.sum())


KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "classification",
            two,
            two_learned,
            two_true,
            lambda estimate: (estimate.auc_low, estimate.auc_high),
        ),
        Kind(
            SEVERAL_CLASSES,
            three,
            three_learned,
            three_true,
            lambda estimate: (estimate.auc_low, estimate.auc_high),
        ),
        Kind(
            "regression",
            number,
            number_learned,
            number_true,
            lambda estimate: (estimate.low, estimate.high),
        ),
        Kind(
            "survival",
            survival,
            survival_learned,
            survival_true,
            lambda estimate: (estimate.low, estimate.high),
        ),
    )
}
"""By the names of `ASSESSMENT_KINDS`; a number is learned by ridge, the others by lists."""


def samples(
    rng: np.random.Generator, kind: Kind, n: int, signal: float, n_measurements: int
) -> Drawn:
    """Draw n samples, `n_measurements` of a patient, whose own is .8 of the variance: noise."""
    X, y = kind.drawn(rng, n // n_measurements, signal)
    if n_measurements == 1:
        return Drawn(X, y, np.arange(n))
    group = np.repeat(np.arange(n // n_measurements), n_measurements)
    noise = rng.standard_normal((n, N_GENES))
    return Drawn(np.sqrt(0.8) * X[group] + np.sqrt(0.2) * noise, y[group], group)


def places(rng: np.random.Generator, drawn: Drawn) -> Array:
    """Deal the groups to the folds, class by class."""
    class_of_patient = drawn.y[np.unique(drawn.group, return_index=True)[1]]
    side = (
        np.zeros(len(class_of_patient))
        if class_of_patient.dtype.names or len(set(class_of_patient)) > 3
        else class_of_patient
    )
    fold = np.empty(len(class_of_patient), dtype=int)
    fold[np.lexsort((rng.random(len(class_of_patient)), side))] = (
        np.arange(len(class_of_patient)) % FOLDS
    )
    return fold[drawn.group]


def cross_validated(rng: np.random.Generator, kind: Kind, drawn: Drawn) -> HeldOutScores:
    rows = []
    scores = []
    for _ in range(REPEATS):
        fold = places(rng, drawn)
        for k in range(FOLDS):
            w, a = kind.learned(drawn.X[fold != k], drawn.y[fold != k])
            rows.append(np.flatnonzero(fold == k))
            scores.append(a + drawn.X[fold == k] @ w)
    row = np.concatenate(rows)
    f = np.concatenate(scores)
    split = np.repeat(np.arange(len(rows)), [len(test_rows) for test_rows in rows])
    return HeldOutScores(
        drawn.y[row],
        row,
        split,
        split // FOLDS,
        0 * row,
        f[:, None],
        1 / (FOLDS - 1),
        drawn.group[row],
    )


@cache
@threadpool_limits.wrap(1)
def expected(name: str, n: int, signal: float, n_measurements: int = 1) -> float:
    """The mean of the true measure over training sets of a study of this size."""
    if not signal and name != "regression":
        return 0.5
    rng = np.random.default_rng(2)
    kind = KINDS[name]
    values = []
    for _ in range(TRAININGS):
        drawn = samples(rng, kind, n, signal, n_measurements)
        in_training = places(rng, drawn) > 0
        values.append(kind.true(*kind.learned(drawn.X[in_training], drawn.y[in_training]), signal))
    return float(np.mean(values))


@threadpool_limits.wrap(1)
def covered(
    name: str, n: int, signal: float, n_measurements: int, seed: int
) -> Mapping[str, float]:
    """Cross-validate a procedure on fresh samples: does the interval hold what is expected?"""
    rng = np.random.default_rng((17, seed))
    kind = KINDS[name]
    held_out_scores = cross_validated(rng, kind, samples(rng, kind, n, signal, n_measurements))
    (assessment,) = assess(held_out_scores, ASSESSMENT_KINDS[name].headline)
    low, high = kind.measure(assessment)
    holds = float(low <= expected(name, n, signal, n_measurements) <= high)
    return {
        "held": holds,
        "above": float(low > 0.5),
        "error": float(assessment.low <= 0.5 <= assessment.high),
    }


def whole_study(seed: int) -> Mapping[str, float]:
    """Run the double loop of a study of 200 samples, with a small grid."""
    rng = np.random.default_rng((23, seed))
    X, y = two(rng, N_STUDY_SAMPLES, WEAK_SIGNAL["classification"])
    held_out_scores, w = double_loop_of(X, y, seed)
    assessment = assess(held_out_scores, ASSESSMENT_KINDS["classification"].headline)[-1]
    true = [
        two_true(class_weights, class_weights[0], WEAK_SIGNAL["classification"])
        for class_weights in w
    ]
    return {
        "held": float(assessment.auc_low <= EXPECTED_WHOLE <= assessment.auc_high),
        "expected": float(np.mean(true)) - EXPECTED_WHOLE,
    }


def double_loop_of(X: Array, y: Array, seed: int) -> tuple[HeldOutScores, list[Array]]:
    """Return what the chosen lists held out, and their weights in units of X."""
    names = [f"s{k}" for k in range(len(y))]
    obs = pd.DataFrame({"label": np.where(y > 0, "ill", "healthy")}, index=names)
    genes = [f"g{k}" for k in range(X.shape[1])]
    var = pd.DataFrame({"symbol": genes}, index=genes)
    design = Design("label", "classification", ("healthy", "ill"), None, None)
    dataset = Dataset(X, obs, var, design, {"steps": []})
    splits = draw_splits(dataset, seed=seed, **SPLITS | {"folds": FOLDS, "repeats": REPEATS})
    fits = nested_cross_validation(
        dataset,
        splits,
        labels="observed",
        batch="1of1",
        fold_steps=MOMENTS,
        **LINEAR | {"list": "stable"},
    ).with_chosen()
    weights = []
    for fit, split in enumerate(splits.outer):
        w = np.zeros(len(genes))
        (gene_columns, values) = fits.chosen_coef(fit)
        w[gene_columns] = values
        weights.append(w / X[dataset.rows(split.train)].std(axis=0))
    return collect_held_out(dataset, splits, fits), weights


class Elsewhere(NamedTuple):
    """A locked model in another study: how its samples come, and what is true of all such."""

    name: str
    rows: Callable[[np.random.Generator, int], Iterable[tuple[str, float, Any, int]]]
    true: Mapping[str, float]


def of_two(rng: np.random.Generator, n: int) -> Iterable[tuple[str, float, Any, int]]:
    """A score of means ± .5 less a shift of .3, spread 1, of 30 % positive samples."""
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    return measure_two_classes(y, 0.5 * y + 0.3 + rng.standard_normal(n), 0.0)


def of_three(rng: np.random.Generator, n: int) -> Iterable[tuple[str, float, Any, int]]:
    """Three scores of spread 1, that of the sample's own class higher by .8."""
    y = rng.integers(0, 3, n)
    f = rng.standard_normal((n, 3))
    f[np.arange(n), y] += 0.8
    return measure_several_classes(y.astype(float), f, ["A", "B", "C"])


def of_numbers(rng: np.random.Generator, n: int) -> Iterable[tuple[str, float, Any, int]]:
    """y = f/2 + .2 + noise, f of spread 1, noise of variance 3/4."""
    f = rng.standard_normal(n)
    return measure_numbers(f / 2 + 0.2 + np.sqrt(0.75) * rng.standard_normal(n), f)


def of_times(rng: np.random.Generator, n: int) -> Iterable[tuple[str, float, Any, int]]:
    """A score of correlation .8 with the risk, whose standard deviation is .5."""
    risk, noise = rng.standard_normal((2, n))
    y = times(rng, 0.5 * risk)
    f = 0.8 * risk + 0.6 * noise
    c = harrell(y["time"], y["event"], f)
    yield "concordance", c.value, c.interval, n


def true_of_two(share: float = 0.3, gap: float = 0.5, shift: float = 0.3) -> dict[str, float]:
    sensitivity = float(ndtr(gap + shift))
    specificity = float(ndtr(gap - shift))
    mean = 2 * share - 1
    variance = 4 * share * (1 - share)
    score = gap * mean + shift
    spread = gap**2 * variance + 1
    slope = gap * variance / spread
    return {
        "auc": float(ndtr(np.sqrt(2) * gap)),
        "balanced_error": 1 - (sensitivity + specificity) / 2,
        "misclassification": share * (1 - sensitivity) + (1 - share) * (1 - specificity),
        "sensitivity": sensitivity,
        "specificity": specificity,
        "squared_error": variance + spread - 2 * gap * variance + (score - mean) ** 2,
        "mean_difference": score - mean,
        "calibration_slope": slope,
        "calibration_intercept": mean - slope * score,
    }


def true_of_three(gap: float = 0.8) -> dict[str, float]:
    """The largest of three is right with probability ∫ φ(z) Φ(z + gap)² dz."""
    right = float(WEIGHTS @ ndtr(RISKS + gap) ** 2 / WEIGHTS.sum())
    true_sensitivities = {f"sensitivity of {name}": right for name in "ABC"}
    area = float(ndtr(gap / np.sqrt(2)))
    return {
        "auc": area,
        "balanced_error": 1 - right,
        "misclassification": 1 - right,
        **true_sensitivities,
    }


ELSEWHERE = (
    Elsewhere("two classes, 30 % of the positive one", of_two, true_of_two()),
    Elsewhere("three classes", of_three, true_of_three()),
    Elsewhere(
        "a number",
        of_numbers,
        {
            "r2": 1 - 1.04,
            "squared_error": 1.04,
            "mean_difference": -0.2,
            "calibration_slope": 0.5,
            "calibration_intercept": 0.2,
        },
    ),
    Elsewhere("survival", of_times, {"concordance": ordered(0.8, 0.5)}),
)


def elsewhere(cohort: Elsewhere, n: int, seed: int) -> Mapping[str, float]:
    rows = {name: limits for name, _, limits, _ in cohort.rows(np.random.default_rng(seed), n)}
    return {
        name: float(rows[name][0] <= true <= rows[name][1]) for name, true in cohort.true.items()
    }


def groups_of_risk(n: int, seed: int) -> Mapping[str, float]:
    rng = np.random.default_rng(seed)
    y = times(rng, np.zeros(n))
    f = rng.standard_normal(n)
    return {"p": float(log_rank(y["time"], y["event"], np.where(f > 0, "high", "low")).p <= 0.05)}


CV_INTERVAL = "95 % CI of the {} in cross-validation"
MEASURED = {
    "classification": "AUC of two classes",
    SEVERAL_CLASSES: "AUC of several classes",
    "regression": "R²",
    "survival": "C of survival",
}
STUDY_SIZES = (
    (40, 0, 1, "noise, 40 samples"),
    (100, 0, 1, "noise, 100 samples"),
    (60, 1, 1, "weak signal, 60 samples"),
    (200, 1, 1, "weak signal, 200 samples"),
    (60, 0, 3, "noise, 20 patients with 3 samples each"),
)


def trial(name: str, n: int, signal: int, n_measurements: int, data: str) -> Trial:
    """Return the trial of an interval of cross-validation."""
    of = CV_INTERVAL.format(MEASURED[name])
    claims = [Claim("held", of, "holds what is expected in 93 to 98 %", 0.93, 0.98)]
    if name == "classification" and not signal:
        claims.append(Claim("above", of, "above .5 in at most 4 % in noise", 0.0, 0.04))
        claims.append(
            Claim(
                "error", CV_INTERVAL.format("balanced error"), "holds .5 in 93 to 98 %", 0.93, 0.98
            )
        )
    return Trial(
        "intervals of cross-validation",
        f"{MEASURED[name]}: {data}",
        partial(covered, name, n, signal * WEAK_SIGNAL[name], n_measurements),
        tuple(claims),
        few=60 if (name, n, signal) == ("classification", 60, 0) else 8,
    )


def trial_elsewhere(cohort: Elsewhere, n: int) -> Trial:
    claims = tuple(
        Claim(
            name,
            f"95 % CI of {name.replace('_', ' ')} in another study",
            "holds the true value in 93 to 98 %",
            0.93,
            0.98,
        )
        for name in cohort.true
    )
    return Trial(
        "intervals in other studies",
        f"{cohort.name}, {n} samples",
        partial(elsewhere, cohort, n),
        claims,
        draws=1000,
        few=30,
    )


TRIALS = (
    *(trial(name, *size) for name in KINDS for size in STUDY_SIZES),
    Trial(
        "intervals of cross-validation",
        "AUC of two classes: whole studies of 200 samples",
        whole_study,
        (
            Claim(
                "held",
                CV_INTERVAL.format("AUC of two classes"),
                "holds what is expected in 93 to 98 %",
                0.93,
                0.98,
            ),
            Claim(
                "expected",
                "the AUC expected of these studies",
                "is what models have, ± .005",
                -0.005,
                0.005,
            ),
        ),
        draws=200,
        few=2,
    ),
    *(trial_elsewhere(cohort, n) for cohort in ELSEWHERE for n in (40, 100)),
    Trial(
        "intervals in other studies",
        "survival, noise, 60 samples",
        partial(groups_of_risk, 60),
        (
            Claim(
                "p",
                "log-rank p of the groups of risk in another study",
                "at most .05 in 3 to 7 % of noise",
                0.03,
                0.07,
            ),
        ),
        draws=1000,
        few=30,
    ),
)
