"""Two series of rheumatoid arthritis: one left out of two studies, or the external cohort of one.

    python benchmarks/accuracy/studies_external.py

Both train on the one series and test on the other, without alignment. By default they choose tau,
mu and lam by inner folds, which either way draws for itself; at one setting there is nothing to
choose, and the scores must be the same but for where they are cut.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from studies import Data, arthritis, linear, observed_fits, pool_studies, settings
from studies_truth import single_study

from genesig.data.files.delimited import Matrix
from genesig.errors import InvalidInput
from genesig.selection.linear.nested_cross_validation import fit_final_model
from genesig.selection.linear.training_sets import LinearSettings, PreparedStudy
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict

Array = np.ndarray[Any, Any]
SINGLE_POINT_GRID: dict[str, Any] = {"mu": [1e-3], "lam": [1e-2], "tau_min": 0.3, "tau_count": 1}


def leave_study_out(data: Data, name: str, changes: dict[str, Any]) -> Array:
    """Return the scores of a study by a model of the other one, both being studies."""
    dataset = pool_studies(data, "none")
    fits = observed_fits(dataset, changes)[1].with_chosen()
    rows, scores = fits.test_scores(list(map(str, fits.split)).index(name))
    return scores[np.argsort(rows), -1] - fits.threshold[list(map(str, fits.split)).index(name)]


def measure_external(data: Data, name: str, changes: dict[str, Any]) -> Array:
    """Return its scores by the final model of the other one, as an external cohort.

    By the model's rule: whether `genesig predict` would take the cohort is printed.
    """
    (other_study,) = set(data.study.tolist()) - {name}
    dataset, splits = single_study(data, other_study)
    fold_steps = settings()["normalise"]["folds"]
    linear_settings = LinearSettings(**{**linear(), **changes})
    final = fit_final_model(PreparedStudy(dataset, splits, fold_steps), linear_settings)
    X = data.X[data.study == name]
    model = final_model(dataset, final, fold_steps=fold_steps)
    try:
        predict(model, cohort(X), "new.tsv", missing=0, mu=None)
    except InvalidInput as error:
        print(f"refused as a cohort: {error}", file=sys.stderr)
    genes, weights = final.coef(0, final.choice[0, 2])
    return X[:, genes] @ weights + final.intercept[0, final.choice[0, 2]] - final.threshold[0]


def cohort(X: Array) -> Matrix:
    """Return the matrix of new samples, as a file has it."""
    samples, genes = ([f"{x}{k:05d}" for k in range(m)] for x, m in zip("sg", X.shape, strict=True))
    cells = np.ascontiguousarray(X.T)
    return Matrix(tuple(genes), tuple(samples), cells, {}, tuple(range(len(genes))))


def main() -> None:
    """Print a line for each series and way."""
    data = arthritis(0)
    positive = data.label == max(data.label)
    print("| left out | settings | way | balanced error | AUC |\n| --- | --- | --- | --- | --- |")
    for name in np.unique(data.study):
        y = positive[data.study == name]
        for grid_name, changes in (("chosen by inner folds", {}), ("one", SINGLE_POINT_GRID)):
            methods = {
                "studies": leave_study_out(data, name, changes),
                "external": measure_external(data, name, changes),
            }
            for method_name, f in methods.items():
                error = 1 - balanced_accuracy_score(y, f > 0)
                row = f"{error:.3f} | {roc_auc_score(y, f):.3f}"
                print(f"| {name} | {grid_name} | {method_name} | {row} |", flush=True)
            gap = np.ptp(methods["studies"] - methods["external"])
            print(f"{name}, {grid_name}: scores differ by {gap:.1e} beyond a shift", flush=True)


if __name__ == "__main__":
    main()
