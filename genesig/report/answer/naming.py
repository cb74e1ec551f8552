"""Which genes can be named, and what that costs, in plain words."""

from __future__ import annotations

from genesig.report.answer.record import Answer
from genesig.report.page.finding import Evidence, Price
from genesig.report.page.measure import measure
from genesig.report.page.rows import records
from genesig.report.page.words import (
    about_so_many,
    between,
    counted,
    decimal,
    percent,
    rate,
    significant,
)
from genesig.selection.genes.evidence import FEWEST


def naming(data: Answer, it: Evidence) -> str:
    """Say which genes have evidence, how many the predictive model has, and the price of proof."""
    parts = [_named(data, it), _predictive(data, it)]
    if it["price"]:
        parts.append(_price(data, it["price"]))
    return " ".join(parts)


def level(data: Answer) -> str:
    """Return ``"q ≤ 0.1"``."""
    return f"q\u00a0≤\u00a0{significant(data['config']['signature']['fdr'], 2)}"


def _named(data: Answer, it: Evidence) -> str:
    permutations = data["config"]["signature"]["permutations"]
    if it["named"]:
        genes = counted(it["named"], "gene")
        them = "it" if it["named"] == 1 else "them"
        said = (
            f"{genes} can be named: halves of the samples list {them} more often than permuted"
            f" labels do ({level(data)})"
        )
        if it["named"] == 1:
            share = percent(it["expected"])
            return f"{said}; of genes with so small a q, about {share} are there by chance."
        return f"{said}, so {about_so_many(it['expected'])} expected to be there by chance."
    if permutations < FEWEST:
        return (
            f"No gene can be named: {counted(permutations, 'permutation')} of the labels cannot"
            f" tell what chance gives (at least {FEWEST} can)."
        )
    if it["passing"]:
        reach = "1 gene reaches" if it["passing"] == 1 else f"{it['passing']} genes reach"
        return (
            f"No gene can be named: {reach} {level(data)}, but permuted labels too often give as"
            " many."
        )
    return (
        "No gene can be named: halves of the samples list none often enough to tell it from chance"
        f" ({level(data)})."
    )


def _predictive(data: Answer, it: Evidence) -> str:
    low, _, high = data["answer"]["lengths"]
    if not it["model"]:
        return "The predictive model, fitted on all samples, uses no gene."
    rows = records(data["tables"]["signature"])
    inside = sum(bool(row["named"]) and row["coef"] != 0 for row in rows)
    which = {0: "none with evidence of its own", it["model"]: "all of them named"}
    how = which.get(inside, f"{inside} of them named")
    if it["model"] == 1:
        how = "which is named" if inside else "without evidence of its own"
    long = counted(low, "gene") if low == high else f"{low} to {high} genes"
    models = counted(data["design"]["outer"], "cross-validation model")
    verb = "uses" if data["design"]["outer"] == 1 else "use"
    return (
        f"The predictive model, fitted on all samples, uses {counted(it['model'], 'gene')}, {how}"
        f" (the {models} {verb} {long})."
    )


def _price(data: Answer, it: Price) -> str:
    own, shown = data["answer"]["error"]["value"], measure(data)
    if own is None:
        return ""
    low, high = it["difference_low"], it["difference_high"]
    if data["study"]["classes"]:
        both = (
            f"Models of named genes alone had a balanced error of {rate(it['error'])}, the"
            f" predictive ones of {rate(own)}"
        )
        price = f"{_points(it['difference'])} percentage points{between(low, high, _points)}"
    else:  # the page shows 1 less the error, so the loss of it is the difference of the errors
        both = (
            f"Models of named genes alone reached {shown.name}"
            f" {decimal(shown.value(it['error']))}, the predictive ones {decimal(shown.value(own))}"
        )
        price = f"{decimal(it['difference'])}{between(low, high, decimal)}"
    if low is not None and high is not None and low <= 0 <= high:
        return f"{both}: the price of proof, {price}, cannot be told from 0."
    if high is not None and high < 0:
        return f"{both}: proof has no price here ({price})."
    return f"{both}: the price of proof is {price}."


def _points(share: float | None) -> str:
    return decimal(None if share is None else 100 * share, 1)
