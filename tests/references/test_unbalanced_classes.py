"""Simulated classes of unequal size: new samples, half of each class, tell where the cut is right.

80 samples, 2000 genes, ten of them shifted by 1.2 standard deviations in the positive class; the
final model of the default study is held against 1000 new samples. Mean balanced error over ten
draws: 10:90 .47 cut at 0 and .23 at the midpoint, 20:80 .19 and .11, 50:50 .06 and .06.
"""

import numpy as np
import pytest
from study import final_fit, settings, splits_of
from toys import dataset, unequal_classes

from genesig.selection.assess.intervals import auc, balanced_error

pytestmark = pytest.mark.slow

TELLING = {"telling": 10, "shift": 1.2}


def errors(share, seed):
    """Return the balanced error on new samples cut at 0 and at the threshold, and the AUC."""
    rng = np.random.default_rng(seed)
    study = dataset(*unequal_classes(rng, 80, 2000, share, **TELLING))
    config = settings({}, splits={"subsamples": 0})
    fit = final_fit(study, splits_of(study, config, seed), config)
    chosen = fit.choice[0, 2]
    genes, weights = fit.coef(0, chosen)
    X, y = unequal_classes(rng, 1000, 2000, 0.5, **TELLING)
    f = fit.intercept[0, chosen] + X[:, genes] @ weights
    return balanced_error(y, f), balanced_error(y, f - fit.threshold[0]), auc(y, f)


def test_the_midpoint_is_right_where_zero_calls_all_samples_alike():
    at_zero, at_midpoint, area = np.mean([errors(0.1, seed) for seed in range(10)], axis=0)
    assert at_zero > 0.4
    assert at_midpoint <= 0.25
    assert area > 0.8


def test_a_class_of_a_fifth_gains_too():
    at_zero, at_midpoint, _ = np.mean([errors(0.2, seed) for seed in range(10)], axis=0)
    assert at_midpoint < at_zero - 0.05


def test_threshold_choice_of_balanced_classes_loses_nothing():
    error_rates = np.array([errors(0.5, seed) for seed in range(10)])
    assert abs(np.mean(error_rates[:, 1] - error_rates[:, 0])) <= 0.02
