"""A card for each gene of the signature: its values, its own effect, its places, its like."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib.ticker import MaxNLocator

from genesig.arrays import Array
from genesig.report.genes.figures import effect_name, scale_name
from genesig.report.genes.methods import standing
from genesig.report.genes.record import Card as Gene
from genesig.report.genes.record import Genes, Replacement
from genesig.report.page.measure import codes
from genesig.report.page.record import Limited, StudyFacts
from genesig.report.page.section import Card, Item, Limits, Section
from genesig.report.page.style import CLASS_COLOURS, INK, MUTED, OWN, PAPER
from genesig.report.page.svg import MOST, SAMPLE, SVG, Marks, circle, written
from genesig.report.page.tables import (
    FROM,
    TO,
    Column,
    Row,
    Table,
    filled_table,
    is_repeated,
    records,
)
from genesig.report.page.words import (
    clean,
    decimal,
    first_of,
    gene_anchor,
    gene_links,
    percent,
    short_symbol,
    shorten,
    significant,
)

Write = Callable[[float | None], str]


@dataclass(frozen=True)
class Alone:
    """The measure of a gene by itself, by the test of genes.

    Attributes
    ----------
    short, title : str
        Its name beside the name of a gene; as a heading, ``{}`` for the class that is meant.
    ways : (str, str)
        What is said above and below the middle; ``{}`` is the class or the label.
    middle, neutral : float
        Where there is no direction; the size of an effect that is none.
    turned : bool
        Whether it is given from the middle up, as the direction says the rest.
    help : str
        Its definition.
    write : callable
    kind : str
        How tables write it.
    """

    short: str
    title: str
    ways: tuple[str, str]
    middle: float
    turned: bool
    help: str
    neutral: float = 0.0
    write: Write = decimal
    kind: str = "number"


AREA = (
    "Area under the ROC curve of this gene alone in the direction given: the share of pairs of a"
    " sample of the class and another one that it puts in that order; 0.5 is chance, 1 separates"
    " them. Interval: DeLong's, or the score interval where that is wider"
)
_HIGHER = ("higher in {}", "lower in {}")
ALONE = {
    "welch": Alone("AUC", "AUC alone", _HIGHER, 0.5, True, AREA),
    "anova": Alone("AUC", "AUC alone, {} against the others", _HIGHER, 0.5, True, AREA),
    "differences": Alone(
        "share of pairs", "Share of pairs in this direction", _HIGHER, 0.5, True,
        "Pairs that differ in the direction given, ties counting half. Interval: Wilson's",
        0.0, percent, "share",
    ),
    "correlation": Alone(
        "r", "Correlation with {}", ("rises with {}", "falls with {}"), 0.0, False,
        "Pearson's correlation with the response. Interval: Fisher's",
    ),
    "score": Alone(
        "C", "C alone", ("higher with early events", "lower with early events"), 0.5, True,
        "Harrell's C of this gene alone in the direction given: the share of comparable pairs that"
        " it puts in that order; 0.5 is chance",
        neutral=1.0,
    ),
}  # fmt: skip


def alone(data: Genes) -> Alone:
    """Return the measure of the study's test of genes."""
    return ALONE[data["cards"]["test"]]


def about(data: Genes, one: Gene) -> str:
    """Return the class that the direction of a gene is about, or the label."""
    classes = data["study"]["classes"]
    return clean(one["of"] or (classes[1] if classes else data["study"]["label"]))


def direction(data: Genes, one: Gene) -> str:
    """Return ``"lower in AML"``; nothing where there is none, or order and size disagree."""
    it, value, effect = alone(data), one["separation"]["value"], one["effect"]["value"]
    if value is None or value == it.middle:
        return ""
    if effect is not None and (effect - it.neutral) * (value - it.middle) < 0:
        return "in no clear direction"
    return it.ways[value < it.middle].format(shorten(about(data, one), 24))


def separation(data: Genes, one: Gene) -> Limited:
    """Return the measure with its interval, from the middle up where the direction is in words."""
    it, found = alone(data), one["separation"]
    value, low, high = found["value"], found["low"], found["high"]
    if not it.turned or value is None or value >= it.middle:
        return found
    return {
        "value": round(1 - value, 4),
        "low": None if high is None else round(1 - high, 4),
        "high": None if low is None else round(1 - low, 4),
    }


def in_short(data: Genes, one: Gene) -> str:
    """Return ``"lower in AML, AUC 0.97"``."""
    it = alone(data)
    number = f"{it.short} {it.write(separation(data, one)['value'])}"
    return ", ".join(filter(None, (direction(data, one), number)))


WIDTH, HEIGHT = 340, 170
LEFT, RIGHT, TOP, BOTTOM = 40, 332, 8, 142
INSET = 5
"""Room between the dots and the axes."""
RADIUS = 2.4
LETTER = 5.6
"""Width of a letter, for names that must not run into each other."""


def values_of(
    values: Sequence[float], study: StudyFacts, events: Sequence[bool] | None, words: str
) -> tuple[str, Marks]:
    """Return an ``<svg>``: values by class with a box, or against the response; and its names.

    Of survival a filled dot is a sample with the event, an open one a censored sample.
    """
    response = np.array(study["response"]["value"], dtype=float)
    y, ticks = _scaled(np.array(values, dtype=float), BOTTOM - INSET, TOP)
    root = ET.Element(f"{SVG}svg", {
        "viewBox": f"0 0 {WIDTH} {HEIGHT}", "role": "img", "aria-label": clean(words),
        "font-size": "10",
    })  # fmt: skip
    _path(root, f"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}", stroke=MUTED)
    for at, text in ticks:
        _text(root, LEFT - 5, at + 3, text, "end")
    if study["classes"] is None:
        x = _against(root, response, y, events, study["label"])
    else:
        x = _by_class(root, response, y, study["classes"])
    return written(root), {
        "kind": SAMPLE,
        "names": [shorten(name, MOST) for name in study["response"]["name"]],
        "box": [LEFT, TOP, RIGHT, BOTTOM],
        "x": x.round(1).tolist(),
        "y": y.round(1).tolist(),
    }


def _scaled(values: Array, start: float, stop: float) -> tuple[Array, list[tuple[float, str]]]:
    """Return the places of values between two edges, and those of a few round numbers."""
    low, high = float(values.min()), float(values.max())
    size = (high - low) or 1.0
    ticks = [t for t in MaxNLocator(4).tick_values(low, high) if low <= t <= high] or [low]
    place = (stop - start) / size
    return start + (values - low) * place, [
        (start + (t - low) * place, significant(float(t), 3)) for t in ticks
    ]


def _by_class(root: ET.Element, response: Array, y: Array, classes: Sequence[str]) -> Array:
    room, x = (RIGHT - LEFT) / len(classes), np.zeros(len(y))
    for side, (name, code) in enumerate(zip(classes, codes(classes), strict=True)):
        mine, middle = y[response == code], LEFT + (side + 0.5) * room
        order = np.argsort(np.argsort(mine))
        at = middle + ((order * 0.618034) % 1 - 0.5) * 0.5 * room
        x[response == code] = at
        _dots(root, at, mine, CLASS_COLOURS[side])
        if len(mine) > 1:
            _box(root, middle, 0.36 * room, np.quantile(mine, [0.25, 0.5, 0.75]))
        size = f" ({len(mine)})" if room > 60 else ""
        most = max(3, int(room / LETTER) - len(size))
        _text(root, middle, BOTTOM + 14, f"{shorten(name, most)}{size}", "middle")
    return x


def _box(root: ET.Element, x: float, half: float, quartiles: Array) -> None:
    low, middle, high = quartiles
    edges = f"M{x - half:.1f} {low:.1f}H{x + half:.1f}V{high:.1f}H{x - half:.1f}Z"
    _path(root, f"{edges}M{x - half:.1f} {middle:.1f}H{x + half:.1f}", stroke=INK)


def _against(
    root: ET.Element, response: Array, y: Array, events: Sequence[bool] | None, label: str
) -> Array:
    at, ticks = _scaled(response, LEFT + INSET, RIGHT - 4)
    full = np.ones(len(y), bool) if events is None else np.array(events, dtype=bool)
    _dots(root, at[~full], y[~full], PAPER, stroke=OWN)
    _dots(root, at[full], y[full], OWN)
    for place, text in ticks:
        _text(root, place, BOTTOM + 13, text, "middle")
    _text(root, (LEFT + RIGHT) / 2, HEIGHT - 3, shorten(label, 40), "middle")
    return at


def _dots(root: ET.Element, x: Array, y: Array, colour: str, stroke: str | None = None) -> None:
    if len(x):
        d = "".join(circle(*pair, RADIUS) for pair in zip(x, y, strict=True))
        how = {} if stroke is None else {"stroke": stroke}
        _path(root, d, fill=colour, **how)


def _path(root: ET.Element, d: str, fill: str = "none", **how: str) -> None:
    ET.SubElement(root, f"{SVG}path", {"d": d, "fill": fill, **how})


def _text(root: ET.Element, x: float, y: float, text: str, anchor: str) -> None:
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor}
    ET.SubElement(root, f"{SVG}text", place).text = text


SYMBOL = 1
"""Place of the symbols in the table of single genes."""


def cards(data: Genes, limits: Limits) -> Section:
    """Show a card for each gene of the signature."""
    found, total = data["cards"]["each"][: limits.top_genes], data["answer"]["size"]
    if not found:
        return Section("cards", "Gene by gene", part="genes")
    words = [
        "These single-gene values come from the samples that selected the genes, so they are"
        " optimistic (95% CI in parentheses, not corrected for selection). Effect:"
        f" {_effects(data)}. Often selected instead: genes that take this gene's place when it is"
        " not selected."
        f"{first_of(len(found), total, 'gene')}"
    ]
    if data["cards"]["events"]:
        words[0] += " Filled dots: samples with the event, open ones: censored."
    rows = {row["gene"]: row for row in records(data["tables"]["signature"])}
    each = [
        _card(data, one, strip["values"], rows[one["gene"]])
        for one, strip in zip(found, data["strips"], strict=False)
    ]
    items: list[Item] = [*each, _table(data, rows, limits)]
    return Section("cards", "Gene by gene", words, items, part="genes", folded=True)


def _card(data: Genes, one: Gene, values: list[float], row: Row) -> Card:
    symbol = str(row["symbol"] or one["gene"])
    name = short_symbol(symbol) or shorten(symbol, 40)
    words = [shorten(one["gene"], 40)] if name != one["gene"] else []
    selected = f"selected {percent(row['cv_frequency'])}{', core' if row.get('core') else ''}"
    beside = " · ".join([*words, in_short(data, one), selected])
    against = "against the response"
    if data["study"]["classes"]:
        against = f"by {clean(data['study']['label'])}, boxes of the middle half"
    if data["cards"]["events"]:
        against = "against time; filled dots: with the event, open: censored"
    pairs = [
        ("Weight", significant(row["weight"], 3) if row["weight"] else "not in the final model"),
        *([("Selection", standing(row))] if "fdr_selected" in row else []),
        (alone(data).title.format(about(data, one)),
         _limits(separation(data, one), alone(data).write)),
        ("Effect", with_interval(one["effect"])),
        *([("Missing", _missing(data, one["missing"]))] if one["missing"] else []),
        *([("Often selected instead", _replaced(one))] if one["replaced"] else []),
    ]  # fmt: skip
    said = f"Values of {name} {against}."
    svg, marks = values_of(values, data["study"], data["cards"]["events"], said)
    links = gene_links(one["gene"], symbol)
    return Card(gene_anchor(one["gene"]), name, beside, svg, marks, pairs, links)


def _missing(data: Genes, shares: list[float]) -> str:
    classes = data["study"]["classes"] or ["the samples"]
    each = zip(shares, classes, strict=True)
    return "; ".join(f"{percent(share)} of {clean(name)}" for share, name in each)


def with_interval(it: Limited) -> str:
    """Write a number and its limits with as many decimals of each: three digits of the middle."""
    sizes = sorted(abs(v) for v in (it["value"], it["low"], it["high"]) if v is not None)
    size = sizes[len(sizes) // 2] if sizes else 0.0
    if not 0.01 <= size < 1000:
        return _limits(it, significant)
    return _limits(it, partial(decimal, digits=2 - math.floor(math.log10(size))))


def _limits(it: Limited, write: Callable[[float | None], str]) -> str:
    if it["low"] is None or it["high"] is None:
        return write(it["value"])
    return f"{write(it['value'])} ({write(it['low'])} to {write(it['high'])})"


def _replaced(one: Gene) -> str:
    return "; ".join(map(_replacement, one["replaced"]))


def _replacement(one: Replacement) -> str:
    symbol = short_symbol(one["symbol"]) or shorten(one["symbol"], 24)
    (without, lacking), (beside, having) = one["without"], one["beside"]
    return (
        f"{symbol} (in {without} of {lacking} lists without it, {beside} of {having} with it;"
        f" r\u00a0{decimal(one['r'])})"
    )


def _table(data: Genes, rows: Mapping[str, Row], limits: Limits) -> Table:
    """Show the numbers of the cards as one table, each with its definition."""
    it, effect = alone(data), _effects(data)
    columns = [
        Column("Gene id", "name", key="gene"),
        Column("Symbol", "symbol", key="symbol"),
        Column("Direction", "text", "Where its values are larger", key="direction"),
        Column(it.short, it.kind, it.help, key="separation"),
        Column(FROM, it.kind, key="low"),
        Column(TO, it.kind, key="high"),
        Column("Effect", "signed", f"{effect[0].upper()}{effect[1:]}", key="effect"),
        Column(FROM, "signed", key="effect_low"),
        Column(TO, "signed", key="effect_high"),
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
    """Say what the effect of a gene is."""
    if data["cards"]["test"] == "score":
        return "hazard ratio of one standard deviation"
    if data["cards"]["each"][0]["of"]:
        return f"{scale_name(data)}, the class of the direction less the others"
    return effect_name(data)
