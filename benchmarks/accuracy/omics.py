"""Two omics: error by learned factors, equal factors and other methods; p of learning in noise.

    python benchmarks/accuracy/omics.py [--draws 20] [--null 60]

80 patients, 2000 transcripts and 50 proteins; y is a number that depends on the features of a
scenario, with as much noise as signal, or classes above and below its median. Every method has the
same training rows and five inner folds; the error is measured on 1000 new patients: 1 - R² of a
number, the balanced error of classes. `genesig` is the chosen list of the two stages with default
settings. Other methods are written from their papers with genesig's solver of the lasso:

lasso          one penalty (Tibshirani 1996)
IPF-LASSO      factors of 1, 2 and 4 by the inner folds, no refit (Boulesteix et al. 2017)
priority-Lasso proteins first, then transcripts on what these leave, out of fold (Klau et al. 2018)
cooperative    ½||y - f - g||² + rho/2 ||f - g||², rho of 0, .2, .5 and 1 by the inner folds, as a
               lasso of rows added below (Ding et al. 2022)
proteins only  the lasso of these 50

The null: 40 patients of two classes with 200 transcripts and 20 proteins of noise; p of the nested
cross-validation error with learned factors, among 19 permutations of the labels that learn factors
again. It prints the share of p of at most .05 to .5, and how often each ratio is chosen.
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
PROTEINS = 50  # columns of X: proteins, then transcripts
RNA = 2000
PATIENTS = 80
NEW = 1000
SIGNALS = 5
TAU_FRACTIONS = np.geomspace(0.95, 0.05, 30)
RATIOS = ((1, 1), (1, 2), (2, 1), (1, 4), (4, 1))  # penalties of proteins and transcripts
RHO = (0.0, 0.2, 0.5, 1.0)
OMIC_OF_COLUMN = np.repeat([0, 1], [PROTEINS, RNA])


def shared_factor(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Return X of n patients and the signal: a hidden factor of 10 proteins and 40 transcripts."""
    hidden = rng.standard_normal(n)
    X = rng.standard_normal((n, PROTEINS + RNA))
    X[:, [*range(10), *range(PROTEINS, PROTEINS + 40)]] += 0.6 * hidden[:, None]
    return X, hidden


def sum_of_features(proteins: int, rna: int) -> Callable[..., tuple[Array, Array]]:
    """Return a scenario whose signal is the sum of the first proteins and transcripts."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        """Return X of n patients and the signal, of variance 1."""
        X = rng.standard_normal((n, PROTEINS + RNA))
        columns = [*range(proteins), *range(PROTEINS, PROTEINS + rna)]
        return X, X[:, columns].sum(axis=1) / np.sqrt(len(columns))

    return draw


SCENARIOS = {
    "5 proteins": sum_of_features(SIGNALS, 0),
    "5 proteins, 5 transcripts": sum_of_features(SIGNALS, SIGNALS),
    "5 transcripts": sum_of_features(0, SIGNALS),
    "one factor behind both": shared_factor,
}


def make_study(X: Array, y: Array, task: str, proteins: int = PROTEINS) -> tuple[Dataset, Splits]:
    """Return a data set and its splits; proteins: number of them, the first columns of X."""
    genes = [f"g{k:04d}" for k in range(X.shape[1])]
    names = [f"S{k:03d}" for k in range(len(X))]
    var = pd.DataFrame({"symbol": genes}, index=genes)
    var[OMIC] = ["protein"] * proteins + ["rna"] * (len(genes) - proteins)
    is_number = task == "regression"
    state = [repr(float(v)) for v in y] if is_number else np.where(y > 0, "ill", "well")
    classes = None if is_number else ("well", "ill")
    design = Design(label="y", task=task, classes=classes, group=None, pair=None)
    dataset = Dataset(X, pd.DataFrame({"y": state}, index=names), var, design, {})
    return dataset, draw_splits(dataset, seed=1, **SPLITS | {"inner_folds": 5})


def genesig(X: Array, y: Array, task: str, Z: Array, *, learn: bool) -> Array:
    """Return scores of new patients Z by the chosen list; learn: whether factors are learned."""
    dataset, splits = make_study(X, y, task)
    criterion = {} if task == "classification" else {"criterion": "squared_error"}
    linear_settings = linear(list="stable", learn_omics=learn, **criterion)
    linear_settings["threshold"] = "midpoint" if task == "classification" else "zero"
    fits = fit_final_model(dataset, splits, fold_steps=MOMENTS, **linear_settings)
    chosen_mu = int(fits.choice[0, 2])
    genes, values = fits.coef(0, chosen_mu)
    return np.asarray(fits.intercept[0, chosen_mu] + Z[:, genes] @ values - fits.threshold[0])


def folds_of(n: int) -> Array:
    """Return five masks (n, 5) of the rows that train a fold."""
    fold_of_sample = np.random.default_rng(0).permutation(n) % 5
    return np.asarray(fold_of_sample[:, None] != np.arange(5))


def lasso_paths(
    X: Array, y: Array, rows: Array, weights: Array | None = None
) -> tuple[Array, Array]:
    """Return coefficients (k, 30, d) and intercepts (k, 30) of paths on k sets of rows.

    rows (n, k): masks; weights (d,): penalty factors.
    """
    Y = np.tile(y[:, None], rows.shape[1])
    sets = training_sets(X, Y, rows, centre=True, unit_variance=True, weights=weights)
    solutions = path(
        sets, TAU_FRACTIONS * sets.tau_max[:, None], 0.0, solver="landweber-newton", tolerance=1e-6
    )
    B = np.zeros((rows.shape[1], len(TAU_FRACTIONS), X.shape[1]))
    for k in range(rows.shape[1]):
        for t in range(len(TAU_FRACTIONS)):
            genes, values = solutions.coef(k, t)
            B[k, t, genes] = values * sets.inverse_scale[k, genes]
    return B, sets.y_mean[:, None] - np.einsum("ktd,kd->kt", B, sets.mean)


def search_lasso(
    X: Array, y: Array, weights: Array | None = None
) -> tuple[float, Array, Array, Array]:
    """Return the smallest left-out error, its left-out scores, and coefficients and intercept.

    The last two are fitted to all rows at the penalty of that error. weights (d,): penalty factors.
    """
    rows = folds_of(len(y))
    B, a = lasso_paths(X, y, np.column_stack([rows, np.ones(len(y), dtype=bool)]), weights)
    left_out_scores = np.zeros((len(TAU_FRACTIONS), len(y)))
    for k in range(5):
        left_out = ~rows[:, k]
        left_out_scores[:, left_out] = a[k][:, None] + B[k] @ X[left_out].T
    errors = np.square(left_out_scores - y).mean(axis=1)
    best = int(errors.argmin())
    return float(errors[best]), left_out_scores[best], B[5, best], a[5, best]


def lasso(X: Array, y: Array, Z: Array) -> Array:
    """Return the scores of new patients Z by a lasso with one penalty."""
    _, _, b, a = search_lasso(X, y)
    return np.asarray(a + Z @ b)


def ipf(X: Array, y: Array, Z: Array) -> Array:
    """Return the scores of a lasso with the penalty factors of `RATIOS` of smallest inner error."""
    searches = [
        search_lasso(X, y, np.array(ratio, dtype=float)[OMIC_OF_COLUMN]) for ratio in RATIOS
    ]
    _, _, b, a = min(searches, key=lambda search: search[0])
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
    rows = folds_of(len(y))
    best: tuple[float, Array, float] | None = None  # error, coefficients, intercept
    for rho in RHO:
        left_out_scores = np.zeros((len(TAU_FRACTIONS), len(y)))
        for k in range(5):
            B, a = _cooperative(X[rows[:, k]], y[rows[:, k]], rho)
            left_out = ~rows[:, k]
            left_out_scores[:, left_out] = a[:, None] + B @ X[left_out].T
        errors = np.square(left_out_scores - y).mean(axis=1)
        if best is None or errors.min() < best[0]:
            B, a = _cooperative(X, y, rho)
            t = int(errors.argmin())
            best = float(errors[t]), B[t], float(a[t])
    assert best is not None
    _, b, intercept = best
    return np.asarray(intercept + Z @ b)


def _cooperative(X: Array, y: Array, rho: float) -> tuple[Array, Array]:
    """Return coefficients (30, d) and intercepts (30,) of the path with agreement weight rho.

    Rows √rho (g - f) = 0 are added below the standardised columns.
    """
    mean = X.mean(axis=0)
    sd = X.std(axis=0)
    S = (X - mean) / sd
    sign = np.where(OMIC_OF_COLUMN == 0, -1.0, 1.0)
    A = np.vstack([S, np.sqrt(rho) * sign * S])
    r = np.append(y - y.mean(), np.zeros(len(y)))
    rows = np.ones((len(r), 1), dtype=bool)
    sets = training_sets(A, r[:, None], rows, centre=False, unit_variance=False)
    solutions = path(
        sets, TAU_FRACTIONS * sets.tau_max[:, None], 0.0, solver="landweber-newton", tolerance=1e-6
    )
    B = np.zeros((len(TAU_FRACTIONS), X.shape[1]))
    for t in range(len(TAU_FRACTIONS)):
        genes, values = solutions.coef(0, t)
        B[t, genes] = values / sd[genes]
    return B, y.mean() - B @ mean


METHODS: dict[str, Callable[[Array, Array, Array], Array]] = {
    "lasso": lasso,
    "IPF-LASSO": ipf,
    "priority-Lasso": priority,
    "cooperative": cooperative,
    "proteins only": proteins_only,
}


def measure_error(y: Array, f: Array, task: str) -> float:
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
        name: measure_error(y[new], method(X[train], y[train], X[new]), task)
        for name, method in METHODS.items()
    }
    for name, learn in (("genesig, equal", False), ("genesig, learned", True)):
        scores = genesig(X[train], y[train], task, X[new], learn=learn)
        results[name] = measure_error(y[new], scores, task)
    return results


def print_comparison(draws: int) -> None:
    """Print mean errors of the methods, and the difference of learned and equal factors."""
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
    """Print the distribution of p without signal, and the chosen ratios."""
    p = []
    chosen_ratios = []
    for seed in range(studies):
        rng = np.random.default_rng([7, seed])
        X = rng.standard_normal((40, 220))
        y = rng.permutation(np.repeat([-1.0, 1.0], 20))
        dataset, splits = make_study(X, y, "classification", proteins=20)
        linear_settings = linear(
            list="minimal", mu=[1e-6], lam=[1e-1], tau_min=0.1, tau_count=8, learn_omics=True
        )
        observed, permuted = (
            nested_cross_validation(
                dataset, splits, labels=labels, batch="1of1", fold_steps=MOMENTS, **linear_settings
            )
            for labels in ("observed", "permuted-001-019")
        )
        observed_error, null = (
            null_errors(dataset, splits, fits.with_chosen())["error"][:, -1]
            for fits in (observed, permuted)
        )
        p.append(p_value(float(observed_error[0]), null))
        chosen_ratios += [tuple(factors) for factors in observed.grid.factors.tolist()]
    shares = "  ".join(
        f"{level:g}: {np.mean(np.array(p) <= level + 1e-9):.3f}" for level in (0.05, 0.1, 0.2, 0.5)
    )
    print(f"\nnull, {studies} studies of 19 permutations, share of p at most {shares}")
    ratios, counts = np.unique(chosen_ratios, axis=0, return_counts=True)
    print(
        "ratios (protein, rna):",
        dict(zip(map(tuple, ratios.tolist()), counts.tolist(), strict=True)),
    )


def main() -> None:
    """Print the comparison and the null."""
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
