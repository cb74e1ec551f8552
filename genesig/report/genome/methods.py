"""The sentences about the genome in the Methods text."""

from __future__ import annotations

from genesig.report.genome.record import Genome
from genesig.report.page.words import clean, significant

REFERENCES = (
    "Tibshirani R, Saunders M, Rosset S, Zhu J, Knight K (2005). Sparsity and smoothness via the"
    " fused lasso. J R Stat Soc B 67.",
)


def stretch_sentences(data: Genome) -> list[str]:
    """Say what the penalty of stretches is, where it was used."""
    linear, it = data["config"]["linear"], data["config"]["data"]
    if linear["penalty"] != "fused":
        return []
    return [
        "In the place of ‖β‖₁ stood the norm of the sparse fused lasso (Tibshirani et al. 2005),"
        f" Σ|βⱼ| + {significant(linear['jump'])} Σ|βⱼ₊₁ − βⱼ| along each chromosome, with β = 0"
        f" beyond its ends (columns {clean(it['chromosome'])} and {clean(it['position'])} of the"
        " gene table), so that neighbours are selected together; it was solved by proximal and"
        " Newton steps, certified by the duality gap."
    ]
