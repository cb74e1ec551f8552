"""What the predictors are called in the report."""

from __future__ import annotations

from genesig.report.page.words import shorten
from genesig.selection.assess.controls import NAMED

MODELS = {
    "genesig": "genesig (this procedure)",
    NAMED: "genesig, named genes alone",
    "dummy": "no-information baseline",
    "covariates": "covariates alone",
    "covariates and ridge": "covariates and ridge, all genes",
    "ridge": "ridge, all genes",
    "lasso": "lasso (l1-penalised regression)",
    "pcr": "principal components, all genes",
    "kernel_pcr": "kernel principal components",
    "linear_svm": "linear SVM, all genes",
    "nearest_centroid": "nearest centroid, all genes",
    "random_forest": "random forest, all genes",
    "nonlinear": "nonlinear selection",
    "sets": "gene sets",
    "fvm": "feature vector machine",
}


def model_name(model: str) -> str:
    """Return a predictor's name in words."""
    return MODELS.get(model, shorten(model.replace("_", " "), 30))


def picked(of: int) -> str:
    """Say how the best of the other methods was found, which flatters it a little."""
    if of == 1:
        return "the other method"
    return f"the best of {of} other methods by its held-out error"
