"""The figures of the benchmark, from answers.tsv.

    python benchmarks/results_figures.py ANSWERS.TSV FOLDER

critical_difference.png: mean ranks of the error over real data sets, by those of two classes and by
all kinds together; methods that a bar joins do not differ by Nemenyi's test at 5 % (Demšar 2006).
It takes questions as independent; several are of one data set, so that the bars are too short.
pareto.png: mean error against number of genes on the real data sets of two classes; no method of
the line is beaten in both.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from scipy.stats import friedmanchisquare, studentized_range

mpl.use("Agg")

import matplotlib.pyplot as plt

OURS = "#0b6e4f"
THEIRS = "#444444"


def errors(rows: pd.DataFrame, kind: str | None) -> pd.DataFrame:
    """Return the errors on the real data sets that genesig was run on, (data sets, methods).

    Methods are those that have all of them, so that a run that was stopped can be drawn, too.
    """
    rows = rows[~rows["data"].str.startswith("simulated_")]
    rows = rows[rows["data"].isin(rows.loc[rows["method"] == "genesig", "data"])]
    rows = rows if kind is None else rows[rows["kind"] == kind]
    return rows.pivot_table(index="data", columns="method", values="error").dropna(axis=1)


def critical_difference(k: int, n: int) -> float:
    """Return the difference of mean ranks of k methods on n data sets that is one, at 5 %.

    q √(k (k + 1) / (6 n)), q that of the studentised range over √2.
    """
    q = studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(k * (k + 1) / (6 * n)))


def join_ranks(ranks: list[float], max_distance: float) -> list[tuple[float, float]]:
    """Return the longest runs of sorted ranks that lie within `max_distance`."""
    runs = [(low, max(r for r in ranks if r - low <= max_distance)) for low in ranks]
    runs = [run for run in runs if run[1] > run[0]]
    return [run for at, run in enumerate(runs) if at == 0 or run[1] > runs[at - 1][1]]


def draw_ranks(axes: Any, table: pd.DataFrame, title: str) -> None:
    """Draw the mean ranks, best on top, with the bars of those that do not differ."""
    if min(table.shape) < 3:
        axes.set(title=f"{title}: too few for ranks", xticks=[], yticks=[])
        return
    ranks = table.rank(axis=1).mean().sort_values()
    critical_distance = critical_difference(len(ranks), len(table))
    p = friedmanchisquare(*table.to_numpy().T).pvalue
    for at, (name, rank) in enumerate(ranks.items()):
        colour = OURS if name in ("genesig", "FDR-selected genes") else THEIRS
        axes.plot(rank, at, "o", color=colour)
        axes.text(
            rank + 0.03 * np.ptp(ranks),
            at,
            f"{name}  {rank:.1f}",
            va="center",
            color=colour,
            fontsize=8,
        )
    for at, (low, high) in enumerate(join_ranks(ranks.tolist(), critical_distance)):
        axes.plot([low, high], [len(ranks) + 0.5 * at] * 2, color="#999999", lw=3)
    axes.set(
        title=f"{title}: p = {p:.2g}, critical difference {critical_distance:.1f}",
        yticks=[],
        xlabel="mean rank of the error (1: least)",
    )
    axes.set_xlim(min(ranks) - 0.5, max(ranks) + 0.45 * np.ptp(ranks) + 1)
    axes.invert_yaxis()
    axes.title.set_fontsize(9)


def pareto_front(genes: pd.Series, error: pd.Series) -> list[str]:
    """Return the methods that none beats in both, by their number of genes."""
    order = sorted(genes.index, key=lambda name: (genes[name], error[name]))
    best = np.inf
    frontier = []
    for name in order:
        if error[name] < best:
            best = error[name]
            frontier.append(name)
    return frontier


def draw_pareto(axes: Any, rows: pd.DataFrame) -> None:
    """Draw mean error against genes, median over data sets, those of all of them at the right."""
    error = errors(rows, "classification").mean()
    rows = rows[rows["data"].isin(errors(rows, "classification").index)]
    method_means = rows.groupby(["method", "data"])[["genes", "all_genes"]].mean()
    genes = (
        method_means["genes"]
        .fillna(method_means["all_genes"])
        .groupby("method")
        .median()[error.index]
        + 1
    )
    frontier = pareto_front(genes, error)
    axes.step(genes[frontier], error[frontier], where="post", color="#bbbbbb")
    near = error[error < MAX_RELATIVE_ERROR * error.min()].sort_values(ascending=False)
    axes.set_xlim(0.8, 2 * genes[near.index].max())
    axes.set_ylim(0.9 * near.min(), 1.05 * near.max())
    axes.set(
        xscale="log",
        xlabel="genes + 1, median over data sets",
        ylabel="mean balanced error",
        title=f"{rows['data'].nunique()} questions{_is_beyond(error, near)}",
    )
    axes.title.set_fontsize(9)
    for name, place in zip(near.index, np.linspace(0.98, 0.02, len(near)), strict=True):
        axes.plot(genes[name], error[name], "o", color=_colour(name))
        axes.annotate(
            f"{name} {error[name]:.3f}",
            (genes[name], error[name]),
            xytext=(1.03, place),
            textcoords="axes fraction",
            va="center",
            fontsize=8,
            color=_colour(name),
            arrowprops={"arrowstyle": "-", "color": "#cccccc", "lw": 0.6},
        )


MAX_RELATIVE_ERROR = 2.0
"""Methods whose error is this many times the least are told in the title alone."""


def _is_beyond(error: pd.Series, near: pd.Series) -> str:
    far = [f"{name} {value:.3f}" for name, value in error.items() if name not in near.index]
    return f" of two classes; not shown: {', '.join(far)}" if far else " of two classes"


def _colour(name: str) -> str:
    return OURS if name in ("genesig", "FDR-selected genes") else THEIRS


def main(answers: Path, folder: Path) -> None:
    """Draw both figures."""
    rows = pd.read_csv(answers, sep="\t", comment="#")
    figure, axes = plt.subplots(1, 2, figsize=(11, 4))
    for place, kind, title in zip(
        axes, ("classification", None), ("two classes", "all kinds"), strict=True
    ):
        table = errors(rows, kind)
        draw_ranks(place, table, f"{title}, {len(table)} questions")
    figure.tight_layout()
    figure.savefig(folder / "critical_difference.png", dpi=150)
    figure, panel = plt.subplots(figsize=(8, 4.5))
    draw_pareto(panel, rows)
    figure.tight_layout()
    figure.savefig(folder / "pareto.png", dpi=150)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
