"""How to read the evidence of a gene, and what the Methods text says of it."""

from __future__ import annotations

from genesig.report.genes.record import Genes
from genesig.report.page.finding import Evidence
from genesig.report.page.measure import speaks_for
from genesig.report.page.rows import Row
from genesig.report.page.words import about_so_many, counted, percent, significant
from genesig.results.chance import FINAL, TRAINING
from genesig.selection.genes.evidence import LEVEL, LONGEST, LOOSE, MU, SHARE

REFERENCES = (
    "Meinshausen N, Bühlmann P (2010). Stability selection. J R Stat Soc B 72.",
    "Storey JD, Tibshirani R (2003). Statistical significance for genomewide studies. Proc Natl"
    " Acad Sci USA 100.",
    "Tusher VG, Tibshirani R, Chu G (2001). Significance analysis of microarrays applied to the"
    " ionizing radiation response. Proc Natl Acad Sci USA 98.",
)
LOGISTIC = (
    "Friedman J, Hastie T, Tibshirani R (2010). Regularization paths for generalized linear models"
    " via coordinate descent. J Stat Softw 33.",
)
"""Cited where a logistic model shares in the prediction."""


def committee(data: Genes) -> bool:
    """Whether the predictive model is an average with a logistic one."""
    classes, linear = data["study"]["classes"], data["config"]["linear"]
    return linear.get("model") == "committee" and classes is not None and len(classes) == 2


def references(data: Genes) -> tuple[str, ...]:
    """Return what is cited of evidence; nothing where none was looked for."""
    if data["answer"]["evidence"] is None:
        return ()
    return REFERENCES + LOGISTIC * committee(data)


def evidence_words(data: Genes, it: Evidence) -> list[str]:
    """Say how to read the two tables of genes."""
    fdr = significant(data["config"]["signature"]["fdr"], 2)
    named = "No gene is named here"
    if it["named"]:
        are = "gene is" if it["named"] == 1 else "genes are"
        named = f"{it['named']} {are} named here, of which {about_so_many(it['expected'])} expected"
        named += " to be there by chance"
    return [
        "Half-frequency: share of the halves of the samples whose list holds the gene. q: of the"
        " genes listed at least as often as this one, the share that chance is expected to give, by"
        f" permuted labels. A gene is named where q is at most {fdr} and there are more such genes"
        f" than permuted labels give. {named}. q speaks of a list, not of one gene: it says about"
        " how many of its genes are false, and not which.",
        f"{_others(it)} no evidence of their own: each may stand in for a correlated gene, or be"
        " there by chance. Treat them as candidates: look for them in another study before spending"
        f" on them. {speaks_for(data)}{_without(it)}. p of halves is"
        " that of one gene among thousands, so go by q. p alone and q alone test each gene by"
        " itself and were not used for selection.",
    ]


def _without(it: Evidence) -> str:
    return "; weight 0 marks a named gene that the model does without" if it["named"] else ""


def _others(it: Evidence) -> str:
    if it["named"]:
        return "Named genes stand first. The other genes of the predictive model have"
    return "The genes of the predictive model have"


def standing(row: Row) -> str:
    """Say what evidence a gene has."""
    said = (
        f"listed by {percent(row['half_frequency'])} of the halves"
        f" (chance {percent(row['chance'])}), q\u00a0{significant(row['q'], 2)}"
    )
    return f"named: {said}" if row["named"] else f"none of its own: {said}"


def sentences(data: Genes) -> list[str]:
    """Say how genes came to be named; nothing where no evidence was looked for."""
    if data["answer"]["evidence"] is None:
        return []
    wanted = data["config"]["signature"]
    permuted, halves = counted(wanted["permutations"], "permutation"), 2 * FINAL
    return [
        "Which genes can be named was asked of complementary pairs of halves of the samples"
        " (Meinshausen and Bühlmann 2010; Shah and Samworth 2013):"
        f" {FINAL} pairs, {halves} lists of the elastic net at"
        f" μ = {significant(MU)} ‖XᵀX‖/n, each the last of its path of at most {LONGEST} genes"
        f" (and {percent(SHARE)} of all). With F the number of lists that hold a gene, E(t) is the"
        f" number of genes with F ≥ t under {permuted} of the labels (one added to the sum and to"
        " the number of permutations), and R(t) that under the labels observed; q is the smallest"
        " E(t)/R(t) over t ≤ F, the plug-in estimate of the false discovery rate (Tusher et al."
        " 2001; Storey"
        " and Tibshirani 2003).",
        f"Genes with q ≤ {significant(wanted['fdr'], 2)} were named if their number exceeded that"
        " of permuted labels, each permutation judged by the E of the others, at"
        f" p ≤ {significant(LEVEL)}. In each training set {TRAINING} pairs gave the list in"
        " the same way, so that the error of models of named genes is a held-out one, too; where"
        f" fewer than {wanted['least']} genes passed, that model took the {wanted['least']} most"
        " frequent.",
        _predictive(data),
    ]


def _predictive(data: Genes) -> str:
    which, rate = data["config"]["linear"]["list"], data["config"]["signature"]["fdr"]
    said = {
        "best": "The predictive model of each training set has the list with the smaller error over"
        " the inner folds: that of the two-stage protocol, or the genes with"
        f" q ≤ {significant(LOOSE * rate, 2)}.",
        "controlled": "The predictive model is that of the named genes.",
    }.get(which, "The predictive model is that of the two-stage list.")
    if committee(data):
        said += (
            " Its scores were averaged with those of a logistic model with an l1 penalty (Friedman"
            " et al. 2010), weighted by Fisher's discriminant of their out-of-fold scores, with a"
            " ridge; the mean is again linear, and its genes are those of both."
        )
    return f"{said} A ridge refit gives the weights of every list."
