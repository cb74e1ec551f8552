"""Other rules for the choice of a list, on the data sets and splits of answers.py.

    python benchmarks/answers_alternatives.py [--seeds 3] [DATA ...]

``inner folds`` is genesig's rule: the lists of the inner folds measure how stable a (mu, tau) is.
``half pairs`` uses complementary halves of each training set instead. ``weights`` gives both
classes the same weight in every fit. Each is cut at the midpoint and at 0. Error: balanced, of
held-out samples; stability: of disjoint halves; seconds: processor time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from answers_data import PUBLISHED, Plan, Source, Study, study_of
from answers_runs import lists_of
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
PAIRS = 5


@dataclass(frozen=True)
class ByHalves(GridResult):
    """A search result whose agreement is that of halves, its error that of the inner folds."""

    halves: Array  # (n_tau,) agreement

    def agreement(self, tau: int, d: int) -> float:
        """Return the agreement of complementary halves at one tau."""
        return float(self.halves[tau])


def choose_by_halves(
    todo: list[TrainingSet], outer: ElasticNets, inner: ElasticNets, protocol: LinearSettings
) -> list[grid.GridChoice]:
    """Return the choice of each training set, as `grid.search_grid`, by the agreement of halves."""
    stable = CHOICE_RULES["stable"]
    first_fold = np.cumsum([0, *(len(task.inner_folds) for task in todo)]).tolist()
    searched_mu = stable.searched_mu(protocol)
    halves = {
        first_fold[k]: [_agreement_of_halves(task, k, outer, mu, protocol) for mu in searched_mu]
        for k, task in enumerate(todo)
    }

    def choose(searched: list[GridResult], protocol: LinearSettings, d: int) -> tuple[Any, Array]:
        half_pairs = halves[max(k for k in halves if k <= searched[0].fold_numbers[0])]
        results = [ByHalves(**vars(s), halves=h) for s, h in zip(searched, half_pairs, strict=True)]
        return stable.choose([*results], protocol, d)

    CHOICE_RULES["half pairs"] = replace(stable, choose=choose)
    return grid.search_grid(todo, outer, inner, replace(protocol, list="half pairs"))


def _agreement_of_halves(
    task: TrainingSet, number: int, outer: ElasticNets, mu: float, protocol: LinearSettings
) -> Array:
    """Return the agreement of the halves of a training set at each tau; -1 without any gene.

    number: of the training set in `outer`.
    """
    rows = _draw_halves(task)
    sets = outer.inside(
        np.repeat(task.y[:, None], rows.shape[1], axis=1),
        rows,
        [task.covariates] * rows.shape[1],
        np.full(rows.shape[1], number),
    )
    tau = protocol.tau_fractions() * sets.tau_max[:, None]
    lists = sets.path(
        tau, mu * sets.norm[:, None], protocol, CHOICE_RULES["stable"].max_genes(protocol)
    )
    return np.array(
        [
            _stability([lists.coef(k, t)[0] for k in range(2 * PAIRS)], outer.X.shape[1])
            for t in range(tau.shape[1])
        ]
    )


def _draw_halves(task: TrainingSet) -> Array:
    """Return the masks (n, 2 PAIRS) of complementary halves, which divide both classes evenly."""
    rng = np.random.default_rng(len(task.train))
    masks = []
    for _ in range(PAIRS):
        in_first_half = np.zeros(len(task.y), dtype=bool)
        for sign in (-1, 1):
            members = rng.permutation(task.train[task.y[task.train] == sign])
            in_first_half[members[: len(members) // 2]] = True
        masks += [in_first_half, task.training_mask()[:, 0] & ~in_first_half]
    return np.column_stack(masks)


def _stability(lists: list[Any], d: int) -> float:
    """Return the agreement of lists of d genes, two of which form a pair; -1 if it is undefined."""
    indptr = np.cumsum([0, *map(len, lists)])
    listed_genes = np.concatenate([*map(np.asarray, lists), np.zeros(0)]).astype(np.int64)
    value = PairAgreement.from_lists(
        csr_array((np.ones(len(listed_genes)), listed_genes, indptr), (len(lists), d))
    ).stability()
    return -1.0 if np.isnan(value) else value


VARIANTS: dict[str, tuple[str | None, Choice]] = {
    "inner folds": (None, grid.search_grid),
    "half pairs": (None, choose_by_halves),
    "weights": (BALANCED, grid.search_grid),
}


def fit_variants(
    study: Study, config: dict[str, Any], choose: Choice, splits: Sequence[Split]
) -> Fits:
    """Return the fits of splits with settings that `choose` has chosen."""
    dataset = normalise_samples(study.dataset, **config["normalise"])
    prepared_study = PreparedStudy(dataset, study.splits, config["normalise"]["folds"])
    return nested_cross_validation._fit_training_sets(
        prepared_study,
        prepared_study.make_training_sets(splits),
        LinearSettings(**linear_keywords(config)),
        choose_settings=choose,
    )


def measure_variant(study: Study, variant: str) -> dict[str, Any]:
    """Return error at both cuts, stability, length and seconds of a variant."""
    weights, choose = VARIANTS[variant]
    design = replace(study.dataset.design, weights=weights)
    study = replace(study, dataset=replace(study.dataset, design=design))
    config = settings({})
    halves = fit_variants(study, config, choose, study.splits.subsamples)
    began = time.process_time()
    fits = fit_variants(study, config, choose, study.splits.outer)
    out: dict[str, Any] = {"variant": variant, "seconds": time.process_time() - began}
    for name, cut in (("midpoint", fits), ("0", replace(fits, threshold=0 * fits.threshold))):
        held_out_scores = collect_held_out(study.dataset, study.splits, cut.with_chosen())
        out[f"error at {name}"] = float(
            balanced_error(held_out_scores.y, held_out_scores.scores[:, -1])
        )
    lists = lists_of(fits)
    out["stability"] = _stability(lists_of(halves), len(study.dataset.genes))
    return {**out, "genes": float(np.median(list(map(len, lists))))}


def main() -> None:
    """Run all variants and print each data set's means over the seeds."""
    asks = argparse.ArgumentParser(description=__doc__)
    asks.add_argument("data", nargs="*", default=list(PUBLISHED))
    asks.add_argument("--seeds", type=int, default=3)
    chosen = asks.parse_args()
    rows = []
    for name in chosen.data:
        for seed in range(chosen.seeds):
            study = study_of(Source.of(name), Plan(seed=seed))
            records = [measure_variant(study, v) for v in VARIANTS]
            rows += [{"data": name, "seed": seed, **row} for row in records]
        table = pd.DataFrame(rows).drop(columns="seed").groupby(["data", "variant"], sort=False)
        print(table.mean().loc[name].round(3).to_string(), f"\n{name}\n", flush=True)
    print(pd.DataFrame(rows).drop(columns=["seed", "data"]).groupby("variant").mean().round(3))


if __name__ == "__main__":
    main()
