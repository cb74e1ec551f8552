"""A group counts once in the tests of single genes, whatever the response."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from genesig.selection.genes.univariate import univariate_table
from tests.materials.kinds_study import COLUMNS, study_of


@pytest.mark.parametrize("kind", COLUMNS)
def test_two_samples_of_each_patient_test_as_one(kind):
    alone = study_of(kind, 3, signal=1.0)
    obs = pd.concat([alone.obs, alone.obs.rename(index="{}b".format)])
    both = replace(
        alone, X=np.vstack([alone.X, alone.X]), obs=obs.assign(patient=list(alone.obs.index) * 2),
        design=replace(alone.design, group="patient"),
    )  # fmt: skip
    found, one = univariate_table(both), univariate_table(alone)
    pd.testing.assert_frame_equal(found, one)
