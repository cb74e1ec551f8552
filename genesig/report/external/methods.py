"""What the Methods text says of samples of other studies."""

from __future__ import annotations

from collections.abc import Iterator

from genesig.report.external.record import External
from genesig.report.page.words import clean, counted

FOR_CLASSES = (
    "DeLong ER, DeLong DM, Clarke-Pearson DL (1988). Comparing the areas under two or more"
    " correlated receiver operating characteristic curves. Biometrics 44.",
    "Newcombe RG (2006). Confidence intervals for an effect size measure based on the Mann-Whitney"
    " statistic. Part 2. Stat Med 25.",
    "Zou GY, Donner A (2008). Construction of confidence limits about effect measures: a general"
    " approach. Stat Med 27.",
)
OF_COMBAT = (
    "Johnson WE, Li C, Rabinovic A (2007). Adjusting batch effects in microarray expression data"
    " using empirical Bayes methods. Biostatistics 8.",
)
OF_CALIBRATION = (
    "Long JS, Ervin LH (2000). Using heteroscedasticity consistent standard errors in the linear"
    " regression model. Am Stat 54.",
)

OF_SLOPE = (
    "White H (1982). Maximum likelihood estimation of misspecified models. Econometrica 50.",
)


def external_sentences(data: External) -> Iterator[str]:
    """Yield nothing for a study that names no other one."""
    cohorts = data["external"]
    if not cohorts:
        return
    classes = data["study"]["classes"] or ()
    cut = ", with its threshold" if len(classes) == 2 or _of_survival(data) else ""
    names = ", ".join(f"{clean(c['name'])}, n = {c['samples']}" for c in cohorts)
    yield (
        f"The final model was applied as it is{cut}, to"
        f" {counted(len(cohorts), 'data set')} of other studies ({names})."
    )
    corrected = [clean(cohort["name"]) for cohort in cohorts if cohort["combat"]]
    if corrected:
        yield (
            f"{', '.join(corrected)} had been brought to the training set by ComBat (Johnson et al."
            " 2007), this study as the reference batch and without the label in the design."
        )
    if classes:
        each = "both" if len(classes) == 2 else "all"
        yield (
            "Intervals hold DeLong's and the score interval for the AUC (DeLong et al. 1988;"
            f" Newcombe 2006) and combine Wilson's of {each} classes for the error (Zou and Donner"
            " 2008)."
        )
    elif _of_survival(data):
        yield (
            "C is Harrell's, with the interval of the infinitesimal jackknife; what else is said of"
            " survival is as for held-out samples, with the censoring of this study's."
        )
    else:
        yield "R² is against the mean of these samples; its interval is the jackknife's."
    if _with_line(data):
        yield (
            "Calibration is the regression of the response on the score, with HC3 standard errors"
            " (Long and Ervin 2000)."
        )
    if _of_probabilities(data):
        yield (
            "Calibration is the slope of the logarithms of the probabilities in multinomial"
            " logistic regression, classes counting by their stated shares (its error: White 1982)."
        )


def _of_survival(data: External) -> bool:
    return any("curves" in cohort for cohort in data["external"])


def _with_line(data: External) -> bool:
    return any("calibration_intercept" in cohort["scores"] for cohort in data["external"])


def _of_probabilities(data: External) -> bool:
    found = any("calibration_slope" in cohort["scores"] for cohort in data["external"])
    return found and not _with_line(data)


def external_references(data: External) -> tuple[str, ...]:
    """Return what these sentences cite."""
    if not data["external"]:
        return ()
    combat = OF_COMBAT if any(cohort["combat"] for cohort in data["external"]) else ()
    line = OF_CALIBRATION if _with_line(data) else OF_SLOPE if _of_probabilities(data) else ()
    return (*line, *combat, *(FOR_CLASSES if data["study"]["classes"] else ()))
