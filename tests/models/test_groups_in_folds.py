"""Groups of rows reach the folds of the estimators that choose their settings."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import config_context
from sklearn.model_selection import GroupKFold, KFold, cross_val_score

from genesig import (
    DerivativeClassifier,
    DerivativeRegressor,
    KernelPCRClassifier,
    KernelPCRRegressor,
    L1L2ClassifierCV,
    L1L2CoxCV,
    L1L2RegressorCV,
    SparsePCA,
)

GRID = {"tau": [0.5, 0.02], "mu": 1e-3, "lam": [1e-1, 1e-3]}
DERIVATIVE = {"tau": 0.5, "lam": [1e-2, 1e-1]}
OTHER_ESTIMATORS = {
    KernelPCRRegressor: ("numbers", {}),
    KernelPCRClassifier: ("classes", {}),
    DerivativeRegressor: ("numbers", DERIVATIVE),
    DerivativeClassifier: ("classes", DERIVATIVE),
    SparsePCA: ("numbers", {}),
}
"""Of the estimators that choose settings by `cv` without the name: a response, parameters."""
SMALL_SHAPE = {"n_samples": 2, "d": 6}
"""Of the data of derivative estimators, whose time grows with the square of both."""
ESTIMATORS = {"numbers": L1L2RegressorCV, "classes": L1L2ClassifierCV, "times": L1L2CoxCV}


def patients_with_twins(kind, n_patients=12, n_samples=4, d=120):
    """Return X, y and patients; y depends on the patient alone, and no gene on y."""
    rng = np.random.default_rng(2)
    groups = np.repeat(np.arange(n_patients), n_samples)
    X = rng.normal(size=(n_patients, d))[groups] + 0.1 * rng.normal(size=(len(groups), d))
    outcome = rng.permutation(np.linspace(-1, 1, n_patients))[groups]
    y = {
        "numbers": outcome,
        "classes": np.where(outcome > 0, "case", "control"),
        "times": np.column_stack(
            [np.exp(-2 * outcome) + 0.01 * np.arange(len(groups)), groups > 1]
        ),
    }[kind]
    return X, y, groups


class RecordedFolds(GroupKFold):
    """Folds by group that remember their rows."""

    def split(self, X, y=None, groups=None):
        self.last = list(super().split(X, y, groups))
        return iter(self.last)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_no_group_is_on_both_sides_of_a_fold_if_groups_are_passed(kind):
    X, y, groups = patients_with_twins(kind)
    folds = RecordedFolds(4)
    ESTIMATORS[kind](**GRID, cv=folds).fit(X, y, groups=groups)
    for train, held_out in folds.last:
        assert not set(groups[train]) & set(groups[held_out])


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_twins_make_the_inner_error_optimistic_only_without_groups(kind):
    X, y, groups = patients_with_twins(kind)
    estimator = ESTIMATORS[kind]
    leaking = estimator(**GRID, cv=KFold(4, shuffle=True, random_state=0)).fit(X, y)
    honest = estimator(**GRID, cv=GroupKFold(4)).fit(X, y, groups=groups)
    assert leaking.error_path_.min() < 0.5 * honest.error_path_.min()
    assert leaking.error_path_.min() < 0.3 * leaking.error_path_.max() or kind == "times"


def inner_error(model):
    """Return the smallest error of the rows that inner folds left out, or what falls with it."""
    if isinstance(model, SparsePCA):
        return model.unexplained_
    if isinstance(model, KernelPCRRegressor | KernelPCRClassifier):
        return -model.n_components_
    return min(errors.min() for errors in model.validation_errors_.values())


@pytest.mark.slow_cases("SparsePCA", "DerivativeRegressor")
@pytest.mark.parametrize("estimator", OTHER_ESTIMATORS)
def test_groups_reach_the_folds_of_other_estimators_and_stop_the_leak(estimator):
    kind, parameters = OTHER_ESTIMATORS[estimator]
    shape = SMALL_SHAPE if parameters else {}
    X, y, groups = patients_with_twins(kind, **shape)
    folds = RecordedFolds(4)
    honest = estimator(**parameters, cv=folds).fit(X, y, groups=groups)
    for train, held_out in folds.last:
        assert not set(groups[train]) & set(groups[held_out])
    leaking = estimator(**parameters, cv=KFold(4, shuffle=True, random_state=0)).fit(X, y)
    assert inner_error(leaking) < inner_error(honest) - 0.1
    with pytest.raises(TypeError, match="'patients'"):
        estimator(**parameters, cv=folds).fit(X, y, patients=groups)


@pytest.mark.parametrize("estimator", [KernelPCRClassifier, DerivativeClassifier])
def test_groups_reach_the_calibration_folds_of_other_estimators(estimator):
    X, y, groups = patients_with_twins("classes", **SMALL_SHAPE)
    folds = RecordedFolds(3)
    parameters = OTHER_ESTIMATORS[estimator][1]
    estimator(**parameters, cv=GroupKFold(2), calibration=folds).fit(X, y, groups=groups)
    for train, held_out in folds.last:
        assert not set(groups[train]) & set(groups[held_out])


def test_calibration_folds_keep_groups_together():
    X, y, groups = patients_with_twins("classes")
    folds = RecordedFolds(3)
    model = L1L2ClassifierCV(**GRID, cv=GroupKFold(2), calibration=folds)
    model.fit(X, y, groups=groups)
    for train, held_out in folds.last:
        assert not set(groups[train]) & set(groups[held_out])


@pytest.mark.parametrize("is_routed", [False, True])
def test_outer_cross_validation_passes_groups_to_the_inner_folds(is_routed):
    X, y, groups = patients_with_twins("numbers")
    estimator = L1L2RegressorCV(**GRID, cv=GroupKFold(2))
    with config_context(enable_metadata_routing=is_routed):
        scores = cross_val_score(
            estimator,
            X,
            y,
            cv=GroupKFold(3),
            groups=None if is_routed else groups,
            params={"groups": groups},
            error_score="raise",
        )
    assert (scores < 0.3).all()


def test_unknown_parameter_of_fit_is_refused():
    X, y, _ = patients_with_twins("numbers")
    with pytest.raises(TypeError, match="'patients'"):
        L1L2RegressorCV(**GRID).fit(X, y, patients=y)
