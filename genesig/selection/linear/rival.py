"""What a list is held against: one of the lasso, as long, of the same training set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from genesig.results import Fits
from genesig.selection.linear.halves import strongest
from genesig.selection.linear.kinds.record import Sets
from genesig.selection.linear.protocol import Protocol

Array = np.ndarray[Any, Any]

STEPS = 20
"""Lists of a path, from .95 tau_max to the smallest tau of the grid."""


def rival_lists(outer: Sets, fits: Fits, genes: Array, protocol: Protocol) -> Fits:
    """Return the fits with a list of the lasso each, as long as the one that predicts.

    Its genes are those of the largest weights in the first list of the lasso's path that has as
    many, or in the longest one: the lasso takes no more genes than there are samples. The lasso is
    the elastic net at the smallest mu of the protocol.

    Parameters
    ----------
    outer : Sets
        The training sets of the fits, one column each.
    fits : Fits
    genes : (d,) int
        Numbers in the data set of the columns of the matrix.
    protocol : Protocol
    """
    sizes = fits.with_chosen().sizes()[:, -1].astype(np.int64)
    tau = np.geomspace(0.95, protocol.tau_min, STEPS) * outer.tau_max[:, None]
    mu = min(protocol.mu) * outer.norm[:, None]
    path = outer.path(tau, mu, protocol, None)
    counted = path.sizes()
    lists = []
    for fit, size in enumerate(sizes):
        enough = np.flatnonzero(counted[fit] >= size)
        at = enough[0] if len(enough) else int(np.argmax(counted[fit]))
        lists.append(genes[strongest(*path.coef(fit, at), size)[0]])
    indptr = np.cumsum([0, *map(len, lists)])
    return replace(fits, rival_indptr=indptr, rival_indices=np.concatenate(lists))
