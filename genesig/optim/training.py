"""Many training sets of one matrix: rows, responses, and mean and scale of the features on each.

Moments are matrix products over blocks of features, for all sets at once. Their last digits depend
on how many sets there are. So every decision that depends on last digits is made in `compiled`,
one set at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled.column import fill_standardised_rows
from genesig.errors import GenesigError
from genesig.optim.adjustment import Adjustment

if TYPE_CHECKING:
    from genesig.optim.structured.stretches import Stretches

BLOCK_NUMBERS = 2**17  # numbers of a block of features, so that it stays in the cache
MIN_VARIANCE_SHARE = 0.1  # share of the mean square above which variances are by subtraction
CONSTANT_SD_SHARE = 32 * float(np.finfo(float).eps)
"""Standard deviation, as a share of the mean, that is rounding."""


class FeatureMatrix(NamedTuple):
    """All features of all samples."""

    shift: Array  # (d,) a value near the middle of each feature
    F: Array  # (d, n) X less the shift, feature by feature


class TrainingRows(NamedTuple):
    """The samples of one training set or, with one more axis (k, ...), of many."""

    root_weights: Array  # (n,) √v of the sample weights v on the training rows, 0 elsewhere
    y: Array  # (n,) responses times √v, orthogonal to √v and to the covariates
    n_rows: Any  # sum of the weights
    centre: Any  # bool, whether features are centred
    unit_variance: Any  # bool, whether features are divided by their standard deviation
    basis: Array  # (R, n) spans the covariates; times √v, orthonormal on the training rows


class FeatureMoments(NamedTuple):
    """Moments of d features on k training sets."""

    mean: Array  # (k, d) less the shift
    inverse: Array  # (k, d) inverse scale
    norm: Array  # ``||Z'Z|| / n_rows`` of the training sets numbered by `norm_sets`
    tau_max: Array  # (k,) ``(2/n_rows) max_j |z_j'y| / w_j``


def rows_of_sets(rows: TrainingRows, chunk: slice | int) -> TrainingRows:
    """Return the rows of a chunk of the training sets, or of one set, without its axis."""
    return TrainingRows(*(array[chunk] for array in rows))


def first_with_equal_rows(rows: TrainingRows) -> Array:
    """Return, for each training set, the first set with the same rows and weights, (k,).

    Labels that are permuted within studies leave the rows of training studies unchanged.
    """
    first_with: dict[bytes, int] = {}
    records = zip(rows.root_weights, rows.n_rows, rows.basis, strict=True)
    keys = [b"".join(array.tobytes() for array in record) for record in records]
    return np.array([first_with.setdefault(key, k) for k, key in enumerate(keys)])


def feature_moments(
    matrix: FeatureMatrix, rows: TrainingRows, weights: Array, *, norm_sets: Sequence[int]
) -> FeatureMoments:
    """Return the moments of k training sets; norms only of the sets numbered by `norm_sets`.

    weights (d,) are those of the l1 terms; a feature of weight 0 does not count for `tau_max`.
    """
    k, n = rows.root_weights.shape
    d = len(matrix.F)
    inverse_weights = np.divide(1.0, weights, out=np.zeros(d), where=weights > 0)
    moments = FeatureMoments(
        np.empty((k, d)), np.empty((k, d)), np.zeros(len(norm_sets)), np.zeros(k)
    )
    training_rows = [np.flatnonzero(rows.root_weights[q]) for q in norm_sets]
    grams = [np.zeros((len(in_training), len(in_training))) for in_training in training_rows]
    # Standardised values are small; others may be too large for single precision.
    precision = np.float32 if rows.unit_variance[0] else np.float64
    for columns in feature_blocks(d, n):
        block = FeatureMatrix(matrix.shift[columns], matrix.F[columns])
        mean, inverse, product = _block_moments(block, rows)
        moments.mean[:, columns] = mean
        moments.inverse[:, columns] = inverse
        gradient = (
            2.0 / rows.n_rows * (inverse_weights[columns] * inverse * np.abs(product)).max(axis=1)
        )
        np.maximum(moments.tau_max, gradient, out=moments.tau_max)
        if not norm_sets:
            continue
        sample_rows = np.ascontiguousarray(block.F.T)
        for q, in_training, gram in zip(norm_sets, training_rows, grams, strict=True):
            Z = np.empty((len(in_training), len(block.F)), dtype=precision)
            fill_standardised_rows(sample_rows, in_training, mean[q], inverse[q], Z)
            gram += Z @ Z.T
    if norm_sets:
        moments.norm[:] = _matrix_norms(matrix, rows, grams, moments.inverse, norm_sets)
    return moments


def feature_blocks(d: int, n: int) -> Iterator[slice]:
    """Yield slices of d features whose n numbers each stay in the cache together."""
    block_size = max(BLOCK_NUMBERS // n, 32)
    for first in range(0, d, block_size):
        yield slice(first, min(first + block_size, d))


def _block_moments(matrix: FeatureMatrix, rows: TrainingRows) -> tuple[Array, Array, Array]:
    """Return mean, inverse scale and ``x'y`` of a block of features, each (k, block).

    The mean is 0 if features are not centred.
    """
    F = matrix.F
    n_rows = rows.n_rows[:, None]
    weight = rows.root_weights * rows.root_weights
    # If a square overflows, its variance is inexact, so that deviations are squared instead.
    with np.errstate(over="ignore", invalid="ignore"):
        mean = weight @ F.T / n_rows
        square = weight @ (F * F).T / n_rows
        variance = square - mean * mean
        product = (rows.root_weights * rows.y) @ F.T
        is_inexact = ~(variance >= MIN_VARIANCE_SHARE * square)
    for q in np.flatnonzero(is_inexact.any(axis=1)):
        features = np.flatnonzero(is_inexact[q])
        mean[q, features], variance[q, features], product[q, features] = _moments_by_deviations(
            F[features], rows_of_sets(rows, int(q))
        )
    centre = rows.centre[0]
    unit_variance = rows.unit_variance[0]
    inverse = inverse_scale(
        np.abs(mean) + np.abs(mean + matrix.shift), variance, centre, unit_variance
    )
    return mean * centre, inverse, product


def _moments_by_deviations(F: Array, rows: TrainingRows) -> tuple[Array, Array, Array]:
    """Return mean, variance and ``x'y`` of features (d, n) on one training set, from deviations."""
    in_training = np.flatnonzero(rows.root_weights)
    F = F[:, in_training]
    root_weights = rows.root_weights[in_training]
    mean = F @ (root_weights * root_weights) / rows.n_rows
    deviation = root_weights * (F - mean[:, None])
    with np.errstate(over="ignore"):
        square = np.einsum("ji,ji->j", deviation, deviation)
    return mean, square / rows.n_rows, deviation @ rows.y[in_training]


def inverse_scale(mean_size: Array, variance: Array, centre: bool, unit_variance: bool) -> Array:
    """Return 1/sd of features (d,), 1 without scaling, 0 for constant features.

    A feature counts as constant if its sd is rounding. The size of rounding depends on `mean_size`
    (d,), the size of the values that were summed.
    """
    sd = np.sqrt(np.maximum(variance, 0.0))
    constant = (sd <= CONSTANT_SD_SHARE * mean_size) & (centre or unit_variance)
    inverse = np.divide(1.0, sd, out=np.zeros_like(sd), where=~constant & (sd > 0))
    return inverse if unit_variance else np.where(constant, 0.0, 1.0)


def _matrix_norms(
    matrix: FeatureMatrix,
    rows: TrainingRows,
    grams: list[Array],
    inverse: Array,
    norm_sets: Sequence[int],
) -> Array:
    """Return ``||Z'Z|| / n_rows`` of the training sets numbered by `norm_sets`, in its order.

    The Gram matrices, before weights and covariates, only give the first principal direction u. An
    error of u, as in single precision, changes ``||Z'u||²`` by its square.
    """
    norm = np.zeros(len(norm_sets))
    directions = np.stack(
        [
            _principal_direction(gram, rows_of_sets(rows, q))
            for q, gram in zip(norm_sets, grams, strict=True)
        ]
    )
    for columns in feature_blocks(*matrix.F.shape):
        product = (directions @ matrix.F[columns].T) * inverse[norm_sets, columns]
        norm += np.einsum("qj,qj->q", product, product)
    return np.asarray(norm / rows.n_rows[norm_sets])


def _principal_direction(gram: Array, rows: TrainingRows) -> Array:
    """Return √v u (n,), u the first eigenvector of ``√v ZZ' √v``, Z free of mean and covariates.

    gram: Z Z' (n_train, n_train) of the training rows, before weights, mean and covariates.
    rows.basis is orthonormal on these rows, and orthogonal to √v if they are centred.
    """
    from scipy.linalg import eigh  # slow to import, and other jobs import this module

    in_training = np.flatnonzero(rows.root_weights)
    root_weights = rows.root_weights[in_training]
    fixed = root_weights * rows.basis[:, in_training]
    if rows.centre:
        fixed = np.vstack([fixed, root_weights / np.linalg.norm(root_weights)])
    weighted = root_weights[:, None] * gram * root_weights
    # P W P = W - G - G' with W = `weighted`, P = I - B'B of B = `fixed`, and `one_side`
    # G = B'(B W - B W B' B / 2)
    product = fixed @ weighted
    one_side = fixed.T @ (product - 0.5 * (product @ fixed.T) @ fixed)
    last = len(weighted) - 1
    projected_gram = weighted - one_side - one_side.T
    vectors = eigh(projected_gram, subset_by_index=[last, last])[1]
    if not vectors.size:  # LAPACK may find none if the largest eigenvalue is repeated
        vectors = np.linalg.eigh(projected_gram)[1]
    u = vectors[:, -1]
    u = u - fixed.T @ (fixed @ u)  # rounding leaves a part along B
    direction = np.zeros(len(rows.root_weights))
    direction[in_training] = root_weights * u
    return direction


class StandardisedFeatures(NamedTuple):
    """Some features (U,) of one training set, without their part that the covariates explain."""

    Z: Array  # (U, n) on all rows
    training: Array  # (U, n) times √v, 0 outside the training set
    mean: Array  # (U,) in the units of X
    inverse: Array  # (U,) inverse scale


def standardise_features(
    matrix: FeatureMatrix, rows: TrainingRows, features: Array
) -> StandardisedFeatures:
    """Return some features, numbered by `features` (U,), standardised on one training set.

    Without centring their mean counts as 0, and the shift of the matrix is 0, too.
    """
    F = matrix.F[features]
    shift = matrix.shift[features]
    mean, variance, _ = _moments_by_deviations(F, rows)
    inverse = inverse_scale(
        np.abs(mean) + np.abs(mean + shift), variance, rows.centre, rows.unit_variance
    )
    mean = mean * rows.centre
    Z = inverse[:, None] * (F - mean[:, None])
    if len(rows.basis):
        Z -= (Z * (rows.root_weights * rows.root_weights)) @ rows.basis.T @ rows.basis
    return StandardisedFeatures(Z, rows.root_weights * Z, mean + shift, inverse)


MAX_MOMENTS_BYTES = 256e6  # above which moments of all sets are computed whenever needed
QUARTILE_BLOCK = 256  # number of features whose quartiles are computed at once
CHUNK_MOMENTS_BYTES = 32e6  # memory of the moments of training sets that are computed at once


@dataclass(frozen=True)
class TrainingSets:
    """``z_ij = inverse_scale_j (x_ij - mean_j)`` on the rows of each of k training sets."""

    X: Array  # (n, d) float64, shared by all training sets, as given
    Y: Array
    """(n, k) responses minus their training mean; 0 on the other rows.

    With an adjustment times √v, and without the part that the covariates explain.
    """
    rows: Array  # (n, k) bool
    y_mean: Array  # (k,)
    weights: Array  # (d,) of each feature's l1 term; 0 is never penalised by it
    norm: Array  # (k,) ``||Z'Z|| / n_k``, the largest eigenvalue of the standardised training rows
    # (k,) ``(2/n_k) max_j |z_j'y| / w_j`` over the features with a weight above 0: the smallest tau
    # at which no feature is selected, if all are penalised
    tau_max: Array
    centre: bool
    unit_variance: bool
    matrix: FeatureMatrix
    training_rows: TrainingRows  # rows and responses of all k sets
    # (2, k, d) means less the shift, and inverse scales; None if they would take much memory
    moments_cache: Array | None
    # weights of samples, and covariates; means and scales of features have the weights
    adjustment: Adjustment | None
    # (k, q) coefficients of the responses on the covariates, see `Adjustment.centred`
    y_on_basis: Array
    # instead of the l1 norm, if features have an order (see `stretches.with_stretches`)
    stretches: Stretches | None = None

    def moments(self, chunk: slice) -> tuple[Array, Array]:
        """Return mean and inverse scale of a chunk of sets in the units of X, (len(chunk), d)."""
        mean, inverse = self.shifted_moments(chunk)
        return mean + self.matrix.shift if self.centre else mean, inverse

    def shifted_moments(self, chunk: slice) -> tuple[Array, Array]:
        """Return mean, less the shift, and inverse scale of a chunk of sets, (len(chunk), d)."""
        if self.moments_cache is not None:
            return self.moments_cache[0, chunk], self.moments_cache[1, chunk]
        rows = rows_of_sets(self.training_rows, chunk)
        moments = feature_moments(self.matrix, rows, self.weights, norm_sets=())
        return moments.mean, moments.inverse

    @cached_property
    def mean(self) -> Array:
        """Training means (k, d), in the units of X; 0 without centring."""
        return self.moments(slice(None))[0]

    @cached_property
    def inverse_scale(self) -> Array:
        """Factors of centred features, (k, d).

        0 for a feature that is constant on the training rows, so that it is never selected.
        """
        return self.moments(slice(None))[1]

    def standardised(self, k: int) -> Array:
        """Return Z (n, d) of training set k, for all rows."""
        mean, inverse = self.moments(slice(k, k + 1))
        return np.asarray((self.X - mean[0]) * inverse[0])

    def strength(self, chunk: slice, Y: Array | None = None) -> Array:
        """Return ``|z_j'y|`` of each feature in a chunk of the training sets, (len(chunk), d).

        Y (k, T, n), optional: several responses instead of one, centred on the training rows and
        times √v. The result is then ``||z_j'Y||``.
        """
        Y = self.training_rows.y[:, None] if Y is None else Y
        products = (self.training_rows.root_weights[chunk, None] * Y[chunk]) @ self.matrix.F.T
        return np.asarray(self.shifted_moments(chunk)[1] * np.linalg.norm(products, axis=1))

    def problem(self, k: int) -> tuple[Array, Array]:
        """Return Z (n_k, d) and y (n_k,) of training set k as the solvers see them."""
        rows = self.rows[:, k]
        Z = self.standardised(k)
        adjusted = Z if self.adjustment is None else self.adjustment.without(k, Z)
        return adjusted[rows], self.Y[rows, k]


def training_sets(
    X: Array,
    Y: Array,
    rows: Array,
    *,
    centre: bool,
    unit_variance: bool,
    share_copy_with: TrainingSets | None = None,
    weights: Array | None = None,
    adjustment: Adjustment | None = None,
    norm: Array | None = None,
) -> TrainingSets:
    """Return k training sets of one matrix.

    X (n, d).
    Y (n, k): raw responses; values outside the training rows are ignored. Always centred on them.
    rows (n, k) bool: training rows of each set.
    centre, unit_variance: subtract each feature's training mean; divide by its training standard
        deviation (ddof 0).
    share_copy_with, optional: others of the same X, centred if these are: their copy of X, their
        weights and the order of their features serve both.
    weights (d,), optional: of each feature's l1 term, 1 unless given.
    adjustment, optional: weights of the samples, and covariates without a penalty, of the same
        training rows.
    norm (k,), optional: used for ``||Z'Z|| / n_k``, which costs more than all the rest, if another
        value will do.

    Raises GenesigError: if shapes disagree, a value is not finite, a weight negative, or a training
    set has no rows.
    """
    X, Y, rows = _checked_arrays(X, Y, rows)
    d = X.shape[1]
    k = Y.shape[1]
    matrix = _feature_major(X, centre) if share_copy_with is None else share_copy_with.matrix
    weights = _checked_weights(weights, d) if share_copy_with is None else share_copy_with.weights
    y_on_basis = np.zeros((k, 0))
    if adjustment is None:
        Y, y_mean = _centre_responses(Y, rows)
        root_weights = rows
        basis = np.zeros((k, 0, len(X)))
    else:
        Y, y_mean, y_on_basis = adjustment.centred(Y)
        root_weights = adjustment.root_weights
        basis = adjustment.basis
    training_rows = TrainingRows(
        root_weights=np.ascontiguousarray(root_weights.T.astype(float)),
        y=np.ascontiguousarray(Y.T),
        n_rows=rows.sum(axis=0).astype(float),
        centre=np.full(k, bool(centre)),
        unit_variance=np.full(k, bool(unit_variance)),
        basis=np.ascontiguousarray(basis),
    )
    first_with = np.arange(0) if norm is not None else first_with_equal_rows(training_rows)
    norm = np.empty(k) if norm is None else np.array(norm, dtype=float)
    tau_max = np.empty(k)
    moments_cache = np.empty((2, k, d)) if 16 * k * d <= MAX_MOMENTS_BYTES else None
    chunk_size = _sets_per_chunk(X.shape)
    for first in range(0, k, chunk_size):
        chunk = slice(first, first + chunk_size)
        # the sets with rows that no earlier set has, of which alone norms are computed
        distinct = [q for q in np.unique(first_with[chunk]).tolist() if q >= first]
        moments = feature_moments(
            matrix,
            rows_of_sets(training_rows, chunk),
            weights,
            norm_sets=[q - first for q in distinct],
        )
        tau_max[chunk] = moments.tau_max
        norm[distinct] = moments.norm
        if moments_cache is not None:
            moments_cache[0, chunk] = moments.mean
            moments_cache[1, chunk] = moments.inverse
    if len(first_with):
        norm = norm[first_with]
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
        training_rows=training_rows,
        moments_cache=moments_cache,
        adjustment=adjustment,
        y_on_basis=y_on_basis,
        stretches=None if share_copy_with is None else share_copy_with.stretches,
    )


def _feature_major(X: Array, centre: bool) -> FeatureMatrix:
    """Return X with its feature-major copy (d, n), less the shift."""
    n, d = X.shape
    shift = _shift(X) if centre else np.zeros(d)
    F = np.empty((d, n))
    np.subtract(X.T, shift[:, None], out=F)
    return FeatureMatrix(shift, F)


def _shift(X: Array) -> Array:
    """Return the value nearest to 0 between the quartiles of each feature, (d,).

    It is at most √3 standard deviations from the mean, so that squares can be subtracted. All
    training sets share it, whichever are fitted together, and each has rows held out. A mean would
    carry a value of 1e15 into sets that do not have it, which would then lose their digits; so
    would a median if the sets are halves. This value lies among those of the set, or nearer to 0,
    unless more than three quarters of the rows are extreme.
    """
    lower = len(X) // 4
    upper = len(X) - 1 - lower
    shift = np.empty(X.shape[1])
    for start in range(0, X.shape[1], QUARTILE_BLOCK):
        block = slice(start, start + QUARTILE_BLOCK)
        values = X[:, block].T.copy()
        values.partition(lower, axis=1)
        lower_quartile = values[:, lower].copy()
        values[:, lower:].partition(upper - lower, axis=1)
        shift[block] = np.clip(0.0, lower_quartile, values[:, upper])
    return shift


def _sets_per_chunk(shape: tuple[int, ...]) -> int:
    """Return of how many training sets moments are computed at once, by the memory they take."""
    n, d = shape
    return int(np.clip(CHUNK_MOMENTS_BYTES / (8 * n * n + 16 * d), 1, 64))


def _centre_responses(Y: Array, rows: Array) -> tuple[Array, Array]:
    """Return responses centred on their own rows (n, k), and means (k,).

    Training sets are centred one at a time, so that no sum depends on the other sets.
    """
    centred = np.zeros(Y.shape)
    mean = np.empty(Y.shape[1])
    for k in range(Y.shape[1]):
        responses = np.ascontiguousarray(Y[rows[:, k], k])
        mean[k] = responses.mean()
        centred[rows[:, k], k] = responses - mean[k]
    return centred, mean


def _checked_weights(weights: Array | None, d: int) -> Array:
    """Return weights (d,), 1 by default; raise for negative or infinite ones."""
    weights_or_ones = np.ones(d) if weights is None else np.array(weights, dtype=float)
    if (
        weights_or_ones.shape != (d,)
        or not (np.isfinite(weights_or_ones) & (weights_or_ones >= 0)).all()
    ):
        raise GenesigError(f"weights must be {d} numbers >= 0")
    return weights_or_ones


def _checked_arrays(X: Array, Y: Array, rows: Array) -> tuple[Array, Array, Array]:
    """Return X, Y and rows as arrays of one type; raise for shapes or values that do not fit."""
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
