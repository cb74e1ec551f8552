"""Gene sets of several sizes and correlations in noise, and how often each kind wins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from genesig.optim.structured.columns import Blocks, Columns
from genesig.optim.structured.path import block_paths, tau_maxima
from genesig.optim.structured.weights import equal_chance_weights

Array = np.ndarray[Any, Any]
Kinds = Sequence[tuple[int, float]]  # genes in a set, their correlation

FOUR_KINDS: Kinds = ((10, 0.0), (10, 0.5), (30, 0.0), (30, 0.5))
NINE_KINDS: Kinds = tuple((size, r) for size in (10, 40, 100) for r in (0.0, 0.3, 0.9))
FIRST_TAU = 0.1 ** (1 / 15)  # of tau_max: the largest of the default grid


class NoiseSets(NamedTuple):
    """Standardised genes (n, d), blocks of equal weight, and the kind of each block."""

    X: Array
    blocks: Blocks
    kind: Array


def noise_sets(
    rng: np.random.Generator, n: int, kinds: Kinds, n_sets: int, shared: float = 0.0
) -> NoiseSets:
    """Draw disjoint sets of all kinds in equal number.

    shared is the part of each set that is replaced by genes of the set before.
    """
    genes = []
    lists = []
    kind = []
    start = 0
    for k in range(n_sets):
        size, r = kinds[k % len(kinds)]
        common = np.sqrt(r) * rng.standard_normal((n, 1)) * rng.choice([-1, 1], size)
        genes.append(common + np.sqrt(1 - r) * rng.standard_normal((n, size)))
        members = np.arange(start, start + size)
        n_shared = min(int(shared * size), start)
        lists.append(members if not n_shared else members - n_shared)
        kind.append(k % len(kinds))
        start += size
    X = np.concatenate(genes, axis=1)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return NoiseSets(X, Blocks.from_lists(lists, np.ones(n_sets)), np.array(kind))


def permuted_classes(rng: np.random.Generator, n: int, count: int) -> Array:
    """Return two classes of equal size as -1 and 1, permuted, (n, count, 1)."""
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    return np.stack([rng.permutation(y) for _ in range(count)], axis=1)[:, :, None]


def weighted_blocks(rng: np.random.Generator, sets: NoiseSets) -> Blocks:
    """Return the blocks with the weights of a study."""
    X, blocks, _ = sets
    permuted = permuted_classes(rng, len(X), 200)
    weights = equal_chance_weights(X, permuted[:, 0], permuted, blocks.members, blocks.starts)
    return Blocks(blocks.members, blocks.starts, weights)


def first_shares(rng: np.random.Generator, sets: NoiseSets, count: int) -> Array:
    """Return the share of permutations in which a set of each kind is the first to come in."""
    blocks = weighted_blocks(rng, sets)
    responses = permuted_classes(rng, len(sets.X), count).transpose(1, 0, 2)
    norms = np.sqrt(Columns(sets.X, blocks).squared_products(responses)) / blocks.weights
    return np.bincount(sets.kind[norms.argmax(axis=1)], minlength=sets.kind.max() + 1) / count


def listed_shares(rng: np.random.Generator, sets: NoiseSets, count: int) -> Array:
    """Return the share of each kind in the lists of the first tau, over permutations."""
    design = Columns(sets.X, weighted_blocks(rng, sets))
    responses = permuted_classes(rng, len(sets.X), count).transpose(1, 0, 2)
    tau = FIRST_TAU * tau_maxima(design, responses)[:, None]
    mu = 1e-3 * np.linalg.norm(sets.X, 2) ** 2 / len(sets.X)
    paths = block_paths(design, responses, tau, mu, tolerance=1e-6)
    selected = np.concatenate([path.support(0) for path in paths])
    return np.bincount(sets.kind[selected], minlength=sets.kind.max() + 1) / len(selected)
