"""Simulated data with known truth: toy problems of the literature and two kinds of noise.

Every generator takes the random stream as its argument. Source of the toys: Mosci (2009),
sections 4.2 and 6.4; of the paired design: the layout of section 7.2 (nine lines, two states).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from genesig.results import Dataset, Design

BLOCKS = np.repeat([0, 1, 2, -1], [10, 10, 10, 20])
"""Block of each feature of `three_blocks`; -1 carries no information."""

SPREAD = {1: 0.1, 2: 0.1, 3: 0.0}
FLIPPED = {1: 0.0, 2: 0.01, 3: 0.0}


def sparse_regression(rng, n_samples, n_features=1000):
    """y = x_1 + x_2 + x_3 + 0.5 e; x uniform on [-1, 1], e standard normal (section 4.2)."""
    X = rng.uniform(-1, 1, (n_samples, n_features))
    return X, X[:, :3].sum(axis=1) + 0.5 * rng.standard_normal(n_samples)


def three_blocks(rng, variant, n_samples=30):
    """Three blocks of ten features around ±0.5 prototypes, twenty of noise (section 6.4).

    y = sign(x_1 + x_11 + x_21), turned round with a small probability in variant 2. Variants 1
    and 2 add normal noise of sd 0.1 to copies of the prototype, variant 3 shrinks exact copies
    by 1 - i/10.
    """
    X = rng.choice([-0.5, 0.5], (n_samples, 50))
    shrink = 1 - np.arange(10) / 10 if variant == 3 else np.ones(10)
    for block_start in (0, 10, 20):
        noise = SPREAD[variant] * rng.standard_normal((n_samples, 10))
        noise[:, 0] = 0
        X[:, block_start : block_start + 10] = X[:, [block_start]] * shrink + noise
    y = np.sign(X[:, [0, 10, 20]].sum(axis=1))
    return X, np.where(rng.random(n_samples) < FLIPPED[variant], -y, y)


def noise(rng, n_samples=30, n_features=5000):
    """Return independent standard normal features and labels, half of each, in random order."""
    X = rng.standard_normal((n_samples, n_features))
    return X, rng.permutation(np.tile([-1.0, 1.0], n_samples // 2))


def unequal_classes(rng, n_samples, n_features, share=0.25, telling=3, shift=2.0):
    """Normal features; the first `telling` are shifted in the positive `share` of the samples."""
    y = np.where(np.arange(n_samples) < round(share * n_samples), 1.0, -1.0)
    X = rng.standard_normal((n_samples, n_features))
    X[:, :telling] += shift * (y[:, None] > 0)
    return X, y


def paired_lines(rng, n_lines=9, n_features=2000, own_effect=1.0):
    """Lines measured in both states, without any effect of the state.

    x = line effect (sd 1) + `own_effect` e. Returns X, y and the line of each row.
    """
    lines = np.repeat(rng.standard_normal((n_lines, n_features)), 2, axis=0)
    X = lines + own_effect * rng.standard_normal(lines.shape)
    return X, np.tile([-1.0, 1.0], n_lines), np.repeat(np.arange(n_lines), 2)


def dataset(X, y, lines=None):
    """Put a toy into the record that the stages read, genes g0, g1, … and samples s0, s1, …."""
    obs = {"state": np.where(y > 0, "b", "a")}
    if lines is not None:
        obs["line"] = [f"line {line}" for line in lines]
    genes = [f"g{j}" for j in range(X.shape[1])]
    group = None if lines is None else "line"
    return Dataset(
        X=X,
        obs=pd.DataFrame(obs, index=[f"s{i}" for i in range(len(y))], dtype=str),
        var=pd.DataFrame({"symbol": genes}, index=genes),
        design=Design("state", "classification", ("a", "b"), group=group, pair=group),
        provenance={"dropped": [], "steps": [], "inputs": {}, "warnings": []},
    )
