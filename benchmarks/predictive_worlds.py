"""Simulated worlds of two classes: few or many genes differ, or whole programs of genes."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
N_GENES = 2000
N_NEW = 400  # new samples

SPARSE = ("few", "tails", "weak", "pathways", "subclass", "mixed")
"""Worlds with a background of 40 factors, in which some genes or small sets of genes differ."""

DENSE = {
    "programs .35": 0.35,
    "programs .7": 0.7,
    "markers": 0.25,
    "outliers": 0.5,
    "subtypes": 0.5,
    "one program": 0.0,
}
"""Worlds of thirty programs of 240 genes each -> SD over programs of the class difference."""

WORLDS = (*SPARSE, *DENSE)


def draw_samples(name: str, n: int, share: float, seed: int) -> tuple[Array, Array]:
    """Return X (n + 400, 2000) and y = ±1; the first n samples train.

    share: of the class +1, exactly in training samples, in the mean in new samples.
    """
    rng = np.random.default_rng((WORLDS.index(name), n, seed))
    y = np.where(rng.random(n + N_NEW) < share, 1.0, -1.0)
    y[:n] = rng.permutation(np.where(np.arange(n) < round(share * n), 1.0, -1.0))
    draw_expression = _draw_dense if name in DENSE else _draw_sparse
    return draw_expression(name, (y > 0).astype(float), rng), y


def _draw_sparse(name: str, c: Array, rng: np.random.Generator) -> Array:
    """Return X (N, 2000) of a sparse world; c (N,): 1 for the class +1, else 0."""
    N = len(c)
    d = N_GENES

    def draw(*size: int) -> Array:
        """Return values of mean 0 and variance 1."""
        return rng.standard_t(3, size) / np.sqrt(3) if name == "tails" else rng.normal(size=size)

    loadings = rng.normal(size=(40, d)) * (rng.random((40, d)) < 0.1)
    X = 0.6 * (draw(N, 40) * np.geomspace(2, 0.5, 40)) @ loadings + draw(N, d)
    genes = rng.permutation(d)
    if name in ("few", "tails"):
        for first_gene in 10 * genes[genes < d // 10][:10]:
            X[:, first_gene : first_gene + 10] += 0.7 * draw(N, 1)
            X[:, first_gene] += 1.3 * c
    elif name == "weak":
        X[:, genes[:200]] += np.outer(c, rng.normal(0, 0.35, 200))
    elif name == "pathways":
        for pathway_genes in np.split(genes[:180], 3):
            X[:, pathway_genes] += np.outer(draw(N) + 0.9 * c, rng.normal(0, 0.6, 60))
    elif name == "subclass":
        is_first = rng.random(N) < 0.5
        for is_subclass, subclass_genes in ((is_first, genes[:40]), (~is_first, genes[40:80])):
            X[:, subclass_genes] += np.outer(1.5 * c * is_subclass, rng.uniform(-1, 1, 40))
    else:  # mixed
        X[:, genes[:2]] += 1.2 * c[:, None]
        X[:, genes[2:102]] += np.outer(c, rng.normal(0, 0.3, 100))
        X *= 10 ** rng.uniform(-0.5, 0.5, d)
    return X


def _draw_dense(name: str, c: Array, rng: np.random.Generator) -> Array:
    """Return X (N, 2000) of a dense world; c (N,): 1 for the class +1, else 0."""
    N = len(c)
    d = N_GENES
    k = 30
    loadings = rng.normal(size=(k, d)) * (rng.random((k, d)) < 0.12)
    shifts = rng.normal(0, 1, k) * DENSE[name]
    if name == "one program":
        shifts[rng.integers(k)] = 2.0
    F = rng.normal(size=(N, k)) + np.outer(c, shifts)
    if name == "subtypes":
        F += np.outer(c * (rng.random(N) < 0.4), rng.normal(0, 0.8, k))
    noise = rng.normal(size=(N, d)) * np.exp(rng.normal(0, 0.3, d))
    X = (F * np.geomspace(1.5, 0.4, k)) @ loadings + noise
    if name == "markers":
        X[:, rng.permutation(d)[:15]] += np.outer(c, rng.uniform(0.5, 1.5, 15))
    if name == "outliers":
        is_outlier = rng.random(N) < 0.1
        X += 0.5 * rng.standard_t(3, (N, d))
        X += np.outer(is_outlier * rng.normal(size=N), rng.normal(0, 1, d))
    return X * 10 ** rng.uniform(-0.3, 0.3, d)
