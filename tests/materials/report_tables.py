"""Result tables of the study in report_study.py: gathered as in a real run, but for two.

Stability and the controls are numbers chosen so that a test can say what the page makes of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from report_evidence import evidence_of

from genesig.results import Dataset, Fits, Splits
from genesig.results.splits import Chance
from genesig.selection.assess.controls import NAMED, frequency_curves
from genesig.selection.assess.held_out import predictions_table, scores_table
from genesig.selection.assess.patients.tables import patient_tables
from genesig.selection.assess.stability import COLUMNS
from genesig.selection.gather import signature_table
from genesig.selection.genes.blocks import block_tables
from genesig.selection.genes.frequency import list_sizes, nested_lists
from genesig.selection.genes.univariate import univariate_table

MU = (1e-6, 1e-3, 1e-2, 1e-1, 1.0)
SIZES = (14, 22, 34, 48, 70)
CLUSTERS = {"least": 0.5, "warn_above": 0.9, "merge_above": None}
OTHERS = {"dummy": 0.5, "ridge": 0.04, "nearest_centroid": 0.06, "linear_svm": 0.05,
          "random_forest": 0.08}  # fmt: skip
PROVED = 0.07
"""Error of the models of named genes."""


def make_tables(
    study: Any, dataset: Dataset, splits: Splits, observed: Fits, final: Fits
) -> dict[str, pd.DataFrame]:
    fits = observed.with_chosen()
    nested = nested_lists(dataset, fits, frequency=0.75)
    blocks, prototypes = block_tables(dataset, final, **CLUSTERS)
    univariate = univariate_table(dataset)
    predictions = predictions_table(dataset, splits, fits)
    evidence = evidence_of(dataset, final, study.named, beside=study.beside)
    return {
        "signature": signature_table(
            dataset, nested, blocks, univariate, final, evidence, Chance.none()
        ),
        "evidence": evidence,
        "nested_lists": nested, "blocks": blocks, "prototypes": prototypes,
        "predictions": predictions, "scores": scores_table(dataset, splits, fits),
        "lists": list_sizes(fits, nested), "univariate": univariate,
        "stability": _stability(study, fits.mu), "controls": _controls(study, predictions),
        "frequency_curve": _curve(study, dataset, fits),
        **patient_tables(dataset, splits, predictions),
    }  # fmt: skip


def _stability(study: Any, mu: Any) -> pd.DataFrame:
    """Give the chosen lists what the minimal ones have."""
    places = [*range(len(MU)), 0]
    none: tuple[Any, ...] = ("", np.nan, "")
    rows = [(one, "outer_splits", 0.6 + 0.05 * j, *none, 10, SIZES[j])
            for one, j in zip(mu, places, strict=True)]  # fmt: skip
    if study.subsamples:
        rows += [(one, "half_subsamples", 0.3 + 0.07 * j, *none, 6, SIZES[j])
                 for one, j in zip(mu[:-1], places, strict=False)]  # fmt: skip
        rows += [(np.nan, "half_subsamples", 0.3, "more", 0.25, "alike", 6, SIZES[0]),
                 (np.nan, "half_blocks", 0.45, "more", 0.35, "alike", 6, SIZES[0])]  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)


def _controls(study: Any, predictions: pd.DataFrame) -> pd.DataFrame:
    wrong = predictions.assign(wrong=predictions["wrong"].astype(float))
    wrong = wrong.groupby("mu", dropna=False)["wrong"].mean()
    wrong = wrong.fillna(0.3) if study.regression else wrong
    p = np.nan if study.permutations == 0 else 1 / (study.permutations + 1)
    rows = [("genesig", mu, e, max(e - 0.05, 0), e + 0.07, 1 - e, 0.9 - e, 1.0, p)
            for mu, e in wrong.items()]  # fmt: skip
    if study.named is not None:
        rows.append((NAMED, np.nan, PROVED, 0.02, 0.14, 0.9, 0.8, 1.0, p))
    rows += [(name, np.nan, e, max(e - 0.03, 0), e + 0.06, 1 - e, 0.9 - e, 1.0, np.nan)
             for name, e in OTHERS.items()]  # fmt: skip
    words = ["model", "mu", "error", "low", "high", "auc", "auc_low", "auc_high", "p_value"]
    table = pd.DataFrame(rows, columns=words)
    other = table["model"] != "genesig"
    apart = (table["error"] - wrong.iloc[-1]).where(other)
    return table.assign(difference=apart, difference_low=apart - 0.02, difference_high=apart + 0.02)


def _curve(study: Any, dataset: Dataset, fits: Fits) -> pd.DataFrame:
    """Return the observed curve, and a falling one for the shuffled labels."""
    table = frequency_curves(dataset, fits, fits.take(np.arange(0)))
    if study.permutations == 0:
        return table
    null = len(dataset.genes) / 8 * np.exp(-6 * table["frequency"])
    return table.assign(permuted_median=null, permuted_low=0.4 * null, permuted_high=2 * null)
