"""The finding in one sentence, as its grade allows it."""

from __future__ import annotations

from genesig.report.page.measure import subject
from genesig.report.page.record import Study
from genesig.report.page.shuffling import held
from genesig.report.page.sides import named, two
from genesig.report.page.verdict import Grade, grade, here
from genesig.report.page.words import clean, counted, significant


def headline(data: Study) -> str:
    """Return the sentence that the page, the run's last words and the write-up begin with."""
    finds = aim(data)
    if data["answer"]["error"]["value"] is None:
        return f"Whether gene expression {finds} could not be measured."
    alone, cohorts = here(data), _cohorts(data)
    match grade(data):
        case Grade.NONE:
            return f"There is no evidence that gene expression {finds}{_untested(data)}."
        case Grade.WEAK:
            return f"There is weak evidence that gene expression {finds}: {_weak(data)}."
        case Grade.HERE:
            return f"{_who(data)} {finds} in this study{_left_open(data)}."
        case Grade.ELSEWHERE if alone is Grade.HERE:
            return f"{_who(data)} {finds}, in this study and in {cohorts}."
        case Grade.ELSEWHERE:
            only = "does not show it" if alone is Grade.NONE else "gives weak evidence"
            return f"Gene expression {finds} in {cohorts}; this study alone {only}."
        case Grade.AGAINST:
            if alone is Grade.HERE:
                return f"{_who(data)} {finds} in this study, but not in {cohorts}."
            return f"Weak evidence that gene expression {finds} did not hold in {cohorts}."


def aim(data: Study) -> str:
    """Return what is asked: ``"distinguishes A from B"``, ``"adds to age in predicting x"``."""
    classes, names = data["study"]["classes"], held(data)
    verb, what = "predict", subject(data)
    if classes is not None:
        one, other = (clean(name) for name in reversed(classes[:2]))
        verb, what = "distinguish", f"{one} from {other}" if two(data["study"]) else named(classes)
    if names:
        return f"adds to {names} in {verb}ing {what}"
    return f"{verb}{'es' if classes else 's'} {what}"


def _who(data: Study) -> str:
    """Return what carries the finding, where it is not the models of genes."""
    return {
        "genes": "Gene expression",
        "all genes": "Expression of all genes together, though not of the selected ones alone,",
        "sets": "Expression of whole gene sets, though not of single genes,",
    }[data["verdict"]["by"]]


def _weak(data: Study) -> str:
    it, proved = data["verdict"], data["answer"]["evidence"]
    what, guess = ("gain in accuracy", "0") if held(data) else ("error", "guessing")
    if it["small"]:
        p = f"p\u00a0=\u00a0{significant(data['answer']['p']['value'], 2)}"
        if it["excludes"] is None:
            return f"{p}, but the {what} has no interval"
        return f"{p}, but the interval of the {what} includes {guess}"
    if here(data) is not Grade.NONE:
        return f"the interval of the {what} excludes {guess}, but {_why(data)}"
    genes = counted(proved["named"] if proved else 0, "gene")
    verb = "goes" if genes.startswith("1 ") else "go"
    return f"{genes} {verb} with it beyond chance, but the models do not predict beyond chance"


def _untested(data: Study) -> str:
    return f", and {_why(data)}" if data["verdict"]["small"] is None else ""


def _why(data: Study) -> str:
    """Say why p does not tell."""
    p = data["answer"]["p"]
    if not p["permutations"]:
        return "no labels were permuted to rule out chance"
    ran = counted(p["permutations"], "permutation")
    if p["value"] is None:
        return f"p could not be computed from {ran}"
    return f"{ran} are too few to rule out chance"


def _left_open(data: Study) -> str:
    """Say what other cohorts that do not settle it show."""
    it = data["answer"]["cohorts"]
    if not it["tested"]:
        return ""
    if it["better"]:
        return f"; it is better than chance in {it['better']} of {it['tested']} other data sets"
    many = "the other data set leaves" if it["tested"] == 1 else "other data sets leave"
    return f"; whether it does elsewhere, {many} open"


def _cohorts(data: Study) -> str:
    it = data["answer"]["cohorts"]
    if it["tested"] == 1:
        return "the other data set"
    if grade(data) is Grade.AGAINST:
        return f"any of {it['tested']} other data sets"
    return f"{it['better']} of {it['tested']} other data sets"
