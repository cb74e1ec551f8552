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

from genesig.compiled.lanes import LANES
from genesig.optim.cox.certificate import null_deviance
from genesig.optim.cox.newton import Point, Problem, minimise, span
from genesig.optim.cox.risk_sets import RiskSets

Array = np.ndarray[Any, Any]

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
    n, none = len(free), np.zeros(free.shape[1])
    rows = np.zeros((free.shape[1], -(-n // LANES) * LANES))
    rows[:, :n] = free.T
    problem = Problem(risk, rows, none, none.copy())
    found, _ = minimise(problem, Point.at(problem, none), SLACK * null_deviance(risk))
    left = np.linalg.eigvalsh(risk.hessian(risk.shares(found.eta[:n]), free))[0]
    faded = left < FADED * 2 * risk.omega.sum() / n
    return 1 / n if faded or np.ptp(found.eta[:n]) > WIDE else 0.0
