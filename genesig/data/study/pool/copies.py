"""One sample in two studies: series of GEO are often made of parts of earlier ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from genesig.data.steps.scale import looks_raw, sizes
from genesig.data.study.pool.record import Member
from genesig.errors import Problem
from genesig.words import listing, too

Array = np.ndarray[Any, Any]

ALIKE = 0.999
"""Correlation over the genes above which two samples are one. Technical replicates of one
hybridisation protocol stay below."""
ENOUGH = 100
"""Genes from which on a correlation says that; of fewer, the values must be equal."""


def check_copies(members: Sequence[Member], common: Sequence[str]) -> Iterator[Problem]:
    """Yield the samples that stand in two studies: what is left out would have been trained on."""
    values = [_comparable(member, common) for member in members]
    for (a, one), (b, other) in combinations(enumerate(members), 2):
        pairs = np.argwhere(_same(values[a], values[b]))
        if not len(pairs):
            continue
        first, second = (member.table.index[k] for member, k in zip((one, other), pairs[0],
                                                                     strict=True))  # fmt: skip
        what = f"'{first}' of '{one.name}' and '{second}' of '{other.name}' are one sample by their"
        what += f" values{too(len(pairs) - 1, 'pair')}; a study that is left out must be new: take "
        what += f"{listing([str(one.table.index[k]) for k in pairs[:, 0]])} out of '{one.name}'"
        yield Problem(one.where, what)


def _comparable(member: Member, common: Sequence[str]) -> Array:
    """Return the values of the common genes, logarithms where they look raw."""
    place = {gene: k for k, gene in enumerate(member.genes)}
    X = member.X[:, [place[gene] for gene in common]]
    if looks_raw(*sizes(X)[1:]):
        X = np.log2(np.maximum(X, 1.0))
    return X


def _same(X: Array, Z: Array) -> Array:
    """Return which samples of one are which of the other, (n, m) bool."""
    known = np.isfinite(X).all(axis=0) & np.isfinite(Z).all(axis=0)
    X, Z = X[:, known], Z[:, known]
    if X.shape[1] < ENOUGH:
        return np.array([[np.array_equal(x, z) for z in Z] for x in X], dtype=bool)
    return np.asarray(_unit(X) @ _unit(Z).T > ALIKE)


def _unit(X: Array) -> Array:
    centred = X - X.mean(axis=1, keepdims=True)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    return np.asarray(centred / np.where(length > 0, length, 1.0))
