"""Designs beyond those of the other trials: unequal groups, samples left out one by one, survival's
own measures, genes over several studies, and FDR-selected genes among true ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np
from certificate import Array, Claim, Trial
from intervals import (
    FOLDS,
    KINDS,
    N_GENES,
    N_SIGNAL_GENES,
    REPEATS,
    Drawn,
    cross_validated,
    places,
    two_true,
)
from intervals import survival as with_times
from scipy.special import ndtr
from study_data import N_SHIFTED as TRUE
from study_data import STUDY_GENES as D
from study_data import differing, false_share, named, studies_of
from threadpoolctl import threadpool_limits

from genesig.report.answer.collect import measures
from genesig.selection.assess.assessment import assess
from genesig.selection.assess.kinds import ASSESSMENT_KINDS, HeldOutScores
from genesig.selection.assess.survival import (
    brier_losses,
    calibration_slope_of_cox,
    censoring,
    integrated_brier,
    kaplan_meier,
)
from genesig.selection.meta_analysis import meta_table
from genesig.selection.survival import SurvivalPredictions, hazard_of, prediction_tables

TWO = KINDS["classification"]
N_CASES = 6
OF_EACH = 5
N_CONTROLS = 30
TRAININGS = 200


def unequal(rng: np.random.Generator, signal: float) -> Drawn:
    """Draw a few cases with several samples each, whose own is .8 of the variance, and controls."""
    y = np.repeat([-1.0, 1.0], [N_CONTROLS, N_CASES * OF_EACH])
    group = np.concatenate(
        [np.arange(N_CONTROLS), N_CONTROLS + np.arange(len(y) - N_CONTROLS) // OF_EACH]
    )
    samples_drawn = rng.standard_normal((N_CONTROLS + N_CASES, N_GENES))
    X = np.sqrt(0.8) * samples_drawn[group] + np.sqrt(0.2) * rng.standard_normal((len(y), N_GENES))
    X[:, :N_SIGNAL_GENES] += signal * y[:, None]
    return Drawn(X, y, group)


def true_shares(w: Array, a: Any, signal: float) -> tuple[float, float, float]:
    """Return specificity, sensitivity and AUC of a score of Gaussian genes."""
    shift = signal * w[:N_SIGNAL_GENES].sum()
    spread = np.linalg.norm(w)
    return (
        float(ndtr((shift - a) / spread)),
        float(ndtr((shift + a) / spread)),
        two_true(w, a, signal),
    )


@cache
@threadpool_limits.wrap(1)
def expected_shares(signal: float) -> tuple[float, ...]:
    rng = np.random.default_rng(2)
    shares = []
    for _ in range(TRAININGS):
        drawn = unequal(rng, signal)
        in_training = places(rng, drawn) > 0
        learned = TWO.learned(drawn.X[in_training], drawn.y[in_training])
        shares.append(true_shares(*learned, signal))
    return tuple(np.mean(shares, axis=0).tolist())


def of_page(held_out_scores: HeldOutScores) -> dict[str, Mapping[str, float]]:
    """Return the measures that the page states of two classes."""
    (assessment,) = assess(held_out_scores, ASSESSMENT_KINDS["classification"].headline)
    y, right = held_out_scores.sample_means(
        (held_out_scores.scores[:, 0] * held_out_scores.y > 0).astype(float)
    )
    row_places = np.unique(held_out_scores.row, return_index=True)[1]
    group = held_out_scores.groups[row_places]
    names = {-1.0: "well", 1.0: "ill"}
    study: Any = {
        "classes": ["well", "ill"],
        "units": [len(set(group[y == side])) for side in names],
    }
    rows: Any = {
        "samples": [
            {"label": names[side], "tested": 1, "wrong": 1 - share}
            for side, share in zip(y, right, strict=True)
        ]
    }
    row: Any = {
        "auc": assessment.auc,
        "auc_low": assessment.auc_low,
        "auc_high": assessment.auc_high,
    }
    return {measure["name"]: measure for measure in measures(study, rows, [row])}  # type: ignore[misc]


@threadpool_limits.wrap(1)
def of_unequal(seed: int, signal: float) -> Mapping[str, float]:
    """Return whether the intervals of the page hold what is expected."""
    rng = np.random.default_rng((29, seed))
    page_numbers = of_page(cross_validated(rng, TWO, unequal(rng, signal)))
    true_values = zip(("specificity", "sensitivity", "auc"), expected_shares(signal), strict=True)
    return {
        name: float(page_numbers[name]["low"] <= value <= page_numbers[name]["high"])
        for name, value in true_values
    }


@threadpool_limits.wrap(1)
def one_by_one(seed: int) -> Mapping[str, float]:
    """Leave each of 40 samples of noise out."""
    rng = np.random.default_rng((31, seed))
    X, y = TWO.drawn(rng, 40, 0.0)
    rows = np.arange(len(y))
    scores = []
    for row in rows:
        w, a = TWO.learned(X[rows != row], y[rows != row])
        scores.append(a + X[row] @ w)
    held_out_scores = HeldOutScores(
        y, rows, rows, 0 * rows, 0 * rows, np.array(scores)[:, None], 1 / (len(y) - 1), rows
    )
    (assessment,) = assess(held_out_scores, ASSESSMENT_KINDS["classification"].headline)
    return {
        "error": float(assessment.low <= 0.5 <= assessment.high),
        "auc": float(assessment.auc_low <= 0.5 <= assessment.auc_high),
    }


TIMES = np.linspace(0.02, 1.0, 50)
PATIENTS = 60
RISK = 1.0


def tested(X: Array, y: Any, train: Array, test: Array, repeat: int) -> SurvivalPredictions:
    """Learn a list and its hazard on some patients, and tell the survival of others."""
    w, _ = KINDS["survival"].learned(X[train], y[train])
    f = (X - X[train].mean(axis=0)) @ w
    f *= (
        0.4 * calibration_slope_of_cox(y[train]["time"], y[train]["event"], f[train])[0]
    )  # shrunk, as models are
    f -= np.median(f[train])
    training_outcome = y[train]
    lost = censoring(y[train]["time"], y[train]["event"])
    S = hazard_of(training_outcome, f[train], "efron").survival(f[test], TIMES)
    plain = kaplan_meier(training_outcome["time"], training_outcome["event"]).at(TIMES)[None]
    losses, reference = (
        brier_losses(y[test]["time"], y[test]["event"], survival, TIMES, lost)
        for survival in (S, plain)
    )
    return SurvivalPredictions(test, repeat, y[test], f[test], f[test], S, losses, reference, lost)


@cache
@threadpool_limits.wrap(1)
def expected_losses() -> tuple[float, float]:
    """Return the Brier score and the share explained in new patients, by 40 training sets."""
    rng = np.random.default_rng(2)
    losses = []
    n = PATIENTS * (FOLDS - 1) // FOLDS
    for _ in range(40):
        X, y = with_times(rng, n + 2000, RISK)
        test_losses = tested(X, y, np.arange(n), np.arange(n, n + 2000), 0)
        model_loss, plain = (
            integrated_brier(curve, TIMES).value
            for curve in (test_losses.losses, test_losses.reference)
        )
        losses.append((model_loss, 1 - model_loss / plain))
    brier, explained = np.mean(losses, axis=0)
    return float(brier), float(explained)


@threadpool_limits.wrap(1)
def of_survival(seed: int) -> Mapping[str, float]:
    """Return whether the intervals of the Brier score and of what is explained hold this."""
    rng = np.random.default_rng((37, seed))
    X, y = with_times(rng, PATIENTS, RISK)
    study_losses = []
    for repeat in range(REPEATS):
        fold = rng.permutation(PATIENTS) % FOLDS
        for k in range(FOLDS):
            study_losses.append(
                tested(X, y, np.flatnonzero(fold != k), np.flatnonzero(fold == k), repeat)
            )
    table = prediction_tables(study_losses, y, TIMES, (0.0, (0.0, 0.0)), 0.25, np.arange(PATIENTS))[
        "survival"
    ]
    rows = table.set_index("measure")
    return {
        name: float(rows.loc[name, "low"] <= value <= rows.loc[name, "high"])
        for name, value in zip(("brier", "explained"), expected_losses(), strict=True)
    }


def over_studies(seed: int) -> Mapping[str, float]:
    """Return the share of false genes at q <= .05, and how many of those have p <= .05."""
    k = (3, 4, 6)[seed % 3]
    tau = (0.0, 0.4, 0.8)[seed // 3 % 3]
    prior_tau = np.where(np.arange(D) % 10, 0.1, 0.8) if seed // 9 % 2 else tau
    table = meta_table(studies_of(k, prior_tau, seed))
    return {
        "false": false_share(table),
        "small": float(np.mean(table["p_value"].to_numpy()[TRUE:] <= 0.05)),
    }


def of_named(seed: int) -> Mapping[str, float]:
    """Return the share of false genes among the named ones, where some genes differ."""
    dataset, true = differing(seed)
    table = named(dataset, "classification", seed)
    genes = set(table.loc[table["fdr_selected"], "gene"])
    return {"false": len(genes - true) / max(1, len(genes)), "any": float(len(genes) > 0)}


def _covers(
    names: Iterable[tuple[str, str]], promise: str, low: float, high: float
) -> tuple[Claim, ...]:
    return tuple(Claim(key, f"95 % CI of {name}", promise, low, high) for key, name in names)


HOLDS = "holds what is expected in 93 to 98 %"
SHARE_NAMES = (
    ("specificity", "the specificity"),
    ("sensitivity", "the sensitivity"),
    ("auc", "the AUC"),
)
TOPIC = "Other designs"
TRIALS: tuple[Trial, ...] = (
    *(
        Trial(
            TOPIC,
            f"30 controls, 6 cases of 5 samples each, {signal_name}",
            partial(of_unequal, signal=s),
            _covers(SHARE_NAMES, HOLDS, 0.93, 0.98),
            draws=400,
            few=12,
        )
        for signal_name, s in (("noise", 0.0), ("weak signal", 0.25))
    ),
    Trial(
        TOPIC,
        "noise, 40 samples, left out one by one",
        one_by_one,
        _covers(
            (("error", "the balanced error"), ("auc", "the AUC")),
            "holds chance in 81 to 97 %, as the page says",
            0.81,
            0.97,
        ),
        draws=400,
        few=12,
    ),
    Trial(
        TOPIC,
        f"survival, {PATIENTS} patients, {N_SIGNAL_GENES} of {N_GENES} genes weigh",
        of_survival,
        _covers(
            (("brier", "the Brier score"), ("explained", "what the genes explain of it")),
            HOLDS,
            0.93,
            0.98,
        ),
        draws=200,
        few=12,
    ),
    Trial(
        "Genes over several studies",
        f"3 to 6 studies of 40 samples, 75 of {D} genes differ by 1 SD; effects differ between "
        "studies by 0, .4 or .8 SD, or by .8 in a tenth of the genes",
        over_studies,
        (
            Claim("false", "genes of q ≤ .05", "at most 5 % are false", 0.0, 0.05),
            Claim("small", "p of a gene that does not differ", "≤ .05 in 3 to 7 %", 0.03, 0.07),
        ),
        draws=180,
        few=9,
    ),
    Trial(
        "FDR-selected genes",
        "60 samples, 10 of 400 genes differ by 1 SD",
        of_named,
        (
            Claim("false", "FDR-selected genes, q ≤ .1", "at most 10 % are false", 0.0, 0.1),
            Claim("any", "any gene is FDR-selected", "in more than half of the studies", 0.5, 1.0),
        ),
        draws=60,
        few=0,
    ),
)
