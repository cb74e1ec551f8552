"""Pictures of what the samples differ by: components of all genes, columns they go with."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from genesig.report.page.named import name_points
from genesig.report.page.plane import by_response, plane
from genesig.report.page.style import (
    BLOCK_COLOURS,
    BLOCK_MARKERS,
    OTHER,
    OVER,
    PAPER,
    SEQUENTIAL,
    WIDE,
    bare,
    colour_bar,
    sheet,
)
from genesig.report.page.words import percent, shorten
from genesig.report.quality.record import Associated, Quality, Second

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
