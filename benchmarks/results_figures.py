"""Draw the figures of the benchmark from answers.tsv.

    python benchmarks/results_figures.py ANSWERS.TSV FOLDER

critical_difference.png: mean ranks of the error over real data sets, of two classes and of all
kinds of response; methods that a bar joins do not differ by Nemenyi's test at 5 % (Demšar 2006).
The test assumes independent questions; several come from one data set, so that bars are too short.
pareto.png: mean error against number of genes on the real data sets of two classes; no method beats
a method of the line in both.
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

GENESIG_COLOUR = "#0b6e4f"
PEER_COLOUR = "#444444"
MAX_RELATIVE_ERROR = 2.0
"""Methods with at least this multiple of the smallest error are only named in the title."""


def errors(rows: pd.DataFrame, kind: str | None) -> pd.DataFrame:
    """Return the errors (data sets × methods) on the real data sets of genesig's rows.

    Only methods with all of these data sets are returned, so that a stopped run can be drawn. kind
    None: all kinds of response.
    """
    rows = rows[~rows["data"].str.startswith("simulated_")]
    rows = rows[rows["data"].isin(rows.loc[rows["method"] == "genesig", "data"])]
    rows = rows if kind is None else rows[rows["kind"] == kind]
    return rows.pivot_table(index="data", columns="method", values="error").dropna(axis=1)


def critical_difference(k: int, n: int) -> float:
    """Return the critical difference at 5 % of mean ranks of k methods on n data sets.

    It is q √(k (k + 1) / (6 n)), with q the quantile of the studentised range over √2.
    """
    q = studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(k * (k + 1) / (6 * n)))


def join_ranks(ranks: list[float], max_distance: float) -> list[tuple[float, float]]:
    """Return (first, last) of the longest runs of ascending ranks within `max_distance`."""
    runs = [(low, max(r for r in ranks if r - low <= max_distance)) for low in ranks]
    runs = [run for run in runs if run[1] > run[0]]
    return [run for k, run in enumerate(runs) if k == 0 or run[1] > runs[k - 1][1]]


def draw_ranks(axes: Any, table: pd.DataFrame, title: str) -> None:
    """Draw the mean ranks, best on top, and bars that join methods that do not differ."""
    if min(table.shape) < 3:
        axes.set(title=f"{title}: too few for ranks", xticks=[], yticks=[])
        return
    ranks = table.rank(axis=1).mean().sort_values()
    critical_distance = critical_difference(len(ranks), len(table))
    p = friedmanchisquare(*table.to_numpy().T).pvalue
    for height, (name, rank) in enumerate(ranks.items()):
        text_style = {"va": "center", "color": _colour(name), "fontsize": 8}
        axes.plot(rank, height, "o", color=_colour(name))
        axes.text(rank + 0.03 * np.ptp(ranks), height, f"{name}  {rank:.1f}", **text_style)
    for k, (low, high) in enumerate(join_ranks(ranks.tolist(), critical_distance)):
        axes.plot([low, high], [len(ranks) + 0.5 * k] * 2, color="#999999", lw=3)
    axes.set(
        title=f"{title}: p = {p:.2g}, critical difference {critical_distance:.1f}",
        yticks=[],
        xlabel="mean rank of the error (1: least)",
    )
    axes.set_xlim(min(ranks) - 0.5, max(ranks) + 0.45 * np.ptp(ranks) + 1)
    axes.invert_yaxis()
    axes.title.set_fontsize(9)


def pareto_front(genes: pd.Series, error: pd.Series) -> list[str]:
    """Return the methods that no method beats in both, in ascending order of genes."""
    smallest_error = np.inf
    frontier = []
    for name in sorted(genes.index, key=lambda name: (genes[name], error[name])):
        if error[name] < smallest_error:
            smallest_error = error[name]
            frontier.append(name)
    return frontier


def draw_pareto(axes: Any, rows: pd.DataFrame) -> None:
    """Draw mean error against the median number of genes; names and errors are at the right."""
    error_table = errors(rows, "classification")
    error = error_table.mean()
    rows = rows[rows["data"].isin(error_table.index)]
    means = rows.groupby(["method", "data"])[["genes", "all_genes"]].mean()
    genes = means["genes"].fillna(means["all_genes"]).groupby("method").median()[error.index]
    genes += 1  # as the axis is logarithmic, and a list may be empty
    frontier = pareto_front(genes, error)
    axes.step(genes[frontier], error[frontier], where="post", color="#bbbbbb")
    near = error[error < MAX_RELATIVE_ERROR * error.min()].sort_values(ascending=False)
    axes.set_xlim(0.8, 2 * genes[near.index].max())
    axes.set_ylim(0.9 * near.min(), 1.05 * near.max())
    axes.set(
        xscale="log",
        xlabel="genes + 1, median over data sets",
        ylabel="mean balanced error",
        title=f"{rows['data'].nunique()} questions of two classes{_omitted_text(error, near)}",
    )
    axes.title.set_fontsize(9)
    for name, text_height in zip(near.index, np.linspace(0.98, 0.02, len(near)), strict=True):
        axes.plot(genes[name], error[name], "o", color=_colour(name))
        axes.annotate(
            f"{name} {error[name]:.3f}",
            (genes[name], error[name]),
            xytext=(1.03, text_height),
            textcoords="axes fraction",
            va="center",
            fontsize=8,
            color=_colour(name),
            arrowprops={"arrowstyle": "-", "color": "#cccccc", "lw": 0.6},
        )


def _omitted_text(error: pd.Series, near: pd.Series) -> str:
    """Return the end of the title: names and errors of the methods beyond MAX_RELATIVE_ERROR."""
    far = [f"{name} {value:.3f}" for name, value in error.items() if name not in near.index]
    return f"; not shown: {', '.join(far)}" if far else ""


def _colour(name: str) -> str:
    return GENESIG_COLOUR if name in ("genesig", "FDR-selected genes") else PEER_COLOUR


def main(answers: Path, folder: Path) -> None:
    """Draw both figures."""
    rows = pd.read_csv(answers, sep="\t", comment="#")
    figure, panels = plt.subplots(1, 2, figsize=(11, 4))
    kinds = (("classification", "two classes"), (None, "all kinds"))
    for panel, (kind, title) in zip(panels, kinds, strict=True):
        table = errors(rows, kind)
        draw_ranks(panel, table, f"{title}, {len(table)} questions")
    figure.tight_layout()
    figure.savefig(folder / "critical_difference.png", dpi=150)
    figure, panel = plt.subplots(figsize=(8, 4.5))
    draw_pareto(panel, rows)
    figure.tight_layout()
    figure.savefig(folder / "pareto.png", dpi=150)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
