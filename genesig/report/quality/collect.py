"""The part of report_data.json about the quality of the samples, from quality.json; a warning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from genesig.data.steps.scale import NEVER_LOGGED
from genesig.report.page.record import MAX_PLOTTED_SAMPLES, Study, evenly_spaced_rows
from genesig.report.page.words import clean, counted, percent, shorten

if TYPE_CHECKING:
    from genesig.results import Dataset


Band = list[float | None]  # values at 5, 25, 50, 75 and 95% of the genes of one sample


class ValueScale(TypedDict):
    """The values as read, and whether they look like logarithms."""

    p99: float | None  # 99th percentile
    max: float | None
    min: float | None
    raw: bool  # whether they look as if they were never logged
    counts: bool  # whether they look like counts
    log_step: str | None  # step that takes logarithms; None without one
    doubled: bool  # whether that step takes logarithms of logarithms


class StepGenes(TypedDict):
    """A step of normalisation."""

    step: str
    genes: int  # genes that it leaves


class SkippedColumn(TypedDict):
    """A column of the sample table that was not tested, with the reason."""

    column: str
    reason: str


class MissingByLabel(TypedDict):
    """Association of missing values with the label, from quality.json."""

    tested: int  # genes with missing values
    associated: int  # those of them that are associated at a false discovery rate of 5%
    examples: list[list[Any]]  # [gene, share of missing values in each class] of the first ones
    sample_p: float | None  # p of the share of missing values of a sample between classes
    class_share: list[float]  # share of missing values in each class


class MissingValues(TypedDict):
    """Numbers of missing values."""

    total: int
    genes: list[list[int]]  # [samples, number of genes that so many samples miss]
    worst: list[list[Any]]  # [gene, samples that miss it] of the genes with most of them
    omics: list[list[Any]]  # [omic, samples without it]
    label: MissingByLabel | None


class SampleDistributions(TypedDict):
    """Distributions of the samples before or after the steps."""

    genes: int
    compared: int  # genes in `rle`
    logarithm: bool  # whether the bands are of log2(1 + value)
    quantiles: list[Band]
    rle: list[Band]  # relative log expression


class OutlierSample(TypedDict):
    """A sample far from the others."""

    sample: str
    row: int  # row among the samples of the page
    rules: list[str]  # keys of `genesig.report.quality.section.RULE_WORDS`


class SampleComponents(TypedDict):
    """Samples on principal components."""

    points: list[list[float]]  # (n_samples, at most 3)
    explained: list[float]  # share of the variance of every component
    scaled: bool  # whether genes were scaled


class AssociatedColumn(TypedDict):
    """A column of the sample table, and its association with each component."""

    column: str
    role: str  # label, batch, group, pair or ""
    kind: str  # classes or number
    levels: int  # different values
    samples: int  # samples with a value
    within_label: bool  # whether each of its values occurs with one label only
    share: list[float | None]  # share of each component that it explains
    adjusted: list[float | None]  # this share less the share by chance
    p: list[float | None]
    q: list[float]


class ColourColumn(TypedDict):
    """The column that colours the second plot of components."""

    column: str
    kind: str
    values: list[str]  # of each sample, as text


class DominantColumn(TypedDict):
    """A column that explains more of the first component than the label does."""

    column: str
    share: float  # share of the component that the column explains, less chance
    label: float  # the same of the label
    explained: float  # share of the variance of the component


class StudyValues(TypedDict):
    """Scale and missing values of the matrix, and the genes after each step."""

    scale: ValueScale
    steps: list[StepGenes]
    genes: int  # before the steps
    missing: MissingValues


class QualitySamples(TypedDict):
    """The samples of the figures, ordered by batch and response, and their values."""

    samples: list[str]  # at most `MAX_PLOTTED_SAMPLES` of `total`, and every outlier
    total: int
    batch: str | None  # column of the batches
    batches: list[str] | None
    response: list[float]
    before: SampleDistributions
    after: SampleDistributions
    changed: bool  # whether steps lie between `before` and `after`
    kind: str | None  # of `size`: "library", "factor" or None
    size: list[float | None] | None  # library size or scaling factor of each sample
    detected: list[float | None] | None  # share of genes with a read
    top: list[float | None] | None  # share of the reads in the genes that have most of them
    missing_shares: list[float]  # share of missing values of each sample


class OutlierChecks(TypedDict):
    """Samples that are unlike the others, or that look like one specimen."""

    rules: dict[str, list[float | None]]  # by the name of a rule, the value of each sample
    outliers: list[OutlierSample]
    twins: list[list[str]]  # pairs of samples that look like one specimen


class ColumnAssociations(TypedDict):
    """Principal components and the columns of the sample table that go with them."""

    components: SampleComponents
    associations: list[AssociatedColumn]  # at most `MAX_COLUMNS`, the label first
    columns: int  # tested columns
    skipped: list[SkippedColumn]
    colour_column: ColourColumn | None
    dominant_column: DominantColumn | None


class QualityRecord(StudyValues, QualitySamples, OutlierChecks, ColumnAssociations):
    """Quality of the samples."""


class QualityStudy(Study):
    """The keys of report_data.json that this topic reads."""

    quality: QualityRecord


MAX_COLUMNS = 30  # columns of the sample table in the figure of associations
MIN_COLUMN_SHARE = 0.25  # share of a component, less chance, from which a column may dominate it
MIN_LEAD_OVER_LABEL = 0.1  # by how much this share must exceed the share of the label
MAX_ADJUSTED_P = 0.05  # q below which a column counts as associated with a component


def collect_quality(quality_json: Mapping[str, Any], dataset: Dataset) -> QualityRecord:
    """Return quality.json in the order of the figures, capped, with a column to colour by."""
    rows = _sample_order(quality_json, dataset)
    outliers = quality_json["outliers"]
    row_on_page = {row: position for position, row in enumerate(rows)}
    associations: list[AssociatedColumn] = sorted(
        quality_json["associations"], key=_association_order
    )
    return {
        "batch": quality_json["batch"],
        "scale": quality_json["scale"],
        "steps": quality_json["steps"],
        "genes": quality_json["genes"],
        "skipped": quality_json["skipped"],
        "missing": {key: quality_json["missing"][key] for key in MissingValues.__annotations__},  # type: ignore[typeddict-item]
        "kind": quality_json["size"]["kind"],
        "samples": [dataset.samples[row] for row in rows],
        "total": len(dataset.samples),
        "response": dataset.label_values()[rows].tolist(),
        "batches": None
        if quality_json["batch"] is None
        else _column_texts(dataset, quality_json["batch"], rows),
        "before": _distributions_of_rows(quality_json["before"], rows),
        "after": _distributions_of_rows(quality_json["after"], rows),
        "changed": bool(quality_json["steps"]),
        "size": _values_of_rows(quality_json["size"]["values"], rows),
        "detected": _values_of_rows(quality_json["size"]["detected"], rows),
        "top": _values_of_rows(quality_json["size"]["top"], rows),
        "rules": {
            rule["name"]: _values_of_rows(rule["values"], rows) for rule in outliers["rules"]
        },
        "missing_shares": _values_of_rows(quality_json["missing"]["samples"], rows),
        "outliers": [
            {
                "sample": outlier["sample"],
                "row": row_on_page[outlier["row"]],
                "rules": outlier["rules"],
            }
            for outlier in outliers["samples"]
        ],
        "twins": quality_json["twins"],
        "components": _components_of_rows(quality_json["components"], rows),
        "associations": associations[:MAX_COLUMNS],
        "columns": len(associations),
        "colour_column": _colour_column(associations, dataset, rows),
        "dominant_column": _dominant_column(quality_json),
    }


def _sample_order(quality_json: Mapping[str, Any], dataset: Dataset) -> list[int]:
    """Return the rows by batch and response: at most `MAX_PLOTTED_SAMPLES`, and every outlier."""
    batch = np.zeros(len(dataset.samples), dtype=int)
    if quality_json["batch"] is not None:
        names = dataset.obs[quality_json["batch"]].astype(str).to_numpy(dtype=object)
        batch = np.unique(names, return_inverse=True)[1]
    order: list[int] = np.lexsort((dataset.label_values(), batch)).tolist()
    shown_rows = {
        order[position] for position in evenly_spaced_rows(len(order), MAX_PLOTTED_SAMPLES)
    }
    shown_rows |= {outlier["row"] for outlier in quality_json["outliers"]["samples"]}
    return [row for row in order if row in shown_rows]


def _column_texts(dataset: Dataset, column: str, rows: Sequence[int]) -> list[str]:
    """Return the cells of a column of the sample table in these rows, as text."""
    values = dataset.obs[column].astype(str).to_list()
    return [values[row] for row in rows]


def _values_of_rows(values: Sequence[Any] | None, rows: Sequence[int]) -> Any:
    """Return the numbers, or bands, of the samples in these rows; None stays None."""
    return None if values is None else np.array(values, dtype=float)[rows].tolist()


def _distributions_of_rows(
    distributions: SampleDistributions, rows: Sequence[int]
) -> SampleDistributions:
    """Return the distributions of these rows."""
    return {
        "genes": distributions["genes"],
        "compared": distributions["compared"],
        "logarithm": distributions["logarithm"],
        "quantiles": _values_of_rows(distributions["quantiles"], rows),
        "rle": _values_of_rows(distributions["rle"], rows),
    }


def _components_of_rows(components: SampleComponents, rows: Sequence[int]) -> SampleComponents:
    """Return the samples in these rows on at most three components."""
    points = np.array(components["points"], dtype=float).reshape(len(components["points"]), -1)
    return {
        "points": points[rows, :3].tolist(),
        "explained": components["explained"],
        "scaled": components["scaled"],
    }


def _association_order(association: AssociatedColumn) -> tuple[bool, bool, float]:
    """Return the sort key: the label, the batch, then columns by the share they explain."""
    return (
        association["role"] != "label",
        association["role"] != "batch",
        -_largest_share(association),
    )


def _largest_share(association: AssociatedColumn) -> float:
    """Return the larger of the shares of the first two components that a column explains."""
    return max((value or 0.0 for value in association["adjusted"][:2]), default=0.0)


def _colour_column(
    associations: Sequence[AssociatedColumn], dataset: Dataset, rows: Sequence[int]
) -> ColourColumn | None:
    """Return the column to colour by beside the label: the batch, else the most associated one.

    associations: in `_association_order`.
    """
    for association in associations:
        if association["role"] != "label":
            return {
                "column": association["column"],
                "kind": association["kind"],
                "values": _column_texts(dataset, association["column"], rows),
            }
    return None


def _dominant_column(quality_json: Mapping[str, Any]) -> DominantColumn | None:
    """Return the column that explains the first component better than the label; None without.

    Patients and pairs are kept whole by the splits, and a column whose values each occur with one
    label only may be a finer label; neither is named, but a batch is.
    """
    associations: list[AssociatedColumn] = quality_json["associations"]
    label_shares = [_share_of_first(row) for row in associations if row["role"] == "label"]
    label_share = max(label_shares, default=0.0)  # of at most one column
    candidates = [
        association
        for association in associations
        if (
            association["role"] == "batch"
            or (association["role"] == "" and not association["within_label"])
        )
        and association["q"][0] < MAX_ADJUSTED_P
        and _share_of_first(association) >= max(MIN_COLUMN_SHARE, label_share + MIN_LEAD_OVER_LABEL)
    ]
    if not candidates:
        return None
    dominant = max(
        candidates,
        key=lambda association: (_share_of_first(association), association["role"] == "batch"),
    )
    return {
        "column": dominant["column"],
        "share": _share_of_first(dominant),
        "label": label_share,
        "explained": quality_json["components"]["explained"][0],
    }


def _share_of_first(association: AssociatedColumn) -> float:
    """Return the share of the first component that a column explains, less chance."""
    return association["adjusted"][0] or 0.0


def quality_warnings(data: QualityStudy, warning_codes: Sequence[str]) -> list[str]:
    """Return one sentence for the first screen if something is wrong, none otherwise.

    `warning_codes` are those of the validation: its warning about values without logarithms is not
    repeated.
    """
    record = data["quality"]
    clauses = [
        _outliers_clause(record["outliers"]),
        twins_clause(record["twins"]),
        _dominant_column_clause(record["dominant_column"], data["study"]["label"]),
    ]
    is_raw = record["scale"]["raw"] and record["scale"]["log_step"] is None
    if is_raw and record["after"]["logarithm"] and NEVER_LOGGED not in warning_codes:
        clauses.append("the values were never logged")
    text = "; ".join(warning for warning in clauses if warning)
    return [f"Quality of the samples: {text}."] if text else []


def _outliers_clause(outliers: Sequence[OutlierSample]) -> str:
    """Return a clause about samples far from the others; "" without any."""
    if not outliers:
        return ""
    names = ", ".join(shorten(outlier["sample"], 20) for outlier in outliers[:5])
    remainder = " …" if len(outliers) > 5 else ""
    is_single = len(outliers) == 1
    verb_phrase = f"{'lies' if is_single else 'lie'} far from the others"
    if all(outlier["rules"] == ["missing"] for outlier in outliers):
        verb_phrase = f"{'misses' if is_single else 'miss'} many more values than the others"
    return f"{counted(len(outliers), 'sample')} {verb_phrase} ({names}{remainder})"


def twins_clause(twins: Sequence[Sequence[str]]) -> str:
    """Return a clause about samples that look like one specimen; "" without any."""
    if not twins:
        return ""
    first_sample, second_sample = (shorten(name, 20) for name in twins[0])
    remainder = f" and {counted(len(twins) - 1, 'more pair')}" if len(twins) > 1 else ""
    return (
        f"{first_sample} and {second_sample}{remainder} look like one specimen measured twice, and"
        " may stand on both sides of a split"
    )


def _dominant_column_clause(column: DominantColumn | None, label: str) -> str:
    """Return a clause about the column that dominates the first component; "" without one."""
    if column is None:
        return ""
    return (
        f"{clean(column['column'])} explains {percent(column['share'])} of the largest source of"
        f" variation (PC1, {percent(column['explained'])} of variance), {clean(label)}"
        f" {percent(column['label'])}. Check that {clean(column['column'])} and sample handling"
        " are not confounded"
    )
