"""Trials of gene sets: enrichment against permuted labels, and selection in noise.

Sets overlap, and in every other one the genes go together: what a draw of single genes calls a
finding in one noise study of five.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from block_studies import gene_sets, nonlinear_study
from block_studies import nonlinear_outer as nonlinear_fits
from block_studies import sets_outer as outer
from certificate import Array, Claim, Trial
from gathered_study import make_dataset
from linear_loops import nested_cross_validation
from noise_sets import FOUR_KINDS, first_shares, noise_sets
from settings import LINEAR, MOMENTS, SPLITS

from genesig.data.splits.draw import draw_splits
from genesig.results import Dataset, Fits, Splits
from genesig.results.fits import join_batches
from genesig.results.model_fits import ModelFits
from genesig.results.splits import GeneSets
from genesig.selection.assess.assessment import Assessment, assess, study_errors
from genesig.selection.assess.controls import p_value
from genesig.selection.assess.held_out import model_scores
from genesig.selection.assess.kinds import ASSESSMENT_KINDS
from genesig.selection.enrichment import MeasuredSets, permuted_lists_table, ranking_table
from genesig.selection.nonlinear.gather import method_scores

N_SAMPLES = 40
N_GENES = 500
N_SETS = 30
LEVEL = 0.05
PERMUTATIONS = 100
SHUFFLINGS = 99


def enriched(seed: int, effect: float) -> tuple[Dataset, Splits, GeneSets]:
    """Return 500 genes and 50 sets: 30 of ten genes, r .5 in every other one, and 20 that overlap.

    The first set is higher in the ill by `effect` standard deviations.
    """
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(N_SAMPLES) % 2, 1.0, -1.0)
    X = rng.standard_normal((N_SAMPLES, N_GENES))
    lists = [np.arange(10 * k, 10 * (k + 1)) for k in range(N_SETS)]
    for genes in lists[::2]:
        X[:, genes] = np.sqrt(0.5) * (X[:, genes] + rng.standard_normal((N_SAMPLES, 1)))
    X[:, lists[0]] += effect / 2 * y[:, None]
    unassigned_genes = np.arange(10 * N_SETS, N_GENES)
    for k in range(20):
        extra_genes = rng.choice(unassigned_genes, int(rng.integers(1, 30)), replace=False)
        lists.append(np.concatenate([lists[k][:5], extra_genes]))
    dataset = make_dataset(X, y)
    return dataset, draw_splits(dataset, seed=seed, **SPLITS), gene_sets(list(lists))


def called(seed: int, effect: float) -> dict[str, Array]:
    """Return the numbers of the sets that are called in the chosen lists, and in the order."""
    dataset, splits, sets = enriched(seed, effect)
    measured_sets = MeasuredSets.from_dataset(dataset, sets)

    def chosen(labels: str) -> Fits:
        fits = nested_cross_validation(
            dataset, splits, labels=labels, batch="1of1", fold_steps=MOMENTS, **LINEAR
        )
        return join_batches([fits], splits).with_chosen()

    lists = permuted_lists_table(
        measured_sets, sets, chosen("observed"), chosen(f"permuted-1-{PERMUTATIONS}")
    )
    order = ranking_table(dataset, splits, measured_sets, sets, n_shuffles=SHUFFLINGS)
    tables = {"lists": lists, "order": order}
    return {
        key: table.loc[table["family_p"] <= LEVEL, "set"].to_numpy()
        for key, table in tables.items()
    }


def one_set(seed: int) -> Mapping[str, float]:
    return {key: float("A" in names) for key, names in called(seed, 1.6).items()}


def no_set(seed: int) -> Mapping[str, float]:
    return {key: float(len(names) > 0) for key, names in called(seed, 0.0).items()}


def sets_in_noise(seed: int) -> Mapping[str, float]:
    """Select among twelve sets, as the study and 19 permutations of it do."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 60))
    X[:, :30] += np.repeat(rng.standard_normal((30, 3)), 10, axis=1)
    dataset = make_dataset(X, np.where(np.arange(30) % 2, 1.0, -1.0))
    sizes = (10, 8, 12, 10, 5, 10, 10, 20, 10, 10, 10, 5)
    sets = gene_sets([range(5 * k, 5 * k + size) for k, size in enumerate(sizes)])
    study = dataset, draw_splits(dataset, seed=seed, **{**SPLITS, "inner_folds": 2}), sets
    headline = ASSESSMENT_KINDS[dataset.design.kind].headline

    def errors(fits: ModelFits) -> Array:
        return study_errors(model_scores(dataset, study[1], fits, fits.scores), headline)[:, 0]

    few: dict[str, Any] = {"tau_min": 0.4, "tau_count": 3, "tolerance": 1e-5}
    error = float(errors(outer(study, **few))[0])
    p = p_value(error, errors(outer(study, "permuted-1-19", **few)))
    return {"small": float(p <= 0.05), "half": float(p <= 0.5), "error": error}


SET_KINDS = ("small_loose", "small_tight", "large_loose", "large_tight")  # as in `FOUR_KINDS`
KIND_NAMES = ("10 independent genes", "10 genes, r .5", "30 independent genes", "30 genes, r .5")
STUDY = {"tau_min": 0.1, "tau_count": 15, "tolerance": 1e-6}  # the default settings


def kinds_in_lists(seed: int) -> Mapping[str, float]:
    """Return the share of each kind among the selected sets of a study of twelve."""
    X, blocks, kind = noise_sets(np.random.default_rng(seed), N_SAMPLES, FOUR_KINDS, 12)
    dataset = make_dataset(X, np.where(np.arange(N_SAMPLES) % 2, 1.0, -1.0))
    sets = gene_sets([blocks.columns(k) for k in range(len(blocks))])
    fits = outer((dataset, draw_splits(dataset, seed=seed, **SPLITS), sets), **STUDY)
    count = np.bincount(kind[fits.indices], minlength=len(SET_KINDS))
    return dict(zip(SET_KINDS, (count / (count.sum() or np.nan)).tolist(), strict=True))


def kinds_first(n_sets: int, seed: int) -> Mapping[str, float]:
    """Return the share of permutations in which a set of each kind is the first to come in."""
    rng = np.random.default_rng(seed)
    share = first_shares(rng, noise_sets(rng, N_SAMPLES, FOUR_KINDS, n_sets), 100)
    return dict(zip(SET_KINDS, share.tolist(), strict=True))


def share_claims(number: str, promise: str, low: float, high: float) -> tuple[Claim, ...]:
    """Return a claim for each kind of set."""
    return tuple(
        Claim(key, f"{number}: {name}", promise, low, high)
        for key, name in zip(SET_KINDS, KIND_NAMES, strict=True)
    )


def bent_in_noise(seed: int) -> Mapping[str, float]:
    """Select by derivative penalties, and by the Feature Vector Machine."""
    X = np.random.default_rng(seed).standard_normal((N_SAMPLES, 60))
    dataset, splits = nonlinear_study(X, np.where(np.arange(N_SAMPLES) % 2, 1.0, -1.0))
    scores_by_model = method_scores(dataset, splits, nonlinear_fits(dataset, splits))
    headline = ASSESSMENT_KINDS[dataset.design.kind].headline
    model_assessment, control = (
        assess(scores_by_model[name], headline)[0] for name in ("nonlinear", "fvm")
    )
    return {
        "error": model_assessment.error,
        "control": control.error,
        "better": better(model_assessment),
    }


def better(assessment: Assessment) -> float:
    """Whether the whole interval is on the good side of chance."""
    return float(assessment.high < 0.5)


ENRICHMENT = "Enrichment of gene sets"
SETS = "Selection of gene sets"
BENT = "Nonlinear selection"
TRIALS: tuple[Trial, ...] = (
    Trial(
        ENRICHMENT,
        "40 samples, 500 genes, 50 sets, half of them correlated; one differs by 1.6 SD;"
        " 100 permutations of the lists, 99 of the order",
        one_set,
        (
            Claim("lists", "p over all sets, chosen lists", "finds the set in ≥ 90 %", 0.9, 1.0),
            Claim("order", "p over all sets, order of genes", "finds the set in ≥ 90 %", 0.9, 1.0),
        ),
        draws=50,
        few=3,
    ),
    Trial(
        ENRICHMENT,
        "the same with no difference",
        no_set,
        (
            Claim("lists", "p over all sets, chosen lists", "any is called in ≤ 5 %", 0.0, 0.05),
            Claim("order", "p over all sets, order of genes", "any is called in ≤ 5 %", 0.0, 0.05),
        ),
        draws=150,
        few=1,
    ),
    Trial(
        SETS,
        "noise: 30 samples, 12 overlapping sets, weights by permuted labels, 19 permutations",
        sets_in_noise,
        (
            Claim("small", "permutation p of the sets", "≤ .05 in 3 to 7 %", 0.03, 0.07),
            Claim("half", "permutation p of the sets", "≤ .5 in 43 to 57 %", 0.43, 0.57),
            Claim("error", "held-out error of the sets", ".48 to .52", 0.48, 0.52),
        ),
        draws=200,
        few=1,
    ),
    Trial(
        SETS,
        "noise: 40 samples, 12 sets, three of each of four kinds, default settings",
        kinds_in_lists,
        share_claims("share of the selected sets", ".18 to .32 (.25 is fair)", 0.18, 0.32),
        draws=200,
        few=3,
    ),
    *(
        Trial(
            SETS,
            f"noise: 40 samples, {n_sets:,} sets, four kinds in equal number",
            partial(kinds_first, n_sets),
            share_claims("share of the first sets", ".16 to .32 (.25 is fair)", 0.16, 0.32),
            draws=draws,
            few=few,
        )
        for n_sets, draws, few in ((4, 200, 20), (200, 50, 2), (5000, 20, 1))
    ),
    Trial(
        BENT,
        "noise: 40 samples, 60 genes",
        bent_in_noise,
        (
            Claim("error", "held-out error", ".48 to .52", 0.48, 0.52),
            Claim("control", "held-out error of the control", ".48 to .52", 0.48, 0.52),
            Claim("better", "interval of the error", "below chance in ≤ 5 %", 0.0, 0.05),
        ),
        draws=300,
        few=8,
    ),
)
