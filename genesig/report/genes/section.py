"""Sections about genes: the signature, nested lists, blocks, expression, single-gene tests."""

from __future__ import annotations

from functools import partial

from genesig.report.genes import figures, figures_lists
from genesig.report.genes.methods import in_test, one_value
from genesig.report.genes.record import Genes
from genesig.report.page.measure import measure
from genesig.report.page.rows import Row, records
from genesig.report.page.section import Group, Item, Limits, Section
from genesig.report.page.svg import Picture, picture
from genesig.report.page.tables import packed_table
from genesig.report.page.words import (
    clean,
    counted,
    decimal,
    first_of,
    gene_label,
    percent,
    shown_of,
)


def signature(data: Genes, limits: Limits) -> Section:
    """Show the signature as one table."""
    items: list[Item] = [packed_table(
        data, "signature", "The signature: the genes of the final model.", limits.table_rows,
        search=True, shown=True,
    )]  # fmt: skip
    if not data["answer"]["size"]:
        items = []
    words = _signature_words(data)
    return Section("signature", "Genes of the signature", words, items, part="signature")


def stability(data: Genes, limits: Limits) -> Section:
    """Show how stable such a list is."""
    items: list[Item] = [_stability(data)] if _stability_rows(data) else []
    if data["tables"]["stability"]["rows"]:
        items.append(packed_table(data, "stability", "Stability at each μ.", limits.table_rows))
    return Section("list-stability", "Stability of the list", (), items, part="stability")


def _signature_words(data: Genes) -> list[str]:
    if not data["answer"]["size"]:
        return ["The signature is empty: the final model selected no gene."]
    bound = percent(data["config"]["signature"]["frequency"])
    return [
        f"{counted(data['answer']['size'], 'gene')} of the final model, the most often selected"
        f" first. Core: selected in at least {bound} of the outer training sets. A positive weight"
        f" speaks for {_positive(data)}. p and q come from single-gene tests and were not used for"
        " selection."
    ]


def _positive(data: Genes) -> str:
    classes = data["study"]["classes"]
    return clean(
        classes[1] if classes else measure(data).words.higher.format(data["study"]["label"])
    )


def _stability_rows(data: Genes) -> list[Row]:
    return [r for r in records(data["tables"]["stability"]) if r["stability"] is not None]


def _stability(data: Genes) -> Picture:
    return picture(
        "stability",
        partial(figures_lists.stability, data),
        title="Stability of the list at each μ",
        description="Nogueira's stability with intervals, on disjoint halves of the samples and on"
        " the overlapping outer splits.",
        caption="1: every list is the same; 0: lists overlap no more than at random. Green: the two"
        " halves of the samples share no patient, so their lists agree as those of two sets of"
        " patients of half the size would; lines: resampling error, not an interval for other"
        " patients. Grey: lists of the outer splits, which share most of their training samples,"
        " which inflates agreement, although each split chooses its own list, which reduces it.",
    )


def lists(data: Genes, limits: Limits) -> Section:
    """Show the frequency curve and the nested lists."""
    words = [
        "As μ grows, genes that are correlated with selected ones join the list. At large μ the"
        " selection tends to a ranking of the genes one by one, so long lists resemble the result"
        " of single-gene tests; and part of their higher stability is just that.",
    ]
    items: list[Item] = []
    if data["tables"]["frequency_curve"]["rows"]:
        items.append(_curve(data))
    if data["nested"]:
        items.append(Group("nesting", "The lists gene by gene", (), [_nested(data)]))
    items.append(packed_table(data, "lists", "The lists, one per μ.", limits.table_rows))
    if data["tables"]["nested_lists"]["rows"]:
        caption = "Every gene that any split selected, at each μ."
        items.append(
            packed_table(data, "nested_lists", caption, limits.table_rows, search=True)
        )  # fmt: skip
    return Section("lists", "Nested lists", words, items, part="stability")


def _curve(data: Genes) -> Picture:
    bound = percent(data["config"]["signature"]["frequency"])
    permuted = (
        " Grey: the same with shuffled labels, median and the middle 90 % of the permutations."
        if data["null"]["errors"]
        else ""
    )
    return picture(
        "frequency_curve",
        partial(figures_lists.frequency_curve, data),
        title="How often genes are selected",
        description="Number of genes selected in at least a given share of the outer splits, in"
        " the chosen lists and at each mu, observed and with shuffled labels.",
        caption="Green: number of genes that are selected in at least that share of the splits; a"
        f" flat curve is a stable list.{permuted} Dashed: the threshold of core genes ({bound}).",
    )


def _nested(data: Genes) -> Picture:
    shown = len(data["nested"])
    return picture(
        "nested_lists",
        partial(figures_lists.nested, data),
        title="Nested lists",
        description=f"Selection frequency of {shown} genes in the chosen lists and at"
        f" {len(data['mu'])} values of mu.",
        caption=f"The first {counted(shown, 'gene')}: core genes of the chosen lists, then in the"
        " order in which they enter along μ. The larger the dot, the more splits selected the gene;"
        " filled: in enough of them to be core. Where lists are nested, a row once filled stays"
        " filled to the right.",
    )


def blocks(data: Genes, limits: Limits) -> Section:
    """Show the blocks of correlated genes around the minimal list."""
    total, shown = data["correlation"]["total"], len(data["correlation"]["genes"])
    if not shown:
        words = ["There are no lists to group."]
        return Section("blocks", "Blocks of correlated genes", words, part="stability")
    words = [
        "Each gene of the final model's minimal list seeds a block; every other gene of its lists"
        " joins the seed with which its absolute correlation is highest. Blocks are numbered by the"
        " weight of their seed. Other patients may well select another member of a block."
        f"{_apart(data)}"
    ]
    items: list[Item] = [_correlation(data, shown, total)] if shown > 1 else []
    if len(data["projection"]["genes"]) > 2:
        items.append(_projection(data))
    caption = "The leaders of the blocks and the other leader each resembles most."
    items.append(packed_table(data, "prototypes", caption, limits.table_rows))
    caption = "All genes of the lists by block, in the order in which they enter."
    items.append(packed_table(data, "blocks", caption, limits.table_rows, search=True))
    return Section(
        "blocks", "Blocks of correlated genes", words, items, part="stability", folded=True
    )


def _apart(data: Genes) -> str:
    """Count the genes that no seed is like."""
    rows = records(data["tables"]["blocks"])
    number = sum(row["block"] is None for row in rows)
    if not number:
        return ""
    least = decimal(data["config"]["clusters"]["least"])
    verb = "stands" if number == 1 else "stand"
    of_them = f" {counted(number, 'gene')} {verb} apart"
    return f"{of_them}: not correlated with any seed (|r| below {least})."


def _correlation(data: Genes, shown: int, total: int) -> Picture:
    return picture(
        "correlation",
        partial(figures.correlation, data),
        title="Correlation between the genes of the lists",
        description=f"Image of Pearson's r between {shown} genes in the order of blocks and"
        " layers.",
        caption="Pearson's r between genes, by block; thick lines part blocks, thin lines the"
        " layers in which genes enter as μ grows. Orange: alike; blue: one is up where the other is"
        f" down. A strong square on the diagonal is a block that holds together."
        f"{shown_of(shown, total, 'gene', ', the first ones of each block')}",
    )


def _projection(data: Genes) -> Picture:
    it = data["projection"]
    shown = len(it["genes"])
    return picture(
        "projection",
        partial(figures.projection, data),
        title="Genes on the first three meta-patients",
        description=f"{shown} genes on pairs of the first three left singular vectors.",
        caption="Genes placed by their standardised values on the first three meta-patients (the"
        " left singular vectors of the genes of all lists). Colours and shapes: the first seven"
        " blocks, large marks for their leaders; grey: other blocks. Genes near each other vary"
        f" alike.{first_of(shown, it['total'], 'gene')}",
    )


def expression(data: Genes, limits: Limits) -> Section:
    """Show samples and values of the signature."""
    if not data["answer"]["size"]:
        words = ["The signature is empty, so there is nothing to show."]
        return Section("expression", "Expression of the signature", words, part="signature")
    words = [
        "These pictures use all samples, and the genes were chosen because they differ: a clear"
        " separation is expected here and is no evidence. The evidence is the error above."
    ]
    return Section(
        "expression", "Expression of the signature", words,
        [_heat(data), _strips(data, limits), Group(
            "components", "The samples on the components of the signature", (), [_components(data)]
        )], part="signature",
    )  # fmt: skip


def _strips(data: Genes, limits: Limits) -> Picture:
    shown = data["strips"][: limits.top_genes]
    named = "; ".join(gene_label(one["gene"], one["symbol"]) for one in shown)
    by_class = data["study"]["classes"] is not None
    label, most = clean(data["study"]["label"]), counted(len(shown), "gene")
    axis = "class" if by_class else label
    how = "a bar for the mean" if by_class else f"expression against {label}"
    return picture(
        "top_genes",
        partial(figures.strips, data, limits.top_genes),
        title="Expression of the top genes",
        description=f"Expression by {axis} of {named}.",
        caption=f"The {most} selected most often. One dot per sample, {how}.",
    )


def _components(data: Genes) -> Picture:
    it = data["components"]
    shares = ", ".join(percent(share) for share in it["explained"])
    return picture(
        "components",
        partial(figures.components, data),
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
    return picture(
        "heat_map",
        partial(figures.heat, data),
        title="Heat map of the signature",
        description=f"Standardised expression of {shown} genes in {columns} samples.",
        caption="Standard deviations from the gene's mean, cut at ±3: orange above, blue below."
        f" Genes by block (lines), {_order(data)}.{capped}",
    )


def _order(data: Genes) -> str:
    if data["study"]["classes"]:
        return "samples by label and held-out score, so that doubtful samples meet in the middle"
    return f"samples by {clean(data['study']['label'])}, from small to large"


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
    items: list[Item] = []
    if it["genes"]:
        items.append(picture(
            "single_genes",
            partial(figures_lists.univariate, data),
            title="Selection frequency and single-gene test",
            description=f"Selection frequency against minus log p of {len(it['genes'])} genes.",
            caption="One dot per gene; green: the signature. Lower right: genes that differ but"
            " are redundant. Upper left: informative only in combination, or selection noise."
            f" Shown: the {len(it['genes'])} genes with the smallest p or in any chosen list.",
        ))  # fmt: skip
    caption = "Test of each gene by itself, smallest p first."
    items.append(packed_table(data, "univariate", caption, limits.table_rows, search=True))
    return Section("single-genes", "Single-gene tests", words, items, part="signature")
