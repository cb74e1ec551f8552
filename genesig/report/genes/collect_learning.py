"""The part of report_data.json about the size of the study: errors of halves and of folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.report.genes.record import Learning
from genesig.report.page.finding import Finding
from genesig.report.page.rounding import rounded
from genesig.selection.assess.scores import balanced_error, relative_squared_error

if TYPE_CHECKING:
    from genesig.results import Dataset, Fits, Splits

Array = np.ndarray[Any, Any]
GENE_WISE = {"centre", "unit_variance"}
FEWEST = 4
"""Halves with an error below which there is no curve."""


def learning(
    dataset: Dataset, splits: Splits, halves: Fits | None, found: Finding,
    folds: Sequence[Mapping[str, Any]],
) -> Learning | None:  # fmt: skip
    """Return the errors of the lists of halves on the other halves, beside that of the study.

    None with several classes, whose halves know no class means, and where steps learned in each
    training set do more than centre and scale genes, which
    weights and intercept hold already: others would have to be fitted again for each half.

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
    full, several = found["error"]["value"], len(dataset.design.classes or ()) > 2
    if several or halves is None or full is None or {step["step"] for step in folds} - GENE_WISE:
        return None
    errors = _errors(dataset, splits, halves)
    if len(errors) < FEWEST:
        return None
    return {
        "half": rounded(np.mean([len(half.train) for half in splits.subsamples]), 4),
        "errors": rounded(errors, 4),
        "fold": rounded(np.mean([len(split.train) for split in splits.outer]), 4),
        "error": full,
    }


def _errors(dataset: Dataset, splits: Splits, halves: Fits) -> Array:
    """Return the error of each half whose other half defines one, in units of controls.tsv.

    The score is f(x) = intercept + x'b of the chosen list; of two classes it is cut at 0.
    """
    fits, y = halves.with_chosen(), dataset.plain()
    train = {half.name: set(half.train) for half in splits.subsamples}
    measure = relative_squared_error if dataset.design.classes is None else balanced_error
    found = []
    for fit, name in enumerate(map(str, fits.split)):
        rows = np.array([k for k, one in enumerate(dataset.samples) if one not in train[name]])
        genes, weights = fits.coef(fit, len(fits.mu) - 1)
        score = fits.intercept[fit, -1] + dataset.X[np.ix_(rows, genes)] @ weights
        found.append(measure(y[rows], score) if np.ptp(y[rows]) > 0 else np.nan)
    errors = np.array(found, dtype=float)
    return np.asarray(errors[np.isfinite(errors)])
