"""Tables of a changed study, told as those of the study as it was."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from metamorphic_study import Tables

GENES = ("gene", "prototype", "nearest")
WORDS = ("label", "predicted", "predicted_class", "class")
OF_CLASS = ("coef ", "score of ", "probability of ")
SCORES_OF_BLOCKS = ("blocks", "prototypes")


def renamed(tables: Tables, columns: tuple[str, ...], old: Mapping[str, str]) -> Tables:
    """Put the old words in the cells of some columns."""

    def told(cells: pd.Series) -> pd.Series:
        return cells.map(lambda cell: old.get(cell, cell))

    return {
        name: table.assign(**{c: told(table[c]) for c in columns if c in table})
        for name, table in tables.items()
    }


def by_gene(tables: Tables) -> Tables:
    """Put tables that are in the order of the genes in that of their old names."""
    keys = {"univariate": ["gene"], "null_frequency": ["mu", "gene"]}
    sort = {name: tables[name].sort_values(key, ignore_index=True) for name, key in keys.items()}
    return tables | sort


def genes_times(tables: Tables, factor: Mapping[str, float]) -> Tables:
    """Multiply weights by the factor of their gene, and what has its sign by that."""
    sign = {gene: float(np.sign(each)) for gene, each in factor.items()}
    several = "class" in tables["signature"]
    return {
        name: _of_genes(table, factor, sign, several) if "gene" in table else table
        for name, table in tables.items()
    }


def _of_genes(
    table: pd.DataFrame, factor: Mapping[str, float], sign: Mapping[str, float], several: bool
) -> pd.DataFrame:
    """Weights of several classes are lengths, but those of each class; F has no sign."""
    own, side = table["gene"].map(factor), table["gene"].map(sign)
    lengths = own.abs() if several else own
    change = {c: table[c] * lengths for c in ("coef", "mean_coef") if c in table}
    of_class = [c for c in table if c.startswith("coef ")]
    change |= {c: table[c] * own for c in of_class}
    for column, of in {"r": "prototype", "nearest_r": "nearest"}.items():
        if column in table:
            change[column] = table[column] * side * table[of].map(sign).fillna(1)
    if "statistic" in table and not several:
        change["statistic"] = table["statistic"] * side
    if "loading" in table:  # the largest of a module is positive
        change["loading"] = table["loading"] * side * side[0]
    table = table.assign(**change)
    if of_class:
        largest = table[of_class].idxmax(axis=1).str.removeprefix("coef ")
        table = table.assign(**{"class": largest})
    return table


def response_times(tables: Tables, factor: float) -> Tables:
    """Multiply what goes with the response by a factor, and its sizes by that of the factor."""
    out = {}
    for name, table in tables.items():
        sizes = ("size", *(("score",) if name in SCORES_OF_BLOCKS else ()))
        change = {c: table[c] * abs(factor) for c in sizes if c in table}
        signed = [c for c in ("coef", "mean_coef", "score") if c in table and c not in sizes]
        change |= {c: table[c] * factor for c in signed}
        if "statistic" in table:
            change["statistic"] = table["statistic"] * np.sign(factor)
        if "squared_error" in table:
            change["squared_error"] = table["squared_error"] * factor**2
        if "predicted" in table and pd.api.types.is_float_dtype(table["predicted"]):
            change["predicted"] = table["predicted"] * factor
        out[name] = table.assign(**change)
    return out


def _one_of_two(table: pd.DataFrame, wanted: pd.DataFrame) -> pd.DataFrame:
    """Of two classes a table has the probability of one: that of the other is the rest."""
    here, there = ([c for c in each if str(c).startswith(OF_CLASS[-1])] for each in (table, wanted))
    if len(here) != 1 or here == there:
        return table
    return table.assign(**{there[0]: 1 - table[here[0]]})


def classes_called(tables: Tables, old: Mapping[str, str], columns_of: Tables) -> Tables:
    """Put the old names of classes in cells and columns; tables list classes by name."""
    new = {f"{what}{a}": f"{what}{b}" for a, b in old.items() for what in OF_CLASS}
    out = {
        name: _one_of_two(table.rename(columns=new), columns_of[name])[columns_of[name].columns]
        for name, table in renamed(tables, WORDS, old).items()
    }
    by = ["mu", "predicted_class"]
    return out | {"rejection": out["rejection"].sort_values(by, ignore_index=True)}
