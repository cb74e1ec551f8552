"""The sentences about gene sets in the Methods text."""

from __future__ import annotations

from genesig.report.page.words import counted, significant
from genesig.report.sets.record import Sets, Settings
from genesig.report.sets.section import which

REFERENCES = (
    "Jacob L, Obozinski G, Vert JP (2009). Group lasso with overlap and graph lasso. International"
    " Conference on Machine Learning.",
)
WEIGHTS = {
    "permuted": "the 99\u00a0% quantile of the norm of its covariances with the response over 500"
    " permutations of the training labels",
    "size": "the square root of its size",
    "equal": "1",
}


def sets_sentences(data: Sets) -> list[str]:
    """Return the sentences, none where no sets were named."""
    if data["sets"] is None:
        return []
    it: Settings = data["config"]["structured"]
    rule = " within one standard error of the smallest" if it["one_standard_error"] else ""
    mu = ", ".join(map(significant, it["mu"]))
    return [
        f"Gene sets ({which(it)}; {counted(data['sets']['known'], 'set')}) were selected on the"
        " same splits by least squares under"
        " the latent group lasso with overlap (Jacob et al. 2009), each set weighed by"
        f" {WEIGHTS[it['weights']]}, plus μ times the squared norm of its coefficients"
        f" (μ = {mu} ‖X'X‖/n).",
        f"The inner folds chose among {counted(it['tau_count'], 'value')} of τ down to"
        f" {significant(it['tau_min'])} τ max by squared error{rule}; solutions are certified by"
        " their duality gap over all sets.",
    ]
