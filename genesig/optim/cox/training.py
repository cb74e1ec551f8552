"""Many training sets of one matrix with right-censored times as their response.

A covariate may have no finite fit. If no sample with a value has an event, or if a covariate
orders all events, Cox's likelihood rises for ever along its coefficient, and the information about
its direction fades. The covariates of such a training set have a penalty ``ρ ||a||²`` with ρ = 1/n,
a the coefficients on columns of mean square 1. It is a normal prior of variance 1, as informative
as one sample.

Source: Albert and Anderson 1984 (separation); Heinze and Schemper 2001 (in Cox's model).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError
from genesig.optim.adjustment import Adjustment, adjustment
from genesig.optim.cox.likelihood import PaddedTerms, certify_sets, refit_ridge_path, solve_sets
from genesig.optim.cox.risk_sets import DEFAULT_TIES, RiskSets, Terms
from genesig.optim.likelihood_path import LossData, PathLevels, PathState
from genesig.optim.training import TrainingSets, training_sets

MIN_COLUMN_SHARE = 1e-12  # singular value, as a share of the largest, below which it is rounding
MIN_EVENT_INFORMATION = 1e-6  # information about a direction, per event, below which there is none
MAX_LOG_HAZARD_RATIO = 30.0  # of two samples, above which a fit is not finite
SEPARATION_SLACK = 1e-10  # decrease, over the null deviance, at which a fit of covariates ends


def separation_ridge(risk: RiskSets, C: Array) -> float:
    """Return ρ for covariates C (n, q): 0 if their likelihood has a maximum, else 1/n.

    Genes do not matter here: they have a penalty, so that a fit with them has a minimum if a fit
    without them has.
    """
    free, _ = orthogonal_columns(C)
    if not free.shape[1]:
        return 0.0
    n = len(free)
    D = np.ascontiguousarray(free.T)
    no_penalty = np.zeros(free.shape[1])
    lam = np.zeros(1)  # a single fit
    x = np.empty((1, len(D)))
    gap = np.empty(1)
    slack = SEPARATION_SLACK * risk.null_deviance
    refit_ridge_path(risk.terms, D, no_penalty, no_penalty, lam, slack, x, gap)
    eta = x[0] @ D
    smallest_information = np.linalg.eigvalsh(risk.hessian(risk.shares(eta), free))[0]
    # The Hessian is 2/n times the information.
    is_faded = smallest_information < MIN_EVENT_INFORMATION * 2 * risk.omega.sum() / n
    return 1 / n if is_faded or np.ptp(eta) > MAX_LOG_HAZARD_RATIO else 0.0


def orthogonal_columns(C: Array) -> tuple[Array, Array]:
    """Return columns (n, r) of length √n, orthogonal, that span C (n, c), and T (c, r).

    The columns are C T; dependent columns share their coefficient.
    """
    if not C.shape[1]:
        return C, np.zeros((0, 0))
    U, sizes, V = np.linalg.svd(C, full_matrices=False)
    is_kept = sizes > MIN_COLUMN_SHARE * sizes.max(initial=0.0)
    length = np.sqrt(len(C))
    return length * U[:, is_kept], length * V[is_kept].T / sizes[is_kept]


START_SLACK = 1e-14  # decrease, relative to the null deviance, at which a fit without features ends


@dataclass(frozen=True)
class CoxSets:
    """k training sets, each with its risk sets."""

    # The responses are the martingale residuals at b = 0. So `tau_max` is that of the partial
    # likelihood without covariates: ``(2/n_k) max_j |z_j'y| / w_j``. Sample weights are in the
    # responses, in the scales of features and in `norm`.
    training_sets: TrainingSets
    risk: tuple[RiskSets, ...]
    rows: tuple[Array, ...]  # rows of X of each training set, in the order of its risk sets
    covariate_adjustment: Adjustment | None = None  # covariates without a penalty
    # results of `cached`: paths of several mu start alike, and meet the same supports
    cache: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    # see `LossTrainingSets`
    solve = staticmethod(solve_sets)
    certify = staticmethod(certify_sets)

    def cached(self, key: Any, function: Callable[..., Any], *args: Any) -> Any:
        """Return ``function(*args)``, computed once for each key."""
        if key not in self.cache:
            self.cache[key] = function(*args)
        return self.cache[key]

    def columns(self, k: int, features: Array) -> Array:
        """Return standardised features (n_k, m) of training set k, in the order of risk sets."""
        mean = self.training_sets.mean[k, features]
        inverse = self.training_sets.inverse_scale[k, features]
        return np.asarray((self.training_sets.X[np.ix_(self.rows[k], features)] - mean) * inverse)

    def covariates(self, k: int) -> Array:
        """Return spanning columns of the covariates of training set k, (n_k, q), in that order."""
        if self.covariate_adjustment is None:
            return np.zeros((len(self.rows[k]), 0))
        return np.ascontiguousarray(self.covariate_adjustment.basis[k][:, self.rows[k]].T)

    def separation_ridge(self, k: int) -> float:
        """Return the ridge of the covariates of training set k; 0 if they have a finite fit."""
        return float(
            self.cached(("separation_ridge", k), separation_ridge, self.risk[k], self.covariates(k))
        )

    def covariate_columns(self, k: int) -> tuple[Array, Array]:
        """Return `orthogonal_columns` of the covariates of training set k."""
        columns: tuple[Array, Array] = self.cached(
            ("covariate_columns", k), orthogonal_columns, self.covariates(k)
        )
        return columns

    @cached_property
    def deviance(self) -> Array:
        """Null deviance of each training set, (k,), which gaps are relative to."""
        return np.array([risk.null_deviance for risk in self.risk])

    @cached_property
    def start(self) -> PathState:
        """The fits without features, see `LossTrainingSets.start`."""
        data = self._data_without_features(slice(None))
        k = len(self.risk)
        no_coef = np.zeros((k, 0))
        (eta, z, u) = np.zeros((3, k, data.F.shape[1]))
        state = PathState(no_coef, np.zeros(data.column_ridge.shape), eta, z, u, no_coef.copy())
        zeros = np.zeros(k)
        levels = PathLevels(
            tau=zeros, mu=zeros, min_gradient=zeros, slack=START_SLACK * self.deviance
        )
        solve_sets(data, state, np.arange(k), levels, np.zeros(k, np.int64))
        return state

    def loss_data(self, chunk: slice) -> LossData:
        """Return a chunk of the training sets for compiled code."""
        shared_sets = self.training_sets
        mean, inverse = shared_sets.moments(chunk)
        return self._data_without_features(chunk)._replace(
            F=shared_sets.matrix.F,
            mean=mean - shared_sets.matrix.shift if shared_sets.centre else mean,
            inverse=inverse,
            weights=shared_sets.weights,
        )

    def _data_without_features(self, chunk: slice) -> LossData:
        """Return a chunk of the training sets with covariates only, and without features."""
        set_numbers = range(len(self.risk))[chunk]
        N = self.training_sets.matrix.F.shape[1]
        c = self.covariates(0).shape[1]
        rows = np.empty((len(set_numbers), N), np.int64)
        column_values = np.zeros((len(set_numbers), c, N))
        for row, k in enumerate(set_numbers):
            training_rows = self.rows[k]
            C = self.covariate_columns(k)[0].T
            rows[row] = np.concatenate([training_rows, np.setdiff1d(np.arange(N), training_rows)])
            column_values[row, : len(C), : len(training_rows)] = C
        ridge = np.array([self.separation_ridge(k) for k in set_numbers])
        return LossData(
            F=np.zeros((0, N)),
            mean=np.zeros((len(set_numbers), 0)),
            inverse=np.zeros((len(set_numbers), 0)),
            weights=np.zeros(0),
            rows=rows,
            n_samples=np.array([len(self.rows[k]) for k in set_numbers]),
            columns=column_values,
            column_ridge=np.repeat(2 * ridge[:, None], c, axis=1),  # of ½ ridge a²
            response=_padded_terms([self.risk[k] for k in set_numbers]),
        )


def _padded_terms(risk: list[RiskSets]) -> PaddedTerms:
    """Return the terms of training sets, padded with zeros to one width."""
    padded = {"sizes": np.array([len(risk_sets.omega) for risk_sets in risk])}
    for name in Terms._fields:
        arrays = [getattr(risk_sets.terms, name) for risk_sets in risk]
        padded[name] = np.zeros((len(arrays), max(map(len, arrays))), arrays[0].dtype)
        for padded_row, values in zip(padded[name], arrays, strict=True):
            padded_row[: len(values)] = values
    return PaddedTerms(**padded)


class FollowUp(NamedTuple):
    """Follow-up of n samples, shared by all training sets or of each, (n,) or (n, k)."""

    time: Array  # float: time until the event or the end of the observation
    event: Array  # bool: whether the event ended the follow-up
    # float: weights of the samples, above 0, scaled to a mean of 1 on the rows of each set
    weights: Array | None = None


def cox_sets(
    X: Array,
    follow_up: FollowUp,
    rows: Array,
    *,
    centre: bool,
    unit_variance: bool,
    ties: str = DEFAULT_TIES,
    weights: Array | None = None,
    share_copy_with: CoxSets | None = None,
    covariate_adjustment: Adjustment | None = None,
    norm: Array | None = None,
) -> CoxSets:
    """Describe k training sets of one matrix.

    X (n, d).
    rows (n, k) bool: training rows of each set; each must hold an event.
    centre, unit_variance: as in `training.training_sets`; centring changes no fit, only rounding.
    ties {"efron", "breslow"}.
    weights (d,), optional: of each feature's l1 term, above 0; 1 unless given.
    share_copy_with, optional: others of the same X: their copy of it and weights serve both.
    covariate_adjustment, optional: covariates without a penalty, of the same rows and weights.
    norm (k,), optional: as in `training_sets`.

    Raises GenesigError: as `training_sets` and `RiskSets.from_times` do; and for a weight of 0.
    """
    time = np.asarray(follow_up.time, float)
    event = np.asarray(follow_up.event)
    sample_weights = follow_up.weights
    rows = np.asarray(rows, dtype=bool)
    is_consistent = rows.ndim == 2 and len(time) == len(event) == len(rows)
    if not is_consistent or not {time.shape[1:], event.shape[1:]} <= {(), rows.shape[1:]}:
        raise GenesigError(
            f"training rows must be (n, k), times and events (n,); found {rows.shape},"
            f" {time.shape}, {event.shape}"
        )
    risk = []
    row_order = []
    residuals = np.zeros(rows.shape)
    times_of_sets, events_of_sets = (
        values.T if values.ndim == 2 else [values] * rows.shape[1] for values in (time, event)
    )
    set_weights = None if sample_weights is None else np.asarray(sample_weights, dtype=float)
    for k, in_training in enumerate(rows.T):
        training_rows = np.flatnonzero(in_training)
        v = (
            set_weights
            if set_weights is None
            else (set_weights[:, k] if set_weights.ndim == 2 else set_weights)[training_rows]
        )
        risk.append(
            RiskSets.from_times(
                times_of_sets[k][training_rows], events_of_sets[k][training_rows], ties, v
            )
        )
        row_order.append(training_rows[risk[-1].order])
        null = risk[-1].gradient(risk[-1].shares(np.zeros(len(training_rows))))
        residuals[row_order[-1], k] = -len(training_rows) / 2 * null / risk[-1].terms.weight
    weight_adjustment = (
        None
        if set_weights is None
        else adjustment(rows, weights=np.broadcast_to(set_weights.T, rows.T.shape).T)
    )
    sets = training_sets(
        X,
        residuals,
        rows,
        centre=centre,
        unit_variance=unit_variance,
        weights=weights,
        share_copy_with=None if share_copy_with is None else share_copy_with.training_sets,
        adjustment=weight_adjustment,
        norm=norm,
    )
    if not sets.weights.all():
        raise GenesigError("Cox's likelihood needs an l1 term of each feature: weights above 0")
    return CoxSets(sets, tuple(risk), tuple(row_order), covariate_adjustment)
