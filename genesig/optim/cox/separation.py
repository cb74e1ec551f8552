"""Covariates without a finite fit: those that order events, and the small ridge that holds them.

A word whose samples have no event, or a number that orders all events, lets Cox's likelihood rise
for ever along its coefficient. Where the information about a direction has faded in this way, the
covariates of that training set have a penalty, ``ρ ||a||²``, ρ = 1/n, of coefficients a on
columns of mean square 1: a normal prior of variance 1, as much as one sample tells.

Source: Albert and Anderson 1984 (separation); Heinze and Schemper 2001 (in Cox's model).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.cox.likelihood import refit_each
from genesig.optim.cox.risk_sets import RiskSets

Array = np.ndarray[Any, Any]

DEPENDENT = 1e-12
"""Singular values below this share of the largest are rounding."""
FADED = 1e-6
"""Information about a direction, for each event, that is none."""
WIDE = 30.0
"""Logarithm of a hazard ratio between two samples that is no finite fit, either."""
SLACK = 1e-10
"""Decrease, relative to the null deviance, at which the covariates are fitted well enough."""


def ease(risk: RiskSets, C: Array) -> float:
    """Return ρ for covariates C (n, q): 0 where their likelihood has a maximum, else 1/n.

    Genes change nothing here: these have a penalty, so that a fit with them has a minimum where one
    without them has.
    """
    free, _ = span(C)
    if not free.shape[1]:
        return 0.0
    n, D, none = len(free), np.ascontiguousarray(free.T), np.zeros(free.shape[1])
    x, gap, slack = np.empty((1, len(D))), np.empty(1), SLACK * risk.null_deviance
    refit_each(risk.terms, D, none, none, np.zeros(1), slack, x, gap)
    eta = x[0] @ D
    left = np.linalg.eigvalsh(risk.hessian(risk.shares(eta), free))[0]
    faded = left < FADED * 2 * risk.omega.sum() / n
    return 1 / n if faded or np.ptp(eta) > WIDE else 0.0


def span(C: Array) -> tuple[Array, Array]:
    """Return columns (n, r) of length √n, at right angles, that span C (n, c), and (c, r) back.

    ``C back`` are these columns; what depends on others shares its coefficient.
    """
    if not C.shape[1]:
        return C, np.zeros((0, 0))
    left, sizes, back = np.linalg.svd(C, full_matrices=False)
    kept, root = sizes > DEPENDENT * sizes.max(initial=0.0), np.sqrt(len(C))
    return root * left[:, kept], root * back[kept].T / sizes[kept]
