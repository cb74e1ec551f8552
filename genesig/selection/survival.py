"""Held-out survival: predictions of each model, their accuracy, curves of two risk groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.optim.cox.risk_sets import DEFAULT_TIES, Hazard, RiskSets, baseline_hazard
from genesig.results import CrossValidation, Fits
from genesig.selection.assess.assessment import assess
from genesig.selection.assess.clusters import group_numbers
from genesig.selection.assess.held_out import collect_held_out
from genesig.selection.assess.intervals import Interval
from genesig.selection.assess.kinds import ASSESSMENT_KINDS
from genesig.selection.assess.survival import (
    StepCurve,
    auc_at,
    brier_losses,
    calibration_slope_of_cox,
    censoring,
    explained_variation,
    integrated_brier,
    interval_over_sets,
    kaplan_meier,
    pool_concordance,
    risk_at,
    risk_groups,
    uno,
)
from genesig.selection.linear.training_sets import PreparedStudy

if TYPE_CHECKING:
    import pandas as pd

TRAINING_SETS_AT_ONCE = 500  # training sets that share a call, see `PreparedStudy.group_by_matrix`


@dataclass(frozen=True)
class SurvivalPredictions:
    """Predictions for one test set, and the curves of its training set that judge them."""

    rows: Array  # (n,) int: rows of the data set
    repeat: int  # number of the repeat of the cross-validation
    y: Array  # (n,) times and events
    f: Array  # (n,) float: scores less the threshold; above 0 is high risk
    log_hazard: Array  # (n,) float: f times the slope of `kinds.Calibration`
    S: Array  # (n, m) float: predicted survival at m times
    losses: Array  # (n, m) float: terms of the Brier score of S
    reference: Array  # (n, m) float: the same of Kaplan and Meier's curve of the training samples
    censoring_curve: StepCurve  # censoring of the training samples


def predict_test_sets(
    study: PreparedStudy, fits: Fits, times: Array
) -> Iterator[SurvivalPredictions]:
    """Yield the predictions for every test set of the observed times, by the chosen lists.

    The baseline hazard needs the scores of the training samples, which no fit stores. They follow
    from its weights and the steps learned on its training samples.

    fits: `Fits.with_chosen` of the observed times, whose last list is the chosen one. times (m,)
    float.
    """
    fit_of_split = {str(name): number for number, name in enumerate(fits.split)}
    split_of_name = {split.name: split for split in study.splits.outer}
    covariates = study.dataset.covariates()
    training_sets = study.make_training_sets(study.splits.outer)
    for matrix in study.group_by_matrix(training_sets, TRAINING_SETS_AT_ONCE):
        X = matrix.X
        column_of_gene = {int(gene): column for column, gene in enumerate(matrix.genes)}
        for training_set in matrix.training_sets:
            fit = fit_of_split[training_set.split]
            genes, values = fits.chosen_coef(fit)
            columns = [column_of_gene[int(gene)] for gene in genes]
            scores = fits.intercept[fit, -1] + X[:, columns] @ values
            covariate_scores = np.zeros((len(X), len(fits.mu)))
            covariate_scores += fits.covariate_scores(fit, covariates)  # 0.0 without covariates
            scores = scores + covariate_scores[:, -1] - fits.threshold[fit]
            weights = None if training_set.covariates is None else training_set.covariates.weights
            yield _predict_test_set(
                training_set.y,
                scores,
                risk_slope=1.0 if fits.line is None else float(fits.line[fit, 0]),
                train=training_set.train,
                test=training_set.test,
                repeat=split_of_name[training_set.split].repeat,
                times=times,
                ties=training_set.ties or DEFAULT_TIES,
                weights=weights,
            )


def _predict_test_set(
    y: Array,
    scores: Array,
    *,
    risk_slope: float,
    train: Array,
    test: Array,
    repeat: int,
    times: Array,
    ties: str,
    weights: Array | None,
) -> SurvivalPredictions:
    """Return the predictions for one test set, from the scores (n,) of all samples.

    scores: less the threshold. risk_slope: factor that turns them into logarithms of hazards.
    train, test: row numbers. weights (n,): weights of the samples.
    """
    training_y = y[train]
    test_y = y[test]
    training_weights = None if weights is None else weights[train]
    log_hazard = risk_slope * scores
    baseline = hazard_of(training_y, log_hazard[train], ties, training_weights)
    S = baseline.survival(log_hazard[test], times)
    censoring_curve = censoring(training_y["time"], training_y["event"])
    # (1, m): the same curve for every test sample
    reference_survival = kaplan_meier(training_y["time"], training_y["event"]).at(times)[None]
    losses, reference = (
        brier_losses(test_y["time"], test_y["event"], survival, times, censoring_curve)
        for survival in (S, reference_survival)
    )
    return SurvivalPredictions(
        rows=test,
        repeat=repeat,
        y=test_y,
        f=scores[test],
        log_hazard=log_hazard[test],
        S=S,
        losses=losses,
        reference=reference,
        censoring_curve=censoring_curve,
    )


def hazard_of(y: Array, eta: Array, ties: str, weights: Array | None = None) -> Hazard:
    """Return the baseline hazard of training samples with log hazards η and weights, (n,)."""
    if weights is not None:
        has_weight = weights > 0
        y = y[has_weight]
        eta = eta[has_weight]
        weights = weights[has_weight]
    risk = RiskSets.from_times(y["time"], y["event"], ties, weights)
    return baseline_hazard(risk, eta[risk.order])


@dataclass(frozen=True)
class SampleMeans:
    """Each tested sample once: its response, and means over the repeats."""

    y: Array  # (n,) times and events
    f: Array  # (n,) float: mean score
    log_hazard: Array  # (n,) float: mean logarithm of the relative hazard
    S: Array  # (n,) float: mean predicted survival at the last of the times
    losses: Array  # (n, m) float: mean terms of the Brier score
    reference: Array  # (n, m) float: mean terms of the reference
    group: Array | None = None  # (n,) int: number of each sample's group; None without groups


def average_repeats(
    test_sets: Sequence[SurvivalPredictions], y: Array, group: Array | None = None
) -> SampleMeans:
    """Return each tested sample's mean predictions over the repeats, samples by row number.

    y, group: of all samples of the data set.
    """
    rows = np.concatenate([test_set.rows for test_set in test_sets])
    samples, sample_number = np.unique(rows, return_inverse=True)
    n_repeats = np.bincount(sample_number).astype(float)

    def average_field(name: str) -> Array:
        """Return the mean of a field of the test sets over the repeats, one row a sample."""
        values = np.concatenate([getattr(test_set, name) for test_set in test_sets])
        total = np.zeros((len(samples), *values.shape[1:]))
        np.add.at(total, sample_number, values)
        return np.asarray((total.T / n_repeats).T)

    return SampleMeans(
        y[samples],
        average_field("f"),
        average_field("log_hazard"),
        average_field("S")[:, -1],
        average_field("losses"),
        average_field("reference"),
        None if group is None else group[samples],
    )


SurvivalRow = tuple[str, float, Interval]  # measure, its value and 95 % interval


N_TIMES = 50  # times up to the horizon over which the Brier score is integrated


def survival_tables(
    cross_validation: CrossValidation, *, fold_steps: Any
) -> dict[str, pd.DataFrame]:
    """Return the tables of held-out survival, of the chosen lists.

    ``survival`` has a row for each measure, with its 95 % interval:

    ``concordance``, ``uno``, ``auc``
        Over the pairs that one model orders, mean of the repeats: C of Harrell; C of Uno and the
        cumulative/dynamic AUC up to the horizon, weighted by the censoring of the training samples.
    ``brier``, ``brier_reference``, ``explained``
        The Brier score, integrated up to the horizon; that of Kaplan and Meier; 1 - their ratio.
    ``risk_expected``, ``risk_observed``
        Mean predicted risk by the horizon, and the risk by Kaplan and Meier.
    ``slope``
        Of the mean logarithm of the relative hazard in a Cox model: 1 if risks are calibrated.

    ``survival_curves`` are the Kaplan-Meier curves of the groups, divided at the median of training
    samples' scores, each sample in the group of its mean over the repeats; ``survival_risk``
    compares groups of similar predicted risk with the observed risk.
    """
    dataset = cross_validation.dataset
    splits = cross_validation.splits
    y = dataset.response()
    horizon = float(dataset.design.horizon or np.nan)
    times = time_grid(y, horizon)
    fits = cross_validation.fits.with_chosen()
    prepared_study = PreparedStudy(dataset, splits, fold_steps)
    test_sets = list(predict_test_sets(prepared_study, fits, times))
    held_out_scores = collect_held_out(dataset, splits, fits)
    assessment = assess(held_out_scores, ASSESSMENT_KINDS[dataset.design.kind].headline)[-1]
    group = group_numbers(dataset.groups())
    # The reported error of survival is 1 - C.
    concordance = 1 - assessment.error, (1 - assessment.high, 1 - assessment.low)
    return prediction_tables(
        test_sets, y, times, concordance, held_out_scores.test_train_ratio, group
    )


def time_grid(y: Array, horizon: float) -> Array:
    """Return the times, (`N_TIMES`,), from the first event of y to the horizon."""
    return np.linspace(min(float(y["time"][y["event"]].min()), horizon), horizon, N_TIMES)


def prediction_tables(
    test_sets: Sequence[SurvivalPredictions],
    y: Array,
    times: Array,
    concordance: tuple[float, Interval],
    test_train_ratio: float = 0.0,
    group: Array | None = None,
) -> dict[str, pd.DataFrame]:
    """Return the tables of `survival_tables` from predictions at times up to the horizon.

    y (n,) are the times and events of all samples, `concordance` is Harrell's C with its interval;
    for test_train_ratio and group see `pool_concordance`.
    """
    import pandas as pd

    means = average_repeats(test_sets, y, group)
    horizon = float(times[-1])
    rows = [
        ("concordance", *concordance),
        *_concordance_rows(test_sets, horizon, test_train_ratio, group),
        *_brier_rows(test_sets, means, times, test_train_ratio, group),
        *_calibration_rows(means, horizon),
    ]
    table = pd.DataFrame(
        [(name, value, *limits) for name, value, limits in rows], columns=SURVIVAL_COLUMNS
    )
    return {
        "survival": table.assign(horizon=horizon, samples=len(means.y)),
        "survival_curves": _curves_table(means, np.where(means.f > 0, "high", "low")),
        "survival_risk": _risk_table(means, horizon),
    }


SURVIVAL_COLUMNS = ["measure", "value", "low", "high"]


def _concordance_rows(
    test_sets: Sequence[SurvivalPredictions],
    horizon: float,
    test_train_ratio: float,
    group: Array | None,
) -> Iterator[SurvivalRow]:
    """Yield Uno's C and the AUC up to the horizon, with their intervals."""
    rows = np.unique(np.concatenate([test_set.rows[test_set.y["event"]] for test_set in test_sets]))
    n_events = len(rows if group is None else np.unique(group[rows]))
    for name, measure in (("uno", uno), ("auc", auc_at)):
        terms = []
        for test_set in test_sets:
            y = test_set.y
            value = measure(y["time"], y["event"], test_set.f, test_set.censoring_curve, horizon)
            terms.append((test_set.rows, test_set.repeat, value))
        total = pool_concordance(terms, n_events, test_train_ratio, group)
        yield name, total.value, total.interval


def _brier_rows(
    test_sets: Sequence[SurvivalPredictions],
    means: SampleMeans,
    times: Array,
    test_train_ratio: float,
    group: Array | None,
) -> Iterator[SurvivalRow]:
    """Yield both Brier scores and 1 - their ratio, with intervals.

    Several test sets have several models, which `interval_over_sets` allows for.
    """
    score = integrated_brier(means.losses, times, means.group)
    reference = integrated_brier(means.reference, times, means.group)
    explained_share, limits = explained_variation(score, reference, means.group)
    intervals = [score.interval, reference.interval, limits]
    if len(test_sets) > 1:
        rows = [test_set.rows for test_set in test_sets]
        losses = [integrated_brier(test_set.losses, times).samples for test_set in test_sets]
        reference_losses = [
            integrated_brier(test_set.reference, times).samples for test_set in test_sets
        ]
        # Influence of each sample on 1 - B/B0: its terms of the linear expansion.
        gains = [
            (score_terms - (1 - explained_share) * reference_terms) / -reference.value
            for score_terms, reference_terms in zip(losses, reference_losses, strict=True)
        ]
        intervals = [
            interval_over_sets(
                value, rows, terms, test_train_ratio, group, include_models=include_models
            )
            for value, terms, include_models in (
                (score.value, losses, False),
                (reference.value, reference_losses, False),
                (explained_share, gains, True),
            )
        ]
    yield "brier", score.value, intervals[0]
    yield "brier_reference", reference.value, intervals[1]
    yield "explained", explained_share, intervals[2]


def _calibration_rows(means: SampleMeans, horizon: float) -> Iterator[SurvivalRow]:
    """Yield predicted and observed risk by the horizon, and the calibration slope."""
    time = means.y["time"]
    event = means.y["event"]
    risk = risk_at(time, event, means.S, horizon, means.group)
    yield "risk_expected", risk.expected, (np.nan, np.nan)
    yield "risk_observed", risk.observed, risk.interval
    yield "slope", *calibration_slope_of_cox(time, event, means.log_hazard, group=means.group)


def _curves_table(means: SampleMeans, risk: Array) -> pd.DataFrame:
    """Return survival_curves.tsv: the curve of each risk group from 0 on, with its 95 % limits.

    risk (n,) str: ``high`` or ``low``; a group without samples has no rows.
    """
    import pandas as pd

    tables = []
    for name in ("high", "low"):
        in_group = risk == name
        if not in_group.any():
            continue
        y = means.y[in_group]
        members = None if means.group is None else means.group[in_group]
        curve = kaplan_meier(y["time"], y["event"], members)
        low, high = curve.interval()
        start = {"time": 0.0, "at_risk": in_group.sum(), "events": 0.0, "survival": 1.0}
        steps = {
            "time": curve.times,
            "at_risk": curve.at_risk,
            "events": curve.events,
            "survival": curve.value,
            "low": low,
            "high": high,
        }
        tables.append(pd.concat([pd.DataFrame([start]), pd.DataFrame(steps)]).assign(group=name))
    table = pd.concat(tables, ignore_index=True)
    counts = dict.fromkeys(("at_risk", "events"), "Int64")
    return table[["group", *(c for c in table.columns if c != "group")]].astype(counts)


def _risk_table(means: SampleMeans, horizon: float) -> pd.DataFrame:
    """Return survival_risk.tsv: groups of similar predicted risk by the horizon, lowest first."""
    import pandas as pd

    groups = risk_groups(means.y["time"], means.y["event"], means.S, horizon, means.group)
    rows = [
        (risk_group.samples, risk_group.expected, risk_group.observed, *risk_group.interval)
        for risk_group in groups
    ]
    return pd.DataFrame(rows, columns=["samples", "expected", "observed", "low", "high"])
