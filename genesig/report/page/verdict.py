"""How far a study supports that expression predicts the response: one grade, decided here.

Every sentence of the page, the last words of a run and the notebook ask for the grade; none of them
weighs p and an interval again. `headline` says it in one sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple

from genesig.report.page.measure import held, measure, model_name, subject, two
from genesig.report.page.record import Finding, Study, Verdict
from genesig.report.page.words import both, clean, counted, enumerated, significant

LEVEL = 0.05


class Grade(Enum):
    """How far the study supports that gene expression predicts the response."""

    NONE = "no evidence"
    WEAK = "weak evidence"
    HERE = "supported in this study"
    ELSEWHERE = "supported in other patients"
    AGAINST = "contradicted elsewhere"


class Analysis(NamedTuple):
    """What one analysis has: p, None where permutations cannot tell, and its interval.

    ``excludes`` is whether the interval excludes guessing, None where there is no interval.
    """

    p: float | None
    excludes: bool | None

    @property
    def small(self) -> bool | None:
        """Whether p is at most `LEVEL`; None where it is not known."""
        return None if self.p is None else self.p <= LEVEL

    @property
    def grade(self) -> Grade:
        """Grade this analysis alone: both p and interval for support, p or, untested, interval."""
        if self.small and self.excludes:
            return Grade.HERE
        weak = self.small or (self.small is None and self.excludes)
        return Grade.WEAK if weak else Grade.NONE


def judge(answer: Finding, held: Mapping[str, Any] | None, sets: Analysis | None) -> Verdict:
    """Grade a study.

    Parameters
    ----------
    answer : Finding
        Its error, p, FDR-selected genes and other cohorts.
    held : mapping, optional
        What is held fixed (``report_data.json``, covariates): the question is then what expression
        adds, so that the interval is that of the gain.
    sets : Analysis, optional
        Of models of whole gene sets.

    Returns
    -------
    Verdict
        Where models of genes show nothing, ridge on all genes beside the covariates, or gene sets,
        may carry the grade; as a second look, with twice their p.
    """
    own, others = _own(answer), {}
    if held is not None:
        own = Analysis(own.p, _gains(held["alone"]))
        others["all genes"] = Analysis(held["p_whole"] if own.p is not None else None,
                                   _gains(held["whole"]))  # fmt: skip
    if sets is not None:
        others["sets"] = sets
    here, by = own.grade, "genes"
    if here is Grade.NONE:
        for name, other in others.items():
            twice = Analysis(None if other.p is None else 2 * other.p, other.excludes)
            if twice.grade is Grade.HERE:
                here, by = Grade.HERE, name
                break
    fdr_selected = answer["evidence"] is not None and answer["evidence"]["fdr_selected"] > 0
    alone = Grade.WEAK if here is Grade.NONE and fdr_selected else here
    grade = _elsewhere(answer, alone, held is not None) or alone
    return {"grade": grade.value, "here": here.value, "by": by, "small": own.small,
            "excludes": own.excludes}  # fmt: skip


def _own(answer: Finding) -> Analysis:
    p, error = answer["p"], answer["error"]
    known = p["value"] is not None and p["smallest"] <= LEVEL and error["value"] is not None
    excludes = None if error["high"] is None else error["high"] < error["chance"]
    return Analysis(p["value"] if known else None, excludes)


def _gains(difference: Mapping[str, Any]) -> bool | None:
    """Whether the interval of a gain over covariates lies above 0."""
    return None if difference["low"] is None else bool(difference["low"] > 0)


def _elsewhere(answer: Finding, here: Grade, held: bool) -> Grade | None:
    """Grade by other cohorts, where they settle it.

    They support where at least half of them are better than chance and none is worse; with
    covariates, which predict there, too, only what this study has shown. They contradict where none
    is better, and the interval of one excludes the error of this study.
    """
    it, error = answer["cohorts"], answer["error"]["value"]
    if it["better"] and 2 * it["better"] >= it["tested"] and not it["worse"]:
        return None if held and here is Grade.NONE else Grade.ELSEWHERE
    new = [row for row in it["rows"] if not row["seen"] and row["low"] is not None]
    apart = error is not None and any((row["low"] or 0) > error for row in new)
    if here is not Grade.NONE and it["tested"] and not it["better"] and (it["worse"] or apart):
        return Grade.AGAINST
    return None


def grade(data: Study) -> Grade:
    """Return the grade of the study, with what other cohorts and single genes say."""
    return Grade(data["verdict"]["grade"])


def here(data: Study) -> Grade:
    """Return the grade of the models of this study alone."""
    return Grade(data["verdict"]["here"])


def headline(data: Study) -> str:
    """Return the sentence that the page, the run's last words and the write-up begin with."""
    finds = aim(data)
    if data["answer"]["error"]["value"] is None:
        return f"Whether gene expression {finds} could not be measured."
    alone, cohorts = here(data), _cohorts(data)
    match grade(data):
        case Grade.NONE:
            return f"There is no evidence that {LINEAR} {finds}{_untested(data)}{_other(data)}."
        case Grade.WEAK:
            return f"There is weak evidence that {LINEAR} {finds}: {_weak(data)}."
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
            return f"Weak evidence that {LINEAR} {finds} did not hold in {cohorts}."


LINEAR = "a linear signature of gene expression"
"""The subject of a conclusion that was drawn from the linear models alone."""


def _other(data: Study) -> str:
    """Name a method other than the linear signature that predicts, if there is any."""
    it = data["answer"]["alternative"]
    return "" if it is None else f"; another method does ({model_name(it['model'])})"


def aim(data: Study) -> str:
    """Return what is asked: ``"distinguishes A from B"``, ``"adds to age in predicting x"``."""
    classes, names = data["study"]["classes"], held(data)
    verb, what = "predict", subject(data)
    if classes is not None:
        one, other = (clean(name) for name in reversed(classes[:2]))
        verb, what = (
            "distinguish",
            f"{one} from {other}" if two(data["study"]) else enumerated(classes),
        )
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
    name = "error" if data["study"]["classes"] else measure(data).name
    what, guess = ("gain in accuracy", "0") if held(data) else (name, "guessing")
    if it["small"]:
        p = f"p\u00a0=\u00a0{significant(data['answer']['p']['value'], 2)}"
        if it["excludes"] is None:
            return f"{p}, but the {what} has no interval"
        return f"{p}, but the interval of the {what} includes {guess}"
    if here(data) is not Grade.NONE:
        return f"the interval of the {what} excludes {guess}, but {_why(data)}"
    count, added = (proved["fdr_selected"], proved["indicators"][0]) if proved else (0, 0)
    genes, verb = both(count - added, added), "goes" if count == 1 else "go"
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
