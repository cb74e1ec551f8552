"""Trials of predicted risks of new patients: no information in noise, calibrated otherwise.

Genes are independent and have variance 1; five of 150 each add `effect` to the logarithm of the
hazard. Times are exponential and censored by another exponential time. A risk is the probability of
an event by the horizon, the median follow-up of the study. The true risk of each new patient is
known, so that no event has to be drawn.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from certificate import Claim, Trial
from linear_loops import fit_final_model
from probabilities import SMALL_PROTOCOL
from scipy.optimize import minimize
from settings import MOMENTS

from genesig.data.files.delimited import Matrix
from genesig.data.splits.draw import draw_splits
from genesig.results import Dataset, Design
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict

N_GENES = 150
N_CAUSAL_GENES = 5
N_NEW_PATIENTS = 200
N_STUDIES = 10
"""Studies of which one slope is measured."""
MEAN_CENSORING_TIME = 3.0
MIN_RISK = 1e-9
COARSE_PROTOCOL = SMALL_PROTOCOL | {"lam": (1e-2, 1.0)}
"""A large step of lambda: the unit of the scores depends on the choice."""


def patients(seed: tuple[int, int], n: int, effect: float) -> tuple[np.ndarray, np.ndarray]:
    """Return expression (n, genes) and the logarithm of each patient's hazard, (n,)."""
    X = np.random.default_rng(seed).standard_normal((n, N_GENES))
    return X, effect * X[:, :N_CAUSAL_GENES].sum(axis=1)


def predicted_and_true_risks(
    seed: int, n: int, effect: float, protocol: dict[str, Any] = SMALL_PROTOCOL
) -> tuple[np.ndarray, np.ndarray, float, bool]:
    """Return predicted and true risks of new patients, the study's own, and whether in doubt."""
    X, log_hazard = patients((seed, 0), n, effect)
    rng = np.random.default_rng((seed, 1))
    event_time = rng.exponential(np.exp(-log_hazard))
    censoring_time = rng.exponential(MEAN_CENSORING_TIME, n)
    time = np.minimum(event_time, censoring_time)
    horizon = float(np.median(time))
    samples = [f"S{row}" for row in range(n)]
    genes = [f"g{column}" for column in range(N_GENES)]
    obs = pd.DataFrame(
        {"time": time, "event": np.where(event_time <= censoring_time, "1", "0")}, index=samples
    )
    design = Design(
        label="time",
        task="survival",
        classes=None,
        group=None,
        pair=None,
        event="event",
        occurred="1",
        horizon=horizon,
    )
    dataset = Dataset(X, obs, pd.DataFrame({"symbol": genes}, index=genes), design, {})
    splits = draw_splits(
        dataset,
        seed=seed,
        scheme="stratified_kfold",
        folds=5,
        repeats=1,
        column=None,
        file=None,
        inner_scheme="stratified_kfold",
        inner_folds=5,
        subsamples=0,
        batches=1,
    )
    final = fit_final_model(dataset, splits, fold_steps=MOMENTS, **protocol)
    model = final_model(dataset, final, fold_steps=MOMENTS)
    new_X, new_log_hazard = patients((seed, 2), N_NEW_PATIENTS, effect)
    names = tuple(f"N{row}" for row in range(N_NEW_PATIENTS))
    lines = tuple(range(2, N_NEW_PATIENTS + 2))
    scored, _ = predict(
        model, Matrix(names, tuple(genes), new_X, {}, lines), "new.tsv", missing=0, mu=None
    )
    true_risk = 1 - np.exp(-horizon * np.exp(new_log_hazard))
    doubtful = scored["doubt"].str.contains("that the score predicts survival").all()
    return 1 - scored["survival"].to_numpy(float), true_risk, float(true_risk.mean()), doubtful


def calibration_slope(predicted: np.ndarray, true: np.ndarray) -> float:
    """Return the slope of the true risk on the predicted one, both as log(-log(1 - risk))."""
    x = np.log(-np.log1p(-np.clip(predicted, MIN_RISK, 1 - MIN_RISK)))

    def cross_entropy(line: np.ndarray) -> float:
        risk = -np.expm1(-np.exp(np.clip(line[0] + line[1] * x, -20, 3)))
        risk = np.clip(risk, MIN_RISK, 1 - MIN_RISK)
        return -float(np.mean(true * np.log(risk) + (1 - true) * np.log1p(-risk)))

    return float(minimize(cross_entropy, [0.0, 1.0], method="BFGS").x[1])


def highest_risk_error(predicted: np.ndarray, true: np.ndarray) -> float:
    """Return the mean predicted risk of the tenth of highest predicted risk, less the true one."""
    highest = predicted >= np.quantile(predicted, 0.9)
    return float(predicted[highest].mean() - true[highest].mean())


def risks_of_small_studies(
    seed: int, n: int, effect: float, protocol: dict[str, Any] = SMALL_PROTOCOL
) -> dict[str, float]:
    """Return the slope in new patients of some studies together, and how far their risks spread."""
    studies = [
        predicted_and_true_risks(N_STUDIES * seed + number, n, effect, protocol)
        for number in range(N_STUDIES)
    ]
    predicted = np.concatenate([study[0] for study in studies])
    true = np.concatenate([study[1] for study in studies])
    distance = np.concatenate([study[0] - study[2] for study in studies])
    errors = [highest_risk_error(study[0], study[1]) for study in studies if not study[3]]
    return {
        "slope": calibration_slope(predicted, true),
        "distance": float(np.sqrt(np.mean(np.square(distance)))),
        "highest": highest_risk_error(predicted, true),
        "highest of each": float(np.sqrt(np.mean(np.square(errors)))) if errors else np.nan,
        "doubtful": float(np.mean([study[3] for study in studies])),
    }


SLOPE = Claim("slope", "risk of new patients: slope", "within 0.8 and 1.25", 0.8, 1.25)
HIGHEST = Claim(
    "highest", "risk of the tenth of highest risk, less what comes", "within 0.1", -0.1, 0.1
)
HIGHEST_OF_EACH = Claim(
    "highest of each",
    "risk of the tenth of highest risk of a study without doubt, less what comes: root mean square",
    "at most 0.1",
    0.0,
    0.1,
)
CLOSE = Claim(
    "distance", "risk of new patients, less the mean: root mean square", "at most 0.1", 0.0, 0.1
)
DOUBTFUL = Claim("doubtful", "risks are in doubt", "in at least 80 % of studies", 0.8, 1.0)

TRIALS: tuple[Trial, ...] = tuple(
    Trial(
        "Risks of small studies",
        f"{N_STUDIES} studies of {n} patients, "
        + (f"five genes of effect {effect:g}" if effect else "no gene has an effect")
        + (", lambda 0.01 or 1" if protocol is COARSE_PROTOCOL else ""),
        partial(risks_of_small_studies, n=n, effect=effect, protocol=protocol),
        claims,
        draws=12,
        few=few,
    )
    for n, effect, protocol, few, claims in (
        (80, 0.6, SMALL_PROTOCOL, 2, (SLOPE, HIGHEST)),
        (100, 0.6, COARSE_PROTOCOL, None, (SLOPE, HIGHEST, HIGHEST_OF_EACH)),
        (150, 0.4, SMALL_PROTOCOL, None, (SLOPE, HIGHEST)),
        (80, 0.25, SMALL_PROTOCOL, None, (CLOSE, HIGHEST)),
        (80, 0.0, SMALL_PROTOCOL, 2, (CLOSE, DOUBTFUL)),
        (150, 0.0, SMALL_PROTOCOL, None, (CLOSE, DOUBTFUL)),
    )
)
