"""The conclusion of a study, decided here once, and the sentence that states it.

The page, the last lines of a run and the notebook ask for the conclusion; none of them weighs p and
an interval again.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple

from genesig.report.page.measure import covariate_names, measure, model_name, subject, two_classes
from genesig.report.page.record import Finding, Study, Verdict
from genesig.report.page.words import (
    clean,
    counted,
    enumerated,
    genes_and_indicators,
    p_value,
    percent,
)

LEVEL = 0.05


class Grade(Enum):
    """The conclusion: whether gene expression predicts the outcome."""

    NONE = "No evidence"
    WEAK = "Inconclusive"
    HERE = "Better than chance"
    ELSEWHERE = "Better than chance in external cohorts"
    AGAINST = "Did not replicate"


SUPPORT_LOOK = "here"
NEUTRAL_LOOK = "neutral"
CAUTION_LOOK = "status"


class Badge(NamedTuple):
    """A phrase above the headline, and the class of the style sheet that colours it."""

    text: str
    look: str


class Analysis(NamedTuple):
    """What one analysis has: p, None where permutations cannot tell, and its interval.

    ``excludes`` is whether the interval excludes chance, None where there is no interval.
    """

    p: float | None
    excludes: bool | None

    @property
    def small(self) -> bool | None:
        """Return whether p is at most `LEVEL`; None where it is not known."""
        return None if self.p is None else self.p <= LEVEL

    @property
    def grade(self) -> Grade:
        """Grade this analysis alone: both p and interval for support, p or, untested, interval."""
        if self.small and self.excludes:
            return Grade.HERE
        weak = self.small or (self.small is None and self.excludes)
        return Grade.WEAK if weak else Grade.NONE


def judge(answer: Finding, covariates: Mapping[str, Any] | None, sets: Analysis | None) -> Verdict:
    """Grade a study.

    Parameters
    ----------
    answer : Finding
        Its error, p, FDR-selected genes and other cohorts.
    covariates : mapping, optional
        The section ``covariates`` of ``report_data.json``. With covariates the study is graded by
        what expression adds to them, so by the interval of the gain.
    sets : Analysis, optional
        p and interval of models of whole gene sets.

    Returns
    -------
    Verdict
        Where models of genes show nothing, ridge on all genes beside the covariates, or gene sets,
        may carry the grade; as a second look, with twice their p.
    """
    study_analysis = _study_analysis(answer)
    second_analyses = {}
    if covariates is not None:
        study_analysis = Analysis(study_analysis.p, _gain_excludes_zero(covariates["alone"]))
        second_analyses["all genes"] = Analysis(
            covariates["p_whole"] if study_analysis.p is not None else None,
            _gain_excludes_zero(covariates["whole"]),
        )
    if sets is not None:
        second_analyses["sets"] = sets
    grade_here = study_analysis.grade
    basis = "genes"
    if grade_here is Grade.NONE:
        for name, analysis in second_analyses.items():
            twice = Analysis(None if analysis.p is None else 2 * analysis.p, analysis.excludes)
            if twice.grade is Grade.HERE:
                grade_here = Grade.HERE
                basis = name
                break
    fdr_selected = answer["evidence"] is not None and answer["evidence"]["fdr_selected"] > 0
    alone = Grade.WEAK if grade_here is Grade.NONE and fdr_selected else grade_here
    grade = _external_grade(answer, alone, covariates is not None) or alone
    return {
        "grade": grade.value,
        "here": grade_here.value,
        "by": basis,
        "small": study_analysis.small,
        "excludes": study_analysis.excludes,
    }


def _study_analysis(answer: Finding) -> Analysis:
    p = answer["p"]
    error = answer["error"]
    is_known = p["value"] is not None and p["smallest"] <= LEVEL and error["value"] is not None
    excludes = None if error["high"] is None else error["high"] < error["chance"]
    return Analysis(p["value"] if is_known else None, excludes)


def _gain_excludes_zero(difference: Mapping[str, Any]) -> bool | None:
    """Return whether the interval of a gain over covariates lies above 0."""
    return None if difference["low"] is None else bool(difference["low"] > 0)


def _external_grade(answer: Finding, grade_here: Grade, has_covariates: bool) -> Grade | None:
    """Grade by other cohorts, where they settle it.

    They support where at least half of them are better than chance and none is worse; with
    covariates, which predict there, too, only what this study has shown. They contradict where none
    is better, and the interval of one excludes the error of this study.
    """
    cohorts = answer["cohorts"]
    error = answer["error"]["value"]
    if cohorts["better"] and 2 * cohorts["better"] >= cohorts["tested"] and not cohorts["worse"]:
        return None if has_covariates and grade_here is Grade.NONE else Grade.ELSEWHERE
    new = [row for row in cohorts["rows"] if not row["seen"] and row["low"] is not None]
    excludes_error = error is not None and any((row["low"] or 0) > error for row in new)
    if (
        grade_here is not Grade.NONE
        and cohorts["tested"]
        and not cohorts["better"]
        and (cohorts["worse"] or excludes_error)
    ):
        return Grade.AGAINST
    return None


def grade(data: Study) -> Grade:
    """Return the grade of the study, with what other cohorts and single genes say."""
    return Grade(data["verdict"]["grade"])


def grade_within_study(data: Study) -> Grade:
    """Return the grade of the models of this study alone."""
    return Grade(data["verdict"]["here"])


def conclusion(data: Study) -> str:
    """Return the words of the first badge, such as ``"Adds to age and sex"``."""
    covariates = covariate_names(data)
    cohorts = data["answer"]["cohorts"]
    match grade(data):
        case Grade.HERE if covariates:
            return f"Adds to {covariates}"
        case Grade.ELSEWHERE:
            return f"{Grade.ELSEWHERE.value} ({cohorts['better']} of {cohorts['tested']})"
        case Grade.AGAINST:
            return f"{Grade.AGAINST.value} in external cohorts"
    return grade(data).value


def external_status(data: Study) -> Badge | None:
    """Return the second badge; None if the first one speaks of external cohorts."""
    if grade(data) not in (Grade.WEAK, Grade.HERE):
        return None
    if data["answer"]["cohorts"]["tested"]:
        return Badge("External cohorts: inconclusive", CAUTION_LOOK)
    return Badge("Not tested in an external cohort", CAUTION_LOOK)


def headline(data: Study) -> str:
    """Return the sentence that the page, the run's last lines and the write-up begin with."""
    claim = claim_words(data)
    if data["answer"]["error"]["value"] is None:
        return f"The accuracy could not be measured, so whether gene expression {claim} is unknown."
    in_study = grade_within_study(data)
    cohorts = _cohort_words(data)
    tested = _tested_models(data)
    several = data["design"]["scheme"] == "leave_one_study_out"
    here = "in these studies" if several else "in this study"
    match grade(data):
        case Grade.NONE:
            where = f"{here}{_other_method_words(data)}"
            return f"There is no evidence that {tested} {claim} {where}."
        case Grade.WEAK:
            return f"It is unclear whether {tested} {claim}: {_reason_unclear(data)}."
        case Grade.HERE:
            return f"{_subject(data)} {claim} {here}{_open_cohorts(data)}."
        case Grade.ELSEWHERE if in_study is Grade.HERE:
            return f"{_subject(data)} {claim} better than chance, here and in {cohorts}."
        case Grade.ELSEWHERE:
            only = "does not show this" if in_study is Grade.NONE else "is inconclusive"
            here_alone = f"this study alone {only}"
            return f"Gene expression {claim} better than chance in {cohorts}; {here_alone}."
        case Grade.AGAINST:
            if in_study is Grade.HERE:
                return f"{_subject(data)} {claim} {here}, but not in {cohorts}."
            return f"It is unclear whether {tested} {claim}: no replication in {cohorts}."


def _tested_models(data: Study) -> str:
    """Return what the conclusion is about: linear signatures alone, if another method is better."""
    if data["answer"]["alternative"] is None:
        return "gene expression"
    return "a linear signature of gene expression"


def _other_method_words(data: Study) -> str:
    """Name a method other than the linear signature that predicts, if there is any."""
    method = data["answer"]["alternative"]
    return "" if method is None else f"; another method does ({model_name(method['model'])})"


def claim_words(data: Study) -> str:
    """Return the claim: ``"distinguishes A from B"``, ``"adds to age in predicting x"``."""
    classes = data["study"]["classes"]
    covariates = covariate_names(data)
    verb = "predict"
    target = subject(data)
    if classes is not None:
        verb = "distinguish"
        target = enumerated(classes)
        if two_classes(data["study"]):
            target = f"{clean(classes[1])} from {clean(classes[0])}"
    if covariates:
        return f"adds to {covariates} in {verb}ing {target}"
    return f"{verb}{'es' if classes else 's'} {target}"


def _subject(data: Study) -> str:
    """Return which models the conclusion rests on, if these are not the models of genes."""
    return {
        "genes": "Gene expression",
        "all genes": "Expression of all genes together, though not of the selected ones alone,",
        "sets": "Expression of whole gene sets, though not of single genes,",
    }[data["verdict"]["by"]]


def interval_and_chance(data: Study) -> tuple[str, str]:
    """Return whose interval the conclusion goes by and the value by chance, as they are written."""
    if covariate_names(data):
        return "gain", "0"
    metric = measure(data)
    if metric.share:
        return "accuracy", percent(metric.chance)
    return metric.name, f"{metric.chance:g}"


def _reason_unclear(data: Study) -> str:
    verdict = data["verdict"]
    evidence = data["answer"]["evidence"]
    name, chance = interval_and_chance(data)
    if verdict["small"]:
        p = p_value(data["answer"]["p"]["value"])
        if verdict["excludes"] is None:
            return f"{p}, but the {name} has no confidence interval"
        return f"{p}, but the 95% CI of the {name} includes {chance}"
    if grade_within_study(data) is not Grade.NONE:
        return f"the 95% CI of the {name} excludes {chance}, but {_missing_p_words(data)}"
    count = 0
    indicators = 0
    if evidence:
        count = evidence["fdr_selected"]
        indicators = evidence["indicators"][0]
    verb = "passes" if count == 1 else "pass"
    fdr = percent(data["config"]["signature"]["fdr"])
    return (
        f"{genes_and_indicators(count - indicators, indicators)} {verb} an FDR of {fdr}, but "
        "models do not predict"
        " better than chance"
    )


def _missing_p_words(data: Study) -> str:
    """Return the text on why there is no p-value to judge by."""
    p = data["answer"]["p"]
    if not p["permutations"]:
        return "no permutation test was run"
    permutations = counted(p["permutations"], "permutation")
    if p["value"] is None:
        return f"p could not be computed from {permutations}"
    return f"{permutations} are too few to rule out chance"


def _open_cohorts(data: Study) -> str:
    """Return the text on what external cohorts show that do not settle the conclusion."""
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


def _cohort_words(data: Study) -> str:
    """Name the one external cohort, or count them."""
    cohorts = data["answer"]["cohorts"]
    tested = [row for row in cohorts["rows"] if not row["seen"]]
    if len(tested) == 1:
        return clean(tested[0]["name"])
    if grade(data) is Grade.AGAINST:
        return f"any of {cohorts['tested']} external cohorts"
    return f"{cohorts['better']} of {cohorts['tested']} external cohorts"
