"""Several studies of one outcome: each left out whole, their mean, and a prediction interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

from genesig.report.page import charts
from genesig.report.page.record import Study, TopicResults, float_fields
from genesig.report.page.section import Item, Limits, Paragraph, Section
from genesig.report.page.style import GENESIG_COLOUR, INK, POSITIVE
from genesig.report.page.svg import Picture
from genesig.report.page.tables import Column, Table, columns_of, filled_table
from genesig.report.page.verdict import NEUTRAL_LOOK, SUPPORT_LOOK, Badge
from genesig.report.page.wording import Wording
from genesig.report.page.words import counted, decimal, shorten
from genesig.response.kinds import ByKind
from genesig.selection.meta_analysis import EFFECTS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


class HeldOutStudy(TypedDict):
    """A study while it was held out."""

    name: str
    samples: int
    value: float | None  # AUC, C or correlation
    low: float | None
    high: float | None
    error: float | None
    measured: int | None  # columns of its matrix
    genes: int | None  # genes that these columns measure
    lost: int | None  # genes that another study lacks
    differs: bool  # whether it disagrees with the others
    same_sign: float | None  # share of the signature genes whose effect has the sign of the mean


class StudiesRecord(TypedDict):
    """Several studies of one outcome."""

    measure: str  # AUC, C or correlation
    whole: bool  # whether each study was left out whole
    studies: list[HeldOutStudy]
    mean: list[float | None]  # random-effects mean and its limits
    next_study: list[float | None]  # limits of the prediction interval
    i2: float | None
    meta_columns: list[str]  # columns of meta.tsv
    genes: list[list[Any]]  # rows of meta.tsv, of the signature genes
    significant: int  # genes with q ≤ `META_FDR`
    tested: int  # genes
    # errors by which all samples chose the alignment, smallest first; empty if it was not chosen
    alignments: dict[str, float]


class Studies(Study):
    """The keys of report_data.json that this topic reads."""

    studies: StudiesRecord | None  # None if there is one study


EFFECT_PREFIX = "effect of "  # of the columns of meta.tsv with the effects in one study
WHOLE_STUDY_SCHEMES = ("leave_one_study_out", "leave_one_batch_out")
META_FDR = 0.05


def collect_studies(results: TopicResults) -> StudiesRecord:
    """Return the record of several studies."""
    tables = results.tables
    errors = results.dataset.provenance.get("errors_of_alignments", {}).items()
    study_rows = tables["studies"]
    meta = tables["meta"]
    mean, next_row = (
        study_rows[study_rows["row"] == row].iloc[0] for row in ("mean", "next study")
    )
    signature_genes = meta[
        meta["gene"].astype(str).isin(set(map(str, tables["signature"]["gene"])))
    ]
    signature_genes = signature_genes.sort_values("p_value", kind="stable")
    rows = study_rows[study_rows["row"] == "study"].to_dict("records")
    return {
        "measure": str(mean["measure"]),
        "whole": results.splits.scheme in WHOLE_STUDY_SCHEMES,
        "studies": [_study(row, signature_genes) for row in rows],
        "mean": list(float_fields(mean, "value", "low", "high").values()),
        "next_study": list(float_fields(next_row, "low", "high").values()),
        "i2": mean["i2"],
        "meta_columns": [str(column) for column in signature_genes.columns],
        "genes": [list(row) for row in signature_genes.itertuples(index=False)],
        "significant": meta["gene"][meta["q_value"] <= META_FDR].nunique(),
        "tested": meta["gene"][meta["p_value"].notna()].nunique(),
        "alignments": dict(sorted(errors, key=lambda pair: pair[1])),
    }


def _study(row: Mapping[Any, Any], signature_genes: pd.DataFrame) -> HeldOutStudy:
    """Return the record of a study from its row of studies.tsv and the rows of meta.tsv."""
    effect_column = EFFECT_PREFIX + str(row["study"])
    same_sign = None
    if effect_column in signature_genes:
        products = (signature_genes[effect_column] * signature_genes["effect"]).to_numpy(float)
        has_effect = signature_genes[effect_column].notna().to_numpy()
        same_sign = float((products[has_effect] > 0).mean()) if has_effect.any() else None
    numbers: HeldOutStudy = float_fields(row, "value", "low", "high", "error")
    return {
        "name": str(row["study"]),
        "samples": int(row["samples"]),
        **numbers,
        "measured": _count_or_none(row["measured"]),
        "genes": _count_or_none(row["genes"]),
        "lost": _count_or_none(row["lost"]),
        "differs": bool(row["apart"] == 1),
        "same_sign": same_sign,
    }


def _count_or_none(value: float) -> int | None:
    """Return a count of a column with gaps; None for NaN."""
    return None if value != value else int(value)


def draw_forest(record: StudiesRecord, chance: float) -> Figure:
    """Draw each held-out study, their mean, and the prediction interval of a further study.

    The squares of the studies, which grow with their samples, and the diamond of the mean are
    drawn over rows of the forest plot that have no value of their own.
    """
    study_rows = record["studies"]
    largest = max(study["samples"] for study in study_rows)
    count = len(study_rows)
    lines = [
        charts.ForestRow(
            shorten(study["name"], 24),
            value=None,
            limits=(study["low"], study["high"]),
            colour=POSITIVE if study["differs"] else GENESIG_COLOUR,
        )
        for study in study_rows
    ]
    value, low, high = record["mean"]
    has_mean = value is not None and low is not None
    has_interval = None not in record["next_study"]
    if has_mean:
        lines.append(charts.ForestRow("mean", value=None, limits=(None, None)))
    if has_interval:
        lines.append(charts.ForestRow("a further study", value=None, limits=(None, None)))
    label = f"{record['measure']} (dashed: chance)"
    figure = charts.forest(lines, label, reference_value=chance, small=True)
    (ax,) = figure.axes
    for y, study in enumerate(study_rows):
        if study["value"] is not None:
            ax.scatter(
                [study["value"]],
                [y],
                s=20 + 60 * study["samples"] / largest,
                marker="s",
                color=lines[y].colour,
                zorder=3,
            )
    if has_mean:
        ax.fill([low, value, high, value], [count, count - 0.3, count, count + 0.3], color=INK)
    low, high = record["next_study"]
    if low is not None and high is not None:
        ax.hlines(len(lines) - 1, low, high, color=INK, lw=5, alpha=0.35)
    return figure


def draw_genes(
    names: Sequence[str],
    effects: Sequence[Sequence[float | None]],
    means: Sequence[Sequence[float | None]],
    measure: str,
) -> Figure:
    """Draw the effects of genes in each study as dots, and their mean with its interval.

    A row of `effects` has the effects of a gene in the studies, a row of `means` (mean, low, high).
    """
    lines = [
        charts.ForestRow(shorten(name, 26), value, (low, high), INK, marker="D")
        for name, (value, low, high) in zip(names, means, strict=True)
    ]
    label = f"{measure} (dots: single studies; diamond: their mean)"
    figure = charts.forest(lines, label, reference_value=0.0, small=True)
    (ax,) = figure.axes
    for y, gene_effects in enumerate(effects):
        finite_effects = [effect for effect in gene_effects if effect is not None]
        ax.scatter(
            finite_effects,
            [y] * len(finite_effects),
            s=16,
            color=GENESIG_COLOUR,
            alpha=0.7,
            zorder=2,
        )
    return figure


CHANCE_BY_MEASURE = {"AUC": 0.5, "C": 0.5, "correlation": 0.0}
EFFECT_NAMES = ByKind({kind: name for kind, (name, _) in EFFECTS.items()})
STUDY_COLUMNS = {
    "name": Column("Study", "name"),
    "samples": Column("Samples", "integer"),
    "value": Column("Value", "number"),
    "low": Column("Lower", "number"),
    "high": Column("Upper", "number"),
    "error": Column("Error", "number"),
    "measured": Column("Probes", "integer", "Columns of its matrix"),
    "genes": Column("Genes", "integer", "Genes that these probes measure"),
    "lost": Column("Lost", "integer", "Genes that another study lacks"),
    "same_sign": Column("Same sign", "share", "Signature genes with the sign of the mean"),
}
META_GENE_COLUMNS = {
    "gene": Column("Gene", "name"),
    "symbol": Column("Symbol", "name"),
    "class": Column("Class", "name", "Compared with the other classes"),
    "effect": Column("Effect", "signed", "Random-effects mean over the studies"),
    "low": Column("Lower", "signed"),
    "high": Column("Upper", "signed"),
    "q_value": Column("q (meta-analysis)", "p", "Benjamini and Hochberg, over all genes"),
    "i2": Column("I²", "share", "Share of the differences between studies that is not sampling"),
    "agree": Column("Same sign", "share", "Studies with the sign of the mean"),
    "least": Column("Smallest", "signed", "Of the means without one study"),
    "most": Column("Largest", "signed", "Of the means without one study"),
}


def left_out_paragraphs(data: Studies) -> list[Paragraph]:
    """Return the paragraph of the first screen about left-out studies; [] if there is one study."""
    record = data["studies"]
    if record is None:
        return []
    return [Paragraph("Left-out studies.", WORDS.text("left_out", record))]


def left_out_badge(data: Studies) -> Badge | None:
    """Return the badge with the number of left-out studies that are better than chance, if any.

    It has the colour of support if all are, and no colour otherwise.
    """
    record = data["studies"]
    if record is None or not record["whole"]:
        return None
    chance = CHANCE_BY_MEASURE[record["measure"]]
    studies = record["studies"]
    better = sum(study["low"] is not None and study["low"] > chance for study in studies)
    look = SUPPORT_LOOK if better == len(studies) else NEUTRAL_LOOK
    text = f"Better than chance in {better} of {len(studies)} left-out studies"
    has_cohort = data["answer"]["cohorts"]["tested"]
    return Badge(text if has_cohort else f"{text}; no external cohort", look)


def _is_swapped(study: HeldOutStudy, record: StudiesRecord) -> bool:
    """Return whether a study is worse than chance, as if its labels were swapped."""
    return (
        study["differs"]
        and study["high"] is not None
        and study["high"] < CHANCE_BY_MEASURE[record["measure"]]
    )


def studies_section(data: Studies, limits: Limits) -> Section | None:
    """Return the section about the studies and their genes; None if there is one study."""
    record = data["studies"]
    if record is None:
        return None
    items: list[Item] = [
        Picture(
            "studies_forest",
            partial(draw_forest, record, CHANCE_BY_MEASURE[record["measure"]]),
            data=columns_of(record["studies"], "name", "samples", "value", "low", "high"),
            title="The signature in each study",
            description=WORDS.text("forest_description", record),
            caption=WORDS.text("forest_caption", record),
        ),
        _studies_table(record, limits),
    ]
    if record["genes"]:
        items += [_gene_figure(data, record, limits), _meta_table(record, limits)]
    words = WORDS.paragraphs("section", record, CHANCE_BY_MEASURE[record["measure"]])
    return Section("studies", "Studies", words, items, part="studies")


def _studies_table(record: StudiesRecord, limits: Limits) -> Table:
    """Return the table of the studies."""
    rows = [[study[key] for key in STUDY_COLUMNS] for study in record["studies"]]  # type: ignore[literal-required]
    caption = f"Each study while it was held out: {record['measure']} with 95% CI, error, genes."
    columns = list(STUDY_COLUMNS.values())
    return filled_table("studies", caption, columns, rows, limits.table_rows, file="studies.tsv")


def _gene_figure(data: Studies, record: StudiesRecord, limits: Limits) -> Picture:
    """Return the forest plot of the first signature genes."""
    rows = [
        dict(zip(record["meta_columns"], row, strict=True))
        for row in record["genes"][: limits.gene_cards]
    ]
    effect_columns = [
        column for column in record["meta_columns"] if column.startswith(EFFECT_PREFIX)
    ]
    names = [
        ", ".join(filter(None, (str(row["symbol"] or row["gene"]), row.get("class"))))
        for row in rows
    ]
    effects = [[row[column] for column in effect_columns] for row in rows]
    means = [[row[key] for key in ("effect", "low", "high")] for row in rows]
    effect = EFFECT_NAMES.get(data["study"]["task"], "effect")
    mean_texts = "; ".join(
        f"{name} {decimal(value)}" for name, (value, _, _) in zip(names, means, strict=True)
    )
    return Picture(
        "studies_genes",
        partial(draw_genes, names, effects, means, effect),
        data={
            "gene": names,
            "effect": [value for value, _, _ in means],
            **{column: [row[column] for row in rows] for column in effect_columns},
        },
        title="Genes of the signature in each study",
        description=f"{effect} of {counted(len(names), 'gene')} in each study;"
        f" means: {mean_texts}.",
        caption=WORDS.text("gene_caption", effect),
    )


def _meta_table(record: StudiesRecord, limits: Limits) -> Table:
    """Return the table of the signature genes over all studies."""
    keys = [key for key in META_GENE_COLUMNS if key in record["meta_columns"]]
    positions = [record["meta_columns"].index(key) for key in keys]
    rows = [[row[position] for position in positions] for row in record["genes"]]
    caption = "Signature genes over all studies (random effects)."
    columns = [META_GENE_COLUMNS[key] for key in keys]
    return filled_table("meta", caption, columns, rows, limits.table_rows, file="meta.tsv")


ALIGNMENT_METHODS = {
    "none": "Values of different studies were taken as they are.",
    "centre": "Each gene was centred within each study, without its labels.",
    "standardise": "Each gene was standardised within each study, without its labels.",
    "rank": "The values of each sample were replaced by the ranks of its genes.",
    "fixed": "Models were adjusted for study: each gene had a location for each training study,"
    " fitted together with the outcome; the left-out study stayed unchanged.",
    "combat": "Training studies were adjusted by ComBat (Johnson et al. 2007) without their labels,"
    " and the left-out study with these as reference (Zhang et al. 2018).",
    "auto": "Each training set chose the alignment by the error of ridge in its left-out studies.",
}


ALIGNMENT_NAMES = {
    "none": "as they are",
    "centre": "centred",
    "standardise": "standardised",
    "rank": "as ranks",
}


def _has_probes(record: StudiesRecord) -> bool:
    """Return whether any study has, or may have, more columns than genes."""
    counts = [(study["measured"], study["genes"]) for study in record["studies"]]
    return any(columns is None or genes is None or columns > genes for columns, genes in counts)


WORDS = Wording(
    __file__,  # sentences: the macros of studies.j2, by name
    ALIGNMENT_METHODS=ALIGNMENT_METHODS,
    ALIGNMENT_NAMES=ALIGNMENT_NAMES,
    MIN_NOTABLE_I2=0.5,  # I² from which about half of the differences are more than sampling
    has_probes=_has_probes,
    is_swapped=_is_swapped,
)


def study_sentences(data: Studies) -> list[str]:
    """Return the sentences of Methods about several studies; [] if there is one study."""
    record = data["studies"]
    return [] if record is None else WORDS.paragraphs("methods", record, data["config"]["across"])
