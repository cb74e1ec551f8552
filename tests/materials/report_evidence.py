"""Evidence of the genes of the study in report_study.py, made so that so many are named."""

from __future__ import annotations

import numpy as np
import pandas as pd

from genesig.results import Dataset, Fits
from genesig.selection.gather import EVIDENCE

FDR, PERMUTATIONS, Q = 0.1, 30, 0.09
"""Rate, permutations, and the largest q of a named gene."""


def evidence_of(
    dataset: Dataset, final: Fits, named: int | None, *, beside: int = 0
) -> pd.DataFrame:
    """Return evidence.tsv: the first genes of the final model are named, `beside` of others.

    Empty where `named` is None. The q of the others lie above the rate.
    """
    if named is None:
        return pd.DataFrame(columns=EVIDENCE)
    inside = final.coef(0, int(final.choice[0, 2]))[0]
    others = np.setdiff1d(np.arange(len(dataset.genes)), inside)[: max(beside, 3)]
    genes = np.concatenate([others[:beside], inside, others[beside:]])
    proved = np.arange(len(genes)) < named
    return pd.DataFrame({
        "gene": np.array(dataset.genes, dtype=object)[genes],
        "symbol": dataset.var["symbol"].to_numpy()[genes],
        "half_frequency": np.linspace(0.96, 0.02, len(genes)),
        "chance": np.full(len(genes), 0.04),
        "p": np.where(proved, 1 / (1 + PERMUTATIONS), 0.5),
        "q": np.where(proved, np.linspace(0.02, Q, max(named, 1))[
            np.minimum(np.arange(len(genes)), max(named, 1) - 1)], 0.8),
        "named": proved,
    }, columns=EVIDENCE)  # fmt: skip
