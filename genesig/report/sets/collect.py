"""The part of report_data.json about gene sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from genesig.report.page.rounding import rounded
from genesig.report.page.rows import at_mu
from genesig.report.sets.record import Agreement, SelectedSet, SetsRecord

if TYPE_CHECKING:
    import pandas as pd

TABLES = ("sets", "sets_scores", "sets_predictions", "sets_stability", "sets_error", "sets_genes")
SHOWN = ("sets", "sets_genes", "sets_scores")
TEXT = ("set", "about")

MOST_SETS = 30


def sets(tables: Mapping[str, pd.DataFrame]) -> SetsRecord | None:
    """Sum the selection of gene sets up; None where it was not run."""
    if "sets" not in tables:
        return None
    found, splits, error = tables["sets"], tables["sets_scores"], tables["sets_error"].iloc[0]
    chosen = tables["stability"]
    permutations = int(error["permutations"])
    return {
        "known": int(error["sets"]),
        "sets": [_rounded(row) for row in found.head(MOST_SETS).to_dict("records")],
        "ever": int((found["frequency"] > 0).sum()),
        "often": int(found["in_list"].astype(bool).sum()),
        "final": int((found["final_share"] > 0).sum()),
        "sizes": rounded(splits["n_selected"].quantile([0, 0.5, 1]).to_numpy(), 4),
        "unfinished": int(splits["message"].notna().sum()),
        "difference": {
            "error": rounded(error["error"], 5),
            "linear": rounded(error["gene_error"], 5),
            "difference": rounded(error["difference"], 5),
            "low": rounded(error["difference_low"], 5),
            "high": rounded(error["difference_high"], 5),
        },
        "p": {
            "value": rounded(error["p_value"], 5),
            "permutations": permutations,
            "smallest": 1 / (permutations + 1),
        },
        "stability": _agreement(tables["sets_stability"]),
        "of_genes": _agreement(chosen[at_mu(chosen, None)]),
    }


def _rounded(row: Mapping[Any, Any]) -> SelectedSet:
    return {
        "set": str(row["set"]),
        "genes": int(row["genes"]),
        "named": int(row["named"]),
        "frequency": rounded(row["frequency"], 4),
        "mean_share": rounded(row["mean_share"], 4),
        "final_share": rounded(row["final_share"], 4),
        "in_list": bool(row["in_list"]),
    }


def _agreement(table: pd.DataFrame) -> Agreement:
    known = table[table["source"] == "half_subsamples"].to_dict("records")
    row = known[0] if known else dict.fromkeys(table.columns, float("nan"))
    return {
        "value": rounded(row["stability"], 4),
        "mean_size": rounded(row["mean_size"], 4),
    }
