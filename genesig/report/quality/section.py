"""The section about the quality of the samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from genesig.data.quality.overview import MIN_OUTLIER_SAMPLES as FEWEST
from genesig.data.quality.overview import N_TOP_GENES as TOP
from genesig.data.quality.samples import OUTLIER_MADS as FAR
from genesig.data.steps.scale import LOGGED_MAX, LOGGED_P99
from genesig.report.page.measure import class_number
from genesig.report.page.section import Facts, Fold, Item, Limits, Section
from genesig.report.page.tables import Column, Table, filled_table
from genesig.report.page.words import clean, counted, counts_by_kind, percent, shorten, significant
from genesig.report.quality import captions
from genesig.report.quality.captions import (
    SIZE_NAMES,
    missing_by_label_text,
    missing_omics_text,
    missing_text,
    modules_table,
    size_text,
)
from genesig.report.quality.collect import (
    DominantColumn,
    MissingValues,
    OutlierSample,
    QualityRecord,
    QualityStudy,
    twins_clause,
)

TOP_GENES_TEXT = f"of the reads lie in the {TOP} genes that have most of them"
MAX_MISSING_ROWS = 50  # rows of the table of missing values

# What each rule of quality.json looks at: in the table, and of a sample that is far off.
RULE_WORDS = {
    "rle_median": (Column("RLE median", "number", "Level beside the other samples"), "level"),
    "rle_iqr": (Column("RLE IQR", "number", "Spread beside the other samples"), "spread"),
    "distance": (
        Column("Distance", "number", "Mean distance to the three nearest samples"),
        "distance",
    ),
    "library": (Column("Million reads", "count", "Sum of the sample"), "number of reads"),
    "factor": (
        Column("Scaling factor", "count", "Brings the trimmed mean to that of the others"),
        "intensity",
    ),
    "missing": (Column("Missing", "share", "Share of its values"), "missing values"),
}


def quality_section(data: QualityStudy, limits: Limits) -> Section:
    """Return the section about the quality of the samples."""
    record = data["quality"]
    items: list[Item] = [
        Facts("quality", "Summary", _quality_facts(data)),
    ]
    items.append(captions.rle_picture(data))
    if record["missing"]["total"]:
        items.append(_missing_table(record["missing"]))
    if any(record["components"]["explained"]):
        items.append(captions.components_picture(data))
    if record["associations"]:
        items.append(captions.associations_picture(data))
    items += modules_table(data)
    items += [_samples_table(data, limits), Fold("How outlier samples are found", OUTLIER_RULES)]
    return Section(
        "quality",
        "Quality of the samples",
        _quality_sentences(data),
        items,
        part="patients",
        folded=True,
        pictures=[captions.distributions_picture(data)],
    )


def _quality_sentences(data: QualityStudy) -> list[str]:
    """Return the text above the figures."""
    record = data["quality"]
    outliers = [
        f"{clean(sample['sample'])} ({_outlier_reasons(sample)})"
        for sample in record["outliers"][:10]
    ]
    remainder = " …" if len(record["outliers"]) > 10 else ""
    advice = "They were kept: look at them" if len(outliers) > 1 else "It was kept: look at it"
    sentences = [
        f"Far from the other samples: {', '.join(outliers)}{remainder}. {advice}, and drop a sample"
        " from the sample table only for a reason that has nothing to do with the label."
        if outliers
        else "No sample lies far from the others."
    ]
    if record["twins"]:
        sentences.append(
            f"{twins_clause(record['twins'])}: a model that has seen the one knows the other, and"
            " the error is too small. If they are of one patient, name the patients as groups, or"
            " keep one sample of each."
        )
    if sample := record["follows"]:
        sentences.append(
            f"The strongest pattern in the data ({percent(sample['explained'])} of the variance)"
            f" follows {clean(sample['column'])} ({percent(sample['share'])} of it beyond chance),"
            f" not {clean(data['study']['label'])} ({percent(sample['label'])})."
            f" {_batch_advice(data, sample)}"
        )
    sentences.append(
        "These quality checks use all samples and do not influence the model."
        f" {_analysed_sentence(record)}"
    )
    return sentences


def _batch_advice(data: QualityStudy, column: DominantColumn) -> str:
    """Return the advice on a column that dominates the first component."""
    if column["column"] == data["quality"]["batch"]:
        if data["design"]["scheme"] in ("leave_one_batch_out", "leave_one_study_out"):
            return "A batch that is left out cannot be brought to the level of the others."
        return "The step combat would bring its batches to one level."
    name = clean(column["column"])
    return f"Check whether {name} and sample handling coincide; if they do, name it as the batch."


def _outlier_reasons(outlier: OutlierSample) -> str:
    """Return the properties in which a sample is far from the others."""
    return ", ".join(RULE_WORDS[name][1] for name in outlier["rules"])


def _analysed_sentence(record: QualityRecord) -> str:
    """Return the meaning of "as analysed"."""
    if not record["changed"]:
        return (
            "The plots show the values as read, before genes are centred and scaled within each"
            " training set."
        )
    steps = ", ".join(clean(step["step"]) for step in record["steps"])
    return (
        f"As analysed means after {steps}. Steps that learn from the samples are shown as fitted"
        " on all of them, as for the final model; for the error each training set has its own."
        " Centring and scaling of the genes are left out."
    )


def _quality_facts(data: QualityStudy) -> list[tuple[str, str]]:
    """Return (name, text) of each fact."""
    record = data["quality"]
    pairs = [
        ("Scale of the values", _scale_text(record)),
        ("Genes", _genes_text(record)),
        (
            "Left out before",
            f"{counts_by_kind(data['study']['dropped'])}{_dropped_note(data)}",
        ),
        ("Missing values", missing_text(record)),
        ("Samples without an omic", missing_omics_text(record)),
        (f"Missing by {shorten(data['study']['label'], 30)}", missing_by_label_text(data)),
        (SIZE_NAMES[record["kind"]], size_text(record)) if record["kind"] else ("", ""),
        ("Composition", _composition_text(record)),
        ("Far from the others", _outliers_text(record)),
        ("Columns not tested", _skipped_text(record)),
    ]
    return [(name, value) for name, value in pairs if value]


def _dropped_note(data: QualityStudy) -> str:
    """Return where left-out samples and genes are listed."""
    return ", listed under Data and design" if data["study"]["dropped"] else ""


def _scale_text(record: QualityRecord) -> str:
    """Return whether the values look like logarithms, with the evidence."""
    scale = record["scale"]
    evidence = (
        f"99th percentile {significant(scale['p99'], 4)}, maximum {significant(scale['max'], 4)};"
        f" log values stay below {LOGGED_P99:g} and {LOGGED_MAX:g}"
    )
    log_step = clean(scale["log_step"] or "")
    if scale["doubled"]:
        return f"look log-transformed already ({evidence}), yet {log_step} transforms them again"
    if not scale["raw"]:
        return f"already log-transformed ({evidence})"
    kind = "counts, not log-transformed" if scale["counts"] else "not log-transformed"
    return f"{kind} ({evidence}); {log_step or 'no step'} transforms them"


def _genes_text(record: QualityRecord) -> str:
    """Return the number of genes after each step."""
    n_left = record["genes"]
    texts = [f"{counted(record['genes'], 'gene')} read"]
    for step in record["steps"]:
        if step["genes"] != n_left:
            n_left = step["genes"]
            texts.append(f"{counted(n_left, 'gene')} after {clean(step['step'])}")
    fitted_note = ", as fitted on all samples" if len(texts) > 1 else ""
    return ", ".join(texts) + fitted_note


def _composition_text(record: QualityRecord) -> str:
    """Return how the samples differ in the genes that have their reads."""
    shares = {"of the genes have reads": record["detected"], TOP_GENES_TEXT: record["top"]}
    texts = []
    for description, values in shares.items():
        defined = [value for value in values or [] if value is not None]
        if defined:
            low = percent(min(defined))
            high = percent(max(defined))
            texts.append(f"{low if low == high else f'{low} to {high}'} {description}")
    return "; ".join(texts)


def _outliers_text(record: QualityRecord) -> str:
    """Return the number of samples far from the others."""
    if record["total"] < FEWEST:
        return f"not looked for: {counted(record['total'], 'sample')}, {FEWEST} are needed"
    return counted(len(record["outliers"]), "sample") if record["outliers"] else "no sample"


# The rules of genesig.data.quality in words; how often they err is measured in its tests.
OUTLIER_RULES = f"""\
More than {FAR:g} scaled median absolute deviations from the median of all samples, and at least:

RLE median: half of the usual RLE IQR
RLE IQR: 25% above the median
distance: 50% above the median
library size, scaling factor: 50% above or below
missing values: 5 percentage points above

The rule flags about 1 in 100 of 10 sound samples, under 1 in 1,000 of 40. It excludes none.
"""


def _skipped_text(record: QualityRecord) -> str:
    """Return the columns that were not tested, by reason."""
    reasons: dict[str, list[str]] = {}
    for skipped in record["skipped"]:
        reasons.setdefault(skipped["reason"], []).append(shorten(skipped["column"], 30))
    return "; ".join(f"{_first_names(names, 8)} ({reason})" for reason, names in reasons.items())


def _first_names(names: list[str], max_names: int) -> str:
    """Return the first names and the number of the others."""
    remainder = f" and {len(names) - max_names} more" if len(names) > max_names else ""
    return ", ".join(names[:max_names]) + remainder


def _missing_table(missing: MissingValues) -> Table:
    """Return the number of genes by the number of samples that miss them."""
    columns = [
        Column("Samples that miss it", "integer"),
        Column("Genes", "integer"),
        Column("Such as", "text"),
    ]
    rows = [
        (n_samples, genes, _example_genes(missing["worst"], n_samples))
        for n_samples, genes in sorted(missing["genes"], reverse=True)
    ]
    return filled_table(
        "missing-genes", "Genes by missing values.", columns, rows, MAX_MISSING_ROWS
    )


def _example_genes(worst: list[list[Any]], n_samples: int) -> str | None:
    """Return genes that so many samples miss."""
    names = [clean(gene) for gene, n_missing in worst if n_missing == n_samples]
    return _first_names(names, 5) if names else None


def _samples_table(data: QualityStudy, limits: Limits) -> Table:
    """Return the quality metrics of each sample, outliers first."""
    record = data["quality"]
    columns = _sample_columns(data)
    reasons_of_row = {outlier["row"]: _outlier_reasons(outlier) for outlier in record["outliers"]}
    columns.append(
        (
            Column("Outlier in", "text"),
            [reasons_of_row.get(row) for row in range(len(record["samples"]))],
        )
    )
    order = sorted(range(len(record["samples"])), key=lambda row: row not in reasons_of_row)
    rows = [[values[row] for _, values in columns] for row in order]
    caption = f"Sample quality metrics; {'outliers first' if reasons_of_row else 'no outliers'}."
    caption += " All values are in quality.json."
    headings = [heading for heading, _ in columns]
    return filled_table(
        "quality-samples",
        caption,
        headings,
        rows,
        limits.table_rows,
        total=record["total"],
        search=True,
    )


def _sample_columns(data: QualityStudy) -> list[tuple[Column, Sequence[Any]]]:
    """Return each heading with its values, one per sample."""
    record = data["quality"]
    label_column = Column(shorten(data["study"]["label"], 30), _label_kind(data))
    columns: list[tuple[Column, Sequence[Any]]] = [
        (Column("Sample", "name"), record["samples"]),
        (label_column, [_label_value(data, row) for row in range(len(record["samples"]))]),
    ]
    if record["batches"] is not None:
        columns.append((Column(shorten(record["batch"], 30), "text"), record["batches"]))
    for name, values in record["rules"].items():
        if name != "missing" or record["missing"]["total"]:
            columns.append(
                (RULE_WORDS[name][0], [_round_difference(value, name) for value in values])
            )
    if record["detected"] is not None:
        columns.append((Column("Genes with reads", "share"), record["detected"]))
    if record["top"] is not None:
        columns.append(
            (
                Column(
                    f"In {TOP} genes",
                    "share",
                    f"Share of the reads that the {TOP} largest genes have",
                ),
                record["top"],
            )
        )
    return columns


def _round_difference(value: float | None, rule: str) -> float | None:
    """Return differences rounded to two decimals; smaller ones do not matter."""
    return value if value is None or not rule.startswith("rle") else round(value, 2) + 0.0


def _label_kind(data: QualityStudy) -> str:
    """Return the format of the label column."""
    return "text" if data["study"]["classes"] else "signed"


def _label_value(data: QualityStudy, row: int) -> str | float:
    """Return class or number of a sample."""
    value = data["quality"]["response"][row]
    classes = data["study"]["classes"]
    return classes[class_number(value, classes)] if classes else value
