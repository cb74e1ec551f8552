"""What the Methods text says of the signature and of single genes."""

from __future__ import annotations

from genesig.report.genes.record import Genes
from genesig.report.page.words import clean, counted, decimal, enumerated, percent

TESTS = {
    "welch": "Welch t-test",
    "differences": "paired t-test",
    "anova": "Welch analysis of variance",
    "correlation": "test of the correlation",
    "linear": "linear model (least squares)",
    "score": "score test of Cox's model",
}
REFERENCES = (
    "Benjamini Y, Hochberg Y (1995). Controlling the false discovery rate. J R Stat Soc B 57.",
    "Nogueira S, Sechidis K, Brown G (2018). On the stability of feature selection algorithms."
    " J Mach Learn Res 18.",
    "Shah RD, Samworth RJ (2013). Variable selection with error control: another look at stability"
    " selection. J R Stat Soc B 75.",
)


def signature(data: Genes) -> list[str]:
    """Say what the signature holds, and how its stability was measured."""
    halves = data["design"]["subsamples"]
    measured = (
        " Stability (agreement beyond chance, after Nogueira et al. 2018) compares the lists of"
        f" the two disjoint halves of the samples in {halves // 2} halvings, each half with"
        " settings of its own choice, and is held against chance and against lasso lists of the"
        " same length from the same halves."
        if halves
        else ""
    )
    share = percent(data["config"]["signature"]["frequency"])
    what = (
        "The signature is the list of the final model, chosen in the same way on all samples;"
        f" genes selected in at least {share} of the outer training sets are core."
    )
    if data["answer"]["evidence"]:
        what = (
            "The signature is the genes of the predictive model, chosen in the same way on all"
            " samples, and the named ones."
        )
    return [
        f"{what}{measured} Each"
        " gene of the longer lists was assigned to the gene of the minimal list with which it"
        " correlates most, where |r| is at least"
        f" {decimal(data['config']['clusters']['least'])}."
    ]


def one_value(data: Genes) -> str:
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


def in_test(data: Genes) -> str:
    """Say that the batches and the covariates are in the test."""
    batch, fixed = data["univariate"]["batch"], data["univariate"].get("covariates", [])
    words = "" if batch is None else f", with {clean(batch)} as a factor in the model"
    return words + (f", adjusted for {enumerated(fixed)}" if fixed else "")


def tests(data: Genes) -> list[str]:
    """Say how single genes were tested."""
    return [
        f"Single genes were tested by a {TESTS[data['univariate']['test']]} on all"
        f" samples{one_value(data)}{in_test(data)}, at a false discovery rate of"
        f" {percent(data['config']['controls']['fdr'])} (Benjamini and Hochberg 1995)."
    ]
