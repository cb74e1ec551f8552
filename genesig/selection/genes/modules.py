"""Modules of genes that vary together, whatever the label: sparse principal components."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.data.splits.folds import MODULE, generator, spawn_key
from genesig.data.steps.normalise import Steps, fit_steps_to_all_samples, moment_settings
from genesig.optim.components import (
    TAU_FRACTIONS,
    mean_and_scale,
    principal_directions,
    search_tau,
    sparse_components,
)
from genesig.results import Dataset
from genesig.selection.genes.frequency import round_sizes

if TYPE_CHECKING:
    import pandas as pd

MODULE_MU = 1e-3  # squared l2 term, in units of ||Z'Z||/n: correlated genes enter together
MAX_MODULE_FOLDS = 5  # folds of samples by which tau is chosen
MODULE_COLUMNS = ["module", "gene", "symbol", "loading", "explained", "tau", "unexplained"]


def gene_modules(dataset: Dataset, *, fold_steps: Steps, modules: int, seed: int) -> pd.DataFrame:
    """Return modules.tsv: the genes of each module, by falling |loading|.

    Loadings have length 1 in a module, the largest positive; ``explained`` is the share of the
    variance that the module adds to those before it. ``tau``, a fraction of the smallest that
    selects nothing, is the largest whose reconstruction of left-out samples is within one standard
    error of the best; ``unexplained`` is the share of their variance that stays unexplained. A
    module may have no gene, and then no row.

    dataset: after the row-wise steps. fold_steps: ``normalise.folds`` of the config, fitted on all
    samples; centring and scaling are fitted again for each fold of samples. modules: number of
    components; fewer with few samples.
    """
    import pandas as pd

    reference = fit_steps_to_all_samples(dataset, fold_steps)
    X = reference.transform(dataset.X, dataset.obs)
    unit_variance = moment_settings(fold_steps)["unit_variance"]  # whether genes are scaled
    left_out_rows = _draw_folds(dataset, seed)
    # No more than the rank of the centred samples that remain without the largest fold.
    n_components = min(modules, X.shape[1], len(X) - max(map(len, left_out_rows)) - 1)
    cross_validation = search_tau(
        X,
        n_components,
        np.array(TAU_FRACTIONS),
        left_out_rows,
        mu=MODULE_MU,
        unit_variance=unit_variance,
    )
    tau = float(cross_validation.tau[cross_validation.chosen])
    centre, scale = mean_and_scale(X, unit_variance)
    Z = (X - centre) / scale
    components = sparse_components(Z, principal_directions(Z, n_components), tau=tau, mu=MODULE_MU)
    symbols = dataset.var["symbol"].to_numpy()
    rows = []
    for component, (loadings, share) in enumerate(
        zip(components.loadings().T, components.explained(Z), strict=True)
    ):
        by_size = np.lexsort((-round_sizes(np.abs(loadings)), loadings == 0))
        for column in by_size[: np.count_nonzero(loadings)]:
            gene = int(reference.genes[column])
            rows.append(
                (
                    component + 1,
                    dataset.genes[gene],
                    symbols[gene],
                    loadings[column],
                    share,
                    tau,
                    cross_validation.unexplained[cross_validation.chosen],
                )
            )
    return pd.DataFrame(rows, columns=MODULE_COLUMNS)


def _draw_folds(dataset: Dataset, seed: int) -> list[Array]:
    """Return the samples of each fold; samples of a group are in one fold."""
    group_names = dataset.groups()
    group_names = np.arange(len(dataset.X)) if group_names is None else group_names
    _, group = np.unique(group_names, return_inverse=True)
    order = generator(seed, spawn_key(MODULE)).permutation(group.max() + 1)
    fold = order[group] % min(MAX_MODULE_FOLDS, len(order))
    return [np.flatnonzero(fold == number) for number in range(fold.max() + 1)]
