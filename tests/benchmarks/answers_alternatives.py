"""What else the rule of the lists could be, on the data sets and splits of answers.py.

    python tests/benchmarks/answers_alternatives.py [--seeds 3] [DATA ...]

``inner folds`` is the rule: the lists of the inner folds say how stable a (mu, tau) is. ``half
pairs`` asks complementary halves of each training set instead. ``weights`` gives both classes the
same weight in every fit and every inner error, by as many copies of the rarer class as make them
even. Each is cut at the midpoint and at 0. Error: balanced, of held-out samples; stability: of
disjoint halves at the setting that was chosen on all samples; seconds of the processor.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from answers_data import PUBLISHED, Plan, Source, Study, study_of
from answers_runs import lists_of
from scipy.sparse import csr_array
from study import settings

from genesig.data.steps.normalise import fit_reference_steps, normalise_samples
from genesig.optim.solvers import path
from genesig.optim.training import TrainingSets, training_sets
from genesig.results import Dataset, Fits
from genesig.selection.assess.held_out import held_out
from genesig.selection.assess.scores import balanced_error
from genesig.selection.assess.stability import pair_stability
from genesig.selection.linear import double_loop, grid
from genesig.selection.linear.protocol import Protocol, keywords
from genesig.selection.linear.rules import RULES, Searched
from genesig.selection.linear.tasks import Task, tasks

Array = np.ndarray[Any, Any]
PAIRS = 5


@dataclass(frozen=True)
class ByHalves(Searched):
    """What the inner folds say of the error, and halves of the training set of the agreement."""

    halves: Array

    def agreement(self, tau: int, d: int) -> float:
        """Return the agreement of complementary halves at one tau."""
        return float(self.halves[tau])


def by_halves(todo: list[Task], outer: TrainingSets, protocol: Protocol) -> list[grid.Surface]:
    """Search as `stage_one` does, with the agreement of half pairs."""
    rule, found = RULES["stable"], []
    for mu in rule.mu(protocol):
        tau = np.repeat(protocol.tau_fractions() * outer.tau_max[:, None],
                        [len(task.inner) for task in todo], axis=0)  # fmt: skip
        inner = _inner(todo, outer)
        plain = grid._search(inner, todo, tau, mu, protocol, rule.longest(protocol))
        each = [ByHalves(**vars(s), halves=_agreed(task, outer, mu, protocol))
                for s, task in zip(plain, todo, strict=True)]  # fmt: skip
        found.append(each)
    rows = zip(*found, strict=True)
    return [grid._surface(list(row), rule, protocol, outer.X.shape[1]) for row in rows]


def _inner(todo: list[Task], outer: TrainingSets) -> TrainingSets:
    folds = [len(task.inner) for task in todo]
    rows = np.hstack([task.inner_rows() for task in todo])
    Y = np.repeat(np.column_stack([task.y for task in todo]), folds, axis=1)
    return training_sets(
        outer.X, Y, rows, centre=outer.centre, unit_variance=outer.unit_variance, like=outer
    )


def _agreed(task: Task, outer: TrainingSets, mu: float, protocol: Protocol) -> Array:
    """Return the agreement of the halves at each tau; -1 where no list can be chosen."""
    rng, masks = np.random.default_rng(len(task.train)), []
    for _ in range(PAIRS):
        first = np.zeros(len(task.y), dtype=bool)
        for sign in (-1, 1):
            members = rng.permutation(task.train[task.y[task.train] == sign])
            first[members[: len(members) // 2]] = True
        second = task.training_rows()[:, 0] & ~first
        masks += [first, second]
    rows = np.column_stack(masks)
    Y = np.repeat(task.y[:, None], rows.shape[1], axis=1)
    sets = training_sets(
        outer.X, Y, rows, centre=outer.centre, unit_variance=outer.unit_variance, like=outer
    )
    tau = protocol.tau_fractions() * sets.tau_max[:, None]
    at = mu * sets.norm[:, None]
    most, to = RULES["stable"].longest(protocol), protocol.tolerance
    lists = path(sets, tau, at, solver=protocol.solver, tolerance=to, longest=most)
    return np.array([_stability([lists.coef(k, t)[0] for k in range(2 * PAIRS)], outer.X.shape[1])
                     for t in range(tau.shape[1])])  # fmt: skip


def _stability(lists: list[Any], d: int) -> float:
    indptr = np.cumsum([0, *map(len, lists)])
    held = np.concatenate([*map(np.asarray, lists), np.zeros(0)]).astype(np.int64)
    value = pair_stability(csr_array((np.ones(len(held)), held, indptr), (len(lists), d)), 0).value
    return -1.0 if np.isnan(value) else value


def copied(dataset: Dataset, todo: list[Task]) -> tuple[Array, list[Task]]:
    """Return the matrix with copies of the rarer class, and the tasks that train on them."""
    y = dataset.response()
    rare = -1.0 if np.mean(y < 0) < 0.5 else 1.0
    times = round(np.sum(y != rare) / np.sum(y == rare)) - 1
    again = np.tile(np.flatnonzero(y == rare), times)
    source = np.concatenate([np.arange(len(y)), again])

    def grown(rows: Array) -> Array:
        return np.flatnonzero(np.isin(source, rows))

    return dataset.X[source], [
        replace(t, y=t.y[source], train=grown(t.train), inner=tuple(map(grown, t.inner)))
        for t in todo
    ]


def fitted(study: Study, config: dict[str, Any], variant: str, splits: list[Any]) -> Fits:
    """Fit splits by a variant of the rule."""
    dataset = normalise_samples(study.dataset, **config["normalise"])
    protocol, steps = Protocol(**keywords(config)), config["normalise"]["folds"]
    todo, X = tasks(dataset, study.splits, splits, [0]), dataset.X
    if variant == "weights":
        X, todo = copied(dataset, todo)
    choose = by_halves if variant == "half pairs" else grid.stage_one
    reference = fit_reference_steps(X, steps)
    outer = double_loop._outer_sets(X, todo, steps)
    return double_loop._fit_together(todo, outer, reference, protocol, choose)


def measured(study: Study, variant: str) -> dict[str, Any]:
    """Return error at both cuts, stability, length and seconds of a variant."""
    config = settings({})
    began = time.process_time()
    fits = fitted(study, config, variant, list(study.splits.outer))
    seconds = time.process_time() - began
    final = fitted(study, config, variant, [study.splits.final])
    fixed = partial(double_loop.fit_subsamples, study.dataset, study.splits, final)
    halves = fixed(folds=config["normalise"]["folds"], **keywords(config))
    lists = lists_of(fits)
    out = {"variant": variant}
    for name, cut in (("midpoint", fits), ("0", replace(fits, threshold=0 * fits.threshold))):
        found = held_out(study.dataset, study.splits, cut.with_chosen())
        out[f"error at {name}"] = float(balanced_error(found.y, found.scores[:, -1]))
    d = len(study.dataset.genes)
    out |= {"stability": _stability(lists_of(halves), d), "seconds": seconds}
    return {**out, "genes": float(np.median(list(map(len, lists))))}


def main() -> None:
    """Run all variants and print each data set's means over the seeds."""
    asks = argparse.ArgumentParser(description=__doc__)
    asks.add_argument("data", nargs="*", default=list(PUBLISHED))
    asks.add_argument("--seeds", type=int, default=3)
    chosen, rows = asks.parse_args(), []
    for name in chosen.data:
        for seed in range(chosen.seeds):
            study = study_of(Source.of(name), Plan(seed=seed))
            each = [measured(study, v) for v in ("inner folds", "half pairs", "weights")]
            rows += [{"data": name, "seed": seed, **row} for row in each]
        table = pd.DataFrame(rows).drop(columns="seed").groupby(["data", "variant"], sort=False)
        print(table.mean().loc[name].round(3).to_string(), f"\n{name}\n", flush=True)
    print(pd.DataFrame(rows).drop(columns=["seed", "data"]).groupby("variant").mean().round(3))


if __name__ == "__main__":
    main()
