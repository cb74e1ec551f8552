"""A group of samples counts once in the tests of single genes."""

from __future__ import annotations

from dataclasses import replace
from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from study_data import COLUMNS, study_of

from genesig.results import Dataset, Design
from genesig.selection.genes.univariate import univariate_table


@pytest.mark.parametrize("kind", COLUMNS)
def test_two_samples_of_each_patient_test_as_one(kind):
    alone = study_of(kind, 3, signal=1.0)
    obs = pd.concat([alone.obs, alone.obs.rename(index="{}b".format)])
    doubled = replace(
        alone,
        X=np.vstack([alone.X, alone.X]),
        obs=obs.assign(patient=list(alone.obs.index) * 2),
        design=replace(alone.design, group="patient"),
    )
    doubled_table = univariate_table(doubled)
    single_table = univariate_table(alone)
    pd.testing.assert_frame_equal(doubled_table, single_table)


def test_a_gene_without_spread_inside_the_classes_has_the_p_of_a_permutation_test():
    y = np.arange(12) % 3 == 0
    X = np.column_stack([-y.astype(float), np.random.default_rng(0).standard_normal(12)])
    obs = pd.DataFrame({"state": np.where(y, "ill", "well")}, [f"s{k}" for k in range(12)])
    var = pd.DataFrame({"symbol": ["a missing", "b"]}, ["a missing", "b"])
    design = Design(
        label="state", task="classification", classes=("well", "ill"), group=None, pair=None
    )
    table = univariate_table(Dataset(X, obs, var, design, {})).set_index("gene")
    assert table.loc["a missing", "p_value"] == pytest.approx(2 / comb(12, 4))
    assert table.loc["a missing", "statistic"] == pytest.approx(norm.ppf(1 / comb(12, 4)))
    assert np.isfinite(table["statistic"]).all()


def test_ties_of_times_are_treated_as_the_study_says():
    dataset = study_of("survival", 1, n=40, signal=0.5)
    obs = dataset.obs.assign(
        state=[f"{np.ceil(3 * float(t)) / 3:.3f}" for t in dataset.obs["state"]]
    )
    tables = [
        univariate_table(replace(dataset, obs=obs, design=replace(dataset.design, ties=ties)))
        for ties in ("efron", "breslow")
    ]
    assert not np.allclose(tables[0]["p_value"], tables[1]["p_value"], rtol=1e-4)
