"""What a study of this size could have told from chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import TypedDict

LEVEL, POWER = 0.05, 0.8
SOUGHT = 0.7
"""The AUC for which the number of samples is given."""
_NORMAL = NormalDist()


class Detectable(TypedDict):
    """The smallest effects that would probably have been told from chance; null where unknown.

    ``error`` is the error below which p would have been at most .05, ``auc`` that of a score fixed
    beforehand, ``effect`` that of one gene among all: a difference in standard deviations, or of a
    number its correlation. ``per_class`` are the samples of each class for an AUC of `SOUGHT`.
    """

    error: float | None
    auc: float | None
    effect: float | None
    per_class: int


def detectable(
    errors: Sequence[float], counts: Sequence[int] | None, samples: int, genes: int
) -> Detectable:
    """Return what a study could have found with probability `POWER`.

    Parameters
    ----------
    errors : sequence of float
        Of the permutations. p = (1 + #{error_b <= error})/(B + 1).
    counts : sequence of int, optional
        Independent samples (groups) of each of two classes; None for a number.
    samples, genes : int
        Independent samples, and genes. A gene is tested at level .05/genes (Bonferroni).

    Notes
    -----
    With z = z_(1-α/2) + z_power: d = z √(1/n₁ + 1/n₂), AUC = 1/2 + z √((n₁+n₂+1)/(12 n₁ n₂)), the
    standard error of the Mann-Whitney statistic without signal (Hanley and McNeil 1982), and of a
    number r = tanh(z/√(n-3)) (Fisher 1921).
    """
    of_genes = _reach(LEVEL / max(genes, 1))
    needed = math.ceil(_reach(LEVEL) ** 2 / (6 * (SOUGHT - 0.5) ** 2))
    found: Detectable = {"error": _error(errors), "auc": None, "effect": None, "per_class": needed}
    if counts is not None and len(counts) == 2 and min(counts) > 1:
        a, b = counts
        auc = 0.5 + _reach(LEVEL) * math.sqrt((a + b + 1) / (12 * a * b))
        found["auc"] = auc if auc < 1 else None
        found["effect"] = of_genes * math.sqrt(1 / a + 1 / b)
    elif counts is None and samples > 4:
        found["effect"] = math.tanh(of_genes / math.sqrt(samples - 3))
    return found


def _reach(level: float) -> float:
    return _NORMAL.inv_cdf(1 - level / 2) + _NORMAL.inv_cdf(POWER)


def _error(errors: Sequence[float]) -> float | None:
    """Return the error that must be undercut for p <= LEVEL; None of too few permutations."""
    most = math.floor(LEVEL * (len(errors) + 1) + 1e-9) - 1
    return sorted(errors)[most] if 0 <= most < len(errors) else None
