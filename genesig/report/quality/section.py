"""The section about the quality of the samples: its figures, tables and words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Any, Literal, NamedTuple

from genesig.data.quality.missingness import MAX_SAMPLE_P
from genesig.data.quality.overview import MIN_OUTLIER_SAMPLES, N_TOP_GENES
from genesig.data.quality.samples import OUTLIER_MADS
from genesig.data.steps.scale import LOGGED_MAX, LOGGED_P99
from genesig.report.page.measure import class_number
from genesig.report.page.section import Facts, Fold, Item, Limits, Section
from genesig.report.page.svg import FigureColumns, Picture
from genesig.report.page.tables import (
    Column,
    Table,
    component_columns,
    filled_table,
    table_rows,
    transposed,
)
from genesig.report.page.wording import Wording
from genesig.report.page.words import clean, shorten
from genesig.report.quality import figures
from genesig.report.quality.collect import (
    MissingValues,
    OutlierSample,
    QualityRecord,
    QualityStudy,
    StepGenes,
    twins_clause,
)

MAX_MISSING_ROWS = 50  # rows of the table of missing values


class RuleWords(NamedTuple):
    """Words for a rule by which outliers are found."""

    column: Column  # of the table of samples
    outlier_property: str  # in which an outlier differs


# by the names of the rules in quality.json
RULE_WORDS = {
    "rle_median": RuleWords(
        Column("RLE median", "number", "Level beside the other samples"), "level"
    ),
    "rle_iqr": RuleWords(Column("RLE IQR", "number", "Spread beside the other samples"), "spread"),
    "distance": RuleWords(
        Column("Distance", "number", "Mean distance to the three nearest samples"),
        "distance",
    ),
    "library": RuleWords(Column("Million reads", "count", "Sum of the sample"), "number of reads"),
    "factor": RuleWords(
        Column("Scaling factor", "count", "Brings the trimmed mean to that of the others"),
        "intensity",
    ),
    "missing": RuleWords(Column("Missing", "share", "Share of its values"), "missing values"),
}


def quality_section(data: QualityStudy, limits: Limits) -> Section:
    """Return the section about the quality of the samples."""
    record = data["quality"]
    items: list[Item] = [Facts("quality", "Summary", _quality_facts(data)), rle_picture(data)]
    if record["missing"]["total"]:
        items.append(_missing_table(record["missing"]))
    if any(record["components"]["explained"]):
        items.append(components_picture(data))
    if record["associations"]:
        items.append(associations_picture(data))
    items += modules_table(data)
    items += [_samples_table(data, limits), Fold("How outlier samples are found", OUTLIER_RULES)]
    return Section(
        "quality",
        "Quality of the samples",
        WORDS.paragraphs("section", data, record),
        items,
        part="patients",
        folded=True,
        pictures=[distributions_picture(data)],
    )


def _outlier_reasons(outlier: OutlierSample) -> str:
    """Return the properties in which a sample is far from the others."""
    return ", ".join(RULE_WORDS[name].outlier_property for name in outlier["rules"])


def _quality_facts(data: QualityStudy) -> list[tuple[str, str]]:
    """Return (name, text) of each fact; facts without a text are left out."""
    record = data["quality"]
    study = data["study"]
    pairs = [
        ("Scale of the values", WORDS.text("scale", record["scale"])),
        ("Genes", WORDS.text("genes", record["genes"], _removing_steps(record))),
        ("Missing values", WORDS.text("missing", record)),
        ("Samples without an omic", WORDS.text("missing_omics", record)),
        (
            f"Missing by {shorten(study['label'], 30)}",
            WORDS.text("missing_by_label", record["missing"]["label"], study["classes"]),
        ),
        (SIZE_NAMES[record["kind"]], WORDS.text("size", record)) if record["kind"] else ("", ""),
        ("Composition", WORDS.text("composition", record)),
        ("Far from the others", WORDS.text("outliers", record)),
        ("Columns not tested", _skipped_text(record)),
    ]
    return [(name, value) for name, value in pairs if value]


# the rules of genesig.data.quality in words; its tests measure how often they flag sound samples
OUTLIER_RULES = f"""\
More than {OUTLIER_MADS:g} scaled median absolute deviations from the median of all \
samples, and at least:

RLE median: half the usual RLE IQR, above or below
RLE IQR: 25% above
distance: 50% above
library size, scaling factor: 50% above or below
missing values: 5 percentage points above

Of sound samples, about 1 in 100 is flagged among 10, under 1 in 1,000 among 40.
"""


def _skipped_text(record: QualityRecord) -> str:
    """Return the columns that were not tested, by reason."""
    reasons: dict[str, list[str]] = {}
    for skipped in record["skipped"]:
        reasons.setdefault(skipped["reason"], []).append(shorten(skipped["column"], 30))
    return "; ".join(f"{_first_names(names, 8)} ({reason})" for reason, names in reasons.items())


def _first_names(names: list[str], max_names: int) -> str:
    """Return ``"a, b and 3 more"``: the first names, and the number of the others."""
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
    """Return some genes that so many samples miss; None if they are not among the worst."""
    names = [clean(gene) for gene, n_missing in worst if n_missing == n_samples]
    return _first_names(names, 5) if names else None


def _samples_table(data: QualityStudy, limits: Limits) -> Table:
    """Return the quality metrics of each sample, outliers first."""
    record = data["quality"]
    columns = _sample_columns(data)
    reasons_of_row = {outlier["row"]: _outlier_reasons(outlier) for outlier in record["outliers"]}
    reasons = [reasons_of_row.get(row) for row in range(len(record["samples"]))]
    columns.append((Column("Outlier in", "text"), reasons))
    order = sorted(range(len(record["samples"])), key=lambda row: row not in reasons_of_row)
    rows = [[values[row] for _, values in columns] for row in order]
    caption = WORDS.text("samples_table", has_outliers=bool(reasons_of_row))
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
    label_format = "text" if data["study"]["classes"] else "signed"
    label_column = Column(shorten(data["study"]["label"], 30), label_format)
    columns: list[tuple[Column, Sequence[Any]]] = [
        (Column("Sample", "name"), record["samples"]),
        (label_column, [_label_value(data, row) for row in range(len(record["samples"]))]),
    ]
    if record["batches"] is not None:
        columns.append((Column(shorten(record["batch"], 30), "text"), record["batches"]))
    for name, values in record["rules"].items():
        if name != "missing" or record["missing"]["total"]:
            columns.append(
                (RULE_WORDS[name].column, [_round_difference(value, name) for value in values])
            )
    if record["detected"] is not None:
        columns.append((Column("Genes with reads", "share"), record["detected"]))
    if record["top"] is not None:
        meaning = f"Share of the reads that the {N_TOP_GENES} largest genes have"
        columns.append((Column(f"In {N_TOP_GENES} genes", "share", meaning), record["top"]))
    return columns


def _round_difference(value: float | None, rule: str) -> float | None:
    """Return a value of an RLE rule with two decimals, other values as they are."""
    if value is None or not rule.startswith("rle"):
        return value
    return round(value, 2) + 0.0  # 0.0 instead of -0.0


def _label_value(data: QualityStudy, row: int) -> str | float:
    """Return class or number of a sample."""
    value = data["quality"]["response"][row]
    classes = data["study"]["classes"]
    return classes[class_number(value, classes)] if classes else value


SIZE_NAMES = {"library": "Library sizes", "factor": "Scaling factors"}


def distributions_picture(data: QualityStudy) -> Picture:
    """Return the quantiles of each sample, as read and as analysed."""
    record = data["quality"]
    return Picture(
        "distributions",
        partial(figures.draw_distributions, data),
        data=_band_columns(data, "quantiles"),
        title="Distribution of each sample",
        description=WORDS.text("distributions_description", record),
        caption=WORDS.text("distributions", data, record),
    )


def _band_columns(data: QualityStudy, key: Literal["quantiles", "rle"]) -> FigureColumns:
    """Return the bands of each sample, as read and as analysed."""
    return transposed(
        ("values", "sample", "p5", "p25", "p50", "p75", "p95"),
        [
            (version, sample, *band)
            for version, distributions in figures.shown_distributions(data)
            for sample, band in zip(data["quality"]["samples"], distributions[key], strict=True)
        ],
    )


def rle_picture(data: QualityStudy) -> Picture:
    """Return the relative log expression of each sample, as read and as analysed."""
    record = data["quality"]
    return Picture(
        "relative_log_expression",
        partial(figures.draw_rle, data),
        data=_band_columns(data, "rle"),
        title="Relative log expression (RLE)",
        description=WORDS.text("rle_description", record),
        caption=WORDS.text("relative_log_expression", record),
    )


def components_picture(data: QualityStudy) -> Picture:
    """Return the samples on the first two principal components."""
    record = data["quality"]
    return Picture(
        "quality_components",
        partial(figures.draw_components, data),
        data=_component_columns(data),
        title="PCA of all genes",
        description=WORDS.text("components_description", data, record),
        caption=WORDS.text("components", data, record),
    )


def _component_columns(data: QualityStudy) -> FigureColumns:
    """Return the samples on the components, with label and colour column, as columns."""
    record = data["quality"]
    columns: dict[str, Sequence[Any]] = {
        "sample": record["samples"],
        "response": record["response"],
    }
    if record["colour_column"]:
        columns[record["colour_column"]["column"]] = record["colour_column"]["values"]
    return {**columns, **component_columns(record["components"]["points"])}


def associations_picture(data: QualityStudy) -> Picture:
    """Return the association of components with columns of the sample table."""
    record = data["quality"]
    return Picture(
        "associations",
        partial(figures.draw_associations, data),
        data=transposed(
            ("column", "component", "explained", "q"),
            [
                (association["column"], component, share, q)
                for association in record["associations"]
                for component, (share, q) in enumerate(
                    zip(association["share"], association["q"], strict=True), start=1
                )
            ],
        ),
        title="Association of principal components with sample variables",
        description=WORDS.text("associations_description", record),
        caption=WORDS.text("associations", data, record),
    )


MAX_MODULE_GENES = 12  # genes of a module that the table names
MODULE_COLUMNS = (
    Column("Module", "integer"),
    Column("Genes", "integer"),
    Column("Variance", "share", "Of all genes, added to that of the modules before"),
    Column("Genes with the largest loadings", "text", "− where a gene falls as the others rise"),
)


def modules_table(data: QualityStudy) -> list[Item]:
    """Return the modules as a table; [] if there are none."""
    numbered_modules = genes_by_module(data)
    if not numbered_modules:
        return []
    rows = [
        (number, len(genes), genes[0]["explained"], _loading_names(genes))
        for number, genes in numbered_modules
    ]
    table = data["tables"]["modules"]
    caption = WORDS.text("modules", table_rows(table)[0]["unexplained"])  # the same in all rows
    file = table["file"]
    return [filled_table("modules", caption, MODULE_COLUMNS, rows, len(rows), file=file)]


def genes_by_module(data: QualityStudy) -> list[tuple[int, list[dict[str, Any]]]]:
    """Return the number of each module with its genes, by falling |loading|."""
    if "modules" not in data["tables"]:
        return []
    rows = table_rows(data["tables"]["modules"])
    return [
        (number, list(module_rows))
        for number, module_rows in groupby(rows, lambda row: int(row["module"]))
    ]


def _loading_names(genes: list[dict[str, Any]]) -> str:
    """Return the genes with the largest loadings, a minus sign before those that fall."""
    names = [("−" if gene["loading"] < 0 else "") + shorten(gene["symbol"], 20) for gene in genes]
    return _first_names(names, MAX_MODULE_GENES)


def module_sentences(data: QualityStudy) -> list[str]:
    """Return the sentence of Methods about modules; [] without modules."""
    numbered_modules = genes_by_module(data)
    if not numbered_modules:
        return []
    tau = table_rows(data["tables"]["modules"])[0]["tau"]  # the same in all rows
    return WORDS.paragraphs("module_methods", len(numbered_modules), tau)


def _removing_steps(record: QualityRecord) -> list[StepGenes]:
    """Return the steps that change the number of genes."""
    before = [record["genes"], *(step["genes"] for step in record["steps"])]
    return [
        step
        for step, n_before in zip(record["steps"], before, strict=False)
        if step["genes"] != n_before
    ]


WORDS = Wording(
    __file__,  # sentences: the macros of section.j2, by name
    LOGGED_MAX=LOGGED_MAX,
    LOGGED_P99=LOGGED_P99,
    MAX_SAMPLE_P=MAX_SAMPLE_P,
    MIN_OUTLIER_SAMPLES=MIN_OUTLIER_SAMPLES,
    N_TOP_GENES=N_TOP_GENES,
    outlier_reasons=_outlier_reasons,
    twins_clause=twins_clause,
    zip=zip,
)
