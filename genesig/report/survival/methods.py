"""What the Methods text says of survival."""

from __future__ import annotations

from genesig.report.page.words import clean, significant
from genesig.report.survival.record import Survival

REFERENCES = (
    "Cox DR (1972). Regression models and life-tables. J R Stat Soc B 34.",
    "Efron B (1977). The efficiency of Cox's likelihood function for censored data. J Am Stat"
    " Assoc 72.",
    "Graf E, Schmoor C, Sauerbrei W, Schumacher M (1999). Assessment and comparison of prognostic"
    " classification schemes for survival data. Stat Med 18.",
    "Harrell FE, Lee KL, Mark DB (1996). Multivariable prognostic models. Stat Med 15.",
    "Simon N, Friedman J, Hastie T, Tibshirani R (2011). Regularization paths for Cox's"
    " proportional hazards model via coordinate descent. J Stat Softw 39.",
    "Uno H, Cai T, Pencina MJ, D'Agostino RB, Wei LJ (2011). On the C-statistics for evaluating"
    " overall adequacy of risk prediction procedures with censored survival data. Stat Med 30.",
    "van Houwelingen HC, Bruinsma T, Hart AAM, van 't Veer LJ, Wessels LFA (2006)."
    " Cross-validated Cox regression on microarray gene expression data. Stat Med 25.",
)


def sentences(data: Survival) -> list[str]:
    """Say what the model of survival is, and how it was assessed."""
    it = data["survival"]
    if it is None:
        return []
    settings = data["config"]["data"]
    ties = clean(settings["ties"].capitalize())
    held = (
        " Covariates that had no finite fit in a training set, such as a word whose samples had no"
        " event there, were held by a ridge penalty of one sample's weight (1/n, on columns of mean"
        " square 1)."
        if settings["covariates"]
        else ""
    )
    return [
        "Times to the event, which may be censored, were modelled by Cox's proportional hazards"
        f" (ties after {ties}): the l1-l2 penalty was added to −(2/n) times the logarithm of the"
        " partial likelihood, and the selected genes were fitted again with a ridge penalty. The"
        " settings were chosen by the partial likelihood that left-out samples add to that of the"
        " others (van Houwelingen et al. 2006); splits were stratified by the event, and"
        f" permutations exchanged time and event together.{held}",
        "Pairs were compared within test sets only, as one model scores them: Harrell's C, and"
        f" up to {clean(data['study']['label'])} {significant(it['horizon'])} Uno's C, the AUC and"
        " the integrated Brier score, weighed by the censoring of the training samples (Uno et al."
        " 2011; Graf et al. 1999). Groups of risk were cut at the training samples' median score.",
    ]
