"""A method other than the linear signature that predicts: its row of controls.tsv, and words."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

from genesig.report.page.measure import EXCLUDED_MODELS, measure, method_choice, model_name
from genesig.report.page.record import Alternative, Study
from genesig.report.page.section import Paragraph
from genesig.report.page.tables import TableRow
from genesig.report.page.verdict import LEVEL
from genesig.report.page.words import bracketed_confidence, p_value
from genesig.selection.assess.covariates import COVARIATES
from genesig.selection.assess.intervals import NORMAL_QUANTILE


def better_method(controls: Sequence[TableRow], chance: float) -> Alternative | None:
    """Return the method that predicts although the linear models do not do as well, or None.

    Its interval excludes chance, its p is at most `LEVEL`, and the interval of its paired
    difference from the linear models excludes 0. Labels are permuted for the linear models alone,
    so that p is that of the interval of the error, times the number of methods. With covariates no
    method is returned: the others do not hold these fixed.
    """
    models = {row["model"] for row in controls}
    other_methods = [
        row for row in controls if row["model"] not in EXCLUDED_MODELS and row["error"] is not None
    ]
    if COVARIATES in models:
        return None
    better = []
    for row in other_methods:
        p = min(1.0, len(other_methods) * _tail(row, chance))
        if p <= LEVEL and (row["difference_high"] is not None and row["difference_high"] < 0):
            better.append((row, p))
    if not better:
        return None
    row, p = min(better, key=lambda pair: pair[0]["error"])
    return {
        "model": row["model"],
        "of": len(other_methods),
        "error": row["error"],
        "low": row["low"],
        "high": row["high"],
        "difference": row["difference"],
        "difference_low": row["difference_low"],
        "difference_high": row["difference_high"],
        "p": p,
    }


def _tail(row: TableRow, chance: float) -> float:
    """Return the one-sided p of an error below chance, by the upper half of its interval."""
    error = row["error"]
    high = row["high"]
    if high is None or high >= chance:
        return 1.0
    if high <= error:
        return 0.0
    return NormalDist().cdf(-NORMAL_QUANTILE * (chance - error) / (high - error))


def other_method(data: Study) -> list[Paragraph]:
    """Return the paragraph on a method that predicts better than the linear signature."""
    method = data["answer"]["alternative"]
    genesig_error = data["answer"]["error"]["value"]
    if method is None or genesig_error is None:
        return []
    metric = measure(data)
    name = model_name(method["model"])
    limits = bracketed_confidence(*metric.interval(method), metric.write_limits)
    reached = f"{metric.write(metric.value(method['error']))}{limits}"
    # 2.5e-5: a smaller p is written as a bound, because it rests on the far tail of a normal curve.
    smallest_exact_p = NormalDist().cdf(-NORMAL_QUANTILE) * 1e-3
    p = p_value(method["p"]) if method["p"] > smallest_exact_p else "p\u00a0<\u00a00.0001"
    times = "" if method["of"] == 1 else f", corrected for {method['of']} methods"
    return [
        Paragraph(
            "Another method.",
            f"{name[0].upper()}{name[1:]} ({method_choice(method['of'])}) reached a {metric.name}"
            f" of {reached}, the linear models {metric.write(metric.value(genesig_error))}. It is"
            f" better than chance ({p}{times}).",
        )
    ]
