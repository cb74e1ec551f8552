"""How often genes are named in noise, how many of the named ones are false, how many true ones.

    python tests/benchmarks/named_genes.py noise [--sets 40] [--out FILE]
    python tests/benchmarks/named_genes.py truth [--sets 10] [--samples 40 80 160] [--out FILE]

``noise``: data sets without any signal, of the four kinds of response in turn, every second one
with patients of two samples, every third one with a covariate that goes with the response. Printed:
the share in which any gene is named.

``truth``: ten genes of 1000 differ between two classes, each in a block of ten genes that correlate
(r .7); three effects (standard deviations), 40, 80 and 160 samples, three shapes: equal variances,
variances over two orders of magnitude, tails of Student's t with 3 degrees of freedom. Printed for
each cell: genes named, true ones, mean share of false ones; and how many true genes stability
selection (Meinshausen and Buhlmann 2010: 50 lasso lists of halves, the first sqrt(.8 d) genes) has
at the threshold, the same for all sets of the cell, where its mean share of false genes is the
largest that is not above ours.

Settings are the defaults, 100 permutations.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1] / "materials"))
sys.path.insert(0, str(Path(__file__).parents[1] / "references"))

from kinds_study import COLUMNS, study_of
from named_data import named

from genesig.optim.solvers import path
from genesig.optim.training import training_sets
from genesig.response.covariates import Covariate
from genesig.results import Dataset, Design

Array = np.ndarray[Any, Any]
TRUE, BLOCK, GENES = 10, 10, 1000
EFFECTS, SAMPLES, SHAPES = (0.8, 1.2, 1.6), (40, 80, 160), ("plain", "variances", "tails")


def noise(number: int) -> tuple[Dataset, str, str]:
    """Return data set `number` without a signal, its kind of response, and what else it has."""
    kind, what = list(COLUMNS)[number % 4], []
    dataset = study_of(kind, number, n=60, d=500)
    obs, design = dataset.obs, dataset.design
    if number // 4 % 2:
        first = obs.iloc[np.repeat(np.arange(30), 2)].set_index(obs.index)
        obs, design = (
            first.assign(patient=[f"p{k // 2}" for k in range(60)]),
            replace(design, group="patient"),
        )
        what.append("groups")
    if number // 4 % 3 == 2:
        rank = obs["state"].rank() if kind != "regression" else obs["state"].astype(float).rank()
        drawn = rank + np.random.default_rng(number).normal(0, 20, 60)
        obs, design = (
            obs.assign(age=drawn.map("{:.2f}".format)),
            replace(design, covariates=(Covariate("age", None),)),
        )
        what.append("covariate")
    return replace(dataset, obs=obs, design=design), kind, " and ".join(what) or "plain"


def truth(effect: float, n: int, shape: str, seed: int) -> Dataset:
    """Return a data set of two classes, whose genes 0, 10, ..., 90 differ by `effect` SD."""
    rng = np.random.default_rng((seed, n, int(10 * effect), SHAPES.index(shape)))

    def drawn(*size: int) -> Array:
        return rng.standard_t(3, size) / np.sqrt(3) if shape == "tails" else rng.normal(size=size)

    X = np.sqrt(0.7) * np.repeat(drawn(n, GENES // BLOCK), BLOCK, axis=1)
    X += np.sqrt(0.3) * drawn(n, GENES)
    y = np.arange(n) % 2
    X[:, : TRUE * BLOCK : BLOCK] += effect * y[:, None]
    if shape == "variances":
        X *= 10 ** rng.uniform(-1, 1, GENES)
    samples, genes = [f"S{k:03d}" for k in range(n)], [f"g{k:04d}" for k in range(GENES)]
    obs = pd.DataFrame({"state": np.where(y, "ill", "well")}, index=samples)
    design = Design("state", "classification", ("well", "ill"), None, None)
    return Dataset(X, obs, pd.DataFrame({"symbol": genes}, index=genes), design, {})


def is_true(genes: Array) -> Array:
    """Tell which genes, by number, differ between the classes."""
    return np.asarray((genes % BLOCK == 0) & (genes < TRUE * BLOCK))


def stability_selection(dataset: Dataset, seed: int) -> Array:
    """Return the share of 50 halves whose first sqrt(.8 d) lasso genes hold each gene, (d,)."""
    rng, y = np.random.default_rng(seed), dataset.response()
    rows = np.zeros((len(y), 50), dtype=bool)
    for half in range(50):
        rows[rng.permutation(len(y))[: len(y) // 2], half] = True
    sets = training_sets(
        dataset.X, np.repeat(y[:, None], 50, axis=1), rows, centre=True, unit_variance=True
    )
    most = int(np.sqrt(0.8 * GENES))
    tau = np.geomspace(1, 0.05, 40) * sets.tau_max[:, None]
    lists = path(sets, tau, 1e-9, solver="landweber-newton", tolerance=1e-6, longest=most)
    last = np.count_nonzero(lists.iterations >= 0, axis=1) - 1
    held = [lists.coef(half, at)[0] for half, at in enumerate(last)]
    return np.bincount(np.concatenate(held), minlength=GENES) / 50


def at_equal_rate(shares: list[Array], rate: float) -> tuple[float, float]:
    """Return the true genes of stability selection, and its share of false ones, at most `rate`."""
    best = (0.0, 0.0)
    for least in np.unique(np.concatenate(shares))[1:]:
        kept = [np.flatnonzero(share >= least) for share in shares]
        true = np.mean([is_true(genes).sum() for genes in kept])
        false = np.mean([np.mean(~is_true(genes)) if len(genes) else 0.0 for genes in kept])
        if false <= rate and true > best[0]:
            best = (float(true), float(false))
    return best


def run_noise(sets: int) -> pd.DataFrame:
    """Name genes where there is nothing to be named."""
    rows = []
    for number in range(sets):
        dataset, kind, what = noise(number)
        found = named(dataset, kind, number)
        rows.append((number, kind, what, int(found["named"].sum()), float(found["q"].min())))
        print(rows[-1], flush=True)
    table = pd.DataFrame(rows, columns=["set", "kind", "design", "named", "least_q"])
    print(f"any gene named: {np.mean(table['named'] > 0):.3f} of {sets} data sets without signal")
    return table


def run_truth(sets: int, samples: Sequence[int]) -> pd.DataFrame:
    """Name genes where the truth is known, cell by cell."""
    rows = []
    for shape in SHAPES:
        for n in samples:
            for effect in EFFECTS:
                began = time.process_time()
                studies = [truth(effect, n, shape, seed) for seed in range(sets)]
                lists = []
                for seed, dataset in enumerate(studies):
                    found = named(dataset, "classification", seed)
                    lists.append(dataset.var.index.get_indexer(found.loc[found["named"], "gene"]))
                true = [is_true(genes).sum() for genes in lists]
                false = [np.mean(~is_true(genes)) if len(genes) else 0.0 for genes in lists]
                shares = [stability_selection(each, seed) for seed, each in enumerate(studies)]
                peer = at_equal_rate(shares, float(np.mean(false)))
                rows.append((shape, n, effect, np.mean(list(map(len, lists))), np.mean(true),
                             np.mean(false), *peer, time.process_time() - began))  # fmt: skip
                print(*(f"{v:.3f}" if isinstance(v, float) else v for v in rows[-1]), flush=True)
    columns = [
        "shape",
        "n",
        "effect",
        "named",
        "true",
        "false_share",
        "peer_true",
        "peer_false_share",
        "seconds",
    ]
    return pd.DataFrame(rows, columns=columns)


def main() -> None:
    """Run what is asked for, print it and write it."""
    asks = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asks.add_argument("what", choices=["noise", "truth"])
    asks.add_argument("--sets", type=int, default=None)
    asks.add_argument("--samples", type=int, nargs="+", choices=SAMPLES, default=SAMPLES)
    asks.add_argument("--out", type=Path)
    asked = asks.parse_args()
    if asked.what == "noise":
        table = run_noise(asked.sets or 40)
    else:
        table = run_truth(asked.sets or 10, asked.samples)
    if asked.out:
        table.to_csv(asked.out, sep="\t", index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
