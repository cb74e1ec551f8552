"""Two omics: learned factors beside equal ones and the ideas of others, and the null of learning.

    python benchmarks/accuracy/omics.py [--draws 20] [--null 60]

80 patients, 2000 transcripts and 50 proteins; y is a number that five features carry in the places
that a scenario names, with as much noise as signal, or classes at its median. Every method sees the
same training rows and five inner folds; the error is measured on 1000 new patients: 1 - R² of a
number, the balanced error of classes. `genesig` is the chosen list of the two stages with its
defaults. The others are ideas, not packages, run with one certified solver of the lasso:

lasso          one penalty (Tibshirani 1996)
IPF-LASSO      factors of 1, 2 and 4 by the inner folds, no refit (Boulesteix et al. 2017)
priority-Lasso proteins first, then transcripts on what these leave, out of fold (Klau et al. 2018)
cooperative    ½||y - f - g||² + rho/2 ||f - g||², rho of 0, .2, .5 and 1 by the inner folds, as a
               lasso of rows added below (Ding et al. 2022)
proteins only  the lasso of these 50

The null: 40 patients, 200 transcripts and 20 proteins of noise, and classes; p of the double
cross-validation error of learned factors among 19 permutations of the labels, each of which learns
anew. Prints the share of p at most .05 to .5, and how often each ratio is chosen.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/materials"))

from linear_loops import fit_final_model, nested_cross_validation
from settings import MOMENTS, SPLITS, linear

from genesig.data.splits.draw import draw_splits
from genesig.optim.solvers import path
from genesig.optim.training import training_sets
from genesig.results import Dataset, Design, Splits
from genesig.results.dataset import OMIC
from genesig.selection.assess.controls import null_errors, p_value

Array = np.ndarray[Any, Any]
PROTEINS = 50
RNA = 2000
PATIENTS = 80
NEW = 1000
SIGNALS = 5
TAU = np.geomspace(0.95, 0.05, 30)
RATIOS = ((1, 1), (1, 2), (2, 1), (1, 4), (4, 1))
RHO = (0.0, 0.2, 0.5, 1.0)
BLOCK = np.repeat([0, 1], [PROTEINS, RNA])


def shared_factor(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Return n patients, X and the signal: one hidden factor of 10 proteins and 40 transcripts."""
    hidden = rng.standard_normal(n)
    X = rng.standard_normal((n, PROTEINS + RNA))
    X[:, [*range(10), *range(PROTEINS, PROTEINS + 40)]] += 0.6 * hidden[:, None]
    return X, hidden


def carried_by(proteins: int, rna: int) -> Callable[..., tuple[Array, Array]]:
    """Return a scenario whose signal is the sum of the first proteins and transcripts."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        """Return X of n patients and the signal, of variance 1."""
        X = rng.standard_normal((n, PROTEINS + RNA))
        carrier_columns = [*range(proteins), *range(PROTEINS, PROTEINS + rna)]
        return X, X[:, carrier_columns].sum(axis=1) / np.sqrt(len(carrier_columns))

    return draw


SCENARIOS = {
    "5 proteins": carried_by(SIGNALS, 0),
    "5 proteins, 5 transcripts": carried_by(SIGNALS, SIGNALS),
    "5 transcripts": carried_by(0, SIGNALS),
    "one factor behind both": shared_factor,
}


def study(X: Array, y: Array, task: str, proteins: int = PROTEINS) -> tuple[Dataset, Splits]:
    """Return the patients as a study, and its splits; the first columns of X are proteins."""
    genes = [f"g{k:04d}" for k in range(X.shape[1])]
    names = [f"S{k:03d}" for k in range(len(X))]
    var = pd.DataFrame({"symbol": genes}, index=genes)
    var[OMIC] = ["protein"] * proteins + ["rna"] * (len(genes) - proteins)
    number = task == "regression"
    state = [repr(float(v)) for v in y] if number else np.where(y > 0, "ill", "well")
    design = Design(
        label="y", task=task, classes=None if number else ("well", "ill"), group=None, pair=None
    )
    dataset = Dataset(X, pd.DataFrame({"y": state}, index=names), var, design, {})
    return dataset, draw_splits(dataset, seed=1, **SPLITS | {"inner_folds": 5})


def genesig(X: Array, y: Array, task: str, Z: Array, *, learn: bool) -> Array:
    """Return scores of new patients Z by the chosen list; learn: whether factors are learned."""
    dataset, splits = study(X, y, task)
    criterion = {} if task == "classification" else {"criterion": "squared_error"}
    linear_settings = linear(list="stable", learn_omics=learn, **criterion)
    linear_settings["threshold"] = "midpoint" if task == "classification" else "zero"
    fits = fit_final_model(dataset, splits, fold_steps=MOMENTS, **linear_settings)
    at = int(fits.choice[0, 2])
    genes, values = fits.coef(0, at)
    return np.asarray(fits.intercept[0, at] + Z[:, genes] @ values - fits.threshold[0])


def folds_of(n: int) -> Array:
    """Return five masks (n, 5) of the rows that train a fold."""
    fold_of_sample = np.random.default_rng(0).permutation(n) % 5
    return np.asarray(fold_of_sample[:, None] != np.arange(5))


def lasso_paths(
    X: Array, y: Array, rows: Array, weights: Array | None = None
) -> tuple[Array, Array]:
    """Return coefficients (k, 30, d) and intercepts (k, 30) of paths on k sets of rows."""
    Y = np.tile(y[:, None], rows.shape[1])
    sets = training_sets(X, Y, rows, centre=True, unit_variance=True, weights=weights)
    solutions = path(
        sets, TAU * sets.tau_max[:, None], 0.0, solver="landweber-newton", tolerance=1e-6
    )
    B = np.zeros((rows.shape[1], len(TAU), X.shape[1]))
    for k in range(rows.shape[1]):
        for at in range(len(TAU)):
            genes, values = solutions.coef(k, at)
            B[k, at, genes] = values * sets.inverse_scale[k, genes]
    return B, sets.y_mean[:, None] - np.einsum("ktd,kd->kt", B, sets.mean)


def search_lasso(
    X: Array, y: Array, weights: Array | None = None
) -> tuple[float, Array, Array, Array]:
    """Return the smallest error of the folds, its left-out scores, and the refit on all rows.

    The refit is (coefficients, intercept). weights (2,) or None: of proteins and transcripts.
    """
    rows = folds_of(len(y))
    B, a = lasso_paths(X, y, np.column_stack([rows, np.ones(len(y), dtype=bool)]), weights)
    left_out_scores = np.zeros((len(TAU), len(y)))
    for k in range(5):
        out = ~rows[:, k]
        left_out_scores[:, out] = a[k][:, None] + B[k] @ X[out].T
    error = np.square(left_out_scores - y).mean(axis=1)
    best = int(error.argmin())
    return float(error[best]), left_out_scores[best], B[5, best], a[5, best]


def lasso(X: Array, y: Array, Z: Array) -> Array:
    """Return the scores of new patients Z by a lasso with one penalty."""
    _, _, b, a = search_lasso(X, y)
    return np.asarray(a + Z @ b)


def ipf(X: Array, y: Array, Z: Array) -> Array:
    """Return the scores by the penalty factors of `RATIOS` with the smallest inner error."""
    tried = [search_lasso(X, y, np.array(ratio, dtype=float)[BLOCK]) for ratio in RATIOS]
    _, _, b, a = min(tried, key=lambda trial: trial[0])
    return np.asarray(a + Z @ b)


def proteins_only(X: Array, y: Array, Z: Array) -> Array:
    """Return the scores by a lasso of the proteins."""
    return lasso(X[:, :PROTEINS], y, Z[:, :PROTEINS])


def priority(X: Array, y: Array, Z: Array) -> Array:
    """Return the scores by a lasso of proteins and one of transcripts on its left-out errors."""
    _, left_out_scores, b, a = search_lasso(X[:, :PROTEINS], y)
    _, _, c, d = search_lasso(X[:, PROTEINS:], y - left_out_scores)
    return np.asarray(a + Z[:, :PROTEINS] @ b + d + Z[:, PROTEINS:] @ c)


def cooperative(X: Array, y: Array, Z: Array) -> Array:
    """Return the scores by the rho of `RHO` and the penalty with the smallest inner error."""
    best: tuple[float, Array, float] | None = None
    for rho in RHO:
        rows = folds_of(len(y))
        left_out_scores = np.zeros((len(TAU), len(y)))
        for k in range(5):
            B, a = _cooperative(X[rows[:, k]], y[rows[:, k]], rho)
            out = ~rows[:, k]
            left_out_scores[:, out] = a[:, None] + B @ X[out].T
        error = np.square(left_out_scores - y).mean(axis=1)
        if best is None or error.min() < best[0]:
            B, a = _cooperative(X, y, rho)
            at = int(error.argmin())
            best = float(error[at]), B[at], float(a[at])
    assert best is not None
    return np.asarray(best[2] + Z @ best[1])


def _cooperative(X: Array, y: Array, rho: float) -> tuple[Array, Array]:
    """Return coefficients (30, d) and intercepts (30,) of the path with agreement weight rho.

    Rows √rho (g - f) = 0 are added to the standardised columns; centring precedes them.
    """
    mean = X.mean(axis=0)
    sd = X.std(axis=0)
    S = (X - mean) / sd
    sign = np.where(BLOCK == 0, -1.0, 1.0)
    A = np.vstack([S, np.sqrt(rho) * sign * S])
    r = np.append(y - y.mean(), np.zeros(len(y)))
    rows = np.ones((len(r), 1), dtype=bool)
    sets = training_sets(A, r[:, None], rows, centre=False, unit_variance=False)
    solutions = path(
        sets, TAU * sets.tau_max[:, None], 0.0, solver="landweber-newton", tolerance=1e-6
    )
    B = np.zeros((len(TAU), X.shape[1]))
    for at in range(len(TAU)):
        genes, values = solutions.coef(0, at)
        B[at, genes] = values / sd[genes]
    return B, y.mean() - B @ mean


METHODS: dict[str, Callable[[Array, Array, Array], Array]] = {
    "lasso": lasso,
    "IPF-LASSO": ipf,
    "priority-Lasso": priority,
    "cooperative": cooperative,
    "proteins only": proteins_only,
}


def error(y: Array, f: Array, task: str) -> float:
    """Return 1 - R² of a number, or the balanced error of the signs of the scores f."""
    if task == "regression":
        return float(np.square(y - f).mean() / y.var())
    return float(np.mean([np.mean(np.sign(f[y == side]) != side) for side in (-1, 1)]))


def measure_draw(
    draw: Callable[..., tuple[Array, Array]], seed: int, task: str
) -> dict[str, float]:
    """Return the error of each method on new patients of one draw."""
    rng = np.random.default_rng(seed)
    X, f = draw(rng, PATIENTS + NEW)
    y = f + rng.standard_normal(len(f))
    if task == "classification":
        y = np.where(y > np.median(y[:PATIENTS]), 1.0, -1.0)
    train = slice(0, PATIENTS)
    new = slice(PATIENTS, None)
    results = {
        name: error(y[new], method(X[train], y[train], X[new]), task)
        for name, method in METHODS.items()
    }
    for name, learn in (("genesig, equal", False), ("genesig, learned", True)):
        results[name] = error(y[new], genesig(X[train], y[train], task, X[new], learn=learn), task)
    return results


def print_comparison(draws: int) -> None:
    """Print the mean error of each method, and of learned less equal factors with its error."""
    for task in ("regression", "classification"):
        print(f"\n{task}, mean error over {draws} draws")
        for name, draw in SCENARIOS.items():
            table = pd.DataFrame([measure_draw(draw, seed, task) for seed in range(draws)])
            difference = table["genesig, learned"] - table["genesig, equal"]
            means = "  ".join(f"{key} {value:.3f}" for key, value in table.mean().items())
            print(
                f"{name}: {means}; learned less equal {difference.mean():.3f}"
                f" ± {difference.std() / np.sqrt(draws):.3f}",
                flush=True,
            )


def measure_null(studies: int) -> None:
    """Print the distribution of p without a signal, and the chosen ratios."""
    p = []
    chosen = []
    for seed in range(studies):
        rng = np.random.default_rng([7, seed])
        X = rng.standard_normal((40, 220))
        y = rng.permutation(np.repeat([-1.0, 1.0], 20))
        dataset, splits = study(X, y, "classification", proteins=20)
        linear_settings = linear(
            list="minimal", mu=[1e-6], lam=[1e-1], tau_min=0.1, tau_count=8, learn_omics=True
        )
        observed, permuted = (
            nested_cross_validation(
                dataset, splits, labels=labels, batch="1of1", fold_steps=MOMENTS, **linear_settings
            )
            for labels in ("observed", "permuted-001-019")
        )
        errors = [
            null_errors(dataset, splits, fits_of_labels.with_chosen())["error"][:, -1]
            for fits_of_labels in (observed, permuted)
        ]
        p.append(p_value(float(errors[0][0]), errors[1]))
        chosen += [tuple(fits_of_labels) for fits_of_labels in observed.grid.factors.tolist()]
    shares = "  ".join(
        f"{at:g}: {np.mean(np.array(p) <= at + 1e-9):.3f}" for at in (0.05, 0.1, 0.2, 0.5)
    )
    print(f"\nnull, {studies} studies of 19 permutations, share of p at most {shares}")
    ratios, counts = np.unique(chosen, axis=0, return_counts=True)
    print(
        "ratios (protein, rna):",
        dict(zip(map(tuple, ratios.tolist()), counts.tolist(), strict=True)),
    )


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--null", type=int, default=60)
    options = parser.parse_args()
    if options.draws:
        print_comparison(options.draws)
    if options.null:
        measure_null(options.null)


if __name__ == "__main__":
    main()
