"""Normalisers against scikit-learn, SciPy, limma and the definitions."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import rankdata, zscore
from sklearn.feature_selection import VarianceThreshold
from sklearn.preprocessing import StandardScaler

from genesig.data.steps.normalise import fit_steps
from genesig.data.steps.transforms import average_ranks

TIED = st.one_of(st.floats(-1e3, 1e3), st.sampled_from([0.0, 1.0, 2.0]))


@pytest.fixture
def X():
    return np.random.default_rng(7).lognormal(6, 1.5, (9, 40))


@given(X=hnp.arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 12)), elements=TIED))
def test_ranks_equal_scipy(X):
    np.testing.assert_array_equal(average_ranks(X), rankdata(X, axis=1))


def test_ranks_within_samples_lie_between_zero_and_one(X):
    ranks = fit_steps(X, [{"step": "rank_samples"}]).transform(X)
    np.testing.assert_allclose(ranks, (rankdata(X, axis=1) - 0.5) / 40, rtol=1e-15)


def test_standardised_samples_are_zscores_of_scipy(X):
    standardised = fit_steps(X, [{"step": "standardise_samples"}]).transform(X)
    np.testing.assert_allclose(standardised, zscore(X, axis=1), rtol=0, atol=1e-13)


@pytest.mark.parametrize("centre", [True, False])
@pytest.mark.parametrize("scale", [True, False])
def test_centring_and_scaling_equal_scikit_learn(X, centre, scale):
    X[:, 3] = 0.1  # constant: scikit-learn divides by 1, and the centred gene is 0 in both
    scale_settings = {"centre": centre, "unit_variance": scale}
    steps = [{"step": name} for name, used in scale_settings.items() if used]
    referee = StandardScaler(with_mean=centre, with_std=scale).fit(X[:6])
    expected = referee.transform(X)
    if scale:
        expected[:, 3] = 0
    scaled = fit_steps(X[:6], steps).transform(X)
    np.testing.assert_allclose(scaled, expected, rtol=1e-12, atol=1e-12)


def test_variance_filter_keeps_the_genes_of_scikit_learn(X):
    kept_genes = fit_steps(X, [{"step": "variance_filter", "keep": 0.25}]).genes
    threshold = np.sort(X.var(axis=0))[-11]
    referee = VarianceThreshold(threshold).fit(X)
    np.testing.assert_array_equal(kept_genes, referee.get_support(indices=True))


def test_quantile_is_limmas_with_its_ties():
    """Numbers of limma's normalizeQuantiles, made by the R script beside the table."""
    table = pd.read_csv(Path(__file__).with_name("quantile_by_limma.tsv"), sep="\t")
    raw_values, expected = (table.filter(like=letter).to_numpy().T for letter in "an")
    normalised = fit_steps(raw_values, [{"step": "quantile"}]).transform(raw_values)
    np.testing.assert_allclose(normalised, expected, rtol=1e-14)
