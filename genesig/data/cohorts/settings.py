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
    samples: str | None  # None is the file of the matrix
    label: Label | None  # None is the label of the study
    event: str | None  # word of the event; None is that of the study
    # word of the sample table -> class of the study; words that are classes need no entry
    classes: Mapping[Any, str]
    annotation: str | None  # gene table
    # column of the gene table with the study's gene ids; None is the column after the ids
    symbol: str | None
    part: str | None  # matrix of a file that holds several
    batch: str | None  # column of batches; None is one batch
    # column -> word of the sample table -> word of the study
    covariate_words: Mapping[str, Mapping[Any, str]]
    renamed: str | None  # HGNC's table of symbols, by which genes are renamed; None renames none
    combat: bool  # whether each batch is brought to mean and spread of the training set
    missing: float  # largest share of the needed genes that may be imputed
    # column of samples that are not independent, such as of one patient; None is the study's, if
    # the sample table has it
    group: str | None
    # column of the sample table with the names of the matrix; None looks for it
    sample_names: str | None = None
    # samples without a label, if they are many or of one kind: "refuse" or "leave_out" them
    unlabelled: str = "refuse"

    @property
    def sample_file(self) -> str:
        """File of the sample table."""
        return self.expression if self.samples is None else self.samples
