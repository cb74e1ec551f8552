"""What the Methods text says of published signatures and random lists."""

from __future__ import annotations

from collections.abc import Iterator

from genesig.report.page.record import Study
from genesig.report.page.words import counted

REFERENCES = (
    "Venet D, Dumont JE, Detours V (2011). Most random gene expression signatures are significantly"
    " associated with breast cancer outcome. PLoS Comput Biol 7.",
)


def sentences(data: Study) -> Iterator[str]:
    """Say how they were refitted; nothing where no published signatures are named."""
    if "published" in data["tables"]:
        rows = data["tables"]["published"]["rows"]
        kinds = [row[0] for row in rows]
        yield (
            f"{counted(kinds.count('published'), 'published signature')} and"
            f" {counted(kinds.count('random'), 'random list')} of as many genes as the chosen list"
            " of each split (Venet et al. 2011) were refitted by ridge on the same training"
            " samples, the penalty by the same inner folds."
        )
