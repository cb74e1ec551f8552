"""A card for each gene of the signature: its values, its own effect, its places, its like."""

from __future__ import annotations

from collections.abc import Callable

from genesig.report.genes.figures_cards import values_of
from genesig.report.genes.figures_effects import effect_name, scale_name
from genesig.report.genes.record import Card as Gene
from genesig.report.genes.record import Genes, Limited, Replacement
from genesig.report.genes.section_values import strips
from genesig.report.page.gene_links import gene_anchor, gene_links, short_symbol
from genesig.report.page.rows import Row, records
from genesig.report.page.section import Card, Limits, Section
from genesig.report.page.style import power
from genesig.report.page.words import (
    clean,
    counted,
    decimal,
    first_of,
    percent,
    shorten,
    significant,
)


def cards(data: Genes, limits: Limits) -> Section:
    """Show a card for each gene of the signature."""
    found, total = data["cards"]["each"], data["answer"]["size"]
    if not found:
        return Section("cards", "Gene by gene", part="signature")
    words = [
        "What a gene does alone is measured on the samples on which it was selected: that flatters"
        " it, and the 95\u00a0% intervals do not allow for the selection. Rank: its place, by"
        " selection frequency, among the genes that any training set selected; – where it is in no"
        " list or lists were too long. What replaces a gene: genes selected more often in those"
        " training sets and halves whose list lacks it; that describes these lists and is no"
        f" test.{first_of(len(found), total, 'gene')}"
    ]
    if data["cards"]["events"]:
        words[0] += " Filled dots: samples with the event, open ones: censored."
    rows = {row["gene"]: row for row in records(data["tables"]["signature"])}
    each = [
        _card(data, one, strip["values"], rows[one["gene"]])
        for one, strip in zip(found, data["strips"], strict=False)
    ]
    return Section("cards", "Gene by gene", words, [strips(data, limits), *each],
                   part="signature", folded=True)  # fmt: skip


def _card(data: Genes, one: Gene, values: list[float], row: Row) -> Card:
    symbol = str(row["symbol"] or one["gene"])
    name = short_symbol(symbol) or shorten(symbol, 40)
    alone = f"{_SHORT[data['cards']['test']]} {decimal(one['separation']['value'])}"
    alone += f" for {shorten(one['of'], 24)}" if one["of"] else ""
    words = [shorten(one["gene"], 40)] if name != one["gene"] else []
    beside = " · ".join([*words, alone, f"selected {percent(row['frequency'])}"])
    against = "against the response"
    if data["study"]["classes"]:
        against = f"by {clean(data['study']['label'])}, boxes of the middle half"
    if data["cards"]["events"]:
        against = "against time; filled dots: with the event, open: censored"
    pairs = [
        ("Selected", _selected(one, row)),
        (_SEPARATION[data["cards"]["test"]](data, one), _separation(data, one["separation"])),
        (_effect_name(data, one), _limits(one["effect"], lambda v: significant(v, 3))),
        ("Rank", _ranks(data, one)),
        ("Replaced by", _replaced(one)),
    ]
    return Card(
        gene_anchor(one["gene"]), name, beside,
        values_of(values, data["study"], data["cards"]["events"], f"Values of {name} {against}."),
        pairs, gene_links(one["gene"], symbol),
    )  # fmt: skip


def _selected(one: Gene, row: Row) -> str:
    inside, lists = one["lists"]
    return (
        f"in {percent(row['frequency'])} of the training sets; with the halves in {inside} of"
        f" {counted(lists, 'list')}{', core' if row['core'] else ''}; weight"
        f" {significant(row['coef'], 3)}"
    )


def _positive(data: Genes) -> str:
    return clean((data["study"]["classes"] or ["", ""])[1])


_SEPARATION: dict[str, Callable[[Genes, Gene], str]] = {
    "welch": lambda data, one: "AUC alone",
    "anova": lambda data, one: f"AUC alone, {clean(one['of'])} against the others",
    "differences": lambda data, one: f"Pairs in which it is higher in {_positive(data)}",
    "correlation": lambda data, one: f"Correlation with {clean(data['study']['label'])}",
    "score": lambda data, one: "C alone",
}
_SHORT = {"welch": "AUC", "anova": "AUC", "differences": "higher in pairs", "correlation": "r",
          "score": "C"}  # fmt: skip
_READ = {
    "welch": "; above 0.5: higher in {}",
    "anova": "; above 0.5: higher in this class",
    "score": "; above 0.5: higher with early events",
}


def _separation(data: Genes, it: Limited) -> str:
    test = data["cards"]["test"]
    write = percent if test == "differences" else decimal
    return _limits(it, write) + _READ.get(test, "").format(_positive(data))


def _effect_name(data: Genes, one: Gene) -> str:
    test, name = data["cards"]["test"], effect_name(data)
    if test == "score":
        return "Hazard ratio of one standard deviation"
    if test == "anova":
        name = f"{scale_name(data)}, {clean(one['of'])} less the others"
    return f"{name[0].upper()}{name[1:]}"


def _limits(it: Limited, write: Callable[[float | None], str]) -> str:
    if it["low"] is None or it["high"] is None:
        return write(it["value"])
    return f"{write(it['value'])} (95\u00a0% CI {write(it['low'])} to {write(it['high'])})"


def _ranks(data: Genes, one: Gene) -> str:
    names = ["chosen lists", *(f"μ {power(mu)}" for mu in data["mu"])]
    return "; ".join(
        f"{name} {'–' if place is None else f'{place[0]:.0f} of {place[1]:.0f}'}"
        for name, place in zip(names, one["ranks"], strict=True)
    )


def _replaced(one: Gene) -> str:
    inside, lists = one["lists"]
    if inside == lists:
        return "nothing: every list holds it"
    if one["replaced"]:
        return "; ".join(map(_replacement, one["replaced"]))
    if inside > 0 and lists - inside < 3:
        return f"not known: only {counted(lists - inside, 'list')} without it"
    return "no gene in particular"


def _replacement(one: Replacement) -> str:
    symbol = short_symbol(one["symbol"]) or shorten(one["symbol"], 24)
    (without, lacking), (beside, having) = one["without"], one["beside"]
    return (
        f"{symbol} (in {without} of {lacking} lists without it, {beside} of {having} with it;"
        f" r\u00a0{decimal(one['r'])})"
    )
