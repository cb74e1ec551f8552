"""How often new samples are refused or doubted without a reason, and how often a fault is missed.

    python benchmarks/accuracy/new_samples.py [--halves 20]

A short linear model (the 4 or 15 genes with the largest t statistics, in their mean direction) is
made on a half of each given two-class data set, and holds the other half against it as ``genesig
predict`` does, by the model's genes and by those of its panel: as it is (false alarms), and in ln
in place of log2, less 2, plus 1, and with gene ids shifted by one row (misses: the calls of samples
change, more than one in ten, and nothing is said of them). Data sets that were never logged are
logged first.
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
CHANGES: dict[str, Callable[[Array], Array]] = {
    "as it is": lambda X: X,
    "ln": lambda X: X * np.log(2),
    "less 2": lambda X: X - 2,
    "plus 1": lambda X: X + 1,
    "ids shifted": lambda X: np.roll(X, 1, axis=1),
}
LENGTHS = (4, 15)


def read(name: str) -> tuple[Array, Array]:
    """Return log2 expression and the classes, ±1."""
    dataset = Source.of(name).read()
    X = dataset.X
    if looks_raw(*sizes(X)[1:]):
        X = np.log2(np.maximum(X, 16))
    return X[:, X.std(axis=0) > 0], dataset.response()


def halves(y: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the rows of two halves, with half of each class."""
    first_half = np.concatenate(
        [rng.permutation(np.flatnonzero(y == c))[: (y == c).sum() // 2] for c in (-1, 1)]
    )
    return first_half, np.setdiff1d(np.arange(len(y)), first_half)


def weights(X: Array, y: Array, length: int) -> tuple[Array, Array]:
    """Return the genes that differ most between the classes, by t, and their weights."""
    a = X[y > 0]
    b = X[y < 0]
    t = (a.mean(axis=0) - b.mean(axis=0)) / np.sqrt(a.var(axis=0) + b.var(axis=0) + 1e-3)
    genes = np.sort(np.argsort(-np.abs(t), kind="stable")[:length])
    return genes, np.sign(t[genes]) / X[:, genes].std(axis=0)


def measure_scale(
    X: Array, y: Array, length: int, new: Array
) -> Callable[[Array], dict[str, float]]:
    """Return what becomes of new samples X' that are the `new` ones changed."""
    genes, beta = weights(X, y, length)
    panel = panel_genes(X, genes)
    scale_of_training = training_scale(X[:, genes], y, [str(k) for k in genes])
    many = training_panel(X[:, panel], y, [str(k) for k in panel])
    cut = np.median(X[:, genes] @ beta)
    names = [str(k) for k in range(len(new))]

    def call(scores: Array) -> list[str]:
        return ["above" if score > cut else "below" for score in scores]

    def outcome(changed: Array) -> dict[str, float]:
        P = changed[:, panel]
        S = changed[:, genes]
        of_panel = ComparedValues(P, np.ones(P.shape, dtype=bool), names, many)
        of_model = ComparedValues(S, np.ones(S.shape, dtype=bool), names, scale_of_training)
        scores = S @ beta
        shift = common_shift(of_panel)
        doubts = call_doubts(call(scores), call(scores - shift * beta.sum()), shift)
        odd = {row for row, _ in panel_doubts(of_panel)}
        all_odd = len(odd) == len(names)
        doubts = [doubt or ("odd" if row in odd else "") for row, doubt in enumerate(doubts)]
        is_changed = [a != b for a, b in zip(call(scores), call(new[:, genes] @ beta), strict=True)]
        before = describe_scale_fault(of_model) is not None
        refused = before or bool(panel_fault(of_panel))
        silent = any(m and not s for m, s in zip(is_changed, doubts, strict=True))
        return {
            "refused by the model's genes": before,
            "refused": refused,
            "files in doubt": not refused and (all_odd or (shift != 0 and any(doubts))),
            "samples in doubt": 0.0 if refused or all_odd else len(odd) / len(names),
            "samples named odd": len(find_odd_samples(of_model)) / len(names),
            "calls changed, not refused": not refused and any(is_changed),
            "missed": not refused and silent and np.mean(is_changed) > 0.1,
        }

    return outcome


def main() -> None:
    """Print shares over data sets, lengths and halves."""
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
                outcome = measure_scale(X[first_half], y[first_half], length, X[second_half])
                rows += [
                    {
                        "data": name,
                        "genes": length,
                        "half": number,
                        "change": change,
                        **outcome(turn(X[second_half])),
                    }
                    for change, turn in CHANGES.items()
                ]
    table = pd.DataFrame(rows)
    numbers = table.columns[4:]
    print(table.groupby(["change", "genes"], sort=False)[list(numbers)].mean().round(4).to_string())
    print(table[table["change"] == "as it is"].groupby("data")[list(numbers)].mean().to_string())
    missed = table.pivot_table(index="data", columns="change", values="missed")
    print("missed\n" + missed[missed.any(axis=1)].round(3).to_string())


if __name__ == "__main__":
    main()
