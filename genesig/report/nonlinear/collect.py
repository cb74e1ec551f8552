"""The part of report_data.json about nonlinear selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.report.page.rounding import plain, rounded

if TYPE_CHECKING:
    import pandas as pd

TABLES = (
    "nonlinear", "nonlinear_scores", "nonlinear_model", "nonlinear_predictions",
    "nonlinear_agreement", "nonlinear_difference", "nonlinear_curves",
)  # fmt: skip
SHOWN = ("nonlinear", "nonlinear_scores", "nonlinear_agreement")
MODEL = ("tau", "nu", "width", "lam", "explained_by_none")

MOST_GENES = 25
MOST_CURVES = 12
MOST_MESSAGES = 5


def nonlinear(
    tables: Mapping[str, pd.DataFrame], mu: float, config: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """Sum nonlinear selection up; None where it was not run.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        The result tables, those of `TABLES` among them or none of them.
    mu : float
        That of the signature.
    config : mapping or None
        The config section of this name.
    """
    if "nonlinear" not in tables or config is None:
        return None
    splits, model = tables["nonlinear_scores"], tables["nonlinear_model"].iloc[0]
    differences = tables["nonlinear_difference"].set_index("model")
    return {
        "screened": int(model["screened"]),
        "genes": _genes(tables["nonlinear"], tables["signature"]),
        "ever": len(tables["nonlinear"]),
        "agreement": _agreement(tables["nonlinear_agreement"], mu),
        "difference": _row(differences, "nonlinear"),
        "fvm": _row(differences, "fvm"),
        "sizes": rounded(splits["n_genes"].quantile([0, 0.5, 1]).to_numpy(), 4),
        "none": rounded(splits["explained_by_none"].quantile([0, 0.5, 1]).to_numpy(), 3),
        "trouble": _trouble(splits, float(config["tolerance"])),
        "model": {key: rounded(model[key], 4) for key in MODEL}
        | {"n_genes": int(model["n_genes"])},
        **_curves(tables["nonlinear_curves"]),
    }


def _row(differences: pd.DataFrame, model: str) -> dict[str, Any] | None:
    if model not in differences.index:
        return None
    return {str(key): rounded(value, 5) for key, value in differences.loc[model].items()}


def _genes(found: pd.DataFrame, signature: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the genes selected most often, and those of the signature that are not among them."""
    columns = ["gene", "symbol", "frequency", "linear_frequency", "mean_norm", "final_norm",
               "in_list", "in_signature"]  # fmt: skip
    rows = [dict(zip(columns, row, strict=True)) for row in found[columns].itertuples(index=False)]
    shown = rows[:MOST_GENES]
    there = {row["gene"] for row in shown}
    later = [row for row in rows[MOST_GENES:] if row["in_signature"]]
    there |= {row["gene"] for row in later}
    listed = signature[["gene", "symbol", "frequency"]].itertuples(index=False)
    never = [
        {"gene": gene, "symbol": symbol, "frequency": 0.0, "linear_frequency": often,
         "mean_norm": None, "final_norm": 0.0, "in_list": False, "in_signature": True}
        for gene, symbol, often in listed if gene not in there
    ]  # fmt: skip
    return [_rounded(row) for row in [*shown, *later, *never][: 2 * MOST_GENES]]


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    name = row["symbol"] if row["symbol"] == row["symbol"] else row["gene"]
    numbers = ("frequency", "linear_frequency", "mean_norm", "final_norm")
    short = {key: None if row[key] is None else rounded(row[key], 4) for key in numbers}
    flags = {key: bool(row[key]) for key in ("in_list", "in_signature")}
    return {"gene": str(row["gene"]), "symbol": str(name), **short, **flags}


def _agreement(table: pd.DataFrame, mu: float) -> dict[str, Any]:
    row = table.iloc[int(np.argmin(np.abs(table["mu"] - mu)))]
    counts = {key: int(row[key]) for key in ("n_linear", "n_nonlinear", "shared")}
    return {**{str(key): plain(row[key]) for key in table.columns}, **counts}


def _trouble(splits: pd.DataFrame, tolerance: float) -> dict[str, Any]:
    """Count what did not go as asked: paths cut, fits that did not converge, splits without one."""
    gap, said = splits["gap"], splits["message"].fillna("").astype(str)
    messages = [
        f"{split}: {words}" for split, words in zip(splits["split"], said, strict=True)
        if words and "path ends" not in words  # those are counted
    ]  # fmt: skip
    return {
        "splits": len(splits),
        "cut": int(said.str.contains("path ends").sum()),
        "inner_cut": int(splits["cut"].sum()),
        "inner": int(splits["paths"].sum()),
        "unfinished": int((gap > tolerance).sum()),
        "none": int((splits["n_genes"] == 0).sum()),
        "messages": messages[:MOST_MESSAGES],
        "more": max(0, len(messages) - MOST_MESSAGES),
    }


def _curves(table: pd.DataFrame) -> dict[str, Any]:
    """Return the curves of the first genes, and how straight those of all genes are."""
    each: Sequence[tuple[Any, pd.DataFrame]] = list(table.groupby("gene", sort=False))
    straight = [float(mine["straight"].iloc[0]) for _, mine in each]
    known = [value for value in straight if value == value]
    shown = [
        {
            "gene": str(gene),
            "symbol": str(mine["symbol"].fillna(gene).iloc[0]),
            "norm": rounded(mine["norm"].iloc[0], 4),
            "straight": rounded(mine["straight"].iloc[0], 4),
            **{key: rounded(mine[key].to_numpy(), 5) for key in ("value", "effect")},
            "samples": [int(count) for count in mine["samples"]],
        }
        for gene, mine in each[:MOST_CURVES]
    ]
    return {
        "curves": shown,
        "drawn_from": len(each),
        "straight": rounded(float(np.median(known)), 4) if known else None,
        "bent": int(sum(value < 0.9 for value in known)),
    }
