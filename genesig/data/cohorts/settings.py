"""Settings of one external cohort: an item of the config's section ``external``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from genesig.response.design import Label


@dataclass(frozen=True)
class CohortSettings:
    """One item of the section ``external``; fields have the names of its keys."""

    name: str
    expression: str
    samples: str | None
    """None is the file of the matrix."""
    label: Label | None
    """None is the label of the study."""
    event: str | None
    """Word of the event; None is that of the study."""
    classes: Mapping[Any, str]
    """Word of the sample table -> class of the study; words that are classes need no entry."""
    annotation: str | None
    """Gene table."""
    symbol: str | None
    """Column of the gene table with the study's gene ids; None is the column after the ids."""
    part: str | None
    """Matrix of a file that holds several."""
    batch: str | None
    """Column of batches; None is one batch."""
    covariate_words: Mapping[str, Mapping[Any, str]]
    """Column -> word of the sample table -> word of the study."""
    renamed: str | None
    """HGNC's table of symbols, by which genes are renamed; None renames none."""
    combat: bool
    """Whether each batch is brought to mean and spread of the training set."""
    missing: float
    """Largest share of the needed genes that may be imputed."""
    group: str | None
    """Column of samples that are not independent, such as of one patient; None is the study's, if
    the sample table has it."""
    sample_names: str | None = None
    """Column of the sample table with the names of the matrix; None looks for it."""
    unlabelled: str = "refuse"
    """Samples without a label, if they are many or of one kind: "refuse" or "leave_out" them."""

    @property
    def sample_file(self) -> str:
        """File of the sample table."""
        return self.expression if self.samples is None else self.samples
