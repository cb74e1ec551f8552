"""Quantile normalisation and ComBat at the size of a chip, against Bioconductor on this machine."""

import numpy as np
import pytest
from bioconductor import ask
from published import SHARED

from genesig.data.files.readers import read_matrix
from genesig.data.steps.combat import Combat
from genesig.data.steps.median_polish import Quantile

STUDY_FILES = [SHARED / f"geo/{name}_series_matrix.txt.gz" for name in ("GSE55235", "GSE55457")]
RUNS = {
    "plain": (None, False),
    "reference": ("c", False),
    "covariates": (None, True),
    "both": ("c", True),
}


@pytest.fixture(scope="module")
def study():
    """Return 63 arrays of 22283 genes from two centres, the second in two batches."""
    if not STUDY_FILES[0].exists():
        pytest.skip("the shared data are not here")
    study_a, second = (read_matrix(path, None) for path in STUDY_FILES)
    assert study_a.rows == second.rows  # genes in rows
    X = np.log2(np.clip(np.hstack([study_a.cells, second.cells]).T, 16, 65536))
    batch = ["a"] * 30 + ["b"] * 13 + ["c"] * 20
    X[30:43, 100] = X[30, 100]  # constant inside a batch
    covariates = np.random.default_rng(0).normal(size=(63, 2))
    return X, batch, covariates


@pytest.fixture(scope="module")
def answer(study, tmp_path_factory):
    r_answers = ask(*study, tmp_path_factory.mktemp("r"))
    if isinstance(r_answers, str):
        pytest.skip(r_answers)
    return r_answers


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_combat_of_two_real_studies_is_svas(study, answer, name):
    X, batch, covariates = study
    reference, adjusted_for = RUNS[name]
    columns = {"batch": batch, "covariates": covariates if adjusted_for else None}
    adjusted = Combat.fit(X, reference=reference, **columns).transform(X, **columns)
    np.testing.assert_allclose(adjusted, answer.results[name], rtol=0, atol=1e-10)
    assert np.abs(adjusted - X).max() > 1


@pytest.mark.slow
def test_quantiles_of_two_real_studies_are_limmas(study, answer):
    X = study[0]
    normalised = Quantile.fit(X).transform(X)
    np.testing.assert_allclose(normalised, answer.results["quantile"], rtol=0, atol=1e-10)
    assert np.abs(normalised - X).max() > 1
