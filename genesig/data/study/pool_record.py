"""Records of several studies and of their joint matrix, and checks of their settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from genesig.arrays import Array
from genesig.data.files.delimited import Matrix, TextTable
from genesig.data.files.names import POOLED_STUDIES, Config, series_file
from genesig.data.steps.normalise import NORMALISERS
from genesig.data.study.label_rules import LABEL_RULES, SettingFaults, misplaced_words
from genesig.response.design import label_columns

if TYPE_CHECKING:
    import pandas as pd

STUDY_COLUMN = "study"  # column of the sample table that names each sample's study
WEIGHT_COLUMN = "study_weight"  # column with the weights by which every study counts alike

MIN_STUDIES = 2
KEYS_OF_ONE_STUDY = ("files", "missing", "prior_weights", "chromosome", "position", "omics")
"""Keys of the section ``data`` that speak of the columns or cells of one matrix."""
STUDY_SCHEME = "leave_one_study_out"
ADVICE_OF_SCHEME_KEY = {
    "scheme": "leave_one_batch_out, for the batches of one",
    "inner_scheme": "stratified_kfold",
}
"""Key of the section ``splits`` -> scheme that one study can have in place of `STUDY_SCHEME`."""


@dataclass(frozen=True, eq=False)
class Member:
    """One of several studies, read."""

    name: str
    matrix_file: str  # file of the matrix
    # (n_samples, n_genes) float: values after the item's row-wise steps, one column a gene
    X: Array
    genes: tuple[str, ...]
    # sample table in the order of X, with labels in the words of the joint study
    table: pd.DataFrame
    table_file: str  # file of the sample table
    response_columns: tuple[str, ...]  # names of the response's columns in that file
    lines: tuple[int, ...]  # line of that file for each sample
    # labels that `data.classes` leaves out -> number of samples
    n_samples_of_other_word: dict[str, int]
    n_measured: int  # number of columns of the matrix, before probes of one gene are one
    dropped_samples: list[dict[str, str]]  # {kind, name, reason} of each sample left out
    files: tuple[str, ...]  # all files that were read

    def values_of(self, genes: Sequence[str]) -> Array:
        """Return the values of these genes, which the study has: samples × genes."""
        column_of_gene = {gene: column for column, gene in enumerate(self.genes)}
        return self.X[:, [column_of_gene[gene] for gene in genes]]


@dataclass(frozen=True, eq=False)
class Pool:
    """Several studies as one matrix and one sample table."""

    matrix: Matrix  # samples in rows, common genes in columns
    table: TextTable  # sample table with the columns `STUDY_COLUMN` and `WEIGHT_COLUMN`
    # for each study its numbers of samples and genes, see `describe_gene_loss`
    gene_loss: list[dict[str, Any]]
    dropped: list[dict[str, str]]  # {kind, name, reason} of each sample left out
    files: list[str]  # all files that were read


def check_study_settings(config: Config) -> SettingFaults:
    """Yield settings that do not fit several studies, and settings that need several."""
    if not config.get("studies"):
        for key, alternative in ADVICE_OF_SCHEME_KEY.items():
            if config["splits"][key] == STUDY_SCHEME:
                message = (
                    f"'{STUDY_SCHEME}' needs several studies; list them under studies, or take "
                )
                yield f"splits.{key}", message + alternative
        return
    for key in ("expression", "samples"):
        if config[key] != POOLED_STUDIES:
            yield key, f"'{config[key]}' stands beside studies, each of which has its own; keep one"
    yield from _item_faults(config)
    yield from _data_faults(config)


def _item_faults(config: Config) -> SettingFaults:
    """Yield the faults of the items of ``studies``."""
    names: list[str] = []
    if len(config["studies"]) < MIN_STUDIES:
        message = (
            "there is one study; name another one, or write its expression and samples instead"
        )
        yield "studies", message
    for number, item in enumerate(config["studies"], 1):
        item_setting = f"studies, item {number}"
        if item["name"].lower() in names:
            yield (
                f"{item_setting}, name",
                f"'{item['name']}' is already taken; each study needs its own",
            )
        names.append(item["name"].lower())
        if item["geo"] is not None and item["expression"] != series_file(item["geo"]):
            message = f"names the matrix, and so does expression, {item['expression']}; keep one"
            yield f"{item_setting}, geo", message
        yield from _item_kind_faults(item, item_setting, config["data"]["task"])
        for step_number, step in enumerate(item["normalise"], 1):
            # Steps of the kind "sample" look at one sample at a time.
            if NORMALISERS[step["step"]].kind != "sample":
                message = (
                    f"'{step['step']}' learns from several samples; move it to normalise.folds"
                )
                yield f"{item_setting}, normalise, item {step_number}", message


def _item_kind_faults(item: Config, item_setting: str, task: str) -> SettingFaults:
    """Yield settings of an item that do not fit the kind of outcome.

    item_setting: ``"studies, item 2"``. task: a key of `LABEL_RULES`. Only the rules of survival
    have `label_columns`; a label of other kinds is one column.
    """
    rules = LABEL_RULES[task]
    yield from misplaced_words(item, item_setting, rules)
    if item["label"] is not None and len(label_columns(item["label"])) != max(
        1, len(rules.label_columns)
    ):
        columns = ", ".join(f"{key}: COLUMN" for key in rules.label_columns)
        remedy = f"write label: {{{columns}}}" if columns else "name one column"
        yield f"{item_setting}, label", f"does not fit data.task: {task}; {remedy}"


def _data_faults(config: Config) -> SettingFaults:
    """Yield settings of the section ``data`` that do not fit several studies."""
    data = config["data"]
    equal_weights = config["across"]["weights"] == "equal"
    if data["batch"] != STUDY_COLUMN:
        message = (
            f"'{data['batch']}': where there are several studies each is a batch; take it away"
        )
        yield "data.batch", message
    if equal_weights and data["weights"] != WEIGHT_COLUMN:
        yield "data.weights", "stands beside across.weights: equal; set that one to samples"
    for key in KEYS_OF_ONE_STUDY:
        if data[key]:
            yield f"data.{key}", "is not offered where there are several studies; take it away"
