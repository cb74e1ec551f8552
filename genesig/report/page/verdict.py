"""The conclusion of a study, and the sentence that states it.

`judge` decides once, when report_data.json is written. The page, the last lines of a run and the
notebook read its `Verdict`; they do not weigh p and intervals again.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple

from genesig.report.page.measure import covariate_names, measure, model_name, subject, two_classes
from genesig.report.page.record import ClassMeasure, CohortError, Finding, Study, Verdict
from genesig.report.page.words import (
    clean,
    counted,
    enumerated,
    genes_and_indicators,
    p_value,
    percent,
)

LEVEL = 0.05  # largest p that is small


class Grade(Enum):
    """The conclusion: whether gene expression predicts the outcome."""

    NONE = "No evidence"
    WEAK = "Inconclusive"
    HERE = "Better than chance"  # in this study; external cohorts do not settle it
    ELSEWHERE = "Better than chance in external cohorts"
    AGAINST = "Did not replicate"


# classes of badges in page.css
SUPPORT_LOOK = "here"
NEUTRAL_LOOK = "neutral"
CAUTION_LOOK = "status"


class Badge(NamedTuple):
    """A phrase above the headline."""

    text: str
    look: str  # class of page.css that colours it


class Analysis(NamedTuple):
    """Test and interval of one comparison with chance."""

    p: float | None  # None if there are too few permutations to tell
    interval_excludes_chance: bool | None  # None without an interval

    @property
    def p_is_small(self) -> bool | None:
        """Return whether p is at most `LEVEL`; None if it is not known."""
        return None if self.p is None else self.p <= LEVEL

    @property
    def grade(self) -> Grade:
        """Return HERE if p and interval agree, WEAK if one of them speaks for it, else NONE.

        The interval alone counts only if p is not known.
        """
        if self.p_is_small and self.interval_excludes_chance:
            return Grade.HERE
        is_weak = self.p_is_small or (self.p_is_small is None and self.interval_excludes_chance)
        return Grade.WEAK if is_weak else Grade.NONE


def judge(answer: Finding, covariates: Mapping[str, Any] | None, sets: Analysis | None) -> Verdict:
    """Return the conclusion of a study, by error, p, FDR-selected genes and external cohorts.

    With covariates (the key of report_data.json, or None) the grade goes by the interval of what
    expression adds to them. If models of genes show nothing, it may rest on ridge on all genes
    beside the covariates, or on models of gene `sets` (None without); as these are second tests,
    their p is doubled.
    """
    study_analysis = _study_analysis(answer)
    second_analyses = {}
    if covariates is not None:
        # alone: genesig against the covariates alone; whole: ridge on all genes against them
        study_analysis = Analysis(study_analysis.p, _gain_excludes_zero(covariates["alone"]))
        second_analyses["all genes"] = Analysis(
            covariates["p_whole"] if study_analysis.p is not None else None,
            _gain_excludes_zero(covariates["whole"]),
        )
    if sets is not None:
        second_analyses["sets"] = sets
    within_study = study_analysis.grade
    basis = "genes"
    if within_study is Grade.NONE:
        for name, analysis in second_analyses.items():
            doubled_p = None if analysis.p is None else 2 * analysis.p
            if analysis._replace(p=doubled_p).grade is Grade.HERE:
                within_study = Grade.HERE
                basis = name
                break
    has_genes = answer["evidence"] is not None and answer["evidence"]["fdr_selected"] > 0
    study_grade = within_study
    if study_grade is Grade.NONE and has_genes:
        study_grade = Grade.WEAK
    grade = _external_grade(answer, study_grade, covariates is not None) or study_grade
    return {
        "grade": grade.value,
        "grade_within_study": within_study.value,
        "basis": basis,
        "p_is_small": study_analysis.p_is_small,
        "interval_excludes_chance": study_analysis.interval_excludes_chance,
    }


def _study_analysis(answer: Finding) -> Analysis:
    """Return p and interval of the error of the study; p is not known if it could not be small."""
    p = answer["p"]
    error = answer["error"]
    is_known = p["value"] is not None and p["smallest"] <= LEVEL and error["value"] is not None
    excludes_chance = None if error["high"] is None else error["high"] < error["chance"]
    return Analysis(p["value"] if is_known else None, excludes_chance)


def _gain_excludes_zero(difference: Mapping[str, Any]) -> bool | None:
    """Return whether the interval of a gain over covariates lies above 0; None without one."""
    return None if difference["low"] is None else bool(difference["low"] > 0)


def _external_grade(answer: Finding, study_grade: Grade, has_covariates: bool) -> Grade | None:
    """Return the grade by external cohorts; None if they do not settle it.

    They support if at least half of them are better than chance and none is worse. With covariates,
    which predict in the cohorts as well, they support only evidence of this study. They contradict
    if none is better, and one is worse or its interval excludes the error of this study.
    """
    cohorts = answer["cohorts"]
    error = answer["error"]["value"]
    if cohorts["better"] and 2 * cohorts["better"] >= cohorts["tested"] and not cohorts["worse"]:
        return None if has_covariates and study_grade is Grade.NONE else Grade.ELSEWHERE
    new_rows = [
        row for row in cohorts["rows"] if not row["seen_in_training"] and row["low"] is not None
    ]
    excludes_error = error is not None and any((row["low"] or 0) > error for row in new_rows)
    if (
        study_grade is not Grade.NONE
        and cohorts["tested"]
        and not cohorts["better"]
        and (cohorts["worse"] or excludes_error)
    ):
        return Grade.AGAINST
    return None


def grade(data: Study) -> Grade:
    """Return the grade of the study, by its models, external cohorts and FDR-selected genes."""
    return Grade(data["verdict"]["grade"])


def no_evidence(data: Study) -> bool:
    """Return whether the conclusion is that there is no evidence."""
    return grade(data) is Grade.NONE


def grade_within_study(data: Study) -> Grade:
    """Return the grade of the models of this study alone."""
    return Grade(data["verdict"]["grade_within_study"])


def conclusion(data: Study) -> str:
    """Return the words of the first badge, such as ``"Adds to age and sex"``."""
    covariates = covariate_names(data)
    cohorts = data["answer"]["cohorts"]
    match grade(data):
        case Grade.HERE if covariates:
            return f"Adds to {covariates}"
        case Grade.ELSEWHERE:
            return f"{Grade.HERE.value} in {cohorts['better']} of {_cohort_count(data)}"
        case Grade.AGAINST:
            return f"{Grade.AGAINST.value} in {_cohort_count(data)}"
    return grade(data).value


def _cohort_count(data: Study) -> str:
    """Return ``"2 external cohorts"``, without those that have training samples."""
    return counted(data["answer"]["cohorts"]["tested"], "external cohort")


def external_status(data: Study) -> Badge | None:
    """Return the second badge; None if the first one is about external cohorts, or no evidence."""
    if grade(data) not in (Grade.WEAK, Grade.HERE):
        return None
    if data["answer"]["cohorts"]["tested"]:
        return Badge(f"{_cohort_count(data)}: inconclusive", CAUTION_LOOK)
    return Badge("Not tested in an external cohort", CAUTION_LOOK)


def headline(data: Study) -> str:
    """Return the sentence that states the conclusion."""
    claim = claim_words(data)
    if data["answer"]["error"]["value"] is None:
        return f"The accuracy could not be measured, so whether gene expression {claim} is unknown."
    study_grade = grade_within_study(data)
    cohorts = _cohort_words(data)
    tested = _tested_models(data)
    has_studies = data["design"]["scheme"] == "leave_one_study_out"
    here = "in these studies" if has_studies else "in this study"
    match grade(data):
        case Grade.NONE:
            where = f"{here}{_other_method_words(data)}"
            return f"There is no evidence that {tested} {claim} {where}."
        case Grade.WEAK:
            return f"It is unclear whether {tested} {claim}: {_reason_unclear(data)}."
        case Grade.HERE:
            return f"{_subject(data)} {claim} {here}{_open_cohorts(data)}."
        case Grade.ELSEWHERE if study_grade is Grade.HERE:
            where = f"here and in {cohorts}{_smaller_share(data)}"
            return f"{_subject(data)} {claim} better than chance, {where}."
        case Grade.ELSEWHERE:
            result = "does not show this" if study_grade is Grade.NONE else "is inconclusive"
            study_words = f"this study alone {result}"
            return f"Gene expression {claim} better than chance in {cohorts}; {study_words}."
        case Grade.AGAINST:
            if study_grade is Grade.HERE:
                return f"{_subject(data)} {claim} {here}, but not in {cohorts}."
            return f"It is unclear whether {tested} {claim}: no replication in {cohorts}."


def _tested_models(data: Study) -> str:
    """Return the subject of a negative conclusion: of linear signatures if other models may do.

    They may if the 95% CI of the best other method excludes chance. With covariates, for which the
    other methods are not adjusted, they are not considered.
    """
    if data["answer"]["better_method"] is not None:
        return "a linear signature of gene expression"
    best = data["answer"]["best_other_method"]
    if best is None or best["high"] is None or covariate_names(data):
        return "gene expression"
    excludes_chance = best["high"] < data["answer"]["error"]["chance"]
    return "a linear signature of gene expression" if excludes_chance else "gene expression"


def _other_method_words(data: Study) -> str:
    """Return a clause that names a better method than the linear signature; empty without one."""
    method = data["answer"]["better_method"]
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
    """Return the subject of a positive conclusion: the models that it rests on."""
    return {
        "genes": "Gene expression",
        "all genes": "Expression of all genes together, though not of the selected ones alone,",
        "sets": "Expression of whole gene sets, though not of single genes,",
    }[data["verdict"]["basis"]]


def interval_and_chance(data: Study) -> tuple[str, str]:
    """Return whose interval decides, such as ``"the accuracy"``, and its chance level, as text."""
    if covariate_names(data):
        return "the gain", "0"
    metric = measure(data)
    if metric.share:
        return "the accuracy", percent(metric.chance)
    return metric.name, f"{metric.chance:g}"


def _reason_unclear(data: Study) -> str:
    """Return the reason of the grade WEAK, in the order of the rules of `judge`."""
    verdict = data["verdict"]
    evidence = data["answer"]["evidence"]
    name, chance = interval_and_chance(data)
    if verdict["p_is_small"]:
        p = p_value(data["answer"]["p"]["value"])
        if verdict["interval_excludes_chance"] is None:
            return f"{p}, but {name} has no confidence interval"
        return f"{p}, but the 95% CI of {name} includes {chance}"
    if grade_within_study(data) is not Grade.NONE:
        return f"the 95% CI of {name} excludes {chance}, but {_missing_p_words(data)}"
    count = 0
    indicators = 0
    if evidence:
        count = evidence["fdr_selected"]
        indicators = evidence["fdr_selected_indicators"]
    verb = "passes" if count == 1 else "pass"
    fdr = percent(data["config"]["signature"]["fdr"])
    return (
        f"{genes_and_indicators(count - indicators, indicators)} {verb} an FDR of {fdr}, but "
        "models do not predict better than chance"
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
    """Return a clause on external cohorts that do not settle the conclusion; empty without any."""
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
    """Return the name of the external cohort, or the number of cohorts better than chance."""
    cohorts = data["answer"]["cohorts"]
    tested = _tested_cohorts(data)
    if len(tested) == 1:
        return clean(tested[0]["name"])
    if grade(data) is Grade.AGAINST:
        return f"any of {cohorts['tested']} external cohorts"
    return f"{cohorts['better']} of {cohorts['tested']} external cohorts"


def _tested_cohorts(data: Study) -> list[CohortError]:
    """Return the external cohorts without training samples."""
    return [row for row in data["answer"]["cohorts"]["rows"] if not row["seen_in_training"]]


def one_sided_cohorts(data: Study) -> list[tuple[str, list[ClassMeasure]]]:
    """Return cohorts whose CIs of specificity and sensitivity do not overlap: name, and both."""
    cohorts = []
    for row in _tested_cohorts(data):
        shares = [share for share in row["measures"] if share["name"] != "auc"]
        lows = [share["low"] for share in shares if share["low"] is not None]
        highs = [share["high"] for share in shares if share["high"] is not None]
        if len(lows) == len(highs) == 2 and max(lows) > min(highs):
            cohorts.append((clean(row["name"]), shares))
    return cohorts


def _smaller_share(data: Study) -> str:
    """Return ``" (specificity 40%)"`` if the only cohort is one-sided; else empty."""
    one_sided = one_sided_cohorts(data)
    if not one_sided or len(_tested_cohorts(data)) > 1:
        return ""
    ((_, shares),) = one_sided
    smaller = min(shares, key=lambda share: share["value"])
    return f" ({smaller['name']} {percent(smaller['value'])})"
