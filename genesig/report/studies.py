"""Several studies of one outcome: each left out whole, and a prediction for a further study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

from genesig.report.page import charts
from genesig.report.page.record import Study, json_value, rounded
from genesig.report.page.section import Item, Limits, Paragraph, Section
from genesig.report.page.style import GENESIG_COLOUR, INK, POSITIVE
from genesig.report.page.svg import Picture, picture
from genesig.report.page.tables import Column, Table, columns_of, filled_table
from genesig.report.page.words import (
    bracketed_confidence,
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
        "next": [_number(next_row[key]) for key in ends[1:]],
        "i2": _number(mean["i2"]),
        "columns": [str(column) for column in signature_genes.columns],
        "genes": [
            [_cell(value) for value in row] for row in signature_genes.itertuples(index=False)
        ],
        "named": meta["gene"][meta["q_value"] <= META_FDR].nunique(),
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
        "apart": bool(row["apart"] == 1),
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
            POSITIVE if study["apart"] else GENESIG_COLOUR,
        )
        for study in study_rows
    ]
    value, low, high = record["mean"]
    lines += [charts.ForestRow("mean", None, (None, None))] * (
        value is not None and low is not None
    )
    next_row = len(lines)
    has_interval = None not in record["next"]
    lines += [charts.ForestRow("a further study", None, (None, None))] * has_interval
    label = f"{record['measure']} (dashed: chance)"
    figure, ax = charts.forest(lines, label, reference_value=chance)
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
    low, high = record["next"]
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
    figure, ax = charts.forest(lines, label, reference_value=0.0)
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
    Column("Genes", "integer", "What these are of"),
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
    value, low, high = record["mean"]
    if value is None:
        text = "The signature could not be tested in any of the studies."
        return [Paragraph("Left-out studies.", text)]
    design = "Each study was predicted by models trained on the others"
    design = design if record["whole"] else "Held-out samples of each study were predicted"
    limits = confidence(low, high, decimal)
    reached = f"mean {record['measure']} {decimal(value)}{f' ({limits})' if limits else ''}"
    return [
        Paragraph(
            "Left-out studies.",
            f"{design}: {reached}.{_next_study_words(record)}{_outlier_words(record)}",
        )
    ]


def _next_study_words(record: StudiesRecord) -> str:
    """Return the text on what to expect in a further study."""
    if record["next"][0] is None:
        n_studies = in_words(len(record["studies"])).capitalize()
        return (
            f" {n_studies} studies are too few to predict how the signature would do in another"
            " one."
        )
    low, high = record["next"]
    expected = f"{record['measure']} of {span(low, high, decimal)}"
    return f" In a further, comparable study expect an {expected} (95% prediction interval)."


def _outlier_words(record: StudiesRecord) -> str:
    """Name studies that differ from the others, and those whose labels may be swapped."""
    text = ""
    swapped = [study for study in record["studies"] if _is_swapped(study, record)]
    differing = [study for study in record["studies"] if study["apart"] and study not in swapped]
    if differing:
        verb = "differs" if len(differing) == 1 else "differ"
        text += f" {enumerated([study['name'] for study in differing])} {verb} from the others."
    for study in swapped:
        text += (
            f" The result of {clean(study['name'])} is worse than chance ({record['measure']}"
            f" {decimal(study['value'])}): check whether its labels are swapped."
        )
    return text


def left_out_badge(data: Studies) -> str:
    """Return in how many left-out studies the models are better than chance; empty if none."""
    record = data["studies"]
    if record is None or not record["whole"]:
        return ""
    chance = CHANCE_BY_MEASURE[record["measure"]]
    studies = record["studies"]
    better = sum(study["low"] is not None and study["low"] > chance for study in studies)
    return f"Better than chance in {better} of {len(studies)} left-out studies"


def _is_swapped(study: HeldOutStudy, record: StudiesRecord) -> bool:
    """Tell whether the score of the others goes the wrong way in a study, beyond chance."""
    return (
        study["apart"]
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
    return Section("studies", STUDIES_TITLE, _studies_words(data, record), items, part="studies")


def _studies_words(data: Studies, record: StudiesRecord) -> list[str]:
    texts = [paragraph.text for paragraph in left_out_paragraphs(data)]
    if record["next"][0] is not None:
        texts.append(
            "The interval of the mean says how well these studies do together. That of the next"
            " study is never narrower: a new one lies in it with a probability of 95%."
        )
    if record["i2"] is not None and record["i2"] >= MIN_NOTABLE_I2:
        texts.append(f"Studies differ by more than sampling explains (I² {percent(record['i2'])}).")
    for study in record["studies"]:
        if _is_swapped(study, record):
            texts.append(
                f"In {clean(study['name'])} the models of the other studies have"
                f" {record['measure']} {decimal(study['value'])}"
                f"{bracketed_confidence(study['low'], study['high'], decimal)}, where chance"
                f" gives {CHANCE_BY_MEASURE[record['measure']]:g}: what is high there is low in the"
                " others. Check whether its labels are swapped."
            )
        elif study["apart"]:
            same = (
                ""
                if study["same_sign"] is None
                else (
                    f"; {percent(study['same_sign'])} of the signature's genes have there the sign "
                    "that"
                    " they have on average"
                )
            )
            texts.append(f"{clean(study['name'])} disagrees with the others{same}.")
    with_lost_genes = [study for study in record["studies"] if study["lost"]]
    if with_lost_genes:
        study_texts = ", ".join(
            f"{clean(study['name'])} {study['lost']} of {study['genes']}"
            for study in with_lost_genes
        )
        texts.append(f"Only genes that every study measured take part. Left out: {study_texts}.")
    return [*texts, *([_meta_words(record)] if record["tested"] else ())]


def _meta_words(record: StudiesRecord) -> str:
    caution = " Two studies are too few to say how far studies differ: q only orders genes."
    return (
        f"Over all studies, {record['named']} of {counted(record['tested'], 'gene')} differ at q"
        " (meta-analysis) ≤ 0.05 by random effects"
        f" (meta.tsv).{caution if len(record['studies']) == 2 else ''}"
    )


def _forest_figure(record: StudiesRecord) -> Picture:
    study_texts = "; ".join(
        f"{clean(study['name'])} {decimal(study['value'])}" for study in record["studies"]
    )
    how_predicted = (
        "by models that had seen none of its samples" if record["whole"] else "while held out"
    )
    return picture(
        "studies_forest",
        partial(draw_forest, record, CHANCE_BY_MEASURE[record["measure"]]),
        data=columns_of(record["studies"], "name", "samples", "value", "low", "high"),
        title="The signature in each study",
        description=f"{record['measure']} of each study {how_predicted}: {study_texts}; mean"
        f" {decimal(record['mean'][0])}.",
        caption=f"Each study {how_predicted}, with 95% CI; the square grows with its samples."
        " Diamond: random-effects mean. Grey bar: where the next study lies, with a probability of"
        " 95%.",
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
        total=len(rows),
        file="studies.tsv",
    )


def _gene_figure(data: Studies, record: StudiesRecord, limits: Limits) -> Picture:
    rows = [
        dict(zip(record["columns"], row, strict=True))
        for row in record["genes"][: limits.top_genes]
    ]
    effect_columns = [column for column in record["columns"] if column.startswith(EFFECT_OF)]
    names = [
        ", ".join(filter(None, (str(row["symbol"] or row["gene"]), row.get("class"))))
        for row in rows
    ]
    effects = [[row[column] for column in effect_columns] for row in rows]
    means = [[row[key] for key in ("effect", "low", "high")] for row in rows]
    effect = EFFECT_NAMES.get(data["study"]["task"], "effect")
    return picture(
        "studies_genes",
        partial(draw_genes, names, effects, means, effect),
        data={
            "gene": names,
            "effect": [row[0] for row in means],
            **{column: [row[column] for row in rows] for column in effect_columns},
        },
        title="Genes of the signature in each study",
        description=f"{effect} of {counted(len(names), 'gene')} in each study and on average.",
        caption=f"{effect} of the genes of the signature, alone, in each study (dots), and its mean"
        " with a 95% CI. How far studies differ is learned from all genes.",
    )


def _meta_table(record: StudiesRecord, limits: Limits) -> Table:
    keys = [key for key in META_GENE_COLUMNS if key in record["columns"]]
    place = {key: record["columns"].index(key) for key in keys}
    rows = [[row[place[key]] for key in keys] for row in record["genes"]]
    caption = "Genes of the signature over all studies, each by itself."
    return filled_table(
        "meta",
        caption,
        [META_GENE_COLUMNS[key] for key in keys],
        rows,
        limits.table_rows,
        total=len(rows),
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


def study_sentences(data: Studies) -> list[str]:
    """Return the sentences on how the studies were brought together and how they were summed up."""
    record = data["studies"]
    if record is None:
        return []
    across = data["config"]["across"]
    names = ", ".join(
        f"{clean(study['name'])} (n = {study['samples']})" for study in record["studies"]
    )
    probe = {"max_mean": "with the largest mean", "max_iqr": "with the largest interquartile range"}
    rule = probe.get(across["probes"])
    of_gene = f"the probe {rule}" if rule else "the median of its probes"
    several = f"a gene measured by several probes was represented by {of_gene} in each study, and "
    probes = several if any(_has_probes(study) for study in record["studies"]) else ""
    weights = " Every study had the same weight." if across["weights"] == "equal" else ""
    design_words = (
        "Each study was left out whole in turn (Patil and Parmigiani 2018)."
        if record["whole"]
        else ""
    )
    return [
        f"{in_words(len(record['studies'])).capitalize()} studies took part: {names};"
        f" {probes}genes that all studies have were kept."
        f" {ALIGNMENT_METHODS[across['align']]}{_alignment_words(record)}"
        f"{weights} {design_words}".rstrip(),
        f"{record['measure']} of the studies was combined by a random-effects model (Paule and"
        " Mandel 1982; interval of Hartung and Knapp 2001), on the logit scale where it is a share;"
        " the prediction interval is that of Nagashima et al. (2019). Effects of single genes were"
        " weighed by one variance between studies for all genes, and the scatter of each around its"
        " mean was moderated by that of the others (Smyth 2004).",
    ]


def _has_probes(study: HeldOutStudy) -> bool:
    """Tell whether a study has more columns than genes; unknown counts speak for it."""
    return study["measured"] is None or study["genes"] is None or study["measured"] > study["genes"]


def _alignment_words(record: StudiesRecord) -> str:
    """Return the text on what all samples chose, and by what."""
    if not record["alignments"]:
        return ""
    error_texts = enumerated(
        [
            f"{ALIGNMENT_NAMES[name]} {json_value(error)}"
            for name, error in record["alignments"].items()
        ]
    )
    chosen_alignment = ALIGNMENT_NAMES[next(iter(record["alignments"]))]
    return (
        f" The final model was fitted to values {chosen_alignment} (squared error of ridge, summed"
        f" over the studies: {error_texts}; the smallest of several is no estimate of its error)."
    )
