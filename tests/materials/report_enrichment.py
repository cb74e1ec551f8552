"""Tables of enrichment for the study in report_study.py, made as in a real run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sets_study import gene_sets

from genesig.results import Dataset, Fits, Splits
from genesig.selection.enrichment import (
    Named,
    lists_of,
    lists_table,
    ranking_table,
    selection_table,
    stacked,
)


def enriched(
    tables: dict[str, pd.DataFrame], dataset: Dataset, splits: Splits, observed: Fits,
    names: Any = (),
) -> dict[str, pd.DataFrame]:  # fmt: skip
    """Return the tables for sixteen sets of four neighbours."""
    d = len(dataset.genes)
    sets = gene_sets([range(k % d, min(d, k % d + 4)) for k in range(0, 64, 4)])
    long = np.array(sets.names, dtype="U200")
    long[: len(names)] = list(names)[:16]
    sets = type(sets)(**{**vars(sets), "names": long})
    named = Named.of(dataset, sets)
    null = replace(observed, permutation=observed.permutation + 1)
    lists = lists_table(named, sets, lists_of(dataset, tables))
    chosen = selection_table(named, sets, observed.with_chosen(), null.with_chosen())
    ranking = ranking_table(dataset, splits, named, sets, shufflings=20)
    return {"enrichment": stacked([lists, chosen]), "enrichment_ranking": ranking}
