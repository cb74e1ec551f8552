"""The first screen's sentences and lights: error, FDR-selected genes, chance, what comes next.

A light is a word and a sign before it is a colour. `RULES` says for readers what the functions
decide; a test goes through both, row by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from genesig.data.study.confounding import NOTABLE
from genesig.report.page.measure import held, measure, model_name, where
from genesig.report.page.record import Evidence, Price, Stability, Study
from genesig.report.page.tables import records
from genesig.report.page.verdict import LEVEL, Grade, grade, headline, here
from genesig.report.page.words import (
    at_most,
    between,
    both,
    clean,
    counted,
    decimal,
    percent,
    rate,
    significant,
)
from genesig.selection.assess.intervals import POWER, SOUGHT
from genesig.selection.genes.frequency import FEWEST

PRICE = "the price of proof is"


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
    if it["fdr_selected"]:
        genes = both(it["fdr_selected"] - it["indicators"][0], it["indicators"][0])
        them = "it" if it["fdr_selected"] == 1 else "them"
        said = (
            f"{genes} can be named: halves of the samples list {them} more often than permuted"
            f" labels do ({level(data)})"
        )
        if it["fdr_selected"] == 1:
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
    inside = sum(bool(row["fdr_selected"]) and row["weight"] != 0 for row in rows)
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
            f"Models of FDR-selected genes alone had a balanced error of {rate(it['error'])}, the"
            f" predictive ones of {rate(own)}"
        )
        price = f"{_points(it['difference'])} percentage points{between(low, high, _points)}"
    else:  # the page shows 1 less the error, so the loss of it is the difference of the errors
        both = (
            f"Models of FDR-selected genes alone reached {shown.name}"
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
    share = percent(data["config"]["signature"]["cv_frequency"])
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
        tested = sum(bool(one["tested"]) for one in data["held_out"]["samples"])
        on = counted(tested, "held-out sample")
        return f"On {on} the models reached {reached}{interval}; {_nothing(data)}."
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


LEFT_OUT = {"leave_one_batch_out": "batch", "leave_one_study_out": "study"}


class State(Enum):
    """What a light says: the word, and the sign that stands before it."""

    GOOD = ("supported", "●")
    CAUTION = ("with caution", "◐")
    PROBLEM = ("not supported", "○")
    UNKNOWN = ("not assessed", "?")


@dataclass(frozen=True)
class Light:
    """One light: what it is about, its state, and the evidence in words."""

    name: str
    state: State
    words: str


RULES = f"""\
Better than chance
  supported      permutation p ≤ {LEVEL:g}, and the interval of the error excludes chance
  with caution   p ≤ {LEVEL:g}, but the interval reaches chance; or only other cohorts or another
                 method show it
  not supported  p > {LEVEL:g}
  not assessed   no permutations, or too few for p ≤ {LEVEL:g}

Gene list more stable than the lasso's (agreement of the lists of disjoint halves of the samples)
  supported      clearly more than that of lasso lists of the same length, on the same halves
  with caution   clearly more than chance, and about that of the lasso lists
  not supported  not clearly more than chance, or clearly less than that of the lasso lists
  not assessed   fewer than three pairs of halves were drawn, or it is not defined

Confirmed in other cohorts (interval of the AUC above 0.5)
  supported      in all of them
  with caution   in some of them
  not supported  in none of them
  not assessed   no cohort without training samples was tested

Independent of batch (association of batch and label beyond chance, 0 to 1)
  supported      at most {NOTABLE:g}
  with caution   more, but each batch was left out in turn
  not supported  more than {NOTABLE:g}: part of what predicts may be the batch
  not assessed   no batch column was named, or the association is not defined
"""


def rules(data: Study) -> str:
    """Return the rules in the words of the study's kind of response."""
    name, chance = measure(data).elsewhere[1:]
    shown = f"the {name}" if len(name) > 2 else name
    return RULES.replace("the AUC above 0.5", f"{shown} above {chance:g}")


def lights(data: Study) -> list[Light]:
    """Return the four lights in their order."""
    return [_against_chance(data), _stable(data), _confirmed(data), _batch(data)]


def _against_chance(data: Study) -> Light:
    name, p, error = "Better than chance", data["answer"]["p"], data["answer"]["error"]
    if error["value"] is None:
        return Light(name, State.UNKNOWN, "the error could not be measured")
    if p["value"] is None:
        state = State.CAUTION if grade(data) is Grade.ELSEWHERE else State.UNKNOWN
        return Light(name, state, "no permutations of the labels were run")
    words = (
        f"permutation p\u00a0=\u00a0{significant(p['value'], 2)}"
        f" ({counted(p['permutations'], 'permutation')}{where(data)}; minimum attainable"
        f" {significant(p['smallest'], 2)})"
    )
    alone = here(data)
    if alone is Grade.HERE:
        other = data["verdict"]["by"] != "genes"
        more = f"; {data['verdict']['by']} carry the finding" if other else ""
        return Light(name, State.CAUTION if other else State.GOOD, words + more)
    what, guess = ("gain", "0") if held(data) else ("error", "guessing")
    if alone is Grade.WEAK and data["verdict"]["small"]:
        known = data["verdict"]["excludes"] is not None
        but = (
            f"the interval of the {what} includes {guess}"
            if known
            else f"the {what} has no interval"
        )
        return Light(name, State.CAUTION, f"{words}, but {but}")
    alternative = data["answer"]["alternative"]
    if alternative is not None:
        more = f"; {model_name(alternative['model'])} is better than chance"
        return Light(name, State.CAUTION, f"{words} for the linear models{more}")
    if data["verdict"]["small"] is None:
        return Light(name, State.UNKNOWN, f"{words}: too few to tell")
    state = State.CAUTION if grade(data) is Grade.ELSEWHERE else State.PROBLEM
    return Light(name, state, words)


def _stable(data: Study) -> Light:
    name, it = "Gene list more stable than the lasso's", data["answer"]["stability"]
    if it is None or it["source"] != "half_subsamples":
        return Light(name, State.UNKNOWN, _unmeasured(data))
    words = (
        f"stability {decimal(it['value'])}{_whose(data)} on halves of the samples (1: identical"
        f" lists, 0: overlap expected by chance), {_beside(it)}"
    )
    if it["blocks"] is not None:
        words += f"; of the blocks of correlated genes they hit {decimal(it['blocks'])}"
    if it["than_chance"] is None:
        return Light(name, State.UNKNOWN, words)
    if it["than_chance"] != "more" or it["than_lasso"] == "less":
        return Light(name, State.PROBLEM, words)
    return Light(name, State.GOOD if it["than_lasso"] == "more" else State.CAUTION, words)


def _beside(it: Stability) -> str:
    """Say whether lists agree more than by chance, and than lists of the lasso do."""
    if it["than_chance"] is None:
        return "from too few halves to be held against chance"
    clearly = "clearly more than" if it["than_chance"] == "more" else "not clearly more than"
    if it["than_lasso"] is None or it["lasso"] is None:
        return f"{clearly} chance"
    than = {"more": "and clearly more than", "less": "and clearly less than", "alike": "about as"}
    lasso = f"lasso lists of the same length ({decimal(it['lasso'])})"
    how = than[it["than_lasso"]]
    return f"{clearly} chance, {how} {'much as ' if how == 'about as' else ''}{lasso}"


def _whose(data: Study) -> str:
    return " of the predictive model's list" if data["answer"]["evidence"] else ""


def _unmeasured(data: Study) -> str:
    """Say why halves give no stability; overlapping splits agree too well to stand in for them."""
    it, halves = data["answer"]["stability"], data["answer"]["halves"]
    words = "no halves of the samples were drawn"
    if halves["drawn"]:
        words = f"not defined on {halves['drawn']} halves of the samples"
    if halves["empty"]:
        words = f"no gene was selected in any of {halves['drawn']} halves of the samples"
    if it is None:
        return words
    return f"{words}; overlapping splits, which flatter it, give {decimal(it['value'])}"


def _confirmed(data: Study) -> Light:
    name, it = "Confirmed in other cohorts", data["answer"]["cohorts"]
    if not it["tested"]:
        more = " without training samples" if it["rows"] else ""
        return Light(name, State.UNKNOWN, f"no other cohort{more} was tested")
    state = State.CAUTION if it["better"] else State.PROBLEM
    worse = f"; worse than chance in {it['worse']}" if it["worse"] else ""
    words = f"better than chance in {it['better']} of {counted(it['tested'], 'cohort')}{worse}"
    return Light(name, State.GOOD if it["better"] == it["tested"] else state, words)


def _batch(data: Study) -> Light:
    name, it = "Independent of batch", data["batch"]
    if it is None:
        return Light(name, State.UNKNOWN, "no batch column was named")
    if it["association"] is None:
        return Light(name, State.UNKNOWN, f"association with {clean(it['column'])} not defined")
    measure = "Cramér's V" if data["study"]["classes"] else "correlation ratio"
    words = f"{measure} of {clean(it['column'])} with the label {decimal(it['association'])}"
    if it["association"] <= NOTABLE:
        return Light(name, State.GOOD, words)
    if one := LEFT_OUT.get(data["design"]["scheme"]):
        return Light(name, State.CAUTION, f"{words}; each {one} was left out in turn")
    return Light(name, State.PROBLEM, words)
