"""Stage I: the inner folds choose tau, lambda and mu, and cross-fit the scores of their samples.

Mosci 2009, section 4.4. On the rows that train an inner fold (all training rows but those of the
fold), the elastic net selects genes along a path of tau. Ridge refits each list for every lambda,
and the error of the fold's own samples decides. In the thesis mu is the smallest one; here a rule
may search several (`CHOICE_RULES`). The path of a fold may end before a list that is too long.

Cross-fitted scores serve probabilities and risks. The settings of smallest error were chosen by the
validation samples of all folds, so that their scores there look better than they are, and a line
fitted to them would state probabilities too far from each other. Therefore the folds are dealt into
parts, and each sample is scored at the settings that the other parts choose. This fits nothing
again. Test samples of the outer split have no part in it: their labels would leak into the line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.errors import pick
from genesig.optim.classes import ShrunkenLine
from genesig.optim.solution import Path
from genesig.selection.genes.frequency import agreement
from genesig.selection.linear.elastic_nets import ElasticNets
from genesig.selection.linear.kinds import FITTINGS, inner_elastic_nets, score_thresholds
from genesig.selection.linear.training_sets import LinearSettings, TrainingSet

FoldScores = tuple[Array, Any]
"""Scores (n_folds, n, ...) of all samples by the refit of each inner fold, and their threshold."""

ChooseByFolds = Callable[[TrainingSet, Array], FoldScores]
"""Training set that consists of some inner folds, numbers of these folds -> scores of all folds at
the settings that these folds choose."""

MAX_CROSSFIT_PARTS = 5
"""Largest number of parts into which the inner folds are dealt; for each part the others choose."""

ERROR_DIGITS = 12
"""Digits to which errors are rounded before a choice, so that ties are ties on every processor:
counts of errors tie exactly, sums of their weights do not."""


def crossfit(
    training_set: TrainingSet, chosen: FoldScores, choose_by_folds: ChooseByFolds
) -> Array | None:
    """Return the score of each training sample at the choice of other folds, less the threshold.

    Scores at another choice (a larger lambda makes them smaller) are multiplied by the ratio of the
    spreads at both, to have the unit of `chosen`, the scores at the settings of the model.

    The result is (n, ...) with NaN for other samples. It is None if the outcome is a number, and
    under permuted labels, for which no probability and no risk is reported.
    """
    if FITTINGS[training_set.kind].calibrate is None or training_set.permutation:
        return None
    n_parts = min(MAX_CROSSFIT_PARTS, len(training_set.inner_folds))
    rows_of_part = [
        np.concatenate(training_set.inner_folds[part::n_parts]) for part in range(n_parts)
    ]
    chosen_scores = _left_out_scores(training_set, *chosen)
    part_of_fold = np.arange(len(training_set.inner_folds)) % n_parts
    crossfitted_scores = np.full(chosen_scores.shape, np.nan)
    for part, rows in enumerate(rows_of_part):
        other_folds = _keep_folds(training_set, np.flatnonzero(part_of_fold != part))
        scores = _left_out_scores(training_set, *choose_by_folds(*other_folds))
        unit = _unit_ratio(chosen_scores, scores, rows_of_part)
        crossfitted_scores[rows] = unit * scores[rows]
    return crossfitted_scores


def _left_out_scores(training_set: TrainingSet, scores: Array, threshold: Any) -> Array:
    """Return the decision score (n, ...) of each sample by the fold that leaves it out, or NaN."""
    decision_scores = np.full(scores.shape[1:], np.nan)
    for fold, rows in enumerate(training_set.inner_folds):
        decision_scores[rows] = FITTINGS[training_set.kind].decision_scores(
            scores[fold, rows], threshold
        )
    return decision_scores


MIN_VARIANCE = 1e-12  # variance over the largest, below which the scores of a part count as equal


def _unit_ratio(chosen: Array, scores: Array, rows_of_part: Sequence[Array]) -> float:
    """Return the ratio of the standard deviations of scores (n, ...) at two choices.

    Only parts with genes at both choices count; the ratio is 1 without such a part.
    """
    variances = np.array(
        [[f[rows].var(axis=0).mean() for rows in rows_of_part] for f in (chosen, scores)]
    )
    is_comparable = variances.min(axis=0) > MIN_VARIANCE * variances.max()
    chosen_sum, other_sum = variances[:, is_comparable].sum(axis=1)
    return float(np.sqrt(chosen_sum / other_sum)) if is_comparable.any() else 1.0


def _keep_folds(training_set: TrainingSet, kept_folds: Array) -> tuple[TrainingSet, Array]:
    """Return the training set that consists of some folds, and the numbers of these folds.

    All folds are kept if these do not allow a choice.
    """
    inner_folds = tuple(training_set.inner_folds[fold] for fold in kept_folds)
    if not _allow_choice(training_set, inner_folds):
        return training_set, np.arange(len(training_set.inner_folds))
    return replace(
        training_set, train=np.sort(np.concatenate(inner_folds)), inner_folds=inner_folds
    ), kept_folds


def _allow_choice(training_set: TrainingSet, inner_folds: tuple[Array, ...]) -> bool:
    """Return whether settings can be chosen by these folds alone.

    They must hold each class. Of survival times, the folds beside each fold must hold an event: the
    left-out deviance of a fold compares it with the rows of the others.
    """
    if not inner_folds:
        return False
    rows = np.concatenate(inner_folds)
    y = training_set.y
    if y.dtype.names:  # times and events
        return all(y["event"][np.setdiff1d(rows, fold)].any() for fold in inner_folds)
    return len(np.unique(y[rows])) == len(np.unique(y[training_set.train]))


class CalibrationLines(NamedTuple):
    """Lines from scores to probabilities or risks, of k training sets; NaN if a set has none."""

    line: Array | None
    """(k, T + 1) float: intercepts and slope of classes; (k, 1): slope of the logarithmic hazard.
    See `kinds.Calibration`."""
    shrinkage: Array | None  # (k,) float: shrinkage of each slope


NO_LINES = CalibrationLines(None, None)  # lines of numbers, or with permuted labels


def calibration_lines(
    training_sets: Sequence[TrainingSet], crossfitted_scores: Sequence[Array | None]
) -> CalibrationLines:
    """Return the line of each training set from its cross-fitted scores (K, n, ...) of K draws.

    `NO_LINES` if no training set has scores.
    """
    calibrate = FITTINGS[training_sets[0].kind].calibrate
    if calibrate is None:
        return NO_LINES
    shrunken_lines = [
        None if scores is None else calibrate(training_set, scores)
        for training_set, scores in zip(training_sets, crossfitted_scores, strict=True)
    ]
    n_parameters = next(
        (len(shrunken.line) for shrunken in shrunken_lines if shrunken is not None), None
    )
    if n_parameters is None:
        return NO_LINES
    missing = ShrunkenLine(np.full(n_parameters, np.nan), np.nan)
    complete = [missing if shrunken is None else shrunken for shrunken in shrunken_lines]
    return CalibrationLines(
        np.stack([shrunken.line for shrunken in complete]),
        np.array([shrunken.shrinkage for shrunken in complete]),
    )


def first_draws(crossfitted_scores: Sequence[Array | None]) -> Array | None:
    """Return the scores of k training sets by the first draw, (k, n, ...); None if any has none."""
    return stack_or_none([None if draws is None else draws[0] for draws in crossfitted_scores])


def stack_or_none(arrays: Sequence[Array | None], axis: int = 0) -> Array | None:
    """Return the arrays stacked along a new axis; None if any of them is None."""
    present = [array for array in arrays if array is not None]
    return np.stack(present, axis=axis) if len(present) == len(arrays) else None


@dataclass(frozen=True)
class GridResult:
    """Validation results of the inner folds of one training set at one mu."""

    error: Array  # (n_tau, n_lam) float: validation error; NaN if the path of a fold had ended
    standard_error: Array  # (n_tau, n_lam) float: standard error of `error`
    thresholds: Array  # (n_tau, n_lam, ...) of the out-of-fold scores, see `kinds.Fitting`
    path: Path  # lists of the inner folds of all training sets that were solved together
    fold_numbers: Sequence[int]  # rows of `path` that are the folds of this training set
    fold_scores: Array
    """(n_folds, n_tau, n_lam, n, ...) float: scores of all samples by the refits of each fold."""

    @property
    def n_genes(self) -> Array:
        """Mean number of selected genes, (n_tau,); NaN if the path of a fold had ended."""
        rows = list(self.fold_numbers)
        sizes = np.where(self.path.has_ended()[rows], np.nan, self.path.sizes()[rows])
        return np.asarray(sizes.mean(axis=0))

    def agreement(self, tau: int, n_features: int) -> float:
        """Return the agreement of the folds' lists at one index of tau, among all features."""
        lists = [self.path.coef(fold, tau)[0] for fold in self.fold_numbers]
        return agreement(lists, n_features)


class AveragedGridResult(NamedTuple):
    """Mean of the validation results of several draws of the inner folds, see `GridResult`.

    The standard error is that of one draw: the draws share their samples, so that more of them do
    not reduce it.
    """

    error: Array  # (n_tau, n_lam) float: NaN if a path of any draw had ended
    standard_error: Array
    thresholds: Array
    n_genes: Array  # (n_tau,) float
    draws: Sequence[GridResult]

    @classmethod
    def from_draws(cls, draws: Sequence[GridResult]) -> AveragedGridResult:
        """Return the mean of the results of each draw."""
        names = ("error", "standard_error", "thresholds", "n_genes")
        means = {name: np.mean([getattr(draw, name) for draw in draws], axis=0) for name in names}
        return cls(**means, draws=draws)

    def agreement(self, tau: int, n_features: int) -> float:
        """Return the mean agreement of the folds' lists of a draw."""
        return float(np.mean([draw.agreement(tau, n_features) for draw in self.draws]))


AnyGridResult = GridResult | AveragedGridResult


class GridIndices(NamedTuple):
    """Indices of the chosen settings."""

    tau: int
    lam: int
    mu: int  # index among the searched mu in a rule; index in ``linear.mu`` in a `GridChoice`


@dataclass(frozen=True)
class ChoiceRule:
    """A rule by which the inner folds choose a list."""

    searched_mu: Callable[[LinearSettings], Array]  # settings -> mu that are searched, (n_mu,)
    max_genes: Callable[[LinearSettings], int | None]
    """Settings -> number of genes at which the path of a fold may end; None for no limit."""
    choose: Callable[[Sequence[AnyGridResult], LinearSettings, int], tuple[GridIndices, Array]]
    """Results at each searched mu, settings, number of genes of the matrix -> choice; and the
    agreement of the folds' lists (n_mu, n_tau), NaN where the rule does not need it."""
    list_index: Callable[[LinearSettings, int], int]
    """Settings, index of the chosen mu among the searched -> index of the list in ``linear.mu``."""
    averages_draws: bool = False  # whether the final model averages draws of its inner folds


def choose_minimal(
    results: Sequence[AnyGridResult], settings: LinearSettings, n_features: int
) -> tuple[GridIndices, Array]:
    """Choose by the error at the first mu alone, as Mosci 2009, section 4.4.

    The smallest error wins; ties go to the largest tau, then to the largest lambda. With
    `one_standard_error`, the largest tau that has an error within one standard error of the
    smallest wins, with its best lambda (Breiman et al. 1984). The rule limits no path, so that no
    error is NaN.
    """
    (result,) = results
    error = result.error.round(ERROR_DIGITS)
    best = np.unravel_index(np.argmin(error), error.shape)
    bound = error[best]
    if settings.one_standard_error:
        bound = (bound + result.standard_error[best]).round(ERROR_DIGITS)
    tau = int(np.argmax((error <= bound).any(axis=1)))
    indices = GridIndices(tau, _best_lambda(error[tau]), 0)
    return indices, np.full((1, len(error)), np.nan)


def choose_stable(
    results: Sequence[AnyGridResult], settings: LinearSettings, n_features: int
) -> tuple[GridIndices, Array]:
    """Choose by error first, then by the agreement of the lists of the inner folds.

    With E(mu, tau) the validation error at its best lambda and E* ± SE* the smallest of all:
    candidates have E <= E* + SE* and a mean length from 1 to ``signature.most``; the largest
    agreement wins (Nogueira's index, corrected for chance and length). Ties go to the shorter
    list, then to the larger lambda. Without a candidate, the shortest list within E* + SE* wins.
    If the list on the whole training set is longer than ``signature.most``, the nested
    cross-validation asks again for a shorter one.

    Source: Bommert, Rahnenführer and Lang 2017, Comput. Math. Methods Med. 7907163: accuracy first,
    stability second. Hamer and Dupont 2021, PLoS ONE 16(7): e0254920, for the trade-off.
    """
    error = np.stack([result.error for result in results]).round(ERROR_DIGITS)
    n_genes = np.stack([result.n_genes for result in results])
    agreements = np.full(n_genes.shape, np.nan)
    if np.isnan(error).all():  # the first list of every path is too long: the largest tau, lambda
        return GridIndices(tau=0, lam=error.shape[2] - 1, mu=0), agreements
    smallest = np.unravel_index(np.nanargmin(error), error.shape)
    standard_error = results[int(smallest[0])].standard_error[smallest[1:]]
    bound = (error[smallest] + standard_error).round(ERROR_DIGITS)
    within_bound = (error <= bound).any(axis=2)
    is_candidate = within_bound & (n_genes >= 1) & (n_genes <= settings.most)
    for mu, tau in np.argwhere(is_candidate):
        agreements[mu, tau] = results[mu].agreement(int(tau), n_features)
    # Without a candidate all ranks are -1, so that the length decides.
    rank = np.where(np.isnan(agreements), -1.0, agreements).round(ERROR_DIGITS)
    eligible = is_candidate if is_candidate.any() else within_bound
    pairs = [(int(mu), int(tau)) for mu, tau in np.argwhere(eligible)]
    best = min((-rank[pair], n_genes[pair]) for pair in pairs)
    lam_of_pair = {
        pair: _best_lambda(error[pair]) for pair in pairs if (-rank[pair], n_genes[pair]) == best
    }
    mu, tau = max(lam_of_pair, key=lambda pair: lam_of_pair[pair])
    return GridIndices(tau, lam_of_pair[mu, tau], mu), agreements


def _best_lambda(error: Array) -> int:
    """Return the index of the smallest error (n_lam,); ties go to the largest lambda."""
    return int(np.flatnonzero(error == np.nanmin(error))[-1])


def _index_of_list_mu(settings: LinearSettings, _: int) -> int:
    """Return the index of ``signature.mu`` in ``linear.mu``; 0, the minimal list, by default."""
    mu = settings.mu[0] if settings.list_mu is None else settings.list_mu
    return list(settings.mu).index(mu)


STABLE_RULE = ChoiceRule(
    searched_mu=LinearSettings.searched_mu,
    # If the list of one fold is twice as long as allowed, the mean can hardly be short enough.
    max_genes=lambda settings: int(2 * settings.most),
    choose=choose_stable,
    list_index=lambda settings, mu: list(settings.mu).index(settings.searched_mu()[mu]),
    averages_draws=True,
)


# The first three share a rule; `answers` then chooses between its list and lists by half-samples.
CHOICE_RULES = {
    "best": STABLE_RULE,
    "fdr": STABLE_RULE,
    "stable": STABLE_RULE,
    "minimal": ChoiceRule(
        searched_mu=lambda settings: np.asarray(settings.mu[:1], dtype=float),
        max_genes=lambda settings: None,
        choose=choose_minimal,
        list_index=_index_of_list_mu,
    ),
}


@dataclass(frozen=True)
class GridChoice:
    """Validation results of one training set over the grid, and the settings that they choose."""

    error: Array  # (n_mu, n_tau, n_lam) float: at the searched mu; NaN if a list is too long
    standard_error: Array  # (n_mu, n_tau, n_lam) float
    n_genes: Array  # (n_mu, n_tau) float: mean number of selected genes
    agreement: Array  # (n_mu, n_tau) float: agreement of the folds' lists, where the rule needs it
    indices: GridIndices  # chosen settings
    threshold: Any  # threshold of the scores; a matrix of class means for several classes
    crossfitted_scores: Array | None
    """(K, n, ...) float: of the training samples by each draw of the folds, see `crossfit`."""
    chosen_error: float  # validation error at the chosen settings
    chosen_n_genes: float  # mean number of genes of the folds' lists at the chosen settings
    choose_again: Callable[[float], GridChoice]
    """Largest number of genes, instead of ``signature.most`` -> choice under this limit."""

    def shorter(self) -> GridChoice | None:
        """Return the choice among lists shorter than this one; None if the rule has none."""
        choice = self.choose_again(float(np.nextafter(self.chosen_n_genes, 0)))
        if not 1 <= choice.chosen_n_genes < self.chosen_n_genes:
            return None
        # The smaller limit leaves fewer lists to compare; the record keeps the agreement of all.
        return replace(choice, agreement=self.agreement)


def search_grid(
    training_sets: list[TrainingSet],
    outer: ElasticNets,
    inner: ElasticNets,
    settings: LinearSettings,
) -> list[GridChoice]:
    """Return the choice of each training set; the inner folds of all are solved together.

    `outer` has the training sets, `inner` the training sets of their inner folds, in that order.
    """
    rule = pick("linear.list", CHOICE_RULES, settings.list)
    return [
        # The results of the one draw of the folds choose, without a mean over draws.
        _choose([training_set], [results], results, rule, settings, outer.X.shape[1])
        for training_set, results in zip(
            training_sets, _grid_results(training_sets, outer, inner, settings), strict=True
        )
    ]


def search_grid_averaged(
    redrawn_sets: Sequence[TrainingSet],
    training_sets: list[TrainingSet],
    outer: ElasticNets,
    inner: ElasticNets,
    settings: LinearSettings,
) -> list[GridChoice]:
    """Return the choice of one training set by several draws of its inner folds.

    A single draw, and so the seed, would decide between lists of equal worth. `redrawn_sets` are
    the training set with other inner folds, without effect if the rule does not average draws; the
    rest is as in `search_grid`, of one training set.
    """
    rule = pick("linear.list", CHOICE_RULES, settings.list)
    drawn_sets = [*training_sets, *(redrawn_sets if rule.averages_draws else ())]
    draws = _grid_results(training_sets, outer, inner, settings)
    for redrawn_set in drawn_sets[1:]:
        redrawn_inner = inner_elastic_nets([redrawn_set], outer)
        draws += _grid_results([redrawn_set], outer, redrawn_inner, settings)
    averaged = [
        AveragedGridResult.from_draws(draws_at_mu) for draws_at_mu in zip(*draws, strict=True)
    ]
    return [_choose(drawn_sets, draws, averaged, rule, settings, outer.X.shape[1])]


def _grid_results(
    training_sets: list[TrainingSet],
    outer: ElasticNets,
    inner: ElasticNets,
    settings: LinearSettings,
) -> list[list[GridResult]]:
    """Return the results of the inner folds, a list over the searched mu for each training set."""
    rule = pick("linear.list", CHOICE_RULES, settings.list)
    n_folds = np.array([len(training_set.inner_folds) for training_set in training_sets])
    # The folds of a training set share its tau_max, so that one tau is one penalty.
    tau = np.repeat(settings.tau_fractions() * outer.tau_max[:, None], n_folds, axis=0)
    paths = [
        inner.path(tau, mu * inner.norm[:, None], settings, rule.max_genes(settings))
        for mu in rule.searched_mu(settings)
    ]
    validation_masks = np.hstack(
        [training_set.validation_masks() for training_set in training_sets]
    )
    lam = settings.lam_grid() * inner.norm[:, None]
    scores = inner.ridge_scores(Path.side_by_side(paths), lam, validation_masks)
    ends = np.cumsum(n_folds).tolist()
    return [
        _summarise_folds(
            training_set, paths, range(end - len(training_set.inner_folds), end), scores, settings
        )
        for training_set, end in zip(training_sets, ends, strict=True)
    ]


def _summarise_folds(
    training_set: TrainingSet,
    paths: list[Path],
    fold_numbers: range,
    all_scores: Array,
    settings: LinearSettings,
) -> list[GridResult]:
    """Return the results of one training set at each mu.

    paths: of the folds of all training sets, at each mu. all_scores (all folds, n_mu n_tau, n_lam,
    n, ...): by the refits of these lists. fold_numbers: the folds of this set among all.
    """
    set_folds = slice(fold_numbers.start, fold_numbers.stop)
    scores = all_scores[set_folds]
    thresholds = score_thresholds(training_set, scores, settings)
    error, standard_error = FITTINGS[training_set.kind].validation_error(
        training_set, scores, thresholds, settings.criterion
    )
    n_tau = len(error) // len(paths)
    results = []
    for number, path in enumerate(paths):
        mu_lists = slice(number * n_tau, (number + 1) * n_tau)
        ended = path.has_ended()[set_folds].any(axis=0)
        mu_error = error[mu_lists].copy()
        mu_error[ended] = np.nan
        mu_standard_error = standard_error[mu_lists].copy()
        mu_standard_error[ended] = np.nan
        results.append(
            GridResult(
                error=mu_error,
                standard_error=mu_standard_error,
                thresholds=thresholds[mu_lists].copy(),
                path=path,
                fold_numbers=fold_numbers,
                fold_scores=scores[:, mu_lists],
            )
        )
    return results


def _choose(
    drawn_sets: Sequence[TrainingSet],
    draws: Sequence[list[GridResult]],
    results: Sequence[AnyGridResult],
    rule: ChoiceRule,
    settings: LinearSettings,
    n_features: int,
) -> GridChoice:
    """Return the choice of one training set by its results at each searched mu.

    `results` may average several draws of the inner folds. Cross-fitted scores come from `draws`,
    the results of `drawn_sets`, which are the training set with the folds of each draw.
    """
    all_draws = FITTINGS[drawn_sets[0].kind].calibrates_all_draws
    calibrating_sets = drawn_sets if all_draws else drawn_sets[:1]
    (tau, lam, mu), agreements = rule.choose(results, settings, n_features)
    n_genes = np.stack([result.n_genes for result in results])

    def choose_again(max_genes: float) -> GridChoice:
        shorter_settings = replace(settings, most=max_genes)
        return _choose(drawn_sets, draws, results, rule, shorter_settings, n_features)

    return GridChoice(
        error=np.stack([result.error for result in results]),
        standard_error=np.stack([result.standard_error for result in results]),
        n_genes=n_genes,
        agreement=agreements,
        indices=GridIndices(tau, lam, rule.list_index(settings, mu)),
        threshold=results[mu].thresholds[tau, lam],
        crossfitted_scores=stack_or_none(
            [
                crossfit(
                    drawn_set,
                    (fold_results[mu].fold_scores[:, tau, lam], results[mu].thresholds[tau, lam]),
                    partial(_choose_by_folds, fold_results, rule, settings, n_features),
                )
                for drawn_set, fold_results in zip(calibrating_sets, draws, strict=False)
            ]
        ),
        chosen_error=float(results[mu].error[tau, lam]),
        chosen_n_genes=float(n_genes[mu, tau]),
        choose_again=choose_again,
    )


def _choose_by_folds(
    results: list[GridResult],
    rule: ChoiceRule,
    settings: LinearSettings,
    n_features: int,
    training_set: TrainingSet,
    folds: Array,
) -> tuple[Array, Any]:
    """Return the scores and the threshold at the settings that some folds choose.

    The last two arguments and the result are those of `ChooseByFolds`.
    """
    fitting = FITTINGS[training_set.kind]
    partial_results = []  # at each searched mu, of these folds
    for result in results:
        scores = result.fold_scores[folds]
        error, standard_error = fitting.validation_error(
            training_set, scores, result.thresholds, settings.criterion
        )
        ended = np.isnan(result.error)
        error[ended] = np.nan
        standard_error[ended] = np.nan
        thresholds = result.thresholds
        if fitting.rotates_scores:
            # A threshold of all folds only shifts all scores alike. Class means map the scores:
            # means of all folds would bring the label of a sample into its own score.
            thresholds = score_thresholds(training_set, scores, settings)
        fold_numbers = [result.fold_numbers[fold] for fold in folds]
        partial_results.append(
            GridResult(error, standard_error, thresholds, result.path, fold_numbers, scores)
        )
    (tau, lam, mu), _ = rule.choose(partial_results, settings, n_features)
    return results[mu].fold_scores[:, tau, lam], partial_results[mu].thresholds[tau, lam]
