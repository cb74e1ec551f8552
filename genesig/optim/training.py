"""Many training sets of one matrix: rows, responses, mean and scale of features on each.

Matrix products over blocks of features, for all sets at once. The last digits depend on how many
sets there are; what is decided by them is decided in `compiled`, one set at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError
from genesig.optim.adjustment import Adjustment

if TYPE_CHECKING:
    from genesig.optim.structured.stretches import Stretches

NUMBERS = 2**17  # of a block of features, so that it stays in the cache
CLEAR = 0.1  # share of the mean square that the variance must be, to be had by subtraction
CONSTANT = 32 * float(np.finfo(float).eps)  # sd, as a share of the mean, that is rounding


class Matrix(NamedTuple):
    """All features of all samples: X (n, d) as given, F (d, n) less shift (d,), by feature."""

    X: Array
    shift: Array
    F: Array


class Rows(NamedTuple):
    """The samples of one training set (or, with one axis more, of many).

    mask (n,) is √v on them, v their weights, of sum `rows`, 1 unless given; y (n,) their responses
    times √v, orthogonal to √v and to the covariates; number (3,) = rows, centre, scale. basis
    (R, n) spans the covariates: with √v, of length 1 and orthogonal on the training rows.
    """

    mask: Array
    y: Array
    number: Array
    basis: Array


class Moments(NamedTuple):
    """Of k training sets.

    mean, inverse scale (k, d), the former less the shift; norm = ``||Z'Z|| / rows`` of those that
    were asked for; tau_max (k,) = ``(2/rows) max_j share_j |z_j'y|``.
    """

    mean: Array
    inverse: Array
    norm: Array
    tau_max: Array


def part_of(rows: Rows, columns: slice | int) -> Rows:
    """Return the rows of some training sets, or of one."""
    return Rows(*(array[columns] for array in rows))


def first_alike(rows: Rows) -> Array:
    """Return the number of the first training set that has the rows and weights of each, (k,).

    Labels that are permuted within studies leave the rows of studies that train as they are.
    """
    first: dict[bytes, int] = {}
    each = zip(rows.mask, rows.number, rows.basis, strict=True)
    keys = [b"".join(part.tobytes() for part in parts) for parts in each]
    return np.array([first.setdefault(key, k) for k, key in enumerate(keys)])


def moments_of(matrix: Matrix, rows: Rows, share: Array, *, spectrum: Sequence[int]) -> Moments:
    """Return the moments of k training sets, with the norms of those numbered by `spectrum`."""
    (k, n) = rows.mask.shape
    d = len(matrix.F)
    found = Moments(np.empty((k, d)), np.empty((k, d)), np.zeros(len(spectrum)), np.zeros(k))
    seen = [np.flatnonzero(rows.mask[q]) for q in spectrum]
    grams = [np.zeros((len(at), len(at))) for at in seen]
    for part in blocks(d, n):
        some = Matrix(matrix.X[:, part], matrix.shift[part], matrix.F[part])
        mean, inverse, product = _of_block(some, rows)
        found.mean[:, part] = mean
        found.inverse[:, part] = inverse
        pull = 2.0 / rows.number[:, 0] * (share[part] * inverse * np.abs(product)).max(axis=1)
        np.maximum(found.tau_max, pull, out=found.tau_max)
        for q, at, gram in zip(spectrum, seen, grams, strict=True):
            Z = _training_rows(some, part_of(rows, q), at, mean[q], inverse[q])
            gram += Z @ Z.T
    for number, (q, gram) in enumerate(zip(spectrum, grams, strict=True)):
        found.norm[number] = max(np.linalg.eigvalsh(gram)[-1], 0.0) / rows.number[q, 0]
    return found


def blocks(d: int, n: int) -> Iterator[slice]:
    """Yield the features in blocks that stay in the cache."""
    size = max(NUMBERS // n, 32)
    for first in range(0, d, size):
        yield slice(first, min(first + size, d))


def _of_block(matrix: Matrix, rows: Rows) -> tuple[Array, Array, Array]:
    """Return mean, inverse scale and ``x'y``, each (k, features)."""
    F = matrix.F
    count = rows.number[:, :1]
    weight = rows.mask * rows.mask
    with np.errstate(over="ignore", invalid="ignore"):  # squares; then deviations are taken
        mean = weight @ F.T / count
        square = weight @ (F * F).T / count
        variance = square - mean * mean
        product = (rows.mask * rows.y) @ F.T
        doubtful = ~(variance >= CLEAR * square)
    for q in np.flatnonzero(doubtful.any(axis=1)):
        at = np.flatnonzero(doubtful[q])
        mean[q, at], variance[q, at], product[q, at] = _by_deviations(F[at], part_of(rows, int(q)))
    centre, scale = rows.number[0, 1:] != 0
    inverse = inverse_scale(np.abs(mean) + np.abs(mean + matrix.shift), variance, centre, scale)
    return mean * centre, inverse, product


def _by_deviations(F: Array, rows: Rows) -> tuple[Array, Array, Array]:
    """Return mean, variance and ``x'y`` of features (d, n) in one set, from deviations."""
    seen = np.flatnonzero(rows.mask)
    F = F[:, seen]
    root = rows.mask[seen]
    mean = F @ (root * root) / rows.number[0]
    away = root * (F - mean[:, None])
    with np.errstate(over="ignore"):
        square = np.einsum("ji,ji->j", away, away)
    return mean, square / rows.number[0], away @ rows.y[seen]


def inverse_scale(size: Array, variance: Array, centre: bool, scale: bool) -> Array:
    """Return 1/sd, 1 without scaling, 0 for what is constant up to the rounding of its `size`."""
    spread = np.sqrt(np.maximum(variance, 0.0))
    constant = (spread <= CONSTANT * size) & (centre or scale)
    out = np.divide(1.0, spread, out=np.zeros_like(spread), where=~constant & (spread > 0))
    return out if scale else np.where(constant, 0.0, 1.0)


def _training_rows(matrix: Matrix, rows: Rows, seen: Array, mean: Array, inverse: Array) -> Array:
    """Return the training rows of Z, times √v and less what the covariates say of them."""
    Z = matrix.X[seen]
    Z -= matrix.shift
    Z -= mean
    Z *= inverse
    root = rows.mask[seen]
    if (root != 1.0).any():
        Z *= root[:, None]
    Q = root * rows.basis[:, seen]
    if len(Q):
        Z -= Q.T @ (Q @ Z)
    return Z


class Standardised(NamedTuple):
    """Features of one training set: Z (U, n) on all rows, `training` that times √v, 0 elsewhere.

    Both less what the covariates say of them there; mean, in the units of X, and inverse (U,).
    """

    Z: Array
    training: Array
    mean: Array
    inverse: Array


def standardised(matrix: Matrix, rows: Rows, features: Array) -> Standardised:
    """Return some features as one training set has them."""
    F = matrix.F[features]
    shift = matrix.shift[features]
    mean, variance, _ = _by_deviations(F, rows)
    _, centre, scale = rows.number
    inverse = inverse_scale(np.abs(mean) + np.abs(mean + shift), variance, centre != 0, scale != 0)
    mean = mean * (centre != 0)
    Z = inverse[:, None] * (F - mean[:, None])
    if len(rows.basis):
        Z -= (Z * (rows.mask * rows.mask)) @ rows.basis.T @ rows.basis
    return Standardised(Z, rows.mask * Z, mean + shift, inverse)


KEPT = 256e6  # scales larger than this many bytes are computed again when they are needed
BLOCK = 256  # features whose quartiles are found at once
TOGETHER = 64e6  # bytes of what is found of training sets at once


@dataclass(frozen=True)
class TrainingSets:
    """``z_ij = inverse_scale_j (x_ij - mean_j)`` on the rows of each of k training sets.

    Attributes
    ----------
    X : (n, d) float64 array
        Shared by all training sets, as given.
    Y : (n, k) float64 array
        Responses minus their training mean; 0 on the other rows. With an adjustment times √v, and
        less what the covariates say of them.
    rows : (n, k) bool array
    y_mean : (k,) float64 array
    norm : (k,) float64 array
        ``||Z'Z|| / n_k`` (largest eigenvalue) of the standardised training rows.
    weights : (d,) float64 array
        Of each feature's l1 term; 0 is never penalised by it.
    tau_max : (k,) float64 array
        ``(2/n_k) max_j |z_j'y| / w_j`` over the penalised features: the smallest tau at which none
        of them is selected, where all are penalised.
    centre, unit_variance : bool
    matrix : Matrix
        X, and its feature-major copy.
    every : Rows
        Rows and responses of all k sets.
    kept : (2, k, d) array or None
        Means of what the copy holds and inverse scales, where they are small enough to be kept.
    adjustment : Adjustment or None
        Weights of samples and covariates; means and scales of features have the weights.
    of_y : (k, q) float array
        What the covariates say of the responses, see `Adjustment.centred`.
    stretches : Stretches or None
        In the place of the l1 norm, where features have an order (see `stretches.along`).
    """

    X: Array
    Y: Array
    rows: Array
    y_mean: Array
    weights: Array
    norm: Array
    tau_max: Array
    centre: bool
    unit_variance: bool
    matrix: Matrix
    every: Rows
    kept: Array | None
    adjustment: Adjustment | None
    of_y: Array
    stretches: Stretches | None = None

    def moments(self, columns: slice) -> tuple[Array, Array]:
        """Return (mean, inverse scale), each (columns, d), in the units of X."""
        mean, inverse = self.moments_of_copy(columns)
        return mean + self.matrix.shift if self.centre else mean, inverse

    def moments_of_copy(self, columns: slice) -> tuple[Array, Array]:
        """Return (mean, inverse scale), each (columns, d), of what the feature-major copy holds."""
        if self.kept is not None:
            return self.kept[0, columns], self.kept[1, columns]
        rows = part_of(self.every, columns)
        found = moments_of(self.matrix, rows, self.weights, spectrum=())
        return found.mean, found.inverse

    @cached_property
    def mean(self) -> Array:
        """Return the training means (k, d), in the units of X; 0 without centring."""
        return self.moments(slice(None))[0]

    @cached_property
    def inverse_scale(self) -> Array:
        """Return what centred features are multiplied by, (k, d).

        0 for a feature that is constant on the training rows: it is never selected.
        """
        return self.moments(slice(None))[1]

    def standardised(self, k: int) -> Array:
        """Return Z (n, d) of training set k, for all rows."""
        mean, inverse = self.moments(slice(k, k + 1))
        return np.asarray((self.X - mean[0]) * inverse[0])

    def strength(self, part: slice, Y: Array | None = None) -> Array:
        """Return ``|z_j'y|`` of each feature in some training sets, (columns, d).

        Parameters
        ----------
        part : slice
            Numbers of the training sets.
        Y : (k, T, n) array, optional
            Several responses in the place of one, centred on the training rows and times √v: then
            it is ``||z_j'Y||``.
        """
        Y = self.every.y[:, None] if Y is None else Y
        pull = (self.every.mask[part, None] * Y[part]) @ self.matrix.F.T
        return np.asarray(self.moments_of_copy(part)[1] * np.linalg.norm(pull, axis=1))

    def problem(self, k: int) -> tuple[Array, Array]:
        """Return Z (n_k, d) and y (n_k,) of training set k as solvers see them."""
        rows = self.rows[:, k]
        Z = self.standardised(k)
        seen = Z if self.adjustment is None else self.adjustment.without(k, Z)
        return seen[rows], self.Y[rows, k]


def training_sets(
    X: Array,
    Y: Array,
    rows: Array,
    *,
    centre: bool,
    unit_variance: bool,
    like: TrainingSets | None = None,
    weights: Array | None = None,
    adjustment: Adjustment | None = None,
    norm: Array | None = None,
) -> TrainingSets:
    """Describe k training sets of one matrix.

    Parameters
    ----------
    X : (n, d) array
    Y : (n, k) array
        Raw responses; values outside the training rows are ignored. Always centred on them.
    rows : (n, k) bool array
        Training rows of each set.
    centre, unit_variance : bool
        Subtract each feature's training mean; divide by its training standard deviation (ddof 0).
    like : TrainingSets, optional
        Others of the same X, centred or not like these: their copy of it, their weights and the
        order of their features serve both.
    weights : (d,) array, optional
        Of each feature's l1 term, 1 unless given.
    adjustment : Adjustment, optional
        Weights of the samples, and covariates without a penalty, of the same training rows.
    norm : (k,) array, optional
        Taken for ``||Z'Z|| / n_k``, which costs more than all the rest, where another will do.

    Raises
    ------
    GenesigError
        Where shapes disagree, a value is not finite, a weight negative, or a training set has no
        rows.
    """
    X, Y, rows = _checked(X, Y, rows)
    d = X.shape[1]
    k = Y.shape[1]
    matrix = _by_feature(X, centre) if like is None else like.matrix
    weights = _weights(weights, d) if like is None else like.weights
    of_y = np.zeros((k, 0))
    if adjustment is None:
        (Y, y_mean) = _centred(Y, rows)
        root = rows
        basis = np.zeros((k, 0, len(X)))
    else:
        (Y, y_mean, of_y) = adjustment.centred(Y)
        root = adjustment.root
        basis = adjustment.basis
    number = np.column_stack([rows.sum(axis=0), np.tile([centre, unit_variance], (k, 1))])
    every = Rows(
        *map(np.ascontiguousarray, (root.T.astype(float), Y.T, number.astype(float), basis))
    )
    first_of = np.arange(0) if norm is not None else first_alike(every)
    norm = np.empty(k) if norm is None else np.array(norm, dtype=float)
    tau_max = np.empty(k)
    kept = np.empty((2, k, d)) if 16 * k * d <= KEPT else None
    share = np.divide(1.0, weights, out=np.zeros(d), where=weights > 0)
    size = _together(X.shape)
    for first in range(0, k, size):
        part = slice(first, first + size)
        new = [q for q in np.unique(first_of[part]).tolist() if q >= first]
        found = moments_of(matrix, part_of(every, part), share, spectrum=[q - first for q in new])
        tau_max[part] = found.tau_max
        norm[new] = found.norm
        if kept is not None:
            kept[:, part] = found.mean, found.inverse
    if len(first_of):
        norm = norm[first_of]
    return TrainingSets(
        X=X,
        Y=Y,
        rows=rows,
        y_mean=y_mean,
        weights=weights,
        norm=norm,
        tau_max=tau_max,
        centre=centre,
        unit_variance=unit_variance,
        matrix=matrix,
        every=every,
        kept=kept,
        adjustment=adjustment,
        of_y=of_y,
        stretches=None if like is None else like.stretches,
    )


def _by_feature(X: Array, centre: bool) -> Matrix:
    """Return X with its feature-major copy (d, N), less the shift (d,)."""
    n, d = X.shape
    shift = _shift(X) if centre else np.zeros(d)
    F = np.empty((d, n))
    np.subtract(X.T, shift[:, None], out=F)
    return Matrix(X, shift, F)


def _shift(X: Array) -> Array:
    """Return the value nearest to 0 between the quartiles of each feature.

    At most √3 standard deviations from the mean, so that squares may be had by subtraction. All
    training sets share it, whichever are fitted together, and each has rows held out: a mean would
    carry a value of 1e15 into sets that do not hold it, which would then lose their digits, and so
    would a median where the sets are halves. This one lies among the values of the set, or nearer
    to 0, unless more than three quarters of the rows are such.
    """
    first = len(X) // 4
    last = len(X) - 1 - first
    shift = np.zeros(X.shape[1])
    # Where 0 lies between the quartiles, counting tells so: most log ratios need no sorting.
    around = ((X <= 0).sum(axis=0) > first) & ((X >= 0).sum(axis=0) > first)
    sought = np.flatnonzero(~around)
    for start in range(0, len(sought), BLOCK):
        part = sought[start : start + BLOCK]
        values = X[:, part].T.copy()
        values.partition(first, axis=1)
        low = values[:, first].copy()
        values[:, first:].partition(last - first, axis=1)
        shift[part] = np.clip(0.0, low, values[:, last])
    return shift


def _together(shape: tuple[int, ...]) -> int:
    """Return how many training sets may be described at once: moments, and matrices of rows."""
    n, d = shape
    return int(np.clip(TOGETHER / (8 * n * n + 16 * d), 1, 64))


def _centred(Y: Array, rows: Array) -> tuple[Array, Array]:
    """Centre each response on its own rows, one at a time: the sum must not see its neighbours."""
    centred = np.zeros(Y.shape)
    mean = np.empty(Y.shape[1])
    for k in range(Y.shape[1]):
        part = np.ascontiguousarray(Y[rows[:, k], k])
        mean[k] = part.mean()
        centred[rows[:, k], k] = part - mean[k]
    return centred, mean


def _weights(weights: Array | None, d: int) -> Array:
    checked = np.ones(d) if weights is None else np.array(weights, dtype=float)
    if checked.shape != (d,) or not (np.isfinite(checked) & (checked >= 0)).all():
        raise GenesigError(f"weights must be {d} numbers >= 0")
    return checked


def _checked(X: Array, Y: Array, rows: Array) -> tuple[Array, Array, Array]:
    X = np.ascontiguousarray(X, dtype=float).view()
    X.flags.writeable = False  # one type for compiled code, whatever the caller's flags
    Y = np.asarray(Y, dtype=float)
    rows = np.asarray(rows, bool)
    if X.ndim != 2 or Y.ndim != 2 or rows.shape != Y.shape or len(X) != len(Y) or X.size == 0:
        raise GenesigError(
            f"training sets need X (n, d) and Y, rows (n, k); found {X.shape}, {Y.shape},"
            f" {rows.shape}"
        )
    if not rows.any(axis=0).all():
        raise GenesigError("a training set has no rows")
    if not (np.isfinite(X).all() and np.isfinite(Y[rows]).all()):
        raise GenesigError("X and the training responses must be finite; found NaN or infinity")
    return X, Y, rows
