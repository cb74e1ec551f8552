"""How the error falls with the number of training samples, and what more of them would do."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from genesig.report.genes.record import Genes, Learning
from genesig.report.page.measure import Measure, measure
from genesig.report.page.style import MUTED, OTHER, OWN, SMALL, rule, sheet
from genesig.report.page.svg import Picture, picture
from genesig.report.page.words import counted, decimal, rate


class Line(NamedTuple):
    """error(n) = floor + slope/n through the mean of the halves and the error of the study."""

    floor: float
    slope: float

    def at(self, n: float) -> float:
        """Return the error at n training samples, not below 0."""
        return max(0.0, self.floor + self.slope / n)


def line(it: Learning) -> Line | None:
    """Return the line where the halves' mean error is larger than the study's beyond its own error.

    That is by more than two standard errors of the mean, two halves of one division counting once.
    """
    mean, spread = float(np.mean(it["errors"])), float(np.std(it["errors"], ddof=1))
    if mean - it["error"] <= 2 * spread / np.sqrt(len(it["errors"]) / 2):
        return None
    slope = (mean - it["error"]) / (1 / it["half"] - 1 / it["fold"])
    return Line(it["error"] - slope / it["fold"], slope)


def sentence(data: Genes) -> str:
    """Say what training on half of the samples cost, and what twice as many might bring."""
    it = data["learning"]
    if it is None:
        return ""
    shown, write = measure(data), rate if data["study"]["classes"] else decimal
    half, full = shown.value(float(np.mean(it["errors"]))), shown.value(it["error"])
    said = (
        f"Trained on {it['half']:.0f} samples, lists reached {_a(shown.name)} of {write(half)}"
        f" (mean of {counted(len(it['errors']), 'half')}), on {it['fold']:.0f} samples"
        f" {write(full)}."
    ).replace("halfs", "halves")
    found = line(it)
    if found is None:
        return f"{said} That does not show that more samples of the same kind would help."
    twice, more = found.at(2 * data["study"]["samples"]), data["study"]["samples"]
    if not twice:  # below the lowest error there is
        return f"{said} More samples may help: whether and how much, two sizes do not tell."
    return (
        f"{said} More samples may help: if the excess goes on falling as 1/n,"
        f" {counted(more, 'sample')} more would bring it to about {write(shown.value(twice))}. That"
        " is a guess from two sizes."
    )


def _a(name: str) -> str:
    return f"{'an' if name.startswith('R') else 'a'} {name}"


def curve(data: Genes) -> list[Picture]:
    """Return the picture; none where halves have no errors."""
    it = data["learning"]
    if it is None:
        return []
    shown, classes = measure(data), len(data["study"]["classes"] or ())
    cut = f", and {'tell classes by their mean training scores' if classes > 2 else 'cut at 0'}"
    return [picture(
        "learning_curve",
        partial(_draw, it, shown, data["study"]["samples"]),
        data={"training_samples": [*(it["half"] for _ in it["errors"]), it["fold"]],
              shown.column: shown.values([*it["errors"], it["error"]])},
        title=f"{shown.title} against training samples",
        description=sentence(data),
        caption="Grey: lists of single halves of the samples, tested on the other half; bar: their"
        " mean. Green: the error of the study. Halves were fitted with the parameters of the"
        f" final model, chosen on all samples, which flatters them a little{cut * bool(classes)}.",
    )]  # fmt: skip


def _draw(it: Learning, shown: Measure, samples: int) -> Figure:
    figure, ax = sheet(SMALL, 3.0)
    values = sorted(shown.values(it["errors"]))
    spread = 0.02 * samples * ((np.arange(len(values)) * 0.618034) % 1 - 0.5)
    ax.scatter(it["half"] + spread, values, s=12, color=OTHER, alpha=0.7, lw=0)
    wide = 0.04 * samples
    ax.hlines(float(np.mean(values)), it["half"] - wide, it["half"] + wide, color=OWN, lw=2)
    own = shown.value(it["error"])
    ax.scatter([it["fold"]], [own], s=48, color=OWN, zorder=3)
    found = line(it)
    if found is not None:
        n = np.linspace(it["half"], 2 * samples, 60)
        ax.plot(n, shown.values([found.at(float(k)) for k in n]), color=MUTED, lw=1,
                dashes=(4, 3))  # fmt: skip
    rule(ax, y=shown.chance)
    ax.set_xlim(0, (2.05 if found else 1.1) * samples)
    if shown.better == "smaller":
        ax.set_ylim(bottom=0)
    ax.set_xlabel("training samples")
    ax.set_ylabel(shown.name)
    ax.grid(axis="y")
    return figure
