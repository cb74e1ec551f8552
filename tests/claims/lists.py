"""Trials of list stability: reported agreement equals that of independent patients."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from certificate import Claim, Trial
from linear_loops import fit_half_samples
from scipy.sparse import csr_array, vstack
from settings import MOMENTS, SPLITS, linear

from genesig.data.splits.draw import draw_splits
from genesig.data.splits.folds import Samples
from genesig.results import Dataset, Design, Fits, Split, Splits
from genesig.selection.assess.stability import PairAgreement, compare_agreement
from genesig.selection.genes.blocks import block_of_every_gene

Array = np.ndarray[Any, Any]

N_SAMPLES = 60
N_GENES = 150
BLOCK_GENES = 10
MIN_AGREEMENT = 0.7
CAUSES = 5
FOLDS = 5
HOW = SPLITS | {"inner_folds": FOLDS}


def _study(rng: np.random.Generator, n: int, shift: float, *, factors: int = 0) -> Dataset:
    """Return two classes in turn: genes in blocks, or of factors; five genes carry the class."""
    noise = rng.standard_normal((n, N_GENES))
    if factors:
        loads = rng.standard_normal((factors, N_GENES)) / np.sqrt(factors)
        X = rng.standard_normal((n, factors)) @ loads + noise
    else:
        common = np.repeat(rng.standard_normal((n, N_GENES // BLOCK_GENES)), BLOCK_GENES, axis=1)
        X = np.sqrt(MIN_AGREEMENT) * common + np.sqrt(1 - MIN_AGREEMENT) * noise
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X[:, : CAUSES * BLOCK_GENES : BLOCK_GENES] += shift / 2 * y[:, None]
    names = [f"S{i:03d}" for i in range(n)]
    genes = [f"g{j:03d}" for j in range(N_GENES)]
    obs = pd.DataFrame({"state": np.where(y > 0, "ill", "well")}, index=names)
    var = pd.DataFrame({"symbol": genes}, index=genes)
    return Dataset(X, obs, var, Design("state", "classification", ("well", "ill"), None, None), {})


def _halves(dataset: Dataset, pairs: int, seed: int) -> Fits:
    splits = draw_splits(dataset, seed=seed, **HOW | {"subsamples": 2 * pairs})
    return fit_half_samples(dataset, splits, fold_steps=MOMENTS, **linear())


def _of_other_patients(rng: np.random.Generator, shift: float, seed: int) -> Fits:
    """Fit two sets of half as many patients, which have nothing in common."""
    dataset = _study(rng, N_SAMPLES, shift)
    patient_lists = []
    samples = Samples.from_dataset(dataset)
    for k, rows in enumerate(np.arange(N_SAMPLES).reshape(2, -1)):
        inner = tuple(map(samples.names_of, samples.draw_parts(rows, FOLDS, seed, (0, k))))
        patient_lists.append(Split(f"p{k}", k, 0, samples.names_of(rows), (), inner, (0, k)))
    splits = Splits("none", "stratified_kfold", seed, (), patient_lists[0], tuple(patient_lists))
    return fit_half_samples(dataset, splits, fold_steps=MOMENTS, **linear())


def _chosen(fits: Fits) -> csr_array:
    """Return the lists that predict as 0 and 1."""
    chosen_fits = fits.with_chosen()
    lists = [chosen_fits.chosen_coef(fit)[0] for fit in range(len(chosen_fits))]
    return _sparse(np.cumsum([0, *map(len, lists)]), np.concatenate(lists))


def _sparse(indptr: Array, indices: Array) -> csr_array:
    return csr_array((np.ones(len(indices)), indices, indptr), shape=(len(indptr) - 1, N_GENES))


def _rivals(fits: Fits) -> csr_array:
    assert fits.lasso_lists is not None
    return _sparse(fits.lasso_lists.indptr, fits.lasso_lists.indices)


def _agreement(seed: int, shift: float) -> Mapping[str, float]:
    """Return what the halves of a study say, less what lists of other patients come to."""
    rng = np.random.default_rng([33, seed])
    pairs = 5
    study = _study(rng, N_SAMPLES, shift)
    fits = _halves(study, pairs, seed)
    chosen_lists = _chosen(fits)
    patient_lists = vstack([_chosen(_of_other_patients(rng, shift, seed)) for _ in range(pairs)])
    part = block_of_every_gene(study.X, np.asarray((chosen_lists + _rivals(fits)).sum(axis=0)))
    return {
        key: PairAgreement.from_lists(chosen_lists, partition).stability()
        - PairAgreement.from_lists(patient_lists, partition).stability()
        for key, partition in (("genes", None), ("blocks", part))
    }


def _noise(seed: int, factors: int) -> Mapping[str, float]:
    """Return whether lists of noise are called more alike than by chance, or than the lasso's."""
    rng = np.random.default_rng([34, seed])
    fits = _halves(_study(rng, N_SAMPLES, 0.0, factors=factors), 12, seed)
    chosen_pairs = PairAgreement.from_lists(_chosen(fits))
    rival = PairAgreement.from_lists(_rivals(fits))
    than_chance = compare_agreement(chosen_pairs)
    than_lasso = compare_agreement(chosen_pairs, rival)
    return {
        "chance": float(than_chance == "more"),
        "lasso": float(than_chance == than_lasso == "more"),
    }


TOPIC = "Stability of lists"
CALLS = "Lists beside chance and the lasso"
BIAS = (
    Claim(
        "genes",
        "stability of the list, less the agreement of lists of other patients, half as "
        "many, settings chosen anew",
        "0 ± .02",
        -0.02,
        0.02,
    ),
    Claim(
        "blocks",
        "the same of the blocks of correlated genes that lists hit",
        "0 ± .02",
        -0.02,
        0.02,
    ),
)
CALLED = (
    Claim("chance", "lists called clearly more alike than by chance", "at most 5 %", 0.0, 0.05),
    Claim(
        "lasso",
        "lists called clearly more alike than by chance and than the lasso's",
        "at most 5 %",
        0.0,
        0.05,
    ),
)
STUDY_TEXT = f"{N_SAMPLES} samples, {N_GENES} genes in blocks of {BLOCK_GENES} (r {MIN_AGREEMENT})"

TRIALS = (
    Trial(
        TOPIC,
        f"{STUDY_TEXT}, {CAUSES} differ by .8 SD",
        partial(_agreement, shift=0.8),
        BIAS,
        draws=400,
        few=3,
    ),
    Trial(
        TOPIC,
        f"{STUDY_TEXT}, {CAUSES} differ by 1.6 SD",
        partial(_agreement, shift=1.6),
        BIAS,
        draws=400,
        few=3,
    ),
    Trial(
        CALLS, f"{STUDY_TEXT}, none differs", partial(_noise, factors=0), CALLED, draws=200, few=2
    ),
    Trial(
        CALLS,
        f"{N_SAMPLES} samples, {N_GENES} genes of 5 factors, none differs",
        partial(_noise, factors=5),
        CALLED,
        draws=200,
        few=2,
    ),
)
