"""The first screen's sentences: the error, which genes can be named, chance, what comes next."""

from __future__ import annotations

from genesig.report.page.measure import held, measure, where
from genesig.report.page.record import Evidence, Price, Study
from genesig.report.page.tables import records
from genesig.report.page.verdict import Grade, grade, headline
from genesig.report.page.words import (
    at_most,
    between,
    both,
    counted,
    decimal,
    percent,
    rate,
    significant,
)
from genesig.selection.assess.detectable import POWER, SOUGHT
from genesig.selection.genes.evidence import FEWEST

PRICE = "the price of proof, what keeping to named genes costs, is"


def naming(data: Study, it: Evidence) -> str:
    """Say which genes have evidence, how many the predictive model has, and the price of proof."""
    parts = [_named(data, it), _predictive(data, it)]
    if it["price"]:
        parts.append(_price(data, it["price"]))
    return " ".join(parts)


def level(data: Study) -> str:
    """Return ``"q ≤ 0.1"``."""
    return f"q\u00a0≤\u00a0{significant(data['config']['signature']['fdr'], 2)}"


def _named(data: Study, it: Evidence) -> str:
    permutations = data["config"]["signature"]["permutations"]
    if it["named"]:
        genes = both(it["named"] - it["indicators"][0], it["indicators"][0])
        them = "it" if it["named"] == 1 else "them"
        said = (
            f"{genes} can be named: halves of the samples list {them} more often than permuted"
            f" labels do ({level(data)})"
        )
        if it["named"] == 1:
            share = percent(it["expected"])
            return f"{said}; of genes with so small a q, at most {share} are expected by chance."
        return f"{said}, so {at_most(it['expected'])} expected to be there by chance."
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


def _predictive(data: Study, it: Evidence) -> str:
    low, _, high = data["answer"]["lengths"]
    if not it["model"]:
        return "The predictive model, fitted on all samples, uses no gene."
    rows = records(data["tables"]["signature"])
    inside = sum(bool(row["named"]) and row["coef"] != 0 for row in rows)
    which = {0: "none with evidence of its own", it["model"]: "all of them named"}
    how = which.get(inside, f"{inside} of them named")
    if it["model"] == 1:
        how = "which is named" if inside else "without evidence of its own"
    noun = "variable" if data["study"]["indicators"] else "gene"
    long = counted(low, noun) if low == high else f"{low} to {high} {noun}s"
    models = counted(data["design"]["outer"], "cross-validation model")
    verb = "uses" if data["design"]["outer"] == 1 else "use"
    uses = both(it["model"] - it["indicators"][1], it["indicators"][1])
    return (
        f"The predictive model, fitted on all samples, uses {uses}, {how}"
        f" (the {models} {verb} {long})."
    )


def _price(data: Study, it: Price) -> str:
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
        return f"{both}: {PRICE} {price}, which cannot be told from 0."
    if high is not None and high < 0:
        return f"{both}: proof has no price here ({price})."
    return f"{both}: {PRICE} {price}."


def _points(share: float | None) -> str:
    return decimal(None if share is None else 100 * share, 1)


def finding(data: Study) -> list[str]:
    """Return the finding, as its grade allows it."""
    return [headline(data)]


def sentences(data: Study) -> list[str]:
    """Say the error, which genes can be named, and how far chance could do as well."""
    proved, value = data["answer"]["evidence"], data["answer"]["error"]["value"]
    measured = [] if value is None else [_error_words(data, value)]
    genes = naming(data, proved) if proved else _signature(data)
    return [*measured, genes, _chance(data)]


def _signature(data: Study) -> str:
    it = data["answer"]
    share = percent(data["config"]["signature"]["frequency"])
    if not it["size"]:
        return "The final model selected no gene, so there is no signature."
    low, _, high = it["lengths"]
    long = counted(low, "gene") if low == high else f"{low} to {high} genes"
    core = f"{'all' if it['core'] == it['size'] else it['core']} of them core"
    if it["size"] == 1:
        core = "core" if it["core"] else "not core"
    return (
        f"The signature is the list of the final model, fitted on all samples:"
        f" {counted(it['size'], 'gene')}, {core} (selected in at least {share} of the"
        f" {counted(data['design']['outer'], 'cross-validation model')}, which use {long})."
    )


def _error_words(data: Study, value: float) -> str:
    """Say the error on held-out samples, in counts where there are classes."""
    error = data["answer"]["error"]
    if data["study"]["classes"] is None:
        shown = measure(data)
        interval = between(*shown.interval(error), decimal)
        reached = f"{shown.name} {decimal(shown.value(value))}"
        return f"On held-out samples the models reached {reached}{interval}; {_nothing(data)}."
    limits = (error["low"], error["high"])
    interval = "" if None in limits else f", 95\u00a0% CI {' to '.join(map(rate, limits))}"
    auc = next((one for one in data["answer"]["measures"] if one["name"] == "auc"), None)
    more = ""
    if auc is not None:
        more = f"; AUC {decimal(auc['value'])}{_ci(auc['low'], auc['high'])}"
    return (
        f"{_misclassified(data)} (balanced error {rate(value)}, guessing"
        f" {rate(error['chance'])}{interval}{more})."
    )


def _nothing(data: Study) -> str:
    return f"guessing gives {decimal(measure(data).chance)}"


def _misclassified(data: Study) -> str:
    """Return ``"22 of 60 held-out samples were misclassified"``, the mean of several repeats."""
    tested = [one for one in data["held_out"]["samples"] if one["tested"]]
    wrong = sum((one["wrong"] or 0) / one["tested"] for one in tested)
    count = decimal(wrong, 1).removesuffix(".0")
    verb = "was" if count == "1" else "were"
    repeats = data["design"]["repeats"]
    often = f" on average over {repeats} repeats" if repeats > 1 else ""
    return f"{count} of {counted(len(tested), 'held-out sample')} {verb} misclassified{often}"


def _ci(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    return f", 95\u00a0% CI {decimal(low)} to {decimal(high)}"


def _chance(data: Study) -> str:
    p, errors, observed = data["answer"]["p"], data["null"]["errors"], data["null"]["observed"]
    if p["value"] is None or observed is None:
        return "Chance was not tested: no labels were permuted."
    as_good = sum(error <= observed + 1e-9 for error in errors)
    names = held(data)
    what = f"expression was shuffled against outcome and {names}" if names else (
        f"the labels were shuffled{where(data)}"
    )  # fmt: skip
    smallest = p["value"] <= p["smallest"] + 1e-9
    least = f", the smallest that {len(errors)} can give" if smallest else ""
    return (
        f"When {what}, {as_good or 'none'} of {counted(len(errors), 'repeat')} of the whole"
        f" analysis did as well (p\u00a0=\u00a0{significant(p['value'], 2)}{least})."
    )


def nothing_found(data: Study) -> list[str]:
    """Say what was looked for, what would have been found, and what to do; else nothing."""
    if grade(data) is not Grade.NONE:
        return []
    return [_sought(data), _findable(data), _next(data)]


def _sought(data: Study) -> str:
    it = data["study"]
    return (
        f"Looked for: {both(it['genes'], it['indicators'])} in {counted(it['samples'], 'sample')},"
        " alone and together, in models whose every choice was made without the samples that tested"
        " it. No genes are shown, because none of them can be told from chance; the tables beside"
        " this page have every number."
    )


def _findable(data: Study) -> str:
    """Say which error, AUC and effect of a gene would have been told from chance."""
    it, shown = data["answer"]["detectable"], measure(data)
    said = []
    if it["error"] is not None:
        write = measure(data).write
        side = "below" if shown.better == "smaller" else "above"
        said.append(f"a {shown.name} {side} {write(shown.value(it['error']))}")
    power = f"{100 * POWER:.0f}\u00a0%"
    if it["auc"] is not None:
        said.append(f"with a probability of {power}, a score of AUC {decimal(it['auc'])}")
    if it["effect"] is not None:
        unit = " standard deviations between the classes" if data["study"]["classes"] else ""
        what = "a difference of" if data["study"]["classes"] else "a correlation of"
        said.append(f"a single gene with {what} {decimal(it['effect'], 1 + (not unit))}{unit}")
    if not said:
        return "What could have been found is not known: too few permutations were run."
    return f"Would have been told from chance: {'; '.join(said)}. Smaller effects may exist."


def _next(data: Study) -> str:
    it, counts = data["answer"]["detectable"], data["study"]["counts"]
    said = ["look at the quality of the samples, and whether batches go with the response"]
    if it["auc"] is not None and counts is not None and min(counts) < it["per_class"]:
        said.append(
            f"an AUC of {SOUGHT:g} needs about {it['per_class']} tested samples of each class"
            f" (here {counts[0]} and {counts[1]})"
        )
    elif data["study"]["classes"] is None:
        said.append("effects of half the size need about four times as many samples")
    if data["config"].get("structured", {}).get("sets") is None:
        said.append("gene sets can find many weak genes together")
    return f"Next: {'; '.join(said)}."
