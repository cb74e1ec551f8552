"""Axes of ROC curves."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genesig.report.page.style import MUTED, SMALL, sheet
from genesig.report.page.words import shorten


def roc_axes(classes: Sequence[str]) -> tuple[Figure, Axes]:
    """Return a square in the words of the study, with the line of chance."""
    figure, ax = sheet(SMALL, 3.7)
    ax.plot([0, 1], [0, 1], color=MUTED, lw=0.9, dashes=(4, 3))
    ax.set_aspect("equal")
    ax.set_xlim(-0.01, 1)
    ax.set_ylim(0, 1.01)
    negative, positive = (shorten(name, 24) for name in classes)
    ax.set_xlabel(f"1 − specificity ({negative} called {positive})")
    ax.set_ylabel(f"sensitivity ({positive} called {positive})")
    return figure, ax
