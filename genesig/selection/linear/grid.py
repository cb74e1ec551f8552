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
from genesig.selection.linear.kinds.known import FITTINGS, inner_elastic_nets
from genesig.selection.linear.kinds.record import ElasticNets
from genesig.selection.linear.tasks import LinearSettings, TrainingSet

ChooseByFolds = Callable[[TrainingSet, Array], tuple[Array, Any]]


MAX_CROSSFIT_PARTS = 5
"""Most parts into which the inner folds are dealt: each chooses once without itself."""


def crossfit(training_set: TrainingSet, choose_by_folds: ChooseByFolds) -> Array | None:
    """Return the score of each training sample, less the cut, (n, ...), else NaN.

    None without classes, and under permuted labels, of which no probability is told.

    Parameters
    ----------
    training_set : Task
    choose_by_folds : callable
        The task without some of its folds, and the numbers of the others, to the scores
        (n_folds, n, ...) of all samples by each fold at what these choose, and where it is cut.
    """
    kind = FITTINGS[training_set.kind]
    folds = np.arange(len(training_set.inner_folds))
    if kind.class_scores is None or training_set.permutation:
        return None
    crossfitted_scores = None
    for part_number in range(min(MAX_CROSSFIT_PARTS, len(folds))):
        scores, thresholds = choose_by_folds(
            *_keep_folds(training_set, folds[folds % MAX_CROSSFIT_PARTS != part_number])
        )
        crossfitted_scores = (
            np.full(scores.shape[1:], np.nan) if crossfitted_scores is None else crossfitted_scores
        )
        for fold in folds[folds % MAX_CROSSFIT_PARTS == part_number]:
            rows = training_set.inner_folds[fold]
            crossfitted_scores[rows] = kind.decision_scores(scores[fold, rows], thresholds)
    return crossfitted_scores


def _keep_folds(training_set: TrainingSet, kept_folds: Array) -> tuple[TrainingSet, Array]:
    """Return the task of some folds and their numbers; of all folds, where these lack a class."""
    inner_folds = tuple(training_set.inner_folds[fold] for fold in kept_folds)
    rows = np.concatenate([*inner_folds, np.zeros(0, dtype=np.int64)])
    if len(np.unique(training_set.y[rows])) < len(np.unique(training_set.y[training_set.train])):
        return training_set, np.arange(len(training_set.inner_folds))
    return replace(training_set, train=np.sort(rows), inner=inner_folds), kept_folds


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


def class_lines(
    training_sets: Sequence[TrainingSet], crossfitted_scores: Sequence[Array | None]
) -> ClassLines:
    """Return the line of each task, see `shrunken_line`; `NO_LINES` without any scores.

    Parameters
    ----------
    training_sets : list of Task
    crossfitted_scores : list of (n, ...) float or None
        Scores of each, see `crossfitted_scores`.
    """
    by_class = FITTINGS[training_sets[0].kind].class_scores
    if by_class is None:
        return NO_LINES
    lines = [
        None if scores is None else class_line(training_set, by_class(scores))
        for training_set, scores in zip(training_sets, crossfitted_scores, strict=True)
    ]
    n_parameters = next((len(line.line) for line in lines if line is not None), None)
    if n_parameters is None:
        return NO_LINES
    missing = ShrunkenLine(np.full(n_parameters, np.nan), np.nan)
    complete = [missing if line is None else line for line in lines]
    return ClassLines(
        np.stack([line.line for line in complete]), np.array([line.shrinkage for line in complete])
    )


def class_line(training_set: TrainingSet, scores: Array) -> ShrunkenLine:
    """Return the line from scores (n, T) of the training samples, NaN for other samples."""
    rows = ~np.isnan(scores).any(axis=1)
    y = training_set.y[rows]
    class_number = (y > 0 if FITTINGS[training_set.kind].signed_classes else y).astype(np.int64)
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
    independent_spread = influence_spread(influence, np.arange(len(group)))
    return max(1.0, design_effect(influence_spread(influence, group), independent_spread, group))


@dataclass(frozen=True)
class GridResult:
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
    thresholds: Array
    path: Path
    fold_numbers: Sequence[int]
    fold_scores: Array

    @property
    def n_genes(self) -> Array:
        """Return the mean number of selected genes, (n_tau,); NaN where a path had ended."""
        folds = list(self.fold_numbers)
        ended = self.path.iterations[folds] < 0
        return np.asarray(np.where(ended, np.nan, self.path.sizes()[folds]).mean(axis=0))

    def agreement(self, tau_index: int, n_features: int) -> float:
        """Return how alike the lists of the folds are at one tau, among d genes."""
        return agreement(
            [self.path.coef(fold, tau_index)[0] for fold in self.fold_numbers], n_features
        )


@dataclass(frozen=True)
class AveragedGridResult:
    """What several draws of the inner folds say of one mu, in the mean: attributes as `GridResult`.

    The standard error is that of one draw: draws share their samples, and more of them leave it.
    """

    draws: Sequence[GridResult]

    @property
    def error(self) -> Array:
        """Mean validation error, NaN where a path of any draw had ended."""
        return _mean_of_draws([draw.error for draw in self.draws])

    @property
    def standard_error(self) -> Array:
        """Mean of those of the draws."""
        return _mean_of_draws([draw.standard_error for draw in self.draws])

    @property
    def thresholds(self) -> Array:
        """Mean of where the scores of each are cut."""
        return _mean_of_draws([draw.thresholds for draw in self.draws])

    @property
    def n_genes(self) -> Array:
        """Mean number of selected genes."""
        return _mean_of_draws([draw.n_genes for draw in self.draws])

    def agreement(self, tau_index: int, n_features: int) -> float:
        """Return how alike the lists of the folds of a draw are, in the mean."""
        return float(np.mean([draw.agreement(tau_index, n_features) for draw in self.draws]))


def _mean_of_draws(values: Sequence[Array]) -> Array:
    return np.asarray(np.mean(values, axis=0))


AnyGridResult = GridResult | AveragedGridResult
GridIndices = tuple[int, int, int]
"""Numbers of tau, of lam, and of mu among those searched."""


@dataclass(frozen=True)
class ChoiceRule:
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

    searched_mu: Callable[[LinearSettings], Array]
    max_genes: Callable[[LinearSettings], int | None]
    choose: Callable[[Sequence[AnyGridResult], LinearSettings, int], tuple[GridIndices, Array]]
    list_index: Callable[[LinearSettings, int], int]
    averages_draws: bool = False


def choose_minimal(
    results: Sequence[AnyGridResult], settings: LinearSettings, n_features: int
) -> tuple[GridIndices, Array]:
    """Choose by the error at the first mu alone, as Mosci 2009, section 4.4.

    The smallest error wins; ties go to the largest tau, then to the largest lam. With
    `one_standard_error`, the largest tau that has an error within one standard error of the
    smallest wins, with its best lam (Breiman et al. 1984).
    """
    (result,) = results
    error = result.error.round(12)  # counts of errors tie exactly; sums of their weights do not
    best = np.unravel_index(np.argmin(error), error.shape)
    bound = error[best]
    if settings.one_standard_error:
        bound = (bound + result.standard_error[best]).round(12)
    tau_index = int(np.argmax((error <= bound).any(axis=1)))
    return (tau_index, _best_lambda(error[tau_index]), 0), np.full((1, len(error)), np.nan)


def choose_stable(
    results: Sequence[AnyGridResult], settings: LinearSettings, n_features: int
) -> tuple[GridIndices, Array]:
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
    error = np.stack([result.error for result in results]).round(12)
    n_genes = np.stack([result.n_genes for result in results])
    agreements = np.full(n_genes.shape, np.nan)
    if np.isnan(error).all():  # the first list of every path is too long
        return (0, error.shape[2] - 1, 0), agreements
    smallest = np.unravel_index(np.nanargmin(error), error.shape)
    bound = (error[smallest] + results[int(smallest[0])].standard_error[smallest[1:]]).round(12)
    within_bound = (error <= bound).any(axis=2)
    candidates = within_bound & (n_genes >= 1) & (n_genes <= settings.most)
    for mu, tau in np.argwhere(candidates):
        agreements[mu, tau] = results[mu].agreement(int(tau), n_features)
    rounded_agreement = np.where(np.isnan(agreements), -1.0, agreements).round(12)
    pairs = [
        (int(mu), int(tau))
        for mu, tau in np.argwhere(candidates if candidates.any() else within_bound)
    ]
    best = min((-rounded_agreement[pair], n_genes[pair]) for pair in pairs)
    lam_of_pair = {
        candidate: _best_lambda(error[candidate])
        for candidate in pairs
        if (-rounded_agreement[candidate], n_genes[candidate]) == best
    }
    mu, tau = max(lam_of_pair, key=lambda pair: lam_of_pair[pair])
    return (tau, lam_of_pair[mu, tau], mu), agreements


def _best_lambda(error: Array) -> int:
    """Return the number of the smallest error, of the largest lam among equals."""
    return int(np.flatnonzero(error == np.nanmin(error))[-1])


def _list_index(settings: LinearSettings, _: int) -> int:
    mu = settings.mu[0] if settings.list_mu is None else settings.list_mu
    return list(settings.mu).index(mu)


STABLE_RULE = ChoiceRule(
    searched_mu=LinearSettings.searched_mu,
    max_genes=lambda protocol: int(2 * protocol.most),
    choose=choose_stable,
    list_index=lambda protocol, at: list(protocol.mu).index(protocol.searched_mu()[at]),
    averages_draws=True,
)


CHOICE_RULES = {
    "best": STABLE_RULE,
    "fdr": STABLE_RULE,
    "stable": STABLE_RULE,
    "minimal": ChoiceRule(
        searched_mu=lambda protocol: np.asarray(protocol.mu[:1], dtype=float),
        max_genes=lambda protocol: None,
        choose=choose_minimal,
        list_index=_list_index,
    ),
}


@dataclass(frozen=True)
class GridChoice:
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
        folds chose, see `crossfit`; else NaN.
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
    crossfit: Array | None = None
    chosen_error: float = np.nan
    chosen_n_genes: float = np.nan
    choose_again: Callable[[float], GridChoice] | None = None

    def shorter(self) -> GridChoice | None:
        """Choose among the lists that are shorter than this one; None where the rule finds none."""
        if self.choose_again is None:
            return None
        choice = self.choose_again(float(np.nextafter(self.chosen_n_genes, 0)))
        if not 1 <= choice.chosen_n_genes < self.chosen_n_genes:
            return None
        return replace(choice, agreement=self.agreement)


def search_grid(
    training_sets: list[TrainingSet],
    outer: ElasticNets,
    inner: ElasticNets,
    settings: LinearSettings,
) -> list[GridChoice]:
    """Search the grid for every task; their inner folds are solved together.

    Parameters
    ----------
    training_sets : list of Task
    outer : Sets
        Those of the tasks, one column each.
    inner : Sets
        What trains their inner folds, one after the other.
    settings : Protocol
    """
    rule = pick("linear.list", CHOICE_RULES, settings.list)
    n_features = outer.X.shape[1]
    results = _grid_results(training_sets, outer, inner, settings)
    return [
        _choose(training_set, result, result, rule, settings, n_features)
        for training_set, result in zip(training_sets, results, strict=True)
    ]


def search_grid_averaged(
    redrawn_sets: Sequence[TrainingSet],
    training_sets: list[TrainingSet],
    outer: ElasticNets,
    inner: ElasticNets,
    settings: LinearSettings,
) -> list[GridChoice]:
    """Search the grid for one task by several draws of its inner folds, see `AveragedGridResult`.

    One draw decides which of lists that are as good is chosen; another seed would choose another.

    Parameters
    ----------
    redrawn_sets : list of Task
        The task with other inner folds.
    todo, outer, inner, protocol
        As `search_grid` takes them, of this one task.
    """
    rule = pick("linear.list", CHOICE_RULES, settings.list)
    n_features = outer.X.shape[1]
    draws = _grid_results(training_sets, outer, inner, settings)
    for redrawn_set in redrawn_sets if rule.averages_draws else ():
        draws += _grid_results(
            [redrawn_set], outer, inner_elastic_nets([redrawn_set], outer), settings
        )
    averaged = [AveragedGridResult(draw_results) for draw_results in zip(*draws, strict=True)]
    return [_choose(training_sets[0], draws[0], averaged, rule, settings, n_features)]


def _grid_results(
    training_sets: list[TrainingSet],
    outer: ElasticNets,
    inner: ElasticNets,
    settings: LinearSettings,
) -> list[list[GridResult]]:
    """Return what the inner folds of each task say of each mu."""
    rule = pick("linear.list", CHOICE_RULES, settings.list)
    n_folds = np.array([len(training_set.inner_folds) for training_set in training_sets])
    validation_masks = np.hstack(
        [training_set.validation_masks() for training_set in training_sets]
    )
    tau = np.repeat(settings.tau_fractions() * outer.tau_max[:, None], n_folds, axis=0)
    paths = [
        inner.path(tau, mu * inner.norm[:, None], settings, rule.max_genes(settings))
        for mu in rule.searched_mu(settings)
    ]
    scores = inner.ridge_scores(
        Path.beside(paths), settings.lam_grid() * inner.norm[:, None], validation_masks
    )
    ends = np.cumsum(n_folds).tolist()
    fold_ranges = [
        range(end - len(training_set.inner_folds), end)
        for training_set, end in zip(training_sets, ends, strict=True)
    ]
    return [
        _summarise_folds(
            paths, scores[fold_range.start : fold_range.stop], settings, training_set, fold_range
        )
        for training_set, fold_range in zip(training_sets, fold_ranges, strict=True)
    ]


def _summarise_folds(
    paths: list[Path],
    scores: Array,
    settings: LinearSettings,
    training_set: TrainingSet,
    fold_range: range,
) -> list[GridResult]:
    """Compare scores (n_folds, n_mu n_tau, n_lam, n, ...) with the outcomes that folds left out."""
    folds = slice(fold_range.start, fold_range.stop)
    kind = FITTINGS[training_set.kind]
    thresholds = np.zeros(scores.shape[1:3])
    if settings.threshold == "midpoint":
        thresholds = kind.thresholds(training_set, scores)
    grids = (
        thresholds,
        *kind.validation_error(training_set, scores, thresholds, settings.criterion),
    )
    results = []
    for mu_index, mu_path in enumerate(paths):
        mu_thresholds, error, standard_error = (
            np.split(surface, len(paths))[mu_index].copy() for surface in grids
        )
        ended = (mu_path.iterations[folds] < 0).any(axis=0)
        error[ended] = standard_error[ended] = np.nan
        mu_scores = scores[:, mu_index * error.shape[0] : (mu_index + 1) * error.shape[0]]
        results.append(
            GridResult(error, standard_error, mu_thresholds, mu_path, fold_range, mu_scores)
        )
    return results


def _choose(
    training_set: TrainingSet,
    fold_results: list[GridResult],
    results: Sequence[AnyGridResult],
    rule: ChoiceRule,
    settings: LinearSettings,
    n_features: int,
) -> GridChoice:
    """Choose by what is said; unseen scores are those of `fold_results`, of the task's own folds."""
    (tau, lam, mu), agreements = rule.choose(results, settings, n_features)
    n_genes = np.stack([result.n_genes for result in results])
    return GridChoice(
        error=np.stack([result.error for result in results]),
        standard_error=np.stack([result.standard_error for result in results]),
        n_genes=n_genes,
        agreement=agreements,
        choice=(tau, lam, rule.list_index(settings, mu)),
        threshold=results[mu].thresholds[tau, lam],
        crossfitted_scores=crossfit(
            training_set, partial(_choose_by_other_folds, fold_results, rule, settings, n_features)
        ),
        chosen_error=float(results[mu].error[tau, lam]),
        chosen_n_genes=float(n_genes[mu, tau]),
        choose_again=lambda max_genes: _choose(
            training_set, fold_results, results, rule, replace(settings, most=max_genes), n_features
        ),
    )


def _choose_by_other_folds(
    fold_results: list[GridResult],
    rule: ChoiceRule,
    settings: LinearSettings,
    n_features: int,
    training_set: TrainingSet,
    folds: Array,
) -> tuple[Array, Any]:
    """Choose by some of the folds; return what all of them score there, and their cut.

    A cut that turns scores is that of these folds alone: its labels would reach the scores.
    """
    kind = FITTINGS[training_set.kind]
    kept_results = []
    for result in fold_results:
        fold_scores = result.fold_scores[folds]
        error, standard_error = kind.validation_error(
            training_set, fold_scores, result.thresholds, settings.criterion
        )
        error[np.isnan(result.error)] = standard_error[np.isnan(result.error)] = np.nan
        fold_numbers = [result.fold_numbers[fold] for fold in folds]
        rotated = kind.rotates_scores and settings.threshold == "midpoint"
        thresholds = kind.thresholds(training_set, fold_scores) if rotated else result.thresholds
        kept_results.append(
            GridResult(error, standard_error, thresholds, result.path, fold_numbers, fold_scores)
        )
    (tau, lam, mu), _ = rule.choose(kept_results, settings, n_features)
    return fold_results[mu].fold_scores[:, tau, lam], kept_results[mu].thresholds[tau, lam]
