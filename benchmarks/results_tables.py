"""The tables of the benchmark, from its cells.

    python benchmarks/results_tables.py CELLS FOLDER

FOLDER gets answers.tsv, a line for each data set, method and repeat, and methods.tsv, means over
the data sets of a kind, real and simulated ones apart; methods.md is the same to be read. The first
line says what was run.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd

SIMULATED = "simulated_"
ORDER = [
    "genesig",
    "FDR-selected genes",
    "l1",
    "elastic net",
    "l1 (glmnet)",
    "elastic net (glmnet)",
    "shrunken centroids",
    "t-test + LDA",
    "SVM-RFE",
    "random forest, elimination",
    "boosting",
    "stability selection",
    "Stabl",
    "knockoffs",
]
MEANS = ["error", "auc", "brier", "slope", "false_genes", "true_genes", "stability", "seconds"]


def read(folder: Path) -> pd.DataFrame:
    """Return the rows of all cells."""
    lines = [
        json.loads(line)
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    if not lines:
        raise SystemExit(
            f"{folder} holds no cell: run the workflow first, see benchmarks/README.md"
        )
    rows = pd.DataFrame(lines)
    rows = rows.reindex(columns=rows.columns.union([*MEANS, "genes"], sort=False))
    place = rows["method"].map(ORDER.index)
    return (
        rows.assign(place=place)
        .sort_values(["kind", "data", "place", "repeat"])
        .drop(columns="place")
    )


def means(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each kind, real or simulated, and method.

    Means over data sets of the means over repeats, but for genes, of which it is the median, and
    memory, the most. ``rank`` is the mean rank of the error among methods that have all data sets
    of the kind, ``best`` on how many data sets the error is the least. A list that was empty in
    all halves agrees on nothing: its stability counts as 0.
    """
    rows = rows.assign(drawn=rows["data"].str.startswith(SIMULATED))
    chooses = rows.groupby("method")["genes"].transform("count") > 0
    rows["stability"] = rows["stability"].where(rows["stability"].notna() | ~chooses, 0.0)
    data_means = rows.groupby(["kind", "drawn", "data", "method"], sort=False).mean(
        numeric_only=True
    )
    out: list[dict[str, Any]] = []
    for (kind, drawn), part in data_means.reset_index().groupby(["kind", "drawn"]):
        wide = part.pivot_table(index="data", columns="method", values="error").dropna(axis=1)
        ranks = wide.rank(axis=1).mean()
        least = wide.eq(wide.min(axis=1), axis=0).sum()
        for method in [name for name in ORDER if name in set(part["method"])]:
            method_rows = part[part["method"] == method]
            out.append(
                {
                    "kind": kind,
                    "data": "simulated" if drawn else "real",
                    "method": method,
                    "sets": len(method_rows),
                    **method_rows[MEANS].mean().to_dict(),
                    "rank": ranks.get(method),
                    "best": least.get(method),
                    "genes": method_rows["genes"].quantile(0.5),
                    "memory_mb": method_rows["memory_mb"].max(),
                }
            )
    return pd.DataFrame(out)


COLUMN_FORMATS = {
    "sets": "d",
    "error": ".3f",
    "rank": ".1f",
    "best": ".0f",
    "brier": ".3f",
    "slope": ".2f",
    "genes": "g",
    "false_genes": ".1f",
    "true_genes": ".1f",
    "stability": ".2f",
    "seconds": ".1f",
    "memory_mb": ".0f",
}


def methods_page(table: pd.DataFrame, summary_line: str) -> str:
    """Return the means as a page: a table for each kind, real and simulated."""
    lines = [
        "# Results of the benchmark",
        "",
        summary_line.removeprefix("# ") + ".",
        "",
        "What the columns mean: [the benchmark](../README.md). Best: on how many data sets the"
        " error is the least among methods that were run on all of a table, equal ones each"
        " counted. A method with fewer sets than others was not run on all of them,"
        " so that its means are not those of the others.",
        "",
    ]
    for (kind, data), part in table.groupby(["kind", "data"], sort=False):
        names = [name for name in COLUMN_FORMATS if part[name].notna().any()]
        lines += [
            f"## {kind.replace('_', ' ').capitalize()}, {data} data",
            "",
            f"| method | {' | '.join(name.replace('_', ' ') for name in names)} |",
            "| --- |" + " --- |" * len(names),
        ]
        for row in part.to_dict("records"):
            cells = [f"{row[n]:{COLUMN_FORMATS[n]}}" if row[n] == row[n] else "–" for n in names]
            lines.append(f"| {row['method']} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def summary_text(rows: pd.DataFrame) -> str:
    """Say in one line what was run.

    Both answers of genesig come of the same fits and have their seconds, which count once.
    """
    once = rows.loc[rows["method"] != "FDR-selected genes", "seconds"]
    cells = rows.groupby(["data", "repeat"]).ngroups
    real = rows.loc[~rows["data"].str.startswith(SIMULATED), "data"].nunique()
    how = " ".join(f"{name}={rows[name].iloc[0]}" for name in ("folds", "pairs"))
    return (
        f"# {real} real and {rows['data'].nunique() - real} simulated data sets, "
        f"repeats={rows['repeat'].max() + 1} {how}, {cells} data sets and repeats, "
        f"{rows['method'].nunique()} methods, "
        f"{once.sum() / 3600:.1f} h of processor in outer splits"
    )


def write(rows: pd.DataFrame, path: Path, summary_line: str) -> None:
    """Write a table below its first line."""
    table = rows.to_csv(sep="\t", index=False, float_format="%.4g")
    path.write_text(f"{summary_line}\n{table}", encoding="utf-8")


def main(cells: Path, folder: Path) -> None:
    """Write both tables."""
    rows = read(cells)
    summary_line = summary_text(rows)
    write(rows.drop(columns=["folds", "pairs"]), folder / "answers.tsv", summary_line)
    table = means(rows)
    write(table, folder / "methods.tsv", summary_line)
    (folder / "methods.md").write_text(methods_page(table, summary_line), encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
