"""Scores of a left-out study and of an external cohort, in two series of rheumatoid arthritis.

    python benchmarks/accuracy/studies_external.py

Both ways train on one series and test on the other, without alignment. By default they choose tau,
mu and lam by inner folds, which each way draws separately; at a single setting the scores must be
equal but for their threshold.
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
    """Return the scores of a left-out study by a model of the other study, less the threshold."""
    dataset = pool_studies(data, "none")
    _, fits = observed_fits(dataset, changes)
    fits = fits.with_chosen()
    fit = list(map(str, fits.split)).index(name)
    rows, scores = fits.test_scores(fit)
    return scores[np.argsort(rows), -1] - fits.threshold[fit]


def measure_external(data: Data, name: str, changes: dict[str, Any]) -> Array:
    """Return the scores of a study by the final model of the other study, less the threshold.

    If `genesig predict` refuses the study as a cohort, its message is printed.
    """
    (other_study,) = set(data.study.tolist()) - {name}
    dataset, splits = single_study(data, other_study)
    fold_steps = settings()["normalise"]["folds"]
    linear_settings = LinearSettings(**{**linear(), **changes})
    final = fit_final_model(PreparedStudy(dataset, splits, fold_steps), linear_settings)
    X = data.X[data.study == name]
    model = final_model(dataset, final, fold_steps=fold_steps)
    try:
        predict(model, cohort_matrix(X), "new.tsv", missing=0, mu=None)
    except InvalidInput as error:
        print(f"refused as a cohort: {error}", file=sys.stderr)
    chosen_mu = final.choice[0, 2]
    genes, weights = final.coef(0, chosen_mu)
    return X[:, genes] @ weights + final.intercept[0, chosen_mu] - final.threshold[0]


def cohort_matrix(X: Array) -> Matrix:
    """Return new samples X (n, d) as a matrix of genes × samples."""
    samples = tuple(f"s{k:05d}" for k in range(X.shape[0]))
    genes = tuple(f"g{k:05d}" for k in range(X.shape[1]))
    return Matrix(genes, samples, np.ascontiguousarray(X.T), {}, tuple(range(len(genes))))


def main() -> None:
    """Print a line for each left-out series, grid and way."""
    data = arthritis(0)
    is_positive = data.label == max(data.label)
    print("| left out | settings | way | balanced error | AUC |\n| --- | --- | --- | --- | --- |")
    for name in np.unique(data.study):
        y = is_positive[data.study == name]
        for grid_name, changes in (("chosen by inner folds", {}), ("one", SINGLE_POINT_GRID)):
            scores_by_way = {
                "studies": leave_study_out(data, name, changes),
                "external": measure_external(data, name, changes),
            }
            for way, f in scores_by_way.items():
                error = 1 - balanced_accuracy_score(y, f > 0)
                row = f"{error:.3f} | {roc_auc_score(y, f):.3f}"
                print(f"| {name} | {grid_name} | {way} | {row} |", flush=True)
            gap = np.ptp(scores_by_way["studies"] - scores_by_way["external"])
            print(f"{name}, {grid_name}: scores differ by {gap:.1e} beyond a shift", flush=True)


if __name__ == "__main__":
    main()
