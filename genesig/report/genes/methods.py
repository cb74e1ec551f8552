"""What the Methods text says of the signature and of single genes."""

from __future__ import annotations

from genesig.report.genes.record import Genes
from genesig.report.page.style import power
from genesig.report.page.words import clean, counted, percent

TESTS = {
    "welch": "Welch t-test",
    "differences": "paired t-test",
    "correlation": "test of the correlation",
}
REFERENCES = (
    "Benjamini Y, Hochberg Y (1995). Controlling the false discovery rate. J R Stat Soc B 57.",
    "Nogueira S, Sechidis K, Brown G (2018). On the stability of feature selection algorithms."
    " J Mach Learn Res 18.",
)


def signature(data: Genes) -> list[str]:
    """Say what the signature holds, and how its stability was measured."""
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


def tests(data: Genes) -> list[str]:
    """Say how single genes were tested."""
    return [
        f"Single genes were tested by a {TESTS[data['univariate']['test']]} on all"
        f" samples{one_value(data)}, at a false discovery rate of"
        f" {percent(data['config']['controls']['fdr'])} (Benjamini and Hochberg 1995)."
    ]
