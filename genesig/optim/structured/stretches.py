"""Stretches of a genome: neighbours that share a weight, few at once (the sparse fused lasso).

    Omega(b) = sum_j |b_j| + jump sum_j |b_{j+1} - b_j|,  b = 0 beyond the ends of a chromosome

A stretch of l features and height h costs (l + 2 jump) |h|, so that it is worth its ends: the norm
is that of the atoms ``± 1_I / (len(I) + 2 jump)``, and its dual norm the largest of them.

Source: Tibshirani et al. 2005, Sparsity and smoothness via the fused lasso.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from genesig.compiled.steps import fuse, steepest
from genesig.genome.order import Genome

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Stretches:
    """The norm of coefficients b (d,) in the order of the genome; ``jump >= 0``."""

    genome: Genome
    jump: float

    def value(self, b: Array) -> float:
        """Return Omega(b)."""
        parts = np.split(b, self.genome.starts[1:])
        jumps = sum(np.abs(np.diff(part, prepend=0.0, append=0.0)).sum() for part in parts)
        return float(np.abs(b).sum() + self.jump * jumps)

    def dual(self, g: Array) -> float:
        """Return ``max_I |sum of g over I| / (len(I) + 2 jump)``, I a stretch of a chromosome."""
        return float(steepest(np.ascontiguousarray(g), self.genome.starts, float(self.jump)))

    def prox(self, z: Array, level: float) -> Array:
        """Return ``argmin_b ||b - z||²/2 + level Omega(b)``."""
        b = np.empty(len(z))
        fuse(np.ascontiguousarray(z), self.genome.starts, float(level), float(self.jump), b)
        return b

    def pattern(self, b: Array) -> Pattern:
        """Return the stretches of b on which it is not 0."""
        begins = np.concatenate([[True], b[1:] != b[:-1]])
        begins[self.genome.starts] = True
        first = np.flatnonzero(begins)
        stop, there = np.append(first[1:], len(b)), b[first] != 0
        chromosome = np.zeros(len(b), dtype=bool)
        chromosome[self.genome.starts] = True
        first, stop = first[there], stop[there]
        joined = (first == np.concatenate([[-1], stop[:-1]])) & ~chromosome[first]
        return Pattern(first, stop, joined, b[first])


class Pattern(NamedTuple):
    """K stretches of coefficients that are not 0.

    Attributes
    ----------
    first, stop : (K,) int
        Features of each, ``first <= j < stop``, in the order of the genome.
    joined : (K,) bool
        Whether it touches the one before it, on the same chromosome.
    level : (K,) float
    """

    first: Array
    stop: Array
    joined: Array
    level: Array

    def spread(self, d: int) -> Array:
        """Return the coefficients, (d,)."""
        b = np.zeros(d)
        size = self.stop - self.first
        offset = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        b[np.repeat(self.first, size) + offset] = np.repeat(self.level, size)
        return b

    def neighbours(self) -> tuple[Array, Array]:
        """Return the level before and after each stretch, 0 where it touches none."""
        c, joined = self.level, self.joined
        before = np.where(joined, np.concatenate([[0.0], c[:-1]]), 0.0)
        after = np.where(np.append(joined[1:], False), np.append(c[1:], 0.0), 0.0)
        return before, after

    def take(self, kept: Array) -> Pattern:
        """Return some of the stretches, (K,) bool; what is left out is 0."""
        before = np.concatenate([[False], kept[:-1]])
        joined = self.joined & before
        return Pattern(self.first[kept], self.stop[kept], joined[kept], self.level[kept])
