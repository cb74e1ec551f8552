"""Sentences of Methods about nested cross-validation, selection and other methods."""

from __future__ import annotations

from genesig.optim.class_line import VARIANCE_FACTOR
from genesig.report.page.verdict import LEVEL
from genesig.report.page.wording import Wording
from genesig.report.page.words import clean
from genesig.report.prediction.collect import Prediction
from genesig.response.design import SEVERAL_CLASSES
from genesig.response.kinds import ByKind

# phrases for settings, by their values in the config
SCHEME_WORDS = {
    "stratified_kfold": "stratified {folds}-fold cross-validation{repeated}",
    "leave_one_out": "leave-one-out cross-validation",
    "leave_one_group_out": "leave-one-group-out cross-validation",
    "leave_one_batch_out": "leave-one-batch-out cross-validation",
    "leave_one_study_out": "leave-one-study-out cross-validation",
    "stratified_group_kfold": "stratified group {folds}-fold cross-validation{repeated}, groups"
    " kept whole",
    "predefined": "the division into training and test samples that the sample table gives",
}
SOLVER_WORDS = {
    "landweber-newton": "an exact active-set Newton solver, certified by the duality gap",
    "landweber-nested": "the accelerated damped Landweber iteration of Mosci (2009, Algorithm 2)",
    "coordinate-descent": "coordinate descent, stopped by the duality gap",
    "landweber": "the damped Landweber iteration of Mosci (2009, Algorithm 1)",
}
CRITERION_WORDS = {
    "squared_error": "squared error",
    "balanced_error": "class-balanced error",
    "misclassification": "misclassification",
    "log_loss": "logistic loss",
    "partial_likelihood": "the partial likelihood that left-out samples add",
}
SQUARED_LOSS = "(1/n)‖y − Xβ‖²"
LOSS_OF_KIND = ByKind(
    {
        "classification": SQUARED_LOSS,
        SEVERAL_CLASSES: SQUARED_LOSS,
        "regression": SQUARED_LOSS,
        "survival": "−(2/n) log L(Xβ), L Cox's partial likelihood,",
    }
)
WORDS = Wording(
    __file__,  # sentences: the macros of methods.j2, by name
    CRITERION_WORDS=CRITERION_WORDS,
    LEVEL=LEVEL,
    VARIANCE_FACTOR=VARIANCE_FACTOR,
    SOLVER_WORDS=SOLVER_WORDS,
)


def assessment_sentences(data: Prediction) -> list[str]:
    """Return the sentences of Methods about nested cross-validation and its intervals."""
    splits = data["config"]["splits"]
    scheme = data["design"]["scheme"]
    outer_scheme = SCHEME_WORDS.get(scheme, clean(scheme)).format(
        folds=splits["folds"], repeated=_repeats_text(splits["repeats"])
    )
    inner_scheme = SCHEME_WORDS.get(data["design"]["inner_scheme"], "").format(
        folds=splits["inner_folds"], repeated=""
    )
    return WORDS.paragraphs("assessment", data, outer_scheme, inner_scheme)


def _repeats_text(repeats: int) -> str:
    """Return ``", repeated 5 times"``; empty if there is one repeat."""
    return f", repeated {repeats} times" if repeats > 1 else ""


def selection_sentences(data: Prediction) -> list[str]:
    """Return the sentences of Methods about the selection of genes and of the model."""
    return WORDS.paragraphs("selection", data, LOSS_OF_KIND[data["study"]["task"]])


def permutation_sentences(data: Prediction) -> list[str]:
    """Return the sentences of Methods about the permutation test; [] without one."""
    return WORDS.paragraphs("permutations", data) if data["null"]["errors"] else []


def other_methods_sentences(data: Prediction) -> list[str]:
    """Return the sentences of Methods about other methods and software."""
    return WORDS.paragraphs("other_methods", data) if data["run"]["versions"] else []
