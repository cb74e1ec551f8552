"""Blocks of correlated genes around the genes of the minimal list."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def correlations(X: Array, genes: Array, others: Array) -> Array:
    """Return Pearson's r of each gene with each other one, (n_genes, n_others).

    A gene that is constant over the samples has r = 0 with every other, 1 with itself.
    """
    r = np.clip(standardised(X[:, genes]).T @ standardised(X[:, others]), -1.0, 1.0)
    return np.where(np.asarray(genes)[:, None] == np.asarray(others), 1.0, r)


def assign(X: Array, genes: Array, prototypes: Array) -> tuple[Array, Array]:
    """Give each gene to argmax_b |r(x_j, x_{p_b})|; a prototype to itself.

    Anti-correlated genes belong together, the sign of r is kept for display. Ties go to the
    prototype named first.

    Parameters
    ----------
    X : (n_samples, n_features) float
        Normalised expression.
    genes, prototypes : int arrays
        Columns of X; `prototypes` must not be empty.

    Returns
    -------
    block, r : (n_genes,) int and float
        Number of the prototype and the signed correlation with it.

    References
    ----------
    Mosci 2009, section 6.3, with |r| in place of the printed formula.
    """
    r = correlations(X, genes, prototypes)
    strength = np.abs(r)
    # copies of one gene are equal up to rounding, which must not decide
    block = np.argmax(strength >= strength.max(axis=1, keepdims=True) - 1e-12, axis=1)
    own = {int(gene): number for number, gene in enumerate(prototypes)}
    block = np.array(
        [own.get(int(gene), int(b)) for gene, b in zip(genes, block, strict=True)], dtype=np.int64
    )
    return block, r[np.arange(len(block)), block]


def merge(r: Array, score: Array, above: float | None) -> Array:
    """Return for each prototype the number of the one that names its block after merging.

    Prototypes with |r| > `above` are joined, and what is joined to a common one (connected
    components); the highest score names the block, the first named at equal scores. None merges
    nothing.
    """
    n = len(score)
    if above is None or n == 0:
        return np.arange(n)
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    joins = csr_array((np.abs(r) > above).astype(np.int64).reshape(n, n))
    _, component = connected_components(joins, directed=False)
    best = np.lexsort((np.arange(n), -score))
    _, first = np.unique(component[best], return_index=True)
    return np.asarray(best[first][component])


def standardised(X: Array) -> Array:
    """Return the columns with mean 0 and length 1; constant ones become 0."""
    centred = X - X.mean(axis=0)
    length = np.sqrt(np.sum(np.square(centred), axis=0))
    constant = length <= 1e-12 * np.abs(X).max(axis=0, initial=0.0) * np.sqrt(len(X))
    return np.asarray(np.where(constant, 0.0, centred / np.where(constant, 1.0, length)))
