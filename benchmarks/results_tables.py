"""Make the tables of the benchmark from its cells.

    python benchmarks/results_tables.py CELLS FOLDER

FOLDER gets answers.tsv, a line for each data set, method and repeat, and methods.tsv, means over
the data sets of a kind, real and simulated apart; methods.md has the same means as Markdown. The
first line of each states the numbers of data sets, repeats, folds, pairs and methods.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd

PREFIX_OF_SIMULATED = "simulated_"  # of names of data sets
METHODS = [  # in the order of the tables
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
MEAN_COLUMNS = [
    "error",
    "auc",
    "brier",
    "slope",
    "false_genes",
    "true_genes",
    "stability",
    "seconds",
]


def read(folder: Path) -> pd.DataFrame:
    """Return the rows of all cells, sorted by kind, data set, method and repeat."""
    lines = [
        json.loads(line)
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    if not lines:
        raise SystemExit(f"{folder} has no cells; run the workflow (benchmarks/README.md) first")
    rows = pd.DataFrame(lines)
    rows = rows.reindex(columns=rows.columns.union([*MEAN_COLUMNS, "genes"], sort=False))
    rows = rows.assign(order=rows["method"].map(METHODS.index))
    return rows.sort_values(["kind", "data", "order", "repeat"]).drop(columns="order")


def means(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each kind of response, real or simulated data, and method.

    Values are means over data sets of means over repeats, but genes are the median, memory is the
    maximum. ``rank`` is the mean rank of the error among methods that have all data sets of the
    kind, ``best`` the number of data sets with the smallest error. If the lists of all halves are
    empty, the stability counts as 0.
    """
    rows = rows.assign(is_simulated=rows["data"].str.startswith(PREFIX_OF_SIMULATED))
    selects_genes = rows.groupby("method")["genes"].transform("count") > 0
    rows["stability"] = rows["stability"].where(rows["stability"].notna() | ~selects_genes, 0.0)
    keys = ["kind", "is_simulated", "data", "method"]
    data_means = rows.groupby(keys, sort=False).mean(numeric_only=True).reset_index()
    out: list[dict[str, Any]] = []
    for (kind, is_simulated), part in data_means.groupby(["kind", "is_simulated"]):
        errors = part.pivot_table(index="data", columns="method", values="error").dropna(axis=1)
        ranks = errors.rank(axis=1).mean()
        n_best = errors.eq(errors.min(axis=1), axis=0).sum()
        for method in [name for name in METHODS if name in set(part["method"])]:
            method_rows = part[part["method"] == method]
            out.append(
                {
                    "kind": kind,
                    "data": "simulated" if is_simulated else "real",
                    "method": method,
                    "sets": len(method_rows),
                    **method_rows[MEAN_COLUMNS].mean().to_dict(),
                    "rank": ranks.get(method),
                    "best": n_best.get(method),
                    "genes": method_rows["genes"].quantile(0.5),  # median without a warning of NaN
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
    """Return the means as Markdown: a table for each kind of response, real or simulated data."""
    lines = [
        "# Results of the benchmark",
        "",
        summary_line.removeprefix("# ") + ".",
        "",
        "[The benchmark](../README.md) explains the columns. Best: number of data sets on which"
        " the method has the smallest error of the methods with all data sets of the table; equal"
        " errors all count. A method with fewer sets was not run on all data sets, so that its"
        " means are not comparable.",
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
            cells = [f"{row[n]:{COLUMN_FORMATS[n]}}" if pd.notna(row[n]) else "–" for n in names]
            lines.append(f"| {row['method']} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def summary_text(rows: pd.DataFrame) -> str:
    """Return a line with the numbers of data sets, repeats, folds, pairs, methods and hours.

    Both methods of genesig come from the same fits; the seconds of these count once.
    """
    seconds = rows.loc[rows["method"] != "FDR-selected genes", "seconds"]
    cells = rows.groupby(["data", "repeat"]).ngroups
    n_real = rows.loc[~rows["data"].str.startswith(PREFIX_OF_SIMULATED), "data"].nunique()
    plan = " ".join(f"{name}={rows[name].iloc[0]}" for name in ("folds", "pairs"))
    return (
        f"# {n_real} real and {rows['data'].nunique() - n_real} simulated data sets, "
        f"repeats={rows['repeat'].max() + 1} {plan}, {cells} data sets and repeats, "
        f"{rows['method'].nunique()} methods, "
        f"{seconds.sum() / 3600:.1f} h of processor in outer splits"
    )


def write(rows: pd.DataFrame, path: Path, summary_line: str) -> None:
    """Write the summary line and a table below it."""
    table = rows.to_csv(sep="\t", index=False, float_format="%.4g")
    path.write_text(f"{summary_line}\n{table}", encoding="utf-8")


def main(cells: Path, folder: Path) -> None:
    """Write both tables and the page."""
    rows = read(cells)
    summary_line = summary_text(rows)
    write(rows.drop(columns=["folds", "pairs"]), folder / "answers.tsv", summary_line)
    table = means(rows)
    write(table, folder / "methods.tsv", summary_line)
    (folder / "methods.md").write_text(methods_page(table, summary_line), encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
