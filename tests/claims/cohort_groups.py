"""Trials of intervals of a locked model in cohorts with several samples per patient."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from certificate import Array, Claim, Trial
from intervals import ordered, times, true_of_three, true_of_two

from genesig.selection.assess.clusters import group_numbers, order_interval
from genesig.selection.assess.survival import harrell, log_rank
from genesig.selection.model.external_scores import (
    measure_numbers,
    measure_several_classes,
    measure_two_classes,
)

WITHIN = 0.7
"""Correlation of the scores of two samples of one patient of one class."""
SHARE_ILL = 0.5
GAP = 0.5
SHIFT = 0.3
UNEQUAL = (1, 1, 2, 3, 8)
"""Samples of each of five patients in turn, in cohorts of unequal numbers of samples."""

Measures = Iterable[tuple[str, float, Any, int]]


class Cohort(NamedTuple):
    """A kind of response: how its measures come about, and their true values.

    `measures` takes a generator, the patient of each sample and the strength of the signal.
    """

    name: str
    measures: Callable[[np.random.Generator, Array, float], Measures]
    signal: float
    true: Mapping[str, float]
    chance: tuple[str, float]  # the measure that stands first, and its value without signal


def patients_of(n_patients: int, samples: int | None) -> Array:
    """Return the patient of each sample, (n,); the numbers of samples are `UNEQUAL` without one."""
    sizes = np.resize(UNEQUAL, n_patients) if samples is None else np.full(n_patients, samples)
    return np.repeat(np.arange(n_patients), sizes)


def scores(rng: np.random.Generator, patient: Array, columns: int = 1) -> Array:
    """Return scores (n, columns) of variance 1, correlated within each patient."""
    shared = rng.standard_normal((patient[-1] + 1, columns))[patient]
    single = rng.standard_normal((len(patient), columns))
    return np.sqrt(WITHIN) * shared + np.sqrt(1 - WITHIN) * single


def labels(rng: np.random.Generator, patient: Array, n_classes: int) -> Array:
    """Return the class of each sample, (n,): equal numbers of patients, in random order."""
    n_patients = patient[-1] + 1
    return rng.permutation(np.arange(n_patients) % n_classes)[patient].astype(float)


def of_two(rng: np.random.Generator, patient: Array, gap: float) -> Measures:
    """A score of means ± the gap plus a shift of .3, spread 1; a patient is ill with p = .5."""
    y = np.where(rng.random(patient[-1] + 1) < SHARE_ILL, 1.0, -1.0)[patient]
    f = gap * y + SHIFT + scores(rng, patient)[:, 0]
    return measure_two_classes(y, f, 0.0, patient)


def of_three(rng: np.random.Generator, patient: Array, gap: float) -> Measures:
    """Three scores of spread 1, that of the patient's class higher by the gap."""
    y = labels(rng, patient, 3)
    f = scores(rng, patient, 3)
    f[np.arange(len(y)), y.astype(int)] += gap
    return measure_several_classes(y, f, ["A", "B", "C"], group=patient)


def of_numbers(rng: np.random.Generator, patient: Array, slope: float) -> Measures:
    """y = slope f + .2 + noise of a patient, of variance 1; f of spread 1."""
    shared = rng.standard_normal(patient[-1] + 1)
    weight = slope / np.sqrt(WITHIN)
    residual_weight = np.sqrt(1 - weight**2) * rng.standard_normal(len(shared))
    f = np.sqrt(WITHIN) * shared[patient] + np.sqrt(1 - WITHIN) * rng.standard_normal(len(patient))
    return measure_numbers((weight * shared + 0.2 + residual_weight)[patient], f, patient)


def of_times(rng: np.random.Generator, patient: Array, share: float) -> Measures:
    """A score whose correlation with the patient's risk is the share; the risk's spread is .5."""
    risk, shared = rng.standard_normal((2, patient[-1] + 1))
    single = np.sqrt(1 - WITHIN) * rng.standard_normal(len(patient))
    f = (share * risk + np.sqrt(WITHIN - share**2) * shared)[patient] + single
    y = times(rng, 0.5 * risk)[patient]
    group = group_numbers(patient)
    concordance = harrell(y["time"], y["event"], f)
    interval = concordance.interval
    if group is not None:
        events = len(np.unique(group[y["event"]]))
        interval = order_interval(concordance.value, concordance.influence, group, events)
    yield "concordance", concordance.value, interval, len(y)
    p = log_rank(y["time"], y["event"], np.where(f > 0, "high", "low"), group).p
    yield "log_rank_p", p, (p, p), len(y)


COHORTS = (
    Cohort("two classes", of_two, GAP, true_of_two(SHARE_ILL, GAP, SHIFT), ("auc", 0.5)),
    Cohort("three classes", of_three, 0.8, true_of_three(), ("auc", 0.5)),
    Cohort(
        "a number",
        of_numbers,
        0.5,
        {
            "r2": -0.04,
            "squared_error": 1.04,
            "mean_difference": -0.2,
            "calibration_slope": 0.5,
            "calibration_intercept": 0.2,
        },
        ("calibration_slope", 0.0),
    ),
    Cohort("survival", of_times, 0.8, {"concordance": ordered(0.8, 0.5)}, ("concordance", 0.5)),
)
COHORT_SIZES = ((20, 3), (50, 3), (50, None))
"""Patients, and samples of each; None for `UNEQUAL` numbers."""


def _limits(cohort: Cohort, patient: Array, signal: float, seed: int) -> Mapping[str, Any]:
    rng = np.random.default_rng((41, seed))
    return {name: limits for name, _, limits, _ in cohort.measures(rng, patient, signal)}


def of_signal(seed: int, cohort: Cohort, n_patients: int, samples: int | None) -> dict[str, float]:
    """Return whether each interval holds the true value; NaN for one that is not defined."""
    coverage = _limits(cohort, patients_of(n_patients, samples), cohort.signal, seed)
    return {
        name: np.nan
        if np.isnan(coverage[name][0])
        else float(coverage[name][0] <= true <= coverage[name][1])
        for name, true in cohort.true.items()
    }


def of_noise(seed: int, cohort: Cohort, n_patients: int, samples: int | None) -> dict[str, float]:
    """Return whether the interval of the first measure lies above its value without signal."""
    name, chance = cohort.chance
    coverage = _limits(cohort, patients_of(n_patients, samples), 0.0, seed)
    outcomes = {"above": float(coverage[name][0] > chance)}
    if "log_rank_p" in coverage:
        outcomes["p"] = float(coverage["log_rank_p"][0] <= 0.05)
    return outcomes


def _data(cohort: Cohort, n_patients: int, samples: int | None) -> str:
    many = "1, 1, 2, 3, 8 in turn" if samples is None else f"{samples} of each"
    return f"{cohort.name}: {n_patients} patients, samples: {many}, correlation .7"


def _trials(cohort: Cohort, n_patients: int, samples: int | None) -> Iterator[Trial]:
    data = _data(cohort, n_patients, samples)
    low, high = (0.93, 0.98) if samples else (0.93, 1.0)
    promise = f"holds the true value in {100 * low:.0f} to {100 * high:.0f} %"
    claims = tuple(
        Claim(name, f"95 % CI of {name.replace('_', ' ')} over patients", promise, low, high)
        for name in cohort.true
    )
    draw = {"cohort": cohort, "n_patients": n_patients, "samples": samples}
    yield Trial(TOPIC, data, partial(of_signal, **draw), claims, draws=1000, few=12)
    name = cohort.chance[0].replace("_", " ")
    noise = [
        Claim(
            "above", f"95 % CI of {name} over patients", "above chance in at most 3.5 %", 0.0, 0.035
        )
    ]
    if cohort.name == "survival":
        number = "log-rank p of the groups of risk over patients"
        noise.append(Claim("p", number, "at most .05 in at most 7 % of noise", 0.0, 0.07))
    yield Trial(
        TOPIC, f"{data}, noise", partial(of_noise, **draw), tuple(noise), draws=2000, few=30
    )


def of_equal_classes(seed: int) -> dict[str, float]:
    """Return whether the AUC is called better than chance in noise, ten patients of each class."""
    rng = np.random.default_rng((43, seed))
    patient = patients_of(20, 3)
    y = 2 * labels(rng, patient, 2) - 1
    (low, _) = next(iter(measure_two_classes(y, scores(rng, patient)[:, 0], 0.0, patient)))[2]
    return {"above": float(low > 0.5)}


TOPIC = "patients with several samples in other studies"
TRIALS = (
    Trial(
        TOPIC,
        "two classes: 10 patients of each, samples: 3 of each, correlation .7, noise",
        of_equal_classes,
        (
            Claim(
                "above",
                "'better than chance' in another study",
                "in 1.5 to 3.5 % of noise",
                0.015,
                0.035,
            ),
        ),
        draws=4000,
        few=60,
    ),
    *(trial for cohort in COHORTS for size in COHORT_SIZES for trial in _trials(cohort, *size)),
)
