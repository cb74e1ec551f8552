"""False alarms and missed faults of the checks of new samples by `genesig predict`.

    python benchmarks/accuracy/new_samples.py [--halves 20]

A short linear model (the 4 or 15 genes of the largest |t|, with the sign of t) is fitted on a half
of each two-class data set of answers.py. Its checks, by the model's genes and by its panel,
compare the other half: as it is (false alarms), and in ln instead of log2, less 2, plus 1, and with
gene ids shifted by one column. A fault is missed if more than one in ten samples changes its class
and a changed sample has no doubt. Data sets without logarithms are logged first.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from answers_data import OTHER_SOURCES, PUBLISHED, Source

from genesig.data.steps.scale import looks_raw, sizes
from genesig.selection.model.same_scale import (
    ComparedValues,
    call_doubts,
    common_shift,
    describe_scale_fault,
    find_odd_samples,
    panel_doubts,
    panel_fault,
    panel_genes,
    training_panel,
    training_scale,
)

Array = np.ndarray[Any, Any]
# Name -> change of new samples X.
CHANGES: dict[str, Callable[[Array], Array]] = {
    "as it is": lambda X: X,
    "ln": lambda X: X * np.log(2),
    "less 2": lambda X: X - 2,
    "plus 1": lambda X: X + 1,
    "ids shifted": lambda X: np.roll(X, 1, axis=1),
}
LENGTHS = (4, 15)  # genes of a model


def read(name: str) -> tuple[Array, Array]:
    """Return log2 expression without constant genes, and the classes, ±1."""
    dataset = Source.from_text(name).read()
    X = dataset.X
    if looks_raw(*sizes(X)[1:]):
        X = np.log2(np.maximum(X, 16))
    return X[:, X.std(axis=0) > 0], dataset.response()


def halves(y: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the rows of two random halves, each with half of each class."""
    first_half = np.concatenate(
        [rng.permutation(np.flatnonzero(y == c))[: (y == c).sum() // 2] for c in (-1, 1)]
    )
    return first_half, np.setdiff1d(np.arange(len(y)), first_half)


def fit_model(X: Array, y: Array, length: int) -> tuple[Array, Array]:
    """Return the genes of the largest |t|, ascending, and their weights."""
    a = X[y > 0]
    b = X[y < 0]
    t = (a.mean(axis=0) - b.mean(axis=0)) / np.sqrt(a.var(axis=0) + b.var(axis=0) + 1e-3)
    genes = np.sort(np.argsort(-np.abs(t), kind="stable")[:length])
    return genes, np.sign(t[genes]) / X[:, genes].std(axis=0)


def measure_checks(
    X: Array, y: Array, length: int, new: Array
) -> Callable[[Array], dict[str, float]]:
    """Return a function of changed new samples: outcomes of their checks by a model of X and y.

    new: the new samples before the change.
    """
    genes, beta = fit_model(X, y, length)
    panel = panel_genes(X, genes)
    scale_of_training = training_scale(X[:, genes], y, [str(k) for k in genes])
    scale_of_panel = training_panel(X[:, panel], y, [str(k) for k in panel])
    cut = np.median(X[:, genes] @ beta)
    names = [str(k) for k in range(len(new))]

    def classes(scores: Array) -> list[str]:
        return ["above" if score > cut else "below" for score in scores]

    def outcome(changed: Array) -> dict[str, float]:
        P = changed[:, panel]
        M = changed[:, genes]
        panel_values = ComparedValues(P, np.ones(P.shape, dtype=bool), names, scale_of_panel)
        model_values = ComparedValues(M, np.ones(M.shape, dtype=bool), names, scale_of_training)
        scores = M @ beta
        shift = common_shift(panel_values)
        doubts = call_doubts(classes(scores), classes(scores - shift * beta.sum()), shift)
        odd = {row for row, _ in panel_doubts(panel_values)}
        all_odd = len(odd) == len(names)
        doubts = [doubt or ("odd" if row in odd else "") for row, doubt in enumerate(doubts)]
        old_classes = classes(new[:, genes] @ beta)
        is_changed = [a != b for a, b in zip(classes(scores), old_classes, strict=True)]
        has_model_fault = describe_scale_fault(model_values) is not None
        refused = has_model_fault or bool(panel_fault(panel_values))
        undoubted = [change for change, doubt in zip(is_changed, doubts, strict=True) if not doubt]
        return {
            "refused by the model's genes": has_model_fault,
            "refused": refused,
            "files in doubt": not refused and (all_odd or (shift != 0 and any(doubts))),
            "samples in doubt": 0.0 if refused or all_odd else len(odd) / len(names),
            "odd samples": len(find_odd_samples(model_values)) / len(names),
            "classes changed, not refused": not refused and any(is_changed),
            "missed": not refused and any(undoubted) and np.mean(is_changed) > 0.1,
        }

    return outcome


def main() -> None:
    """Print mean outcomes over data sets and halves, by change and by data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--halves", type=int, default=20)
    options = parser.parse_args()
    rows = []
    for name in {**PUBLISHED, **OTHER_SOURCES}:
        X, y = read(name)
        rng = np.random.default_rng(5)
        for number in range(options.halves):
            first_half, second_half = halves(y, rng)
            for length in LENGTHS:
                outcome = measure_checks(X[first_half], y[first_half], length, X[second_half])
                rows += [
                    {
                        "data": name,
                        "genes": length,
                        "half": number,
                        "change": change,
                        **outcome(apply_change(X[second_half])),
                    }
                    for change, apply_change in CHANGES.items()
                ]
    table = pd.DataFrame(rows)
    outcomes = list(table.columns[4:])
    print(table.groupby(["change", "genes"], sort=False)[outcomes].mean().round(4).to_string())
    print(table[table["change"] == "as it is"].groupby("data")[outcomes].mean().to_string())
    missed = table.pivot_table(index="data", columns="change", values="missed")
    print("missed\n" + missed[missed.any(axis=1)].round(3).to_string())


if __name__ == "__main__":
    main()
