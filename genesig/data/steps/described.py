"""The values that tables and figures speak of, where a learned step changes what a gene is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.alignment import LEARNED
from genesig.data.steps.imputation import gene_means
from genesig.data.steps.normalise import NORMALISERS, TOGETHER, Steps, reference_of_all
from genesig.results import Dataset


def described(dataset: Dataset) -> Dataset:
    """Put the value of each set of columns in place of the one column that stands for it.

    A study of probes selects probe sets: each under the name of its first probe, whose own
    intensity would say little. Here it has the set's value, from steps fitted on all samples; so
    have the genes of a collapsed table, and missing values that a step fills in. Batches are
    corrected where the study does so: else blocks, correlations and pictures would show them. No
    fit and no error hangs on this: tests of single genes, blocks and figures describe all samples
    anyway. All columns stay, those that a filter leaves out as they are (with their own mean where
    a value is missing), and a study without such steps is returned as it is.

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps (`normalise_samples` notes which of the learned ones count).
    """
    steps = dataset.provenance.get("summaries", [])
    if not steps and dataset.provenance.get("align") not in LEARNED:
        return dataset
    fitted = reference_of_all(dataset, steps)
    X = np.where(np.isnan(dataset.X), gene_means(dataset.X), dataset.X)
    X[:, fitted.genes] = fitted.transform(dataset.X, dataset.obs)
    return replace(dataset, X=X)


def steps_together(X: Array, steps: Steps, trains: Sequence[Array]) -> Iterator[Steps]:
    """Yield the steps for each set of training rows of X, with what was found for many at once.

    The first step alone sees the rows of X as they are, so that sets have something in common.
    """
    if not steps or steps[0]["step"] not in TOGETHER:
        yield from [steps] * len(trains)
        return
    settings = {key: value for key, value in steps[0].items() if key != "step"}
    for found in NORMALISERS[steps[0]["step"]].together(X, trains, **settings):
        yield [{"step": steps[0]["step"], **found}, *steps[1:]]
