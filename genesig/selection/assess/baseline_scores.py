"""Held-out scores of the baselines on the splits of the study."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from inspect import signature
from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.data.splits.folds import BASELINE, random_state, spawn_key
from genesig.data.steps.normalise import (
    Steps,
    alignments_to_choose,
    fit_steps,
    learned_steps,
    steps_by_training_set,
    with_response,
)
from genesig.errors import pick
from genesig.models.baselines import BASELINES, ridge_with_covariates
from genesig.plugins import check_plugin_result, plugin_errors
from genesig.response.covariates import spline_columns
from genesig.response.kinds import ByKind
from genesig.results import Dataset, Split, Splits
from genesig.selection.assess.controls import score_covariates
from genesig.selection.assess.covariates import COVARIATES, COVARIATES_AND_RIDGE, Covariates
from genesig.selection.assess.held_out import decision_columns
from genesig.selection.assess.kinds import ASSESSMENT_KINDS

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger(__name__)


def run_baselines(
    dataset: Dataset, splits: Splits, *, fold_steps: Steps, baselines: Sequence[str]
) -> pd.DataFrame:
    """Return baselines.tsv: held-out scores of the named baselines on every outer split.

    In a study with covariates the covariates alone come first, then these with ridge on all genes.
    All steps of `fold_steps` are fitted on the training rows of the outer split, also for the inner
    choice of a baseline's penalty. Baselines that the task does not have are left out. If no gene
    varies on the training rows, every baseline has the scores of the dummy.

    dataset: after the row-wise steps. fold_steps: ``normalise.folds`` of the config.
    baselines: names in `BASELINES`.
    """
    import pandas as pd
    from sklearn import config_context

    rows = []
    training_rows = [dataset.rows(split.train) for split in splits.outer]
    steps_by_split = steps_by_training_set(
        dataset.X, learned_steps(fold_steps, dataset), training_rows
    )
    alignments = alignments_to_choose(dataset)
    aligned_dataset = dataset
    for split_number, (split, steps) in enumerate(zip(splits.outer, steps_by_split, strict=True)):
        if alignments is not None:
            y = dataset.response_kind.numeric_response(
                dataset.response()[training_rows[split_number]]
            )
            aligned_dataset = replace(
                dataset,
                X=alignments.aligned_copy(alignments.choose_best(y, training_rows[split_number])),
            )
        with config_context(assume_finite=True, skip_parameter_validation=True):
            split_scores = list(
                _score_split(aligned_dataset, splits, split_number, steps, baselines)
            )
        for name, test_rows, scores in (*_score_covariates_alone(dataset, split), *split_scores):
            decision = decision_columns(dataset, dataset.response()[test_rows], scores)
            samples = [dataset.samples[row_number] for row_number in test_rows]
            origin = {"model": name, "split": split.name, "repeat": split.repeat}
            rows.append(pd.DataFrame({**origin, "sample": samples, **decision}))
        log.info("baselines: %d of %d splits", split_number + 1, len(splits.outer))
    kind = ASSESSMENT_KINDS[dataset.design.kind]
    classes = dataset.design.classes
    score_columns = kind.score_columns(np.empty((0, len(classes or ()))), classes)
    columns = ["model", "split", "repeat", "sample", *score_columns, "predicted", "wrong"]
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=columns)


def _score_covariates_alone(dataset: Dataset, split: Split) -> Iterator[tuple[str, Array, Array]]:
    """Yield the baseline of the covariates alone, in a study with covariates."""
    scores = score_covariates(dataset, split)
    if scores is not None:
        yield COVARIATES, dataset.rows(split.test), scores


def _score_split(
    dataset: Dataset, splits: Splits, split_number: int, steps: Steps, baselines: Sequence[str]
) -> Iterator[tuple[str, Array, Array]]:
    """Yield (name, test rows, scores) of each baseline on one outer split."""
    split = splits.outer[split_number]
    train = dataset.rows(split.train)
    test = dataset.rows(split.test)
    sample_table = dataset.obs
    steps_with_response = with_response(steps, dataset, dataset.response()[train])
    reference = fit_steps(dataset.X[train], steps_with_response, sample_table.iloc[train])
    X, X_test = (
        reference.transform(dataset.X[rows], sample_table.iloc[rows]) for rows in (train, test)
    )
    seed = random_state(splits.seed, spawn_key(BASELINE, split=split_number))
    genes_vary = np.ptp(X, axis=0).any()
    task = dataset.design.kind
    ridge_scores = score_covariates_and_ridge(dataset, split, X, X_test, _inner_folds(split))
    if ridge_scores is not None:
        yield COVARIATES_AND_RIDGE, test, ridge_scores
    for name in baselines:
        score_test = ByKind(pick("controls.baselines", BASELINES, name)).get(task)
        if score_test is not None:
            score_test = score_test if genes_vary else ByKind(BASELINES["dummy"])[task]
            y = dataset.response()[train]
            needs_genes = "genes" in signature(score_test).parameters
            keywords = {"genes": dataset.var.iloc[reference.genes]} if needs_genes else {}
            with plugin_errors("baselines", name):
                scores = score_test(X, y, X_test, _inner_folds(split), seed, **keywords)
            check_plugin_result("baselines", name, scores, (len(test),))
            yield name, test, scores


def score_covariates_and_ridge(
    dataset: Dataset, split: Split, X: Array, X_test: Array, inner_folds: Sequence[Array]
) -> Array | None:
    """Return the scores (n_test,) of ridge on all genes beside the covariates; None without these.

    All samples have the same weight.

    X, X_test (n_train, d), (n_test, d) float: after the learned steps. inner_folds: validation rows
    of each inner fold, as row numbers of X.
    """
    covariates = Covariates.from_dataset(dataset)
    if covariates is None or not dataset.design.covariates:
        return None
    train = dataset.rows(split.train)
    test = dataset.rows(split.test)
    is_training = np.isin(np.arange(len(dataset.samples)), train)
    C = spline_columns(covariates.values, covariates.training_knots(is_training))
    C = np.where(np.isnan(C), np.nanmean(C[train], axis=0), C)
    score = ridge_with_covariates(C.shape[1])[dataset.design.kind]
    y = dataset.response()[train]
    unused_seed = 0
    return score(
        np.hstack([C[train], X]), y, np.hstack([C[test], X_test]), inner_folds, unused_seed
    )


def _inner_folds(split: Split) -> list[Array]:
    """Return the validation rows of each inner fold, numbered within the training rows."""
    row_of_sample = {sample: row for row, sample in enumerate(split.train)}
    return [
        np.array([row_of_sample[sample] for sample in fold], dtype=np.int64) for fold in split.inner
    ]
