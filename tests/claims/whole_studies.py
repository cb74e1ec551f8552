"""Trials of whole noise studies: how often the report states a finding by chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from certificate import Claim, Trial
from study_data import COLUMNS, study_of, task_of
from whole_study import Tables, run

from genesig.errors import InvalidInput
from genesig.report.enrichment import FAMILY_LEVEL as CALLED
from genesig.report.page.section import Limits
from genesig.report.page.verdict import Grade, grade, grade_within_study
from genesig.report.prediction.decision import decisions_section
from genesig.report.record import Report

N_SAMPLES = 48
N_GENES = 120
MISSING = [{"step": "knn_impute"}, {"step": "centre"}, {"step": "unit_variance"}]
DESIGNS = ("plain", "groups", "batch", "covariates", "missing values", "sets")


def drawn(kind: str, design: str, seed: int, signal: float = 0.0, n: int = N_SAMPLES) -> Tables:
    """Return the files of a study of a kind, by default of noise, and with one thing more.

    Each ten genes share noise; a third of it where there is a signal, which would drown.
    """
    rng = np.random.default_rng((seed, 77))
    study_data = study_of(kind, seed, n=n, d=N_GENES, signal=signal)
    shared = np.repeat(rng.standard_normal((n, N_GENES // 10)), 10, axis=1)
    shared *= 0.3 if signal else 1.0
    X = pd.DataFrame(8 + shared + study_data.X, study_data.obs.index, study_data.var.index)
    data: dict[str, Any] = {"task": task_of(kind)}
    if kind == "survival":
        data["event"] = "dead"
    label = {"time": "state", "event": "end"} if kind == "survival" else "state"
    extra_columns = EXTRA_COLUMNS[design](X, study_data.obs, rng)
    sections = {
        **extra_columns.sections,
        "data": {**data, **extra_columns.sections.get("data", {})},
    }
    return Tables(extra_columns.X, extra_columns.samples, label, sections, extra_columns.sets)


def _plain(X: pd.DataFrame, obs: pd.DataFrame, rng: np.random.Generator) -> Tables:
    return Tables(X, obs)


def _groups(X: pd.DataFrame, obs: pd.DataFrame, rng: np.random.Generator) -> Tables:
    """Let each two samples be of one patient: the same response, and half of the expression."""
    pair_numbers = np.repeat(np.arange(0, N_SAMPLES, 2), 2)
    obs = (
        obs.iloc[pair_numbers]
        .set_axis(obs.index)
        .assign(patient=[f"p{k:02d}" for k in pair_numbers])
    )
    X = pd.DataFrame((X.to_numpy()[pair_numbers] + X.to_numpy()) / 2, X.index, X.columns)
    splits = {"scheme": "stratified_group_kfold"}
    return Tables(X, obs, sections={"data": {"group": "patient"}, "splits": splits})


def _batch(X: pd.DataFrame, obs: pd.DataFrame, rng: np.random.Generator) -> Tables:
    """Let two batches differ in every gene, and the batch go with the response a little."""
    order = pd.Series(obs["state"]).rank(method="first").to_numpy() + rng.normal(0, 30, N_SAMPLES)
    batch = order > np.median(order)
    X = X + np.outer(batch, rng.normal(0, 1, N_GENES))
    obs = obs.assign(batch=np.where(batch, "b2", "b1"))
    return Tables(X, obs, sections={"data": {"batch": "batch"}})


def _covariates(X: pd.DataFrame, obs: pd.DataFrame, rng: np.random.Generator) -> Tables:
    """Let age go with the response, and a quarter of the genes with age, in a U."""
    rank = pd.Series(obs["state"]).rank(method="dense").to_numpy(dtype=float)
    age = (rank - rank.mean()) / rank.std() + rng.normal(0, 1.5, N_SAMPLES)
    X = X + np.outer(age**2, np.arange(N_GENES) % 4 == 0)
    obs = obs.assign(age=[f"{years:.3f}" for years in 60 + 10 * age])
    return Tables(X, obs, sections={"data": {"covariates": ["age"]}})


def _missing(X: pd.DataFrame, obs: pd.DataFrame, rng: np.random.Generator) -> Tables:
    X = X.mask(rng.random(X.shape) < 0.05)
    return Tables(X, obs, sections={"data": {"missing": True}, "normalise": {"folds": MISSING}})


def _sets(X: pd.DataFrame, obs: pd.DataFrame, rng: np.random.Generator) -> Tables:
    """Let sets be of neighbouring genes that go together, and overlap."""
    genes = list(X.columns)
    sets = {f"set {k}": genes[5 * k : 5 * k + 15] for k in range(N_GENES // 5 - 2)}
    return Tables(X, obs, sets=sets)


def with_cohort(kind: str, seed: int, signal: float, *, reversed_labels: bool) -> Tables:
    """Return the files of a study and of an external cohort, if asked with reversed labels."""
    study_data = drawn(kind, "plain", seed, signal, n=2 * N_SAMPLES)
    grade_within_study = study_data.X.iloc[:N_SAMPLES]
    cohort_X = study_data.X.iloc[N_SAMPLES:]
    cohort = 16 - cohort_X if reversed_labels else cohort_X, study_data.samples.iloc[N_SAMPLES:]
    return replace(
        study_data, X=grade_within_study, samples=study_data.samples.iloc[:N_SAMPLES], cohort=cohort
    )


EXTRA_COLUMNS = {
    "plain": _plain,
    "groups": _groups,
    "batch": _batch,
    "covariates": _covariates,
    "missing values": _missing,
    "sets": _sets,
}


def said(report: Report) -> Mapping[str, float]:
    """Return what a report says was found; NaN of what its study was not asked."""
    answer = report["answer"]
    covariate_section = report.get("covariates")
    enriched = report["enrichment"]
    of_sets = [] if enriched is None else [*enriched["chosen"], *enriched["ranked"]]
    decided = decisions_section(report, Limits(gene_cards=1, table_rows=1))
    return {
        "found": float(grade_within_study(report) is Grade.HERE),
        "some": float(grade(report) is not Grade.NONE),
        "named": float(answer["evidence"]["fdr_selected"] > 0),
        "decided": np.nan
        if report["study"]["task"] != "classification"
        else float(bool(decided and decided.items)),
        "adds": np.nan
        if covariate_section is None
        else float(grade_within_study(report) is Grade.HERE),
        "enriched": np.nan if enriched is None else float(any(s["p"] <= CALLED for s in of_sets)),
        "held": float(
            answer["error"]["low"] <= answer["error"]["chance"] <= answer["error"]["high"]
        ),
    }


NOISE_CLAIMS = ("found", "some", "named", "decided", "adds", "enriched", "held")


WITH_LABEL = ("batch", "covariates")  # go with the response: an error below chance is no mistake


def of_noise(seed: int, model: str = "two_stage") -> Mapping[str, float]:
    """Run a study of one of the kinds and designs in turn; one that is refused claims nothing."""
    kind = list(COLUMNS)[seed % 4]
    design = DESIGNS[seed // 4 % len(DESIGNS)]
    files = drawn(kind, design, seed)
    try:
        claim_values = said(
            run(
                replace(files, sections={**files.sections, "linear": {"model": model}}), seed
            ).report
        )
    except InvalidInput:  # as where batch and label go together by chance
        return dict.fromkeys(NOISE_CLAIMS, np.nan)
    return {**claim_values, "held": np.nan} if design in WITH_LABEL else claim_values


AT_MOST = "in at most 5 + 2 % of studies"
CLAIMS = (
    Claim("found", "first screen: better than chance", AT_MOST, 0.0, 0.07),
    Claim("some", "first screen: any evidence", "in at most 10 % of studies", 0.0, 0.1),
    Claim("named", "any gene is FDR-selected", AT_MOST, 0.0, 0.07),
    Claim("decided", "decision curve and calibration are shown", AT_MOST, 0.0, 0.07),
    Claim("adds", "expression adds to the covariates", AT_MOST, 0.0, 0.07),
    Claim("enriched", "any gene set is called", AT_MOST, 0.0, 0.07),
    Claim("held", "95 % CI of the error", "holds chance in 93 to 98 %", 0.93, 0.98),
)
OF_ALL = ("found", "some", "named", "held")
"""What studies of every kind are asked; the rest would take as many draws again."""

TRIALS = (
    Trial(
        "Whole studies of noise",
        "48 samples, 120 genes in blocks; four kinds of response, plain, groups, batches, "
        "covariates, missing values, sets in turn",
        of_noise,
        CLAIMS,
        draws=408,
        few=0,
    ),
    Trial(
        "Whole studies of noise, ensemble",
        "the same, predicted by an ensemble of three models",
        partial(of_noise, model="ensemble"),
        tuple(claim for claim in CLAIMS if claim.key in OF_ALL),
        draws=408,
        few=8,
    ),
)
