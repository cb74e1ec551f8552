"""Settings by which a study is read: records made from the resolved config.

Fields have the names of the config's keys, see `workflow/schemas/config.schema.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from genesig.data.files.names import Config
from genesig.response.design import Label, label_columns, time_columns

READ_KEYS = ("expression", "samples", "label", "studies", "across", "data")
"""Keys of the config that `StudySettings` is made from."""
Record = TypeVar("Record")


@dataclass(frozen=True)
class FileSettings:
    """Files of a study, and how they are read."""

    expression: str
    samples: str  # may be the file of the matrix, if its format describes samples, too
    annotation: str | None  # gene table
    part: str | None  # matrix of a file that holds several: platform, layer, object
    # column of the sample table with each sample's file in the folder `expression`
    files: str | None
    # whether blank and NA cells are NaN, for a step that imputes them; otherwise errors
    missing: bool
    # kinds of rows that are no genes and are used, see `files.non_gene_kinds`
    keep: Sequence[str] = ()
    # column of the sample table with the names of the matrix; None looks for it
    sample_names: str | None = None


@dataclass(frozen=True)
class OutcomeSettings:
    """The outcome that is predicted."""

    label: Label  # column of the sample table; of survival, those of `time` and `event`
    task: str  # a key of `RESPONSES`
    # Negative and positive class; other classes are left out. None takes all classes.
    classes: Sequence[str] | None
    event: str | None  # word of the event; None is 1
    horizon: float | None  # time at which risks are predicted; None is the median time
    ties: str  # how tied events enter the partial likelihood, "breslow" or "efron"
    # samples without a label, if they are many or of one kind: "refuse" or "leave_out" them
    unlabelled: str = "refuse"

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the response in the sample table; the first one is the label."""
        return tuple(label_columns(self.label))

    @property
    def time_columns(self) -> tuple[str, ...]:
        """Columns of times; the first one that a sample has counts. Empty without times."""
        return tuple(time_columns(self.label))


@dataclass(frozen=True)
class GroupSettings:
    """Columns of the sample table that group samples."""

    group: str | None  # samples that belong together
    pair: str | None  # matched pairs, which are groups, too
    batch: str | None  # samples that were processed together
    # largest association of batch and label that is accepted, see `association_with_label`
    confounding: float


@dataclass(frozen=True)
class AdjustmentSettings:
    """Covariates that every model is adjusted for, and sample weights."""

    covariates: Sequence[str]
    # column -> word of the sample table -> its meaning
    covariate_words: Mapping[str, Mapping[Any, str]]
    missing_covariates: str  # blank cells: "refuse" them, or impute the "mean"
    covariate_shape: str  # how numbers enter: as "splines" or "linear"
    weights: str | None  # `balanced`, or a column of weights
    categorical_covariates: Sequence[str] = ()  # covariates whose numbers are names


@dataclass(frozen=True)
class GeneSettings:
    """Columns of the gene table."""

    symbol: str | None  # None is the column after the ids
    prior_weights: str | None  # column of the weight of each gene's l1 penalty
    # factor of the l1 penalty of each omic; "learned"; None for one matrix
    omics: Mapping[str, float] | str | None
    omic: str | None  # omic of each gene; None takes the part of its id before a colon
    chromosome: str | None
    position: str | None  # bases from the start of the chromosome


@dataclass(frozen=True)
class StudySettings:
    """All settings by which a study is read."""

    files: FileSettings
    outcome: OutcomeSettings
    groups: GroupSettings
    adjustment: AdjustmentSettings
    genes: GeneSettings
    # items of several studies, which replace the files; empty for one study
    studies: Sequence[Config] = ()
    # rule that chooses a probe for each gene, see `collapse_to_genes`; for several studies
    probes: str = ""
    align: str = ""  # alignment of the studies, ``across.align``; for several studies

    @classmethod
    def from_config(cls, config: Config) -> StudySettings:
        """Return the settings of a resolved config, of which the keys `READ_KEYS` suffice."""
        values = {**config["data"]}
        values |= {key: config[key] for key in ("expression", "samples", "label")}
        studies = config.get("studies") or ()
        return cls(
            _from_values(FileSettings, values),
            _from_values(OutcomeSettings, values),
            _from_values(GroupSettings, values),
            _from_values(AdjustmentSettings, values),
            _from_values(GeneSettings, values),
            studies,
            config["across"]["probes"] if studies else "",
            config["across"]["align"] if studies else "",
        )


def _from_values(record: type[Record], values: Config) -> Record:
    """Return a record of the values that have the names of its fields; others have defaults."""
    names = [field.name for field in fields(record)]  # type: ignore[arg-type]
    return record(**{name: values[name] for name in names if name in values})


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
