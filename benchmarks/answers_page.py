"""The tables of docs/evidence/benchmarks.md, from the table of answers.py.

python benchmarks/answers_page.py FOLDER/answers.tsv
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from answers_data import OTHER_SOURCES, PUBLISHED
from answers_goals import complete_rows, paired_difference

NAMES = {
    "genesig": "**genesig, default**",
    "FDR-selected genes": "**genesig, FDR-selected genes only**",
    "ensemble": "genesig, ensemble of three models",
    "best": "genesig, `linear.list: best`",
    "stable": "list `stable` only",
    "minimal": "list `minimal` only",
    "l1 logistic": "l1 logistic, to convergence",
    "l1 logistic, as is": "lasso (l1 logistic, scikit-learn)",
    "linear SVM": "linear SVM, all genes",
    "t-test + LDA": "t-test, top k genes, LDA",
    "shrunken centroids": "shrunken centroids",
}
SHORT_NAMES = {
    "desmedt_metastasis": "metastasis",
    "desmedt_er": "ER",
    "rosenwald_status": "death",
    "rosenwald_group": "lymphoma",
    "ALL_AML": "ALL/AML",
}


def tables(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the lines of all tables: means, then errors and lists of each group of data sets."""
    wide = {
        column: complete_rows(rows).pivot_table(index="data", columns="method", values=column)
        for column in ("error", "auc", "genes", "stability")
    }
    methods = list(rows["method"].unique())
    yield from mean_table(wide, methods)
    for sources in (PUBLISHED, OTHER_SOURCES):
        names = [name for name in sources if name in wide["error"].index]
        if names:
            yield from error_table(wide["error"].loc[names], methods)
            yield from list_table(wide["genes"].loc[names], wide["stability"].loc[names])


def mean_table(wide: dict[str, pd.DataFrame], methods: list[str]) -> Iterator[str]:
    """Yield the table of means: the first method (genesig), then the others by their mean error.

    wide: measure -> values (data sets × methods).
    """
    yield from table_head(
        "mean of balanced errors",
        ["all", "the six", "the nine", "against genesig", "AUC", "genes", "stability"],
    )
    complete = wide["error"].dropna(axis=1)  # means over unequal data sets cannot be compared
    order = complete.mean().sort_values(kind="stable").index
    for method in [methods[0], *(method for method in order if method != methods[0])]:
        selects_genes = method in wide["stability"]
        cells = [
            three_decimals(wide["error"][method].mean()),
            *(
                three_decimals(wide["error"][method].reindex(sources).mean())
                for sources in (PUBLISHED, OTHER_SOURCES)
            ),
            paired_difference(wide["error"], method, methods[0]).replace("-", "−"),
            three_decimals(wide["auc"][method].mean()),
            f"{wide['genes'][method].median():g}" if selects_genes else "all",
            three_decimals(wide["stability"][method].mean()) if selects_genes else "–",
        ]
        yield table_row([NAMES.get(method, method), *cells])
    yield ""


def error_table(wide: pd.DataFrame, methods: list[str]) -> Iterator[str]:
    """Yield the table of errors (data sets × methods), a row for each method."""
    yield from table_head("balanced error", ["mean", *short_names(wide)])
    for method in methods:
        cells = [three_decimals(error) for error in wide[method]]
        yield table_row(
            [NAMES.get(method, method), three_decimals(wide[method].mean(skipna=False)), *cells]
        )
    yield ""


def list_table(genes: pd.DataFrame, stability: pd.DataFrame) -> Iterator[str]:
    """Yield the table of length and stability of each method that selects genes."""
    yield from table_head("genes / stability", short_names(genes))
    for method in (name for name in NAMES if name in stability):
        cells = [
            f"{length:g} / {two_decimals(phi)}" if not np.isnan(length) else "–"
            for length, phi in zip(genes[method], stability[method], strict=True)
        ]
        yield table_row([NAMES[method], *cells])
    yield ""


def short_names(wide: pd.DataFrame) -> list[str]:
    """Return the short names of the data sets, the rows of `wide`."""
    return [SHORT_NAMES.get(name, name) for name in wide.index]


def table_head(first_heading: str, headings: list[str]) -> Iterator[str]:
    """Yield the first two lines of a table."""
    yield table_row([first_heading, *headings])
    yield table_row(["---"] * (len(headings) + 1))


def table_row(cells: list[str]) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(cells)} |"


def three_decimals(value: float) -> str:
    """Return a number with three decimals, a dash for NaN."""
    return f"{value:.3f}" if not np.isnan(value) else "–"


def two_decimals(value: float) -> str:
    """Return a number with two decimals and a true minus sign."""
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")  # + 0: no minus before a zero


if __name__ == "__main__":
    print("\n".join(tables(pd.read_csv(Path(sys.argv[1]), sep="\t"))))
