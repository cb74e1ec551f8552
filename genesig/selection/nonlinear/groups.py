"""Groups of genes that are selected together: from a file, or around the genes of a lasso.

Blocks are learned, so they belong to a training set like everything that is learned: each outer
split, inner fold and the final model has its own, from its own rows. The blocks of the signature
know all samples and may not be used inside the splits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.selection.genes.clusters import assign

Array = np.ndarray[Any, Any]
Groups = list[list[int]]

MINIMAL = 1e-6
"""mu of the lasso, in units of ||X'X||/n, as that of the minimal list."""


def groups_of_file(names: list[str], named: dict[str, str]) -> Groups:
    """Return the groups among the named genes; a gene in no group is one by itself."""
    found: dict[tuple[bool, str], list[int]] = {}
    for place, gene in enumerate(names):
        found.setdefault((gene in named, named.get(gene, gene)), []).append(place)
    return list(found.values())


def linear_blocks(X: Array, y: Array, *, tau: float, scaled: bool) -> Groups:
    """Return blocks around the genes of a lasso: each other gene joins the most correlated one.

    Parameters
    ----------
    X, y : (n, d), (n,)
        Training rows and screened genes.
    tau : float
        Of the lasso, as a fraction of tau_max. The list is the minimal one (stage II at the
        smallest mu) at a fixed tau: to choose it would take folds inside the folds.
    scaled : bool
        Unit variance of the genes.
    """
    from genesig.optim.solvers import path
    from genesig.optim.training import training_sets

    rows = np.ones((len(y), 1), dtype=bool)
    sets = training_sets(X, y[:, None], rows, centre=True, unit_variance=scaled)
    found = path(
        sets, tau * sets.tau_max[:, None], MINIMAL * sets.norm[:, None],
        solver="landweber-newton", tolerance=1e-9,
    )  # fmt: skip
    leaders = found.coef(0, 0)[0]
    if len(leaders) == 0:
        return [[gene] for gene in range(X.shape[1])]
    block, _ = assign(X, np.arange(X.shape[1]), leaders)
    return [np.flatnonzero(block == number).tolist() for number in range(len(leaders))]
