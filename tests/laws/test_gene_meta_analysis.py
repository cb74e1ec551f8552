"""Gene effects over several studies: error rates of p and q, coverage of intervals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student
from study_data import EFFECT, false_share, studies_of
from study_data import N_SHIFTED as TRUE
from study_data import STUDY_GENES as D

from genesig.selection.meta_analysis import meta_table, moderate


@pytest.mark.one_in(2)
@pytest.mark.parametrize("tau", [0.0, 0.4, 0.8])
@pytest.mark.parametrize("k", [3, 6])
def test_p_is_uniform_and_q_the_share_of_false_genes_however_much_studies_differ(k, tau):
    """A p that takes the variance between studies as known named .78 false genes at tau .8."""
    tables = [meta_table(studies_of(k, tau, seed)) for seed in range(3)]
    p = np.concatenate([table["p_value"].to_numpy()[TRUE:] for table in tables])
    assert 0.03 <= np.mean(p <= 0.05) <= 0.07
    assert 0.43 <= np.mean(p <= 0.5) <= 0.57
    assert np.mean([false_share(table) for table in tables]) <= 0.1


def test_genes_that_differ_by_study_do_not_fill_the_list():
    tau = np.where(np.arange(D) % 10, 0.1, 0.8)
    assert np.mean([false_share(meta_table(studies_of(4, tau, s))) for s in range(4)]) <= 0.12


def test_repeated_samples_of_a_patient_make_no_gene_certain():
    p = np.concatenate(
        [
            meta_table(studies_of(3, 0.0, s, samples_per_patient=2))["p_value"][TRUE:]
            for s in range(3)
        ]
    )
    assert np.mean(p <= 0.05) <= 0.07


def test_true_genes_are_found_where_studies_agree():
    table = meta_table(studies_of(3, 0.0, 0))
    assert np.mean(table["q_value"].to_numpy()[:TRUE] <= 0.05) > 0.9


@pytest.mark.parametrize("tau", [0.0, 0.5])
def test_interval_excludes_zero_exactly_if_p_is_significant(tau):
    table = meta_table(studies_of(4, tau, 1))
    excludes_zero = (table["low"] > 0) | (table["high"] < 0)
    np.testing.assert_array_equal(excludes_zero, table["p_value"] < 0.05)
    truth = np.where(np.arange(D) < TRUE, EFFECT, 0.0)
    assert 0.93 <= np.mean((table["low"] <= truth) & (truth <= table["high"])) <= 0.98


def test_few_genes_have_students_t_of_their_own_studies():
    y = np.array([[0.1], [0.9], [1.4], [2.2]])
    moderated = moderate(y, np.full((4, 1), 0.01))
    student_interval = student(3, y.mean(), y.std(ddof=1) / 2)
    np.testing.assert_allclose(
        [moderated.low[0], moderated.high[0]], student_interval.ppf([0.025, 0.975])
    )
    assert moderated.p[0] == pytest.approx(2 * student_interval.cdf(0))


def test_gene_in_a_single_study_has_no_p():
    rng = np.random.default_rng(0)
    y = rng.standard_normal((3, 40))
    v = np.full((3, 40), 0.1)
    y[1:, 0] = np.nan
    y[:, 1] = np.nan
    moderated = moderate(y, v)
    assert moderated.mean[0] == y[0, 0]
    assert np.isnan([moderated.p[0], moderated.low[0], moderated.mean[1], moderated.p[1]]).all()
    assert np.isfinite(moderated.p[2:]).all()
