"""A card for each gene of the signature: its values, its own effect, its places, its like."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from genesig.report.genes.alone import about, alone, direction, in_short, separation
from genesig.report.genes.figures_cards import values_of
from genesig.report.genes.figures_effects import effect_name, scale_name
from genesig.report.genes.proved import standing
from genesig.report.genes.record import Card as Gene
from genesig.report.genes.record import Genes, Limited, Replacement
from genesig.report.genes.section_values import strips
from genesig.report.page.columns import Column
from genesig.report.page.gene_links import gene_anchor, gene_links, short_symbol
from genesig.report.page.rows import Row, is_repeated, records
from genesig.report.page.section import Card, Item, Limits, Section
from genesig.report.page.style import power
from genesig.report.page.tables import LOWER, UPPER, Table, filled_table
from genesig.report.page.words import (
    clean,
    counted,
    decimal,
    first_of,
    percent,
    shorten,
    significant,
)

SYMBOL = 1
"""Place of the symbols in the table of single genes."""


def cards(data: Genes, limits: Limits) -> Section:
    """Show a card for each gene of the signature."""
    found, total = data["cards"]["each"], data["answer"]["size"]
    if not found:
        return Section("cards", "Gene by gene", part="signature")
    words = [
        "What a gene does alone is measured on the samples on which it was selected: that flatters"
        " it, and the 95\u00a0% CIs do not allow for the selection. Rank: its place, by"
        " selection frequency, among the genes that any training set selected; a dash where it is"
        " in no list or lists were too long. Often chosen instead: genes selected more often"
        f" when this one was not. Descriptive only.{first_of(len(found), total, 'gene')}"
    ]
    if data["cards"]["events"]:
        words[0] += " Filled dots: samples with the event, open ones: censored."
    rows = {row["gene"]: row for row in records(data["tables"]["signature"])}
    each = [
        _card(data, one, strip["values"], rows[one["gene"]])
        for one, strip in zip(found, data["strips"], strict=False)
    ]
    items: list[Item] = [strips(data, limits), *each, _table(data, rows, limits)]
    return Section("cards", "Gene by gene", words, items, part="signature", folded=True)


def _card(data: Genes, one: Gene, values: list[float], row: Row) -> Card:
    symbol = str(row["symbol"] or one["gene"])
    name = short_symbol(symbol) or shorten(symbol, 40)
    words = [shorten(one["gene"], 40)] if name != one["gene"] else []
    beside = " · ".join([*words, in_short(data, one), f"selected {percent(row['frequency'])}"])
    against = "against the response"
    if data["study"]["classes"]:
        against = f"by {clean(data['study']['label'])}, boxes of the middle half"
    if data["cards"]["events"]:
        against = "against time; filled dots: with the event, open: censored"
    pairs = [
        ("Selected", _selected(one, row)),
        *([("Evidence", standing(row))] if "named" in row else []),
        (alone(data).title.format(about(data, one)), _separation(data, one)),
        (_effect_name(data, one), _limits(one["effect"], lambda v: significant(v, 3))),
        *([("Missing", _missing(data, one["missing"]))] if one["missing"] else []),
        ("Rank", _ranks(data, one)),
        ("Often chosen instead", _replaced(one)),
    ]
    said = f"Values of {name} {against}."
    svg, marks = values_of(values, data["study"], data["cards"]["events"], said)
    links = gene_links(one["gene"], symbol)
    return Card(gene_anchor(one["gene"]), name, beside, svg, marks, pairs, links)


def _selected(one: Gene, row: Row) -> str:
    inside, lists = one["lists"]
    weight = f"weight {significant(row['coef'], 3)}" if row["coef"] else "not in the final model"
    return (
        f"in {percent(row['frequency'])} of the training sets; with the halves in {inside} of"
        f" {counted(lists, 'list')}{', core' if row.get('core') else ''}; {weight}"
    )


def _missing(data: Genes, shares: list[float]) -> str:
    classes = data["study"]["classes"] or ["the samples"]
    each = zip(shares, classes, strict=True)
    return "; ".join(f"{percent(share)} of {clean(name)}" for share, name in each)


def _separation(data: Genes, one: Gene) -> str:
    said = _limits(separation(data, one), alone(data).write)
    return "; ".join(filter(None, (said, direction(data, one))))


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


def _table(data: Genes, rows: Mapping[str, Row], limits: Limits) -> Table:
    """Show the numbers of the cards as one table, each with its definition."""
    it = alone(data)
    columns = [
        Column("Gene id", "name", key="gene"),
        Column("Symbol", "text", key="symbol"),
        Column("Direction", "text", "Where its values are larger", key="direction"),
        Column(it.short, it.kind, it.help, key="separation"),
        Column("from", it.kind, LOWER, key="low"),
        Column("to", it.kind, UPPER, key="high"),
        Column("Effect", "signed", _effects(data), key="effect"),
        Column("from", "signed", LOWER, key="effect_low"),
        Column("to", "signed", UPPER, key="effect_high"),
    ]
    found = [
        [one["gene"], rows[one["gene"]]["symbol"], direction(data, one),
         *_three(separation(data, one)), *_three(one["effect"])]
        for one in data["cards"]["each"]
    ]  # fmt: skip
    if is_repeated([column.key for column in columns], found, SYMBOL):
        columns.pop(SYMBOL)
        found = [[*row[:SYMBOL], *row[SYMBOL + 1 :]] for row in found]
    caption = "Each gene of the signature by itself, on the samples on which it was selected."
    return filled_table("alone", caption, columns, found, limits.table_rows, search=True)


def _three(it: Limited) -> tuple[float | None, float | None, float | None]:
    return it["value"], it["low"], it["high"]


def _effects(data: Genes) -> str:
    first = data["cards"]["each"][0]
    if first["of"]:
        name = scale_name(data)
        return f"{name[0].upper()}{name[1:]}, the class of the direction less the others"
    return _effect_name(data, first)
