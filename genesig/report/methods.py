"""The Methods paragraph, written from the resolved config and what was measured."""

from __future__ import annotations

from typing import Any

from genesig.report.data.batches import batch_fact
from genesig.report.external.methods import external_references, external_sentences
from genesig.report.nonlinear import methods as methods_nonlinear
from genesig.report.page.measure import measure
from genesig.report.page.shuffling import shuffled
from genesig.report.page.style import power
from genesig.report.page.words import by_kind, clean, counted, percent, significant
from genesig.selection.assess.assessment import HEADLINES

Data = dict[str, Any]

STEPS = {
    "log2": "values were cut to [{floor}, {ceiling}] and log2-transformed",
    "standardise_samples": "each sample was standardised over its genes",
    "rank_samples": "values were replaced by their ranks within the sample",
    "log_cpm": "counts became log2 of counts per million, {prior} added",
    "rma_background": "the background of each array was taken off as in RMA",
    "knn_impute": "missing values became the mean of the {neighbours} nearest genes",
    "quantile": "each sample was given the mean distribution of the training samples",
    "median_polish": "probes were summed up to probe sets by median polish as in RMA, the probes'"
    " effects those of the training samples",
    "collapse": "of the columns of one gene one value was kept (rule {rule})",
    "combat": "batches were brought to one mean and one spread of each gene by ComBat (Johnson et"
    " al. 2007, Biostatistics 8:118), without the label in its design (covariates: {covariates})",
    "detection_filter": "genes above {above} in a share of {samples} of the training samples were"
    " kept",
    "variance_filter": "the {keep} share of genes with the largest variance was kept",
    "fold_filter": "genes with a max/min ratio above {above} were kept",
    "range_filter": "genes with a range above {above} were kept",
    "centre": "genes were centred",
    "unit_variance": "genes were scaled to unit variance",
}
SCHEMES = {
    "stratified_kfold": "stratified {folds}-fold cross-validation{repeated}",
    "leave_one_out": "leave-one-out cross-validation",
    "leave_one_group_out": "leave-one-group-out cross-validation",
    "leave_one_batch_out": "leave-one-batch-out cross-validation",
    "stratified_group_kfold": "stratified group {folds}-fold cross-validation{repeated}, groups"
    " kept whole",
    "predefined": "the division into training and test samples that the sample table gives",
}
SOLVERS = {
    "landweber-newton": "an exact active-set Newton solver, certified by the duality gap",
    "landweber-nested": "the accelerated damped Landweber iteration of Mosci (2009, Algorithm 2)",
    "landweber": "the damped Landweber iteration of Mosci (2009, Algorithm 1)",
}
CRITERIA = {
    "squared_error": "squared error",
    "balanced_error": "class-balanced error",
    "misclassification": "misclassification",
    "log_loss": "logistic loss",
}
TESTS = {
    "welch": "Welch t-test",
    "differences": "paired t-test",
    "correlation": "test of the correlation",
}
REFERENCES = (
    "Benjamini Y, Hochberg Y (1995). Controlling the false discovery rate. J R Stat Soc B 57.",
    "De Mol C, Mosci S, Traskine M, Verri A (2009). A regularized method for selecting nested"
    " groups of relevant genes from microarray data. J Comput Biol 16.",
    "Mosci S (2009). PhD thesis, University of Genoa: the two-stage protocol, nested lists and"
    " structured clustering.",
    "Nadeau C, Bengio Y (2003). Inference for the generalization error. Mach Learn 52.",
    "Nogueira S, Sechidis K, Brown G (2018). On the stability of feature selection algorithms."
    " J Mach Learn Res 18.",
    "Phipson B, Smyth GK (2010). Permutation p-values should never be zero. Stat Appl Genet Mol"
    " Biol 9.",
    "Varma S, Simon R (2006). Bias in error estimation when using cross-validation for model"
    " selection. BMC Bioinformatics 7.",
    "Zou H, Hastie T (2005). Regularization and variable selection via the elastic net. J R Stat"
    " Soc B 67.",
)


def methods(data: Data) -> list[str]:
    """Return the Methods text, one string per paragraph, ready to be copied and edited."""
    nonlinear = methods_nonlinear.nonlinear_sentences
    writers = (_samples, _normalisation, _assessment, _selection, _signature, nonlinear, _controls,
               external_sentences)  # fmt: skip
    found = [" ".join(text for text in writer(data) if text) for writer in writers]
    return [paragraph for paragraph in found if paragraph]


def references(data: Data) -> list[str]:
    """Return what the Methods text cites, in the order of the alphabet."""
    further = methods_nonlinear.REFERENCES if data["nonlinear"] else ()
    return sorted({*REFERENCES, *further, *external_references(data)})


def _samples(data: Data) -> list[str]:
    study = data["study"]
    text = f"Expression of {counted(study['genes'], 'gene')} in"
    if study["classes"] is None:
        text += f" {counted(study['samples'], 'sample')} was related to {clean(study['label'])}"
    else:
        sizes = (f"{clean(c)}, n = {n}" for c, n in _by_class(study))
        text += f" {counted(study['samples'], 'sample')} ({'; '.join(sizes)}) was compared"
    dropped = by_kind(study["dropped"])
    left_out = f" {dropped} left out (see Data)." if dropped else ""
    grouped = ""
    if study["group"]:
        grouped = f" Samples of one {clean(study['group'])} always stayed together."
    batches = f" They came from {batch_fact(data)}." if data["batch"] else ""
    return [text + "." + left_out + grouped + batches]


def _by_class(study: Data) -> list[tuple[str, int]]:
    return list(zip(study["classes"], study["counts"], strict=True))


def _normalisation(data: Data) -> list[str]:
    steps = data["config"]["normalise"]
    alone, learned = (_steps(steps[key]) for key in ("samples", "folds"))
    before = f"Before any division of the samples, {alone}." if alone else ""
    inside = (
        f"In every training set anew, and applied unchanged to its test samples, {learned}."
        if learned
        else ""
    )
    return [before, inside]


def _steps(steps: list[Data]) -> str:
    words = [
        STEPS.get(s["step"], clean(s["step"])).format(
            **{key: _setting(value) for key, value in s.items()})
        for s in steps
    ]  # fmt: skip
    text = ", then ".join(words)
    return text.replace(
        "genes were centred, then genes were scaled", "genes were centred and scaled"
    )


def _setting(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_setting, value)) or "none"
    return significant(value) if isinstance(value, int | float) else clean(str(value))


def _assessment(data: Data) -> list[str]:
    splits = data["config"]["splits"]
    scheme = data["design"]["scheme"]
    outer = SCHEMES.get(scheme, clean(scheme)).format(
        folds=splits["folds"], repeated=_repeated(splits["repeats"])
    )
    inner = SCHEMES.get(data["design"]["inner_scheme"], "").format(
        folds=splits["inner_folds"], repeated=""
    )
    return [
        f"Prediction error was estimated by double cross-validation: the outer loop was {outer}"
        f" ({counted(data['design']['outer'], 'split')}); inside each outer training set, {inner}"
        " chose the model, so that no test sample took part in any choice (Varma and Simon 2006).",
        f"The reported number is the {measure(data).name} of all held-out scores of a repeat,"
        f" averaged over repeats; its 95\u00a0% interval {_covers(data)}.",
    ]


def _covers(data: Data) -> str:
    """Say what the interval is about: see `genesig.selection.assess.assessment.assess`."""
    study, few = data["study"], HEADLINES[data["study"]["task"]].fewest
    apart = not study["group"] and data["design"]["scheme"] != "leave_one_batch_out"
    if data["design"]["outer"] < few and apart:
        return "is that of the mean over samples, taken as independent, the training sets as given"
    return (
        "covers the choice of training samples (Nadeau and Bengio 2003) and the number of test"
        " samples"
    )


def _repeated(times: int) -> str:
    return f", repeated {times} times" if times > 1 else ""


def _selection(data: Data) -> list[str]:
    linear, last = data["config"]["linear"], len(data["mu"]) - 1
    rule = (
        "the largest τ within one standard error of the smallest error was taken"
        if linear["one_standard_error"]
        else "ties went to the fewest genes, then to the strongest ridge"
    )
    lam = linear["lam"]
    return [
        "Genes were selected by the two-stage l1-l2 protocol (De Mol et al. 2009; Mosci 2009):"
        " (1/n)‖y − Xβ‖² + μ‖β‖² + τ‖β‖₁ selects, and ridge regression on the selected genes"
        " predicts.",
        f"In stage I, with μ = {power(data['mu'][0])}, {linear['tau_count']} values of τ down to"
        f" {significant(linear['tau_min'])} τ max and {counted(len(lam), 'value')} of λ"
        f" ({power(min(lam))} to {power(max(lam))}) were compared by"
        f" {CRITERIA.get(linear['criterion'], clean(linear['criterion']))} over the inner folds;"
        f" {rule}.",
        "Stage II kept them and let μ grow"
        f" to {power(data['mu'][last])} (in units of ‖XᵀX‖/n), which adds genes that are"
        " correlated with those already selected."
        if last
        else "",
        f"Problems were solved by {SOLVERS.get(linear['solver'], clean(linear['solver']))}.",
    ]


def _signature(data: Data) -> list[str]:
    share = percent(data["config"]["signature"]["frequency"])
    halves = data["design"]["subsamples"]
    measured = (
        f" Stability (Nogueira et al. 2018) was measured over {halves} halves of the samples,"
        " fitted with the parameters of the final model."
        if halves
        else ""
    )
    return [
        f"The signature holds the genes selected in at least {share} of the outer splits at μ ="
        f" {power(data['mu'][data['at']])}.{measured} Each gene of the longer lists was assigned"
        " to the gene of the minimal list with which it correlates most in absolute value."
    ]


def one_value(data: Data) -> str:
    """Say what was averaged before single genes were tested; nothing where samples count alone."""
    it, classes = data["univariate"], data["study"]["classes"]
    if it["group"] is None:
        return ""
    noun = f"{counted(it['values'], 'value')}: one per {clean(it['group'])}"
    if it["test"] == "differences":
        return f" ({noun}, the difference of its class means)"
    if classes:
        return f" ({noun} and class, the mean of its samples)"
    return f" ({noun}, the mean of its samples)"


def _controls(data: Data) -> list[str]:
    controls, permutations = data["config"]["controls"], len(data["null"]["errors"])
    null = (
        f"The whole double loop was repeated {counted(permutations, 'time')} with the labels"
        f" {shuffled(data)};"
        " p = (1 + number of permutations with an error as small)/(number of permutations + 1)"
        " (Phipson and Smyth 2010)."
        if permutations
        else ""
    )
    versions = data["run"].get("versions", {})
    named = ", ".join(f"{clean(name)} {clean(version)}" for name, version in versions.items())
    return [
        null,
        f"Single genes were tested by a {TESTS[data['univariate']['test']]} on all"
        f" samples{one_value(data)}, at a false discovery rate of {percent(controls['fdr'])}"
        " (Benjamini and Hochberg 1995).",
        f"Other predictors were run on the same splits. Software: {named}." if named else "",
    ]
