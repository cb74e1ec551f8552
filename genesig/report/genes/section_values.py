"""Sections about the values of genes: expression of the signature, tests one by one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from genesig.report.genes import figures, figures_effects, figures_heat, figures_lists
from genesig.report.genes.methods import in_test, one_value
from genesig.report.genes.record import Genes
from genesig.report.page.rows import on_components
from genesig.report.page.section import Group, Item, Limits, Section
from genesig.report.page.svg import Picture, picture
from genesig.report.page.tables import packed_table
from genesig.report.page.words import (
    clean,
    counted,
    first_of,
    gene_label,
    percent,
    shown_of,
)


def expression(data: Genes, limits: Limits) -> Section:
    """Show samples and values of the signature."""
    if not data["answer"]["size"]:
        words = ["The signature is empty, so there is nothing to show."]
        return Section("expression", "Expression of the signature", words, part="signature")
    words = [
        "These figures show the samples the genes were selected on, so good separation is expected"
        " and proves nothing. The evidence is the cross-validated error."
    ]
    return Section(
        "expression", "Expression of the signature", words,
        [_heat(data), Group(
            "components", "The samples on the components of the signature", (), [_components(data)]
        )], part="signature", folded=True,
    )  # fmt: skip


def strips(data: Genes, limits: Limits) -> Picture:
    """Show the values of the first genes side by side."""
    shown = data["strips"][: limits.top_genes]
    named = "; ".join(gene_label(one["gene"], one["symbol"]) for one in shown)
    by_class = data["study"]["classes"] is not None
    label, most = clean(data["study"]["label"]), counted(len(shown), "gene")
    axis = "class" if by_class else label
    how = "a bar for the mean" if by_class else f"expression against {label}"
    if data["cards"]["events"]:
        how += "; filled: with the event, open: censored"
    return picture(
        "top_genes",
        partial(figures.strips, data, limits.top_genes),
        data={**_samples(data), **{one["gene"]: one["values"] for one in shown}},
        title="Expression of the top genes",
        description=f"Expression by {axis} of {named}.",
        caption=f"The {most} selected most often. One dot per sample, {how}.",
    )


def _samples(data: Genes) -> dict[str, Sequence[Any]]:
    response = data["study"]["response"]
    return {"sample": response["name"], "response": response["value"]}


def _components(data: Genes) -> Picture:
    it = data["components"]
    shares = ", ".join(percent(share) for share in it["explained"])
    return picture(
        "components",
        partial(figures.components, data),
        data={**_samples(data), **on_components(it["points"])},
        title="Samples on the first components of the signature",
        description=f"Samples on the first three principal components, which hold {shares} of the"
        " variance.",
        caption=f"Principal components of the {counted(it['genes'], 'standardised gene')} of the"
        " signature, one mark per sample.",
    )


def _heat(data: Genes) -> Picture:
    it = data["heat"]
    shown, columns = len(it["genes"]), len(it["samples"])
    capped = first_of(shown, it["total"], "gene")
    capped += shown_of(columns, data["study"]["samples"], "sample", ", evenly spaced")
    score = "held-out score" if data["study"]["classes"] else "held-out prediction"
    scale = "" if data["study"]["classes"] else ", dark low, yellow high"
    return picture(
        "heat_map",
        partial(figures_heat.heat, data),
        data={
            "gene": it["genes"],
            "symbol": it["symbols"],
            **dict(zip(it["samples"], map(list, zip(*it["z"], strict=True)), strict=True)),
        },
        title="Heat map of the signature",
        description=f"Standardised expression of {shown} genes in {columns} samples, both"
        " clustered.",
        caption="Standard deviations from the gene's mean, cut at ±3: orange above, blue below."
        " Genes and samples are clustered (average linkage of Euclidean distances); bars:"
        f" {clean(data['study']['label'])}{_batch_bar(data)} and {score}{scale}.{capped}",
    )


def _batch_bar(data: Genes) -> str:
    return f", {clean(data['batch']['column'])}" if data["batch"] else ""


def _volcano(data: Genes) -> Picture:
    it = data["volcano"]
    shown = len(it["genes"])
    other = " Diamonds: the nonlinear list." if it["nonlinear"] is not None else ""
    logs = "" if it["logarithm"] or not data["study"]["classes"] else (
        " The difference is one of log₂, a log fold change, if the values as read are log₂."
    )  # fmt: skip
    return picture(
        "volcano",
        partial(figures_effects.volcano, data),
        data={
            "gene": it["genes"],
            "symbol": it["symbols"],
            "effect": it["effect"],
            "p": it["p"],
            "passes": it["passes"],
            "signature": it["signature"],
        },
        title="Size and significance of the effect of each gene",
        description=f"{figures_effects.effect_name(data)} against minus log p of {shown} genes.",
        caption=f"Green: the signature.{other} Grey: other genes, faint below the dashed"
        f" line of the false discovery rate.{logs}"
        f"{shown_of(shown, it['total'], 'gene', how=_which())}",
    )


def _which() -> str:
    return ": those of lists, the smallest p, and others evenly spaced"


def _both(both: int, size: int) -> str:
    if not size:
        return "there is no signature to compare them with"
    if size == 1:
        return f"the one gene of the signature is {'' if both else 'not '}among them"
    verb = "is" if both == 1 else "are"
    return f"{both} of the {size} genes of the signature {verb} among them"


def single_genes(data: Genes, limits: Limits) -> Section:
    """Set the tests of single genes beside the selection."""
    it, fdr = data["univariate"], data["config"]["controls"]["fdr"]
    words = [
        f"Tested one by one{one_value(data)}{in_test(data)}, {it['significant']} of"
        f" {counted(it['total'], 'gene')} pass a false discovery rate of {percent(fdr)};"
        f" {_both(it['both'], data['answer']['size'])}.",
        "A gene may matter only together with others, and one of several similar genes is enough"
        " to predict, so the two lists need not agree.",
    ]
    items: list[Item] = [_volcano(data)] if data["volcano"]["genes"] else []
    if it["genes"]:
        image = picture(
            "single_genes",
            partial(figures_lists.univariate, data),
            data={"gene": it["genes"], "symbol": it["symbols"], "p": it["p"],
                  "frequency": it["frequency"], "signature": it["inside"]},
            title="Selection frequency and single-gene test",
            description=f"Selection frequency against minus log p of {len(it['genes'])} genes.",
            caption="One dot per gene; green: the signature. Lower right: genes that differ but"
            " are redundant. Upper left: informative only in combination, or selection noise."
            f" Shown: the {len(it['genes'])} genes with the smallest p or in any chosen list.",
        )  # fmt: skip
        items.append(Group("single-frequency", "Beside the selection frequency", (), [image]))
    caption = "Test of each gene by itself, smallest p first."
    items.append(packed_table(data, "univariate", caption, limits.table_rows, search=True))
    return Section("single-genes", "Single-gene tests", words, items, part="signature", folded=True)
