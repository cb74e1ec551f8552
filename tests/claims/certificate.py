"""Records of a stated number, its promise, and how often simulated data must confirm it.

A trial draws one data set with known truth from a seed and returns what each of its claims came to
there: 1 or 0 (covered, found, called), or a number (a bias); NaN where the claim was not made. The
mean over independent draws must lie between a claim's bounds. benchmarks/accuracy/claims.py runs
the full number of draws, tests/claims/claim_checks.py a few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Claim:
    """A number that genesig states: what it is, what it promises, bounds of the promise."""

    key: str  # under which a draw returns what it came to
    number: str  # as a reader would name it
    promise: str  # in words, with its bounds
    low: float
    high: float


@dataclass(frozen=True)
class Trial:
    """Simulated data on which claims are held against the truth."""

    topic: str
    data: str  # how the data are drawn, in a line
    draw: Callable[[int], Mapping[str, float]]  # seed -> what each claim came to
    claims: tuple[Claim, ...]
    draws: int = 400  # for the certificate
    few: int | None = 20  # draws of the test; 0: as many as `DEFAULT_DRAWS`; None: no test


@dataclass(frozen=True)
class Measured:
    """Mean of a claim over draws, its standard error, and how many draws made the claim."""

    mean: float
    error: float
    draws: int


def measured(rows: Iterable[Mapping[str, float]], claim: Claim) -> Measured:
    r"""Return :math:`\bar v` and :math:`s / \sqrt m` of the m draws that made the claim.

    Of shares the error is that of a share one draw further inside, so that 0 and all have one:
    :math:`\sqrt{q (1 - q) / m}` with :math:`q = (m \bar v + 1) / (m + 2)`.
    """
    values = np.array([row[claim.key] for row in rows], dtype=float)
    values = values[~np.isnan(values)]
    m = len(values)
    if not m:
        return Measured(np.nan, np.nan, 0)
    mean = float(values.mean())
    if np.isin(values, (0.0, 1.0)).all():
        share = (m * mean + 1) / (m + 2)
        return Measured(mean, float(np.sqrt(share * (1 - share) / m)), m)
    return Measured(mean, float(values.std(ddof=1) / np.sqrt(m)) if m > 1 else np.inf, m)
