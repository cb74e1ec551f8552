"""Pooled errors, intervals and the null distribution equal their computation one by one."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from gathered_study import MU, make_fits, make_study
from sklearn.metrics import balanced_accuracy_score, r2_score, roc_auc_score

from genesig.errors import GenesigError
from genesig.results import CrossValidation
from genesig.results.fits import join_batches
from genesig.selection.assess.assessment import assess, study_errors
from genesig.selection.assess.calibration import rejection_table
from genesig.selection.assess.controls import null_study, p_value
from genesig.selection.assess.held_out import (
    collect_held_out,
    complete_held_out,
    predictions_table,
    scores_table,
)
from genesig.selection.assess.intervals import (
    balanced_error,
    mean_of_shares,
    relative_squared_error,
)
from genesig.selection.assess.kinds import ASSESSMENT_KINDS

CLASSES = ASSESSMENT_KINDS["classification"].headline
NUMBERS = ASSESSMENT_KINDS["regression"].headline
POINTWISE = {"classification": balanced_error, "regression": relative_squared_error}


def by_hand(dataset, splits, fits, permutation, mu, metric):
    """Pool the held-out scores of each repeat, take the metric, then the mean over repeats.

    mu is the number of a column; None is the list that each fit chose.
    """
    y = dataset.response()
    repeat = {split.name: split.repeat for split in splits.outer}
    errors = []
    for permutation_value in sorted(set(repeat.values())):
        rows = []
        scores = []
        for fit in range(len(fits)):
            if (
                fits.permutation[fit] == permutation
                and repeat[str(fits.split[fit])] == permutation_value
            ):
                test, f = fits.test_scores(fit)
                rows.append(test)
                scores.append(f[:, fits.choice[fit, 2] if mu is None else mu] - fits.threshold[fit])
        errors.append(metric(y[np.concatenate(rows)], np.concatenate(scores)))
    return np.mean(errors)


@pytest.mark.parametrize("task", POINTWISE)
@pytest.mark.parametrize("seed", range(3))
def test_the_error_is_pooled_per_repeat_for_every_permutation(task, seed):
    dataset, splits, _, _ = make_study(seed, task=task)
    fits = make_fits(dataset, splits.outer, seed, permutations=(0, 2, 5))
    errors = study_errors(collect_held_out(dataset, splits, fits), ASSESSMENT_KINDS[task].headline)
    for at, permutation in enumerate((0, 2, 5)):
        for mu in range(len(MU)):
            expected = by_hand(dataset, splits, fits, permutation, mu, POINTWISE[task])
            assert errors[at, mu] == pytest.approx(expected)


def test_one_repeat_is_the_metric_of_scikit_learn():
    dataset, splits, observed, _ = make_study(4, repeats=1)
    held_out_scores = collect_held_out(dataset, splits, observed)
    expected = 1 - balanced_accuracy_score(held_out_scores.y, np.sign(held_out_scores.scores[:, 1]))
    assert assess(held_out_scores, CLASSES)[1].error == pytest.approx(expected)
    dataset, splits, observed, _ = make_study(4, repeats=1, task="regression")
    held_out_scores = collect_held_out(dataset, splits, observed)
    expected = 1 - r2_score(held_out_scores.y, held_out_scores.scores[:, 1])
    assert assess(held_out_scores, NUMBERS)[1].error == pytest.approx(expected)


def test_the_auc_is_that_of_test_sets_by_their_pairs():
    dataset, splits, observed, _ = make_study(4)
    held_out_scores = collect_held_out(dataset, splits, observed)
    sets = [held_out_scores.split == split for split in np.unique(held_out_scores.split)]
    areas = [
        roc_auc_score(held_out_scores.y[rows], held_out_scores.scores[rows, 1]) for rows in sets
    ]
    pairs = [
        (held_out_scores.y[rows] > 0).sum() * (held_out_scores.y[rows] < 0).sum() for rows in sets
    ]
    area = assess(held_out_scores, CLASSES)[1].auc
    assert area == pytest.approx(np.average(areas, weights=pairs))
    shifted = replace(
        held_out_scores, scores=held_out_scores.scores + held_out_scores.split[:, None]
    )
    assert assess(shifted, CLASSES)[1].auc == pytest.approx(
        area
    )  # no model is held against another


def test_interval_counts_each_group_once():
    """Members of a group that say the same are one sample to the interval, not to the AUC."""
    dataset, splits, observed, _ = make_study(4, repeats=1)
    held_out_scores = collect_held_out(dataset, splits, observed)
    thrice = held_out_scores.take_rows(np.repeat(np.arange(len(held_out_scores.y)), 3))
    number = np.arange(len(thrice.y))
    alone = assess(replace(thrice, row=number), CLASSES)[1]
    grouped = assess(replace(thrice, row=number, group=thrice.row), CLASSES)[1]
    once = assess(held_out_scores, CLASSES)[1]
    assert alone.auc == pytest.approx(once.auc)
    assert (grouped.auc_low, grouped.auc_high) == pytest.approx((once.auc_low, once.auc_high))
    assert alone.auc_high - alone.auc_low < 0.95 * (once.auc_high - once.auc_low)


def test_predicting_the_mean_has_r2_of_zero():
    dataset, splits, observed, _ = make_study(4, repeats=1, task="regression")
    held_out_scores = collect_held_out(dataset, splits, observed)
    mean = np.full_like(held_out_scores.scores, held_out_scores.y.mean())
    assessed = assess(replace(held_out_scores, scores=mean), NUMBERS)[0]
    assert (assessed.error, assessed.low, assessed.high) == pytest.approx((1, 1, 1))


@pytest.mark.parametrize("task", POINTWISE)
@pytest.mark.parametrize("signal", [0.0, 0.5, 2.0, 50.0])
def test_intervals_hold_the_error_and_stay_in_bounds(task, signal):
    dataset, splits, observed, _ = make_study(1, task=task, signal=signal)
    for assessed in assess(
        collect_held_out(dataset, splits, observed), ASSESSMENT_KINDS[task].headline
    ):
        assert 0 <= assessed.low <= assessed.error <= assessed.high
        assert task == "regression" or assessed.high <= 1
        assert assessed.low < assessed.high


def test_no_error_in_few_samples_is_not_certainty():
    dataset, splits, observed, _ = make_study(1, signal=50.0)
    held_out_scores = assess(collect_held_out(dataset, splits, observed), CLASSES)[0]
    assert (held_out_scores.error, held_out_scores.low, held_out_scores.auc) == (0, 0, 1)
    assert held_out_scores.high > 0.05
    assert held_out_scores.auc_low < 0.95


def test_repeats_of_the_same_scores_do_not_add_samples():
    dataset, splits, observed, _ = make_study(2, n=12, folds=12, repeats=1)
    held_out_scores = collect_held_out(dataset, splits, observed)
    twice = replace(
        held_out_scores,
        **{key: np.tile(getattr(held_out_scores, key), 2) for key in ("y", "row", "permutation")},
        split=np.concatenate([held_out_scores.split, held_out_scores.split + 12]),
        repeat=np.concatenate([held_out_scores.repeat, held_out_scores.repeat + 1]),
        scores=np.tile(held_out_scores.scores, (2, 1)),
    )
    single, two = (vars(assess(assessed, CLASSES)[0]) for assessed in (held_out_scores, twice))
    assert single == pytest.approx(two)


def test_leave_one_out_has_the_interval_over_half_of_its_samples():
    dataset, splits, observed, _ = make_study(3, n=12, folds=12, repeats=1)
    held_out_scores = collect_held_out(dataset, splits, observed)
    loss = CLASSES.loss(held_out_scores)[:, 0].astype(float)
    assert np.isnan(CLASSES.split_errors(held_out_scores, loss)).all()
    assessed = assess(held_out_scores, CLASSES)[0]
    sides = [loss[held_out_scores.y == side] for side in (-1, 1)]
    expected = mean_of_shares([side.mean() for side in sides], [len(side) / 2 for side in sides])
    assert (assessed.low, assessed.high) == expected


def test_a_test_set_of_one_class_has_no_balanced_error():
    dataset, splits, observed, _ = make_study(3, repeats=1)
    held_out_scores = collect_held_out(dataset, splits, observed)
    ill = held_out_scores.y > 0
    keys = ("y", "row", "split", "repeat", "permutation", "scores")
    alone = replace(held_out_scores, **{key: getattr(held_out_scores, key)[ill] for key in keys})
    assessed = assess(alone, CLASSES)[0]
    assert np.isnan([assessed.error, assessed.low, assessed.high, assessed.auc]).all()


def test_p_counts_the_observed_labels_as_one_of_the_permutations():
    null = np.array([0.5, 0.4, 0.3, 0.2])
    assert p_value(0.3, null) == 3 / 5  # .3 and .2, and the observed one
    assert p_value(0.1, null) == 1 / 5
    assert p_value(0.3, null + 1e-16) == 3 / 5  # equal but for rounding
    assert np.isnan(p_value(0.3, np.empty(0)))


def test_p_without_signal_is_uniform():
    rng = np.random.default_rng(0)
    p = [p_value(draw[0], draw[1:]) for draw in rng.random((2000, 20))]
    values, counts = np.unique(p, return_counts=True)
    assert len(values) == 20
    assert np.abs(counts / 2000 - 0.05).max() < 0.02


def test_the_null_study_is_that_of_each_permutation_alone():
    dataset, splits, observed, _ = make_study(0)
    permuted = make_fits(dataset, splits.outer, 7, permutations=(1, 2, 3, 4))
    order = np.random.default_rng(0).permutation(len(permuted))
    parts = [permuted.take(order[:11]), permuted.take(order[11:])]
    null, tables = null_study(CrossValidation.from_batches(dataset, splits, [observed]), parts)
    assert null["permutation"].tolist() == [1, 2, 3, 4]
    np.testing.assert_array_equal(null["mu"], [*MU, np.nan])
    for at, number in enumerate(null["permutation"]):
        for column, mu in enumerate([*range(len(MU)), None]):
            expected = by_hand(dataset, splits, permuted, number, mu, balanced_error)
            assert null["error"][at, column] == pytest.approx(expected)
        single = permuted.take(np.flatnonzero(permuted.permutation == number))
        alone, _ = null_study(CrossValidation.from_batches(dataset, splits, [observed]), [single])
        np.testing.assert_array_equal(alone["error"][0], null["error"][at])
        np.testing.assert_array_equal(alone["size"][0], null["size"][at])
    frequency = tables["null_cv_frequency"]
    picked = sum(0 in permuted.coef(fit, 2)[0] for fit in range(len(permuted)))
    row = frequency[(frequency["mu"] == MU[2]) & (frequency["gene"] == "g0")].iloc[0]
    assert row["cv_frequency"] == pytest.approx(picked / len(permuted))
    assert row["highest"] >= row["cv_frequency"]


def test_without_permutations_the_null_is_empty_and_the_curve_observed():
    dataset, splits, observed, _ = make_study(0)
    null, tables = null_study(CrossValidation.from_batches(dataset, splits, [observed]), [])
    assert null["error"].shape == (0, len(MU) + 1)
    assert tables["frequency_curve"]["permuted_median"].isna().all()
    assert tables["frequency_curve"]["observed"].max() > 0
    assert len(tables["null_cv_frequency"]) == 0


def test_the_band_of_the_curve_is_over_permutations():
    dataset, splits, observed, _ = make_study(0)
    permuted = make_fits(dataset, splits.outer, 7, permutations=range(1, 12))
    _, tables = null_study(CrossValidation.from_batches(dataset, splits, [observed]), [permuted])
    curve = tables["frequency_curve"]
    sizes = []
    for number in range(1, 12):
        fits = np.flatnonzero(permuted.permutation == number)
        sizes.append(len(set(np.concatenate([permuted.coef(fit, 0)[0] for fit in fits]))))
    expected = np.percentile(sizes, [50, 5, 95])
    columns = ["permuted_median", "permuted_low", "permuted_high"]
    np.testing.assert_allclose(curve.iloc[0][columns].astype(float), expected)


def test_a_missing_or_doubled_split_is_an_error_that_names_it():
    _, splits, observed, _ = make_study(0)
    with pytest.raises(GenesigError, match="1 are missing or there twice: split r1f3 of perm"):
        join_batches([observed.take(np.array([0, 1, 3, 4, 5, 6, 7]))], splits)
    with pytest.raises(GenesigError, match="split r1f1 of permutation 0"):
        join_batches([observed, observed.take(np.array([0]))], splits)


def test_tables_of_splits_and_samples_agree_with_each_other():
    dataset, splits, observed, _ = make_study(5)
    scores = scores_table(dataset, splits, observed)
    predictions = predictions_table(dataset, splits, observed)
    assert len(scores) == len(splits.outer) * len(MU)
    shares = predictions.groupby(["split", "mu"])["wrong"].mean()
    for row in scores.itertuples():
        assert row.misclassification == pytest.approx(shares[row.split, row.mu])
        assert row.n_genes == len(
            observed.coef(observed.split.tolist().index(row.split), MU.tolist().index(row.mu))[0]
        )
    decided = predictions["predicted"] == predictions["label"]
    assert (decided == ~predictions["wrong"].astype(bool)).all()


def test_a_score_of_the_threshold_predicts_nothing_and_is_wrong():
    dataset, splits, observed, _ = make_study(5)
    cut = np.repeat(observed.threshold, np.diff(observed.test_indptr))
    scores = np.tile(cut[:, None], (1, len(MU)))
    table = predictions_table(dataset, splits, replace(observed, scores=scores))
    assert table["wrong"].all()
    assert (table["predicted"] == "").all()


def test_regression_leaves_class_columns_empty():
    dataset, splits, observed, _ = make_study(5, task="regression")
    scores = scores_table(dataset, splits, observed)
    assert scores[["misclassification", "balanced_error", "auc"]].isna().all(axis=None)
    predictions = predictions_table(dataset, splits, observed)
    assert predictions["wrong"].isna().all()
    assert (predictions["predicted"] == predictions["score"]).all()


def without_lists(fits, fit, mu):
    """Return the fits with the lists of one from a mu on not kept, as `linear.longest` has it."""
    gap = fits.gap.copy()
    scores = fits.scores.copy()
    gap[fit, mu:] = np.nan
    scores[slice(*fits.test_indptr[fit:][:2]), mu:] = np.nan
    choice = fits.choice.copy()
    choice[:, 2] = np.minimum(choice[:, 2], mu - 1)
    return replace(fits, gap=gap, scores=scores, choice=choice)


@pytest.mark.parametrize("task", POINTWISE)
def test_a_mu_at_which_a_list_was_not_kept_has_no_error(task):
    dataset, splits, observed, _ = make_study(5, task=task)
    fits = without_lists(observed, 3, 2)
    before, after = (
        assess(collect_held_out(dataset, splits, assessed), ASSESSMENT_KINDS[task].headline)
        for assessed in (observed, fits)
    )
    assert np.isnan(list(vars(after[2]).values())).all()
    assert repr(after[:2]) == repr(before[:2])  # NaN is not equal to NaN
    permuted = without_lists(make_fits(dataset, splits.outer, 7, permutations=(1, 2)), 1, 2)
    null, _ = null_study(CrossValidation.from_batches(dataset, splits, [fits]), [permuted])
    assert np.isnan(null["error"]).tolist() == [[False, False, True, False], [False] * 4]
    assert np.isnan(null["size"]).tolist() == [[False, False, True, False], [False] * 4]
    assert np.isnan(p_value(1.0, null["error"][:, 2]))


def test_a_list_that_was_not_kept_has_empty_cells_and_no_rejection():
    dataset, splits, observed, _ = make_study(5)
    fits = without_lists(observed, 3, 2).with_chosen()
    split = str(fits.split[3])
    scores = scores_table(dataset, splits, fits)
    is_missing = (scores["split"] == split) & (scores["mu"] == MU[2])
    errors = ["misclassification", "balanced_error", "squared_error", "n_genes"]
    assert scores.loc[is_missing, errors].isna().all(axis=None)
    assert scores.loc[~is_missing, errors].notna().all(axis=None)
    predictions = predictions_table(dataset, splits, fits)
    is_missing = (predictions["split"] == split) & (predictions["mu"] == MU[2])
    assert predictions.loc[is_missing, ["score", "wrong"]].isna().all(axis=None)
    assert (predictions.loc[is_missing, "predicted"] == "").all()
    assert predictions.loc[~is_missing, ["score", "wrong"]].notna().all(axis=None)
    refused = rejection_table(predictions, dataset.design.classes)
    np.testing.assert_array_equal(refused["mu"], np.repeat([MU[0], MU[1], np.nan], 2))


def test_the_chosen_list_is_refused_by_its_own_scores():
    dataset, splits, observed, _ = make_study(5)
    names = dataset.design.classes
    alone = replace(observed, choice=observed.choice * [1, 1, 0] + [0, 0, 1]).with_chosen()
    table = rejection_table(predictions_table(dataset, splits, alone), names)
    of_mu = table[table["mu"] == MU[1]]
    chosen = table[table["mu"].isna()]
    assert chosen["predicted"].sum() > 0
    pd.testing.assert_frame_equal(
        chosen.drop(columns="mu").reset_index(drop=True),
        of_mu.drop(columns="mu").reset_index(drop=True),
    )


def test_scores_know_the_group_of_their_sample():
    dataset, splits, *_ = make_study()
    names = np.array(["c", "a", "b"])[np.arange(len(dataset.samples)) % 3]
    grouped = replace(
        dataset, obs=dataset.obs.assign(who=names), design=replace(dataset.design, group="who")
    )
    row = np.array([5, 0, 1, 2])
    arranged = complete_held_out(
        grouped, splits, row, np.zeros(4, int), np.zeros((4, 1)), np.zeros(4, int)
    )
    assert np.array(["a", "b", "c"])[arranged.group].tolist() == names[row].tolist()
    assert (
        complete_held_out(dataset, splits, row, row * 0, row[:, None] * 0.0, row * 0).group is None
    )
