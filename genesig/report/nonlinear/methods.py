"""The sentences about nonlinear selection in the Methods text."""

from __future__ import annotations

from genesig.report.nonlinear.record import Nonlinear, Settings
from genesig.report.page.style import power
from genesig.report.page.words import clean, counted, significant

KERNELS = {
    "gaussian": "a Gaussian kernel (width {width} the median distance between training samples)",
    "polynomial": "a polynomial kernel of degree {degree}",
    "linear": "a linear kernel",
}
PENALTIES = {
    "lasso": "the norm of its partial derivative by each gene over the training samples",
    "group": "the norm of its partial derivatives by each {groups}",
    "elastic": "the norm of its partial derivative by each gene and the norm squared (elastic"
    " penalty, share {mu})",
}
REFERENCES = (
    "Gregorova M, Kalousis A, Marchand-Maillet S (2018). Structured nonlinear variable selection."
    " Uncertainty in Artificial Intelligence.",
    "Li F, Yang Y, Xing E (2006). From lasso regression to feature vector machine. Advances in"
    " Neural Information Processing Systems 18.",
    "Rosasco L, Santoro M, Mosci S, Verri A, Villa S (2010). A regularization approach to nonlinear"
    " variable selection. Artificial Intelligence and Statistics.",
    "Song L, Smola A, Gretton A, Bedo J, Borgwardt K (2012). Feature selection via dependence"
    " maximization. J Mach Learn Res 13.",
)


def nonlinear_sentences(data: Nonlinear) -> list[str]:
    """Return the sentences, none where nonlinear selection was not run."""
    if data["nonlinear"] is None:
        return []
    it: Settings = data["config"]["nonlinear"]
    return [_model(it), _screen(it), _choice(it), _control(it)]


def _model(it: Settings) -> str:
    width = " or ".join(map(significant, it["width"])) + " times"
    groups = "group of genes of a table" if it["groups"] else "block of correlated genes"
    kernel = KERNELS.get(it["kernel"], clean(it["kernel"]))
    penalty = PENALTIES.get(it["penalty"], clean(it["penalty"]))
    return (
        "For nonlinear selection on the same splits, the squared error of a function with"
        f" {kernel.format(width=width, degree=it['degree'])} was minimised under a penalty on"
        f" {penalty.format(groups=groups, mu=significant(it['mu']))} (Rosasco et al. 2010;"
        " Gregorova et al. 2018), plus ν times its squared norm; a gene is selected unless"
        " this derivative is zero at every training sample."
    )


def _screen(it: Settings) -> str:
    if it["genes"] is None:
        return "All genes took part."
    return (
        f"Each training set, also of the inner folds, kept its {counted(it['genes'], 'gene')} of"
        " largest dependence, measured by the Hilbert-Schmidt independence criterion between ranks"
        " and response (Song et al. 2012)."
    )


def _choice(it: Settings) -> str:
    what = "τ, ν and the width" if len(it["width"]) > 1 else "τ and ν"
    refit = (
        f"; kernel ridge regression on the selected genes, its weight chosen from"
        f" {counted(len(it['lam']), 'value')} ({power(min(it['lam']))} to {power(max(it['lam']))}),"
        " predicted"
        if it["debias"]
        else "; the penalised function itself predicted"
    )
    return (
        f"The inner folds chose {what} among {counted(it['tau_count'], 'value')} of τ down to"
        f" {significant(it['tau_min'])} τ max and ν ="
        f" {', '.join(map(significant, it['nu']))} (relative to mean diag K/n) by squared"
        f" error{refit}."
    )


def _control(it: Settings) -> str:
    if not it["fvm_genes"]:
        return ""
    return (
        f"As a control, up to {counted(max(it['fvm_genes']), 'gene')} were selected by the Feature"
        f" Vector Machine (Li et al. 2006; {it['fvm_bins']} bins of the ranks) from the same kept"
        " genes, followed by the same ridge."
    )
