"""Ridge refit (regularised least squares) on selected supports, for many lam at once.

One eigendecomposition serves all lam: of the Gram matrix of the features, of that of the samples
where a support has more features than training rows, or of neither where some lam is so small
that it would be lost in a Gram matrix: then of Z itself, by singular values. Neighbours on a path
share that of their common features, the core C: with ``G_CC = Q T Q'``, ``F = Q'G_CE`` and the
extras E of a support, for each rho = n lam,

    (G_EE + rho I - F'(T + rho I)^-1 F) b_E = Z_E'y - F'(T + rho I)^-1 Q'Z_C'y,
    b_C = Q (T + rho I)^-1 (Q'Z_C'y - F b_E).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.optim.solution import Path
from genesig.optim.training import Standardised, TrainingSets, part_of, standardised

TINY = 1e-9  # below this share of the trace, a Gram matrix would lose n lam
RANK = 1e-12  # singular values below this share of the largest are the rounding of the means
SHARED = 4  # as many features as this times the samples have one Gram matrix for all supports
SMALL = 64  # features up to which supports are solved by themselves, but many in one call
STEP = 8  # by which the sizes of these differ
EXTRAS = 0.25  # features that not all of a group of large supports have, as a share of its core


def refit_scores(
    sets: TrainingSets, path: Path, lam: Array | float, rows: Array | None = None
) -> Array:  # fmt: skip
    """Return ``f(x) = y_mean + z_A'b`` with ``b = (Z_A'Z_A + n lam I)^+ Z_A'y`` for every lam.

    Parameters
    ----------
    sets : TrainingSets
    path : Path
        Supports A of (k, m) fits.
    lam : float or array that broadcasts to (k, L)
        Absolute; 0 gives the minimum-norm least squares solution.
    rows : (n, k) bool, optional
        The rows to score, training or not, of each training set: all, unless given.

    Returns
    -------
    (k, m, L, n) array
        NaN for rows that are not to be scored. An empty support predicts y_mean. Covariates of the
        sets, which have no penalty, are in the scores of every row.

    Source: Mosci 2009, eq. 4.2, closed form with the factor n (section 4.5).
    """
    k, m = path.shape
    lam = np.atleast_2d(np.asarray(lam, float))
    lam = np.broadcast_to(lam, (k, lam.shape[1])).copy()
    scores, wanted = room_for_scores((k, m, lam.shape[1], len(sets.X), 1), rows)
    refit_all(sets, sets.every.y[:, None], path, lam, sets.y_mean[:, None], scores, wanted)
    if sets.adjustment is not None:
        scores += sets.adjustment.scores(sets.of_y)[:, None, None, :, None]
    return scores[..., 0]


def room_for_scores(shape: tuple[int, ...], rows: Array | None) -> tuple[Array, Array]:
    """Return room for scores (k, m, L, n, T), and which rows are wanted, (k, n), from (n, k)."""
    if rows is None:
        return np.empty(shape), np.ones((shape[0], shape[3]), dtype=bool)
    return np.full(shape, np.nan), np.ascontiguousarray(rows.T)


def refit_all(
    sets: TrainingSets, Y: Array, path: Path, lam: Array, offset: Array, scores: Array,
    wanted: Array,
) -> None:  # fmt: skip
    """Fill scores (k, m, L, n, T) with refits to Y (k, T, n), which start from offset (k, T)."""
    for i in range(len(Y)):
        own, lists = _of_set(sets, Y[i], path, i)
        rows = np.flatnonzero(wanted[i])
        Z = own.features.Z[:, rows].T
        for f in np.flatnonzero(path.sizes()[i] == 0).tolist():
            scores[i, f][:, rows] = offset[i]
        for f, places, B in _solutions(own, lists, lam[i]):
            made = (Z[:, places] @ B).reshape(len(rows), lam.shape[1], -1)
            scores[i, f][:, rows] = offset[i] + made.transpose(1, 0, 2)


def refit_coef(sets: TrainingSets, path: Path, lam: Array | float) -> tuple[Array, Array]:
    """Return (values, intercept) of the refit, in the units of X.

    ``f(x) = intercept[k, m] + x[indices] @ values`` with the indices of the path; for samples with
    the mean of each covariate, see `covariate_coef`.

    Parameters
    ----------
    sets : TrainingSets
    path : Path
    lam : float or (k,) array
        Absolute.

    Returns
    -------
    values : (nnz,) array
        Aligned with `path.indices`.
    intercept : (k, m) array
    """
    values, constant = coef_all(sets, sets.every.y[:, None], path, lam)
    return values[:, 0], sets.y_mean[:, None] + constant[:, :, 0]


def coef_all(sets: TrainingSets, Y: Array, path: Path, lam: Array | float) -> tuple[Array, Array]:
    """Return coefficients (nnz, T) and the constants (k, m, T) they leave, for Y (k, T, n)."""
    (k, m), T = path.shape, Y.shape[1]
    lam = np.broadcast_to(np.asarray(lam, float), (k,))
    values, constant = np.empty((len(path.indices), T)), np.zeros((k, m, T))
    for i in range(k):
        own, lists = _of_set(sets, Y[i], path, i)
        for f, places, B in _solutions(own, lists, lam[i : i + 1]):
            part = slice(*path.indptr[i * m + f :][:2])
            values[part] = own.features.inverse[places, None] * B
            constant[i, f] = -own.features.mean[places] @ values[part]
    return values, constant


def covariate_coef(
    sets: TrainingSets, path: Path, values: Array, of_y: Array | None = None
) -> Array:  # fmt: skip
    """Return gamma (k, m, q), what is added to a score being ``(c - mean) @ gamma[k, m]``.

    Least squares of what the features, with the `values` of `refit_coef`, leave of the response;
    mean (k, q) is that of the adjustment. Without covariates, q is 0. With values (nnz, T) of
    several responses `of_y` (k, q, T) is what the covariates say of these, and gamma (k, m, q, T).
    """
    (k, m), fixed = path.shape, sets.adjustment
    of_y = sets.of_y if of_y is None else of_y
    gamma = np.zeros((k, m, *of_y.shape[1:]))
    if fixed is None:
        return gamma
    for i in range(k):
        Q = fixed.columns(i)
        for j in range(m):
            part = slice(*path.indptr[i * m + j :][:2])
            seen = (fixed.root[:, i] * (sets.X[:, path.indices[part]] @ values[part]).T).T
            gamma[i, j] = fixed.turn[i] @ (of_y[i] - Q.T @ seen)
    return gamma


class _Lists(NamedTuple):
    """Supports of one training set: f is places[indptr[f] : indptr[f + 1]] of its features."""

    indptr: Array
    places: Array

    def of(self, f: int) -> Array:
        """Return the places of support f."""
        found: Array = self.places[self.indptr[f] : self.indptr[f + 1]]
        return found


class _Own(NamedTuple):
    """One training set.

    Its features, with one of zeros at the end; Z (U + 1, rows) of its training rows, `right`
    (U + 1, T) the products of these with y (rows, T); `gram` (U + 1, U + 1) or none; n.
    """

    features: Standardised
    Z: Array
    right: Array
    y: Array
    gram: Array | None
    n: float


def _of_set(sets: TrainingSets, Y: Array, path: Path, i: int) -> tuple[_Own, _Lists]:
    """Return what the supports of training set i are solved with, for responses Y (T, n)."""
    m, rows = path.shape[1], part_of(sets.every, i)
    indptr = path.indptr[i * m : (i + 1) * m + 1]
    features, places = np.unique(path.indices[indptr[0] : indptr[-1]], return_inverse=True)
    own, seen = standardised(sets.matrix, rows, features), np.flatnonzero(rows.mask)
    own = Standardised(*(np.concatenate([part, np.zeros_like(part, shape=(1, *part.shape[1:]))])
                         for part in own))  # fmt: skip
    Z, y = np.ascontiguousarray(own.training[:, seen]), np.ascontiguousarray(Y[:, seen].T)
    gram = Z @ Z.T if len(Z) <= SHARED * len(seen) else None
    return _Own(own, Z, Z @ y, y, gram, float(rows.number[0])), _Lists(indptr - indptr[0], places)


def _solutions(own: _Own, lists: _Lists, lam: Array) -> Iterator[tuple[int, Array, Array]]:
    """Yield supports that are not empty: which, places (a,), coefficients (a, L T) for lam (L,)."""
    rho, squares = own.n * lam, np.einsum("ui,ui->u", own.Z, own.Z)
    small: list[int] = []
    large: list[int] = []
    for f in np.flatnonzero(np.diff(lists.indptr)).tolist():
        A = lists.of(f)
        if rho.min() <= TINY * squares[A].sum():
            yield f, A, _by_singular_values(own, A, rho)
        elif len(A) > own.Z.shape[1]:
            Z = own.Z[A]
            yield f, A, Z @ _ridge((Z.T @ Z)[None], own.y[None], rho)[0]
        else:
            (small if len(A) <= SMALL else large).append(f)
    yield from _one_by_one(own, lists, small, rho)
    yield from _by_cores(own, lists, large, rho)


def _one_by_one(
    own: _Own, lists: _Lists, which: Sequence[int], rho: Array
) -> Iterator[tuple[int, Array, Array]]:  # fmt: skip
    """Solve small supports, those of about one size in one call, filled up with zeros."""
    steps: dict[int, list[int]] = {}
    for f in which:
        steps.setdefault(-(-len(lists.of(f)) // STEP), []).append(f)
    for step, some in steps.items():
        places = np.full((len(some), step * STEP), len(own.Z) - 1)
        for p, f in zip(places, some, strict=True):
            p[: len(lists.of(f))] = lists.of(f)
        B = _ridge(_gram(own, places[:, :, None], places[:, None]), own.right[places], rho)
        for f, of_support in zip(some, B, strict=True):
            yield f, lists.of(f), of_support[: len(lists.of(f))]


def _by_cores(
    own: _Own, lists: _Lists, which: Sequence[int], rho: Array
) -> Iterator[tuple[int, Array, Array]]:  # fmt: skip
    """Solve large supports by the cores of groups of neighbours."""
    for some, core, extras in _groups(lists, which, len(own.Z)):
        form = _Core.of(own, core, extras, rho)
        for f in some:
            inside = np.isin(extras, lists.of(f))
            places = np.concatenate([core, extras[inside]])
            order = np.argsort(places)
            yield f, places[order], form.solve(inside)[order]


def _groups(
    lists: _Lists, which: Sequence[int], U: int
) -> Iterator[tuple[list[int], Array, Array]]:  # fmt: skip
    """Yield neighbours, the features that all of them have, and those that some have."""
    some: list[int] = []
    core, union = np.ones(U, dtype=bool), np.zeros(U, dtype=bool)
    for f in which:
        own = np.zeros(U, dtype=bool)
        own[lists.of(f)] = True
        if some and (union | own).sum() > (1 + EXTRAS) * (core & own).sum():
            yield some, np.flatnonzero(core), np.flatnonzero(union & ~core)
            some, core, union = [], np.ones(U, dtype=bool), np.zeros(U, dtype=bool)
        some, core, union = [*some, f], core & own, union | own
    if some:
        yield some, np.flatnonzero(core), np.flatnonzero(union & ~core)


class _Core(NamedTuple):
    """The core of c features, and x extras, of a group.

    Q (c, c), inverse (L, c, 1) = (T + rho)^-1; Q'Z_C'y (c, T) and F (c, x); for each rho what the
    equations of the extras have on their left, (L, x, x), and right (L, x, T).
    """

    Q: Array
    inverse: Array
    turned: Array
    F: Array
    left: Array
    right: Array

    @classmethod
    def of(cls, own: _Own, core: Array, extras: Array, rho: Array) -> _Core:
        """Decompose the core's Gram matrix."""
        values, Q = np.linalg.eigh(_gram(own, core[:, None], core))
        inverse = 1.0 / (values + rho[:, None])[:, :, None]
        turned, F = Q.T @ own.right[core], Q.T @ _gram(own, core[:, None], extras)
        left = _gram(own, extras[:, None], extras) - F.T @ (inverse * F)
        left += rho[:, None, None] * np.eye(len(extras))
        return cls(Q, inverse, turned, F, left, own.right[extras] - F.T @ (inverse * turned))

    def solve(self, inside: Array) -> Array:
        """Return the coefficients (c + a, L T) of the support with the extras `inside` (x,)."""
        at = np.flatnonzero(inside)
        b = np.linalg.solve(self.left[:, at[:, None], at], self.right[:, at])
        rest = self.inverse * (self.turned - self.F[:, at] @ b)
        found = np.concatenate([self.Q @ rest, b], axis=1)
        return found.transpose(1, 0, 2).reshape(found.shape[1], -1)


def _gram(own: _Own, rows: Array, columns: Array) -> Array:
    """Return the products of features with each other, of the shape that their places make."""
    if own.gram is not None:
        return own.gram[rows, columns]
    right = own.Z[columns[..., 0, :] if columns.ndim > 1 else columns]
    found: Array = own.Z[rows[..., 0]] @ right.swapaxes(-1, -2)
    return found


def _ridge(K: Array, right: Array, rho: Array) -> Array:
    """Return ``(K + rho I)^-1 right`` (B, a, L T) for K (B, a, a), right (B, a, T) and rho (L,)."""
    values, Q = np.linalg.eigh(K)
    turned = Q.transpose(0, 2, 1) @ right
    share = turned[:, :, None, :] / (values[:, :, None] + rho)[..., None]
    found: Array = Q @ share.reshape(*share.shape[:2], -1)
    return found


def _by_singular_values(own: _Own, A: Array, rho: Array) -> Array:
    """Return the coefficients (a, L T) of one support; 0 lam gives those of minimum norm."""
    U, s, V = np.linalg.svd(own.Z[A], full_matrices=False)
    kept = s > RANK * s.max(initial=0.0)
    U, s, V = U[:, kept], s[kept], V[kept]
    share = s[:, None, None] * (V @ own.y)[:, None, :] / (s[:, None] ** 2 + rho)[..., None]
    found: Array = U @ share.reshape(len(s), -1)
    return found
