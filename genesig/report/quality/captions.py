"""Figures and tables of the quality section, with their captions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Any, Literal

from genesig.data.quality.missingness import MAX_SAMPLE_P
from genesig.report.page.section import Item
from genesig.report.page.svg import FigureColumns, Picture, picture
from genesig.report.page.tables import Column, filled_table, on_components, transposed
from genesig.report.page.words import clean, counted, percent, shorten, shown_of_total, significant
from genesig.report.quality import figures
from genesig.report.quality.collect import QualityRecord, QualityStudy

SIZE_NAMES = {"library": "Library sizes", "factor": "Scaling factors"}


def missing_text(record: QualityRecord) -> str:
    """Return the number of missing values, or "none"."""
    total = record["missing"]["total"]
    if not total:
        return "none"
    share = total / (record["total"] * record["genes"])
    genes = sum(count for _, count in record["missing"]["genes"])
    return f"{total} ({percent(share, 2)}), in {counted(genes, 'gene')}"


def missing_omics_text(record: QualityRecord) -> str:
    """Return the number of samples without each omic; "" for one matrix."""
    return ", ".join(
        f"{clean(name)} {n_lacking} of {record['total']}"
        for name, n_lacking in record["missing"]["omics"]
    )


def missing_by_label_text(data: QualityStudy) -> str:
    """Return the genes and samples whose missing values are associated with the label."""
    association = data["quality"]["missing"]["label"]
    classes = data["study"]["classes"] or []
    if association is None or not association["tested"]:
        return ""
    text = (
        f"{association['associated'] or 'none'} of {counted(association['tested'], 'gene')} with"
        " missing values"
    )
    text += " (false discovery rate 5%)"
    for gene, shares in association["examples"][:1]:
        text += f", such as {clean(gene)}{_shares_text(shares, classes, ' lack it')}"
    p = association["sample_p"]
    if p is not None and p <= MAX_SAMPLE_P:
        share = _shares_text(association["class_share"], classes, " of the values are missing")
        text += f"; and how much of its values a sample lacks (p {significant(p)}){share}"
    return text


def _shares_text(shares: Sequence[float], classes: Sequence[str], verb: str) -> str:
    """Return the share of each class."""
    class_texts = (
        f"{percent(share)} of {clean(class_name)}"
        for share, class_name in zip(shares, classes, strict=False)
    )
    return f": {', '.join(class_texts)}{verb}" if classes else ""


def size_text(record: QualityRecord) -> str:
    """Return the smallest and the largest library or scaling factor."""
    sizes = [value for value in record["size"] or [] if value is not None]
    if not sizes:
        return ""
    low = significant(min(sizes))
    high = significant(max(sizes))
    range_text = f"{low} to {high}" if low != high else f"all {low}"
    return f"{range_text} million reads" if record["kind"] == "library" else range_text


def _shown_note(record: QualityRecord) -> str:
    """Return how many of the samples are shown."""
    rule = ", evenly spaced, outliers among them"
    return shown_of_total(len(record["samples"]), record["total"], "sample", rule)


def _order_text(data: QualityStudy) -> str:
    """Return the order of the samples, and their colours."""
    label = clean(data["study"]["label"])
    batch = data["quality"]["batch"]
    colours = f", coloured by {label}" if data["study"]["classes"] else ""
    return f"Samples by {clean(batch)}, then {label}" + colours if batch else f"Samples by {label}"


def _log_note(record: QualityRecord) -> str:
    """Return the note on values that are shown as logarithms."""
    if not record["before"]["logarithm"]:
        return ""
    condition = "" if record["after"]["logarithm"] else " as read"
    return f" Values{condition} are shown as log₂(1 + value), negative ones as 0."


def distributions_picture(data: QualityStudy) -> Picture:
    """Return the quantiles of each sample, as read and as analysed."""
    record = data["quality"]
    versions = "as read and as analysed" if record["changed"] else "as analysed"
    return picture(
        "distributions",
        partial(figures.draw_distributions, data),
        data=_band_columns(data, "quantiles"),
        title="Distribution of each sample",
        description=f"Quantiles of the values of {counted(len(record['samples']), 'sample')},"
        f" {versions}.",
        caption=f"{_order_text(data)}. Mark: median; thick bar: the middle half of the genes; thin"
        f" bar: 5 to 95% of them.{_log_note(record)}{_shown_note(record)}",
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
    return picture(
        "relative_log_expression",
        partial(figures.draw_rle, data),
        data=_band_columns(data, "rle"),
        title="Relative log expression (RLE)",
        description="Differences from the gene's median over the samples, for each sample;"
        f" {len(record['outliers'])} of {counted(record['total'], 'sample')} are outliers.",
        caption="Each value less the median of its gene over all samples. Mark: median; thick bar:"
        " the middle half of the genes; thin bar: 5 to 95%. A bar shifted from 0 suggests a"
        " normalisation problem; a long bar, a sample that differs in many"
        f" genes.{_log_note(record)}"
        f"{_compared_note(record)}{_shown_note(record)}",
    )


def _compared_note(record: QualityRecord) -> str:
    """Return how many genes are compared, if not all."""
    analysed = record["after"]
    if analysed["compared"] == analysed["genes"]:
        return ""
    return (
        f" {analysed['compared']} of {counted(analysed['genes'], 'gene')} as analysed are compared;"
        " the others have the smallest value of all in half of the samples or more."
    )


def components_picture(data: QualityStudy) -> Picture:
    """Return the samples on the first two principal components."""
    record = data["quality"]
    scaled = "centred and scaled" if record["components"]["scaled"] else "centred"
    explained_text = ", ".join(percent(share) for share in record["components"]["explained"][:2])
    second_note = f" and {clean(record['second']['column'])}" if record["second"] else ""
    names_note = " Outliers have their names." if record["outliers"] else ""
    return picture(
        "quality_components",
        partial(figures.draw_components, data),
        data=_component_columns(data),
        title="PCA of all genes",
        description=f"Samples on two principal components ({explained_text} of the variance),"
        f" coloured by {clean(data['study']['label'])}{second_note}.",
        caption=f"Principal components of {counted(record['after']['genes'], 'gene')} as analysed,"
        f" {scaled}, coloured by"
        f" {clean(data['study']['label'])}{second_note}.{names_note}{_shown_note(record)}",
    )


def _component_columns(data: QualityStudy) -> FigureColumns:
    """Return the data of that figure."""
    record = data["quality"]
    columns: dict[str, Sequence[Any]] = {
        "sample": record["samples"],
        "response": record["response"],
    }
    if record["second"]:
        columns[record["second"]["column"]] = record["second"]["values"]
    return {**columns, **on_components(record["components"]["points"])}


def associations_picture(data: QualityStudy) -> Picture:
    """Return the association of components with columns of the sample table."""
    record = data["quality"]
    subset_note = shown_of_total(len(record["associations"]), record["columns"], "column")
    return picture(
        "associations",
        partial(figures.draw_associations, data),
        data=_association_columns(record),
        title="Association of principal components with sample variables",
        description="Share of the variance of each component that each column of the sample table"
        f" explains: {_strongest_text(record)}.",
        caption="Variance explained: η² for categorical, r² for numeric sample variables. Framed:"
        " adjusted p < 0.05 (F test, Benjamini and Hochberg over the whole figure). Variables with"
        " many levels explain variance by chance; rely on the frame, not on the percentage."
        f"{_dependence_note(data)}{_combat_note(record)}{subset_note}",
    )


def _association_columns(record: QualityRecord) -> FigureColumns:
    """Return the data of that figure."""
    return transposed(
        ("column", "component", "explained", "q"),
        [
            (association["column"], component, share, q)
            for association in record["associations"]
            for component, (share, q) in enumerate(
                zip(association["share"], association["q"], strict=True), start=1
            )
        ],
    )


def _dependence_note(data: QualityStudy) -> str:
    """Return the note on too small p, if patients have several samples."""
    column = data["study"]["group"] or data["study"]["pair"]
    if column is None:
        return ""
    name = clean(column)
    return (
        f" The test takes samples as independent; those of one {name} are not, so the p of a column"
        f" that is the same throughout each {name} is too small."
    )


def _combat_note(record: QualityRecord) -> str:
    """Return the note that batches explain nothing after ComBat by construction."""
    has_batch = any(association["role"] == "batch" for association in record["associations"])
    if not has_batch or all(association["step"] != "combat" for association in record["steps"]):
        return ""
    return (
        f" After combat each {clean(record['batch'])} has the same mean by construction: that it"
        " explains nothing here is no evidence that nothing of it is left."
    )


def _strongest_text(record: QualityRecord) -> str:
    """Return the share of the first component that each column explains."""
    return "; ".join(
        f"{clean(association['column'])} {percent(association['share'][0])} of the first"
        for association in record["associations"][:6]
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
    total = len(rows)
    file = data["tables"]["modules"]["file"]
    caption = (
        "Modules: genes that vary together over all samples, by sparse principal components,"
        " without the label. Of the variance of samples left out,"
        f" {percent(1 - numbered_modules[0][1][0]['unexplained'])} is reconstructed from them."
    )
    return [filled_table("modules", caption, MODULE_COLUMNS, rows, total, total=total, file=file)]


def genes_by_module(data: QualityStudy) -> list[tuple[int, list[dict[str, Any]]]]:
    """Return the number of each module with its genes, by falling |loading|."""
    table = data["tables"].get("modules")
    if table is None:
        return []
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    return [
        (number, list(module_rows))
        for number, module_rows in groupby(rows, lambda row: int(row["module"]))
    ]


def _loading_names(genes: list[dict[str, Any]]) -> str:
    """Return the genes with the largest loadings."""
    names = [
        ("−" if gene["loading"] < 0 else "") + shorten(gene["symbol"], 20)
        for gene in genes[:MAX_MODULE_GENES]
    ]
    remainder = (
        f" and {len(genes) - MAX_MODULE_GENES} more" if len(genes) > MAX_MODULE_GENES else ""
    )
    return ", ".join(names) + remainder


def module_sentences(data: QualityStudy) -> list[str]:
    """Return the sentence of Methods about modules; none without them."""
    numbered_modules = genes_by_module(data)
    if not numbered_modules:
        return []
    first_gene = numbered_modules[0][1][0]
    return [
        f"{counted(len(numbered_modules), 'module')} of genes that vary together over all samples"
        " were found by sparse principal component analysis (Zou et al. 2006), without the label,"
        f" at τ = {significant(first_gene['tau'])} τ max, the largest whose reconstruction of"
        " left-out samples was within one standard error of the best."
    ]
