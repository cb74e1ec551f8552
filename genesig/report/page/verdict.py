"""The conclusion of a study, decided here once, and the sentence that states it.

The page, the last lines of a run and the notebook ask for the conclusion; none of them weighs p and
an interval again.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple

from genesig.report.page.measure import held, measure, model_name, subject, two
from genesig.report.page.record import Finding, Study, Verdict
from genesig.report.page.words import both, clean, counted, enumerated, p_value, percent

LEVEL = 0.05


class Grade(Enum):
    """The conclusion: whether gene expression predicts the outcome."""

    NONE = "No evidence"
    WEAK = "Inconclusive"
    HERE = "Better than chance"
    ELSEWHERE = "Better than chance in external cohorts"
    AGAINST = "Did not replicate"


class Analysis(NamedTuple):
    """What one analysis has: p, None where permutations cannot tell, and its interval.

    ``excludes`` is whether the interval excludes chance, None where there is no interval.
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


def conclusion(data: Study) -> str:
    """Return the words of the first badge, such as ``"Adds to age and sex"``."""
    covariates, cohorts = held(data), data["answer"]["cohorts"]
    match grade(data):
        case Grade.HERE if covariates:
            return f"Adds to {covariates}"
        case Grade.ELSEWHERE:
            return f"{Grade.ELSEWHERE.value} ({cohorts['better']} of {cohorts['tested']})"
        case Grade.AGAINST:
            return f"{Grade.AGAINST.value} in external cohorts"
    return grade(data).value


def external_status(data: Study) -> str:
    """Return the words of the second badge; empty if the first one speaks of external cohorts."""
    if grade(data) not in (Grade.WEAK, Grade.HERE):
        return ""
    if data["answer"]["cohorts"]["tested"]:
        return "External cohorts: inconclusive"
    return "Not tested in an external cohort"


def headline(data: Study) -> str:
    """Return the sentence that the page, the run's last lines and the write-up begin with."""
    claim = aim(data)
    if data["answer"]["error"]["value"] is None:
        return f"The accuracy could not be measured, so whether gene expression {claim} is unknown."
    in_study, cohorts = here(data), _cohorts(data)
    match grade(data):
        case Grade.NONE:
            return f"There is no evidence that {_tested(data)} {claim} in this study{_other(data)}."
        case Grade.WEAK:
            return f"It is unclear whether {_tested(data)} {claim}: {_unclear(data)}."
        case Grade.HERE:
            return f"{_who(data)} {claim} in this study{_left_open(data)}."
        case Grade.ELSEWHERE if in_study is Grade.HERE:
            return f"{_who(data)} {claim} better than chance, here and in {cohorts}."
        case Grade.ELSEWHERE:
            only = "does not show this" if in_study is Grade.NONE else "is inconclusive"
            here_alone = f"this study alone {only}"
            return f"Gene expression {claim} better than chance in {cohorts}; {here_alone}."
        case Grade.AGAINST:
            if in_study is Grade.HERE:
                return f"{_who(data)} {claim} in this study, but not in {cohorts}."
            return f"It is unclear whether {_tested(data)} {claim}: no replication in {cohorts}."


def _tested(data: Study) -> str:
    """Return what the conclusion is about; another method may predict where this does not."""
    if data["answer"]["alternative"] is None:
        return "gene expression"
    return "a linear signature of gene expression"


def _other(data: Study) -> str:
    """Name a method other than the linear signature that predicts, if there is any."""
    method = data["answer"]["alternative"]
    return "" if method is None else f"; another method does ({model_name(method['model'])})"


def aim(data: Study) -> str:
    """Return the claim: ``"distinguishes A from B"``, ``"adds to age in predicting x"``."""
    classes, covariates = data["study"]["classes"], held(data)
    verb, target = "predict", subject(data)
    if classes is not None:
        verb, target = "distinguish", enumerated(classes)
        if two(data["study"]):
            target = f"{clean(classes[1])} from {clean(classes[0])}"
    if covariates:
        return f"adds to {covariates} in {verb}ing {target}"
    return f"{verb}{'es' if classes else 's'} {target}"


def _who(data: Study) -> str:
    """Return which models the conclusion rests on, if these are not the models of genes."""
    return {
        "genes": "Gene expression",
        "all genes": "Expression of all genes together, though not of the selected ones alone,",
        "sets": "Expression of whole gene sets, though not of single genes,",
    }[data["verdict"]["by"]]


def interval_and_chance(data: Study) -> tuple[str, str]:
    """Return whose interval the conclusion goes by and the value by chance, as they are written."""
    if held(data):
        return "gain", "0"
    shown = measure(data)
    if shown.share:
        return "accuracy", percent(shown.chance)
    return shown.name, f"{shown.chance:g}"


def _unclear(data: Study) -> str:
    verdict, evidence = data["verdict"], data["answer"]["evidence"]
    name, chance = interval_and_chance(data)
    if verdict["small"]:
        p = p_value(data["answer"]["p"]["value"])
        if verdict["excludes"] is None:
            return f"{p}, but the {name} has no confidence interval"
        return f"{p}, but the 95% CI of the {name} includes {chance}"
    if here(data) is not Grade.NONE:
        return f"the 95% CI of the {name} excludes {chance}, but {_why(data)}"
    count, indicators = 0, 0
    if evidence:
        count, indicators = evidence["fdr_selected"], evidence["indicators"][0]
    verb = "passes" if count == 1 else "pass"
    fdr = percent(data["config"]["signature"]["fdr"])
    return (
        f"{both(count - indicators, indicators)} {verb} an FDR of {fdr}, but models do not predict"
        " better than chance"
    )


def _why(data: Study) -> str:
    """Say why there is no p-value to judge by."""
    p = data["answer"]["p"]
    if not p["permutations"]:
        return "no permutation test was run"
    permutations = counted(p["permutations"], "permutation")
    if p["value"] is None:
        return f"p could not be computed from {permutations}"
    return f"{permutations} are too few to rule out chance"


def _left_open(data: Study) -> str:
    """Say what external cohorts show that do not settle the conclusion."""
    cohorts = data["answer"]["cohorts"]
    if not cohorts["tested"]:
        return ""
    if cohorts["better"]:
        return (
            f"; {cohorts['better']} of {cohorts['tested']} external cohorts are better than chance"
        )
    if cohorts["tested"] == 1:
        return "; the external cohort is inconclusive"
    return f"; the {cohorts['tested']} external cohorts are inconclusive"


def _cohorts(data: Study) -> str:
    """Name the one external cohort, or count them."""
    cohorts = data["answer"]["cohorts"]
    tested = [row for row in cohorts["rows"] if not row["seen"]]
    if len(tested) == 1:
        return clean(tested[0]["name"])
    if grade(data) is Grade.AGAINST:
        return f"any of {cohorts['tested']} external cohorts"
    return f"{cohorts['better']} of {cohorts['tested']} external cohorts"
