"""Which of the lists that were searched becomes the answer: one rule for each ``linear.list``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.optim.solution import Path
from genesig.selection.assess.agreement import agreement
from genesig.selection.linear.protocol import Protocol

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Searched:
    """What the inner folds of one training set say of one mu.

    Attributes
    ----------
    error, standard_error : (n_tau, n_lam) float
        NaN where a path had ended.
    cut : (n_tau, n_lam) float
        Where the out-of-fold scores are cut, see `validation.midpoint`.
    lists : Path
        Fits of many training sets.
    columns : sequence of int
        Those of the folds of this one.
    scores : (n_folds, n_tau, n_lam, n, ...) float
        Of all samples, by the refits of each fold.
    """

    error: Array
    standard_error: Array
    cut: Array
    lists: Path
    columns: Sequence[int]
    scores: Array

    @property
    def size(self) -> Array:
        """Return the mean number of selected genes, (n_tau,); NaN where a path had ended."""
        part = list(self.columns)
        ended = self.lists.iterations[part] < 0
        return np.asarray(np.where(ended, np.nan, self.lists.sizes()[part]).mean(axis=0))

    def agreement(self, tau: int, d: int) -> float:
        """Return how alike the lists of the folds are at one tau, among d genes."""
        return agreement([self.lists.coef(fold, tau)[0] for fold in self.columns], d)


Choice = tuple[int, int, int]
"""Numbers of tau, of lam, and of mu among those searched."""


@dataclass(frozen=True)
class Rule:
    """How a list is chosen.

    Attributes
    ----------
    mu : callable
        Protocol to the mu that are searched, (n_mu,).
    longest : callable
        Protocol to the number of genes beyond which a path need not go, or None.
    choose : callable
        (searched, protocol, d) to the choice and the agreement of the lists of the folds where it
        was asked for, (n_mu, n_tau).
    listed : callable
        (protocol, number of mu among those searched) to the place of the list in ``linear.mu``.
    """

    mu: Callable[[Protocol], Array]
    longest: Callable[[Protocol], int | None]
    choose: Callable[[list[Searched], Protocol, int], tuple[Choice, Array]]
    listed: Callable[[Protocol, int], int]


def choose_minimal(searched: list[Searched], protocol: Protocol, d: int) -> tuple[Choice, Array]:
    """Choose by the error at the first mu alone, as Mosci 2009, section 4.4.

    The smallest error wins; ties go to the largest tau, then to the largest lam. With
    `one_standard_error`, the largest tau that has an error within one standard error of the
    smallest wins, with its best lam (Breiman et al. 1984).
    """
    (found,) = searched
    error = found.error.round(12)  # counts of errors tie exactly; sums of their weights do not
    best = np.unravel_index(np.argmin(error), error.shape)
    bound = error[best]
    if protocol.one_standard_error:
        bound = (bound + found.standard_error[best]).round(12)
    tau = int(np.argmax((error <= bound).any(axis=1)))
    return (tau, _best_lam(error[tau]), 0), np.full((1, len(error)), np.nan)


def choose_stable(searched: list[Searched], protocol: Protocol, d: int) -> tuple[Choice, Array]:
    """Choose by error first, then by the agreement of the lists of the inner folds.

    With E(mu, tau) the validation error at its best lam and E* ± SE* the smallest of all:
    candidates have E <= E* + SE* and a mean length from 1 to ``signature.most``; the largest
    agreement wins (Nogueira's index, corrected for chance and length). Ties go to the shorter
    list, then to the larger lam. Without a candidate, the shortest list within E* + SE*.
    `double_loop` asks again, for fewer, where the list itself is longer.

    References
    ----------
    Bommert, Rahnenführer and Lang 2017, Comput. Math. Methods Med. 7907163: accuracy first,
    stability second. Hamer and Dupont 2021, PLoS ONE 16(7): e0254920, for the trade-off.
    """
    error = np.stack([found.error for found in searched]).round(12)
    size = np.stack([found.size for found in searched])
    agreed = np.full(size.shape, np.nan)
    if np.isnan(error).all():  # the first list of every path is too long
        return (0, error.shape[2] - 1, 0), agreed
    at = np.unravel_index(np.nanargmin(error), error.shape)
    bound = (error[at] + searched[at[0]].standard_error[at[1:]]).round(12)
    good = (error <= bound).any(axis=2)
    fitting = good & (size >= 1) & (size <= protocol.most)
    for mu, tau in np.argwhere(fitting):
        agreed[mu, tau] = searched[mu].agreement(int(tau), d)
    value = np.where(np.isnan(agreed), -1.0, agreed).round(12)
    places = [(int(mu), int(tau)) for mu, tau in np.argwhere(fitting if fitting.any() else good)]
    best = min((-value[place], size[place]) for place in places)
    lam = {p: _best_lam(error[p]) for p in places if (-value[p], size[p]) == best}
    mu, tau = max(lam, key=lambda place: lam[place])
    return (tau, lam[mu, tau], mu), agreed


def _best_lam(error: Array) -> int:
    """Return the number of the smallest error, of the largest lam among equals."""
    return int(np.flatnonzero(error == np.nanmin(error))[-1])


def _list_mu(protocol: Protocol, _: int) -> int:
    mu = protocol.mu[0] if protocol.list_mu is None else protocol.list_mu
    return list(protocol.mu).index(mu)


STABLE = Rule(
    mu=Protocol.searched_mu,
    longest=lambda protocol: int(2 * protocol.most),
    choose=choose_stable,
    listed=lambda protocol, at: list(protocol.mu).index(protocol.searched_mu()[at]),
)

RULES = {
    "best": STABLE,
    "controlled": STABLE,
    "stable": STABLE,
    "minimal": Rule(
        mu=lambda protocol: np.asarray(protocol.mu[:1], dtype=float),
        longest=lambda protocol: None,
        choose=choose_minimal,
        listed=_list_mu,
    ),
}
