"""Many training sets of one matrix with right-censored times as their response.

A covariate may have no finite fit: a word whose samples have no event, or a number that orders all
events, let Cox's likelihood rise for ever along its coefficient. Where the information about a
direction has faded in this way, the covariates of that training set have a penalty, ``ρ ||a||²``, ρ
= 1/n, of coefficients a on columns of mean square 1: a normal prior of variance 1, as much as one
sample tells.

Source: Albert and Anderson 1984 (separation); Heinze and Schemper 2001 (in Cox's model).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError
from genesig.optim.adjustment import Adjustment, adjustment
from genesig.optim.cox.likelihood import Many, judge_sets, refit_each, solve_sets
from genesig.optim.cox.risk_sets import USUAL, RiskSets, Terms
from genesig.optim.likelihood.path import Ground, Levels, State
from genesig.optim.training import TrainingSets, training_sets

DEPENDENT = 1e-12
"""Singular values below this share of the largest are rounding."""
FADED = 1e-6
"""Information about a direction, for each event, that is none."""
WIDE = 30.0
"""Logarithm of a hazard ratio between two samples that is no finite fit, either."""
SEPARATED = 1e-10
"""Decrease, relative to the null deviance, at which the covariates are fitted well enough."""


def ease(risk: RiskSets, C: Array) -> float:
    """Return ρ for covariates C (n, q): 0 where their likelihood has a maximum, else 1/n.

    Genes change nothing here: these have a penalty, so that a fit with them has a minimum where one
    without them has.
    """
    free, _ = span(C)
    if not free.shape[1]:
        return 0.0
    n = len(free)
    D = np.ascontiguousarray(free.T)
    none = np.zeros(free.shape[1])
    x = np.empty((1, len(D)))
    gap = np.empty(1)
    slack = SEPARATED * risk.null_deviance
    refit_each(risk.terms, D, none, none, np.zeros(1), slack, x, gap)
    eta = x[0] @ D
    left = np.linalg.eigvalsh(risk.hessian(risk.shares(eta), free))[0]
    faded = left < FADED * 2 * risk.omega.sum() / n
    return 1 / n if faded or np.ptp(eta) > WIDE else 0.0


def span(C: Array) -> tuple[Array, Array]:
    """Return columns (n, r) of length √n, at right angles, that span C (n, c), and (c, r) back.

    ``C back`` are these columns; what depends on others shares its coefficient.
    """
    if not C.shape[1]:
        return C, np.zeros((0, 0))
    left, sizes, back = np.linalg.svd(C, full_matrices=False)
    kept = sizes > DEPENDENT * sizes.max(initial=0.0)
    root = np.sqrt(len(C))
    return root * left[:, kept], root * back[kept].T / sizes[kept]


SLACK = 1e-14
"""Decrease, relative to the null deviance, at which a fit without features ends."""


@dataclass(frozen=True)
class CoxSets:
    """k training sets, each with its risk sets.

    Attributes
    ----------
    sets : TrainingSets
        Its Y are the martingale residuals at b = 0, so that its `tau_max` is that of the partial
        likelihood, where every feature is penalised: ``(2/n_k) max_j |z_j'y| / w_j``. Weights of
        samples are in them, in the scales of features and in its `norm`.
    risk : tuple of RiskSets
    rows : tuple of int arrays
        Rows of X of each training set, in the order of its risk sets.
    fixed : Adjustment or None
        Covariates without a penalty.
    known : dict
        What was made once, see `once`: paths of several mu start alike, and meet the same supports.
    """

    sets: TrainingSets
    risk: tuple[RiskSets, ...]
    rows: tuple[Array, ...]
    fixed: Adjustment | None = None
    known: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    def once(self, key: Any, make: Callable[..., Any], *given: Any) -> Any:
        """Return what `make` made of what is given when it was first asked for by this key."""
        if key not in self.known:
            self.known[key] = make(*given)
        return self.known[key]

    def columns(self, k: int, features: Array) -> Array:
        """Return standardised features (n_k, m) of training set k, in the order of risk sets."""
        mean = self.sets.mean[k, features]
        inverse = self.sets.inverse_scale[k, features]
        return np.asarray((self.sets.X[np.ix_(self.rows[k], features)] - mean) * inverse)

    def covariates(self, k: int) -> Array:
        """Return what spans the covariates of training set k, (n_k, q), in that order, too."""
        if self.fixed is None:
            return np.zeros((len(self.rows[k]), 0))
        return np.ascontiguousarray(self.fixed.basis[k][:, self.rows[k]].T)

    def ease(self, k: int) -> float:
        """Return the ridge of covariates that have no finite fit in training set k, mostly 0."""
        return float(self.once(("ease", k), ease, self.risk[k], self.covariates(k)))

    def span(self, k: int) -> tuple[Array, Array]:
        """Return `span` of the covariates of training set k."""
        found: tuple[Array, Array] = self.once(("span", k), span, self.covariates(k))
        return found

    @cached_property
    def free(self) -> Array:
        """Return the features without a penalty."""
        return np.flatnonzero(self.sets.weights == 0)

    def beside(self, k: int) -> tuple[Array, Array]:
        """Return `span` of these and the covariates of training set k."""
        if not len(self.free):
            return self.span(k)
        both = np.hstack([self.columns(k, self.free), self.covariates(k)])
        found: tuple[Array, Array] = self.once(("beside", k), span, both)
        return found

    @cached_property
    def deviance(self) -> Array:
        """What gaps are relative to, see `RiskSets.null_deviance`, (k,)."""
        return np.array([risk.null_deviance for risk in self.risk])

    @property
    def solve(self) -> Callable[..., None]:
        """See `path.Sets`."""
        return solve_sets

    @property
    def judge(self) -> Callable[..., None]:
        """See `path.Sets`."""
        return judge_sets

    @cached_property
    def start(self) -> State:
        """The fits without penalised features, see `path.Sets`."""
        ground = self._columns_alone(slice(None))
        k = len(self.risk)
        none = np.zeros((k, 0))
        (eta, z, u) = np.zeros((3, k, ground.F.shape[1]))
        state = State(none, np.zeros(ground.ease.shape), eta, z, u, none.copy())
        zero = np.zeros(k)
        levels = Levels(tau=zero, mu=zero, least=zero, slack=SLACK * self.deviance)
        solve_sets(ground, state, np.arange(k), levels, np.zeros(k, np.int64))
        return state

    def ground(self, part: slice) -> Ground:
        """Return some training sets for compiled code: what has no penalty is among the columns."""
        own = self.sets
        mean, inverse = own.moments(part)
        return self._columns_alone(part)._replace(
            F=own.matrix.F,
            mean=mean - own.matrix.shift if own.centre else mean,
            inverse=inverse * (own.weights > 0),
            weights=np.where(own.weights > 0, own.weights, 1),
        )

    def _columns_alone(self, part: slice) -> Ground:
        """Return training sets without features."""
        every = range(len(self.risk))[part]
        N = self.sets.matrix.F.shape[1]
        c = len(self.free) + self.covariates(0).shape[1]
        rows = np.empty((len(every), N), np.int64)
        columns = np.zeros((len(every), c, N))
        for at, k in enumerate(every):
            inside = self.rows[k]
            C = self.beside(k)[0].T
            rows[at] = np.concatenate([inside, np.setdiff1d(np.arange(N), inside)])
            columns[at, : len(C), : len(inside)] = C
        held = np.array([self.ease(k) for k in every])
        return Ground(
            F=np.zeros((0, N)),
            mean=np.zeros((len(every), 0)),
            inverse=np.zeros((len(every), 0)),
            weights=np.zeros(0),
            rows=rows,
            size=np.array([len(self.rows[k]) for k in every]),
            columns=columns,
            ease=np.repeat(2 * held[:, None], c, axis=1),
            response=_together([self.risk[k] for k in every]),
        )


def _together(risk: list[RiskSets]) -> Many:
    """Return the terms of training sets, filled up with zeros."""
    filled = {"sizes": np.array([len(one.omega) for one in risk])}
    for name in Terms._fields:
        arrays = [getattr(one.terms, name) for one in risk]
        filled[name] = np.zeros((len(arrays), max(map(len, arrays))), arrays[0].dtype)
        for line, values in zip(filled[name], arrays, strict=True):
            line[: len(values)] = values
    return Many(**filled)


def cox_sets(
    X: Array,
    time: Array,
    event: Array,
    rows: Array,
    *,
    centre: bool,
    unit_variance: bool,
    ties: str = USUAL,
    weights: Array | None = None,
    sample_weights: Array | None = None,
    like: CoxSets | None = None,
    fixed: Adjustment | None = None,
    norm: Array | None = None,
) -> CoxSets:
    """Describe k training sets of one matrix.

    Parameters
    ----------
    X : (n, d) array
    time, event : (n,) or (n, k) arrays
        Shared by all sets, or those of each.
    rows : (n, k) bool array
        Training rows of each set; each must hold an event.
    centre, unit_variance : bool
        As in `training.training_sets`; centring changes no fit, only rounding.
    ties : {"efron", "breslow"}
    weights : (d,) array, optional
        Of each feature's l1 term, 1 unless given. A feature of weight 0 has no penalty at all, l1
        or l2; there must be few of them.
    sample_weights : (n,) or (n, k) array, optional
        Above 0, scaled to a mean of 1 on the rows of each set.
    like : CoxSets, optional
        Others of the same X: their copy of it and weights serve both.
    fixed : Adjustment, optional
        Covariates without a penalty, of the same training rows and weights.
    norm : (k,) array, optional
        As in `training_sets`.

    Raises
    ------
    GenesigError
        As `training_sets` and `RiskSets.of` do; and where features without a penalty are as many as
        the samples of a set.
    """
    time = np.asarray(time, float)
    event = np.asarray(event)
    rows = np.asarray(rows, dtype=bool)
    fits = rows.ndim == 2 and len(time) == len(event) == len(rows)
    if not fits or not {time.shape[1:], event.shape[1:]} <= {(), rows.shape[1:]}:
        raise GenesigError(
            f"training rows must be (n, k), times and events (n,); found {rows.shape},"
            f" {time.shape}, {event.shape}"
        )
    risk = []
    order = []
    residuals = np.zeros(rows.shape)
    T, E = (each.T if each.ndim == 2 else [each] * rows.shape[1] for each in (time, event))
    V = None if sample_weights is None else np.asarray(sample_weights, dtype=float)
    for k, inside in enumerate(rows.T):
        chosen = np.flatnonzero(inside)
        v = V if V is None else (V[:, k] if V.ndim == 2 else V)[chosen]
        risk.append(RiskSets.of(T[k][chosen], E[k][chosen], ties, v))
        order.append(chosen[risk[-1].order])
        null = risk[-1].gradient(risk[-1].shares(np.zeros(len(chosen))))
        residuals[order[-1], k] = -len(chosen) / 2 * null / risk[-1].terms.weight
    known = None if V is None else adjustment(rows, weights=np.broadcast_to(V.T, rows.T.shape).T)
    sets = training_sets(
        X,
        residuals,
        rows,
        centre=centre,
        unit_variance=unit_variance,
        weights=weights,
        like=None if like is None else like.sets,
        adjustment=known,
        norm=norm,
    )
    free = int(np.sum(sets.weights == 0))
    fewest = min(map(len, order))
    if free >= fewest:
        raise GenesigError(
            f"{free} features have weight 0 and so no penalty, but a training set has {fewest}"
            " samples: penalise some of them"
        )
    return CoxSets(sets, tuple(risk), tuple(order), fixed)
