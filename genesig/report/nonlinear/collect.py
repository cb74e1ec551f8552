"""The part of report_data.json about nonlinear selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from genesig.report.page.record import Study, plain, rounded, rounded_row
from genesig.report.page.tables import Difference, at_mu

if TYPE_CHECKING:
    import pandas as pd


class Settings(TypedDict):
    """What the page reads of the config's section ``nonlinear``."""

    genes: int | None
    kernel: str
    width: list[float]
    degree: int
    penalty: str
    mu: float
    groups: str | None
    nu: list[float]
    tau_min: float
    tau_count: int
    debias: bool
    lam: list[float]
    tolerance: float
    fvm_genes: list[int]
    fvm_bins: int


class SelectedGene(TypedDict):
    """How often a gene is selected, by both, and the size of the derivative by it.

    ``mean_norm`` is over the splits that select the gene, ``final_norm`` 0 where the model of all
    samples does without it.
    """

    gene: str
    symbol: str
    cv_frequency: float
    linear_cv_frequency: float
    mean_norm: float | None
    final_norm: float
    in_list: bool
    in_signature: bool


class Agreement(TypedDict):
    """Core genes shared with those of the chosen linear lists."""

    n_linear: int
    n_nonlinear: int
    shared: int
    jaccard: float | None
    jaccard_in_split: float | None


class Trouble(TypedDict):
    """What did not go as asked.

    Splits, paths that were cut and paths of the inner folds that were, of so many; fits that did
    not converge; splits without a gene; what was said of splits, and how much more.
    """

    splits: int
    cut: int
    inner_cut: int
    inner: int
    unfinished: int
    none: int
    messages: list[str]
    more: int


class FinalModel(TypedDict):
    """What was chosen for the model of all samples, and the share that no gene at all fits."""

    tau: float | None
    nu: float | None
    width: float | None
    lam: float | None
    explained_by_none: float | None
    n_genes: int


class Curve(TypedDict):
    """Partial dependence on one gene; ``straight`` is r² with a line."""

    gene: str
    symbol: str
    norm: float
    straight: float | None
    value: list[float]
    effect: list[float]
    samples: list[int]


class Curves(TypedDict):
    """At most 12 curves of ``drawn_from``.

    ``straight`` is the median r² with a line of all of them.
    """

    curves: list[Curve]
    drawn_from: int
    straight: float | None


class NonlinearRecord(Curves):
    """Nonlinear selection, summed up.

    ``genes`` are at most 50 of the ``ever`` that any split selected. ``sizes`` and ``none`` are
    smallest, median and largest over the splits: of the number of genes, and of the share fitted
    by no gene. ``screened`` is the number of genes that each training set kept.
    """

    screened: int
    genes: list[SelectedGene]
    ever: int
    agreement: Agreement
    difference: Difference | None
    sizes: list[float]
    none: list[float | None]
    trouble: Trouble
    model: FinalModel


class Nonlinear(Study):
    """What this topic reads; null where nonlinear selection was not run."""

    nonlinear: NonlinearRecord | None


TABLES = (
    "nonlinear", "nonlinear_scores", "nonlinear_model", "nonlinear_predictions",
    "nonlinear_agreement", "nonlinear_difference", "nonlinear_curves",
)  # fmt: skip
SHOWN = ("nonlinear",)

MOST_GENES = 25
MOST_CURVES = 12
MOST_MESSAGES = 5


def nonlinear(
    tables: Mapping[str, pd.DataFrame], config: Settings | None
) -> NonlinearRecord | None:
    """Sum nonlinear selection up; None where it was not run."""
    if "nonlinear" not in tables or config is None:
        return None
    splits, model = tables["nonlinear_scores"], tables["nonlinear_model"].iloc[0]
    return {
        "screened": int(model["screened"]),
        "genes": _genes(tables["nonlinear"], tables["signature"]),
        "ever": len(tables["nonlinear"]),
        "agreement": _agreement(tables["nonlinear_agreement"]),
        "difference": _difference(tables["nonlinear_difference"]),
        "sizes": rounded(splits["n_genes"].quantile([0, 0.5, 1]).to_numpy(), 4),
        "none": rounded(splits["explained_by_none"].quantile([0, 0.5, 1]).to_numpy(), 3),
        "trouble": _trouble(splits, float(config["tolerance"])),
        "model": _final(model),
        **_curves(tables["nonlinear_curves"]),
    }


def _final(model: pd.Series[Any]) -> FinalModel:
    found: FinalModel = rounded_row(model, 4, "tau", "nu", "width", "lam", "explained_by_none")
    return {**found, "n_genes": int(model["n_genes"])}


def _difference(differences: pd.DataFrame) -> Difference | None:
    own = differences[differences["model"] == "nonlinear"].to_dict("records")
    keys = ("error", "linear", "difference", "low", "high")
    return rounded_row(own[0], 5, *keys) if own else None


def _genes(found: pd.DataFrame, signature: pd.DataFrame) -> list[SelectedGene]:
    """Return the genes selected most often, and those of the signature that are not among them."""
    columns = ["gene", "symbol", "cv_frequency", "linear_cv_frequency", "mean_norm", "final_norm",
               "in_list", "in_signature"]  # fmt: skip
    rows = [dict(zip(columns, row, strict=True)) for row in found[columns].itertuples(index=False)]
    shown = rows[:MOST_GENES]
    there = {row["gene"] for row in shown}
    later = [row for row in rows[MOST_GENES:] if row["in_signature"]]
    there |= {row["gene"] for row in later}
    listed = signature[["gene", "symbol", "cv_frequency"]].itertuples(index=False)
    never = [
        {"gene": gene, "symbol": symbol, "cv_frequency": 0.0, "linear_cv_frequency": often,
         "mean_norm": None, "final_norm": 0.0, "in_list": False, "in_signature": True}
        for gene, symbol, often in listed if gene not in there
    ]  # fmt: skip
    return [_rounded(row) for row in [*shown, *later, *never][: 2 * MOST_GENES]]


def _rounded(row: Mapping[str, Any]) -> SelectedGene:
    name = row["symbol"] if row["symbol"] == row["symbol"] else row["gene"]
    found: SelectedGene = rounded_row(row, 4, "cv_frequency", "linear_cv_frequency", "mean_norm",
                                      "final_norm")  # fmt: skip
    return {**found, "gene": str(row["gene"]), "symbol": str(name),
            "in_list": bool(row["in_list"]), "in_signature": bool(row["in_signature"])}  # fmt: skip


def _agreement(table: pd.DataFrame) -> Agreement:
    row = table[at_mu(table, None)].iloc[0]
    return {"n_linear": int(row["n_linear"]), "n_nonlinear": int(row["n_nonlinear"]),
            "shared": int(row["shared"]), "jaccard": plain(row["jaccard"]),
            "jaccard_in_split": plain(row["jaccard_in_split"])}  # fmt: skip


def _trouble(splits: pd.DataFrame, tolerance: float) -> Trouble:
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


def _curves(table: pd.DataFrame) -> Curves:
    """Return the curves of the first genes, and how straight those of all genes are."""
    each: Sequence[tuple[Any, pd.DataFrame]] = list(table.groupby("gene", sort=False))
    straight = [float(mine["straight"].iloc[0]) for _, mine in each]
    known = [value for value in straight if value == value]
    shown: list[Curve] = [
        {
            "gene": str(gene),
            "symbol": str(mine["symbol"].fillna(gene).iloc[0]),
            "norm": rounded(mine["norm"].iloc[0], 4),
            "straight": rounded(mine["straight"].iloc[0], 4),
            "value": rounded(mine["value"].to_numpy(), 5),
            "effect": rounded(mine["effect"].to_numpy(), 5),
            "samples": [int(count) for count in mine["samples"]],
        }
        for gene, mine in each[:MOST_CURVES]
    ]
    return {
        "curves": shown,
        "drawn_from": len(each),
        "straight": rounded(float(np.median(known)), 4) if known else None,
    }
