"""Pictures of the quality of the samples, and of what they differ by."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from genesig.report.page.charts import by_response, plane
from genesig.report.page.measure import class_of, codes
from genesig.report.page.style import (
    BLOCK_COLOURS,
    BLOCK_MARKERS,
    CLASS_COLOURS,
    INK,
    OTHER,
    OVER,
    OWN,
    PAPER,
    RULE,
    SEQUENTIAL,
    WIDE,
    bare,
    colour_bar,
    rule,
    sheet,
)
from genesig.report.page.svg import name_columns, name_points
from genesig.report.page.words import percent, shorten
from genesig.report.quality.collect import Associated, Band, Look, Quality, Second

NAMED = 60  # samples up to which each has its name below it
POINTS = 460  # width of the samples' axis, in points


class Panel(NamedTuple):
    """Bands of all samples at one moment."""

    when: str
    unit: str
    bands: Sequence[Band]


def distributions(data: Quality) -> Figure:
    """Quantiles of each sample, as read and after the steps."""
    panels = [Panel(when, _unit(look), look["quantiles"]) for when, look in looks(data)]
    return _bands(data, panels)


def relative(data: Quality) -> Figure:
    """Relative log expression of each sample, as read and after the steps."""
    figure = _bands(data, [Panel(when, "RLE", look["rle"]) for when, look in looks(data)])
    for ax in figure.axes:
        rule(ax, y=0)
    return figure


def looks(data: Quality) -> list[tuple[str, Look]]:
    """Return what is shown of the samples: as read, where steps changed it, and as analysed."""
    it = data["quality"]
    looks = [("as read", it["before"]), ("as analysed", it["after"])]
    return looks if it["changed"] else looks[1:]


def _unit(look: Look) -> str:
    return "log₂(1 + value)" if look["logarithm"] else "value"


def _bands(data: Quality, panels: Sequence[Panel]) -> Figure:
    count, (thin, wide) = len(panels), _widths(len(data["quality"]["samples"]))
    figure, axes = sheet(WIDE, 0.95 + 1.75 * count, count, 1, sharex=True, squeeze=False)
    for ax, panel in zip(axes[:, 0], panels, strict=True):
        bands = np.array(panel.bands, dtype=float)
        for rows, colour in _parts(data):
            for low, high, thick in ((0, 4, thin), (1, 3, wide)):
                _segments(ax, rows, bands[rows, low], bands[rows, high], colour, thick)
        _marks(ax, bands[:, 2], 0.6 * wide * len(bands) / POINTS)
        ax.set_ylabel(f"{panel.unit}\n{panel.when}" if count > 1 else panel.unit)
        ax.yaxis.set_major_locator(MaxNLocator(5))
    _sample_axis(figure, data)
    return figure


def _parts(data: Quality) -> list[tuple[Any, str]]:
    """Return the places of the samples of each class with its colour."""
    response = np.array(data["quality"]["response"], dtype=float)
    if data["study"]["classes"] is None:
        return [(np.arange(len(response)), OWN)]
    sides = enumerate(codes(data["study"]["classes"]))
    return [(np.flatnonzero(response == s), CLASS_COLOURS[k]) for k, s in sides]


def _widths(count: int) -> tuple[float, float]:
    """Return the widths of thin and thick bars, in points; many samples leave no gaps."""
    room = min(POINTS / count, 20.0)
    return max(0.16 * room, 0.5), max((0.62 if count <= NAMED else 0.85) * room, 0.8)


def _segments(ax: Axes, at: Any, low: Any, high: Any, colour: str, thick: float) -> None:
    """Draw upright bars as one path: a page of a thousand samples stays small."""
    x, y = np.repeat(at.astype(float), 3), np.column_stack([low, high, low]).ravel()
    y[2::3] = np.nan
    ax.plot(x, y, color=colour, lw=thick, solid_capstyle="butt", alpha=0.85)


def _marks(ax: Axes, values: Any, half: float) -> None:
    """Draw a level mark for each sample, all in one path."""
    at = np.arange(len(values), dtype=float)
    x = np.column_stack([at - half, at + half, at]).ravel()
    y = np.repeat(values, 3)
    y[2::3] = np.nan
    ax.plot(x, y, color=INK, lw=1.3, solid_capstyle="butt")


def _sample_axis(figure: Figure, data: Quality) -> None:
    """Name samples below, groups of samples above."""
    it, top, bottom = data["quality"], figure.axes[0], figure.axes[-1]
    count = len(it["samples"])
    for ax in figure.axes:
        name_columns(ax, it["samples"])
    bottom.set_xlim(-0.8, count - 0.2)
    far = {one["row"] for one in it["outliers"]}
    named = range(count) if count <= NAMED else _apart(sorted(far), count // 45)
    names = [shorten(it["samples"][row], 14) for row in named]
    bottom.set_xticks(list(named), names, rotation=90, fontsize=7)
    for row, text in zip(named, bottom.get_xticklabels(), strict=True):
        text.set_fontweight("bold" if row in far and count <= NAMED else "normal")
    for ax in figure.axes:
        ax.tick_params(axis="x", length=0 if count <= NAMED else 3)
    runs = _runs(data)
    for start, _, _, _ in runs[1:]:
        for ax in figure.axes:
            ax.axvline(start - 0.5, color=RULE, lw=1, zorder=0.4)
    if it["batches"] is not None and data["study"]["classes"]:
        _class_key(figure, data["study"]["classes"])
    room = count / 9
    for start, stop, name, colour in runs:
        if stop - start >= room / 2:
            top.text((start + stop - 1) / 2, 1.02, shorten(name, 22), color=colour, ha="center",
                     va="bottom", fontsize=8, fontweight="bold",
                     transform=top.get_xaxis_transform())  # fmt: skip


def _class_key(figure: Figure, classes: Sequence[str]) -> None:
    """Say which colour is which class, where batches have the place above."""
    bars = [Rectangle((0, 0), 1, 1, color=colour, lw=0) for colour in CLASS_COLOURS[: len(classes)]]
    names = [shorten(name, 24) for name in classes]
    figure.legend(bars, names, loc="outside upper right", ncols=min(len(classes), 5), fontsize=8,
                  handlelength=1.0, handletextpad=0.4, columnspacing=1.2)  # fmt: skip


def _apart(places: Sequence[int], least: int) -> list[int]:
    """Keep the places whose names would not stand upon each other."""
    kept: list[int] = []
    for place in places:
        if not kept or place - kept[-1] > least:
            kept.append(place)
    return kept


def _runs(data: Quality) -> list[tuple[int, int, str, str]]:
    """Return (start, stop, name, colour) of each batch, or of each class where there is none."""
    it, classes = data["quality"], data["study"]["classes"]
    if it["batches"] is not None:
        return [(*ends, str(name), INK) for ends, name in _equal(it["batches"])]
    if classes is None:
        label = shorten(data["study"]["label"], 30)
        return [(0, len(it["samples"]), f"{label}, from small to large", INK)]
    sides = _equal([class_of(value, classes) for value in it["response"]])
    return [(*ends, classes[side], CLASS_COLOURS[side]) for ends, side in sides]


def _equal(values: Sequence[Any]) -> list[tuple[tuple[int, int], Any]]:
    found, start = [], 0
    for value, run in groupby(values):
        stop = start + len(list(run))
        found.append(((start, stop), value))
        start = stop
    return found


SHOWN = 8  # components in the picture of associations
SHARE = LinearSegmentedColormap.from_list("share", ["#f3f2ee", "#b3d3e6", "#5fa5d0"])


def components(data: Quality) -> Figure:
    """Place samples on the first two components, by the label and by one more column."""
    it = data["quality"]
    points = np.array(it["components"]["points"], dtype=float)
    second = it["second"]
    count = 2 if second else 1
    figure, axes = sheet(WIDE if second else 4.6, 3.9, 1, count, squeeze=False, gap=0.06)
    image = by_response(axes[0, 0], points[:, 0], points[:, 1], it["response"],
                        data["study"]["classes"], label=False)  # fmt: skip
    _above(axes[0, 0], data["study"]["label"], keyed=image is None)
    if image is not None:
        colour_bar(figure, image, axes[0, 0], "", location="bottom", aspect=30)
    if second:
        _by_column(figure, axes[0, 1], points, second)
    for ax in axes[0]:
        plane(ax, it["components"]["explained"], 0, 1, "component")
        name_points(ax, points[:, 0], points[:, 1], it["samples"])
        for one in it["outliers"][:12]:
            ax.annotate(shorten(one["sample"], 14), points[one["row"], :2], (4, 4),
                        textcoords="offset points", fontsize=7)  # fmt: skip
    return figure


def _above(ax: Axes, title: str, *, keyed: bool) -> None:
    """Name the column, with the key of its classes below the name."""
    handles, names = ax.get_legend_handles_labels()
    if keyed and names:
        ax.legend(handles, names, loc="lower left", bbox_to_anchor=(-0.03, 1.0), fontsize=8,
                  ncols=2 if len(names) < 5 else 3, title=shorten(title, 40), alignment="left",
                  title_fontproperties={"weight": "bold", "size": 9}, handletextpad=0.2,
                  columnspacing=1.0, borderaxespad=0.2)  # fmt: skip
    else:
        ax.set_title(shorten(title, 40), fontsize=9, fontweight="bold")


def _by_column(figure: Figure, ax: Axes, points: Any, second: Second) -> None:
    x, y = points[:, :2].T
    if second["kind"] == "number":
        value = np.array([_float(text) for text in second["values"]])
        there = ~np.isnan(value)
        ax.scatter(x[~there], y[~there], s=30, color=OTHER, alpha=0.5, lw=0)
        image = ax.scatter(x[there], y[there], c=value[there], cmap=SEQUENTIAL, s=30,
                           edgecolor=PAPER, lw=0.5)  # fmt: skip
        _above(ax, second["column"], keyed=False)
        colour_bar(figure, image, ax, "", location="bottom", aspect=30)
        return
    values = np.array(second["values"], dtype=object)
    names, counts = np.unique(values, return_counts=True)
    common = sorted(names[np.argsort(-counts, kind="stable")][: len(BLOCK_COLOURS)])
    rest = ~np.isin(values, common)
    if rest.any():
        label = f"{len(names) - len(common)} others"
        ax.scatter(x[rest], y[rest], s=22, color=OTHER, alpha=0.6, lw=0, label=label)
    looks = list(zip(BLOCK_COLOURS, BLOCK_MARKERS, strict=True))
    # The first two are those of the classes beside it, so they come last.
    for name, (colour, marker) in zip(common, looks[2:] + looks[:2], strict=False):
        mine = values == name
        ax.scatter(x[mine], y[mine], s=34, color=colour, marker=marker, edgecolor=PAPER, lw=0.6,
                   label=shorten(name, 16) or "blank")  # fmt: skip
    _above(ax, second["column"], keyed=True)


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def associations(data: Quality) -> Figure:
    """Share of each component that each column of the sample table explains."""
    it = data["quality"]
    rows, explained = it["associations"], it["components"]["explained"]
    count = min(SHOWN, sum(share > 0 for share in explained))
    share = np.array([one["share"][:count] for one in rows], dtype=float)
    figure, ax = sheet(WIDE, 1.0 + 0.27 * max(len(rows), 2))
    image = ax.imshow(share, cmap=SHARE, vmin=0, vmax=1, aspect="auto")
    for row, one in enumerate(rows):
        for at in range(count):
            if one["q"][at] < 0.05:
                ax.add_patch(Rectangle((at - 0.47, row - 0.43), 0.94, 0.86, fill=False,
                                       edgecolor=OVER, lw=1.2))  # fmt: skip
            ax.text(at, row, percent(share[row, at]), ha="center", va="center", fontsize=7.5,
                    color=OVER)  # fmt: skip
    heads = [f"{k + 1}\n{percent(explained[k])}" for k in range(count)]
    ax.set_xticks(range(count), heads)
    ax.set_yticks(range(len(rows)), [_named(one) for one in rows])
    ax.get_yticklabels()[0].set_fontweight("bold" if rows[0]["role"] == "label" else "normal")
    ax.tick_params(length=0)
    ax.set_xlabel("component, and its share of the variance")
    bare(ax)
    colour_bar(figure, image, ax, "explained", aspect=max(8, 3 * len(rows)))
    return figure


def _named(one: Associated) -> str:
    name = shorten(one["column"], 30)
    return f"{name} ({one['role']})" if one["role"] else name
