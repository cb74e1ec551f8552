"""Every predictor of the study side by side, by the same metric on the same splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.results import Dataset, Fits, Splits
from genesig.results.joined import joined
from genesig.selection.assess.assessment import assess
from genesig.selection.assess.covariates_alone import NAME as COVARIATES
from genesig.selection.assess.covariates_alone import WITH_ALL
from genesig.selection.assess.difference import difference
from genesig.selection.assess.held_out import arrange, held_out
from genesig.selection.assess.kinds.known import ASSESSED
from genesig.selection.assess.kinds.record import Headline, HeldOut
from genesig.selection.assess.permutations import p_value
from genesig.selection.assess.whole_expression import p_of_all_genes

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]

NAMED = "genesig, named genes"

COLUMNS = [
    "model", "mu", "error", "low", "high", "auc", "auc_low", "auc_high", "p_value",
    "difference", "difference_low", "difference_high",
]  # fmt: skip
ADDED = ["added", "added_low", "added_high"]


def controls_table(
    dataset: Dataset,
    splits: Splits,
    observed: Sequence[Fits],
    null: Mapping[str, Array],
    others: Sequence[pd.DataFrame],
) -> pd.DataFrame:
    """Return controls.tsv: error and AUC of genesig at each mu and of each other predictor.

    The row of genesig without a mu is that of the predictive model: the answer. Where genes are
    named, ``genesig, named genes`` is the model of these.

    The error is the balanced error, or 1 - R² for regression, with the interval of `assess`; the
    p-value is that of the permutations at the same mu (see `p_value`). ``difference`` is the error
    of another predictor less that of the chosen lists, with its interval over the same samples (see
    `difference`). `others` have the columns of baselines.tsv.

    With covariates ``added`` is the error of these alone less that of the answer, or of ridge on
    all genes beside them, with its interval; and the p of the latter is that of `p_of_all_genes`.
    """
    import pandas as pd

    kind = ASSESSED[dataset.design.kind]
    headline = kind.headline
    whole = joined(observed, splits)
    fits = whole.with_chosen()
    rows: list[tuple[Any, ...]] = []
    own = held_out(dataset, splits, fits)
    for at, found in enumerate(assess(own, headline)):
        p = p_value(found.error, null["error"][:, at])
        rows.append(("genesig", fits.mu[at], *vars(found).values(), p, *[np.nan] * 3))
    if whole.answer_indptr is not None:
        here = held_out(dataset, splits, whole.answer("named"))
        (found,) = assess(here, headline)
        apart = difference(here, own, -1, headline)[2:]
        p = p_value(found.error, null["named"])
        rows.append(
            (NAMED, np.nan, *vars(found).values(), p, *difference(here, own, -1, headline)[2:])
        )
    numbers = {split.name: number for number, split in enumerate(splits.outer)}
    models = [pair for table in others for pair in table.groupby("model", sort=False)]
    seen: dict[str, HeldOut] = {"genesig": own}
    for name, table in models:
        row = dataset.rows(table["sample"].tolist())
        split = table["split"].map(numbers).to_numpy()
        scores = kind.scores(table, dataset.design.classes)[:, None]
        here = arrange(dataset, splits, row, split, scores, np.zeros(len(row), dtype=np.int64))
        seen[str(name)] = here
        apart = difference(here, own, -1, headline)[2:]
        rows.append((name, np.nan, *vars(assess(here, headline)[0]).values(), np.nan, *apart))
    table = pd.DataFrame(rows, columns=COLUMNS)
    if COVARIATES in seen:
        p = p_of_all_genes(dataset, splits, len(null["permutation"]))
        table = _with_added(table, seen, headline, p)
    return table


def _with_added(
    table: pd.DataFrame, seen: Mapping[str, HeldOut], headline: Headline, p: float
) -> pd.DataFrame:  # fmt: skip
    """Add what the answer, and ridge on all genes, err less than the covariates alone."""
    table = table.assign(**dict.fromkeys(ADDED, np.nan))
    for name in ("genesig", WITH_ALL):
        if name in seen:
            row = (table["model"] == name) & table["mu"].isna()
            table.loc[row, ADDED] = difference(seen[COVARIATES], seen[name], -1, headline)[2:]
    table.loc[table["model"] == WITH_ALL, "p_value"] = p
    return table
