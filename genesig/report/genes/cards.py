"""The section with a card for each gene of the signature."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib.ticker import MaxNLocator

from genesig.arrays import Array
from genesig.report.genes.figures import effect_axis_label, mean_difference_label
from genesig.report.genes.record import GeneCard as Gene
from genesig.report.genes.record import Genes
from genesig.report.genes.section import selection_text
from genesig.report.page.measure import class_codes
from genesig.report.page.record import Estimate, StudyFacts
from genesig.report.page.section import Card, Item, Limits, Section
from genesig.report.page.style import CLASS_COLOURS, GENESIG_COLOUR, INK, MUTED, PAPER
from genesig.report.page.svg import MAX_NAME_LETTERS, SAMPLE, SVG, Marks, circle_path, svg_text
from genesig.report.page.tables import TableRow, table_rows
from genesig.report.page.wording import Wording
from genesig.report.page.words import (
    Write,
    clean,
    decimal,
    gene_anchor,
    gene_links,
    percent,
    short_symbol,
    shorten,
    significant,
    span,
)


@dataclass(frozen=True)
class SingleGeneMeasure:
    """How the page shows the measure of a single gene; {} stands for a class or the label."""

    short_name: str  # in the words above the cards
    heading: str  # heading of the card
    directions: tuple[str, str]  # words for values above and below the middle
    help: str  # definition
    middle: float = 0.5  # value without a direction
    is_folded: bool = True  # whether values below the middle are shown as 1 - value
    neutral_effect: float = 0.0  # effect without a direction
    format_number: Write = decimal


AUC_HELP = (
    "Area under the ROC curve of this gene alone, in the direction given; 0.5 is chance. Interval:"
    " the wider of DeLong's and the score interval"
)
_CLASS_DIRECTIONS = ("higher in {}", "lower in {}")
# by the test of single genes
MEASURE_OF_TEST = {
    "welch": SingleGeneMeasure("AUC", "AUC alone", _CLASS_DIRECTIONS, AUC_HELP),
    "anova": SingleGeneMeasure(
        "AUC", "AUC alone, {} against the others", _CLASS_DIRECTIONS, AUC_HELP
    ),
    "differences": SingleGeneMeasure(
        "share of pairs",
        "Share of pairs in this direction",
        _CLASS_DIRECTIONS,
        "Pairs that differ in the direction given, ties counting half. Interval: Wilson's",
        format_number=percent,
    ),
    "correlation": SingleGeneMeasure(
        "r",
        "Correlation with {}",
        ("rises with {}", "falls with {}"),
        "Pearson's correlation with the outcome. Interval: Fisher's",
        middle=0.0,
        is_folded=False,
    ),
    "score": SingleGeneMeasure(
        "C",
        "C alone",
        ("higher with early events", "lower with early events"),
        "Harrell's C of this gene alone in the direction given: share of comparable pairs in that"
        " order; 0.5 is chance",
        neutral_effect=1.0,
    ),
}


def single_gene_measure(data: Genes) -> SingleGeneMeasure:
    """Return the measure that belongs to the study's test of single genes."""
    return MEASURE_OF_TEST[data["cards"]["test"]]


def class_or_label(data: Genes, card: Gene) -> str:
    """Return the class of the direction of a gene, or the label."""
    classes = data["study"]["classes"]
    return clean(card["class_of_direction"] or (classes[1] if classes else data["study"]["label"]))


def direction_text(data: Genes, card: Gene) -> str:
    """Return ``"lower in AML"``; empty without a direction.

    If measure and effect have opposite signs, the text says that the direction is not clear.
    """
    measure = single_gene_measure(data)
    value = card["separation"]["value"]
    effect = card["effect"]["value"]
    if value is None or value == measure.middle:
        return ""
    if effect is not None and (effect - measure.neutral_effect) * (value - measure.middle) < 0:
        return "in no clear direction"
    above, below = measure.directions
    direction = below if value < measure.middle else above
    return direction.format(shorten(class_or_label(data, card), 24))


def folded_measure(data: Genes, card: Gene) -> Estimate:
    """Return the measure with its interval; a folded one (AUC) below the middle as 1 less it."""
    measure = single_gene_measure(data)
    score = card["separation"]
    value = score["value"]
    low = score["low"]
    high = score["high"]
    if not measure.is_folded or value is None or value >= measure.middle:
        return score
    return {  # with four digits, as in report_data.json
        "value": round(1 - value, 4),
        "low": None if high is None else round(1 - high, 4),
        "high": None if low is None else round(1 - low, 4),
    }


# the drawing of a card; all sizes in pixels of the view box
STRIP_WIDTH = 340
STRIP_HEIGHT = 170
STRIP_LEFT = 40
STRIP_RIGHT = 332
STRIP_TOP = 8
STRIP_BOTTOM = 142
DOT_INSET = 5  # space between the dots and the axes
DOT_RADIUS = 2.4
LETTER_WIDTH = 5.6


def draw_values(
    values: Sequence[float], study: StudyFacts, events: Sequence[bool] | None, description: str
) -> tuple[str, Marks]:
    """Return an <svg> of values by class or against the response, and the names of its dots.

    In survival a filled dot is a sample with the event, an open dot a censored sample.
    """
    response = np.array(study["response"]["value"], dtype=float)
    y, ticks = _scale_to_pixels(np.array(values, dtype=float), STRIP_BOTTOM - DOT_INSET, STRIP_TOP)
    root = ET.Element(
        f"{SVG}svg",
        {
            "viewBox": f"0 0 {STRIP_WIDTH} {STRIP_HEIGHT}",
            "role": "img",
            "aria-label": clean(description),
            "font-size": "10",
        },
    )
    _add_path(root, f"M{STRIP_LEFT} {STRIP_TOP}V{STRIP_BOTTOM}H{STRIP_RIGHT}", stroke=MUTED)
    for tick_position, text in ticks:
        _add_text(root, STRIP_LEFT - 5, tick_position + 3, text, "end")
    if study["classes"] is None:
        x = _draw_against_response(root, response, y, events, study["label"])
    else:
        x = _draw_by_class(root, response, y, study["classes"])
    return svg_text(root), {
        "kind": SAMPLE,
        "names": [shorten(name, MAX_NAME_LETTERS) for name in study["response"]["name"]],
        "box": [STRIP_LEFT, STRIP_TOP, STRIP_RIGHT, STRIP_BOTTOM],
        "x": x.round(1).tolist(),
        "y": y.round(1).tolist(),
    }


def _scale_to_pixels(
    values: Array, first_pixel: float, last_pixel: float
) -> tuple[Array, list[tuple[float, str]]]:
    """Return pixel positions of values, and (position, text) of a few ticks at round numbers."""
    low = float(values.min())
    high = float(values.max())
    value_range = (high - low) or 1.0
    ticks = [tick for tick in MaxNLocator(4).tick_values(low, high) if low <= tick <= high] or [low]
    pixels_per_unit = (last_pixel - first_pixel) / value_range
    return first_pixel + (values - low) * pixels_per_unit, [
        (first_pixel + (tick - low) * pixels_per_unit, significant(float(tick), 3))
        for tick in ticks
    ]


def _draw_by_class(root: ET.Element, response: Array, y: Array, classes: Sequence[str]) -> Array:
    """Draw the values of each class with a box; return the x of each sample."""
    class_width = (STRIP_RIGHT - STRIP_LEFT) / len(classes)
    x = np.zeros(len(y))
    for class_index, (name, code) in enumerate(zip(classes, class_codes(classes), strict=True)):
        class_y = y[response == code]
        middle = STRIP_LEFT + (class_index + 0.5) * class_width
        value_ranks = np.argsort(np.argsort(class_y))
        # Multiples of the golden ratio spread neighbouring values evenly over the width.
        class_x = middle + ((value_ranks * 0.618034) % 1 - 0.5) * 0.5 * class_width
        x[response == code] = class_x
        _draw_dots(root, class_x, class_y, CLASS_COLOURS[class_index])
        if len(class_y) > 1:
            _draw_box(root, middle, 0.36 * class_width, np.quantile(class_y, [0.25, 0.5, 0.75]))
        size_text = f" ({len(class_y)})" if class_width > 60 else ""
        max_letters = max(3, int(class_width / LETTER_WIDTH) - len(size_text))
        _add_text(
            root, middle, STRIP_BOTTOM + 14, f"{shorten(name, max_letters)}{size_text}", "middle"
        )
    return x


def _draw_box(root: ET.Element, x: float, half_width: float, quartiles: Array) -> None:
    """Draw the box of three quartiles."""
    low, middle, high = quartiles
    outline = (
        f"M{x - half_width:.1f} {low:.1f}H{x + half_width:.1f}V{high:.1f}H{x - half_width:.1f}Z"
    )
    _add_path(root, f"{outline}M{x - half_width:.1f} {middle:.1f}H{x + half_width:.1f}", stroke=INK)


def _draw_against_response(
    root: ET.Element, response: Array, y: Array, events: Sequence[bool] | None, label: str
) -> Array:
    """Draw the values against the response; return the x of each sample."""
    x, ticks = _scale_to_pixels(response, STRIP_LEFT + DOT_INSET, STRIP_RIGHT - 4)
    is_filled = np.ones(len(y), bool) if events is None else np.array(events, dtype=bool)
    _draw_dots(root, x[~is_filled], y[~is_filled], PAPER, stroke=GENESIG_COLOUR)
    _draw_dots(root, x[is_filled], y[is_filled], GENESIG_COLOUR)
    for tick_position, text in ticks:
        _add_text(root, tick_position, STRIP_BOTTOM + 13, text, "middle")
    _add_text(root, (STRIP_LEFT + STRIP_RIGHT) / 2, STRIP_HEIGHT - 3, shorten(label, 40), "middle")
    return x


def _draw_dots(
    root: ET.Element, x: Array, y: Array, colour: str, stroke: str | None = None
) -> None:
    """Draw the dots as one path."""
    if len(x):
        outline = "".join(circle_path(*centre, DOT_RADIUS) for centre in zip(x, y, strict=True))
        attributes = {} if stroke is None else {"stroke": stroke}
        _add_path(root, outline, fill=colour, **attributes)


def _add_path(root: ET.Element, outline: str, fill: str = "none", **attributes: str) -> None:
    """Append a path to the picture."""
    ET.SubElement(root, f"{SVG}path", {"d": outline, "fill": fill, **attributes})


def _add_text(root: ET.Element, x: float, y: float, text: str, anchor: str) -> None:
    """Append a text to the picture."""
    attributes = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor}
    ET.SubElement(root, f"{SVG}text", attributes).text = text


WORDS = Wording(__file__)  # sentences: the macros of cards.j2, by name


def cards_section(data: Genes, limits: Limits) -> Section | None:
    """Return the section with a card for each gene of the signature; None without any."""
    shown_cards = data["cards"]["genes"][: limits.gene_cards]
    if not shown_cards:
        return None
    definition = _measure_definition(data)
    words = WORDS.paragraphs("section", data, _effect_words(data), definition, len(shown_cards))
    rows = {row["gene"]: row for row in table_rows(data["tables"]["signature"])}
    card_items: list[Item] = [
        _gene_card(data, card, strip["values"], rows[card["gene"]])
        for card, strip in zip(shown_cards, data["strips"], strict=False)  # strips are more
    ]
    return Section("cards", "Gene by gene", words, card_items, part="genes", folded=True)


def _measure_definition(data: Genes) -> str:
    """Return ``"AUC: area under the ROC curve of this gene alone, ..."``."""
    measure = single_gene_measure(data)
    return f"{measure.short_name[0].upper()}{measure.short_name[1:]}: {measure.help}."


def _gene_card(data: Genes, card: Gene, values: list[float], row: TableRow) -> Card:
    """Return the card of one gene."""
    symbol = str(row["symbol"] or card["gene"])
    name = short_symbol(symbol) or shorten(symbol, 40)
    gene_id_text = [shorten(card["gene"], 40)] if name != card["gene"] else []
    core_text = "core gene" if row.get("core") else ""
    subtitle = " · ".join(filter(None, (*gene_id_text, direction_text(data, card), core_text)))
    axis_text = "against the response"
    if data["study"]["classes"]:
        axis_text = f"by {clean(data['study']['label'])}, boxes of the middle half"
    if data["cards"]["events"]:
        axis_text = "against time; filled dots: with the event, open: censored"
    measure = single_gene_measure(data)
    measure_text = _value_with_limits(folded_measure(data, card), measure.format_number)
    facts = [
        ("Weight", "" if row["weight"] else "not in the final model"),
        ("Selection frequency", selection_text(row) if "fdr_selected" in row else ""),
        (measure.heading.format(class_or_label(data, card)), measure_text),
        ("Effect", text_with_interval(card["effect"])),
        ("Missing", WORDS.text("missing", card["missing"] or (), data["study"]["classes"])),
        ("Often selected instead", WORDS.text("replacements", card["replacements"])),
    ]
    description = f"Values of {name} {axis_text}."
    svg, marks = draw_values(values, data["study"], data["cards"]["events"], description)
    links = gene_links(card["gene"], symbol)
    pairs = [(name, text) for name, text in facts if text]
    return Card(gene_anchor(card["gene"]), name, subtitle, svg, marks, pairs, links)


def text_with_interval(score: Estimate) -> str:
    """Return a number with its limits, with decimals by which the middle one has three digits."""
    magnitudes = sorted(
        abs(number)
        for number in (score["value"], score["low"], score["high"])
        if number is not None
    )
    magnitude = magnitudes[len(magnitudes) // 2] if magnitudes else 0.0
    if not 0.01 <= magnitude < 1000:
        return _value_with_limits(score, significant)
    return _value_with_limits(score, partial(decimal, digits=2 - math.floor(math.log10(magnitude))))


def _value_with_limits(score: Estimate, format_number: Write) -> str:
    """Return ``"0.97 (0.92–1.00)"``, or the value alone without limits."""
    if score["low"] is None or score["high"] is None:
        return format_number(score["value"])
    limits = span(score["low"], score["high"], format_number)
    return f"{format_number(score['value'])} ({limits})"


def _effect_words(data: Genes) -> str:
    """Return the definition of the effect of a gene."""
    if data["cards"]["test"] == "score":
        return "hazard ratio of one standard deviation"
    if data["cards"]["test"] == "anova":
        return f"{mean_difference_label(data)}, the class of the direction less the others"
    return effect_axis_label(data)
