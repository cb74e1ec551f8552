"""Held-out scores of other predictors on the same splits."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.splits.folds import BASELINE, random_state, spawn_key
from genesig.data.steps.described import steps_together
from genesig.data.steps.normalise import (
    alignments_of,
    fit_steps,
    learned_steps,
    with_response,
)
from genesig.errors import pick
from genesig.models.baselines import BASELINES, ridge_beside
from genesig.plugins import check_plugin_result, plugin_errors
from genesig.response.covariates import splined
from genesig.response.known import ByKind
from genesig.results import Dataset, Split, Splits
from genesig.selection.assess.added_value import score_covariates
from genesig.selection.assess.covariates import (
    COVARIATES,
    COVARIATES_AND_RIDGE,
    Covariates,
)
from genesig.selection.assess.held_out import decisions
from genesig.selection.assess.kinds.known import ASSESSED

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger(__name__)


def run_baselines(
    dataset: Dataset,
    splits: Splits,
    *,
    folds: Sequence[Mapping[str, Any]],
    baselines: Sequence[str],
) -> pd.DataFrame:
    """Return baselines.tsv: held-out scores of the named baselines on every outer split.

    In a study with covariates these alone come first, then these with ridge on all genes. All
    steps of `folds` are fitted on the training rows of the outer split, also for the inner choice
    of a baseline's penalty. Baselines that the task does not have are left out. Where no gene
    varies on the training rows, each of them can only say what the dummy says.

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps.
    splits : Splits
    folds : list of steps
        ``normalise.folds`` of the config.
    baselines : list of str
        Names in `BASELINES`.
    """
    import pandas as pd
    from sklearn import config_context

    rows = []
    trains = [dataset.rows(split.train) for split in splits.outer]
    together = steps_together(dataset.X, learned_steps(folds, dataset), trains)
    choice, own = alignments_of(dataset), dataset
    for number, (split, steps) in enumerate(zip(splits.outer, together, strict=True)):
        if choice is not None:
            y = dataset.kind.number(dataset.response()[trains[number]])
            own = replace(dataset, X=choice.copy(choice.best(y, trains[number])))
        with config_context(assume_finite=True, skip_parameter_validation=True):
            found = list(_of_split(own, splits, number, steps, baselines))
        for name, row, f in (*_of_covariates(dataset, split), *found):
            decided = decisions(dataset, dataset.response()[row], f)
            samples = [dataset.samples[each] for each in row]
            origin = {"model": name, "split": split.name, "repeat": split.repeat}
            rows.append(pd.DataFrame({**origin, "sample": samples, **decided}))
        log.info("baselines: %d of %d splits", number + 1, len(splits.outer))
    kind, classes = ASSESSED[dataset.design.kind], dataset.design.classes
    scored = kind.columns(np.empty((0, len(classes or ()))), classes)
    columns = ["model", "split", "repeat", "sample", *scored, "predicted", "wrong"]
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=columns)


def _of_covariates(dataset: Dataset, split: Split) -> Iterator[tuple[str, Array, Array]]:
    """Give the baseline of a study with covariates: these alone."""
    f = score_covariates(dataset, split)
    if f is not None:
        yield COVARIATES, dataset.rows(split.test), f


def _of_split(
    dataset: Dataset,
    splits: Splits,
    number: int,
    steps: Sequence[Mapping[str, Any]],
    baselines: Sequence[str],
) -> Iterator[tuple[str, Array, Array]]:
    """Give (name, test rows, scores) of each baseline on one outer split."""
    split = splits.outer[number]
    train, test = dataset.rows(split.train), dataset.rows(split.test)
    about = dataset.obs
    told = with_response(steps, dataset, dataset.response()[train])
    fitted = fit_steps(dataset.X[train], told, about.iloc[train])
    X, X_test = (fitted.transform(dataset.X[rows], about.iloc[rows]) for rows in (train, test))
    state = random_state(splits.seed, spawn_key(BASELINE, split=number))
    varies, task = np.ptp(X, axis=0).any(), dataset.design.kind
    beside = score_covariates_and_ridge(dataset, split, X, X_test, _inner(split))
    if beside is not None:
        yield COVARIATES_AND_RIDGE, test, beside
    for name in baselines:
        score = ByKind(pick("controls.baselines", BASELINES, name)).get(task)
        if score is not None:
            score = score if varies else ByKind(BASELINES["dummy"])[task]
            y = dataset.response()[train]
            asks = "genes" in signature(score).parameters
            named = {"genes": dataset.var.iloc[fitted.genes]} if asks else {}
            with plugin_errors("baselines", name):
                found = score(X, y, X_test, _inner(split), state, **named)
            check_plugin_result("baselines", name, found, (len(test),))
            yield name, test, found


def score_covariates_and_ridge(
    dataset: Dataset, split: Split, X: Array, X_test: Array, inner: Sequence[Array]
) -> Array | None:
    """Return the scores (n_test,) of ridge on all genes beside the covariates; None without these.

    All samples have the same weight.

    Parameters
    ----------
    X, X_test : (n_train, d), (n_test, d) float
        After the learned steps.
    inner : sequence of int arrays
        Validation rows of the inner folds, numbers of training rows.
    """
    covariates = Covariates.from_dataset(dataset)
    if covariates is None or not dataset.design.covariates:
        return None
    train = dataset.rows(split.train)
    test = dataset.rows(split.test)
    is_training = np.isin(np.arange(len(dataset.samples)), train)
    C = splined(covariates.values, covariates.training_knots(is_training))
    C = np.where(np.isnan(C), np.nanmean(C[train], axis=0), C)
    score = ridge_beside(C.shape[1])[dataset.design.kind]
    y = dataset.response()[train]
    return score(np.hstack([C[train], X]), y, np.hstack([C[test], X_test]), inner, 0)


def _inner(split: Split) -> list[Array]:
    """Return the validation rows of each inner fold among the training rows."""
    place = {name: row for row, name in enumerate(split.train)}
    return [np.array([place[name] for name in fold], dtype=np.int64) for fold in split.inner]
