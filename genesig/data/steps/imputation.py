"""Missing values, from genes that behave alike in the training samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from genesig.compiled.near import Samples

Array = np.ndarray[Any, Any]

MOST_MISSING = 0.5
TOGETHER, NUMBERS = 256, 20_000_000
"""Most sets of training samples whose neighbours are sought at once, and numbers of neighbours."""
LIKELY = 5
"""Times as many neighbours over all samples as are sought in each set, to begin with."""


class Near(NamedTuple):
    """Genes wanted (q,), ascending, and the nearest to each, (q, k); -1 where there is none."""

    wanted: Array
    near: Array

    def of(self, wanted: Array) -> Array | None:
        """Return the nearest of some of the genes; None where one is not among them."""
        known = np.isin(wanted, self.wanted).all()
        return self.near[np.searchsorted(self.wanted, wanted)] if known else None


@dataclass(frozen=True, eq=False)
class KnnImpute:
    """``x_ij = mean over the k genes nearest to j of their values in sample i``.

    Genes are near by their mean squared difference over the training samples that have both;
    neighbours that the sample misses, too, are left out. Where it misses all of them, and for a
    gene that more than half of the training samples miss, the value is the sample's mean over the
    other genes.

    Attributes
    ----------
    donors : (n_train, n_genes) float
        The training samples, NaN where a value is missing.
    neighbours : int
        k.
    near : Near or None
        Nearest genes that were found before, for many sets of training samples at once.

    Notes
    -----
    O. Troyanskaya et al. (2001), Bioinformatics 17:520. On the training samples the numbers of
    impute.knn, as long as that looks at all genes together (``maxp``, 1500 of them).
    """

    donors: Array
    neighbours: int
    near: Near | None = field(default=None, metadata={"stored": False})
    kind: ClassVar[Literal["fold"]] = "fold"
    genes: ClassVar[None] = None

    @classmethod
    def fit(cls, X: Array, *, neighbours: int, near: Near | None = None) -> KnnImpute:
        """Keep the training samples."""
        return cls(X.copy(), neighbours, near)

    @classmethod
    def together(
        cls, X: Array, trains: Sequence[Array], *, neighbours: int
    ) -> Iterator[dict[str, Any]]:  # fmt: skip
        """Yield, for each set of training rows of X, the settings with the neighbours there."""
        wanted = np.flatnonzero(np.isnan(X).any(axis=0))
        many = int(np.clip(NUMBERS // max(1, len(wanted) * neighbours), 1, TOGETHER))
        # Genes that are near over all samples are likely to be near in a set, and change no answer.
        whole = [np.arange(len(X))]
        seeds = _nearest(X, whole, wanted, LIKELY * neighbours)[0] if len(trains) > 1 else None
        for first in range(0, len(trains), many):
            for near in _nearest(X, trains[first : first + many], wanted, neighbours, seeds):
                yield {"neighbours": neighbours, "near": Near(wanted, near)}

    def transform(self, X: Array) -> Array:
        """Fill in what is NaN; what is not stays."""
        from genesig.compiled.neighbours import fill  # here, as every job imports this module

        X = np.ascontiguousarray(X, dtype=np.float64)
        missing = np.isnan(X)
        if not missing.any():
            return X
        donors = np.asarray(self.donors, dtype=np.float64)
        usable = _usable(donors)
        filled = np.where(missing, _own_means(X, usable)[:, None], X)
        wanted = np.flatnonzero(missing.any(axis=0) & usable)
        near = None if self.near is None else self.near.of(wanted)
        if near is None:
            near = _nearest(donors, [np.arange(len(donors))], wanted, self.neighbours)[0]
        most = max(1, min(self.neighbours, usable.sum() - 1))
        fill(X, wanted, np.ascontiguousarray(near[:, :most]), filled)
        return filled


def _usable(donors: Array) -> Array:
    return np.asarray((~np.isnan(donors)).mean(axis=0) >= 1 - MOST_MISSING)


def _nearest(
    X: Array, trains: Sequence[Array], wanted: Array, k: int, seeds: Array | None = None
) -> Array:
    """Return the k nearest usable genes to each one wanted on some rows of X, (T, q, k); or -1."""
    # Here, as every job imports this module.
    from genesig.compiled.lanes import LANES
    from genesig.compiled.near import Genes, room_for, whole_lines
    from genesig.compiled.neighbours import nearest
    from genesig.compiled.subsets import SHORTS

    here = ~np.isnan(X)
    size = np.max(np.abs(X), where=here, initial=0)
    X = np.ldexp(X, -np.frexp(size)[1])  # a power of two loses nothing
    centre = X[here].mean() if here.any() else 0.0
    single = (X - centre).astype(np.float32)  # smaller, so more digits
    wide = whole_lines((X.shape[1], len(X) + -len(X) % LANES), np.float64)
    wide[:, : len(X)], wide[:, len(X) :] = X.T, np.nan
    genes = Genes(wide, np.ascontiguousarray(single.T), _tiles(single, SHORTS))
    near = np.full((len(trains), len(wanted), max(1, min(k, X.shape[1] - 1))), -1, np.int32)
    seeds = np.full((len(wanted), 0), -1, np.int32) if seeds is None else seeds
    samples = _samples(X, trains)
    nearest(genes, samples, room_for(genes, samples, near.shape[2]), wanted, seeds, near)
    return near


def _samples(X: Array, trains: Sequence[Array]) -> Samples:
    """Describe sets of rows of X."""
    from genesig.compiled.lanes import LANES
    from genesig.compiled.near import Samples, whole_lines
    from genesig.compiled.tiles import DOUBLES

    T, n = len(trains), len(X)
    size = np.array([len(train) for train in trains])
    rows, out = np.zeros((T, size.max()), np.int64), np.full((T, n - size.min()), n, np.int32)
    inside = whole_lines((n, T + -T % DOUBLES), np.float64)
    for t, train in enumerate(trains):
        rows[t, : size[t]], inside[train, t] = train, 1
        out[t, : n - size[t]] = np.flatnonzero(inside[:, t] == 0)
    outside = whole_lines((T, n + -n % LANES), np.float64)
    outside[:, :n][inside[:, :T].T == 0] = np.nan
    usable = np.zeros((T, -(-X.shape[1] // 64), 64), bool)
    usable.reshape(T, -1)[:, : X.shape[1]] = [_usable(X[train]) for train in trains]
    bits = np.packbits(usable, axis=2, bitorder="little").view("<i8")[..., 0].astype(np.int64)
    return Samples(rows, size, inside, outside, out, bits)


def _tiles(values: Array, width: int) -> Array:
    """Return the columns of a table in groups of `width`, (t, rows, width), NaN beyond them."""
    from genesig.compiled.near import whole_lines

    rows, d = values.shape
    tiles = whole_lines((-(-d // width), rows, width), values.dtype)
    tiles[-1:] = np.nan
    for number, tile in enumerate(tiles):
        part = values[:, number * width :][:, :width]
        tile[:, : part.shape[1]] = part
    return tiles


def _own_means(X: Array, usable: Array) -> Array:
    """Return each sample's mean over the genes it has; 0 for a sample that has none."""
    there = usable & ~np.isnan(X)
    return np.asarray(np.where(there, X, 0).sum(axis=1) / np.maximum(there.sum(axis=1), 1))
