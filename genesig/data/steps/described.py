"""The values that tables and figures speak of, where a learned step changes what a gene is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from genesig.data.steps.alignment import LEARNED
from genesig.data.steps.imputation import gene_means
from genesig.data.steps.normalise import reference_of_all
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
