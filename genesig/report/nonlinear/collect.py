"""Collect the part of report_data.json about nonlinear selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from genesig.report.page.record import Study, json_value, rounded, rounded_row
from genesig.report.page.tables import Difference, at_mu

if TYPE_CHECKING:
    import pandas as pd


class NonlinearSettings(TypedDict):
    """Settings of the config's section ``nonlinear`` that the page reads."""

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
    """A gene that nonlinear or linear selection found."""

    gene: str
    symbol: str
    cv_frequency: float  # share of the outer splits that select the gene
    linear_cv_frequency: float  # the same of the linear lists
    mean_norm: float | None  # size of the derivative, over the splits that select the gene
    final_norm: float  # the same in the final model; 0 if it does not use the gene
    in_list: bool  # core gene of nonlinear selection
    in_signature: bool


class ListAgreement(TypedDict):
    """Core genes of nonlinear selection shared with those of the chosen linear lists."""

    n_linear: int
    n_nonlinear: int
    shared: int
    jaccard: float | None  # shared genes over all genes of both
    jaccard_in_split: float | None  # the same within a split, mean over the splits


class FitProblems(TypedDict):
    """Numbers of fits that ended early, did not converge or selected no gene."""

    splits: int  # outer splits
    cut: int  # splits whose path ended before the chosen tau
    inner_cut: int  # inner paths that ended before the smallest tau
    inner: int  # all inner paths
    unfinished: int  # fits above the requested gap
    none: int  # splits without a gene
    messages: list[str]  # first messages about single splits
    further_messages: int  # number of further messages


class FinalNonlinearModel(TypedDict):
    """Settings of the nonlinear model of all samples."""

    tau: float | None
    nu: float | None
    width: float | None
    lam: float | None
    explained_by_none: float | None  # share of the variance fitted without any gene
    n_genes: int


class DependenceCurve(TypedDict):
    """Partial dependence of the final model on one gene."""

    gene: str
    symbol: str
    norm: float  # size of the derivative
    straight: float | None  # r² of the curve with a line
    value: list[float]  # expression of the gene
    effect: list[float]  # mean score at this expression
    samples: list[int]  # samples near this expression


class DependenceCurves(TypedDict):
    """Curves of the first genes of the final model."""

    curves: list[DependenceCurve]
    drawn_from: int  # genes of the final model
    straight: float | None  # median r² with a line, over all of them


class NonlinearRecord(DependenceCurves):
    """Summary of nonlinear selection."""

    screened: int  # genes that each training set kept
    genes: list[SelectedGene]  # at most twice `MAX_NONLINEAR_GENES`
    ever: int  # genes that any split selected
    agreement: ListAgreement
    difference: Difference | None  # of the error to that of linear selection
    sizes: list[float]  # smallest, median and largest number of genes over the splits
    none: list[float | None]  # the same of the share fitted without any gene
    trouble: FitProblems
    model: FinalNonlinearModel


class Nonlinear(Study):
    """The data of a study and of nonlinear selection; None if that was not run."""

    nonlinear: NonlinearRecord | None


MAX_NONLINEAR_GENES = 25
MAX_CURVES = 12
MAX_MESSAGES = 5


def nonlinear(
    tables: Mapping[str, pd.DataFrame], config: NonlinearSettings | None
) -> NonlinearRecord | None:
    """Return the summary of nonlinear selection; None if it was not run."""
    if "nonlinear" not in tables or config is None:
        return None
    splits = tables["nonlinear_scores"]
    model = tables["nonlinear_model"].iloc[0]
    return {
        "screened": int(model["screened"]),
        "genes": _gene_rows(tables["nonlinear"], tables["signature"]),
        "ever": len(tables["nonlinear"]),
        "agreement": _list_agreement(tables["nonlinear_agreement"]),
        "difference": _difference_to_linear(tables["nonlinear_difference"]),
        "sizes": rounded(splits["n_genes"].quantile([0, 0.5, 1]).to_numpy(), 4),
        "none": rounded(splits["explained_by_none"].quantile([0, 0.5, 1]).to_numpy(), 3),
        "trouble": _fit_problems(splits, float(config["tolerance"])),
        "model": _final_model(model),
        **_dependence_curves(tables["nonlinear_curves"]),
    }


def _final_model(model: pd.Series[Any]) -> FinalNonlinearModel:
    """Return the settings of the final model."""
    settings: FinalNonlinearModel = rounded_row(
        model, 4, "tau", "nu", "width", "lam", "explained_by_none"
    )
    return {**settings, "n_genes": int(model["n_genes"])}


def _difference_to_linear(differences: pd.DataFrame) -> Difference | None:
    """Return the difference of the errors of nonlinear and linear selection."""
    nonlinear_rows = differences[differences["model"] == "nonlinear"].to_dict("records")
    keys = ("error", "linear", "difference", "low", "high")
    return rounded_row(nonlinear_rows[0], 5, *keys) if nonlinear_rows else None


def _gene_rows(table: pd.DataFrame, signature: pd.DataFrame) -> list[SelectedGene]:
    """Return the most often selected genes, and the signature genes that are not among them."""
    columns = [
        "gene",
        "symbol",
        "cv_frequency",
        "linear_cv_frequency",
        "mean_norm",
        "final_norm",
        "in_list",
        "in_signature",
    ]
    rows = [dict(zip(columns, row, strict=True)) for row in table[columns].itertuples(index=False)]
    first_rows = rows[:MAX_NONLINEAR_GENES]
    listed_genes = {row["gene"] for row in first_rows}
    signature_rows = [row for row in rows[MAX_NONLINEAR_GENES:] if row["in_signature"]]
    listed_genes |= {row["gene"] for row in signature_rows}
    listed = signature[["gene", "symbol", "cv_frequency"]].itertuples(index=False)
    unselected_rows = [
        {
            "gene": gene,
            "symbol": symbol,
            "cv_frequency": 0.0,
            "linear_cv_frequency": linear_frequency,
            "mean_norm": None,
            "final_norm": 0.0,
            "in_list": False,
            "in_signature": True,
        }
        for gene, symbol, linear_frequency in listed
        if gene not in listed_genes
    ]
    return [
        _rounded_gene(row)
        for row in [*first_rows, *signature_rows, *unselected_rows][: 2 * MAX_NONLINEAR_GENES]
    ]


def _rounded_gene(row: Mapping[str, Any]) -> SelectedGene:
    """Return the row of a gene with numbers rounded."""
    name = row["symbol"] if row["symbol"] == row["symbol"] else row["gene"]
    frequencies: SelectedGene = rounded_row(
        row, 4, "cv_frequency", "linear_cv_frequency", "mean_norm", "final_norm"
    )
    return {
        **frequencies,
        "gene": str(row["gene"]),
        "symbol": str(name),
        "in_list": bool(row["in_list"]),
        "in_signature": bool(row["in_signature"]),
    }


def _list_agreement(table: pd.DataFrame) -> ListAgreement:
    """Return the agreement of the chosen lists."""
    row = table[at_mu(table, None)].iloc[0]
    return {
        "n_linear": int(row["n_linear"]),
        "n_nonlinear": int(row["n_nonlinear"]),
        "shared": int(row["shared"]),
        "jaccard": json_value(row["jaccard"]),
        "jaccard_in_split": json_value(row["jaccard_in_split"]),
    }


def _fit_problems(splits: pd.DataFrame, tolerance: float) -> FitProblems:
    """Count paths that ended early, fits that did not converge, and splits without a gene."""
    gap = splits["gap"]
    ended_early = splits["ended_early"].astype(bool)
    reported = splits[~ended_early & splits["message"].notna() & (splits["message"] != "")]
    messages = [
        f"{split}: {message}"
        for split, message in zip(reported["split"], reported["message"], strict=True)
    ]
    return {
        "splits": len(splits),
        "cut": int(ended_early.sum()),
        "inner_cut": int(splits["cut"].sum()),
        "inner": int(splits["paths"].sum()),
        "unfinished": int((gap > tolerance).sum()),
        "none": int((splits["n_genes"] == 0).sum()),
        "messages": messages[:MAX_MESSAGES],
        "further_messages": max(0, len(messages) - MAX_MESSAGES),
    }


def _dependence_curves(table: pd.DataFrame) -> DependenceCurves:
    """Return the curves of the first genes, and the median r² with a line of all curves."""
    gene_tables: Sequence[tuple[Any, pd.DataFrame]] = list(table.groupby("gene", sort=False))
    r2_with_line = [float(gene_table["straight"].iloc[0]) for _, gene_table in gene_tables]
    defined = [value for value in r2_with_line if value == value]
    curves: list[DependenceCurve] = [
        {
            "gene": str(gene),
            "symbol": str(gene_table["symbol"].fillna(gene).iloc[0]),
            "norm": rounded(gene_table["norm"].iloc[0], 4),
            "straight": rounded(gene_table["straight"].iloc[0], 4),
            "value": rounded(gene_table["value"].to_numpy(), 5),
            "effect": rounded(gene_table["effect"].to_numpy(), 5),
            "samples": [int(count) for count in gene_table["samples"]],
        }
        for gene, gene_table in gene_tables[:MAX_CURVES]
    ]
    return {
        "curves": curves,
        "drawn_from": len(gene_tables),
        "straight": rounded(float(np.median(defined)), 4) if defined else None,
    }
