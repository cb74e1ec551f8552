"""Count false and true FDR-selected genes in simulated studies.

    cd benchmarks/accuracy
    python fdr_selected_genes.py noise [--sets 40] [--out FILE]
    python fdr_selected_genes.py odd [--sets 30] [--worlds NAME ...] [--out FILE]
    python fdr_selected_genes.py truth [--sets 10] [--samples 40 80 160] [--out FILE]

``noise``: data sets without signal, of the four kinds of response in turn; some have two samples of
each patient, some a covariate that is associated with the response. It prints the share of data
sets with an FDR-selected gene.

``odd``: the same for unusual noise: classes of unlike size and spread, tails without a variance,
genes that are mostly 0, one large block, twelve samples, a skewed response, few events, a batch
that is associated with the class, two samples of each patient.

``truth``: ten genes of 1000 differ between two classes, each in a block of ten correlated genes (r
.7); three effects (standard deviations), 40, 80 and 160 samples, three shapes: equal variances,
variances over two orders of magnitude, tails of Student's t with 3 degrees of freedom. It prints
for each cell the number of FDR-selected genes, of true ones, and the mean share of false ones; and
the true genes of stability selection (Meinshausen and Buhlmann 2010: 50 lasso lists of halves, the
first sqrt(.8 d) genes) at the best threshold, one for all sets of the cell, with no larger mean
share of false genes.

Settings are the defaults, with 100 permutations.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
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
N_TRUE = 10
BLOCK_SIZE = 10  # correlated genes; the first gene of each of the first blocks is true
N_GENES = 1000
EFFECTS = (0.8, 1.2, 1.6)
SAMPLES = (40, 80, 160)
SHAPES = ("plain", "variances", "tails")


def draw_noise(number: int) -> tuple[Dataset, str, str]:
    """Return data set `number` without signal, its kind of response, and the name of its design.

    The name is "groups" (two samples of each patient), "covariate", both, or "plain".
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
        age = rank + np.random.default_rng(number).normal(0, 20, 60)
        obs = obs.assign(age=age.map("{:.2f}".format))
        design = replace(design, covariates=(Covariate("age", None),))
        design_words.append("covariate")
    return replace(dataset, obs=obs, design=design), kind, " and ".join(design_words) or "plain"


ODD_SAMPLES = 48
ODD_GENES = 300
ODD_SHAPE = (ODD_SAMPLES, ODD_GENES)  # of most data sets of ``odd``
NoiseStudy = tuple[Dataset, str]  # a data set and its kind of response


def _make_study(
    X: Array,
    state: Sequence[str],
    task: str = "classification",
    columns: Mapping[str, Sequence[str]] | None = None,
    **design_fields: Any,
) -> NoiseStudy:
    """Return a data set of X (n, d); state: cells of the label; columns: further sample columns."""
    samples = [f"S{k:04d}" for k in range(X.shape[0])]
    genes = [f"g{k:04d}" for k in range(X.shape[1])]
    classes = ("well", "ill") if task == "classification" else None
    fields = {"label": "state", "task": task, "classes": classes, "group": None, "pair": None}
    obs = pd.DataFrame({"state": state, **(columns or {})}, index=samples)
    var = pd.DataFrame({"symbol": genes}, index=genes)
    return Dataset(X, obs, var, Design(**fields | design_fields), {}), task


def _class_labels(is_ill: Array) -> list[str]:
    """Return the cells of the label from a mask of the class "ill"."""
    return ["ill" if ill else "well" for ill in is_ill]


def unlike_classes(
    rng: np.random.Generator,
    n_ill: int,
    n: int = ODD_SAMPLES,
    ill_sd: float = 1,
    well_sd: float = 1,
) -> NoiseStudy:
    """Return noise of n samples: the first `n_ill` of class "ill", with SD `ill_sd`."""
    is_ill = np.arange(n) < n_ill
    X = rng.normal(size=(n, ODD_GENES)) * np.where(is_ill, ill_sd, well_sd)[:, None]
    return _make_study(X, _class_labels(is_ill))


def noise_of_values(values: Callable[[np.random.Generator], Array]) -> Callable[..., NoiseStudy]:
    """Return a world of two classes of one size, with values (`ODD_SHAPE`) drawn by `values`."""
    return lambda rng: _make_study(values(rng), _class_labels(np.arange(ODD_SAMPLES) % 2))


def _mostly_zero(rng: np.random.Generator) -> Array:
    """Return values of genes that are above 0 in 5 to 50 % of the samples."""
    X = rng.normal(5, 1, size=ODD_SHAPE)
    return X * (rng.random(ODD_SHAPE) < rng.uniform(0.05, 0.5, ODD_GENES))


def _one_block(rng: np.random.Generator) -> Array:
    """Return values of genes, the first 250 of which have correlations of .9."""
    X = rng.normal(size=ODD_SHAPE)
    X[:, :250] = np.sqrt(0.1) * X[:, :250] + np.sqrt(0.9) * rng.normal(size=(ODD_SAMPLES, 1))
    return X


def measured_twice(rng: np.random.Generator, *, has_groups: bool) -> NoiseStudy:
    """Return noise with two samples of each of 24 patients; has_groups: the design has them."""
    X = np.repeat(rng.normal(size=(24, ODD_GENES)), 2, axis=0) + 0.2 * rng.normal(size=ODD_SHAPE)
    labels = _class_labels(np.repeat(np.arange(24) % 2, 2))
    if not has_groups:
        return _make_study(X, labels)
    patients = {"patient": [f"p{k // 2}" for k in range(ODD_SAMPLES)]}
    return _make_study(X, labels, columns=patients, group="patient")


def skewed_response(rng: np.random.Generator) -> NoiseStudy:
    """Return noise with a response of lognormal numbers."""
    y = np.exp(2 * rng.normal(size=ODD_SAMPLES))
    return _make_study(rng.normal(size=ODD_SHAPE), [f"{v:.4f}" for v in y], "regression")


def mostly_censored(rng: np.random.Generator) -> NoiseStudy:
    """Return noise with times of 60 patients, four of five of them censored."""
    event_time = rng.exponential(size=60)
    censoring_time = rng.exponential(0.25, size=60)
    observed_time = np.minimum(event_time, censoring_time)
    return _make_study(
        rng.normal(size=(60, ODD_GENES)),
        [f"{v:.4f}" for v in observed_time],
        "survival",
        columns={"dead": [f"{int(is_event)}" for is_event in event_time < censoring_time]},
        event="dead",
        occurred="1",
        horizon=float(np.median(observed_time)),
        ties="efron",
    )


def noise_in_batches(rng: np.random.Generator) -> NoiseStudy:
    """Return noise whose class agrees with a batch in 80 % of the samples.

    The batch shifts all genes and is a covariate of the study.
    """
    batch = np.arange(ODD_SAMPLES) % 2
    is_ill = np.where(rng.random(ODD_SAMPLES) < 0.8, batch, 1 - batch)
    X = rng.normal(size=ODD_SHAPE) + batch[:, None] * rng.normal(size=ODD_GENES)
    chips = ("one", "two")
    return _make_study(
        X,
        _class_labels(is_ill),
        columns={"chip": [chips[batch_number] for batch_number in batch]},
        covariates=(Covariate("chip", chips),),
    )


WORLDS: dict[str, Callable[[np.random.Generator], NoiseStudy]] = {
    "24 and 24": partial(unlike_classes, n_ill=24),
    "8 and 40": partial(unlike_classes, n_ill=8),
    "8 and 40, the 8 twice as wide": partial(unlike_classes, n_ill=8, ill_sd=2.0),
    "8 and 40, the 40 twice as wide": partial(unlike_classes, n_ill=8, well_sd=2.0),
    "24 and 24, one class twice as wide": partial(unlike_classes, n_ill=24, ill_sd=2.0),
    "6 and 6": partial(unlike_classes, n_ill=6, n=12),
    "tails of t, 1.5 degrees of freedom": noise_of_values(
        lambda rng: rng.standard_t(1.5, size=ODD_SHAPE)
    ),
    "genes that are mostly 0": noise_of_values(_mostly_zero),
    "250 of 300 genes in one block, r .9": noise_of_values(_one_block),
    "a number with a long tail": skewed_response,
    "survival, four of five lost": mostly_censored,
    "batch associated with the class, adjusted for": noise_in_batches,
    "two samples of each patient, as groups": partial(measured_twice, has_groups=True),
    "two samples of each patient, without groups": partial(measured_twice, has_groups=False),
}
"""Name of a world without signal -> function that draws a study of it."""


def run_odd(sets: int, worlds: Sequence[str]) -> pd.DataFrame:
    """Return and print, for each world, the share of sets with FDR-selected genes and the mean."""
    rows = []
    for name in worlds:
        n_selected = [
            named(*WORLDS[name](np.random.default_rng((77, seed))), seed)["fdr_selected"].sum()
            for seed in range(sets)
        ]
        rows.append((name, sets, np.mean(np.array(n_selected) > 0), np.mean(n_selected)))
        print("| {} | {} | {:.2f} | {:.1f} |".format(*rows[-1]), flush=True)
    return pd.DataFrame(rows, columns=["world", "sets", "any_selected", "mean_selected"])


def draw_truth(effect: float, n: int, shape: str, seed: int) -> Dataset:
    """Return two classes of n samples in all, whose genes 0, 10, ..., 90 differ by `effect` SD."""
    rng = np.random.default_rng((seed, n, int(10 * effect), SHAPES.index(shape)))

    def draw(*size: int) -> Array:
        """Return values of mean 0 and variance 1 with the tails of the shape."""
        return rng.standard_t(3, size) / np.sqrt(3) if shape == "tails" else rng.normal(size=size)

    X = np.sqrt(0.7) * np.repeat(draw(n, N_GENES // BLOCK_SIZE), BLOCK_SIZE, axis=1)
    X += np.sqrt(0.3) * draw(n, N_GENES)
    y = np.arange(n) % 2
    X[:, : N_TRUE * BLOCK_SIZE : BLOCK_SIZE] += effect * y[:, None]
    if shape == "variances":
        X *= 10 ** rng.uniform(-1, 1, N_GENES)
    samples = [f"S{k:03d}" for k in range(n)]
    genes = [f"g{k:04d}" for k in range(N_GENES)]
    obs = pd.DataFrame({"state": np.where(y, "ill", "well")}, index=samples)
    design = Design("state", "classification", ("well", "ill"), None, None)
    return Dataset(X, obs, pd.DataFrame({"symbol": genes}, index=genes), design, {})


def are_true(genes: Array) -> Array:
    """Return a mask of the gene numbers whose genes differ between the classes."""
    return np.asarray((genes % BLOCK_SIZE == 0) & (genes < N_TRUE * BLOCK_SIZE))


def stability_selection(dataset: Dataset, seed: int) -> Array:
    """Return the selection frequency of each gene among lasso lists of 50 halves, (d,).

    A list is the last of its path with at most sqrt(.8 d) genes.
    """
    rng = np.random.default_rng(seed)
    y = dataset.response()
    rows = np.zeros((len(y), 50), dtype=bool)
    for half in range(50):
        rows[rng.permutation(len(y))[: len(y) // 2], half] = True
    sets = training_sets(
        dataset.X, np.repeat(y[:, None], 50, axis=1), rows, centre=True, unit_variance=True
    )
    max_genes = int(np.sqrt(0.8 * N_GENES))
    tau = np.geomspace(1, 0.05, 40) * sets.tau_max[:, None]
    lists = path(sets, tau, 1e-9, solver="landweber-newton", tolerance=1e-6, longest=max_genes)
    # Iterations are -1 from the first longer list on, where the path is cut.
    last_tau = np.count_nonzero(lists.iterations >= 0, axis=1) - 1
    half_lists = [lists.coef(half, tau_index)[0] for half, tau_index in enumerate(last_tau)]
    return np.bincount(np.concatenate(half_lists), minlength=N_GENES) / 50


def best_at_false_share(frequencies: list[Array], max_false: float) -> tuple[float, float]:
    """Return the mean number of true genes of stability selection, and the share of false ones.

    frequencies: from `stability_selection`, of each data set. One threshold holds for all of them:
    the one with most true genes whose mean share of false genes is at most `max_false`.
    """
    best = (0.0, 0.0)
    for threshold in np.unique(np.concatenate(frequencies))[1:]:
        selected = [np.flatnonzero(frequency >= threshold) for frequency in frequencies]
        true = np.mean([are_true(genes).sum() for genes in selected])
        false = np.mean([np.mean(~are_true(genes)) if len(genes) else 0.0 for genes in selected])
        if false <= max_false and true > best[0]:
            best = (float(true), float(false))
    return best


def run_noise(sets: int) -> pd.DataFrame:
    """Return and print, for each data set without signal, the FDR-selected genes and smallest q."""
    rows = []
    for number in range(sets):
        dataset, kind, design_name = draw_noise(number)
        selection = named(dataset, kind, number)
        n_selected = int(selection["fdr_selected"].sum())
        rows.append((number, kind, design_name, n_selected, float(selection["selection_q"].min())))
        print(rows[-1], flush=True)
    table = pd.DataFrame(rows, columns=["set", "kind", "design", "fdr_selected", "smallest_q"])
    share = np.mean(table["fdr_selected"] > 0)
    print(f"any FDR-selected gene: {share:.3f} of {sets} data sets without signal")
    return table


def run_truth(sets: int, samples: Sequence[int]) -> pd.DataFrame:
    """Return and print a row for each shape, size and effect: true and false genes."""
    rows = []
    for shape in SHAPES:
        for n in samples:
            for effect in EFFECTS:
                began = time.process_time()
                studies = [draw_truth(effect, n, shape, seed) for seed in range(sets)]
                lists = []
                for seed, dataset in enumerate(studies):
                    selection = named(dataset, "classification", seed)
                    names = selection.loc[selection["fdr_selected"], "gene"]
                    lists.append(dataset.var.index.get_indexer(names))
                true = [are_true(genes).sum() for genes in lists]
                false = [np.mean(~are_true(genes)) if len(genes) else 0.0 for genes in lists]
                frequencies = [
                    stability_selection(dataset, seed) for seed, dataset in enumerate(studies)
                ]
                peer = best_at_false_share(frequencies, float(np.mean(false)))
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
    columns = "shape n effect fdr_selected true false_share peer_true peer_false_share seconds"
    return pd.DataFrame(rows, columns=columns.split())


def main() -> None:
    """Run the command, print its table and write it to the file, if there is one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("command", choices=["noise", "odd", "truth"])
    parser.add_argument("--sets", type=int, default=None)
    parser.add_argument("--samples", type=int, nargs="+", choices=SAMPLES, default=SAMPLES)
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=list(WORLDS))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
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
