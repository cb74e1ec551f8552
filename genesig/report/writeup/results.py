"""The Results paragraph: the numbers of the study in the order of a paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from genesig.report.page.finding import CohortError, Evidence, Measured, Price
from genesig.report.page.gene_links import short_symbol
from genesig.report.page.headline import headline
from genesig.report.page.measure import Measure, measure
from genesig.report.page.model_names import model_name, picked
from genesig.report.page.shuffling import where
from genesig.report.page.verdict import Grade, grade
from genesig.report.page.words import clean, counted, decimal, percent, rate, shorten, significant
from genesig.report.writeup.record import Writeup

NAMED = 12
"""Genes that the paragraph names."""
EACH = 4
"""Cohorts that have a sentence of their own; of more, the paragraph gives the median."""
Write = Callable[[float | None], str]


def results(data: Writeup) -> list[str]:
    """Return the paragraph: the graded finding, its numbers, and genes where there is evidence."""
    said = (headline(data), _samples(data), _error(data), _chance(data), _genes(data),
            _stability(data), _rival(data), *_cohorts(data))  # fmt: skip
    return [" ".join(one for one in said if one)]


def _write(data: Writeup) -> Write:
    return rate if data["study"]["classes"] else decimal


def limits(low: float | None, high: float | None, write: Write) -> str:
    """Return ``"95 % CI 1 % to 5 %"``; nothing where a limit is absent."""
    if low is None or high is None:
        return ""
    return f"95\u00a0% CI {write(low)} to {write(high)}"


def _samples(data: Writeup) -> str:
    it = data["study"]
    sizes = ""
    if it["classes"] and it["counts"]:
        pairs = zip(it["counts"], it["classes"], strict=True)
        sizes = f" ({', '.join(f'{n} {clean(name)}' for n, name in pairs)})"
    return (
        f"{counted(it['samples'], 'sample')}{sizes} with {counted(it['genes'], 'gene')} were"
        " analysed."
    )


def _error(data: Writeup) -> str:
    error, shown = data["answer"]["error"], measure(data)
    if error["value"] is None:
        return "The prediction error could not be estimated."
    interval = limits(*shown.interval(error), _write(data))
    more = "".join(map(_measure, data["answer"]["measures"]))
    value = _write(data)(shown.value(error["value"]))
    return f"In double cross-validation, the {shown.name} was {value} ({interval}){more}."


def _measure(one: Measured) -> str:
    write: Write = decimal if one["name"] == "auc" else percent
    name = one["name"].replace("auc", "AUC")
    return f", {name} {write(one['value'])} ({limits(one['low'], one['high'], write)})"


def _chance(data: Writeup) -> str:
    p, observed = data["answer"]["p"], data["null"]["observed"]
    if p["value"] is None or observed is None:
        return "Chance was not tested by permutation."
    as_good = sum(error <= observed + 1e-9 for error in data["null"]["errors"])
    often = f"in {as_good}" if as_good else "in none"
    name = "error" if data["study"]["classes"] else measure(data).name
    return (
        f"This {name} was reached {often} of {counted(p['permutations'], 'permutation')} of the"
        f" labels{where(data)} (p\u00a0=\u00a0{significant(p['value'], 2)})."
    )


def _genes(data: Writeup) -> str:
    it, share = data["answer"], percent(data["config"]["signature"]["frequency"])
    if not it["size"]:
        return "The final model, fitted on all samples, selected no gene."
    if grade(data) is Grade.NONE:
        uses = counted(it["evidence"]["model"] if it["evidence"] else it["size"], "gene")
        return (
            f"The final model, fitted on all samples, uses {uses}, none of which can be told from"
            " chance."
        )
    if it["evidence"]:
        return _named(data, it["evidence"])
    ranked = sorted(it["chips"], key=lambda one: -one["frequency"])
    names = [short_symbol(one["symbol"]) or shorten(one["symbol"], 30) for one in ranked[:NAMED]]
    more = f" and {it['size'] - len(names)} more" if it["size"] > len(names) else ""
    return (
        f"The final model, fitted on all samples, uses {counted(it['size'], 'gene')}, of which"
        f" {it['core']} had been selected in at least {share} of the"
        f" {counted(data['design']['outer'], 'training set')}: {', '.join(names)}{more}."
    )


def _named(data: Writeup, it: Evidence) -> str:
    q = f"q\u00a0≤\u00a0{significant(data['config']['signature']['fdr'], 2)}"
    model = "the final model, fitted on all samples, "
    model += f"uses {counted(it['model'], 'gene')}" if it["model"] else "selected no gene"
    if not it["named"]:
        alone = ", none of them with evidence of its own" if it["model"] else ""
        return f"No gene was listed by halves of the samples beyond chance ({q}); {model}{alone}."
    genes = [one for one in data["answer"]["chips"] if one["named"]][:NAMED]
    names = [short_symbol(one["symbol"]) or shorten(one["symbol"], 30) for one in genes]
    more = f" and {it['named'] - len(names)} more" if it["named"] > len(names) else ""
    verb = "was" if it["named"] == 1 else "were"
    return (
        f"{counted(it['named'], 'gene')} {verb} listed by halves of the samples beyond chance"
        f" ({q}): {', '.join(names)}{more}. For prediction, {model}{_alone(data, it['price'])}."
    )


def _alone(data: Writeup, price: Price | None) -> str:
    """Say how models of named genes did, beside the predictive ones."""
    shown, write = measure(data), _write(data)
    if price is None:
        return ""
    return (
        f"; models of named genes alone reached {write(shown.value(price['error']))}"
        f"{_difference(price['difference_low'], price['difference_high'])}"
    )


def _stability(data: Writeup) -> str:
    it = data["answer"]["stability"]
    if it is None or it["source"] != "half_subsamples":
        return ""
    return (
        f"The stability of the gene list on disjoint halves of the samples was"
        f" {decimal(it['value'])} (1: identical lists, 0: chance)."
    )


def _rival(data: Writeup) -> str:
    best, shown, write = data["answer"]["control"], measure(data), _write(data)
    if best is None:
        return ""
    value = write(shown.value(best["error"]))
    return (
        f"On the same splits, {picked(best['of'])}, {model_name(best['model'])}, reached"
        f" {value}{_difference(best['difference_low'], best['difference_high'])}."
    )


def _difference(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    if high < 0:
        return "; this is better, as the interval of the paired difference excludes 0"
    if low > 0:
        return "; this is worse, as the interval of the paired difference excludes 0"
    return "; the interval of the paired difference includes 0"


def _cohorts(data: Writeup) -> Sequence[str]:
    shown, write = measure(data), _write(data)
    rows = [one for one in data["answer"]["cohorts"]["rows"] if one["error"] is not None]
    if len(rows) > EACH:
        return [_together([one for one in rows if not one["seen"]] or rows, shown, write)]
    said = []
    for one in rows:
        seen = ", some of which had trained it" if one["seen"] else ""
        said.append(
            f"In {clean(one['name'])} ({counted(one['samples'], 'sample')}{seen}), the final model"
            f" had a {shown.name} of {write(shown.value(one['error']))}"
            f" ({limits(*shown.interval(one), write)})."
        )
    return said


def _together(rows: Sequence[CohortError], shown: Measure, write: Write) -> str:
    """Say the median and the range of many cohorts."""
    values = sorted(value for one in rows if (value := shown.value(one["error"])) is not None)
    seen = ", some of which had trained it" if rows[0]["seen"] else ""
    return (
        f"In {len(rows)} other cohorts ({sum(one['samples'] for one in rows)} samples{seen}), the"
        f" final model had a median {shown.name} of {write(median(values))} (range"
        f" {write(values[0])} to {write(values[-1])})."
    )
