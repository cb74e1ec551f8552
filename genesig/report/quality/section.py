"""The section about the quality of the samples."""

from __future__ import annotations

from typing import Any

from genesig.data.quality.overview import FEWEST
from genesig.data.quality.samples import FAR
from genesig.data.steps.scale import LOGGED_MAX, LOGGED_P99
from genesig.report.methods import by_kind
from genesig.report.page.section import Facts, Fold, Limits, Section
from genesig.report.page.tables import Column, Table, cell
from genesig.report.page.words import clean, counted, percent, shorten, significant
from genesig.report.quality import pictures
from genesig.report.quality.pictures import SIZE, missing_words, size_words

Data = dict[str, Any]

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


def quality(data: Data, limits: Limits) -> Section:
    """Show each sample beside the others, and what the samples differ by."""
    it = data["quality"]
    items: list[Any] = [
        Facts("quality", "What was found", _facts(data)),
        pictures.distributions(data),
    ]
    items.append(pictures.relative(data))
    if it["kind"]:
        items.append(pictures.sizes(data))
    if it["missing"]["total"]:
        items += [pictures.missing(data), _missing_table(data)]
    if any(it["components"]["explained"]):
        items.append(pictures.components(data))
    if it["associations"]:
        items.append(pictures.associations(data))
    items += [_table(data, limits), Fold("How samples far from the others are found", HOW)]
    return Section("quality", "Quality of the samples", _words(data), items)


def _words(data: Data) -> list[str]:
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
    if it["follows"]:
        one = it["follows"]
        said.append(
            f"The first component, {percent(one['explained'])} of the variance, goes with"
            f" {clean(one['column'])} (which explains {percent(one['share'])} of it beyond chance)"
            f" rather than with {clean(data['study']['label'])} ({percent(one['label'])})."
            f" {_advice(data)}"
        )
    said.append(
        "All samples are described here at once; nothing of it goes back into a fit."
        f" {_as_analysed(it)}"
    )
    return said


def _advice(data: Data) -> str:
    it = data["quality"]
    if it["follows"]["column"] == it["batch"]:
        if data["design"]["scheme"] == "leave_one_batch_out":
            return "A batch that is left out cannot be brought to the level of the others."
        return "The step combat would bring its batches to one level."
    return "If it says how samples were handled and not what they are, name it as data.batch."


def _reasons(one: Data) -> str:
    return ", ".join(RULES[name][1] for name in one["rules"])


def _as_analysed(it: Data) -> str:
    if not it["changed"]:
        return (
            "The values as analysed are those that were read: nothing but centring and scaling of"
            " the genes follows, in each training set, which is left out here."
        )
    steps = ", ".join(clean(one["step"]) for one in it["steps"])
    return (
        f"As analysed means after {steps}. Steps that learn from the samples are shown as fitted"
        " on all of them, as for the final model; for the error each training set has its own."
        " Centring and scaling of the genes are left out."
    )


def _facts(data: Data) -> list[tuple[str, str]]:
    it = data["quality"]
    pairs = [
        ("Scale of the values", _scale(it)),
        ("Genes", _genes(it)),
        ("Left out before", f"{by_kind(data['study']['dropped']) or 'nothing'}{_where(data)}"),
        ("Missing values", missing_words(it)),
        (SIZE[it["kind"]], size_words(it)) if it["kind"] else ("", ""),
        ("Far from the others", _far(it)),
        ("Columns not tested", _skipped(it)),
    ]
    return [(name, value) for name, value in pairs if value]


def _where(data: Data) -> str:
    return ", listed under Data and design" if data["study"]["dropped"] else ""


def _scale(it: Data) -> str:
    scale = it["scale"]
    evidence = (
        f"99th percentile {significant(scale['p99'], 4)}, maximum {significant(scale['max'], 4)};"
        f" of logarithms these stay below {LOGGED_P99:g} and {LOGGED_MAX:g}"
    )
    taken = clean(scale["taken"] or "")
    if scale["doubled"]:
        return f"look like logarithms already ({evidence}), yet {taken} takes them again"
    if not scale["raw"]:
        return f"logarithms already, by their size ({evidence})"
    kind = "counts, no logarithms" if scale["counts"] else "no logarithms"
    return f"{kind}, by their size ({evidence}); {taken or 'no step'} takes them"


def _genes(it: Data) -> str:
    left, words = it["genes"], [f"{counted(it['genes'], 'gene')} read"]
    for one in it["steps"]:
        if one["genes"] != left:
            left = one["genes"]
            words.append(f"{counted(left, 'gene')} after {clean(one['step'])}")
    fitted = ", as fitted on all samples" if len(words) > 1 else ""
    return ", ".join(words) + fitted


def _far(it: Data) -> str:
    if it["total"] < FEWEST:
        return f"not looked for: {counted(it['total'], 'sample')}, {FEWEST} are needed"
    return counted(len(it["outliers"]), "sample") if it["outliers"] else "no sample"


# The rules of genesig.data.quality in words; how often they err is measured in its tests.
HOW = f"""\
A sample is far from the others in one of these numbers where it is more than {FAR:g} MAD (median
absolute deviations, scaled to a standard deviation) from the median of all samples, and at least
so far that it may matter:

RLE median, up or down: by half of the usual RLE interquartile range
RLE interquartile range, up: a quarter larger than usual
distance to the three nearest samples, up: half as far again as usual
library size or scaling factor, up or down: by half
share of missing values, up: by five hundredths

Sizes, distances and interquartile ranges are compared on a scale of ratios. Among ten samples
without a fault this names about one in a hundred, among forty or more less than one in a thousand.
No sample is left out for it.
"""


def _skipped(it: Data) -> str:
    reasons: dict[str, list[str]] = {}
    for one in it["skipped"]:
        reasons.setdefault(one["reason"], []).append(shorten(one["column"], 30))
    return "; ".join(f"{_first(names, 8)} ({reason})" for reason, names in reasons.items())


def _first(names: list[str], most: int) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _missing_table(data: Data) -> Table:
    it = data["quality"]["missing"]
    columns = [Column("Samples that miss it", "integer"), Column("Genes", "integer"),
               Column("Such as", "text")]  # fmt: skip
    rows = [
        [cell(lost, "integer"), cell(genes, "integer"), cell(_such(it["worst"], lost), "text")]
        for lost, genes in sorted(it["genes"], reverse=True)[:50]
    ]
    return Table("missing-genes", "Genes by missing values.", columns, rows, len(it["genes"]))


def _such(worst: list[Any], lost: int) -> str | None:
    names = [clean(gene) for gene, missing in worst if missing == lost]
    return _first(names, 5) if names else None


def _table(data: Data, limits: Limits) -> Table:
    """List the samples, those far off first, the others as the figures have them."""
    it = data["quality"]
    far = {one["row"]: _reasons(one) for one in it["outliers"]}
    shown = [name for name in it["rules"] if name != "missing" or it["missing"]["total"]]
    heads = [Column("Sample", "name"), Column(shorten(data["study"]["label"], 30), _label(data))]
    if it["batches"] is not None:
        heads.append(Column(shorten(it["batch"], 30), "text"))
    heads += [RULES[name][0] for name in shown]
    detected = it["detected"] is not None
    heads += [Column("Genes with reads", "share")] if detected else []
    heads.append(Column("Far off in", "text"))
    order = sorted(range(len(it["samples"])), key=lambda row: row not in far)
    rows = []
    for row in order[: limits.table_rows]:
        values = [it["samples"][row], _response(data, row)]
        values += [it["batches"][row]] if it["batches"] is not None else []
        values += [_hundredths(it["rules"][name][row], name) for name in shown]
        values += [it["detected"][row]] if detected else []
        values.append(far.get(row))
        rows.append([cell(v, head.kind) for v, head in zip(values, heads, strict=True)])
    caption = f"Every sample in numbers; {'those far off first' if far else 'none is far off'}."
    caption += " All of it is in quality.json."
    return Table("quality-samples", caption, heads, rows, it["total"], search=True)


def _hundredths(value: float | None, rule: str) -> float | None:
    """Cut differences at the second decimal; smaller ones are no differences."""
    return value if value is None or not rule.startswith("rle") else round(value, 2) + 0.0


def _label(data: Data) -> str:
    return "text" if data["study"]["classes"] else "signed"


def _response(data: Data, row: int) -> Any:
    value, classes = data["quality"]["response"][row], data["study"]["classes"]
    return classes[int(value > 0)] if classes else value
