"""RNA-seq counts: size factors and dispersions against DESeq2 and edgeR, refused input."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from published import SHARED
from scipy.stats import nbinom

from genesig.data.steps.counts import (
    MIN_DISPERSION,
    LogCpm,
    SizeFactors,
    Vst,
    _moment_dispersions,
    estimate_dispersions,
    fit_trend,
    size_factors,
)
from genesig.data.steps.normalise import fit_steps
from genesig.errors import GenesigError

STEP = [{"step": "log_cpm", "prior": 0.5}]


def test_a_count_becomes_its_share_of_a_million_by_hand():
    transformed = fit_steps(np.eye(2), STEP).transform(np.array([[1.0, 3, 0], [0, 0, 2]]))
    expected = [[250000.5, 750000.5, 0.5], [0.5, 0.5, 1000000.5]]
    np.testing.assert_allclose(2**transformed, expected, rtol=1e-14)


def test_depth_of_real_libraries_is_taken_off():
    path = SHARED / "counts" / "pasilla_gene_counts.tsv"
    if not path.exists():
        pytest.skip("the shared data are not here")
    counts = pd.read_csv(path, sep="\t", index_col=0).to_numpy(float).T
    fitted = fit_steps(counts, STEP)
    transformed = fitted.transform(counts)
    np.testing.assert_allclose((2**transformed - 0.5).sum(axis=1), 1e6)
    np.testing.assert_allclose(fitted.transform(7 * counts), transformed, rtol=1e-12)


@pytest.mark.parametrize(
    ("rows", "message"),
    [([[3.0, -1]], "not all 0; found -1"), ([[1.0, 2], [0, 0]], "one sample has only zeros")],
)
def test_values_that_are_no_counts_are_refused(rows, message):
    with pytest.raises(GenesigError, match=rf"normalise\.samples: log_cpm .*{message}"):
        fit_steps(np.array(rows), STEP).transform(np.array(rows))


@pytest.mark.parametrize(("samples", "expected_detected"), [(0.2, [0, 1]), (0.4, [0]), (1.0, [0])])
def test_a_gene_is_detected_in_enough_samples(samples, expected_detected):
    X = np.array([[9.0, 9, 5], [9, 1, 5], [9, 1, 5], [9, 1, 5], [9, 1, 5]])
    step = {"step": "detection_filter", "above": 5, "samples": samples}
    np.testing.assert_array_equal(fit_steps(X, [step]).genes, expected_detected)


FOLDER = Path(__file__).parent
BY_R = pd.read_csv(FOLDER / "vst_by_deseq2.tsv", sep="\t")
X = BY_R[[f"a{k}" for k in range(1, 9)]].to_numpy(float).T
FACTORS = pd.read_csv(FOLDER / "factors_by_edger.tsv", sep="\t")


def composed():
    Z = X.copy()
    Z[:3, 100:120] *= 100
    return Z


@pytest.mark.parametrize(
    ("counts", "description"), [(X, "ratios"), (composed(), "ratios_composed")]
)
def test_median_of_ratios_equals_deseq2(counts, description):
    step = SizeFactors.fit(counts, method="median_of_ratios", prior=1.0)
    np.testing.assert_allclose(size_factors(counts, step), FACTORS[description], rtol=1e-12)


@pytest.mark.parametrize(("counts", "description"), [(X, "tmm"), (composed(), "tmm_composed")])
def test_trimmed_means_equal_edger(counts, description):
    step = SizeFactors.fit(counts, method="tmm", prior=1.0)
    factors = size_factors(counts, step) / counts.sum(axis=1)
    np.testing.assert_allclose(
        factors / np.exp(np.log(factors).mean()), FACTORS[description], rtol=1e-12
    )


def test_trend_of_given_dispersions_equals_deseq2():
    means = (X / FACTORS["ratios"].to_numpy()[:, None]).mean(axis=0)
    has_dispersion = BY_R["dispersion"].notna().to_numpy()
    fitted = fit_trend(means[has_dispersion], BY_R["dispersion"].to_numpy()[has_dispersion])
    np.testing.assert_allclose(fitted["a0"] + fitted["a1"] / means, BY_R["trend"], rtol=1e-6)


def test_stabilised_values_equal_deseq2():
    """Where DESeq2's ascent does not end, it takes the best of places 12 % apart."""
    step = Vst.fit(X, method="median_of_ratios")
    gene_dispersions = BY_R["dispersion"].to_numpy()
    dispersions_found = estimate_dispersions(X, size_factors(X, step))
    large = gene_dispersions > 1e-3
    assert large.sum() > 150
    np.testing.assert_allclose(dispersions_found[large], gene_dispersions[large], rtol=0.2)
    assert np.median(np.abs(np.log(dispersions_found / gene_dispersions)[large])) < 1e-3
    theirs = BY_R[[f"v{k}" for k in range(1, 9)]].to_numpy().T
    np.testing.assert_allclose(step.transform(X), theirs, rtol=0, atol=0.02)


@pytest.mark.parametrize(
    ("counts", "factor", "expected"),
    [
        ([0, 10, 20], 1.0, (200 - 3 * 10) / 10**2 / 2),  # of the deviations
        ([0, 10, 20], 0.25, (200 / 2 - 10 / 0.25) / 10**2),  # of the variance
        ([0, 0, 1.5], 1.0, (2.25 - 3) / 2),  # the expected count is at least 1
    ],
)
def test_moment_dispersion_is_the_smaller_estimate_by_hand(counts, factor, expected):
    Y = np.array(counts, dtype=float)[:, None]
    estimates = _moment_dispersions(Y, np.full(3, factor))
    np.testing.assert_allclose(estimates, [expected], rtol=1e-14)


def test_dispersion_is_the_most_likely_value():
    """By scipy's own distribution, less the adjustment for the mean, over a fine grid."""
    counts = X[:, 40:200:20]
    factors = FACTORS["ratios"].to_numpy()
    dispersions_found = estimate_dispersions(counts, factors)
    mean = np.maximum(factors[:, None] * (counts / factors[:, None]).mean(axis=0), 0.5)
    grid = np.exp(np.linspace(-9, 1, 4001))[:, None, None]
    log_likelihoods = nbinom.logpmf(counts, 1 / grid, 1 / (1 + mean * grid)).sum(axis=1)
    log_likelihoods -= np.log((1 / (1 / mean + grid)).sum(axis=1)) / 2
    wide = dispersions_found > MIN_DISPERSION  # by its moments
    assert wide.sum() >= 7
    np.testing.assert_allclose(
        dispersions_found[wide], grid[log_likelihoods.argmax(axis=0), 0, 0][wide], rtol=3e-3
    )


@pytest.mark.parametrize("method", ["median_of_ratios", "tmm"])
@pytest.mark.parametrize("name", ["size_factors", "vst"])
def test_depth_is_taken_off_and_a_new_sample_changes_nothing(name, method):
    step = {"step": name, "method": method} | ({"prior": 1.0} if name == "size_factors" else {})
    fitted = fit_steps(X[:6], [step])
    alone = np.vstack([fitted.transform(x[None]) for x in X[6:]])
    np.testing.assert_array_equal(fitted.transform(X[6:]), alone)
    deeper = fitted.transform(10 * X[6:])
    np.testing.assert_allclose(deeper, alone, rtol=0, atol=1e-12 if method != "tmm" else 0.02)


@pytest.mark.parametrize("method", ["median_of_ratios", "tmm"])
def test_few_genes_with_many_reads_do_not_push_the_others_down(method):
    """A hundredth of the genes, a hundredfold: log CPM moves all others by more than 1."""
    Z = X[4:5].copy()
    Z[:, ::100] *= 300
    step = SizeFactors.fit(X, method=method, prior=1.0)
    stable_genes = np.arange(X.shape[1]) % 100 > 0
    shift = (step.transform(Z) - step.transform(X[4:5]))[:, stable_genes]
    pushed = LogCpm(1.0).transform(Z) - LogCpm(1.0).transform(X[4:5])
    assert np.abs(shift).max() < 0.1
    assert np.median(pushed[:, stable_genes]) < -0.5


def test_the_spread_of_stabilised_counts_does_not_hang_on_the_level():
    """The closed form: large values are log2, and the slope is 1/sd of the counts."""
    q = np.array([3.0, 30, 3000])
    h = 1e-4 * q

    def value(q):
        root = np.sqrt(0.05 * q * (3 + 0.05 * q))
        return np.log2((3 + 0.1 * q + 2 * root) / 0.2)

    slope = (value(q + h) - value(q - h)) / (2 * h) * np.log(2)
    np.testing.assert_allclose(slope, np.sqrt(0.05) / np.sqrt(q + (0.05 + 2 / q) * q**2), rtol=1e-6)
    alone = Vst("tmm", q, q.sum(), q, 0.05, 2.0)
    np.testing.assert_allclose(alone.transform(q[None])[0], value(q), rtol=1e-12)
    np.testing.assert_allclose(value(1e9), np.log2(1e9), atol=1e-6)


@pytest.mark.parametrize("rows", [X[:1], np.ones((3, 5)), np.eye(4) + 1e-3])
def test_without_a_spread_to_learn_from_values_are_finite(rows):
    """One sample, counts that do not vary, genes with hardly a read."""
    assert np.isfinite(Vst.fit(rows, method="median_of_ratios").transform(rows)).all()


@pytest.mark.parametrize(
    ("rows", "method", "message"),
    [
        (np.array([[1.0, -2]]), "tmm", "not all 0 in a sample; found -2"),
        (np.array([[1.0, 2], [0, 0]]), "tmm", "one sample has only zeros"),
        (np.array([[1.0, 0], [0, 2]]), "median_of_ratios", "no gene has reads in every training"),
    ],
)
def test_counts_without_a_size_factor_are_refused(rows, method, message):
    with pytest.raises(GenesigError, match=message):
        Vst.fit(rows, method=method)


def test_a_new_sample_without_reads_in_common_is_refused():
    step = SizeFactors.fit(np.array([[3.0, 1, 0], [2, 5, 0]]), method="median_of_ratios", prior=1.0)
    with pytest.raises(
        GenesigError, match="one sample has no reads in the genes that all training"
    ):
        step.transform(np.array([[0.0, 0, 7]]))


def test_real_libraries_have_the_factors_and_the_trend_of_bioconductor():
    """R 4.2.2, DESeq2 1.38.3, edgeR 3.40.2, on the counts x of the package pasilla.

    ``estimateSizeFactorsForMatrix(x)``, ``calcNormFactors(x)``, and the coefficients of
    ``dispersionFunction`` that ``vst`` fits to 1000 genes of a mean above 5.
    """
    path = SHARED / "counts" / "pasilla_gene_counts.tsv"
    if not path.exists():
        pytest.skip("the shared data are not here")
    counts = pd.read_csv(path, sep="\t", index_col=0).to_numpy(float).T
    step = Vst.fit(counts, method="median_of_ratios")
    ratios = [
        1.1382629766,
        1.7930003554,
        0.6495470306,
        0.7516892234,
        1.6355750966,
        0.7612697680,
        0.8326526353,
    ]
    np.testing.assert_allclose(size_factors(counts, step), ratios, rtol=1e-9)
    trimmed = SizeFactors.fit(counts, method="tmm", prior=1.0)
    factors = size_factors(counts, trimmed) / counts.sum(axis=1)
    tmm = [
        0.9995731242,
        1.0081519301,
        0.9843974499,
        0.9525076640,
        1.0651817312,
        0.9957011944,
        0.9978557111,
    ]
    np.testing.assert_allclose(factors / np.exp(np.log(factors).mean()), tmm, rtol=1e-9)
    np.testing.assert_allclose([step.a0, step.a1], [0.02451169155, 2.59909484464], rtol=0.01)
