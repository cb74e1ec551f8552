"""Simulated worlds of two classes, from few genes that tell them apart to whole programs."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
GENES = 2000
UNSEEN = 400

SPARSE = ("few", "tails", "weak", "pathways", "subclass", "mixed")
"""Background of 40 factors; what tells the classes apart are some genes, or three small sets."""

DENSE = {
    "programs .35": 0.35,
    "programs .7": 0.7,
    "markers": 0.25,
    "outliers": 0.5,
    "subtypes": 0.5,
    "one program": 0.0,
}
"""Thirty programs of 240 genes each, and by how much they move between the classes, in SD."""

WORLDS = (*SPARSE, *DENSE)


def world(name: str, n: int, share: float, seed: int) -> tuple[Array, Array]:
    """Return X (n + 400, 2000) and y = ±1; the first n samples train, `share` of them are +1."""
    rng = np.random.default_rng((WORLDS.index(name), n, seed))
    y = np.where(rng.random(n + UNSEEN) < share, 1.0, -1.0)
    y[:n] = rng.permutation(np.where(np.arange(n) < round(share * n), 1.0, -1.0))
    draw_world = _dense if name in DENSE else _sparse
    return draw_world(name, (y > 0).astype(float), rng), y


def _sparse(name: str, c: Array, rng: np.random.Generator) -> Array:
    N = len(c)
    d = GENES

    def draw(*size: int) -> Array:
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
        half = rng.random(N) < 0.5
        for part, pathway_genes in ((half, genes[:40]), (~half, genes[40:80])):
            X[:, pathway_genes] += np.outer(1.5 * c * part, rng.uniform(-1, 1, 40))
    else:
        X[:, genes[:2]] += 1.2 * c[:, None]
        X[:, genes[2:102]] += np.outer(c, rng.normal(0, 0.3, 100))
        X *= 10 ** rng.uniform(-0.5, 0.5, d)
    return X


def _dense(name: str, c: Array, rng: np.random.Generator) -> Array:
    N = len(c)
    d = GENES
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
