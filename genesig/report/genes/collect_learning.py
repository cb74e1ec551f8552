"""The part of report_data.json about the size of the study: errors of halves and of folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.optim.classes import centres, margins
from genesig.report.genes.record import Learning
from genesig.report.page.finding import Finding
from genesig.report.page.rounding import rounded
from genesig.response.design import SEVERAL
from genesig.selection.assess import several
from genesig.selection.assess.scores import balanced_error, relative_squared_error
from genesig.selection.assess.survival.concordance import harrell

if TYPE_CHECKING:
    from genesig.results import Dataset, Fits, Splits

Array = np.ndarray[Any, Any]
GENE_WISE = {"centre", "unit_variance"}
FEWEST = 4
"""Halves with an error below which there is no curve."""
APART = 1.1
"""How many times as large as halves training sets must be to be another size."""


def learning(
    dataset: Dataset, splits: Splits, halves: Fits | None, found: Finding,
    folds: Sequence[Mapping[str, Any]],
) -> Learning | None:  # fmt: skip
    """Return the errors of the lists of halves on the other halves, beside that of the study.

    None where steps learned in each training set do more than centre and scale genes, which
    weights and intercept hold already: others would have to be fitted again for each half. None
    where training sets are no larger than halves, as those of two folds are.

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps.
    splits : Splits
    halves : Fits or None
        The fits of `splits.subsamples`.
    found : Finding
        The numbers of the first screen.
    folds : list of mapping
        The steps learned in each training set.
    """
    full = found["error"]["value"]
    if halves is None or full is None or {step["step"] for step in folds} - GENE_WISE:
        return None
    half, fold = (np.mean([len(one.train) for one in each])
                  for each in (splits.subsamples, splits.outer))  # fmt: skip
    errors = _errors(dataset, splits, halves)
    if len(errors) < FEWEST or fold < APART * half:
        return None
    return {
        "half": rounded(half, 4),
        "errors": rounded(errors, 4),
        "fold": rounded(fold, 4),
        "error": full,
    }


def _errors(dataset: Dataset, splits: Splits, halves: Fits) -> Array:
    """Return the error of each half whose other half defines one, in units of controls.tsv.

    The score is f(x) = intercept + x'b of the chosen list, and what covariates add to it.
    """
    fits, y, C = halves.with_chosen(), dataset.response(), dataset.covariates()
    train = {half.name: set(half.train) for half in splits.subsamples}
    measure, found = ERRORS[dataset.design.kind], []
    for fit, name in enumerate(map(str, fits.split)):
        inside = np.array([one in train[name] for one in dataset.samples])
        genes, weights = fits.coef(fit, len(fits.mu) - 1)
        score = fits.intercept[fit, -1] + dataset.X[:, genes] @ weights
        added = np.zeros((len(y), len(fits.mu), *score.shape[1:])) + fits.of_covariates(fit, C)
        score = score + added[:, -1]
        told = dataset.kind.untold(y[~inside], dataset.design.classes) is None
        found.append(measure(y, score, inside) if told else np.nan)
    errors = np.array(found, dtype=float)
    return np.asarray(errors[np.isfinite(errors)])


def _of_classes(y: Array, f: Array, inside: Array) -> float:
    return balanced_error(y[~inside], f[~inside])


def _of_several(y: Array, f: Array, inside: Array) -> float:
    """Take the class whose mean score of training samples is nearest; f (n, T)."""
    means = centres(y[inside], f[inside], f.shape[1])
    return several.balanced_error(y[~inside], margins(f[~inside], means), f.shape[1])


def _of_numbers(y: Array, f: Array, inside: Array) -> float:
    return relative_squared_error(y[~inside], f[~inside])


def _of_times(y: Array, f: Array, inside: Array) -> float:
    return 1 - harrell(y["time"][~inside], y["event"][~inside], f[~inside]).value


ERRORS = {
    "classification": _of_classes,
    SEVERAL: _of_several,
    "regression": _of_numbers,
    "survival": _of_times,
}
