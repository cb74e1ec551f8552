"""Many training sets of one matrix with right-censored times as their response."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from genesig.compiled.cox import Features, products, standardised
from genesig.compiled.lanes import LANES
from genesig.errors import GenesigError
from genesig.optim.adjustment import Adjustment, adjustment
from genesig.optim.cox.certificate import null_deviance
from genesig.optim.cox.newton import span
from genesig.optim.cox.risk_sets import USUAL, RiskSets
from genesig.optim.cox.separation import ease
from genesig.optim.training import TrainingSets, training_sets

Array = np.ndarray[Any, Any]
Solving = Generator[Array, Any, Any]
"""A training set at work: it yields u (n,) to be sent Z'u (d,), and returns what it has found."""


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

    @cached_property
    def centres(self) -> Array:
        """Return the means (k, d) of the features that the matrix holds, less its shift."""
        own = self.sets
        return own.mean - own.matrix.shift if own.centre else own.mean

    def features(self, k: int) -> Features:
        """Return all features of training set k, for compiled code."""
        own = self.sets
        return Features(own.matrix.F, self.centres[k], own.inverse_scale[k], own.weights,
                        self.rows[k])  # fmt: skip

    def by_row(self, k: int, features: Array, more: Array) -> Array:
        """Return standardised features, and columns `more` (n_k, c), as rows of whole lanes."""
        D = np.zeros((len(features) + more.shape[1], -(-len(self.rows[k]) // LANES) * LANES))
        standardised(self.features(k), features, D)
        D[len(features) :, : len(more)] = more.T
        return D

    def columns(self, k: int, features: Array) -> Array:
        """Return standardised features (n_k, m) of training set k, in the order of risk sets."""
        none = np.zeros((len(self.rows[k]), 0))
        places = np.asarray(features, dtype=np.int64)
        return self.by_row(k, places, none)[:, : len(none)].T

    def covariates(self, k: int) -> Array:
        """Return what spans the covariates of training set k, (n_k, q), in that order, too."""
        if self.fixed is None:
            return np.zeros((len(self.rows[k]), 0))
        return np.ascontiguousarray(self.fixed.basis[k][:, self.rows[k]].T)

    def ease(self, k: int) -> float:
        """Return the ridge of covariates that have no finite fit in training set k, mostly 0."""
        return float(self.once(("ease", k), ease, self.risk[k], self.covariates(k)))

    def span(self, k: int) -> tuple[Array, Array]:
        """Return `newton.span` of the covariates of training set k."""
        found: tuple[Array, Array] = self.once(("span", k), span, self.covariates(k))
        return found

    def deviance(self, k: int) -> float:
        """Return `certificate.null_deviance` of training set k."""
        return float(self.once(("deviance", k), null_deviance, self.risk[k]))

    def products(self, asked: dict[int, Array]) -> dict[int, Array]:
        """Return Z'u (d,) of training sets, for u (n_k,) of sum 0 in the order of risk sets."""
        F = self.sets.matrix.F
        wide, found = np.zeros((len(asked), F.shape[1])), np.empty((len(asked), len(F)))
        for line, (k, u) in zip(wide, asked.items(), strict=True):
            line[self.rows[k]] = u
        products(F, wide, found)
        found *= self.sets.inverse_scale[list(asked)]
        return dict(zip(asked, found, strict=True))

    def side_by_side(self, going: dict[int, Solving]) -> dict[int, Any]:
        """Return what training sets at work come to; one pass over the matrix answers all."""
        found: dict[int, Any] = {}
        answers: dict[int, Array | None] = dict.fromkeys(going)
        while going:
            asked = {}
            for k, solving in list(going.items()):
                try:
                    asked[k] = solving.send(answers[k])
                except StopIteration as end:
                    found[k] = end.value
                    del going[k]
            answers = {**self.products(asked)} if asked else {}
        return found


def cox_sets(
    X: Array, time: Array, event: Array, rows: Array, *, centre: bool, unit_variance: bool,
    ties: str = USUAL, weights: Array | None = None, sample_weights: Array | None = None,
    like: CoxSets | None = None, fixed: Adjustment | None = None, norm: Array | None = None,
) -> CoxSets:  # fmt: skip
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
    time, event, rows = np.asarray(time, float), np.asarray(event), np.asarray(rows, dtype=bool)
    fits = rows.ndim == 2 and len(time) == len(event) == len(rows)
    if not fits or not {time.shape[1:], event.shape[1:]} <= {(), rows.shape[1:]}:
        raise GenesigError(
            f"training rows must be (n, k), times and events (n,); found {rows.shape},"
            f" {time.shape}, {event.shape}"
        )
    risk, order, residuals = [], [], np.zeros(rows.shape)
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
        X, residuals, rows, centre=centre, unit_variance=unit_variance, weights=weights,
        like=None if like is None else like.sets, adjustment=known, norm=norm,
    )  # fmt: skip
    free, fewest = int(np.sum(sets.weights == 0)), min(map(len, order))
    if free >= fewest:
        raise GenesigError(
            f"{free} features have weight 0 and so no penalty, but a training set has {fewest}"
            " samples: penalise some of them"
        )
    return CoxSets(sets, tuple(risk), tuple(order), fixed)
