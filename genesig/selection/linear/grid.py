"""Stage I: (tau, lam) and mu by the inner folds, the searched list, the scores of unseen samples.

Unseen scores: the settings of smallest error were chosen by the samples left out of all inner
folds, so that the scores of these look better than they are: a line fitted to them would state
probabilities too far from each other. Here the folds of a sample have no say in what scores it.
Nothing is fitted anew.

The test samples of a split have no part in it: with labels of theirs, even through other splits,
scores that know nothing would seem to be worth something.

Mosci 2009, section 4.4: for each inner fold the l1-l2 functional selects genes along a path of
tau, a ridge fit on each support follows for every lam, and the validation error of the samples
left out decides. There mu is the smallest one; here a rule may search several (see `rules`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.errors import pick
from genesig.optim.class_line import ShrunkenLine, fitted_line, probabilities, shrunken_line
from genesig.optim.solution import Path
from genesig.selection.assess.clusters import design_effect, influence_spread
from genesig.selection.genes.frequency import agreement
from genesig.selection.linear.kinds.known import FITTED, inner_sets
from genesig.selection.linear.kinds.record import Sets
from genesig.selection.linear.tasks import LinearSettings, TrainingSet

Choose = Callable[[TrainingSet, Array], tuple[Array, Any]]


PARTS = 5
"""Most parts into which the inner folds are dealt: each chooses once without itself."""


def unseen(task: TrainingSet, choose: Choose) -> Array | None:
    """Return the score of each training sample, less the cut, (n, ...), else NaN.

    None without classes, and under permuted labels, of which no probability is told.

    Parameters
    ----------
    task : Task
    choose : callable
        The task without some of its folds, and the numbers of the others, to the scores
        (n_folds, n, ...) of all samples by each fold at what these choose, and where it is cut.
    """
    kind = FITTED[task.kind]
    folds = np.arange(len(task.inner_folds))
    if kind.by_class is None or task.permutation:
        return None
    found = None
    for part in range(min(PARTS, len(folds))):
        scores, cut = choose(*_without(task, folds[folds % PARTS != part]))
        found = np.full(scores.shape[1:], np.nan) if found is None else found
        for fold in folds[folds % PARTS == part]:
            rows = task.inner_folds[fold]
            found[rows] = kind.told(scores[fold, rows], cut)
    return found


def _without(task: TrainingSet, others: Array) -> tuple[TrainingSet, Array]:
    """Return the task of some folds and their numbers; of all folds, where these lack a class."""
    inner = tuple(task.inner_folds[fold] for fold in others)
    rows = np.concatenate([*inner, np.zeros(0, dtype=np.int64)])
    if len(np.unique(task.y[rows])) < len(np.unique(task.y[task.train])):
        return task, np.arange(len(task.inner_folds))
    return replace(task, train=np.sort(rows), inner=inner), others


class ClassLines(NamedTuple):
    """The lines of the probabilities of k tasks, NaN where a task has no line.

    Attributes
    ----------
    line : (k, T + 1) float, or None
    shrinkage : (k,) float, or None
        See `genesig.optim.class_line.ShrunkenLine`.
    """

    line: Array | None
    shrinkage: Array | None


NO_LINES = ClassLines(None, None)
"""Of tasks without classes, or with permuted labels."""


def class_lines(training_sets: Sequence[TrainingSet], unseen: Sequence[Array | None]) -> ClassLines:
    """Return the line of each task, see `shrunken_line`; `NO_LINES` without any scores.

    Parameters
    ----------
    training_sets : list of Task
    unseen : list of (n, ...) float or None
        Scores of each, see `unseen`.
    """
    by_class = FITTED[training_sets[0].kind].by_class
    if by_class is None:
        return NO_LINES
    lines = [
        None if scores is None else class_line(training_set, by_class(scores))
        for training_set, scores in zip(training_sets, unseen, strict=True)
    ]
    columns = next((len(each.line) for each in lines if each is not None), None)
    if columns is None:
        return NO_LINES
    missing = ShrunkenLine(np.full(columns, np.nan), np.nan)
    complete = [missing if each is None else each for each in lines]
    return ClassLines(
        np.stack([each.line for each in complete]), np.array([each.shrinkage for each in complete])
    )


def class_line(training_set: TrainingSet, scores: Array) -> ShrunkenLine:
    """Return the line from scores (n, T) of the training samples, NaN for other samples."""
    rows = ~np.isnan(scores).any(axis=1)
    y = training_set.y[rows]
    class_number = (y > 0 if FITTED[training_set.kind].signs else y).astype(np.int64)
    if training_set.group is None:
        return shrunken_line(scores[rows], class_number)
    effect = slope_design_effect(scores[rows], class_number, training_set.group[rows])
    return shrunken_line(scores[rows], class_number, effect)


def slope_design_effect(scores: Array, class_number: Array, group: Array) -> float:
    """Return the variance of the slope over groups, over that of independent samples; at least 1.

    The influence of a sample on the slope is the residual of each class times its centred score.

    Parameters
    ----------
    scores : (n, T) float
    class_number, group : (n,) int
    """
    p = probabilities(scores, fitted_line(scores, class_number))
    residual = np.eye(scores.shape[1])[class_number] - p
    influence = (residual * (scores - scores.mean(axis=0))).sum(axis=1)
    if not np.isfinite(influence).all():
        return 1.0
    alone = influence_spread(influence, np.arange(len(group)))
    return max(1.0, design_effect(influence_spread(influence, group), alone, group))


@dataclass(frozen=True)
class Searched:
    """What the inner folds of one training set say of one mu.

    Attributes
    ----------
    error, standard_error : (n_tau, n_lam) float
        NaN where a path had ended.
    cut : (n_tau, n_lam) float
        Where the out-of-fold scores are cut, see `least_squares.midpoint`.
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


@dataclass(frozen=True)
class Averaged:
    """What several draws of the inner folds say of one mu, in the mean: attributes as `Searched`.

    The standard error is that of one draw: draws share their samples, and more of them leave it.
    """

    draws: Sequence[Searched]

    @property
    def error(self) -> Array:
        """Mean validation error, NaN where a path of any draw had ended."""
        return _mean([draw.error for draw in self.draws])

    @property
    def standard_error(self) -> Array:
        """Mean of those of the draws."""
        return _mean([draw.standard_error for draw in self.draws])

    @property
    def cut(self) -> Array:
        """Mean of where the scores of each are cut."""
        return _mean([draw.cut for draw in self.draws])

    @property
    def size(self) -> Array:
        """Mean number of selected genes."""
        return _mean([draw.size for draw in self.draws])

    def agreement(self, tau: int, d: int) -> float:
        """Return how alike the lists of the folds of a draw are, in the mean."""
        return float(np.mean([draw.agreement(tau, d) for draw in self.draws]))


def _mean(values: Sequence[Array]) -> Array:
    return np.asarray(np.mean(values, axis=0))


Said = Searched | Averaged
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
    averaged : bool
        Whether the final model chooses by several draws of its inner folds.
    """

    mu: Callable[[LinearSettings], Array]
    longest: Callable[[LinearSettings], int | None]
    choose: Callable[[Sequence[Said], LinearSettings, int], tuple[Choice, Array]]
    listed: Callable[[LinearSettings, int], int]
    averaged: bool = False


def choose_minimal(
    searched: Sequence[Said], protocol: LinearSettings, d: int
) -> tuple[Choice, Array]:
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


def choose_stable(
    searched: Sequence[Said], protocol: LinearSettings, d: int
) -> tuple[Choice, Array]:
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
    bound = (error[at] + searched[int(at[0])].standard_error[at[1:]]).round(12)
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


def _list_mu(protocol: LinearSettings, _: int) -> int:
    mu = protocol.mu[0] if protocol.list_mu is None else protocol.list_mu
    return list(protocol.mu).index(mu)


STABLE = Rule(
    mu=LinearSettings.searched_mu,
    longest=lambda protocol: int(2 * protocol.most),
    choose=choose_stable,
    listed=lambda protocol, at: list(protocol.mu).index(protocol.searched_mu()[at]),
    averaged=True,
)


RULES = {
    "best": STABLE,
    "fdr": STABLE,
    "stable": STABLE,
    "minimal": Rule(
        mu=lambda protocol: np.asarray(protocol.mu[:1], dtype=float),
        longest=lambda protocol: None,
        choose=choose_minimal,
        listed=_list_mu,
    ),
}


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
    unseen : (n, ...) float or None
        Score of each training sample, less the cut, by the fold that left it out, at what the other
        folds chose, see `unseen`; else NaN.
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
    todo: list[TrainingSet], outer: Sets, inner: Sets, protocol: LinearSettings
) -> list[Surface]:
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
    d = outer.X.shape[1]
    found = _by_task(todo, outer, inner, protocol)
    return [_surface(t, each, each, rule, protocol, d) for t, each in zip(todo, found, strict=True)]


def stage_one_averaged(
    redrawn: Sequence[TrainingSet],
    todo: list[TrainingSet],
    outer: Sets,
    inner: Sets,
    protocol: LinearSettings,
) -> list[Surface]:
    """Search the grid for one task by several draws of its inner folds, see `Averaged`.

    One draw decides which of lists that are as good is chosen; another seed would choose another.

    Parameters
    ----------
    redrawn : list of Task
        The task with other inner folds.
    todo, outer, inner, protocol
        As `stage_one` takes them, of this one task.
    """
    rule = pick("linear.list", RULES, protocol.list)
    d = outer.X.shape[1]
    draws = _by_task(todo, outer, inner, protocol)
    for again in redrawn if rule.averaged else ():
        draws += _by_task([again], outer, inner_sets([again], outer), protocol)
    said = [Averaged(each) for each in zip(*draws, strict=True)]
    return [_surface(todo[0], draws[0], said, rule, protocol, d)]


def _by_task(
    todo: list[TrainingSet], outer: Sets, inner: Sets, protocol: LinearSettings
) -> list[list[Searched]]:
    """Return what the inner folds of each task say of each mu."""
    rule = pick("linear.list", RULES, protocol.list)
    folds = np.array([len(task.inner_folds) for task in todo])
    left = np.hstack([task.validation_masks() for task in todo])
    tau = np.repeat(protocol.tau_fractions() * outer.tau_max[:, None], folds, axis=0)
    lists = [
        inner.path(tau, mu * inner.norm[:, None], protocol, rule.longest(protocol))
        for mu in rule.mu(protocol)
    ]
    scores = inner.scores(Path.beside(lists), protocol.lam_grid() * inner.norm[:, None], left)
    ends = np.cumsum(folds).tolist()
    columns = [
        range(end - len(task.inner_folds), end) for task, end in zip(todo, ends, strict=True)
    ]
    return [
        _searched(lists, scores[of_task.start : of_task.stop], protocol, task, of_task)
        for task, of_task in zip(todo, columns, strict=True)
    ]


def _searched(
    lists: list[Path], scores: Array, protocol: LinearSettings, task: TrainingSet, columns: range
) -> list[Searched]:
    """Compare scores (n_folds, n_mu n_tau, n_lam, n, ...) with the outcomes that folds left out."""
    part = slice(columns.start, columns.stop)
    kind = FITTED[task.kind]
    cut = np.zeros(scores.shape[1:3])
    if protocol.threshold == "midpoint":
        cut = kind.cut(task, scores)
    surfaces = (cut, *kind.error(task, scores, cut, protocol.criterion))
    out = []
    for m, paths in enumerate(lists):
        cuts, error, spread = (np.split(surface, len(lists))[m].copy() for surface in surfaces)
        ended = (paths.iterations[part] < 0).any(axis=0)
        error[ended] = spread[ended] = np.nan
        of_mu = scores[:, m * error.shape[0] : (m + 1) * error.shape[0]]
        out.append(Searched(error, spread, cuts, paths, columns, of_mu))
    return out


def _surface(
    task: TrainingSet,
    searched: list[Searched],
    said: Sequence[Said],
    rule: Rule,
    protocol: LinearSettings,
    d: int,
) -> Surface:
    """Choose by what is said; unseen scores are those of `searched`, of the task's own folds."""
    (tau, lam, mu), agreement = rule.choose(said, protocol, d)
    size = np.stack([found.size for found in said])
    return Surface(
        error=np.stack([found.error for found in said]),
        standard_error=np.stack([found.standard_error for found in said]),
        size=size,
        agreement=agreement,
        choice=(tau, lam, rule.listed(protocol, mu)),
        threshold=said[mu].cut[tau, lam],
        unseen=unseen(task, partial(_by_others, searched, rule, protocol, d)),
        lowest=float(said[mu].error[tau, lam]),
        length=float(size[mu, tau]),
        again=lambda most: _surface(task, searched, said, rule, replace(protocol, most=most), d),
    )


def _by_others(
    searched: list[Searched],
    rule: Rule,
    protocol: LinearSettings,
    d: int,
    task: TrainingSet,
    folds: Array,
) -> tuple[Array, Any]:
    """Choose by some of the folds; return what all of them score there, and their cut.

    A cut that turns scores is that of these folds alone: its labels would reach the scores.
    """
    kind = FITTED[task.kind]
    some = []
    for each in searched:
        own = each.scores[folds]
        error, spread = kind.error(task, own, each.cut, protocol.criterion)
        error[np.isnan(each.error)] = spread[np.isnan(each.error)] = np.nan
        columns = [each.columns[fold] for fold in folds]
        turned = kind.cut_turns and protocol.threshold == "midpoint"
        cut = kind.cut(task, own) if turned else each.cut
        some.append(Searched(error, spread, cut, each.lists, columns, own))
    (tau, lam, mu), _ = rule.choose(some, protocol, d)
    return searched[mu].scores[:, tau, lam], some[mu].cut[tau, lam]
