"""Trials of a nonlinear signal: the page names the method that finds it, and none in noise.

Every method learns the gene of the largest difference of means, of the gene itself (the linear
models) or of a function of each gene.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from certificate import Array, Claim, Trial
from intervals import KINDS, Drawn, cross_validated

from genesig.report.answer.collect import better_method
from genesig.selection.assess.assessment import assess, compare_errors
from genesig.selection.assess.kinds import ASSESSMENT_KINDS, HeldOutScores

N_SAMPLES = 60
N_GENES = 100
HEADLINE = ASSESSMENT_KINDS["classification"].headline
METHODS: dict[str, Callable[[Array], Array]] = {
    "square": np.square,
    "size": np.abs,
    "cube": lambda X: X**3,
    "wave": np.sin,
    "step": np.sign,
}


def best_gene(X: Array, y: Array) -> tuple[Array, float]:
    """Return the weight of the gene of the largest difference of means, and the intercept."""
    low = X[y < 0].mean(axis=0)
    high = X[y > 0].mean(axis=0)
    class_distance = (high - low) / X.std(axis=0)
    weights = np.where(np.abs(class_distance) == np.abs(class_distance).max(), high - low, 0.0)
    return weights, -float((low + high) @ weights) / 2


TWO = KINDS["classification"]._replace(learned=best_gene)


def study(seed: int, kind: str) -> tuple[Array, Array]:
    """Return X (n, d) and y = ±1 by the square of the first gene, or by nothing."""
    rng = np.random.default_rng((47, seed))
    X = rng.standard_normal((N_SAMPLES, N_GENES))
    noise = rng.standard_normal(N_SAMPLES)
    value = X[:, 0] ** 2 + 0.1 * noise if kind == "square" else noise
    return X, np.where(value > np.median(value), 1.0, -1.0)


def named(seed: int, kind: str) -> Mapping[str, float]:
    """Return whether the first screen names another method, and whether it is the right one."""
    X, y = study(seed, kind)

    def held_out(values: Array) -> HeldOutScores:
        folds = np.random.default_rng((53, seed))  # every method on the same splits
        return cross_validated(folds, TWO, Drawn(values, y, np.arange(N_SAMPLES)))

    linear = held_out(X)
    rows = []
    for name, function in METHODS.items():
        held_out_scores = held_out(function(X))
        (assessment,) = assess(held_out_scores, HEADLINE)
        difference_interval = compare_errors(held_out_scores, linear, 0, HEADLINE)[2:]
        limits = dict(
            zip(
                ("difference", "difference_low", "difference_high"),
                difference_interval,
                strict=True,
            )
        )
        rows.append(
            {
                "model": name,
                "error": assessment.error,
                "low": assessment.low,
                "high": assessment.high,
            }
            | limits
        )
    conclusion = better_method(rows, 0.5)
    return {
        "other": float(conclusion is not None),
        "right": float(conclusion is not None and conclusion["model"] in ("square", "size")),
    }


TOPIC = "a signal that is no line"
FIRST_SCREEN_NOTE = "first screen: another method predicts"


def _trial(kind: str, data: str, claim: Claim) -> Trial:
    text = f"60 samples, 100 genes, the linear models and five other methods; {data}"
    return Trial(TOPIC, text, partial(named, kind=kind), (claim,), draws=400, few=6)


TRIALS = (
    _trial(
        "square",
        "the class goes by the square of a gene",
        Claim("right", FIRST_SCREEN_NOTE, "named in at least 90 %", 0.9, 1.0),
    ),
    _trial(
        "noise",
        "the class goes by nothing",
        Claim("other", FIRST_SCREEN_NOTE, "named in at most 5 %", 0.0, 0.05),
    ),
)
