"""The sentences about enrichment in the Methods text."""

from __future__ import annotations

from genesig.report.enrichment.record import Enrichment
from genesig.report.page.words import counted
from genesig.selection.enrichment.ranking import SHUFFLINGS

REFERENCES = (
    "Subramanian A, Tamayo P, Mootha VK, et al. (2005). Gene set enrichment analysis: a"
    " knowledge-based approach for interpreting genome-wide expression profiles. Proc Natl Acad Sci"
    " USA 102.",
)


def enrichment_sentences(data: Enrichment) -> list[str]:
    """Return the sentences, none where no sets were named."""
    it = data["enrichment"]
    if it is None:
        return []
    chosen = (
        " Of the chosen lists of all splits, the share of each set was held against that in the"
        " lists of the permuted labels."
        if it["chosen"] is not None
        else ""
    )
    return [
        "Lists and blocks were tested for over-representation of"
        f" {counted(it['known'], 'gene set')} among the measured genes by the hypergeometric"
        f" distribution, with the false discovery rate of Benjamini and Hochberg for each list."
        f"{chosen}",
        "Genes ordered by t were tested by the running sum of Subramanian et al. (2005), with"
        f" p-values from {counted(SHUFFLINGS, 'permutation')} of the labels.",
    ]
