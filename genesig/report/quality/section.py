"""The section about the quality of the samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from genesig.data.quality.overview import MIN_OUTLIER_SAMPLES as FEWEST
from genesig.data.quality.overview import N_TOP_GENES as TOP
from genesig.data.quality.samples import OUTLIER_MADS as FAR
from genesig.data.steps.scale import LOGGED_MAX, LOGGED_P99
from genesig.report.page.measure import class_of
from genesig.report.page.section import Facts, Fold, Item, Limits, Section
from genesig.report.page.tables import Column, Table, filled_table
from genesig.report.page.words import by_kind, clean, counted, percent, shorten, significant
from genesig.report.quality import captions
from genesig.report.quality.captions import (
    SIZE,
    by_label,
    missing_words,
    modules,
    size_words,
    without_omic,
)
from genesig.report.quality.collect import (
    Follows,
    Missing,
    Outlier,
    Quality,
    QualityRecord,
    twins_words,
)

MOST_READS = f"of the reads lie in the {TOP} genes that have most of them"
MOST_COUNTS = 50
"""Rows of the table of missing values."""

# What each rule of quality.json looks at: in the table, and of a sample that is far off.
RULES = {
    "rle_median": (Column("RLE median", "number", "Level beside the other samples"), "level"),
    "rle_iqr": (Column("RLE IQR", "number", "Spread beside the other samples"), "spread"),
    "distance": (
        Column("Distance", "number", "Mean distance to the three nearest samples"), "distance"
    ),
    "library": (Column("Million reads", "count", "Sum of the sample"), "number of reads"),
    "factor": (Column("Scaling factor", "count", "Brings the trimmed mean to that of the others"),
               "intensity"),
    "missing": (Column("Missing", "share", "Share of its values"), "missing values"),
}  # fmt: skip


def quality(data: Quality, limits: Limits) -> Section:
    """Show each sample beside the others, and what the samples differ by."""
    it = data["quality"]
    items: list[Item] = [
        Facts("quality", "Summary", _facts(data)),
    ]
    items.append(captions.relative(data))
    if it["missing"]["total"]:
        items.append(_missing_table(it["missing"]))
    if any(it["components"]["explained"]):
        items.append(captions.components(data))
    if it["associations"]:
        items.append(captions.associations(data))
    items += modules(data)
    items += [_table(data, limits), Fold("How outlier samples are found", HOW)]
    return Section(
        "quality",
        "Quality of the samples",
        _words(data),
        items,
        part="patients",
        folded=True,
        pictures=[captions.distributions(data)],
    )


def _words(data: Quality) -> list[str]:
    it = data["quality"]
    outliers = [f"{clean(one['sample'])} ({_reasons(one)})" for one in it["outliers"][:10]]
    more = " …" if len(it["outliers"]) > 10 else ""
    kept = "They were kept: look at them" if len(outliers) > 1 else "It was kept: look at it"
    said = [
        f"Far from the other samples: {', '.join(outliers)}{more}. {kept}, and drop a sample from"
        " the sample table only for a reason that has nothing to do with the label."
        if outliers
        else "No sample lies far from the others."
    ]
    if it["twins"]:
        said.append(
            f"{twins_words(it['twins'])}: a model that has seen the one knows the other, and the"
            " error is too small. If they are of one patient, name the patients as groups, or keep"
            " one sample of each."
        )
    if one := it["follows"]:
        said.append(
            f"The strongest pattern in the data ({percent(one['explained'])} of the variance)"
            f" follows {clean(one['column'])} ({percent(one['share'])} of it beyond chance), not"
            f" {clean(data['study']['label'])} ({percent(one['label'])}). {_advice(data, one)}"
        )
    said.append(
        "These quality checks use all samples together; they do not influence the model."
        f" {_as_analysed(it)}"
    )
    return said


def _advice(data: Quality, one: Follows) -> str:
    if one["column"] == data["quality"]["batch"]:
        if data["design"]["scheme"] in ("leave_one_batch_out", "leave_one_study_out"):
            return "A batch that is left out cannot be brought to the level of the others."
        return "The step combat would bring its batches to one level."
    name = clean(one["column"])
    return f"Check whether {name} and sample handling coincide; if they do, name it as the batch."


def _reasons(one: Outlier) -> str:
    return ", ".join(RULES[name][1] for name in one["rules"])


def _as_analysed(it: QualityRecord) -> str:
    if not it["changed"]:
        return (
            "The plots show the values as read. Genes are later centred and scaled within each"
            " training set; that step is not shown."
        )
    steps = ", ".join(clean(one["step"]) for one in it["steps"])
    return (
        f"As analysed means after {steps}. Steps that learn from the samples are shown as fitted"
        " on all of them, as for the final model; for the error each training set has its own."
        " Centring and scaling of the genes are left out."
    )


def _facts(data: Quality) -> list[tuple[str, str]]:
    it = data["quality"]
    pairs = [
        ("Scale of the values", _scale(it)),
        ("Genes", _genes(it)),
        ("Left out before", f"{by_kind(data['study']['dropped']) or 'nothing'}{_where(data)}"),
        ("Missing values", missing_words(it)),
        ("Samples without an omic", without_omic(it)),
        (f"Missing by {shorten(data['study']['label'], 30)}", by_label(data)),
        (SIZE[it["kind"]], size_words(it)) if it["kind"] else ("", ""),
        ("Composition", _composition(it)),
        ("Far from the others", _far(it)),
        ("Columns not tested", _skipped(it)),
    ]
    return [(name, value) for name, value in pairs if value]


def _where(data: Quality) -> str:
    return ", listed under Data and design" if data["study"]["dropped"] else ""


def _scale(it: QualityRecord) -> str:
    scale = it["scale"]
    evidence = (
        f"99th percentile {significant(scale['p99'], 4)}, maximum {significant(scale['max'], 4)};"
        f" log values stay below {LOGGED_P99:g} and {LOGGED_MAX:g}"
    )
    taken = clean(scale["taken"] or "")
    if scale["doubled"]:
        return f"look log-transformed already ({evidence}), yet {taken} transforms them again"
    if not scale["raw"]:
        return f"already log-transformed ({evidence})"
    kind = "counts, not log-transformed" if scale["counts"] else "not log-transformed"
    return f"{kind} ({evidence}); {taken or 'no step'} transforms them"


def _genes(it: QualityRecord) -> str:
    left, words = it["genes"], [f"{counted(it['genes'], 'gene')} read"]
    for one in it["steps"]:
        if one["genes"] != left:
            left = one["genes"]
            words.append(f"{counted(left, 'gene')} after {clean(one['step'])}")
    fitted = ", as fitted on all samples" if len(words) > 1 else ""
    return ", ".join(words) + fitted


def _composition(it: QualityRecord) -> str:
    """Say how far the samples differ in which genes have their reads."""
    shares = {"of the genes have reads": it["detected"], MOST_READS: it["top"]}
    said = []
    for words, values in shares.items():
        known = [value for value in values or [] if value is not None]
        if known:
            low, high = percent(min(known)), percent(max(known))
            said.append(f"{low if low == high else f'{low} to {high}'} {words}")
    return "; ".join(said)


def _far(it: QualityRecord) -> str:
    if it["total"] < FEWEST:
        return f"not looked for: {counted(it['total'], 'sample')}, {FEWEST} are needed"
    return counted(len(it["outliers"]), "sample") if it["outliers"] else "no sample"


# The rules of genesig.data.quality in words; how often they err is measured in its tests.
HOW = f"""\
A sample is far from the others in one of these numbers where it is more than {FAR:g} MAD (median
absolute deviations, scaled to a standard deviation) from the median of all samples, and far enough
to matter:

RLE median, up or down: by half of the usual RLE interquartile range
RLE interquartile range, up: a quarter larger than usual
distance to the three nearest samples, up: half as far again
library size or scaling factor, up or down: by half
share of missing values, up: by five hundredths

Sizes, distances and ranges are compared as ratios. With 10 sound samples the rule
flags about 1 in 100; with 40 or more, under 1 in 1000. No sample is excluded for it.
"""


def _skipped(it: QualityRecord) -> str:
    reasons: dict[str, list[str]] = {}
    for one in it["skipped"]:
        reasons.setdefault(one["reason"], []).append(shorten(one["column"], 30))
    return "; ".join(f"{_first(names, 8)} ({reason})" for reason, names in reasons.items())


def _first(names: list[str], most: int) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _missing_table(it: Missing) -> Table:
    columns = [Column("Samples that miss it", "integer"), Column("Genes", "integer"),
               Column("Such as", "text")]  # fmt: skip
    rows = [
        (lost, genes, _such(it["worst"], lost)) for lost, genes in sorted(it["genes"], reverse=True)
    ]
    return filled_table("missing-genes", "Genes by missing values.", columns, rows, MOST_COUNTS)


def _such(worst: list[list[Any]], lost: int) -> str | None:
    names = [clean(gene) for gene, missing in worst if missing == lost]
    return _first(names, 5) if names else None


def _table(data: Quality, limits: Limits) -> Table:
    """List the samples, those far off first, the others as the figures have them."""
    it, columns = data["quality"], _columns(data)
    far = {one["row"]: _reasons(one) for one in it["outliers"]}
    columns.append((Column("Outlier in", "text"), [far.get(k) for k in range(len(it["samples"]))]))
    order = sorted(range(len(it["samples"])), key=lambda row: row not in far)
    rows = [[values[row] for _, values in columns] for row in order]
    caption = f"Sample quality metrics; {'outliers first' if far else 'no outliers'}."
    caption += " All values are in quality.json."
    heads = [head for head, _ in columns]
    return filled_table("quality-samples", caption, heads, rows, limits.table_rows,
                        total=it["total"], search=True)  # fmt: skip


def _columns(data: Quality) -> list[tuple[Column, Sequence[Any]]]:
    """Return each heading with its values, one a sample."""
    it = data["quality"]
    label = Column(shorten(data["study"]["label"], 30), _label(data))
    columns: list[tuple[Column, Sequence[Any]]] = [
        (Column("Sample", "name"), it["samples"]),
        (label, [_response(data, row) for row in range(len(it["samples"]))]),
    ]
    if it["batches"] is not None:
        columns.append((Column(shorten(it["batch"], 30), "text"), it["batches"]))
    for name, values in it["rules"].items():
        if name != "missing" or it["missing"]["total"]:
            columns.append((RULES[name][0], [_hundredths(value, name) for value in values]))
    if it["detected"] is not None:
        columns.append((Column("Genes with reads", "share"), it["detected"]))
    if it["top"] is not None:
        columns.append(
            (
                Column(
                    f"In {TOP} genes",
                    "share",
                    f"Share of the reads that the {TOP} largest genes have",
                ),
                it["top"],
            )
        )
    return columns


def _hundredths(value: float | None, rule: str) -> float | None:
    """Cut differences at the second decimal; smaller ones are no differences."""
    return value if value is None or not rule.startswith("rle") else round(value, 2) + 0.0


def _label(data: Quality) -> str:
    return "text" if data["study"]["classes"] else "signed"


def _response(data: Quality, row: int) -> str | float:
    value, classes = data["quality"]["response"][row], data["study"]["classes"]
    return classes[class_of(value, classes)] if classes else value
