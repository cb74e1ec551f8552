"""The values of one gene as a small picture of few elements: a page holds forty of them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from genesig.report.page.marks import SVG, circle, written
from genesig.report.page.named import MOST, SAMPLE, Marks
from genesig.report.page.record import StudyFacts
from genesig.report.page.sides import codes
from genesig.report.page.style import CLASS_COLOURS, INK, MUTED, OWN, PAPER
from genesig.report.page.words import clean, shorten, significant

Array = np.ndarray[Any, Any]
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
