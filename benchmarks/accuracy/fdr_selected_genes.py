"""Measure FDR-selected genes: how often noise has any, and how many are false or true.

    cd benchmarks/accuracy
    python fdr_selected_genes.py noise [--sets 40] [--out FILE]
    python fdr_selected_genes.py odd [--sets 30] [--worlds NAME ...] [--out FILE]
    python fdr_selected_genes.py truth [--sets 10] [--samples 40 80 160] [--out FILE]

``noise``: data sets without any signal, of the four kinds of response in turn, every second one
with patients of two samples, every third one with a covariate that goes with the response. Printed:
the share in which any gene is named.

``odd``: the same for noise that fits no assumption: classes of unlike size and spread, tails
without a variance, genes that are mostly 0, one large block, twelve samples, a skew response, few
events, a batch that goes with the class, two samples of each patient.

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
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/materials"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests/references"))

from study_data import COLUMNS, named, study_of

from genesig.optim.solvers import path
from genesig.optim.training import training_sets
from genesig.response.covariates import Covariate
from genesig.results import Dataset, Design

Array = np.ndarray[Any, Any]
TRUE = 10
BLOCK = 10
GENES = 1000
EFFECTS = (0.8, 1.2, 1.6)
SAMPLES = (40, 80, 160)
SHAPES = ("plain", "variances", "tails")


def draw_noise(number: int) -> tuple[Dataset, str, str]:
    """Return data set `number` without a signal, its kind of response, and words for its design.

    The words are "groups" (two samples of each patient), "covariate", both, or "plain".
    """
    kind = list(COLUMNS)[number % 4]
    design_words = []
    dataset = study_of(kind, number, n=60, d=500)
    obs = dataset.obs
    design = dataset.design
    if number // 4 % 2:
        patient_rows = obs.iloc[np.repeat(np.arange(30), 2)].set_index(obs.index)
        obs = patient_rows.assign(patient=[f"p{k // 2}" for k in range(60)])
        design = replace(design, group="patient")
        design_words.append("groups")
    if number // 4 % 3 == 2:
        rank = obs["state"].rank() if kind != "regression" else obs["state"].astype(float).rank()
        drawn = rank + np.random.default_rng(number).normal(0, 20, 60)
        obs = obs.assign(age=drawn.map("{:.2f}".format))
        design = replace(design, covariates=(Covariate("age", None),))
        design_words.append("covariate")
    return replace(dataset, obs=obs, design=design), kind, " and ".join(design_words) or "plain"


ODD_GENES = 300
ODD_SAMPLES = 48
"""Of a data set of ``odd``."""
Odd = tuple[Dataset, str]  # a data set and its kind of response


def _odd(X: Array, state: Sequence[str], task: str = "classification", **design_fields: Any) -> Odd:
    """Return a data set; further fields are those of `Design`, others columns of the sample table.

    state: cells of the column of the label.
    """
    design_columns = {
        key: design_fields.pop(key) for key in list(design_fields) if key in Design.__annotations__
    }
    samples, genes = ([f"{w}{k:04d}" for k in range(n)] for w, n in zip("Sg", X.shape, strict=True))
    classes = ("well", "ill") if task == "classification" else None
    design = Design(
        **{"label": "state", "task": task, "classes": classes, "group": None, "pair": None}
        | design_columns
    )
    obs = pd.DataFrame({"state": state, **design_fields}, index=samples)
    return Dataset(X, obs, pd.DataFrame({"symbol": genes}, index=genes), design, {}), task


def _class_words(ill: Array) -> list[str]:
    """Return the cells of the label by a mask of the class "ill"."""
    return ["ill" if is_ill else "well" for is_ill in ill]


def unlike_classes(
    rng: np.random.Generator,
    ill: int,
    n: int = ODD_SAMPLES,
    spread: float = 1.0,
    other_spread: float = 1.0,
) -> Odd:
    """Return noise of n samples: the first `ill` of SD `spread`, the others of `other_spread`."""
    y = np.arange(n) < ill
    return _odd(
        rng.normal(size=(n, ODD_GENES)) * np.where(y, spread, other_spread)[:, None],
        _class_words(y),
    )


def noise_of_values(values: Callable[[np.random.Generator], Array]) -> Callable[..., Odd]:
    """Return a world of two classes of one size, with values (`SHAPE`) drawn by `values`."""
    return lambda rng: _odd(values(rng), _class_words(np.arange(ODD_SAMPLES) % 2))


def _mostly_zero(rng: np.random.Generator) -> Array:
    """Return values of genes that are above 0 in 5 to 50 % of the samples."""
    X = rng.normal(5, 1, size=SHAPE)
    return X * (rng.random(SHAPE) < rng.uniform(0.05, 0.5, ODD_GENES))


def _one_block(rng: np.random.Generator) -> Array:
    """Return values of which the first 250 genes correlate by .9."""
    X = rng.normal(size=SHAPE)
    X[:, :250] = np.sqrt(0.1) * X[:, :250] + np.sqrt(0.9) * rng.normal(size=(ODD_SAMPLES, 1))
    return X


def measured_twice(rng: np.random.Generator, *, has_patients: bool) -> Odd:
    """Return noise with two samples of each of 24 patients; as groups if it `has_patients`."""
    X = np.repeat(rng.normal(size=(24, ODD_GENES)), 2, axis=0) + 0.2 * rng.normal(size=SHAPE)
    group = {"patient": [f"p{k // 2}" for k in range(ODD_SAMPLES)], "group": "patient"}
    return _odd(X, _class_words(np.repeat(np.arange(24) % 2, 2)), **(group if has_patients else {}))


def skewed_response(rng: np.random.Generator) -> Odd:
    """Return noise with a response of lognormal numbers."""
    y = np.exp(2 * rng.normal(size=ODD_SAMPLES))
    return _odd(rng.normal(size=SHAPE), [f"{v:.4f}" for v in y], "regression")


def mostly_censored(rng: np.random.Generator) -> Odd:
    """Return noise with times of 60 patients, four of five of them censored."""
    time = rng.exponential(size=60)
    lost = rng.exponential(0.25, size=60)
    observed_time = np.minimum(time, lost)
    return _odd(
        rng.normal(size=(60, ODD_GENES)),
        [f"{v:.4f}" for v in observed_time],
        "survival",
        dead=[f"{int(is_event)}" for is_event in time < lost],
        event="dead",
        occurred="1",
        horizon=float(np.median(observed_time)),
        ties="efron",
    )


def noise_in_batches(rng: np.random.Generator, *, is_adjusted: bool) -> Odd:
    """Return noise whose class agrees with a batch in 80 % of the samples.

    The batch shifts all genes; it is a covariate if the world `is_adjusted`.
    """
    batch = np.arange(ODD_SAMPLES) % 2
    y = np.where(rng.random(ODD_SAMPLES) < 0.8, batch, 1 - batch)
    X = rng.normal(size=SHAPE) + batch[:, None] * rng.normal(size=ODD_GENES)
    fixed = {"covariates": (Covariate("chip", ("one", "two")),)} if is_adjusted else {}
    return _odd(
        X, _class_words(y), chip=[("one", "two")[batch_number] for batch_number in batch], **fixed
    )


SHAPE = (ODD_SAMPLES, ODD_GENES)
WORLDS: dict[str, Callable[[np.random.Generator], Odd]] = {
    "24 and 24": partial(unlike_classes, ill=24),
    "8 and 40": partial(unlike_classes, ill=8),
    "8 and 40, the 8 twice as wide": partial(unlike_classes, ill=8, spread=2.0),
    "8 and 40, the 40 twice as wide": partial(unlike_classes, ill=8, other_spread=2.0),
    "24 and 24, one class twice as wide": partial(unlike_classes, ill=24, spread=2.0),
    "6 and 6": partial(unlike_classes, ill=6, n=12),
    "tails of t, 1.5 degrees of freedom": noise_of_values(
        lambda rng: rng.standard_t(1.5, size=SHAPE)
    ),
    "genes that are mostly 0": noise_of_values(_mostly_zero),
    "250 of 300 genes in one block, r .9": noise_of_values(_one_block),
    "a number with a long tail": skewed_response,
    "survival, four of five lost": mostly_censored,
    "batch that goes with the class, held fixed": partial(noise_in_batches, is_adjusted=True),
    "two samples of each patient, as groups": partial(measured_twice, has_patients=True),
    "two samples of each patient, not said": partial(measured_twice, has_patients=False),
}
"""Name of a world without any signal -> function that draws it."""


def run_odd(sets: int, worlds: Sequence[str]) -> pd.DataFrame:
    """Return, and print, a row for each odd world: share of sets with FDR-selected genes, mean."""
    rows = []
    for name in worlds:
        world_rows = [
            named(*WORLDS[name](np.random.default_rng((77, seed))), seed)["fdr_selected"].sum()
            for seed in range(sets)
        ]
        rows.append(
            (name, sets, float(np.mean(np.array(world_rows) > 0)), float(np.mean(world_rows)))
        )
        print("| {} | {} | {:.2f} | {:.1f} |".format(*rows[-1]), flush=True)
    return pd.DataFrame(rows, columns=["world", "sets", "any_named", "genes_named"])


def draw_truth(effect: float, n: int, shape: str, seed: int) -> Dataset:
    """Return a data set of two classes, whose genes 0, 10, ..., 90 differ by `effect` SD."""
    rng = np.random.default_rng((seed, n, int(10 * effect), SHAPES.index(shape)))

    def drawn(*size: int) -> Array:
        """Return values of mean 0 and variance 1 with the tails of the shape."""
        return rng.standard_t(3, size) / np.sqrt(3) if shape == "tails" else rng.normal(size=size)

    X = np.sqrt(0.7) * np.repeat(drawn(n, GENES // BLOCK), BLOCK, axis=1)
    X += np.sqrt(0.3) * drawn(n, GENES)
    y = np.arange(n) % 2
    X[:, : TRUE * BLOCK : BLOCK] += effect * y[:, None]
    if shape == "variances":
        X *= 10 ** rng.uniform(-1, 1, GENES)
    samples = [f"S{k:03d}" for k in range(n)]
    genes = [f"g{k:04d}" for k in range(GENES)]
    obs = pd.DataFrame({"state": np.where(y, "ill", "well")}, index=samples)
    design = Design("state", "classification", ("well", "ill"), None, None)
    return Dataset(X, obs, pd.DataFrame({"symbol": genes}, index=genes), design, {})


def are_true(genes: Array) -> Array:
    """Return a mask of the genes, given by number, that differ between the classes."""
    return np.asarray((genes % BLOCK == 0) & (genes < TRUE * BLOCK))


def stability_selection(dataset: Dataset, seed: int) -> Array:
    """Return for each gene the share of 50 halves in whose lasso list it is, (d,).

    A list has the first sqrt(.8 d) genes of the path, or fewer.
    """
    rng = np.random.default_rng(seed)
    y = dataset.response()
    rows = np.zeros((len(y), 50), dtype=bool)
    for half in range(50):
        rows[rng.permutation(len(y))[: len(y) // 2], half] = True
    sets = training_sets(
        dataset.X, np.repeat(y[:, None], 50, axis=1), rows, centre=True, unit_variance=True
    )
    max_genes = int(np.sqrt(0.8 * GENES))
    tau = np.geomspace(1, 0.05, 40) * sets.tau_max[:, None]
    lists = path(sets, tau, 1e-9, solver="landweber-newton", tolerance=1e-6, longest=max_genes)
    last_kept = np.count_nonzero(lists.iterations >= 0, axis=1) - 1
    half_lists = [lists.coef(half, at)[0] for half, at in enumerate(last_kept)]
    return np.bincount(np.concatenate(half_lists), minlength=GENES) / 50


def genes_at_equal_rate(shares: list[Array], rate: float) -> tuple[float, float]:
    """Return the mean number of true genes of stability selection, and its share of false ones.

    shares: from `stability_selection`, of each data set. One threshold holds for all of them: that
    with most true genes among those with a mean share of false genes of at most `rate`.
    """
    best = (0.0, 0.0)
    for least in np.unique(np.concatenate(shares))[1:]:
        selected = [np.flatnonzero(share >= least) for share in shares]
        true = np.mean([are_true(genes).sum() for genes in selected])
        false = np.mean([np.mean(~are_true(genes)) if len(genes) else 0.0 for genes in selected])
        if false <= rate and true > best[0]:
            best = (float(true), float(false))
    return best


def run_noise(sets: int) -> pd.DataFrame:
    """Return, and print, a row for each data set without signal: FDR-selected genes, smallest q."""
    rows = []
    for number in range(sets):
        dataset, kind, design_text = draw_noise(number)
        selection = named(dataset, kind, number)
        rows.append(
            (
                number,
                kind,
                design_text,
                int(selection["fdr_selected"].sum()),
                float(selection["selection_q"].min()),
            )
        )
        print(rows[-1], flush=True)
    table = pd.DataFrame(rows, columns=["set", "kind", "design", "named", "least_q"])
    print(f"any gene named: {np.mean(table['named'] > 0):.3f} of {sets} data sets without signal")
    return table


def run_truth(sets: int, samples: Sequence[int]) -> pd.DataFrame:
    """Return, and print, a row for each shape, size and effect: true and false genes."""
    rows = []
    for shape in SHAPES:
        for n in samples:
            for effect in EFFECTS:
                began = time.process_time()
                studies = [draw_truth(effect, n, shape, seed) for seed in range(sets)]
                lists = []
                for seed, dataset in enumerate(studies):
                    selection = named(dataset, "classification", seed)
                    lists.append(
                        dataset.var.index.get_indexer(
                            selection.loc[selection["fdr_selected"], "gene"]
                        )
                    )
                true = [are_true(genes).sum() for genes in lists]
                false = [np.mean(~are_true(genes)) if len(genes) else 0.0 for genes in lists]
                shares = [
                    stability_selection(study_data, seed) for seed, study_data in enumerate(studies)
                ]
                peer = genes_at_equal_rate(shares, float(np.mean(false)))
                rows.append(
                    (
                        shape,
                        n,
                        effect,
                        np.mean(list(map(len, lists))),
                        np.mean(true),
                        np.mean(false),
                        *peer,
                        time.process_time() - began,
                    )
                )
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
    """Run the command, print its table and write it, if a file is named."""
    asks = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asks.add_argument("command", choices=["noise", "odd", "truth"])
    asks.add_argument("--sets", type=int, default=None)
    asks.add_argument("--samples", type=int, nargs="+", choices=SAMPLES, default=SAMPLES)
    asks.add_argument("--worlds", nargs="+", choices=WORLDS, default=list(WORLDS))
    asks.add_argument("--out", type=Path)
    options = asks.parse_args()
    if options.command == "noise":
        table = run_noise(options.sets or 40)
    elif options.command == "odd":
        table = run_odd(options.sets or 30, options.worlds)
    else:
        table = run_truth(options.sets or 10, options.samples)
    if options.out:
        table.to_csv(options.out, sep="\t", index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
