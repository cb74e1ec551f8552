"""RMA of a whole study at once, as affy has it: the referee of the steps it consists of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from genesig.data.steps.gene_filters import number_sets
from genesig.data.steps.median_polish import Quantile, RmaBackground, median_polish

Array = np.ndarray[Any, Any]


def rma(X: Array, by: Sequence[str]) -> Array:
    """Return background-corrected, quantile-normalised, median-polished expression.

    The steps ``rma_background``, ``quantile`` and ``median_polish`` do the same with what they
    learn kept apart from what they are applied to; this function lets every array see every
    other, as the literature does, and is not used on the way to an error estimate.

    Parameters
    ----------
    X : (n_arrays, n_probes) float
        Raw intensities of perfect-match probes.
    by : (n_probes,) sequence of names
        Probe set of each probe.

    Returns
    -------
    (n_arrays, n_sets) float, log2 units
        Sets in the order in which `by` first names them.

    Notes
    -----
    R. A. Irizarry et al. (2003), Biostatistics 4:249. Equal to affy::rma.
    """
    corrected = RmaBackground().transform(X)
    even = Quantile.fit(corrected).transform(corrected)
    return median_polish(np.log2(even), number_sets("rma", by, X.shape[1]))[0]


def sets_of(names: Sequence[str]) -> list[str]:
    """Return the probe set of each probe, which is in the probe's name."""
    return [name.partition("#")[0] for name in names]
