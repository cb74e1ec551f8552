"""The first screen's sentences: how well it predicts, what the signature is, and chance."""

from __future__ import annotations

from genesig.report.answer.naming import naming
from genesig.report.answer.record import Answer
from genesig.report.page.headline import headline
from genesig.report.page.measure import measure
from genesig.report.page.shuffling import held, where
from genesig.report.page.words import between, counted, decimal, percent, rate, significant


def finding(data: Answer) -> list[str]:
    """Return the finding, as its grade allows it."""
    return [headline(data)]


def sentences(data: Answer) -> list[str]:
    """Say the error, which genes can be named, and how far chance could do as well."""
    proved, value = data["answer"]["evidence"], data["answer"]["error"]["value"]
    measured = [] if value is None else [_error_words(data, value)]
    genes = naming(data, proved) if proved else _signature(data)
    return [*measured, genes, _chance(data)]


def _signature(data: Answer) -> str:
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


def _error_words(data: Answer, value: float) -> str:
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


def _nothing(data: Answer) -> str:
    return f"guessing gives {decimal(measure(data).chance)}"


def _misclassified(data: Answer) -> str:
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


def _chance(data: Answer) -> str:
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
