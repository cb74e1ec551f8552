"""Several studies of one outcome: each left out whole, and a prediction for a further study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

from genesig.report.page import charts
from genesig.report.page.record import Study, json_value, rounded
from genesig.report.page.section import Item, Limits, Paragraph, Section
from genesig.report.page.style import GENESIG_COLOUR, INK, POSITIVE
from genesig.report.page.svg import Picture
from genesig.report.page.tables import Column, Table, columns_of, filled_table
from genesig.report.page.verdict import NEUTRAL_LOOK, SUPPORT_LOOK, Badge
from genesig.report.page.wording import Wording
from genesig.report.page.words import counted, decimal, shorten
from genesig.response.kinds import ByKind
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
    differs: bool
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
    next_study: list[float | None]
    i2: float | None
    meta_columns: list[str]
    genes: list[list[Any]]
    significant: int
    tested: int
    alignments: dict[str, float]


class Studies(Study):
    """What this topic reads."""

    studies: StudiesRecord | None


EFFECT_OF = "effect of "
WHOLE_STUDY_SCHEMES = ("leave_one_study_out", "leave_one_batch_out")
META_FDR = 0.05


def collect_studies(
    tables: Mapping[str, pd.DataFrame], scheme: str, provenance: Mapping[str, Any]
) -> StudiesRecord | None:
    """Return the record of several studies; None if there is one study."""
    if "studies" not in tables:
        return None
    errors = provenance.get("errors_of_alignments", {}).items()
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
    ends = ["value", "low", "high"]
    return {
        "measure": str(mean["measure"]),
        "whole": scheme in WHOLE_STUDY_SCHEMES,
        "studies": [_study(row, signature_genes) for row in rows],
        "mean": [_number(mean[key]) for key in ends],
        "next_study": [_number(next_row[key]) for key in ends[1:]],
        "i2": _number(mean["i2"]),
        "meta_columns": [str(column) for column in signature_genes.columns],
        "genes": [
            [_cell(value) for value in row] for row in signature_genes.itertuples(index=False)
        ],
        "significant": meta["gene"][meta["q_value"] <= META_FDR].nunique(),
        "tested": meta["gene"][meta["p_value"].notna()].nunique(),
        "alignments": {k: rounded(v, 3) for k, v in sorted(errors, key=lambda pair: pair[1])},
    }


def _study(row: Mapping[Any, Any], signature_genes: pd.DataFrame) -> HeldOutStudy:
    effect_column = EFFECT_OF + str(row["study"])
    with_effect = (
        signature_genes[signature_genes[effect_column].notna()]
        if effect_column in signature_genes
        else signature_genes[:0]
    )
    same_sign = (
        float((with_effect[effect_column] * with_effect["effect"] > 0).mean())
        if len(with_effect)
        else None
    )
    counts = {
        key: None if row[key] != row[key] else int(row[key])
        for key in ("measured", "genes", "lost")
    }
    return {
        "name": str(row["study"]),
        "samples": int(row["samples"]),
        "value": _number(row["value"]),
        "low": _number(row["low"]),
        "high": _number(row["high"]),
        "error": _number(row["error"]),
        "measured": counts["measured"],
        "genes": counts["genes"],
        "lost": counts["lost"],
        "differs": bool(row["apart"] == 1),
        "same_sign": _number(same_sign),
    }


def _cell(value: Any) -> Any:
    return _number(value) if isinstance(value, float) else json_value(value)


def _number(value: Any) -> float | None:
    return None if value is None else rounded(float(value), 5)


def draw_forest(record: StudiesRecord, chance: float) -> Figure:
    """Draw each study while it was held out, their mean, and where the next one may lie."""
    study_rows = record["studies"]
    largest = max(study["samples"] for study in study_rows)
    count = len(study_rows)
    lines = [
        charts.ForestRow(
            shorten(study["name"], 24),
            None,
            (study["low"], study["high"]),
            POSITIVE if study["differs"] else GENESIG_COLOUR,
        )
        for study in study_rows
    ]
    value, low, high = record["mean"]
    lines += [charts.ForestRow("mean", None, (None, None))] * (
        value is not None and low is not None
    )
    next_row = len(lines)
    has_interval = None not in record["next_study"]
    lines += [charts.ForestRow("a further study", None, (None, None))] * has_interval
    label = f"{record['measure']} (dashed: chance)"
    figure, ax = charts.forest(lines, label, reference_value=chance, small=True)
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
    if next_row > count:
        ax.fill([low, value, high, value], [count, count - 0.3, count, count + 0.3], color=INK)
    low, high = record["next_study"]
    if low is not None and high is not None:
        ax.hlines(next_row, low, high, color=INK, lw=5, alpha=0.35)
    return figure


def draw_genes(
    names: Sequence[str],
    effects: Sequence[Sequence[float | None]],
    means: Sequence[Sequence[float | None]],
    measure: str,
) -> Figure:
    """Draw the effect of genes in each study, as dots, and their (mean, low, high)."""
    lines = [
        charts.ForestRow(shorten(name, 26), value, (low, high), INK, "D")
        for name, (value, low, high) in zip(names, means, strict=True)
    ]
    label = f"{measure} (dots: single studies; diamond: their mean)"
    figure, ax = charts.forest(lines, label, reference_value=0.0, small=True)
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


STUDIES_TITLE = "Studies"
CHANCE_BY_MEASURE = {"AUC": 0.5, "C": 0.5, "correlation": 0.0}
EFFECT_NAMES = ByKind({kind: name for kind, (name, _) in EFFECTS.items()})
MIN_NOTABLE_I2 = 0.5
"""I² from which on studies are said to differ: about half of what is seen between them is more than
sampling."""
STUDY_COLUMNS = (
    Column("Study", "name"),
    Column("Samples", "integer"),
    Column("Value", "number"),
    Column("Lower", "number"),
    Column("Upper", "number"),
    Column("Error", "number"),
    Column("Probes", "integer", "Columns of its matrix"),
    Column("Genes", "integer", "Genes that these probes measure"),
    Column("Lost", "integer", "Genes that another study lacks, so that they take no part"),
    Column("Same sign", "share", "Genes of the signature whose effect has the sign of the mean"),
)
META_GENE_COLUMNS = {
    "gene": Column("Gene", "name"),
    "symbol": Column("Symbol", "name"),
    "class": Column("Class", "name", "Held against the rest"),
    "effect": Column("Effect", "signed", "Random-effects mean over the studies"),
    "low": Column("Lower", "signed"),
    "high": Column("Upper", "signed"),
    "q_value": Column("q (meta-analysis)", "p", "Benjamini and Hochberg, over all genes"),
    "i2": Column("I²", "share", "Share of what is seen between studies that is not sampling"),
    "agree": Column("Same sign", "share", "Studies with the sign of the mean"),
    "least": Column("Smallest", "signed", "Of the means without one study"),
    "most": Column("Largest", "signed", "Of the means without one study"),
}


def left_out_paragraphs(data: Studies) -> list[Paragraph]:
    """Return what was reached in left-out studies; nothing if there is one study."""
    record = data["studies"]
    if record is None:
        return []
    return [Paragraph("Left-out studies.", WORDS.text("left_out", record))]


def left_out_badge(data: Studies) -> Badge | None:
    """Return in how many left-out studies the models are better than chance; None without any.

    It has the colour of support if they are in all, and no colour otherwise.
    """
    record = data["studies"]
    if record is None or not record["whole"]:
        return None
    chance = CHANCE_BY_MEASURE[record["measure"]]
    studies = record["studies"]
    better = sum(study["low"] is not None and study["low"] > chance for study in studies)
    look = SUPPORT_LOOK if better == len(studies) else NEUTRAL_LOOK
    return Badge(f"Better than chance in {better} of {len(studies)} left-out studies", look)


def _is_swapped(study: HeldOutStudy, record: StudiesRecord) -> bool:
    """Tell whether the score of the others goes the wrong way in a study, beyond chance."""
    return (
        study["differs"]
        and study["high"] is not None
        and study["high"] < CHANCE_BY_MEASURE[record["measure"]]
    )


def studies(data: Studies, limits: Limits) -> Section:
    """Show each study while it was held out, and the genes of the signature in all of them."""
    record = data["studies"]
    if record is None:
        return Section("studies", STUDIES_TITLE, [], part="studies")
    items: list[Item] = [_forest_figure(record), _studies_table(record, limits)]
    if record["genes"]:
        items += [_gene_figure(data, record, limits), _meta_table(record, limits)]
    words = WORDS.paragraphs("section", record, CHANCE_BY_MEASURE[record["measure"]])
    return Section("studies", STUDIES_TITLE, words, items, part="studies")


def _forest_figure(record: StudiesRecord) -> Picture:
    return Picture(
        "studies_forest",
        partial(draw_forest, record, CHANCE_BY_MEASURE[record["measure"]]),
        data=columns_of(record["studies"], "name", "samples", "value", "low", "high"),
        title="The signature in each study",
        description=WORDS.text("forest_description", record),
        caption=WORDS.text("forest_caption", record),
    )


def _studies_table(record: StudiesRecord, limits: Limits) -> Table:
    keys = (
        "name",
        "samples",
        "value",
        "low",
        "high",
        "error",
        "measured",
        "genes",
        "lost",
        "same_sign",
    )
    rows = [[study[key] for key in keys] for study in record["studies"]]  # type: ignore[literal-required]
    caption = f"Each study while it was held out: {record['measure']} with 95% CI, error, genes."
    return filled_table(
        "studies",
        caption,
        STUDY_COLUMNS,
        rows,
        limits.table_rows,
        file="studies.tsv",
    )


def _gene_figure(data: Studies, record: StudiesRecord, limits: Limits) -> Picture:
    rows = [
        dict(zip(record["meta_columns"], row, strict=True))
        for row in record["genes"][: limits.top_genes]
    ]
    effect_columns = [column for column in record["meta_columns"] if column.startswith(EFFECT_OF)]
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
            "effect": [row[0] for row in means],
            **{column: [row[column] for row in rows] for column in effect_columns},
        },
        title="Genes of the signature in each study",
        description=f"{effect} of {counted(len(names), 'gene')} in each study;"
        f" means: {mean_texts}.",
        caption=WORDS.text("gene_caption", effect),
    )


def _meta_table(record: StudiesRecord, limits: Limits) -> Table:
    keys = [key for key in META_GENE_COLUMNS if key in record["meta_columns"]]
    place = {key: record["meta_columns"].index(key) for key in keys}
    rows = [[row[place[key]] for key in keys] for row in record["genes"]]
    caption = "Genes of the signature over all studies, each by itself."
    return filled_table(
        "meta",
        caption,
        [META_GENE_COLUMNS[key] for key in keys],
        rows,
        limits.table_rows,
        file="meta.tsv",
    )


ALIGNMENT_METHODS = {
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


ALIGNMENT_NAMES = {
    "none": "as they are",
    "centre": "centred",
    "standardise": "standardised",
    "rank": "as ranks",
}


def _has_probes(record: StudiesRecord) -> bool:
    """Tell whether any study has more columns than genes; unknown counts speak for it."""
    counts = [(study["measured"], study["genes"]) for study in record["studies"]]
    return any(columns is None or genes is None or columns > genes for columns, genes in counts)


WORDS = Wording(
    __file__,
    ALIGNMENT_METHODS=ALIGNMENT_METHODS,
    ALIGNMENT_NAMES=ALIGNMENT_NAMES,
    MIN_NOTABLE_I2=MIN_NOTABLE_I2,
    has_probes=_has_probes,
    is_swapped=_is_swapped,
)


def study_sentences(data: Studies) -> list[str]:
    """Return the sentences on how the studies were brought together and how they were summed up."""
    record = data["studies"]
    return [] if record is None else WORDS.paragraphs("methods", record, data["config"]["across"])
