"""Several studies of one question: each held out whole, and what the next one may show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

from genesig.report.page import charts
from genesig.report.page.record import Study, plain, rounded
from genesig.report.page.section import Item, Limits, Paragraph, Section
from genesig.report.page.style import INK, OWN, POSITIVE
from genesig.report.page.svg import Picture, picture
from genesig.report.page.tables import Column, Table, columns_of, filled_table
from genesig.report.page.words import (
    between,
    clean,
    confidence,
    counted,
    decimal,
    enumerated,
    in_words,
    percent,
    shorten,
    span,
)
from genesig.response.known import ByKind
from genesig.selection.studies.meta_analysis import EFFECTS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


class HeldOutStudy(TypedDict):
    """A study while it was held out whole; `apart` is whether it disagrees with the others.

    ``measured`` counts columns of its matrix, ``genes`` what they are of, ``lost`` those that
    another study lacks; ``same_sign`` is the share of the listed genes whose effect there has the
    sign of the mean.
    """

    name: str
    samples: int
    value: float | None
    low: float | None
    high: float | None
    error: float | None
    measured: int | None
    genes: int | None
    lost: int | None
    apart: bool
    same_sign: float | None


class StudiesRecord(TypedDict):
    """The studies, their mean, where the next one may lie; effects of the listed genes.

    ``alignments`` are the errors by which all samples chose one, from the smallest on; empty where
    none was chosen.
    ``genes`` has the columns of meta.tsv for the genes of the signature, ``columns`` names them.
    """

    measure: str
    whole: bool
    studies: list[HeldOutStudy]
    mean: list[float | None]
    next: list[float | None]
    i2: float | None
    columns: list[str]
    genes: list[list[Any]]
    named: int
    tested: int
    alignments: dict[str, float]


class Studies(Study):
    """What this topic reads."""

    studies: StudiesRecord | None


TABLES = ("studies", "meta")
TEXT = ("row", "study", "class")
EFFECT_OF = "effect of "
WHOLE = ("leave_one_study_out", "leave_one_batch_out")
FDR = 0.05


def collect_studies(
    tables: Mapping[str, pd.DataFrame], scheme: str, provenance: Mapping[str, Any]
) -> StudiesRecord | None:  # fmt: skip
    """Sum up what several studies say; None where there is one."""
    if TABLES[0] not in tables:
        return None
    errors = provenance.get("errors_of_alignments", {}).items()
    found, meta = (tables[name] for name in TABLES)
    mean, further = (found[found["row"] == row].iloc[0] for row in ("mean", "next study"))
    shown = meta[meta["gene"].astype(str).isin(set(map(str, tables["signature"]["gene"])))]
    shown = shown.sort_values("p_value", kind="stable")
    each = found[found["row"] == "study"].to_dict("records")
    ends = ["value", "low", "high"]
    return {
        "measure": str(mean["measure"]),
        "whole": scheme in WHOLE,
        "studies": [_study(row, shown) for row in each],
        "mean": [_number(mean[key]) for key in ends],
        "next": [_number(further[key]) for key in ends[1:]],
        "i2": _number(mean["i2"]),
        "columns": [str(column) for column in shown.columns],
        "genes": [[_cell(value) for value in row] for row in shown.itertuples(index=False)],
        "named": meta["gene"][meta["q_value"] <= FDR].nunique(),
        "tested": meta["gene"][meta["p_value"].notna()].nunique(),
        "alignments": {k: rounded(v, 3) for k, v in sorted(errors, key=lambda one: one[1])},
    }


def _study(row: Mapping[Any, Any], shown: pd.DataFrame) -> HeldOutStudy:
    own = EFFECT_OF + str(row["study"])
    known = shown[shown[own].notna()] if own in shown else shown[:0]
    same = float((known[own] * known["effect"] > 0).mean()) if len(known) else None
    counts = {key: None if row[key] != row[key] else int(row[key])
              for key in ("measured", "genes", "lost")}  # fmt: skip
    return {
        "name": str(row["study"]), "samples": int(row["samples"]), "value": _number(row["value"]),
        "low": _number(row["low"]), "high": _number(row["high"]), "error": _number(row["error"]),
        "measured": counts["measured"], "genes": counts["genes"], "lost": counts["lost"],
        "apart": bool(row["apart"] == 1), "same_sign": _number(same),
    }  # fmt: skip


def _cell(value: Any) -> Any:
    return _number(value) if isinstance(value, float) else plain(value)


def _number(value: Any) -> float | None:
    return None if value is None else rounded(float(value), 5)


def draw_forest(it: StudiesRecord, chance: float) -> Figure:
    """Draw each study while it was held out, their mean, and where the next one may lie."""
    each = it["studies"]
    largest, count = max(one["samples"] for one in each), len(each)
    lines = [charts.Line(shorten(one["name"], 24), None, (one["low"], one["high"]),
                         POSITIVE if one["apart"] else OWN) for one in each]  # fmt: skip
    value, low, high = it["mean"]
    lines += [charts.Line("mean", None, (None, None))] * (value is not None and low is not None)
    ahead = len(lines)
    known = None not in it["next"]
    lines += [charts.Line("a further study", None, (None, None))] * known
    label = f"{it['measure']} (dashed: chance)"
    figure, ax = charts.forest(lines, label, at=chance)
    for y, one in enumerate(each):
        if one["value"] is not None:
            ax.scatter([one["value"]], [y], s=20 + 60 * one["samples"] / largest, marker="s",
                       color=lines[y].colour, zorder=3)  # fmt: skip
    if ahead > count:
        ax.fill([low, value, high, value], [count, count - 0.3, count, count + 0.3], color=INK)
    low, high = it["next"]
    if low is not None and high is not None:
        ax.hlines(ahead, low, high, color=INK, lw=5, alpha=0.35)
    return figure


def draw_genes(
    names: Sequence[str], effects: Sequence[Sequence[float | None]],
    means: Sequence[Sequence[float | None]], measure: str,
) -> Figure:  # fmt: skip
    """Draw the effect of genes in each study, as dots, and their (mean, low, high)."""
    lines = [charts.Line(shorten(name, 26), value, (low, high), INK, "D")
             for name, (value, low, high) in zip(names, means, strict=True)]  # fmt: skip
    label = f"{measure} (dots: single studies; diamond: their mean)"
    figure, ax = charts.forest(lines, label, at=0.0)
    for y, each in enumerate(effects):
        known = [effect for effect in each if effect is not None]
        ax.scatter(known, [y] * len(known), s=16, color=OWN, alpha=0.7, zorder=2)
    return figure


TITLE = "Studies"
CHANCE = {"AUC": 0.5, "C": 0.5, "correlation": 0.0}
EFFECT = ByKind({kind: name for kind, (name, _) in EFFECTS.items()})
HETEROGENEOUS = 0.5
"""I² from which on studies are said to differ: about half of what is seen between them is more than
sampling."""
COLUMNS = (
    Column("Study", "name"),
    Column("Samples", "integer"),
    Column("Value", "number"),
    Column("Lower", "number"),
    Column("Upper", "number"),
    Column("Error", "number"),
    Column("Probes", "integer", "Columns of its matrix"),
    Column("Genes", "integer", "What these are of"),
    Column("Lost", "integer", "Genes that another study lacks, so that they take no part"),
    Column("Same sign", "share", "Genes of the signature whose effect has the sign of the mean"),
)
OF_GENE = {
    "gene": Column("Gene", "name"), "symbol": Column("Symbol", "name"),
    "class": Column("Class", "name", "Held against the rest"),
    "effect": Column("Effect", "signed", "Random-effects mean over the studies"),
    "low": Column("Lower", "signed"), "high": Column("Upper", "signed"),
    "q_value": Column("q", "p", "Benjamini and Hochberg, over all genes"),
    "i2": Column("I²", "share", "Share of what is seen between studies that is not sampling"),
    "agree": Column("Same sign", "share", "Studies with the sign of the mean"),
    "least": Column("Smallest", "signed", "Of the means without one study"),
    "most": Column("Largest", "signed", "Of the means without one study"),
}  # fmt: skip


def unseen(data: Studies) -> list[Paragraph]:
    """Return what was reached in left-out studies; nothing if there is one study."""
    record = data["studies"]
    if record is None:
        return []
    value, low, high = record["mean"]
    if value is None:
        said = "The signature could not be tested in any of the studies."
        return [Paragraph("Left-out studies.", said)]
    how = "Each study was predicted by models trained on the others"
    how = how if record["whole"] else "Held-out samples of each study were predicted"
    limits = confidence(low, high, decimal)
    reached = f"mean {record['measure']} {decimal(value)}{f' ({limits})' if limits else ''}"
    return [Paragraph("Left-out studies.", f"{how}: {reached}.{_ahead(record)}{_differ(record)}")]


def _ahead(record: StudiesRecord) -> str:
    """Say what to expect in a further study."""
    if record["next"][0] is None:
        many = in_words(len(record["studies"])).capitalize()
        return f" {many} studies are too few to predict how the signature would do in another one."
    low, high = record["next"]
    expected = f"{record['measure']} of {span(low, high, decimal)}"
    return f" In a further, comparable study expect an {expected} (95% prediction interval)."


def _differ(record: StudiesRecord) -> str:
    """Name studies that differ from the others, and those whose labels may be swapped."""
    said = ""
    turned = [study for study in record["studies"] if _turned(study, record)]
    differing = [study for study in record["studies"] if study["apart"] and study not in turned]
    if differing:
        verb = "differs" if len(differing) == 1 else "differ"
        said += f" {enumerated([study['name'] for study in differing])} {verb} from the others."
    for study in turned:
        said += (
            f" The result of {clean(study['name'])} is worse than chance ({record['measure']}"
            f" {decimal(study['value'])}): check whether its labels are swapped."
        )
    return said


def left_out_badge(data: Studies) -> str:
    """Return in how many left-out studies the models are better than chance; empty if none."""
    record = data["studies"]
    if record is None or not record["whole"]:
        return ""
    chance, studies = CHANCE[record["measure"]], record["studies"]
    better = sum(study["low"] is not None and study["low"] > chance for study in studies)
    return f"Better than chance in {better} of {len(studies)} left-out studies"


def _turned(one: HeldOutStudy, it: StudiesRecord) -> bool:
    """Tell whether the score of the others goes the wrong way in a study, beyond chance."""
    return one["apart"] and one["high"] is not None and one["high"] < CHANCE[it["measure"]]


def studies(data: Studies, limits: Limits) -> Section:
    """Show each study while it was held out, and the genes of the signature in all of them."""
    it = data["studies"]
    if it is None:
        return Section("studies", TITLE, [], part="studies")
    items: list[Item] = [_forest(it), _table(it, limits)]
    if it["genes"]:
        items += [_genes(data, it, limits), _of_genes(it, limits)]
    return Section("studies", TITLE, _words(data, it), items, part="studies")


def _words(data: Studies, it: StudiesRecord) -> list[str]:
    found = [paragraph.text for paragraph in unseen(data)]
    if it["next"][0] is not None:
        found.append(
            "The interval of the mean says how well these studies do together. That of the next"
            " study is never narrower: a new one lies in it with a probability of 95%."
        )
    if it["i2"] is not None and it["i2"] >= HETEROGENEOUS:
        found.append(f"Studies differ by more than sampling explains (I² {percent(it['i2'])}).")
    for one in it["studies"]:
        if _turned(one, it):
            found.append(
                f"In {clean(one['name'])} the models of the other studies have {it['measure']}"
                f" {decimal(one['value'])}{between(one['low'], one['high'], decimal)}, where chance"
                f" gives {CHANCE[it['measure']]:g}: what is high there is low in the others. Check"
                " whether its labels are swapped."
            )
        elif one["apart"]:
            same = "" if one["same_sign"] is None else (
                f"; {percent(one['same_sign'])} of the signature's genes have there the sign that"
                " they have on average")  # fmt: skip
            found.append(f"{clean(one['name'])} disagrees with the others{same}.")
    lost = [one for one in it["studies"] if one["lost"]]
    if lost:
        told = ", ".join(f"{clean(one['name'])} {one['lost']} of {one['genes']}" for one in lost)
        found.append(f"Only genes that every study measured take part. Left out: {told}.")
    return [*found, *([_tested(it)] if it["tested"] else ())]


def _tested(it: StudiesRecord) -> str:
    few = " Two studies are too few to say how far studies differ: read q as an order."
    return (
        f"Over all studies, {it['named']} of {counted(it['tested'], 'gene')} differ at q ≤ 0.05 by"
        f" a random-effects meta-analysis (meta.tsv).{few if len(it['studies']) == 2 else ''}"
    )


def _forest(it: StudiesRecord) -> Picture:
    told = "; ".join(f"{clean(one['name'])} {decimal(one['value'])}" for one in it["studies"])
    unseen_ = "by models that had seen none of its samples" if it["whole"] else "while held out"
    return picture(
        "studies_forest",
        partial(draw_forest, it, CHANCE[it["measure"]]),
        data=columns_of(it["studies"], "name", "samples", "value", "low", "high"),
        title="The signature in each study",
        description=f"{it['measure']} of each study {unseen_}: {told}; mean"
        f" {decimal(it['mean'][0])}.",
        caption=f"Each study {unseen_}, with 95% CI; the square grows with its samples. Diamond:"
        " random-effects mean. Grey bar: where the next study lies, with a probability of 95%.",
    )


def _table(it: StudiesRecord, limits: Limits) -> Table:
    keys = ("name", "samples", "value", "low", "high", "error", "measured", "genes", "lost",
            "same_sign")  # fmt: skip
    rows = [[one[key] for key in keys] for one in it["studies"]]  # type: ignore[literal-required]
    caption = f"Each study while it was held out: {it['measure']} with 95% CI, error, genes."
    return filled_table("studies", caption, COLUMNS, rows, limits.table_rows,
                        total=len(rows), file="studies.tsv")  # fmt: skip


def _genes(data: Studies, it: StudiesRecord, limits: Limits) -> Picture:
    rows = [dict(zip(it["columns"], row, strict=True)) for row in it["genes"][: limits.top_genes]]
    own = [column for column in it["columns"] if column.startswith(EFFECT_OF)]
    names = [", ".join(filter(None, (str(row["symbol"] or row["gene"]), row.get("class"))))
             for row in rows]  # fmt: skip
    effects = [[row[column] for column in own] for row in rows]
    means = [[row[key] for key in ("effect", "low", "high")] for row in rows]
    effect = EFFECT.get(data["study"]["task"], "effect")
    return picture(
        "studies_genes",
        partial(draw_genes, names, effects, means, effect),
        data={
            "gene": names,
            "effect": [row[0] for row in means],
            **{column: [row[column] for row in rows] for column in own},
        },
        title="Genes of the signature in each study",
        description=f"{effect} of {counted(len(names), 'gene')} in each study and on average.",
        caption=f"{effect} of the genes of the signature, alone, in each study (dots), and its mean"
        " with a 95% CI. How far studies differ is learned from all genes.",
    )


def _of_genes(it: StudiesRecord, limits: Limits) -> Table:
    keep = [key for key in OF_GENE if key in it["columns"]]
    place = {key: it["columns"].index(key) for key in keep}
    rows = [[row[place[key]] for key in keep] for row in it["genes"]]
    caption = "Genes of the signature over all studies, each by itself."
    return filled_table("meta", caption, [OF_GENE[key] for key in keep], rows, limits.table_rows,
                        total=len(rows), file="meta.tsv")  # fmt: skip


ALIGNED = {
    "none": "Values of different studies were taken as they are.",
    "centre": "Each gene was centred in each study by itself, without its labels.",
    "standardise": "Each gene was brought to mean 0 and variance 1 in each study by itself, without"
    " its labels.",
    "rank": "The values of each sample were replaced by the ranks of its genes.",
    "fixed": "Models were adjusted for study: each training study had a location of its own for"
    " each gene, found beside the response; the study left out stayed as it was.",
    "combat": "Training studies were brought together by ComBat (Johnson et al. 2007) without their"
    " labels, and the study left out to these as a reference (Zhang et al. 2018).",
    "auto": "How studies were aligned was chosen in each training set by the error of ridge in"
    " those of its studies that were left out.",
}


SHORT = {
    "none": "as they are", "centre": "centred", "standardise": "standardised", "rank": "as ranks",
}  # fmt: skip


def study_sentences(data: Studies) -> list[str]:
    """Say how the studies were brought together and how they were summed up."""
    it = data["studies"]
    if it is None:
        return []
    across = data["config"]["across"]
    names = ", ".join(f"{clean(one['name'])} (n = {one['samples']})" for one in it["studies"])
    probe = {"max_mean": "with the largest mean", "max_iqr": "with the largest interquartile range"}
    rule = probe.get(across["probes"])
    of_gene = f"the probe {rule}" if rule else "the median of its probes"
    several = f"a gene measured by several probes was represented by {of_gene} in each study, and "
    probes = several if any(_has_probes(one) for one in it["studies"]) else ""
    weights = " Every study had the same weight." if across["weights"] == "equal" else ""
    whole = (
        "Each study was left out whole in turn (Patil and Parmigiani 2018)." if it["whole"] else ""
    )
    return [
        f"{in_words(len(it['studies'])).capitalize()} studies took part: {names};"
        f" {probes}genes that all studies have were kept. {ALIGNED[across['align']]}{_chosen(it)}"
        f"{weights} {whole}".rstrip(),
        f"{it['measure']} of the studies was combined by a random-effects model (Paule and Mandel"
        " 1982; interval of Hartung and Knapp 2001), on the logit scale where it is a share; the"
        " prediction interval is that of Nagashima et al. (2019). Effects of single genes were"
        " weighed by one variance between studies for all genes, and the scatter of each around its"
        " mean was moderated by that of the others (Smyth 2004).",
    ]


def _has_probes(one: HeldOutStudy) -> bool:
    """Tell whether a study has more columns than genes; unknown counts speak for it."""
    return one["measured"] is None or one["genes"] is None or one["measured"] > one["genes"]


def _chosen(it: StudiesRecord) -> str:
    """Say what all samples chose, and by what."""
    if not it["alignments"]:
        return ""
    each = enumerated([f"{SHORT[name]} {plain(error)}" for name, error in it["alignments"].items()])
    first = SHORT[next(iter(it["alignments"]))]
    return (
        f" The final model was fitted to values {first} (squared error of ridge, summed over the"
        f" studies: {each}; the smallest of several is no estimate of its error)."
    )
