"""Stage I: the choice of (tau, lam), and of mu, by the inner folds.

Mosci 2009, section 4.4: for each inner fold the l1-l2 functional selects genes along a path of
tau, a ridge fit on each support follows for every lam, and the validation error of the samples
left out decides. There mu is the smallest one; here a rule may search several (see `rules`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from genesig.errors import pick
from genesig.optim.solution import Path
from genesig.selection.linear.kinds.known import FITTED
from genesig.selection.linear.kinds.record import Sets
from genesig.selection.linear.protocol import Protocol
from genesig.selection.linear.rules import RULES, Rule, Searched
from genesig.selection.linear.tasks import Task
from genesig.selection.linear.unseen import unseen

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Surface:
    """Validation results of one task over the grid.

    Attributes
    ----------
    error, standard_error : (n_mu, n_tau, n_lam) float
        At the mu that were searched; NaN where lists are longer than can be chosen.
    size, agreement : (n_mu, n_tau) float
        Mean number of selected genes; agreement of the folds' lists, where it was asked for.
    choice : (int, int, int)
        Chosen indices of tau, of lam, and of the list's mu in ``linear.mu``.
    threshold : float or array
        Where a score is cut, as its kind has it.
    left_out : (n, ...) float
        Score of each training sample at the choice, by the fold that left it out; else NaN.
    unseen : (n, ...) float or None
        The same less the cut, at what the other folds chose, see `unseen`.
    lowest : float
        Its validation error.
    length : float
        Mean number of genes of the chosen list.
    again : callable
        What is chosen with another ``signature.most``; None where nothing was searched.
    """

    error: Array
    standard_error: Array
    size: Array
    agreement: Array
    choice: tuple[int, int, int]
    threshold: Any
    left_out: Array
    unseen: Array | None = None
    lowest: float = np.nan
    length: float = np.nan
    again: Callable[[float], Surface] | None = None

    def shorter(self) -> Surface | None:
        """Choose among the lists that are shorter than this one; None where the rule finds none."""
        if self.again is None:
            return None
        found = self.again(float(np.nextafter(self.length, 0)))
        if not 1 <= found.length < self.length:
            return None
        return replace(found, agreement=self.agreement)


def stage_one(
    todo: list[Task], outer: Sets, inner: Sets, protocol: Protocol
) -> list[Surface]:  # fmt: skip
    """Search the grid for every task; their inner folds are solved together.

    Parameters
    ----------
    todo : list of Task
    outer : Sets
        Those of the tasks, one column each.
    inner : Sets
        What trains their inner folds, one after the other.
    protocol : Protocol
    """
    rule = pick("linear.list", RULES, protocol.list)
    folds = np.array([len(task.inner) for task in todo])
    left = np.hstack([task.left_rows() for task in todo])
    tau = np.repeat(protocol.tau_fractions() * outer.tau_max[:, None], folds, axis=0)
    found = [_search(inner, tau, mu, left, protocol, rule) for mu in rule.mu(protocol)]
    ends = np.cumsum(folds).tolist()
    columns = [range(end - len(task.inner), end) for task, end in zip(todo, ends, strict=True)]
    searched = map(partial(_searched, found, protocol), todo, columns)
    d = outer.X.shape[1]
    return [_surface(t, each, rule, protocol, d) for t, each in zip(todo, searched, strict=True)]


def _search(
    inner: Sets, tau: Array, mu: float, left: Array, protocol: Protocol, rule: Rule
) -> tuple[Path, Array]:  # fmt: skip
    """Go down the paths of one mu; return the lists and what their refits score of those left."""
    lists = inner.path(tau, mu * inner.norm[:, None], protocol, rule.longest(protocol))
    return lists, inner.scores(lists, protocol.lam_grid() * inner.norm[:, None], left)


def _searched(
    found: list[tuple[Path, Array]], protocol: Protocol, task: Task, columns: range
) -> list[Searched]:  # fmt: skip
    """Hold what was found at each mu against the samples left out of the folds of a task."""
    part = slice(columns.start, columns.stop)
    scores = np.concatenate([scores[part] for _, scores in found], axis=1)
    kind, cut = FITTED[task.kind], np.zeros(scores.shape[1:3])
    if protocol.threshold == "midpoint":
        cut = kind.cut(task, scores)
    surfaces = (cut, *kind.error(task, scores, cut, protocol.criterion))
    out = []
    for m, (lists, _) in enumerate(found):
        one, error, spread = (np.split(each, len(found))[m].copy() for each in surfaces)
        ended = (lists.iterations[part] < 0).any(axis=0)
        error[ended] = spread[ended] = np.nan
        own = scores[:, m * error.shape[0] : (m + 1) * error.shape[0]]
        out.append(Searched(error, spread, one, lists, columns, own))
    return out


def _surface(
    task: Task, searched: list[Searched], rule: Rule, protocol: Protocol, d: int
) -> Surface:  # fmt: skip
    (tau, lam, mu), agreement = rule.choose(searched, protocol, d)
    size = np.stack([found.size for found in searched])
    return Surface(
        error=np.stack([found.error for found in searched]),
        standard_error=np.stack([found.standard_error for found in searched]),
        size=size,
        agreement=agreement,
        choice=(tau, lam, rule.listed(protocol, mu)),
        threshold=searched[mu].cut[tau, lam],
        left_out=task.left_out(searched[mu].scores[:, tau, lam]),
        unseen=unseen(task, partial(_by_others, searched, rule, protocol, d)),
        lowest=float(searched[mu].error[tau, lam]),
        length=float(size[mu, tau]),
        again=lambda most: _surface(task, searched, rule, replace(protocol, most=most), d),
    )


def _by_others(
    searched: list[Searched], rule: Rule, protocol: Protocol, d: int, task: Task, folds: Array
) -> tuple[Array, Any]:  # fmt: skip
    """Choose by some of the folds; return what all of them score there, and their cut."""
    some = []
    for each in searched:
        own = each.scores[folds]
        error, spread = FITTED[task.kind].error(task, own, each.cut, protocol.criterion)
        error[np.isnan(each.error)] = spread[np.isnan(each.error)] = np.nan
        columns = [each.columns[fold] for fold in folds]
        some.append(Searched(error, spread, each.cut, each.lists, columns, own))
    (tau, lam, mu), _ = rule.choose(some, protocol, d)
    return searched[mu].scores[:, tau, lam], searched[mu].cut[tau, lam]
