"""Trials of missing values: signs of hidden effects, and association with the label by chance.

Simulated proteomics: 792 proteins, levels from 16 to 32 with factors that samples share, and below
20.5 the smaller a value the more often it is missing. Five markers are measured in cases only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import settings
from certificate import Claim, Trial
from linear_loops import fit_final_model

from genesig.data.quality.missingness import check_missing
from genesig.data.splits.draw import draw_splits
from genesig.data.steps.normalise import normalise_samples, with_summaries_applied
from genesig.data.study.sheet_check import Sheet
from genesig.results import Dataset, Design

Array = np.ndarray[Any, Any]

N_SAMPLES = 40
PROTEINS = 792
MARKERS = 5
KNN = {"step": "knn_impute", "neighbours": 10, "missing_most": 0.5}
CENSORED_STEP = {"step": "left_censored", "quantile": 0.01}
HALF = {"step": "half_minimum", "logarithms": True}
LINEAR = settings.LINEAR | {"mu": [1.0], "list_mu": 1.0, "lam": [0.1, 1.0]}


def proteins(rng: Any, n: int = N_SAMPLES) -> Array:
    """Return levels that are missing the more often the smaller they are, (n, 792)."""
    X = rng.normal(24, 2, PROTEINS) + rng.normal(size=(n, 6)) @ rng.normal(0, 0.4, (6, PROTEINS))
    X += rng.normal(0, 0.6, X.shape)
    X[rng.random(X.shape) < 1 / (1 + np.exp(1.5 * (X - 20.5)))] = np.nan
    return np.asarray(X)


def dataset_of(X: Array, case: Array) -> Dataset:
    """Return a study of cases and controls."""
    names = [f"s{k:03}" for k in range(len(X))]
    obs = pd.DataFrame({"state": np.where(case, "case", "control")}, index=names)
    genes = [f"p{k:03}" for k in range(X.shape[1])]
    var = pd.DataFrame({"symbol": genes}, index=genes)
    design = Design("state", "classification", ("control", "case"), None, None)
    return Dataset(X, obs, var, design, {"dropped": [], "steps": []})


def marked(seed: int, cases: int) -> tuple[Dataset, Array]:
    """Return the study with its markers, which controls never have."""
    rng = np.random.default_rng(seed)
    X = proteins(rng)
    case = rng.permutation(N_SAMPLES) < cases
    X[rng.random(X.shape) < 0.02] = np.nan
    at = rng.choice(np.flatnonzero(np.isnan(X).mean(axis=0) < 0.2), MARKERS, replace=False)
    X[np.ix_(~case, at)] = np.nan
    return dataset_of(X, case), at


def signs(dataset: Dataset, at: Array, step: dict[str, Any]) -> tuple[Array, Array]:
    """Return the sign of each marker in the final model, 0 if not in it, and in the gene table."""
    folds = [step, *settings.MOMENTS]
    normalised = normalise_samples(dataset, samples=[], folds=folds)
    fits = fit_final_model(
        normalised, draw_splits(normalised, seed=1, **settings.SPLITS), fold_steps=folds, **LINEAR
    )
    weights = np.zeros(len(dataset.genes))
    weights[fits.indices] = fits.values  # noqa: PD011
    summarised_X = with_summaries_applied(normalised).X[:, at]
    y = dataset.response()
    class_difference = summarised_X[y > 0].mean(axis=0) - summarised_X[y < 0].mean(axis=0)
    return np.sign(weights[at]), np.sign(class_difference.round(6))


def said(dataset: Dataset) -> str:
    """Return what `genesig validate` says of missing values and the label."""
    sheet = Sheet(dataset.obs, dataset.design, [])
    problems = check_missing(dataset.X, dataset.genes, sheet, [CENSORED_STEP], "e.tsv")
    return " ".join(problem.message for problem in problems)


def of_markers(seed: int) -> dict[str, float]:
    """Hold the markers' signs against the truth, in the final model and in the gene table."""
    dataset, at = marked(seed, (20, 30)[seed % 2])
    low, half, near = (np.array(signs(dataset, at, step)) for step in (CENSORED_STEP, HALF, KNN))
    return {
        "all": float((low > 0).all()),
        "half": float((half > 0).all()),
        "wrong": float((near < 0).any()),
        "named": float(f"{MARKERS} genes of" in said(dataset)),
    }


def of_noise(seed: int) -> dict[str, float]:
    """Ask whether missing values are said to go with a label that they know nothing of.

    Samples differ in how much they miss.
    """
    rng = np.random.default_rng(seed)
    X = proteins(rng)
    X[rng.random(X.shape) < rng.uniform(0, 0.2, (N_SAMPLES, 1))] = np.nan
    return {"warned": float(bool(said(dataset_of(X, rng.permutation(N_SAMPLES) % 2 == 1))))}


TRIALS = (
    Trial(
        "Missing values",
        "792 proteins, 20 or 30 cases among 40; five markers that controls never have",
        of_markers,
        (
            Claim("all", "markers with left_censored", "all five listed, higher in cases", 0.95, 1),
            Claim("half", "markers with half_minimum", "all five listed, higher in cases", 0.95, 1),
            Claim("wrong", "markers with knn_impute", "none lower in cases, in ≤ 2 %", 0, 0.02),
            Claim("named", "genes that are missing by class", "the five named", 0.9, 1),
        ),
        draws=200,
        few=4,
    ),
    Trial(
        "Missing values",
        "792 proteins, 40 samples that differ in how much they miss, labels at random",
        of_noise,
        (Claim("warned", "missing values go with the label", "said in ≤ 5 %", 0, 0.05),),
        few=20,
    ),
)
