"""The sentences about covariates and weights of samples in the Methods text."""

from __future__ import annotations

from genesig.report.covariates.record import Covariates
from genesig.report.page.words import clean, enumerated


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
            " penalty (numbers as they are, words as indicators), fitted together with the genes"
            " within each training set." + filled
        )
        found.append(
            f"The added value of expression is the difference of the error to that of {names} alone"
            " on the same held-out samples. In the permutations the expression of samples was"
            " exchanged against label and covariates kept together, so that the null hypothesis is"
            f" that expression adds nothing to {names}."
        )
    weights = data["config"]["data"]["weights"]
    if weights == "balanced":
        every = "both" if len(data["study"]["classes"] or ()) == 2 else "all"
        said = f"In every fit the samples were weighted so that {every} classes count alike."
        found.append(said)
    elif weights is not None:
        found.append(f"In every fit the samples were weighted by {clean(weights)}.")
    return found
