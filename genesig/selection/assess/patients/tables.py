"""All tables of who was studied."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.response.covariates import splined
from genesig.results import Dataset, Splits
from genesig.selection.assess.held import Held
from genesig.selection.assess.held_out import arrange
from genesig.selection.assess.kinds.known import ASSESSED
from genesig.selection.assess.kinds.record import HeldOut
from genesig.selection.assess.patients.characteristics import patients_table
from genesig.selection.assess.patients.next_study import next_study_table
from genesig.selection.assess.patients.pairs import effect
from genesig.selection.assess.patients.subgroups import subgroups_table
from genesig.selection.assess.patients.traits import traits
from genesig.selection.assess.several import sides

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]

MEASURES: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "classification": ("odds ratio", np.exp),
    "survival": ("hazard ratio", np.exp),
    "regression": ("slope", np.asarray),
}
"""What b of `pairs.effect` is called, and how it is told."""


def patient_tables(
    dataset: Dataset, splits: Splits, predictions: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Return the tables of who was studied and what the held-out score of the chosen lists says.

    They are ``patients``, ``score_effect``, ``subgroups`` and ``next_study``; `predictions` are
    those of predictions.tsv.
    """
    kind, classes = ASSESSED[dataset.design.kind], dataset.design.classes
    chosen = predictions[predictions["mu"].isna()]
    numbers = {split.name: number for number, split in enumerate(splits.outer)}
    row, split = dataset.rows(chosen["sample"].tolist()), chosen["split"].map(numbers).to_numpy()
    scores, permutation = kind.scores(chosen, classes)[:, None], np.zeros(len(row), dtype=np.int64)
    found = arrange(dataset, splits, row, split, scores, permutation)
    described, others = traits(dataset)
    return {
        "patients": patients_table(dataset, described, others),
        "score_effect": effects_table(dataset, found),
        "subgroups": subgroups_table(found, kind.headline, described),
        "next_study": next_study_table(found, kind.headline, classes),
    }


def effects_table(dataset: Dataset, found: HeldOut) -> pd.DataFrame:
    """Return score_effect.tsv: what one standard deviation of the held-out score is worth.

    The odds ratio of two classes, and of each of several against the rest (``class``); the hazard
    ratio; of a number the slope, in its own unit. With covariates once more beside these
    (``adjusted``), as models have them, a missing value being the mean. See `pairs.effect`.
    """
    import pandas as pd

    y, f, classes = found.y, found.scores[:, 0], dataset.design.classes
    each = {"": (y, f)}
    if classes is not None:
        parts = sides(y, f) if len(classes) > 2 else [(y > 0, f)]
        each = dict(zip(classes[-len(parts) :], parts, strict=True))
    held, rows = Held.of(dataset), []
    measure, scale = MEASURES[dataset.design.task]
    for name, (response, score) in each.items():
        none = np.zeros((len(score), 0))
        beside = {"no": none}
        if held is not None and dataset.design.covariates:
            beside["yes"] = _covariates(held)[found.row]
        for adjusted, C in beside.items():
            own = scale(np.array(effect(found, response, score, C)))
            rows.append((measure, name, adjusted, *own))
    return pd.DataFrame(rows, columns=["measure", "class", "adjusted", "value", "low", "high"])


def _covariates(held: Held) -> Array:
    """Return the covariates of each sample, (n, q), knots and means those of all samples."""
    C = splined(held.covariates, held.knots_in(np.ones(len(held.covariates), dtype=bool)))
    return np.where(np.isnan(C), np.nanmean(C, axis=0), C)
