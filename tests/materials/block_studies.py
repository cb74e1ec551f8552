"""Nonlinear selection, gene sets and the fused lasso without files: small studies and calls."""

from __future__ import annotations

from typing import Any

import numpy as np
from gathered_study import make_dataset
from settings import LINEAR, MOMENTS, SPLITS
from study_data import study_of

from genesig.data.splits.draw import draw_splits
from genesig.results import Dataset, Splits
from genesig.results.model_fits import ModelFits
from genesig.results.splits import GeneSets
from genesig.selection.linear.training_sets import PreparedStudy
from genesig.selection.nonlinear.loop import nonlinear_final, nonlinear_loop
from genesig.selection.nonlinear.training_sets import NonlinearProtocol
from genesig.selection.sets.loop import cross_validate_sets
from genesig.selection.sets.training_sets import SetsSettings

# Nonlinear selection without files: small settings, drawn splits, the calls of the scripts.

SCALED = ({"step": "centre"}, {"step": "unit_variance"})
NONLINEAR_SPLITS = {
    "scheme": "stratified_kfold",
    "folds": 3,
    "repeats": 1,
    "column": None,
    "file": None,
    "inner_scheme": "stratified_kfold",
    "inner_folds": 2,
    "subsamples": 0,
    "batches": 1,
}
QUICK_NONLINEAR = {
    "genes": 12,
    "kernel": "gaussian",
    "width": [1.0],
    "degree": 2,
    "offset": 1.0,
    "penalty": "lasso",
    "mu": 0.5,
    "groups": None,
    "block_tau": 0.3,
    "nu": [0.1],
    "tau_min": 0.5,
    "tau_count": 3,
    "debias": True,
    "lam": [1e-3, 1e-1],
    "solver": "auto",
    "tolerance": 1e-3,
    "max_iterations": 5000,
    "fvm_genes": [1, 3],
    "fvm_bins": 4,
}


def nonlinear_study(X, y, task="classification", group=None, **splits):
    """Return a data set and its splits."""
    dataset = make_dataset(X, y, task, group)
    return dataset, draw_splits(dataset, seed=0, **{**NONLINEAR_SPLITS, **splits})


def nonlinear_outer(dataset, splits, *, batch="1of1", folds=SCALED, **settings):
    protocol = NonlinearProtocol(**{**QUICK_NONLINEAR, **settings})
    return nonlinear_loop(PreparedStudy(dataset, splits, folds), protocol, batch=batch)


def nonlinear_model(dataset, splits, *, folds=SCALED, **settings):
    protocol = NonlinearProtocol(**{**QUICK_NONLINEAR, **settings})
    return nonlinear_final(PreparedStudy(dataset, splits, folds), protocol)


# Selection of gene sets without files: small settings, drawn splits, the calls of the scripts.

Array = np.ndarray[Any, Any]
QUICK_SETS: dict[str, Any] = {
    "weights": "permuted",
    "others": "leave_out",
    "mu": [1e-3],
    "tau_min": 0.2,
    "tau_count": 6,
    "most": 50,
    "one_standard_error": True,
    "tolerance": 1e-9,
}


def gene_sets(lists: list[Any], warnings: tuple[str, ...] = ()) -> GeneSets:
    """Return sets A, B, ... of these genes."""
    sizes = np.array([len(gene_list) for gene_list in lists])
    names = np.array([chr(ord("A") + k) for k in range(len(lists))])
    return GeneSets(
        names=names,
        descriptions=np.full(len(lists), "about"),
        n_listed=sizes + 1,
        n_measured=sizes,
        indptr=np.cumsum([0, *sizes]),
        indices=np.concatenate([np.sort(gene_list) for gene_list in lists]),
        warnings=np.array(warnings, dtype=str),
    )


def planted(
    seed: int = 0, n: int = 36, effect: float = 0.8, **splits: Any
) -> tuple[Dataset, Splits, GeneSets]:
    """Return a study of 60 genes: set A of ten carries the signal, B to F overlap it or nothing."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.standard_normal((n, 60))
    X[:, :10] += effect * y[:, None] * rng.choice([-1, 1], 10)
    lists = [range(10), range(8, 20), range(20, 32), range(30, 40), range(40, 50), [2, 21, 33, 41]]
    dataset = make_dataset(X, y)
    return dataset, draw_splits(dataset, seed=0, **{**SPLITS, **splits}), gene_sets(lists)


SET_LISTS = [range(3), range(2, 12), range(8, 20), range(20, 30), [2, 21, 13]]


def set_study_of(kind: str, signal: float = 1.5) -> tuple[Dataset, Splits, GeneSets]:
    """Return a study of 30 genes: set A of three carries the signal, B to E overlap it or not."""
    dataset = study_of(kind, 1, n=45, signal=signal)
    return dataset, draw_splits(dataset, seed=0, **SPLITS), gene_sets(SET_LISTS)


def sets_outer(
    study: tuple[Dataset, Splits, GeneSets],
    labels: str = "observed",
    batch: str = "1of1",
    folds: Any = MOMENTS,
    **settings: Any,
) -> ModelFits:
    dataset, splits, sets = study
    return cross_validate_sets(
        PreparedStudy(dataset, splits, folds),
        sets,
        SetsSettings(**{**QUICK_SETS, **settings}),
        labels=labels,
        batch=batch,
    )


# The fused lasso: genes with places on chromosomes.

FUSED: dict[str, Any] = {**LINEAR, "penalty": "fused", "jump": 2.0}
BLOCK_PLACES = range(20, 32)
"""Places of the genes of the gain, on the first of two chromosomes of forty."""


def place_study(seed: int = 0, n: int = 30, alone: int = 0) -> tuple[Dataset, Splits]:
    """Return a study of 80 genes in no order; a stretch of twelve is higher in the ill.

    The first genes, as many as `alone` says, have no place.
    """
    rng = np.random.default_rng(seed)
    y = np.repeat([-1.0, 1.0], n // 2)
    place = rng.permutation(80)
    X = rng.normal(size=(n, 80)) + 0.6 * y[:, None] * np.isin(place, BLOCK_PLACES)
    dataset = make_dataset(X, y)
    dataset.var["chromosome"] = np.where(place < 40, "7", "X").astype(object)
    dataset.var["position"] = place.astype(float)
    dataset.var.loc[dataset.var.index[:alone], ["chromosome", "position"]] = ["", np.nan]
    return dataset, draw_splits(dataset, seed=0, **{**SPLITS, "subsamples": 4})
