"""The picture of a confusion matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from genesig.report.page.rows import transposed
from genesig.report.page.style import OVER, SMALL, bare, sheet
from genesig.report.page.svg import Columns
from genesig.report.page.words import ABSENT, clean, percent, shorten, significant

LETTERS = 36
"""Letters of all names that stand below the picture side by side."""


def confusion(matrix: Sequence[Sequence[float]], classes: Sequence[str]) -> Figure:
    """Draw counts (T × T, rows = true class), and the shares of the true class."""
    figure, ax = sheet(SMALL, 3.3)
    counts = np.array(matrix, dtype=float)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-12)
    shade = LinearSegmentedColormap.from_list("blue", ["#eef4f8", "#7fb6d6"])
    ax.imshow(share, cmap=shade, vmin=0, vmax=1)
    every = range(len(classes))
    for true in every:
        for said in every:
            part = percent(share[true, said]) if counts[true].sum() else ABSENT
            text = f"{significant(counts[true, said], 4)}\n{part}"
            ax.text(
                said,
                true,
                text,
                ha="center",
                va="center",
                fontsize=11 if len(classes) < 5 else 7,
                color=OVER,
            )
    names = [shorten(name, 16) for name in classes]
    flat = max(map(len, names)) * len(names) <= LETTERS
    ax.set_xticks(every, names, rotation=0 if flat else 45)
    ax.set_yticks(every, names)
    ax.set_xlabel("predicted")
    ax.set_ylabel("true")
    ax.tick_params(length=0)
    bare(ax)
    return figure


def confusion_data(counts: Sequence[Sequence[float]], classes: Sequence[str]) -> Columns:
    """Return the matrix as columns: true class, class it was called, samples."""
    return transposed(
        ("true", "called", "samples"),
        [(a, b, counts[i][j]) for i, a in enumerate(classes) for j, b in enumerate(classes)],
    )


def confusion_words(matrix: Sequence[Sequence[float]], classes: Sequence[str]) -> str:
    """Say the same for those who do not see it."""
    return "; ".join(
        f"true {clean(true)} called {clean(said)} {significant(matrix[i][j], 4)}"
        for i, true in enumerate(classes)
        for j, said in enumerate(classes)
    )
