"""The first screen's sentences: how well it predicts, what the signature is, and chance."""

from __future__ import annotations

from genesig.report.answer.naming import naming
from genesig.report.answer.record import Answer
from genesig.report.page.measure import measure, subject
from genesig.report.page.shuffling import held, where
from genesig.report.page.sides import named, two
from genesig.report.page.verdict import Verdict, verdict
from genesig.report.page.words import clean, counted, decimal, percent, rate, significant


def sentences(data: Answer) -> list[str]:
    """Say how well it predicts, which genes it names, and how far chance could have done it."""
    proved = data["answer"]["evidence"]
    genes = naming(data, proved) if proved else _signature(data)
    return [_finding(data), genes, _chance(data)]


def _finding(data: Answer) -> str:
    subject, verb, cannot = _aim(data)
    value = data["answer"]["error"]["value"]
    if value is None:
        return f"Whether {subject} could not be measured."
    found, missing = verdict(data)
    measured = f"In cross-validation, {_error_words(data, value)}."
    cohorts = data["answer"]["cohorts"]
    confirmed = f"{cohorts['better']} of {cohorts['tested']} other data sets"
    confirmed = "the other data set" if cohorts["tested"] == 1 else confirmed
    if found is Verdict.OPEN:
        return f"Whether {subject} is not settled: {missing}. {measured}"
    names = held(data)
    if found is Verdict.NO_BETTER and names:
        return f"The selected genes add nothing to {names} that chance could not add. {measured}"
    if found is Verdict.NO_BETTER:
        return f"Gene expression did not {cannot} better than chance. {measured}"
    added = f", together with {names}," if names else ""
    if found is Verdict.ELSEWHERE:
        here = "though chance is not ruled out here"
        return f"Gene expression{added} {verb} in {confirmed}, {here}. {measured}"
    return f"Gene expression{added} {verb}{_reservation(data, value)}. {measured}"


def _reservation(data: Answer, value: float) -> str:
    """Say what weakens a convincing result: other data sets, or an interval that reaches chance."""
    error, cohorts = data["answer"]["error"], data["answer"]["cohorts"]
    if cohorts["tested"] and not cohorts["better"]:
        where = "the other data set" if cohorts["tested"] == 1 else "any other data set"
        return f" here, but not beyond chance in {where}"
    limit = value if error["high"] is None else error["high"]
    return "; how well is uncertain" if limit >= error["chance"] else ""


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


def _aim(data: Answer) -> tuple[str, str, str]:
    """Return the question, the finding and its denial, as they stand in a sentence."""
    classes, names = data["study"]["classes"], held(data)
    added = f", together with {names}," if names else ""
    if classes is None:
        label = subject(data)
        return f"gene expression{added} predicts {label}", f"predicts {label}", f"predict {label}"
    one, other = (clean(name) for name in reversed(classes[:2]))
    both = f"{one} from {other}" if two(data["study"]) else named(classes)
    return (
        f"gene expression{added} distinguishes {both}",
        f"distinguishes {both}",
        f"distinguish {both}",
    )


def _error_words(data: Answer, value: float) -> str:
    error = data["answer"]["error"]
    if data["study"]["classes"] is None:
        r2, limits = measure(data).value(value), measure(data).interval(error)
        interval = "" if None in limits else f" (95\u00a0% CI {' to '.join(map(decimal, limits))})"
        reached = f"{measure(data).name} {decimal(r2)}"
        return f"models built this way reached {reached} on unseen samples{interval}"
    limits = (error["low"], error["high"])
    interval = "" if None in limits else f"; 95\u00a0% CI {' to '.join(map(rate, limits))}"
    auc = next((one for one in data["answer"]["measures"] if one["name"] == "auc"), None)
    more = ""
    if auc is not None:
        more = f"; AUC {decimal(auc['value'])}{_ci(auc['low'], auc['high'])}"
    return (
        f"models built this way misclassified {rate(value)} of unseen samples (balanced"
        f" error{interval}{more})"
    )


def _ci(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    return f", 95\u00a0% CI {decimal(low)} to {decimal(high)}"


def _chance(data: Answer) -> str:
    p, errors, observed = data["answer"]["p"], data["null"]["errors"], data["null"]["observed"]
    if p["value"] is None or observed is None:
        return "Chance was not tested: no permutations of the labels were run."
    as_good = sum(error <= observed + 1e-9 for error in errors)
    name = "error" if data["study"]["classes"] else measure(data).name
    often = f"reached this {name} in {as_good}" if as_good else f"never reached this {name}"
    return (
        f"In {counted(len(errors), 'permutation')} of the labels{where(data)} the whole analysis"
        f" {often} (permutation p\u00a0=\u00a0{significant(p['value'], 2)}; minimum attainable"
        f" {significant(p['smallest'], 2)})."
    )
