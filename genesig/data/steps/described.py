"""The values that tables and figures describe if a learned step changes what a column means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.alignment import LEARNED_ALIGNMENTS
from genesig.data.steps.imputation import gene_means
from genesig.data.steps.normalise import NORMALISERS, SHARED_STEPS, Steps, fit_steps_to_all_samples
from genesig.results import Dataset


def with_summaries_applied(dataset: Dataset) -> Dataset:
    """Return the data set after its summary steps (`SUMMARY_STEPS`), fitted on all samples.

    A study of probes selects probe sets, each under the name of its first probe: here that column
    has the value of the set. The same holds for collapsed genes and for missing values that a step
    fills in. Batches are corrected if the study corrects them, so that blocks, correlations and
    figures do not show them. No fit and no error depends on this: only descriptions of all samples
    do. All columns stay; those that a filter removes keep their values, with the gene's mean for a
    missing one. A study without such steps is returned as it is.

    dataset: after the row-wise steps (`normalise_samples` notes which of the learned ones count).
    """
    steps = dataset.provenance.get("summaries", [])
    if not steps and dataset.provenance.get("align") not in LEARNED_ALIGNMENTS:
        return dataset
    fitted = fit_steps_to_all_samples(dataset, steps)
    X = np.where(np.isnan(dataset.X), gene_means(dataset.X), dataset.X)
    X[:, fitted.genes] = fitted.transform(dataset.X, dataset.obs)
    return replace(dataset, X=X)


def steps_by_training_set(
    X: Array, steps: Steps, training_rows: Sequence[Array]
) -> Iterator[Steps]:
    """Yield the steps for each set of training rows (n_train,) of X.

    If the first step can compute for many sets at once (`settings_by_training_set` of its class),
    its settings contain the results. Later steps see other rows in each set.
    """
    if not steps or steps[0]["step"] not in SHARED_STEPS:
        yield from [steps] * len(training_rows)
        return
    settings = {key: value for key, value in steps[0].items() if key != "step"}
    step_class = NORMALISERS[steps[0]["step"]]
    for step_settings in step_class.settings_by_training_set(X, training_rows, **settings):
        yield [{"step": steps[0]["step"], **step_settings}, *steps[1:]]
