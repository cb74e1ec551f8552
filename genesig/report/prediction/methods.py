"""Sentences of Methods about nested cross-validation, selection and other methods."""

from __future__ import annotations

from genesig.optim.class_line import PENALTY
from genesig.report.page.measure import covariate_names, measure, permuted_words, two_classes
from genesig.report.page.verdict import LEVEL
from genesig.report.page.words import clean, counted, percent, power, significant
from genesig.report.prediction.collect import Prediction
from genesig.response.design import SEVERAL
from genesig.response.kinds import ByKind

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
        SEVERAL: SQUARED_LOSS,
        "regression": SQUARED_LOSS,
        "survival": "−(2/n) log L(Xβ), L Cox's partial likelihood,",
    }
)
AUC_SENTENCES = (
    " The area under the ROC curve (AUC) is over pairs of samples of one test set (of a repeat if"
    " one lacks a class). Its 95% CI is a Wilson interval with an effective sample size from the"
    " variance between splits and samples; near 1 it is widened to the score interval (Newcombe"
    " 2006)."
)


def assessment_sentences(data: Prediction) -> list[str]:
    """Return how the error was estimated, and how its interval was made."""
    splits = data["config"]["splits"]
    scheme = data["design"]["scheme"]
    outer_scheme = SCHEME_WORDS.get(scheme, clean(scheme)).format(
        folds=splits["folds"], repeated=_repeats_text(splits["repeats"])
    )
    inner_scheme = SCHEME_WORDS.get(data["design"]["inner_scheme"], "").format(
        folds=splits["inner_folds"], repeated=""
    )
    return [
        "Prediction error was estimated by nested cross-validation: the outer loop was"
        f" {outer_scheme} ({counted(data['design']['outer'], 'split')}); inside each outer training"
        f" set, {inner_scheme} chose the model, so that no test sample took part in any choice"
        " (Varma and Simon 2006).",
        f"The reported number is the {measure(data).name} of all held-out scores of a repeat,"
        f" averaged over repeats; its 95% confidence interval (CI) accounts for the overlap"
        " of training sets (Nadeau and Bengio 2003) and for the finite number of test samples."
        + (AUC_SENTENCES if data["study"]["classes"] else ""),
        _probability_sentence(data),
    ]


def _probability_sentence(data: Prediction) -> str:
    """Return how scores became probabilities; "" without classes."""
    if not data["study"]["classes"]:
        return ""
    target_shares = data["config"]["probabilities"]
    shares_text = (
        target_shares if isinstance(target_shares, str) else ", ".join(map(percent, target_shares))
    )
    shares = {"study": "those of this study", "equal": "equal"}.get(shares_text, shares_text)
    return (
        "Probabilities came from the scores by logistic regression with one slope, not negative,"
        " fitted in each training set to the scores of left-out samples, with settings chosen"
        " without their fold. The slope b, of standard error s, was multiplied by"
        f" max(0, 1 − {significant(PENALTY)} s²/b²) against overfitting (Copas 1983)."
        f" The shares of the classes were taken to be {shares}."
    )


def _repeats_text(repeats: int) -> str:
    """Return the number of repeats, if there are several."""
    return f", repeated {repeats} times" if repeats > 1 else ""


def selection_sentences(data: Prediction) -> list[str]:
    """Return how genes were selected, and how the model was chosen."""
    linear = data["config"]["linear"]
    last_mu = len(data["mu"]) - 1
    lam = data["config"]["linear"]["lam"]
    return [
        "Genes were selected by the two-stage l1-l2 protocol (De Mol et al. 2009; Mosci 2009):"
        f" {LOSS_OF_KIND[data['study']['task']]} + μ‖β‖² + τ‖β‖₁ selects, and ridge regression on"
        " the selected genes predicts." + _prior_weights_sentence(data),
        f"In stage I, with {_searched_mu_text(data)}, {linear['tau_count']} values of τ down to"
        f" {significant(linear['tau_min'])} τ max and {counted(len(lam), 'value')} of λ"
        f" ({power(min(lam))} to {power(max(lam))}) were compared by"
        f" {CRITERION_WORDS.get(linear['criterion'], clean(linear['criterion']))} over the inner"
        f" folds; {_choice_rule_text(data)}.",
        "Scores were cut halfway between the mean out-of-fold scores of the two classes."
        if linear["threshold"] == "midpoint" and two_classes(data["study"])
        else _several_classes_sentence(data),
        "Stage II kept τ and λ and let μ grow"
        f" to {power(data['mu'][last_mu])} (in units of ‖XᵀX‖/n), which adds genes that are"
        " correlated with those already selected."
        if last_mu
        else "",
        f"Problems were solved by {SOLVER_WORDS.get(linear['solver'], clean(linear['solver']))}."
        if linear["penalty"] == "l1"
        else "",
    ]


def _prior_weights_sentence(data: Prediction) -> str:
    """Return the note on prior weights of genes, if there are any."""
    column = data["config"]["data"]["prior_weights"]
    return (
        f" The term of each gene in ‖β‖₁ has its prior weight (column {clean(column)} of the gene"
        " table)."
        if column
        else ""
    )


def _searched_mu_text(data: Prediction) -> str:
    """Return the values of mu that were searched."""
    grid = data["surface"]
    if grid["along"] == "mu":
        return f"μ of {', '.join(map(power, grid['rows']))}"
    return f"μ = {power(data['mu'][0])}"


def _choice_rule_text(data: Prediction) -> str:
    """Return the rule that chose among lists."""
    linear = data["config"]["linear"]
    if linear["list"] == "stable":
        return (
            "among the lists of at most"
            f" {counted(data['config']['signature']['most'], 'gene')} whose error was within one"
            " standard error of the smallest, the one on which the inner folds agreed most was"
            " taken (index of Nogueira et al. 2018)"
        )
    if linear["one_standard_error"]:
        return "the largest τ within one standard error of the smallest error was taken"
    return "ties went to the fewest genes, then to the strongest ridge"


def permutation_sentences(data: Prediction) -> list[str]:
    """Return how labels were permuted, and the definition of p."""
    permutations = len(data["null"]["errors"])
    if not permutations:
        return []
    quantity = "gain over the covariates" if covariate_names(data) else "error"
    return [
        f"The whole analysis was repeated {counted(permutations, 'time')} with the labels"
        f" {permuted_words(data)}; p = (1 + number of permutations with an error as small)/(number"
        " of permutations + 1) (Phipson and Smyth 2010). The conclusion is 'better than chance' if"
        f" p ≤ {LEVEL:g} and the 95% confidence interval of the {quantity} excludes"
        f" {'0' if covariate_names(data) else 'chance'}, and 'inconclusive' if p alone is small."
    ]


def other_methods_sentences(data: Prediction) -> list[str]:
    """Return the software of the other methods."""
    versions = data["run"]["versions"]
    if not versions:
        return []
    names = [name for name in ("genesig", "python", "scikit-learn") if name in versions]
    software = ", ".join(f"{name} {clean(versions[name])}" for name in names)
    threshold_note = ", their scores cut by the same rule" if data["study"]["classes"] else ""
    return [
        f"Other methods were run on the same splits{threshold_note}. Software: {software}; run.json"
        " lists all versions."
    ]


def _several_classes_sentence(data: Prediction) -> str:
    """Return how several classes share one list; "" for a number."""
    if not data["study"]["classes"]:
        return ""
    return (
        "All classes share one list: the response has a column for each class, over the square"
        " root of its share, β a row of weights for each gene, and ‖β‖₁ is the sum of their"
        " lengths. A sample is of the class whose mean out-of-fold score is nearest."
    )
