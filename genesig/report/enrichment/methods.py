"""The sentences about enrichment in the Methods text."""

from __future__ import annotations

from genesig.report.enrichment.record import Enrichment
from genesig.report.page.words import counted
from genesig.selection.enrichment.ranking import SHUFFLINGS

REFERENCES = (
    "Efron B, Tibshirani R (2007). On testing the significance of sets of genes. Ann Appl Stat 1.",
    "Westfall PH, Young SS (1993). Resampling-Based Multiple Testing. New York: Wiley.",
)


def enrichment_sentences(data: Enrichment) -> list[str]:
    """Return the sentences, none where no sets were named."""
    it = data["enrichment"]
    if it is None:
        return []
    said = [
        f"Of {counted(it['known'], 'gene set')}, the mean t of the genes that rise or of those that"
        " fall, whichever stands out more among all genes (Efron and Tibshirani 2007), was"
        f" standardised by {counted(SHUFFLINGS, 'permutation')} of the labels; p-values over"
        " all sets are from the largest of each permutation (Westfall and Young 1993)."
    ]
    if it["permutations"]:
        said.append(
            "Likewise the number of a set's genes in the chosen lists of all splits, standardised"
            " by that in a draw of as many genes, was held against the largest of all sets in the"
            f" lists of {counted(it['permutations'], 'permutation')}."
        )
    return said
