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
