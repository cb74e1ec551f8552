"""The sentences about covariates and weights of samples in the Methods text."""

from __future__ import annotations

from genesig.report.covariates.record import Covariates
from genesig.report.page.words import clean, enumerated

REFERENCES = (
    "Goeman JJ, van de Geer SA, de Kort F, van Houwelingen HC (2004). A global test for groups of"
    " genes: testing association with a clinical outcome. Bioinformatics 20.",
    "Harrell FE (2015). Regression modeling strategies. Springer.",
    "ter Braak CJF (1992). Permutation versus bootstrap significance tests in multiple regression"
    " and ANOVA. Bootstrapping and related techniques, Springer.",
)


def held_sentences(data: Covariates) -> list[str]:
    """Say what was held fixed, and what the permutations asked; nothing where that is nothing."""
    found = []
    if "covariates" in data:
        names = enumerated(data["covariates"]["columns"])
        filled = (
            " Missing values were imputed with the mean of the training samples."
            if data["covariates"]["missing"]
            else ""
        )
        found.append(
            f"All models, from the selection of genes to the final score, contain {names} without a"
            f" penalty ({_numbers(data)}, words as indicators), fitted together with the genes"
            " within each training set." + filled
        )
        found.append(
            f"The added value of expression is the difference of the error to that of {names} alone"
            " on the same held-out samples, for the selected genes and for ridge regression on all"
            " genes; its interval has the variance over samples and over repeats. In the"
            f" permutations label and {names} kept their place, and of the expression the residuals"
            f" of a regression on {names} (splines with 7 knots, and products) were exchanged (ter"
            " Braak 1992), so that the null hypothesis is that expression adds nothing to"
            f" {names}. All genes together were tested by the global test (Goeman et al. 2004)"
            " under the same permutations. Expression is said to add something where the interval"
            " excludes 0 and p ≤ .05."
        )
    weights = data["config"]["data"]["weights"]
    if weights == "balanced":
        every = "both" if len(data["study"]["classes"] or ()) == 2 else "all"
        said = f"In every fit the samples were weighted so that {every} classes count alike."
        found.append(said)
    elif weights is not None:
        found.append(f"In every fit the samples were weighted by {clean(weights)}.")
    return found


def _numbers(data: Covariates) -> str:
    if not data["covariates"]["curved"]:
        return "numbers as straight lines"
    return (
        "numbers as restricted cubic splines, with knots at fixed quantiles of the training"
        " samples (Harrell 2015)"
    )
