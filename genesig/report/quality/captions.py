"""The pictures and modules of the quality section, with their words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Any, Literal

from genesig.data.quality.missingness import MAX_SAMPLE_P
from genesig.report.page.section import Item
from genesig.report.page.svg import Columns, Picture, picture
from genesig.report.page.tables import Column, filled_table, on_components, transposed
from genesig.report.page.words import clean, counted, percent, shorten, shown_of, significant
from genesig.report.quality import figures
from genesig.report.quality.collect import Quality, QualityRecord

SIZE = {"library": "Library sizes", "factor": "Scaling factors"}


def missing_words(it: QualityRecord) -> str:
    """Count the missing values, or say that there are none."""
    total = it["missing"]["total"]
    if not total:
        return "none"
    share = total / (it["total"] * it["genes"])
    genes = sum(count for _, count in it["missing"]["genes"])
    return f"{total} ({percent(share, 2)}), in {counted(genes, 'gene')}"


def without_omic(it: QualityRecord) -> str:
    """Count the samples that lack each omic altogether; nothing where there is one matrix."""
    return ", ".join(f"{clean(name)} {lack} of {it['total']}" for name, lack
                     in it["missing"]["omics"])  # fmt: skip


def by_label(data: Quality) -> str:
    """Say which genes and samples miss values by their label, or that none do; else nothing."""
    it, classes = data["quality"]["missing"]["label"], data["study"]["classes"] or []
    if it is None or not it["tested"]:
        return ""
    said = f"{it['named'] or 'none'} of {counted(it['tested'], 'gene')} with missing values"
    said += " (false discovery rate 5%)"
    for gene, shares in it["first"][:1]:
        said += f", such as {clean(gene)}{_of_each(shares, classes, ' lack it')}"
    p = it["sample_p"]
    if p is not None and p <= MAX_SAMPLE_P:
        share = _of_each(it["class_share"], classes, " of the values are missing")
        said += f"; and how much of its values a sample lacks (p {significant(p)}){share}"
    return said


def _of_each(shares: Sequence[float], classes: Sequence[str], verb: str) -> str:
    each = (f"{percent(s)} of {clean(c)}" for s, c in zip(shares, classes, strict=False))
    return f": {', '.join(each)}{verb}" if classes else ""


def size_words(it: QualityRecord) -> str:
    """Return the smallest and the largest library or factor."""
    known = [value for value in it["size"] or [] if value is not None]
    if not known:
        return ""
    low, high = significant(min(known)), significant(max(known))
    ends = f"{low} to {high}" if low != high else f"all {low}"
    return f"{ends} million reads" if it["kind"] == "library" else ends


def _shown(it: QualityRecord) -> str:
    how = ", evenly spaced, outliers among them"
    return shown_of(len(it["samples"]), it["total"], "sample", how)


def _sorted_by(data: Quality) -> str:
    label = clean(data["study"]["label"])
    batch = data["quality"]["batch"]
    colours = f", coloured by {label}" if data["study"]["classes"] else ""
    return f"Samples by {clean(batch)}, then {label}" + colours if batch else f"Samples by {label}"


def _log_note(it: QualityRecord) -> str:
    if not it["before"]["logarithm"]:
        return ""
    rest = "" if it["after"]["logarithm"] else " as read"
    return f" Values{rest} are shown as log₂(1 + value), negative ones as 0."


def distributions(data: Quality) -> Picture:
    """Quantiles of each sample, before and after the steps."""
    it = data["quality"]
    both = "as read and as analysed" if it["changed"] else "as analysed"
    return picture(
        "distributions",
        partial(figures.distributions, data),
        data=_quantiles(data, "quantiles"),
        title="Distribution of each sample",
        description=f"Quantiles of the values of {counted(len(it['samples']), 'sample')}, {both}.",
        caption=f"{_sorted_by(data)}. Mark: median; thick bar: the middle half of the genes; thin"
        f" bar: 5 to 95% of them.{_log_note(it)}{_shown(it)}",
    )


def _quantiles(data: Quality, key: Literal["quantiles", "rle"]) -> Columns:
    """Return the bands of each sample, as read and as analysed."""
    return transposed(
        ("values", "sample", "p5", "p25", "p50", "p75", "p95"),
        [(when, sample, *band) for when, look in figures.looks(data)
         for sample, band in zip(data["quality"]["samples"], look[key], strict=True)],
    )  # fmt: skip


def relative(data: Quality) -> Picture:
    """Relative log expression, before and after the steps."""
    it = data["quality"]
    return picture(
        "relative_log_expression",
        partial(figures.relative, data),
        data=_quantiles(data, "rle"),
        title="Relative log expression (RLE)",
        description="Differences from the gene's median over the samples, for each sample.",
        caption="Each value less the median of its gene over all samples; mark and bars as above."
        " In a homogeneous data set every bar is centred on 0 with a similar length. A shifted bar"
        " suggests a normalisation problem; a long bar, a sample that differs in many"
        f" genes.{_log_note(it)}"
        f"{_compared(it)}{_shown(it)}",
    )


def _compared(it: QualityRecord) -> str:
    look = it["after"]
    if look["compared"] == look["genes"]:
        return ""
    return (
        f" {look['compared']} of {counted(look['genes'], 'gene')} as analysed are compared; the"
        " others have the smallest value of all in half of the samples or more."
    )


def components(data: Quality) -> Picture:
    """Place samples on the first two components."""
    it = data["quality"]
    scaled = "centred and scaled" if it["components"]["scaled"] else "centred"
    first = ", ".join(percent(share) for share in it["components"]["explained"][:2])
    second = f" and {clean(it['second']['column'])}" if it["second"] else ""
    named = " Outliers have their names." if it["outliers"] else ""
    return picture(
        "quality_components",
        partial(figures.components, data),
        data=_placed(data),
        title="PCA of all genes",
        description=f"Samples on two principal components ({first} of the variance), coloured by"
        f" {clean(data['study']['label'])}{second}.",
        caption=f"Principal components of {counted(it['after']['genes'], 'gene')} as analysed,"
        f" {scaled}, coloured by {clean(data['study']['label'])}{second}.{named}{_shown(it)}",
    )


def _placed(data: Quality) -> Columns:
    it = data["quality"]
    found: dict[str, Sequence[Any]] = {"sample": it["samples"], "response": it["response"]}
    if it["second"]:
        found[it["second"]["column"]] = it["second"]["values"]
    return {**found, **on_components(it["components"]["points"])}


def associations(data: Quality) -> Picture:
    """Components by columns of the sample table."""
    it = data["quality"]
    capped = shown_of(len(it["associations"]), it["columns"], "column")
    return picture(
        "associations",
        partial(figures.associations, data),
        data=_explained(it),
        title="Association of principal components with sample variables",
        description="Share of the variance of each component that each column of the sample table"
        f" explains: {_strongest(it)}.",
        caption="Variance explained: η² for categorical, r² for numeric sample variables. Framed:"
        " adjusted p < 0.05 (F test, Benjamini and Hochberg over the whole figure). Variables with"
        " many levels explain variance by chance; rely on the frame, not on the percentage."
        f"{_dependent(data)}{_corrected(it)}{capped}",
    )


def _explained(it: QualityRecord) -> Columns:
    return transposed(
        ("column", "component", "explained", "q"),
        [(one["column"], k, share, q) for one in it["associations"]
         for k, (share, q) in enumerate(zip(one["share"], one["q"], strict=True), start=1)],
    )  # fmt: skip


def _dependent(data: Quality) -> str:
    """Say whose p are too small where several samples are of one patient."""
    column = data["study"]["group"] or data["study"]["pair"]
    if column is None:
        return ""
    name = clean(column)
    return (
        f" The test takes samples as independent; those of one {name} are not, so the p of a column"
        f" that is the same throughout each {name} is too small."
    )


def _corrected(it: QualityRecord) -> str:
    """Say why batches explain nothing after ComBat."""
    tested = any(one["role"] == "batch" for one in it["associations"])
    if not tested or all(one["step"] != "combat" for one in it["steps"]):
        return ""
    return (
        f" After combat each {clean(it['batch'])} has the same mean by construction: that it"
        " explains nothing here is no evidence that nothing of it is left."
    )


def _strongest(it: QualityRecord) -> str:
    return "; ".join(
        f"{clean(one['column'])} {percent(one['share'][0])} of the first"
        for one in it["associations"][:6]
    )


NAMED = 12
"""Genes of a module that are named in the table."""
COLUMNS = (
    Column("Module", "integer"),
    Column("Genes", "integer"),
    Column("Variance", "share", "Of all genes, added to that of the modules before"),
    Column("Genes with the largest loadings", "text", "− where a gene falls as the others rise"),
)


def modules(data: Quality) -> list[Item]:
    """Show the modules as a table; nothing where none were asked for or found."""
    found = by_module(data)
    if not found:
        return []
    rows = [
        (number, len(genes), genes[0]["explained"], _named(genes)) for number, genes in found
    ]  # fmt: skip
    total, file = len(rows), data["tables"]["modules"]["file"]
    caption = (
        "Modules: genes that vary together over all samples, by sparse principal components,"
        " without the label. Of the variance of samples left out,"
        f" {percent(1 - found[0][1][0]['unexplained'])} is reconstructed from them."
    )
    return [filled_table("modules", caption, COLUMNS, rows, total, total=total, file=file)]


def by_module(data: Quality) -> list[tuple[int, list[dict[str, Any]]]]:
    """Return each module's number with its genes, by falling |loading|."""
    table = data["tables"].get("modules")
    if table is None:
        return []
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    return [(key, list(part)) for key, part in groupby(rows, lambda row: int(row["module"]))]


def _named(genes: list[dict[str, Any]]) -> str:
    names = [
        ("−" if one["loading"] < 0 else "") + shorten(one["symbol"], 20) for one in genes[:NAMED]
    ]  # fmt: skip
    more = f" and {len(genes) - NAMED} more" if len(genes) > NAMED else ""
    return ", ".join(names) + more


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
