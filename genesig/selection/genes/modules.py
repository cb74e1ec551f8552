"""Modules of genes that vary together, whatever the label: sparse principal components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.splits.folds import MODULE, generator, spawn_key
from genesig.data.steps.normalise import moment_settings as learned
from genesig.data.steps.normalise import reference_of_all
from genesig.optim.sparse_components import (
    TAU_FRACTIONS,
    directions,
    held_out,
    moments,
    sparse_components,
)
from genesig.results import Dataset
from genesig.selection.genes.frequency import rounded

if TYPE_CHECKING:
    import pandas as pd

MU = 1e-3
"""Weight of the squared l2 term, in units of ||Z'Z||/n: genes that are alike come in together."""
FOLDS = 5
COLUMNS = ["module", "gene", "symbol", "loading", "explained", "tau", "unexplained"]


def gene_modules(
    dataset: Dataset, *, folds: Sequence[Mapping[str, Any]], modules: int, seed: int
) -> pd.DataFrame:
    """Return modules.tsv: the genes of each module, by falling |loading|.

    Loadings have length 1 in a module, the largest positive; ``explained`` is the share of the
    variance that the module adds to those before it. ``tau``, a fraction of the smallest that
    selects nothing, is the largest whose reconstruction of left-out samples is within one standard
    error of the best; ``unexplained`` is the share of their variance that stays unexplained. A
    module may have no gene, and then no row.

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps.
    folds : list of steps
        ``normalise.folds`` of the config, here as fitted on all samples; centring and scaling are
        learned anew where samples are left out.
    modules : int
        Number of components; fewer where samples are fewer.
    seed : int
    """
    import pandas as pd

    reference = reference_of_all(dataset, folds)
    X = reference.transform(dataset.X, dataset.obs)
    scaled = learned(folds)["unit_variance"]
    held = _held(dataset, seed)
    k = min(modules, X.shape[1], len(X) - max(map(len, held)) - 1)
    tried = held_out(X, k, np.array(TAU_FRACTIONS), held, mu=MU, unit_variance=scaled)
    tau = float(tried.tau[tried.chosen])
    centre, scale = moments(X, scaled)
    Z = (X - centre) / scale
    found = sparse_components(Z, directions(Z, k), tau=tau, mu=MU)
    symbols = dataset.var["symbol"].to_numpy()
    rows = []
    for number, (b, share) in enumerate(zip(found.loadings().T, found.explained(Z), strict=True)):
        for at in np.lexsort((-rounded(np.abs(b)), b == 0))[: np.count_nonzero(b)]:
            gene = int(reference.genes[at])
            rows.append(
                (
                    number + 1,
                    dataset.genes[gene],
                    symbols[gene],
                    b[at],
                    share,
                    tau,
                    tried.unexplained[tried.chosen],
                )
            )
    return pd.DataFrame(rows, columns=COLUMNS)


def _held(dataset: Dataset, seed: int) -> list[Array]:
    """Divide the samples into folds, those of a group together."""
    names = dataset.groups()
    names = np.arange(len(dataset.X)) if names is None else names
    _, group = np.unique(names, return_inverse=True)
    order = generator(seed, spawn_key(MODULE)).permutation(group.max() + 1)
    fold = order[group] % min(FOLDS, len(order))
    return [np.flatnonzero(fold == number) for number in range(fold.max() + 1)]
