"""The l1-l2 problem with the logistic loss: many training sets of one matrix along (tau, mu).

``h(η) = Σ_i v_i log(1 + exp(-y_i η_i))``. For ``u_i = -y_i v_i q_i``, q_i in [0, 1], its conjugate
is ``Σ_i v_i (q_i log q_i + (1 - q_i) log(1 - q_i))``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled
from genesig.errors import GenesigError
from genesig.optim.adjustment import Adjustment, adjustment
from genesig.optim.likelihood.newton import Loss
from genesig.optim.likelihood.path import Ground, Levels, State, likelihood_path, over_sets
from genesig.optim.solution import Path
from genesig.optim.training import TrainingSets, training_sets


class Classes(NamedTuple):
    """Classes y of -1 and 1 and weights v, each (n,), or (T, N) of training sets."""

    y: Array
    v: Array


class Here(NamedTuple):
    """h(η), its gradient u (n,), and its second derivatives w (n,)."""

    value: float
    u: Array
    w: Array


@compiled
def classes_of(response: Classes, t: int, n: int) -> Classes:
    """Return those of one training set."""
    return Classes(response.y[t, :n], response.v[t, :n])


@compiled
def at(given: Classes, eta: Array) -> Here:
    """Return the loss at η."""
    value = 0.0
    u = np.empty(len(eta))
    w = np.empty(len(eta))
    for i in range(len(eta)):
        z = given.y[i] * eta[i]
        e = np.exp(-abs(z))
        value += given.v[i] * (max(-z, 0.0) + np.log1p(e))
        u[i] = -given.y[i] * given.v[i] * (e if z > 0 else 1.0) / (1.0 + e)
        w[i] = given.v[i] * e / ((1.0 + e) * (1.0 + e))
    return Here(value, u, w)


@compiled
def curve(given: Classes, here: Here, D: Array, places: Array, HD: Array) -> None:
    """See `Loss.curve`: H is diagonal."""
    for j in places:
        for i in range(D.shape[1]):
            HD[j, i] = here.w[i] * D[j, i]


@compiled
def halve(given: Classes, here: Here, D: Array, places: Array, E: Array) -> None:
    """See `Loss.halve`."""
    root = np.sqrt(here.w)
    for j in places:
        for i in range(D.shape[1]):
            E[j, i] = root[i] * D[j, i]


@compiled
def conjugate(given: Classes, here: Here, eta: Array, z: Array, u: Array, s: float) -> float:
    """Return h*(s u); ∞ for no q in [0, 1]."""
    total = 0.0
    for i in range(len(u)):
        q = -s * given.y[i] * u[i] / given.v[i]
        if q < 0.0 or q > 1.0:
            return np.inf
        total += given.v[i] * (
            (q * np.log(q) if q > 0.0 else 0.0) + ((1.0 - q) * np.log1p(-q) if q < 1.0 else 0.0)
        )
    return total


LOGISTIC = Loss(at, curve, halve, conjugate)
solve_each, judge_each = over_sets(LOGISTIC, classes_of)


@compiled
def solve_sets(ground: Ground, state: State, which: Array, levels: Levels, steps: Array) -> None:
    """See `over_sets`."""
    solve_each(ground, state, which, levels, steps)


@compiled
def judge_sets(
    ground: Ground, state: State, which: Array, levels: Levels, gap: Array, outside: Array
) -> None:
    """See `over_sets`."""
    judge_each(ground, state, which, levels, gap, outside)


FADED = 1e-6
"""Information about a covariate, for each sample, that is none."""
WIDE = 30.0
"""Logarithm of an odds ratio between two samples that is no finite fit, either."""
SLACK = 1e-14
"""Decrease of the loss at which a fit of the covariates alone ends."""


@dataclass(frozen=True)
class LogisticSets:
    """k training sets, each with two classes.

    Attributes
    ----------
    sets : TrainingSets
        Its Y are half the residuals t - p of the fit without features, so that its `tau_max` is
        that of the logistic loss. Weights of samples are in them, in the scales of features and in
        its `norm`.
    y, v : (k, N) float arrays
        Classes -1 and 1, and weights of sum 1, 0 on left-out rows; N as in the sets' copy of X.
    columns : (k, 1 + q, N) float array
        1, and what spans the covariates, of mean square 1 on the training rows.
    ease : (k, 1 + q) float array
        The ridge of the columns where covariates separate the classes, elsewhere 0.
    start : State
        The fits without features.
    deviance : (k,) float array
        Their losses: what gaps are relative to.
    fixed : Adjustment or None
        Weights and covariates, as they were given.
    balanced : bool
        Whether both classes weigh alike.
    """

    sets: TrainingSets
    y: Array
    v: Array
    columns: Array
    ease: Array
    start: State
    deviance: Array
    fixed: Adjustment | None
    balanced: bool

    @property
    def tau_max(self) -> Array:
        """``(1/n_k) max_j |z_j'V(t - p)| / w_j`` of each, (k,); see `TrainingSets.tau_max`."""
        return self.sets.tau_max

    @property
    def norm(self) -> Array:
        """``||Z'Z||/n`` of each, the unit of mu, (k,)."""
        return self.sets.norm

    @property
    def solve(self) -> Callable[..., None]:
        """See `path.Sets`."""
        return solve_sets

    @property
    def judge(self) -> Callable[..., None]:
        """See `path.Sets`."""
        return judge_sets

    def ground(self, part: slice) -> Ground:
        """Return some training sets for compiled code."""
        own = self.sets
        mean, inverse = own.moments(part)
        alone = _columns_alone(self.y[part], self.v[part], self.columns[part], self.ease[part])
        return alone._replace(
            F=own.matrix.F,
            mean=mean - own.matrix.shift if own.centre else mean,
            inverse=inverse,
            weights=own.weights,
        )


def logistic_sets(
    X: Array,
    Y: Array,
    rows: Array,
    *,
    centre: bool,
    unit_variance: bool,
    weights: Array | None = None,
    fixed: Adjustment | None = None,
    balanced: bool = False,
    like: LogisticSets | None = None,
) -> LogisticSets:
    """Describe k training sets of one matrix.

    Parameters
    ----------
    X : (n, d) array
    Y : (n, k) array
        -1 and 1 on the training rows; values outside are ignored.
    rows : (n, k) bool array
    centre, unit_variance : bool
        As in `training.training_sets`; with the free intercept centring changes no fit, only
        rounding.
    weights : (d,) array, optional
        Of each feature's l1 term, 1 unless given; 0 has the term of mu only.
    fixed : Adjustment, optional
        Weights of the samples, and covariates without a penalty, of the same training rows. Where
        these separate the classes there is no finite fit: they have a ridge then, ``ρ ||a||²``,
        ρ = 1/n, of coefficients a on columns of mean square 1, as in `cox.separation`.
    balanced : bool
        Multiply the weights of each class so that both have the same sum.
    like : LogisticSets, optional
        Others of the same X: their copy of it and their weights serve both.

    Raises
    ------
    GenesigError
        Where `training_sets` raises one; for values other than -1 and 1; and for a training set
        in which a class has no sample of a weight above 0.
    """
    Y = np.asarray(Y, dtype=float)
    rows = np.asarray(rows, dtype=bool)
    v = _weights(Y, rows, fixed, balanced)
    y = np.ascontiguousarray(np.where(rows, Y, 1.0).T)
    share = np.ascontiguousarray((v / v.sum(axis=0)).T)
    columns = _columns(rows, fixed, share)
    start, ease = _without_features(y, share, columns, rows.sum(axis=0))
    eta = np.einsum("kc,kcn->kn", start.a, columns)
    deviance = np.sum(share * np.logaddexp(0, -y * eta), axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        residuals = np.where(share > 0, -start.u / share / 2, 0.0).T
    plain = np.isin(v, (0.0, 1.0))[rows].all() and (v[rows] == 1).all()
    sets = training_sets(
        X,
        residuals,
        rows,
        centre=centre,
        unit_variance=unit_variance,
        weights=weights,
        like=None if like is None else like.sets,
        adjustment=None if plain else adjustment(rows, weights=v),
    )
    return LogisticSets(sets, y, share, columns, ease, start, deviance, fixed, balanced)


def _weights(Y: Array, rows: Array, fixed: Adjustment | None, balanced: bool) -> Array:
    """Return the weights of all samples (n, k), 0 outside, of mean 1; or refuse the classes."""
    if Y.ndim != 2 or rows.shape != Y.shape or (fixed and fixed.root.shape != rows.shape):
        raise GenesigError(f"Y and rows must be (n, k) alike; found {Y.shape}, {rows.shape}")
    if not np.isin(Y[rows], (-1.0, 1.0)).all():
        raise GenesigError("the logistic loss needs classes -1 and 1 on all training rows")
    v = rows.astype(float) if fixed is None else np.square(fixed.root)
    for sign, name in ((-1.0, "-1"), (1.0, "1")):
        member = np.equal(Y, sign)
        total = np.where(rows & member, v, 0.0).sum(axis=0)
        if not total.all():
            raise GenesigError(
                f"training set {int(np.flatnonzero(total == 0)[0])} has no sample of class {name}:"
                " the logistic loss needs both classes in each"
            )
        if balanced:
            v = np.where(member, v * (rows.sum(axis=0) / (2 * total)), v)
    return v


def _columns(rows: Array, fixed: Adjustment | None, share: Array) -> Array:
    """Return 1 and the columns of the covariates, (k, 1 + q, N)."""
    q = 0 if fixed is None else fixed.basis.shape[1]
    columns = np.zeros((len(share), 1 + q, share.shape[1]))
    columns[:, 0] = 1.0
    if fixed is not None:
        columns[:, 1:] = fixed.basis * np.sqrt(rows.sum(axis=0))[:, None, None]
    return columns


def _columns_alone(y: Array, v: Array, columns: Array, ease: Array) -> Ground:
    """Return training sets without features; those samples are in them that have a weight."""
    rows = np.argsort(v <= 0, axis=1, kind="stable")
    size = (v > 0).sum(axis=1)
    none = y[:, :0]
    given = Classes(*(np.take_along_axis(each, rows, axis=1) for each in (y, v)))
    beside = np.take_along_axis(columns, rows[:, None], axis=2)
    return Ground(
        F=np.zeros((0, y.shape[1])),
        mean=none,
        inverse=none,
        weights=np.zeros(0),
        rows=rows,
        size=size,
        columns=beside,
        ease=ease,
        response=given,
    )


def _without_features(y: Array, v: Array, columns: Array, sizes: Array) -> tuple[State, Array]:
    """Fit the columns alone; return where that is, and the ridge that they need."""
    ease = np.zeros(columns.shape[:2])
    state = _fit(y, v, columns, ease, np.arange(len(y)))
    if columns.shape[1] == 1:
        return state, ease
    for k, (C, a, inside) in enumerate(zip(columns, state.a, v > 0, strict=True)):
        eta = a @ C[:, inside]
        D = C[np.square(C[:, inside]).any(axis=1)][:, inside]
        p = np.exp(-np.logaddexp(0, -eta))
        left = np.linalg.eigvalsh((D * (v[k, inside] * p * (1 - p))) @ D.T)[0]
        if left < FADED or np.ptp(eta) > WIDE:
            ease[k, 1:] = 2 / sizes[k]
    again = np.flatnonzero(ease.any(axis=1))
    if len(again):
        for old, new in zip(state, _fit(y, v, columns, ease, again), strict=True):
            old[again] = new[again]
    return state, ease


def _fit(y: Array, v: Array, columns: Array, ease: Array, which: Array) -> State:
    """Return the state without features, of those that are named."""
    (k, c, N) = columns.shape
    none = np.zeros((len(y), 0))
    zero = np.zeros(len(y))
    eta, z, u = np.zeros((3, k, N))
    state = State(none, np.zeros((k, c)), eta, z, u, none.copy())
    ground = _columns_alone(y, v, columns, ease)
    solve_sets(ground, state, which, Levels(zero, zero, zero, zero + SLACK), np.zeros(k, np.int64))
    return state


def logistic_path(
    sets: LogisticSets,
    tau: Array | float,
    mu: Array | float,
    *,
    tolerance: float,
    longest: int | None = None,
) -> tuple[Path, Array, Array]:
    """Minimise the penalised logistic loss for every training set.

    ``(1/n) Σ_i v_i log(1 + exp(-y_i (a + c_i'g + z_i'b))) + mu ||b||² + tau Σ_j w_j |b_j|``, with
    the weights v, w and covariates c of the sets.

    Parameters
    ----------
    sets : LogisticSets
    tau, mu, tolerance, longest
        See `likelihood_path`; gaps are relative to the loss without features.

    Returns
    -------
    path : Path
        Coefficients on the standardised scale.
    intercept : (k, m) array
        Of a sample with the mean of each feature and covariate; NaN where the row had ended.
    gamma : (k, m, q) array
        Coefficients on ``sets.columns[:, 1:]``, which are centred, orthogonal and of mean square 1.

    Raises
    ------
    GenesigError
        For tau or mu that are negative, or tau = mu = 0.
    """
    path, held = likelihood_path(sets, tau, mu, tolerance=tolerance, longest=longest)
    return path, held[..., 0], held[..., 1:]


def logistic_coef(sets: LogisticSets, path: Path, intercept: Array) -> tuple[Array, Array]:
    """Return (values, intercept) in the units of X.

    ``f(x) = intercept[k, m] + x[indices] @ values`` with the indices of the path is the logarithm
    of the odds of class 1, for samples with the mean of each covariate.

    Parameters
    ----------
    sets : LogisticSets
    path : Path
    intercept : (k, m) array
        Of `logistic_path`.

    Returns
    -------
    values : (nnz,) array
        Aligned with `path.indices`.
    intercept : (k, m) array
    """
    fit = np.repeat(np.arange(intercept.size), np.diff(path.indptr))
    of_set = fit // path.shape[1]
    values = path.values * sets.sets.inverse_scale[of_set, path.indices]
    taken = np.bincount(fit, values * sets.sets.mean[of_set, path.indices], intercept.size)
    return values, intercept - taken.reshape(intercept.shape)
