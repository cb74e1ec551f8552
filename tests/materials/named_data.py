"""Data in which some genes differ, and what the defaults name of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from kinds_study import task_of
from study import settings, splits_of

from genesig.results import Dataset, Design
from genesig.selection.gather import evidence_table
from genesig.selection.linear.halves import chance_study
from genesig.selection.linear.tasks import keywords

SPLITS = {"folds": 5, "repeats": 1, "subsamples": 0}
SAMPLES, GENES, TRUE = 60, 400, 10


def differing(seed: int) -> tuple[Dataset, set[str]]:
    """Return two classes of which ten genes differ by a standard deviation, and their names."""
    rng = np.random.default_rng((991, seed))
    X, ill = rng.standard_normal((SAMPLES, GENES)), np.arange(SAMPLES) % 2 == 1
    true = rng.permutation(GENES)[:TRUE]
    X[:, true] += ill[:, None]
    samples, genes = [f"S{k:03d}" for k in range(SAMPLES)], [f"g{k:04d}" for k in range(GENES)]
    obs = pd.DataFrame({"state": np.where(ill, "ill", "well")}, index=samples)
    design = Design("state", "classification", ("well", "ill"), None, None)
    var = pd.DataFrame({"symbol": genes}, index=genes)
    return Dataset(X, obs, var, design, {}), {genes[j] for j in true}


def named(dataset: Dataset, kind: str, seed: int) -> pd.DataFrame:
    """Return evidence.tsv of a data set."""
    scheme = "stratified_kfold" if dataset.design.group is None else "stratified_group_kfold"
    splits = SPLITS | {"scheme": scheme}
    config = settings({}, data={"task": task_of(kind)}, splits=splits)
    chance = chance_study(
        dataset,
        splits_of(dataset, config, seed=seed),
        permutations=config["signature"]["permutations"],
        folds=config["normalise"]["folds"],
        **keywords(config),
    )
    return evidence_table(dataset, chance, config["signature"]["fdr"])
