"""The validation error of the grid equals its computation by hand, with fixed rules for ties."""

import numpy as np
import pytest
from settings import linear
from sklearn.metrics import balanced_accuracy_score, log_loss

from genesig.selection.linear.grid import GridResult, choose_minimal
from genesig.selection.linear.kinds import CRITERIA, validation_error
from genesig.selection.linear.training_sets import (
    LinearSettings,
    TrainingSet,
    batch_of,
    permutation_numbers,
)


def make_task(y, folds):
    rows = np.arange(len(y))
    return TrainingSet(
        "r1f1", 0, np.asarray(y, float), rows, rows[:0], folds, rows[:0], "classification"
    )


ZERO = np.zeros((3, 2))


def five_folds(seed, n=23):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    y[:2] = 1, -1
    folds = tuple(np.array_split(rng.permutation(n), 5))
    scores = rng.standard_normal((5, 3, 2, n))
    pooled = np.empty((3, 2, n))
    for k, rows in enumerate(folds):
        pooled[..., rows] = scores[k][..., rows]
    return make_task(y, folds), scores, pooled


REFEREES = {
    "squared_error": lambda y, f: np.mean((y - f) ** 2),
    "misclassification": lambda y, f: np.mean(np.sign(f) != y),
    "balanced_error": lambda y, f: 1 - balanced_accuracy_score(y, np.sign(f)),
    "log_loss": lambda y, f: log_loss(y, 1 / (1 + np.exp(-2 * f))),
}


@pytest.mark.parametrize("name", CRITERIA)
def test_the_error_is_the_pooled_one_of_scikit_learn(name):
    task, scores, pooled = five_folds(1)
    error, _ = validation_error(task, scores, ZERO, name)
    for index in np.ndindex(3, 2):
        assert error[index] == pytest.approx(REFEREES[name](task.y, pooled[index]), abs=1e-12)


def test_equal_folds_give_the_mean_and_the_standard_error_of_the_fold_means():
    task, scores, _ = five_folds(2, n=20)
    error, se = validation_error(task, scores, ZERO, "squared_error")
    means = np.array(
        [((task.y[r] - scores[k][..., r]) ** 2).mean(-1) for k, r in enumerate(task.inner_folds)]
    )
    np.testing.assert_allclose(error, means.mean(0), rtol=1e-12)
    np.testing.assert_allclose(se, means.std(0, ddof=1) / np.sqrt(5), rtol=1e-12)


def test_a_score_of_zero_counts_as_an_error_in_both_classes():
    loss = CRITERIA["misclassification"].loss
    assert loss(np.array([1.0, -1.0]), np.zeros(2)).tolist() == [1.0, 1.0]


def chosen(error, standard_error, **settings):
    """Return the choice of list minimal, to which lists mean nothing."""
    searched = GridResult(error, standard_error, np.zeros_like(error), None, range(3), error)
    return choose_minimal([searched], LinearSettings(**linear(list="minimal", **settings)), 50)[0]


def test_ties_go_to_the_sparsest_tau_then_to_the_largest_lam():
    error = np.array([[0.3, 0.2, 0.2], [0.2, 0.2, 0.2], [0.1 + 0.1, 0.4, 0.4]])
    assert chosen(error, np.zeros((3, 3))) == (0, 2, 0)


def test_sums_that_differ_in_the_last_bit_are_ties():
    error = np.array([[0.1 + 0.2], [0.3]])
    assert error[0, 0] != error[1, 0]
    assert chosen(error, np.zeros((2, 1))) == (0, 0, 0)


def test_one_standard_error_takes_the_largest_tau_within_reach_with_its_best_lam():
    error = np.array([[0.9, 0.9], [0.25, 0.28], [0.2, 0.3]])
    se = np.full((3, 2), 0.06)
    assert chosen(error, se) == (2, 0, 0)
    assert chosen(error, se, one_standard_error=True) == (1, 0, 0)


def test_labels_and_batches_are_read_from_their_wildcards():
    assert permutation_numbers("observed") == [0]
    assert permutation_numbers("permuted-009-011") == [9, 10, 11]
    assert sorted(sum((batch_of(tuple(range(7)), f"{i}of3") for i in (1, 2, 3)), ())) == list(
        range(7)
    )
    with pytest.raises(Exception, match="expected observed or permuted-FIRST-LAST"):
        permutation_numbers("shuffled")


def test_the_largest_lam_is_the_largest_whatever_the_order_in_the_config():
    assert LinearSettings(**linear(lam=[1.0, 1e-3, 0.1])).lam_grid().tolist() == [1e-3, 0.1, 1.0]
