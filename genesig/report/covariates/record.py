"""What report_data.json keeps of covariates."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from genesig.report.page.compared import Difference
from genesig.report.page.record import Study


class CovariateWeight(TypedDict):
    """Weight of a covariate in the final model, per unit and per standard deviation.

    Of several classes each has a row, and ``name`` has the class, too. Of a spline each stretch
    from knot to knot has a row, whose weight is what the score gains over it, and no ``per_sd``.
    ``reference`` is the word that a word is held against. ``mean``, ``low`` and ``high`` are those
    per unit over the outer splits, ``sign`` the share of these with the sign of the mean.
    """

    name: str
    reference: str | None
    weight: float
    per_sd: float | None
    mean: float
    low: float
    high: float
    sign: float


class CovariatesRecord(TypedDict):
    """The covariates; ``alone`` holds their error against that with expression.

    ``whole`` holds it against that with all genes, by ridge; ``p`` and ``p_whole`` are those of the
    permutations. ``missing`` counts values that were filled in, ``curved`` names what has a spline.
    """

    columns: list[str]
    curved: list[str]
    missing: int
    weights: list[CovariateWeight]
    alone: Difference
    whole: Difference
    p: float | None
    p_whole: float | None


class Covariates(Study):
    """What this topic reads; the key is absent where nothing is held fixed."""

    covariates: NotRequired[CovariatesRecord]
