"""What the Methods text says of the modules of genes."""

from __future__ import annotations

from genesig.report.page.words import counted, significant
from genesig.report.quality.modules import by_module
from genesig.report.quality.record import Quality

REFERENCES = (
    "Zou H, Hastie T, Tibshirani R (2006). Sparse principal component analysis. J Comput Graph"
    " Stat 15.",
)


def module_sentences(data: Quality) -> list[str]:
    """Return what Methods says of them."""
    found = by_module(data)
    if not found:
        return []
    one = found[0][1][0]
    return [
        f"{counted(len(found), 'module')} of genes that vary together over all samples were found"
        " by sparse principal component analysis (Zou et al. 2006), without the label, at τ ="
        f" {significant(one['tau'])} τ max, the largest whose reconstruction of left-out samples"
        " was within one standard error of the best."
    ]
