"""Estimators with a penalty on blocks hold scikit-learn's conventions and what they document."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from genesig.models.gene_sets import GeneSetClassifier, GeneSetRegressor
from genesig.models.group_lasso import GroupLassoClassifier, GroupLassoRegressor
from genesig.models.multiple_kernel import MultipleKernelClassifier, MultipleKernelRegressor

ALL = [
    GroupLassoRegressor(), GroupLassoClassifier(), GeneSetRegressor(), GeneSetClassifier(),
    MultipleKernelRegressor(), MultipleKernelClassifier(),
]  # fmt: skip


@parametrize_with_checks(ALL)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)
