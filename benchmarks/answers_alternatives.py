"""Error and stability by other rules that choose a list, on the data and splits of answers.py.

    python benchmarks/answers_alternatives.py [--seeds 3] [DATA ...]

``inner folds`` is genesig's rule: agreement of the lists of the inner folds measures the stability
of a (mu, tau). ``half pairs`` uses lists of complementary halves of each training set instead.
``weights`` gives both classes the same weight in every fit. Scores are cut at the midpoint of the
class means and at 0. Error: balanced, of held-out samples; stability: of disjoint halves; seconds:
processor time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from answers_data import PUBLISHED, Plan, Source, Study, read_study
from answers_runs import chosen_lists
from scipy.sparse import csr_array
from study import settings

from genesig.data.steps.normalise import normalise_samples
from genesig.response.design import BALANCED
from genesig.results import Fits, Split
from genesig.selection.assess.held_out import collect_held_out
from genesig.selection.assess.intervals import balanced_error
from genesig.selection.assess.stability import PairAgreement
from genesig.selection.linear import grid, nested_cross_validation
from genesig.selection.linear.elastic_nets import ElasticNets
from genesig.selection.linear.grid import CHOICE_RULES, GridResult
from genesig.selection.linear.training_sets import (
    LinearSettings,
    PreparedStudy,
    TrainingSet,
    linear_keywords,
)

Array = np.ndarray[Any, Any]
Choice = Callable[
    [list[TrainingSet], ElasticNets, ElasticNets, LinearSettings], list[grid.GridChoice]
]
N_PAIRS = 5  # pairs of complementary halves of a training set


@dataclass(frozen=True)
class ByHalves(GridResult):
    """A search result at one mu: errors of the inner folds, but agreement of halves."""

    half_agreement: Array  # (n_tau,)

    def agreement(self, tau: int, d: int) -> float:
        """Return the agreement of complementary halves at tau number `tau`."""
        return float(self.half_agreement[tau])


def choose_by_halves(
    training_sets: list[TrainingSet], outer: ElasticNets, inner: ElasticNets, linear: LinearSettings
) -> list[grid.GridChoice]:
    """Return the choice of each training set by the agreement of halves; see `grid.search_grid`."""
    stable = CHOICE_RULES["stable"]
    n_folds = [len(training.inner_folds) for training in training_sets]
    first_folds = np.cumsum([0, *n_folds]).tolist()
    searched_mu = stable.searched_mu(linear)
    # Number of the first inner fold of a training set -> its agreement (n_tau,) at each mu.
    agreement = {
        first_folds[k]: [_agreement_of_halves(training, k, outer, mu, linear) for mu in searched_mu]
        for k, training in enumerate(training_sets)
    }

    def choose(searched: list[GridResult], linear: LinearSettings, d: int) -> tuple[Any, Array]:
        first_fold = max(fold for fold in first_folds if fold <= searched[0].fold_numbers[0])
        results = [
            ByHalves(**vars(result), half_agreement=values)
            for result, values in zip(searched, agreement[first_fold], strict=True)
        ]
        return stable.choose([*results], linear, d)

    # `search_grid` looks the rule up by the name in the settings.
    CHOICE_RULES["half pairs"] = replace(stable, choose=choose)
    return grid.search_grid(training_sets, outer, inner, replace(linear, list="half pairs"))


def _agreement_of_halves(
    training: TrainingSet, number: int, outer: ElasticNets, mu: float, linear: LinearSettings
) -> Array:
    """Return the agreement of the halves of a training set at each tau, (n_tau,); -1 without genes.

    number: position of the training set in `outer`.
    """
    rows = _draw_halves(training)
    sets = outer.inside(
        np.repeat(training.y[:, None], rows.shape[1], axis=1),
        rows,
        [training.covariates] * rows.shape[1],
        np.full(rows.shape[1], number),
    )
    tau = linear.tau_fractions() * sets.tau_max[:, None]
    lists = sets.path(
        tau, mu * sets.norm[:, None], linear, CHOICE_RULES["stable"].max_genes(linear)
    )
    return np.array(
        [
            _stability([lists.coef(k, t)[0] for k in range(2 * N_PAIRS)], outer.X.shape[1])
            for t in range(tau.shape[1])
        ]
    )


def _draw_halves(training: TrainingSet) -> Array:
    """Return masks (n, 2 N_PAIRS) of complementary halves, in turn; both classes are halved."""
    rng = np.random.default_rng(len(training.train))
    masks = []
    for _ in range(N_PAIRS):
        in_first_half = np.zeros(len(training.y), dtype=bool)
        for sign in (-1, 1):
            members = rng.permutation(training.train[training.y[training.train] == sign])
            in_first_half[members[: len(members) // 2]] = True
        masks += [in_first_half, training.training_mask()[:, 0] & ~in_first_half]
    return np.column_stack(masks)


def _stability(lists: list[Any], d: int) -> float:
    """Return the agreement of lists that form pairs in turn, of d genes; -1 if it is undefined."""
    indptr = np.cumsum([0, *map(len, lists)])
    listed_genes = np.concatenate([*map(np.asarray, lists), np.zeros(0)]).astype(np.int64)
    stability = PairAgreement.from_lists(
        csr_array((np.ones(len(listed_genes)), listed_genes, indptr), (len(lists), d))
    ).stability()
    return -1.0 if np.isnan(stability) else stability


# Name -> weights of the samples, function that chooses tau and mu.
VARIANTS: dict[str, tuple[str | None, Choice]] = {
    "inner folds": (None, grid.search_grid),
    "half pairs": (None, choose_by_halves),
    "weights": (BALANCED, grid.search_grid),
}


def fit_variants(
    study: Study, config: dict[str, Any], choose: Choice, splits: Sequence[Split]
) -> Fits:
    """Return the fits of splits with the tau and mu that `choose` returns."""
    dataset = normalise_samples(study.dataset, **config["normalise"])
    prepared_study = PreparedStudy(dataset, study.splits, config["normalise"]["folds"])
    return nested_cross_validation._fit_training_sets(
        prepared_study,
        prepared_study.make_training_sets(splits),
        LinearSettings(**linear_keywords(config)),
        choose_settings=choose,
    )


def measure_variant(study: Study, variant: str) -> dict[str, Any]:
    """Return error at both cuts, stability, length and seconds of a variant on one study."""
    weights, choose = VARIANTS[variant]
    design = replace(study.dataset.design, weights=weights)
    study = replace(study, dataset=replace(study.dataset, design=design))
    config = settings({})
    halves = fit_variants(study, config, choose, study.splits.subsamples)
    began = time.process_time()
    fits = fit_variants(study, config, choose, study.splits.outer)
    measures: dict[str, Any] = {"variant": variant, "seconds": time.process_time() - began}
    fits_at_zero = replace(fits, threshold=0 * fits.threshold)
    for name, cut_fits in (("midpoint", fits), ("0", fits_at_zero)):
        held_out_scores = collect_held_out(study.dataset, study.splits, cut_fits.with_chosen())
        measures[f"error at {name}"] = float(
            balanced_error(held_out_scores.y, held_out_scores.scores[:, -1])
        )
    lists = chosen_lists(fits)
    measures["stability"] = _stability(chosen_lists(halves), len(study.dataset.genes))
    return {**measures, "genes": float(np.median(list(map(len, lists))))}


def main() -> None:
    """Run all variants; print means over the seeds of each data set, then over all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="*", default=list(PUBLISHED))
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    rows = []
    for name in options.data:
        for seed in range(options.seeds):
            study = read_study(Source.from_text(name), Plan(seed=seed))
            records = [measure_variant(study, v) for v in VARIANTS]
            rows += [{"data": name, "seed": seed, **row} for row in records]
        table = pd.DataFrame(rows).drop(columns="seed").groupby(["data", "variant"], sort=False)
        print(table.mean().loc[name].round(3).to_string(), f"\n{name}\n", flush=True)
    print(pd.DataFrame(rows).drop(columns=["seed", "data"]).groupby("variant").mean().round(3))


if __name__ == "__main__":
    main()
